# SPDX-License-Identifier: Apache-2.0
"""HTA's breakdown of one rank's trace, hta_program.py FOLDER: a JSON object, times in us."""
import json
import os
import sys

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
from hta.trace_analysis import TraceAnalysis

analysis = TraceAnalysis(trace_dir=sys.argv[1], include_last_profiler_step=True)
breakdown = analysis.get_temporal_breakdown(visualize=False).to_dict("records")[0]
overlap = analysis.get_comm_comp_overlap(visualize=False).to_dict("records")[0]
print(json.dumps({**breakdown, **overlap}))
