# SPDX-License-Identifier: Apache-2.0
"""What each run has to print, whatever the machine: patterns of its output with single blanks.

`cell` is what the table of practices says of it: words with the groups of the first pattern. No
pattern asks how long something takes. Those of `idle` ask what limits: on a busy machine any stage
may have the most time. So they hold only where a run goes into a page.
"""
import re


class Expected:
    def __init__(self, *prints, idle=(), cell=None, torch=False):
        self.prints, self.idle, self.cell, self.torch = prints, idle, cell, torch

    def cell_of(self, text):
        found = re.search(self.prints[0], text)
        return self.cell.format(*found.groups()) if self.cell and found else None


NUMBER = r"(-?[\d.]+)"
PAIR = rf"{NUMBER} / {NUMBER}"

ANSWER = r"Answer \w.* Where a (?:step|request)'s .* Complete: "

FIRST_ANSWER = {
    "loader": Expected(ANSWER, r" load host .* 1 └─ unpack host .* 16 ",
                       idle=(r"Answer (?:The thread that runs )?unpack\b.* limit",)),
    "trainer": Expected(ANSWER, r" sort host .* 1 ", idle=(
        r"Answer (?:The thread that runs )?sort\b.*(?:limit|greatest part)", r" is idle ")),
    "service": Expected(ANSWER, r" rank host .* 1 ", idle=(
        r"Answer (?:rank is the limit|.* the busiest stage, rank,)", r" \d few-requests ")),
    "pipeline": Expected(ANSWER, r" cpu:0 .* detector\.stem cpu:0 .* 1 ", idle=(
        r"Answer .*(?:cpu:0|detector|classifier)", r" \d few-requests ")),
}

PRACTICES = {
    "clocks": Expected(
        rf"nothing {NUMBER} - - - - host clocks {NUMBER} {NUMBER} .* synchronize {NUMBER} {NUMBER} "
        rf".* events {NUMBER} {NUMBER} - .* pprof {NUMBER} {NUMBER} ",
        cell="detector {2} ms by the host clock, {4} by synchronize, {6} by events, {8} by pprof; "
             "an iteration {0} ms bare, {3} with synchronize, {7} with pprof"),
    "cold": Expected(
        rf"detector\.stem device 50 50\.00 \S+ / \S+ {NUMBER} / 5 / {NUMBER} 45 {NUMBER} / ",
        r"classifier\.\w+ device 50 ", r"decode host 50 ",
        cell="detector.stem: first call {0} ms, 5 cold ones {1} on average, the other 45 {2}"),
    "time": Expected(
        rf"unpack 640 / 640 {PAIR} / {NUMBER} / \S+ \S+ {NUMBER} / {NUMBER} ", r"load 40 / 40 ",
        cell="unpack: real {0}, user {1}, sys {2}, waiting for a CPU {4} ms"),
    "cost": Expected(
        r"Total: (\S+ k) parameters \(.*?\), (\S+ M) MACs and .*?: (\S+) MFLOP", r" Conv ",
        r" features ", r" head ", cell="{0} parameters, {1} MACs, {2} MFLOP"),
    "mfu": Expected(
        rf"detector\.stem \d+ {NUMBER} / {NUMBER} / \S+ 100\.00 / fp32 / {NUMBER}",
        cell="detector.stem in step 2: {0} GFLOP/s, {1} GMAC/s, {2} % of the peak"),
    "torch": Expected(
        r"rows of torch's table: (\d+), in ours and equal: (\1)\b", r"ProfilerStep\* ", r"Self CPU %",
        cell="{1} of torch's {0} rows, equal"),
    "throughput": Expected(
        rf"ProfileStep host 250 4000\.00 {PAIR} \S+ / 50 / \S+ 200 {NUMBER} / {NUMBER} ",
        r"unpack host 4000 ",
        cell="{0} items/s over 200 of 250 steps; mean {2} ms, std {3}"),
    "batch": Expected(
        r"Largest batch with a p99 of at most 60.000 ms: (\d+)"
        r"(?:, where --to ends the search)? Throughput: (\S+) items/s|"
        r"No batch: with 1 already too slow", r" 1 (?:ok|too slow) ", cell="largest batch {0}, {1} items/s"),
    "ranked": Expected(
        r"1 (\S+)-threads\.pplog 500 \S+ 100\.00 .*? 2 (\S+)-threads\.pplog 500 \S+ (\S+) .*? "
        r"3 (\S+)-threads\.pplog 500 \S+ (\S+) ",
        r"Best\(%\)", r"First call",
        cell="{0} threads are best; {1}: {2} % of it, {3}: {4} %"),
    "windows": Expected(
        r"(3) 96\S* 0 (4) 96\S* 0 (7) 96\S* 0 (8) 96\S* 0 ",
        r"training\.0\.trace\.json\.gz training\.0\.txt training\.1\.trace\.json\.gz",
        cell="steps {0}, {1}, {2}, {3}; files of each cycle"),
    "timer": Expected(
        rf"Reader Ratio: {NUMBER}% .*reader_cost \| {NUMBER} .*batch_cost \| {NUMBER} .*ips \| {NUMBER} ",
        cell="reader {1} of {2} s a step, ratio {0} %, ips {3}"),
    "trace": Expected(
        r"in the log: (\d+) host ranges, (\d+) device ranges in the trace: (\d+) slices.* arrows: "
        r"16 requests, (\d+) arrows",
        cell="{0} host and {1} device ranges are {2} slices; {3} arrows"),
    "tables": Expected(
        *(rf"{whose}: {name} Summary(?!: no)" for whose, names in (
            ("own run", ("Device", "Overview", "Model", "Operator", "Kernel",
                         "Memory Manipulation", "UserDefined")),
            ("Paddle", ("Device", "Overview", "Model", "Operator", "Memory Manipulation",
                        "UserDefined", "Memory")),
            ("torch, two ranks", ("Distribution", "Kernel"))) for name in names),
        cell="each of the nine, of an own run or an imported one"),
    "workflow": Expected(
        rf"Reader Ratio: \S+ \| ips \| {NUMBER} .*Reader Ratio: \S+ \| ips \| {NUMBER} .*Compare-+ .*"
        rf"ProfileStep host p50 \S+ / \S+ {PAIR} ", r"Answer \w",
        idle=(r"Answer (?:The thread that runs )?unpack\b.* limit",),
        cell="ips {0} before, {1} after; a step {2} ms, then {3}"),
}

COOKBOOK = {
    "dominates": Expected(r"ProfileStep host 40[01] ", r" (?:detect|classify) \w+ 400 ",
                          torch=True),
    "p99": Expected(r"\(request\) - 1184 ", r" decode host 1184 ", torch=True),
    "idle": Expected(r"400 requests, .* Answer \w", torch=True),
    "change": Expected(r"Compare-+ .*ProfileStep host p50 200\d / 200\d ", torch=True),
    "modes": Expected(r" 1 \S+\.pplog 1000 .* 4 \S+\.pplog 1000 ", torch=True),
    "fits": Expected(r"Largest batch: \d+", torch=True),
    "hosts": Expected(r"6 queue full 6000 ", r"1 submitted, nobody waits 100 ", torch=True),
}

RUNS = {**FIRST_ANSWER, **PRACTICES, **COOKBOOK}
