# SPDX-License-Identifier: Apache-2.0
"""tests/peers/results.md as the results that it shows, both ways: it is where results are kept."""
import os
import platform
import re

HEAD = """# Against the real ones

Every framework that these pages name, run, and what it prints laid beside what we
print: `./dev peers [NAME...]` makes this page. Each runs in a Python of its own with
the version named here; the programs and the comparisons are in `tests/peers`. Small
traces of such runs are in `tests/data/traces`, where each change is tested with them.

The last run: {machine}; Python {python}.

| peer | version | date | compared | cells | equal | explained |
|---|---|---|---|---|---|---|
"""
DIFFERENCES = """
## Differences

Cells that differ, and why, in the order of the table.
"""
ROW = re.compile(r"\| (.+?) \| (.+?) \| (\d+-\d+-\d+) \| (.+) \| (\d+) \| (\d+) \| \d+ \|")
TITLE = re.compile(r"\*\*(.+?)\*\*, (.+):")
REASON = re.compile(r"- (\d+): (.+)")


def read(text):
    """The results of a page: who, what, how many cells, and why some differ."""
    results, of_title, explained = [], {}, {}
    for line in text.splitlines():
        row, title, reason = ROW.fullmatch(line), TITLE.fullmatch(line), REASON.fullmatch(line)
        if row:
            keys = ("peer", "version", "date", "compared", "cells", "equal")
            result = dict(zip(keys, row.groups()), explained={})
            result.update(cells=int(row[5]), equal=int(row[6]))
            results.append(result)
            of_title[result["peer"], result["compared"]] = result["explained"]
        elif title:
            explained = of_title[title[1], title[2]]
        elif reason:
            explained[reason[2]] = int(reason[1])
    return results


def write(results, head):
    """The page of these results; `head` is what stands above its table."""
    text = head
    for result in results:
        text += "| {peer} | {version} | {date} | {compared} | {cells} | {equal} | {why} |\n".format(
            why=sum(result["explained"].values()), **result)
    text += DIFFERENCES
    for result in results:
        if result["explained"]:
            text += f"\n**{result['peer']}**, {result['compared']}:\n\n"
        for reason, count in result["explained"].items():
            text += f"- {count}: {reason}\n"
    return text


def head():
    return HEAD.format(machine=machine(), python=platform.python_version())


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(": ")[1].strip() for line in file if "model name" in line), "")
    return f"{os.cpu_count()} processors, {model}"


def merged(old, new, order):
    """New results beside the old ones of peers that have none, in this order of peers."""
    now = {result["peer"] for result in new}
    both = [result for result in old if result["peer"] not in now] + new
    return sorted((r for r in both if r["peer"] in order), key=lambda r: order.index(r["peer"]))
