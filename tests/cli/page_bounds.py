#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_bounds.py TOOL: a page has at most 3 MB, whatever a trace holds, and says what it leaves out.

Each trace has more than fits of one thing: places, long names, ranges."""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from page_parts import part  # noqa: E402

MOST = 3_000_000


def word(noise, length):
    return "".join(noise.choices("abcdefghijklmnopqrstuvwxyz<>:,", k=length))


def ranges(names, length=1000, thread=1):
    """Each name in the one before it, ten levels deep; the outer ones follow each other."""
    start = 0
    for at in range(0, len(names), 10):
        for depth, name in enumerate(names[at:at + 10]):
            yield {"ph": "X", "name": name, "pid": 1, "tid": thread, "ts": start + depth,
                   "dur": length - 2 * depth}
        start += length


def places(noise):
    return ranges([word(noise, 12) for _ in range(12_000)])


def long_names(noise):
    return ranges([word(noise, 3000) for _ in range(800)])


def many(noise):
    names = [word(noise, 8) for _ in range(400)]
    for number in range(60_000):
        start = 10 * number + noise.random()
        yield {"ph": "X", "name": noise.choice(names), "pid": 1,
               "tid": noise.randrange(700), "ts": start, "dur": noise.expovariate(0.01)}


def rows(tool, trace, *options):
    text = subprocess.run([tool, *options, "-f", "json", trace], check=True, capture_output=True)
    return {name: len(view["rows"]) for name, view in json.loads(text.stdout)["views"].items()}


def check_compare(tool, trace, page):
    """A run against itself: a row of each stage, and of those left out the number."""
    subprocess.run([tool, "compare", "--force", "--html", page, trace, trace],
                   capture_output=True)
    with open(page, encoding="utf-8") as file:
        compared = json.loads(part(file.read(), "compare"))
    text = subprocess.run([tool, "compare", "--force", "-f", "csv", trace, trace],
                          capture_output=True, text=True).stdout
    num = len(text.splitlines()) - 1
    if os.path.getsize(page) > MOST:
        print(f"compare of {num} stages: {os.path.getsize(page)} bytes")
    shown, note = len(compared["rows"]), f"the first {len(compared['rows'])} of {num} rows"
    if shown != num and not any(note in line for line in compared["notes"]):
        print(f"compare: {shown} of {num} rows, which no note says")


def main(tool):
    for make in (places, long_names, many):
        with tempfile.TemporaryDirectory() as folder:
            trace, page = (os.path.join(folder, name) for name in ("trace.json", "page.html"))
            with open(trace, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": list(make(random.Random(1)))}, file)
            subprocess.run([tool, "html", "-o", page, trace], check=True, capture_output=True)
            if os.path.getsize(page) > MOST:
                print(f"{make.__name__}: {os.path.getsize(page)} bytes")
            if make is places:
                check_compare(tool, trace, os.path.join(folder, "compare.html"))
            with open(page, encoding="utf-8") as file:
                page = file.read()
            left_out = json.loads(part(page, "left_out"))
            answer = json.loads(part(page, "report"))["views"]["answer"]["rows"]
            if answer[-1][0] != "total":
                print(f"{make.__name__}: the answer's last row is {answer[-1][0]}")
            wanted = rows(tool, trace, "--tree")["tree"]
            told = len(json.loads(part(page, "tree"))["views"]["tree"]["rows"])
            if told + left_out.get("tree", 0) != wanted or told < 100:
                print(f"{make.__name__}: {told} rows and {left_out} of {wanted}")


if __name__ == "__main__":
    main(*sys.argv[1:])
