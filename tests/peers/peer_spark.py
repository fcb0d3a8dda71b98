# SPDX-License-Identifier: Apache-2.0
"""Apache Spark: the views of `fleet`, the same SQL text, asked of Spark and of DuckDB."""
import json

import common
import peer_fleet

PACKAGES = ["pyspark==3.5.1", *peer_fleet.PACKAGES]
VIEWS = "stages stragglers imbalance tail busy ranks clocks".split()


def compare(peer):
    peer_fleet.with_duckdb(peer)
    logs = peer_fleet.make(peer, "slow", "make_ranks", "24", "60", "1", "7", "forward", "10",
                           "130")
    runs = peer_fleet.make(peer, "runs", "make_run")
    row = common.Row("fleet: each cell of each view, by two workers and by DuckDB")
    asked = []
    # A name with what is special in literals and in patterns.
    for name, source in (("slow.parquet", logs), ("it's {a,b}\\[1]*?", runs)):
        folder = peer_fleet.export(peer, name, source)
        for view in VIEWS:
            path = peer.path(f"{len(asked)}.sql")
            with open(path, "w", encoding="utf-8") as file:
                file.write(peer.report("fleet", folder, "--view", view, "--print-sql", "spark"))
            asked.append((folder, view, path))
    lines = peer.run("spark_program.py", *(path for _, _, path in asked)).splitlines()
    lines = [json.loads(line) for line in lines[-len(asked) - 1:]]
    row.cell("workers", 2, lines.pop())
    for (folder, view, _), theirs in zip(asked, lines):
        ours = peer_fleet.answer(peer, folder, view)[0]
        row.cell(f"{view}: rows", len(theirs["rows"]), len(ours))
        for number, (left, right) in enumerate(zip(theirs["rows"], ours)):
            for column, cell in zip(theirs["columns"], left):
                row.cell(f"{view}[{number}].{column}", cell, right.get(column))
    return [(peer.version("pyspark"), row)]
