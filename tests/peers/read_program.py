# SPDX-License-Identifier: Apache-2.0
"""A log by pprof.read, as NumPy, pandas, polars and DuckDB have it: read_program.py LOG.

Prints {reader: {table: {column: [number, sum]}}}, and of NumPy how many columns it copied.
"""
import json
import sys

import duckdb
import numpy
import pandas
import polars
import pprof


def of_columns(columns):
    """Number and sum of each column; of texts the characters."""
    return {name: [len(values), int(sum(map(len, values)) if len(values) and
                                    isinstance(values[0], str) else sum(values))]
            for name, values in columns.items()}


def duck(table):
    columns = {name: numpy.asarray(column, dtype=object if isinstance(column, list) else None)
               for name, column in table.items()}
    found = duckdb.sql("SELECT * FROM columns")
    return of_columns(dict(zip(found.columns, zip(*found.fetchall()))))


def num_copied(table):
    columns = [column for column in table.values() if len(column) and not isinstance(column, list)]
    return sum(numpy.asarray(column).__array_interface__["data"][0] != column.buffer_info()[0]
               for column in columns)


def main():
    tables = {name: table for name, table in pprof.read(sys.argv[1]).items()
              if len(next(iter(table.values())))}
    frames = {name: pandas.DataFrame(table) for name, table in tables.items()}
    print(json.dumps({
        "pandas": {name: of_columns({column: frame[column].tolist() for column in frame})
                   for name, frame in frames.items()},
        "polars": {name: of_columns(polars.DataFrame(table).to_dict(as_series=False))
                   for name, table in tables.items()},
        "DuckDB": {name: duck(table) for name, table in tables.items()},
        "copied": sum(num_copied(table) for table in tables.values()),
    }))


main()
