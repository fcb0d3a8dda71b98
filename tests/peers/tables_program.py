# SPDX-License-Identifier: Apache-2.0
"""Our CSV and JSON as pandas, polars and DuckDB read them: tables_program.py TABLE.csv REPORT.json.

Prints {reader: [calls of all rows, total ns of all rows, names]}.
"""
import json
import sys

import duckdb
import pandas
import polars


def of_rows(rows):
    rows = [(name, calls, total) for name, calls, total in rows]
    return [int(sum(calls for _, calls, _ in rows)), int(sum(total for _, _, total in rows)),
            sorted(name for name, _, _ in rows)]


def main():
    table, report = sys.argv[1:]
    names = ["name", "calls", "total_ns"]
    with open(report, encoding="utf-8") as file:
        tree = json.load(file)["views"]["tree"]
    frame = pandas.DataFrame(tree["rows"], columns=[column["name"] for column in tree["columns"]])
    query = "SELECT name, calls, total_ns FROM read_csv('%s', header=true)" % table
    print(json.dumps({
        "pandas, CSV": of_rows(pandas.read_csv(table)[names].itertuples(index=False)),
        "polars, CSV": of_rows(polars.read_csv(table, infer_schema_length=None)
                               .select(names).iter_rows()),
        "DuckDB, CSV": of_rows(duckdb.sql(query).fetchall()),
        "pandas, JSON": of_rows(frame[["name", "calls", "total"]].itertuples(index=False)),
    }))


main()
