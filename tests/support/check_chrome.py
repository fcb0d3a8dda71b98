#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a Chrome trace the way a viewer would suffer from it.

usage: check_chrome.py TRACE...
Exit 0: sound (one line of counts per file); 1: not, with the reasons.
"""
import gzip
import json
import re
import sys

DECIMAL = re.compile(r"^\d+\.\d{3}$")


class Decimal(str):
    """A JSON number with a fraction, as it was written."""


def nanoseconds(event, key, problems):
    text = event.get(key)
    if not isinstance(text, Decimal) or not DECIMAL.match(text):
        problems.append(f"{key} without exactly three digits: {event}")
        return 0
    return int(text.replace(".", ""))


def load(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        text = file.read().decode("utf-8")

    def refuse_twice(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            raise ValueError(f"a key stands twice in {keys}")
        return dict(pairs)

    def refuse(name):
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_float=Decimal, parse_constant=refuse,
                      object_pairs_hook=refuse_twice)


def check_rows(slices, problems):
    for row, on_row in slices.items():
        on_row.sort(key=lambda s: (s[0], -s[1]))
        open_ends = []
        for start, end, name in on_row:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                problems.append(f"{name} [{start}, {end}) sticks out on {row}")
            open_ends.append(end)


def check_flows(flows, slices, problems):
    begins = {(row, start) for row, on_row in slices.items()
              for start, _, _ in on_row}
    for key, arrows in flows.items():
        phases = "".join(phase for phase, _, _ in arrows)
        if not re.match(r"^st*f$", phases):
            problems.append(f"flow {key} goes {phases}")
        times = [time for _, time, _ in arrows]
        if times != sorted(times):
            problems.append(f"flow {key} is not in order of time")
        for phase, time, row in arrows:
            # A launch lies anywhere in the range that it begins in.
            if phase == "s" and key[0] == "launch":
                if not any(start <= time < end for start, end, _ in slices.get(row, [])):
                    problems.append(f"flow {key}: no slice is around {time}, {row}")
            elif (row, time) not in begins:
                problems.append(f"flow {key}: no slice begins at {time}, {row}")


def check_names(named, slices, problems):
    for pid, tid in slices:
        if ("process_name", pid) not in named:
            problems.append(f"process {pid} has no name")
        if ("thread_name", (pid, tid)) not in named:
            problems.append(f"row {pid}/{tid} has no name")


def check(path):
    problems, slices, flows, named, counts = [], {}, {}, set(), {}
    trace = load(path)
    for key in ("displayTimeUnit", "baseTimeNanoseconds", "otherData"):
        if key not in trace:
            problems.append(f"no {key}")
    for event in trace["traceEvents"]:
        phase, row = event["ph"], (event["pid"], event.get("tid"))
        counts[phase] = counts.get(phase, 0) + 1
        if phase == "M":
            where = row if event["name"].startswith("thread") else row[0]
            named.add((event["name"], where))
            continue
        time = nanoseconds(event, "ts", problems)
        if phase == "X":
            length = nanoseconds(event, "dur", problems)
            slices.setdefault(row, []).append((time, time + length,
                                               event["name"]))
        elif phase in "stf":
            key = (event["cat"], event["name"], event["id"])
            flows.setdefault(key, []).append((phase, time, row))
        elif phase not in "iC":
            problems.append(f"unknown phase: {event}")
    check_rows(slices, problems)
    check_flows(flows, slices, problems)
    check_names(named, slices, problems)
    summary = " ".join(f"{phase}={counts[phase]}" for phase in sorted(counts))
    return problems, f"{summary} rows={len(slices)}"


def main(paths):
    failed = False
    for path in paths:
        try:
            problems, summary = check(path)
        except (OSError, ValueError, KeyError) as error:
            problems, summary = [repr(error)], ""
        print(f"{path}: {summary}")
        for problem in problems[:20]:
            print(f"{path}: {problem}")
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
