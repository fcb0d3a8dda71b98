# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's nodes: the time of each in each run, summed here, beside `pprof-report cost --times`."""
import json
import os

import common

PACKAGES = ["onnxruntime==1.32.0", "onnx", "numpy"]
SUFFIX = "_kernel_time"


def runs_of(trace):
    """The us of each node, by run, in the order of the runs."""
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)
    runs = sorted((event for event in events if event["name"] == "model_run"),
                  key=lambda event: event["ts"])
    out = []
    for run in runs:
        inside = {}
        for event in events:
            if event["cat"] == "Node" and event["name"].endswith(SUFFIX) and \
                    run["ts"] <= event["ts"] <= run["ts"] + run["dur"]:
                name = event["name"][:-len(SUFFIX)]
                inside[name] = inside.get(name, 0) + event["dur"]
        out.append(inside)
    return out


def rows_of(peer, name, *options):
    told = json.loads(peer.report("cost", name + ".onnx", "--by", "node", "-f", "json", "--times",
                                  name + ".json", *options))
    names = [column["name"] for column in told["columns"]]
    return [dict(zip(names, row)) for row in told["rows"]]


def compare(peer):
    peer.run("nodes_program.py", peer.folder)
    row = common.Row("cost --times: the time of each node in each of four runs, as it is and optimised")
    for name in ("as_is", "optimised"):
        for step, theirs in enumerate(runs_of(os.path.join(peer.folder, name + ".json"))):
            ours = {cells["name"]: cells["time"]
                    for cells in rows_of(peer, name, "--step", str(step)) if cells["time"] is not None}
            for node in sorted(set(theirs) | set(ours)):
                us = theirs.get(node)
                row.cell("%s, run %d: %s" % (name, step, node), us and 1000 * us, ours.get(node))
    return [(peer.version("onnxruntime"), row)]
