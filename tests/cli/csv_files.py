# SPDX-License-Identifier: Apache-2.0
#
# Tells of CSV files that would not load as a table: one header of different
# names, and in each row as many fields.
import csv
import sys

bad = 0
for path in sys.argv[1:]:
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    if len(set(header)) != len(header) or "" in header:
        print(f"{path}: the header is {header}")
        bad = 1
    for row in rows:
        if len(row) != len(header):
            print(f"{path}: {len(row)} fields, not {len(header)}: {row}")
            bad = 1
sys.exit(bad)
