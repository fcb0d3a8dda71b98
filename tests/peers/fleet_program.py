# SPDX-License-Identifier: Apache-2.0
"""fleet_program.py FOLDER TABLE...: the rows of a folder of Parquet, by Python's DuckDB, as JSON:
{table: [{column: cell}]}. fleet_program.py: where its library is."""
import json
import sys

import _duckdb
import duckdb

if len(sys.argv) == 1:
    print(_duckdb.__file__)
else:
    found = {}
    for table in sys.argv[2:]:
        answer = duckdb.sql(f"SELECT * FROM read_parquet('{sys.argv[1]}/run=*/rank=*/"
                            f"{table}.parquet', hive_partitioning = true)")
        found[table] = [dict(zip(answer.columns, row)) for row in answer.fetchall()]
    print(json.dumps(found, default=str))
