# SPDX-License-Identifier: Apache-2.0
"""What the peers share: running their programs and ours, and counting equal cells."""
import collections
import decimal
import glob
import gzip
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 1800


class Row:
    """One comparison: what of whom, how many cells, and why some differ."""

    def __init__(self, compared):
        self.compared = compared
        self.cells = 0
        self.equal = 0
        self.explained = collections.Counter()
        self.unexplained = []

    def cell(self, where, theirs, ours, reason=None):
        """Counts one cell; `reason` explains a difference that is known, if there is one."""
        self.cells += 1
        if theirs == ours:
            self.equal += 1
        elif reason:
            self.explained[reason] += 1
        else:
            self.unexplained.append(f"{where}: {theirs!r}, ours {ours!r}")


class Peer:
    """A peer's folder, its Python with its packages, our tool and our library."""

    def __init__(self, name, python, tool, folder, library=None):
        self.name, self.python, self.tool, self.folder = name, python, tool, folder
        self.library = library

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, program, *arguments, **variables):
        """Runs a program of this folder under the peer's Python, which finds our package."""
        ours = {"PYTHONPATH": os.path.join(HERE, "..", "..", "python"),
                "PPROF_LIBRARY": self.library or "",
                "PATH": os.path.dirname(self.tool) + ":" + os.environ["PATH"]}
        done = subprocess.run([self.python, os.path.join(HERE, program), *arguments],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, **ours, **variables}, timeout=SECONDS,
                              check=False)
        if done.returncode != 0:
            sys.stderr.write(done.stderr.decode(errors="replace")[-4000:])
            raise RuntimeError(f"{program}: exit {done.returncode}")
        return done.stdout.decode()

    def version(self, package):
        code = f"import importlib.metadata as m; print(m.version({package!r}))"
        return subprocess.run([self.python, "-c", code], stdout=subprocess.PIPE,
                              check=True).stdout.decode().strip()

    def report(self, *arguments):
        """What pprof-report prints."""
        done = subprocess.run([self.tool, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False,
                              env={**os.environ, "PPROF_PYTHON": self.python})
        if done.returncode != 0:
            raise RuntimeError(f"pprof-report {arguments}: exit {done.returncode}\n"
                               f"{done.stderr.decode(errors='replace')}")
        return done.stdout.decode()

    def rows(self, view, *arguments):
        """A view's rows as dictionaries by column."""
        table = json.loads(self.report(*arguments, "-f", "json"))["views"][view]
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row)) for row in table["rows"]]


def descendants(pid):
    """Those of a process; a thread or a process that has just ended has none."""
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path, encoding="utf-8") as file:
                children = file.read().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in map(int, children):
            yield child
            yield from descendants(child)


def load(path):
    """The events of a Chrome trace, numbers as they stand there."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def ns(us):
    return int((decimal.Decimal(us) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def end_of(event):
    return ns(event["ts"]) + (ns(event["dur"]) if event.get("ph") == "X" and "dur" in event else 0)


def sums_of_trace(events, name_of=lambda event: event.get("name")):
    """Calls and total ns of each name: complete ranges, and pairs by thread or by id. What has no
    end ends with the trace, and is no whole call."""
    sums = collections.defaultdict(lambda: [0, 0])
    stacks, pending = collections.defaultdict(list), collections.defaultdict(list)
    timed = [event for event in events if "ts" in event and event.get("ph") != "M"]
    last = max((end_of(event) for event in timed), default=0)
    # Events of one time stay as they are written, as the format says.
    for event in sorted(timed, key=lambda event: decimal.Decimal(event["ts"])):
        phase, start = event.get("ph"), ns(event["ts"])
        thread = event.get("pid"), event.get("tid")
        key = event.get("cat"), str(event.get("id", event.get("id2"))), event.get("pid"), \
            event.get("name")
        if phase == "X":
            add(sums, name_of(event), start, end_of(event) if "dur" in event else last,
                "dur" in event)
        elif phase == "B":
            stacks[thread].append((name_of(event), start))
        elif phase == "E" and stacks[thread]:
            add(sums, *stacks[thread].pop(), start, True)
        elif phase == "b":
            pending[key].append((name_of(event), start))
        elif phase == "e" and pending[key]:
            add(sums, *pending[key].pop(), start, True)
    for name, start in (left for lefts in (*stacks.values(), *pending.values()) for left in lefts):
        add(sums, name, start, last, False)
    return {name: tuple(both) for name, both in sums.items()}


def add(sums, name, start, end, is_whole):
    sums[name][0] += is_whole
    sums[name][1] += end - start


def compare_sums(peer, trace, compared, **hooks):
    """Each name's calls and total of a trace, summed here and by pprof-report.

    `name_of` says what an event is called here, `left_out` why it has no row.
    """
    row = Row(compared)
    left_out = hooks.pop("left_out", lambda event: None)
    events = []
    for event in load(peer.path(trace)):
        reason = left_out(event)
        if reason:
            row.cell(event.get("name"), event.get("ph"), None, reason)
        else:
            events.append(event)
    theirs = sums_of_trace(events, **hooks)
    ours = collections.defaultdict(lambda: [0, 0])
    for cells in peer.rows("tree", "--flat", trace):
        ours[cells["name"]][0] += cells["calls"] or 0
        ours[cells["name"]][1] += cells["total"] or 0
    for name in sorted(set(theirs) | set(ours)):
        for at, what in enumerate(("calls", "total")):
            row.cell(f"{name}: {what}", theirs.get(name, (None, None))[at],
                     ours.get(name, (None, None))[at])
    return row


def compare_schedules(peer, which):
    """Random schedules: the steps of each window."""
    row = Row("windows of 1 000 random schedules, run")
    text = peer.run("schedule_program.py", which)
    for numbers, theirs, ours in json.loads(text[text.index("[["):]):
        row.cell(numbers, theirs, ours)
    return row
