# SPDX-License-Identifier: Apache-2.0
"""pandas, polars and DuckDB as readers of our CSV and JSON, and of what pprof.read gives."""
import json
import os
import sqlite3

import common

PACKAGES = ["pandas==3.1.1", "polars==2.1.0", "duckdb==2.0.1"]
TRACE = os.path.join(common.HERE, "..", "data", "traces", "torch_small.json.gz")


def compare_columns(peer):
    """Every column of pprof.read, as they have it and as SQL has it."""
    row = common.Row("pprof.read: number and sum of each column of each table, no copy for NumPy")
    peer.report("merge", "--force", TRACE, "-o", "run.pplog")
    peer.report("export", "sqlite", "--force", "run.pplog", "-o", "run.sqlite")
    database = sqlite3.connect(peer.path("run.sqlite"))
    said = json.loads(peer.run("read_program.py", "run.pplog"))
    row.cell("columns that NumPy copies", said.pop("copied"), 0)
    for reader, tables in said.items():
        for table, columns in tables.items():
            for column, theirs in columns.items():
                where = " WHERE lane IS NULL AND value != 0" if table == "total" else ""
                value = f"CAST({column} AS TEXT)" if column in ("pid", "rank") else column
                ours = database.execute(
                    f"SELECT COUNT(*), SUM(CASE typeof({value}) WHEN 'text' THEN length({value})"
                    f" ELSE ifnull({value}, 0) END) FROM {table}{where}").fetchone()
                row.cell(f"{reader}: {table}.{column}", theirs, [ours[0], int(ours[1])])
    database.close()
    return row


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
    return [(versions, row), (versions, compare_columns(peer))]
