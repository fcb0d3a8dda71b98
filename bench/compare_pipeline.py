#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `compare` is wrong on a real run: compare_pipeline.py TOOL LOG...

Each log's calls are dealt out to two sides in random pieces of consecutive
calls, so that nothing differs between the sides but chance; then, for the other
half of the pairs, one stage of the second side is made 5 % slower. Prints false
alarms, and how many of the changes were found where `compare` states that it
would find them.

  compare_pipeline.py --pairs 1000 pprof-report pipeline.pplog
"""

import argparse
import collections
import csv
import io
import json
import os
import random
import subprocess
import tempfile


def on_device(event):
    return event.get("ph") == "X" and "device_error_ns" in event.get("args", {})


def read_stages(tool, log, folder, least):
    """Durations in microseconds by stage, in the order of time."""
    path = os.path.join(folder, "run.json")
    subprocess.run([tool, "trace", "--force", "-o", path, log], check=True,
                   stderr=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    stages = collections.defaultdict(list)
    sides = {event["name"] for event in events if on_device(event)}
    for event in events:
        if event.get("ph") != "X" or not event.get("dur"):
            continue
        if on_device(event) == (event["name"] in sides):  # its submission is no call of it
            stages[event["name"]].append((event["ts"], event["dur"]))
    return {name: [duration for _, duration in sorted(calls)]
            for name, calls in stages.items() if len(calls) >= least}


def deal(calls, piece):
    """Consecutive pieces, each pair of them in random order to two sides."""
    sides = ([], [])
    for at in range(0, len(calls) - 2 * piece + 1, 2 * piece):
        first = random.randrange(2)
        sides[first].extend(calls[at:at + piece])
        sides[1 - first].extend(calls[at + piece:at + 2 * piece])
    return sides


def write_trace(path, stages):
    events = []
    for thread, (name, calls) in enumerate(sorted(stages.items()), 1):
        now = 0
        for duration in calls:
            events.append({"ph": "X", "name": name, "cat": "user_annotation",
                           "pid": 1, "tid": thread, "ts": round(now, 3),
                           "dur": round(duration, 3)})
            now += duration + 1
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)


def compare(tool, folder, sides, threshold):
    """Verdict and smallest detectable change in percent, by stage."""
    paths = [os.path.join(folder, name) for name in ("a.json", "b.json")]
    for path, stages in zip(paths, sides):
        write_trace(path, stages)
    done = subprocess.run(
        [tool, "compare", "-f", "csv", "--fail-on", "none", "--warmup", "0",
         "--threshold", threshold, *paths],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=False)
    rows = csv.DictReader(io.StringIO(done.stdout))
    return {row["name"]: (row["verdict"], float(row["detectable_%"] or "inf"))
            for row in rows if row["ratio"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tool")
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--least", type=int, default=100)
    parser.add_argument("--slower", type=float, default=5.0)
    parser.add_argument("--stage", metavar="NAME,...", help="only these [all]")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    wanted = options.stage and options.stage.split(",")
    alarms = found = tested = 0
    with tempfile.TemporaryDirectory() as folder:
        runs = [read_stages(options.tool, log, folder, options.least)
                for log in options.logs]
        runs = [{name: calls for name, calls in run.items() if not wanted or name in wanted}
                for run in runs]
        for pair in range(options.pairs):
            run = runs[pair % len(runs)]
            dealt = {name: deal(calls, random.randint(1, 16))
                     for name, calls in run.items()}
            sides = [{name: both[k] for name, both in dealt.items()}
                     for k in range(2)]
            rows = compare(options.tool, folder, sides, "0%")
            alarms += any(verdict in ("faster", "slower") for verdict, _ in rows.values())
            rows = compare(options.tool, folder, sides, "1%")
            seen = sorted(name for name, (_, least) in rows.items() if least <= options.slower)
            if not seen:
                continue
            changed = random.choice(seen)
            sides[1][changed] = [duration * (1 + options.slower / 100)
                                 for duration in sides[1][changed]]
            tested += 1
            rows = compare(options.tool, folder, sides, "1%")
            found += rows[changed][0] == "slower" if changed in rows else 0
    print(f"pairs of the same: {alarms} of {options.pairs} with an alarm")
    print(f"+{options.slower:g} % in one stage: {found} of {tested} found"
          f" ({options.pairs - tested} pairs too noisy to see it)")


if __name__ == "__main__":
    main()
