#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No line of any table is wider than its page.

table_widths_test.py PPROF_REPORT. All views, styles and the tree of each input at 80, 100
and 160 columns, and in a pipe, which has 100."""
import glob
import json
import os
import subprocess
import sys
import unicodedata

import case

ROOT = os.path.join(case.DATA, "..")
FORMS = ([], ["--style", "paddle"], ["--style", "torch"], ["--style", "nsys"], ["--tree"],
         ["--flat"], ["--kernels", "--top", "0"], ["--by", "thread"], ["--by", "rank"])
# What has no table, or is none that can be read.
WITHOUT_TABLES = (2, 3, 5)


def inputs():
    found = [path for folder in ("answers", "limits", "traces")
             for path in sorted(glob.glob(os.path.join(ROOT, folder, "*")))
             if path.endswith((".json", ".json.gz"))]
    assert len(found) > 50, found
    return found


def views(tool, path):
    text = subprocess.run([tool, "-f", "json", path], check=True, capture_output=True).stdout
    named = ("stages", "requests", "launches", "answer")
    return ",".join(list(json.loads(text)["views"]) + [name for name in named])


def width_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF"
               else 1 for c in line)


def check(tool, form, path, columns):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": str(columns or "")}
    ran = subprocess.run([tool, *form, path], capture_output=True, env=environment)
    assert ran.returncode >= 0, (form, path, columns, ran.stderr)
    if ran.returncode in WITHOUT_TABLES:
        return 0
    lines = ran.stdout.decode().splitlines()
    for line in lines:
        assert width_of(line) <= (columns or 100), (form, path, columns, line)
    return len(lines)


def main(tool):
    num = 0
    paths = inputs()
    every = ["--view", views(tool, paths[0])]
    for path in paths:
        num += sum(check(tool, every, path, columns) for columns in (80, 100, 160, None))
        num += sum(check(tool, form, path, 80) for form in FORMS)
    assert num > 50000, num


main(sys.argv[1])
