#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No line of any table is wider than its page, and terminal, page and JSON agree.

screens_test.py PPROF_REPORT. All views, styles and the tree of each input at 80, 100
and 160 columns, and in a pipe, which has 100. Of each input the unit, the answer, the
findings with their numbers, the table's rows and the threads' names."""
import glob
import json
import os
import re
import subprocess
import sys
import unicodedata

import case

ROOT = os.path.join(case.DATA, "..")
sys.path.insert(0, os.path.join(ROOT, "..", "support"))
import page_parts  # noqa: E402
FORMS = ([], ["--style", "paddle"], ["--style", "torch"], ["--style", "nsys"], ["--tree"],
         ["--flat"], ["--kernel-tree", "--top", "0"], ["--by", "thread"], ["--by", "rank"], ["info"])
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
        fits = line.startswith(path) or width_of(line) <= (columns or 100)
        assert fits, (form, path, columns, line)
    return len(lines)


def printed(tool, *options):
    return subprocess.run([tool, *options], check=True, capture_output=True).stdout.decode()


def is_round(text, value):
    """Whether `text` is `value`, as exact as it is written. A JSON time is a whole ns."""
    return abs(float(text) - value) <= 0.5000001 * 10 ** -len(text.partition(".")[2])


def visible(name):
    return re.sub(r"[\0-\x1f]", lambda found: "\\x%02X" % ord(found.group()), name)


def check_rows(lines, view, where):
    """Each row of the terminal is the next one of JSON; rows below 1 % are one line."""
    names = [column["name"] for column in view["columns"]]
    rows = iter([dict(zip(names, row)) for row in view["rows"]])
    scale, num = None, 0
    for line in lines:
        heading = re.search(r"  (ns|us|ms|s)   share", line)
        scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[heading[1]] if heading else scale
        found = re.match(r"(?:└─ )?(\S.*?)  +(?:(.*?)  +)?([0-9.]+) +([0-9]+) %", line)
        if not scale or not found or re.match(r"[0-9]+ below 1 %", line):
            continue
        row = next((row for row in rows if visible(row["name"]) == found[1]), None)
        assert row, (where, line)
        assert is_round(found[3], row["time_avg"] / scale) or scale == 1, (where, line, row)
        assert is_round(found[4], row["share"]), (where, line, row)
        assert (found[2] or "") == (row["where"] or ""), (where, line, row)
        num += 1
    return num


def check_findings(text, report, where):
    flat = " ".join(text.split())
    answer = " ".join(("Answer", report["answer"], "Next:", report["next"]))
    for said in answer.removesuffix(" Next: "), *(
            "%d %s %s" % (one["number"], one["id"], one["text"].rstrip("."))
            for one in report["findings"] if 0 < one["number"] <= 5):
        assert not report["answer"] or " ".join(said.split()) in flat, (where, said)


def check_threads(tool, path, page):
    """Threads have their names everywhere."""
    answer = json.loads(printed(tool, "--by", "thread", "-f", "json", path))["views"]["answer"]
    at = [column["name"] for column in answer["columns"]].index("of")
    titles = {visible(row[at]) for row in answer["rows"] if row[at]}
    text = printed(tool, "--by", "thread", "--wide", path)
    for title in titles:
        assert re.search("^%s: (where )?(the|an?) thread's " % re.escape(title), text, re.M), (
            path, title)
        assert not title.startswith("thread thread "), (path, title)
    for row in json.loads(page_parts.part(page, "picture"))["rows"]:
        if row["kind"] == "thread" and row["lane"] and row["name"]:
            assert any(row["name"] in title for title in titles), (path, row, titles)


def check_agreement(tool, path):
    ran = subprocess.run([tool, "--wide", path], capture_output=True)
    if ran.returncode in WITHOUT_TABLES:
        return 0
    text = ran.stdout.decode()
    report = json.loads(printed(tool, "-f", "json", path))
    page = printed(tool, "html", "-o", "-", path)
    unit = json.loads(page_parts.part(page, "words"))["unit"]
    of_page = json.loads(page_parts.part(page, "report"))
    for key in ("answer", "next", "findings"):
        assert report[key] == of_page[key], (path, key)
    check_findings(text, report, path)
    assert re.search(r"here (the|an?) %s's " % unit, text), (path, unit)
    for other in {"request", "step", "iteration"} - {unit} if unit != "run" else ():
        assert not re.search(r"\b(an?|each) %s\b" % other, report["answer"]), (path, unit)
    check_threads(tool, path, page)
    return check_rows(text.splitlines(), report["views"]["answer"], path)


def write_deep(path):
    """A trace of one call that is 200 levels deep."""
    events = [{"ph": "X", "name": "level %d" % at, "pid": 1, "tid": 1, "ts": at, "dur": 999 - 2 * at}
              for at in range(200)]
    with open(path, "w") as file:
        json.dump(events, file)


def main(tool):
    num = num_rows = 0
    deep = os.path.join(os.environ["TEST_TMPDIR"], "deep.json")
    write_deep(deep)
    paths = [*inputs(), deep]
    every = ["--view", views(tool, paths[0])]
    for path in paths:
        num += sum(check(tool, every, path, columns) for columns in (80, 100, 160, None))
        num += sum(check(tool, form, path, 80) for form in FORMS)
        num_rows += check_agreement(tool, path)
    assert num > 50000 and num_rows > 300, (num, num_rows)


main(sys.argv[1])
