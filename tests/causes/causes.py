#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs with planted causes and judges what the report says limits them.

causes.py [--seeds N] [--first SEED] [--topology NAME[.SEED[.VARIANT]]]... [--variant NAME]
          [--real FOLDER] [--gpu] [--load N] [--times N] [--jobs N] [--each] [--show] [--write]
          [--check] [--before] REPORT OUT

Each program runs as often as there are seeds, and again with each of its times halved; that, never
a rule, decides what limits it. REPORT is pprof-report; traces, waits and truths are kept in OUT.

--variant changes each program as variants.py says, which leaves what limits it; with `each` they
take turns. --real runs real programs instead, whose binaries are in FOLDER, beside N busy loops;
with --gpu those that need one; --times judges that many runs of each. --jobs runs so many
simulations at a time. --each makes a row of each program, --show prints the answers that are not
right. --write puts the table into docs/findings.md, --check fails where a score misses its
threshold. --before keeps the table's first columns, which are those of a report without a model of
limits.
"""
import argparse
import collections
import functools
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import judge
import real
import trace
import truth
import variants

HERE = os.path.dirname(os.path.abspath(__file__))
BEFORE = os.path.join(HERE, "before.json")
PAGE = "docs/findings.md"
BEGIN, END = "<!-- causes -->\n", "<!-- end causes -->"
# Parts of all runs; of the healthy ones for the last.
THRESHOLDS = {"right": 0.98, "three": 0.995, "false": 0.005, "unrecorded": 0.1, "healthy": 0.99}
BUSY = {"right": 0.9}  # on a busy machine
# A sixth of these is late. Numbers of requests and recorded waits say who hands over to whom.
VARIED = {"right": 0.96, "three": 0.96, "false": 0.02, "differ": 0.01}
COLUMNS = ("runs", "right", "unrecorded", "false")


def case_in(folder, name, seed, variant):
    """(paths of the traces, the truth), made once for each version of the generator."""
    path = os.path.join(folder, f"{name}.{seed}{f'.{variant}' if variant else ''}")
    if not os.path.exists(path + ".truth.json"):
        world, case = truth.case_of(name, seed, variant)
        case["traces"] = trace.write(world, path)
        truth.save(path + ".truth.json", case)
    with open(path + ".truth.json", encoding="utf-8") as file:
        case = json.load(file)
    return case["traces"], case


def report_of(tool, paths):
    done = subprocess.run([tool, "summary", "-f", "json", *paths], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{paths}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def same_in_text(tool, paths, limit):
    """The report for people begins with the same sentence."""
    env = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([tool, "summary", *paths], capture_output=True, check=True, env=env)
    text = " ".join(done.stdout.decode().split())
    sentence = " ".join((limit["sentence"] or "").split())
    if sentence not in text:
        sys.exit(f"{paths}: the text lacks the sentence of the JSON: {sentence}")


def simulated(args):
    """Traces of other versions of the generator go: they are many."""
    os.makedirs(args.out, exist_ok=True)
    for old in os.listdir(args.out):
        if re.fullmatch("[0-9a-f]{16}", old) and old != truth.sources():
            shutil.rmtree(os.path.join(args.out, old), ignore_errors=True)
    folder = os.path.join(args.out, truth.sources())
    os.makedirs(folder, exist_ok=True)
    every = sorted(variants.ALL)
    for number, one in enumerate(args.topology or truth.ALL):
        name, only, variant = (one.split(".") + ["", ""])[:3]
        for seed in [int(only)] if only else range(args.first, args.first + args.seeds):
            turn = every[(number + seed) % len(every)]
            yield folder, name, seed, variant or (turn if args.variant == "each" else args.variant)


def really_run(args):
    folder = os.path.join(args.out, "real")
    os.makedirs(folder, exist_ok=True)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.load)]
    try:
        for name in args.topology or (real.GPU_PROGRAMS if args.gpu else real.PROGRAMS):
            yield from real.cases_of(name, args.real, folder, args.times)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def reported(tool, made):
    paths, case = case_in(*made)
    return paths, case, report_of(tool, paths)


def reports(args):
    """(paths, truth, report) of each run, in order."""
    if args.real:
        for paths, case in really_run(args):
            yield paths, case, report_of(args.report, paths)
        return
    with multiprocessing.Pool(args.jobs) as pool:
        yield from pool.imap(functools.partial(reported, args.report), simulated(args))


def scored(args):
    for paths, case, report in reports(args):
        limit, findings = judge.answer_of(case, report)
        if case.get("seed", args.first) == args.first:
            same_in_text(args.report, paths, limit)
        result = judge.outcome(case, limit, findings)
        if args.show and (result["result"] != "right" or result["false"]):
            truth_is = "healthy" if case["healthy"] else f"right: {', '.join(case['right'])}"
            print(f"{case['name']} {case.get('seed', '')}: {result['result']}"
                  f"{' FALSE' * result['false']}, {truth_is}; says {limit['claim']}: "
                  f"{limit['sentence']}")
        of = report["limit"] or {}
        result["hand-overs"], result["differ"] = (of.get("hand_overs", 0),
                                                  of.get("hand_overs_differ", 0))
        yield case["name" if args.each else "family"], result


def table_of(results):
    """{family: counts}, with all of them as `all`."""
    table = collections.defaultdict(collections.Counter)
    for family, result in results:
        for key in (family, "all"):
            table[key].update({"runs": 1, result["result"]: 1, "false": result["false"],
                               "hand-overs": result["hand-overs"], "differ": result["differ"],
                               "three": int(result["three"]), "healthy": int(result["healthy"]),
                               "healthy right": int(result["healthy"] and
                                                    result["result"] == "right")})
    return table


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def right_share(counts):
    """Of those that markers can decide."""
    return counts["right"], counts["runs"] - counts["unrecorded"]


def lines_of(table, before):
    yield ("| programs | before: right | false advice | runs | right | says what is not recorded | "
           "silent | wrong | false advice | one of three |")
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for family, counts in sorted(table.items(), key=lambda one: (one[0] == "all", one[0])):
        old = collections.Counter(before.get(family, {}))
        cells = [family, share(*right_share(old)), share(old["false"], old["runs"]), counts["runs"],
                 share(*right_share(counts)), counts["unrecorded"], counts["silent"],
                 counts["wrong"], share(counts["false"], counts["runs"]),
                 share(counts["three"], counts["runs"])]
        yield f"| {' | '.join(map(str, cells))} |"


def write_page(lines):
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    head, found, rest = text.partition(BEGIN)
    if not found:
        sys.exit(f"{PAGE}: no {BEGIN.strip()}")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(head + BEGIN + "\n".join(lines) + "\n" + rest[rest.index(END):])


def failures(counts, thresholds):
    """The scores that miss their thresholds."""
    parts = {name: (counts[name], counts["runs"]) for name in ("three", "false", "unrecorded")}
    parts["right"] = right_share(counts)
    parts["differ"] = counts["differ"], counts["hand-overs"]
    parts["healthy"] = counts["healthy right"], counts["healthy"]
    for name, threshold in thresholds.items():
        part, whole = parts[name]
        found = part / whole if whole else threshold
        if (found > threshold) if name in ("false", "unrecorded", "differ") else (found < threshold):
            yield f"{name}: {found:.1%}, has to be {threshold:.1%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--topology", action="append")
    parser.add_argument("--variant", choices=[*variants.ALL, *variants.RECORDED, "each"])
    parser.add_argument("--real", metavar="FOLDER")
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--times", type=int, choices=range(1, real.ROUNDS + 1), default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    for flag in ("--each", "--gpu", "--show", "--write", "--check", "--before"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("report")
    parser.add_argument("out")
    args = parser.parse_args()
    known = {**real.PROGRAMS, **real.GPU_PROGRAMS} if args.real else truth.ALL
    unknown = {name.partition(".")[0] for name in args.topology or ()} - set(known)
    if unknown:
        sys.exit(f"no program {', '.join(unknown)}; there are {', '.join(known)}")
    table = table_of(scored(args))
    before = {}
    if os.path.exists(BEFORE):
        with open(BEFORE, encoding="utf-8") as file:
            before = json.load(file)
    if args.before:
        before = {family: {name: counts[name] for name in COLUMNS}
                  for family, counts in table.items()}
        truth.save(BEFORE, before)
    lines = list(lines_of(table, before))
    print("\n".join(lines))
    counts = table["all"]
    print(f"healthy called so: {counts['healthy right']} of {counts['healthy']}")
    print(f"hand-overs by waits: {counts['hand-overs']:.0f}, numbers of requests differ in "
          f"{counts['differ']:.0f}")
    if args.write and not (args.topology or args.variant or args.real or args.each):
        write_page(lines)
    is_busy = args.load or args.variant == "late"
    thresholds = BUSY if is_busy else VARIED if args.variant else THRESHOLDS
    failed = list(failures(counts, thresholds)) if args.check else []
    sys.exit("\n".join(failed) if failed else 0)


if __name__ == "__main__":
    main()
