# SPDX-License-Identifier: Apache-2.0
"""HTA: its temporal breakdown and overlap of a rank of distributed training, beside ours."""
import json
import os
import shutil

import common

PACKAGES = ["HolisticTraceAnalysis==0.5.0"]
TRACE = "torch_ddp0.json.gz"  # of two ranks with NCCL, on H200


def compare(peer):
    row = common.Row("temporal breakdown, overlap of communication and computation")
    folder = peer.path("traces")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(common.HERE, "..", "data", "traces", TRACE), folder)
    theirs = json.loads(peer.run("hta_program.py", folder).splitlines()[-1])
    trace = os.path.join(folder, TRACE)
    alone = {cells["name"]: cells["time"] for cells in
             peer.rows("distributed", "--view", "distributed", trace) if cells["part"] == "device"}
    computation = next(cells["time"] for cells in
                       peer.rows("distributed", "--view", "distributed", trace)
                       if cells["name"] == "Computation")
    copies = sum(cells["time"] for cells in peer.rows("overview", "--view", "overview", trace)
                 if cells["part"] == "device" and cells["event_type"] in ("Memcpy", "Memset"))
    row.cell("compute_time", common.ns(theirs["compute_time(us)"]), computation)
    # Copies run beside nothing in this trace, so that unions add up.
    row.cell("non_compute_time", common.ns(theirs["non_compute_time(us)"]),
             alone["Communication"] + copies)
    row.cell("comp_comm_overlap", theirs["comp_comm_overlap_pctg"], alone["Overlap"] / 1)
    return [(peer.version("HolisticTraceAnalysis"), row)]
