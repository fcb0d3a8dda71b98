# SPDX-License-Identifier: Apache-2.0
"""pandas, polars and DuckDB as readers of our CSV and JSON."""
import json
import os

import common

PACKAGES = ["pandas==3.1.1", "polars==2.1.0", "duckdb==2.0.1"]
TRACE = os.path.join(common.HERE, "..", "data", "traces", "torch_small.json.gz")


def compare(peer):
    row = common.Row("rows, calls and totals of our CSV and JSON")
    for name, kind in (("table.csv", "csv"), ("report.json", "json")):
        with open(peer.path(name), "w", encoding="utf-8") as file:
            file.write(peer.report("--flat", "-f", kind, "--raw", TRACE))
    rows = peer.rows("tree", "--flat", TRACE)
    ours = [sum(cells["calls"] or 0 for cells in rows), sum(cells["total"] or 0 for cells in rows),
            sorted(cells["name"] for cells in rows)]
    said = json.loads(peer.run("tables_program.py", "table.csv", "report.json"))
    for reader, figures in said.items():
        for what, theirs, mine in zip(("calls", "total", "names"), figures, ours):
            row.cell(f"{reader}: {what}", theirs, mine)
    versions = ", ".join(peer.version(package) for package in ("pandas", "polars", "duckdb"))
    return [(versions, row)]
