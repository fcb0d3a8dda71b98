# SPDX-License-Identifier: Apache-2.0
"""HTA: its temporal breakdown and overlap of a rank of distributed training, beside ours."""
import json
import os
import shutil

import common
import peer_fleet

PACKAGES = ["HolisticTraceAnalysis==0.5.0", *peer_fleet.PACKAGES]
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
    version = peer.version("HolisticTraceAnalysis")
    return [(version, row), (version, compare_fleet(peer, trace, theirs))]


def compare_fleet(peer, trace, theirs):
    row = common.Row("fleet --view busy: temporal breakdown, overlap")
    peer_fleet.with_duckdb(peer)
    folder = peer_fleet.export(peer, "trace.parquet", trace)
    ours = next(cells for cells in peer_fleet.answer(peer, folder, "busy")[0]
                if cells["place"] == "device")
    row.cell("compute_time", common.ns(theirs["compute_time(us)"]), ours["computation_ns"])
    row.cell("non_compute_time", common.ns(theirs["non_compute_time(us)"]),
             ours["communication_ns"] - ours["overlap_ns"] + ours["copies_ns"])
    row.cell("idle_time", common.ns(theirs["idle_time(us)"]), ours["idle_ns"])
    row.cell("comp_comm_overlap", round(theirs["comp_comm_overlap_pctg"] / 100, 4),
             ours["overlap_of_communication"])
    return row
