#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that documents show, and puts what they print into them.

answers.py [--write] [--sample N] [--kind KIND] [--peers OUT | --modules FOLDER] BIN [NAME|PAGE...]

A run is `<!-- answer NAME KIND -->` ... `<!-- end -->` in a page below, which shows the output, or
`<!-- answer NAME KIND hidden -->`, which does not. Its commands are the `sh` block before it, which bash runs in an empty folder beside `docs`, `examples` and `tests` of this
tree. BIN is folders of programs, parted by colons. KIND is cpu, or gpu where there is one; what it
has to print, and whether it needs torch, is in expected.py: torch is that of `./dev peers` in OUT,
made where it is not there; or of FOLDER; or Python's. All without a NAME or PAGE. With N the
README's, and each N-th of the others, which others each day.

Without --write the page stays: a run fails whose commands do, which does not print what it has to,
or whose tables and layout are others than the page shows. Figures vary, and what a program shares
the machine with: findings beside those expected may be there.
"""
import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import expected

sys.path.insert(1, os.path.join("tests", "support"))
import sample

TREE = os.getcwd()
PAGES = ("docs/cookbook.md", "docs/practices.md")
RUN = re.compile(r"<!-- answer (\S+) (cpu|gpu) (?:hidden -->|-->\n(.*?)<!-- end -->)", re.S)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.S | re.M)
CELL = re.compile(r"(<!-- cell (\S+) (cpu|gpu) -->).*?(<!-- end -->)")
SECONDS = 1200
OF_README = "loader"
# What `cost` counts with, where ./dev has put it. Its NumPy is not for the others.
ONNX = os.path.expanduser("~/.cache/pprof/onnx-1.23.2")


class Run:
    """One run of a page: its commands, and what the page shows of it."""

    def __init__(self, page, text, found):
        self.page, self.name, self.kind, self.shown = page, *found.groups()
        before = COMMANDS.findall(text[:found.start()])
        self.commands = before[-1] if before else sys.exit(f"{page}: no commands for {self.name}")
        self.expected = expected.RUNS.get(self.name) or sys.exit(
            f"{page}: expected.py knows nothing of {self.name}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def runs_of(kind):
    found = [Run(page, read(page), match) for page in PAGES for match in RUN.finditer(read(page))]
    return [run for run in found if run.kind == kind]


def environment(binaries, *packages):
    """Nothing of the caller's that changes what is recorded or printed."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("PPROF_")}
    near = [os.path.join(folder, name) for folder in binaries.split(":")
            for name in ("libpprof.so.0", "../libpprof.so")]
    library = next((path for path in near if os.path.exists(path)), "")
    return {**kept, "LC_ALL": "C.UTF-8", "COLUMNS": "240", "PATH": f"{binaries}:{kept['PATH']}",
            "PPROF_LIBRARY": library, "PYTHONDONTWRITEBYTECODE": "1", "PPROF_QUIET": "1",
            "PYTHONPATH": ":".join([os.path.join(TREE, "python"), *packages,
                                    kept.get("PYTHONPATH", "")])}


def output_of(run, binaries):
    packages = [ONNX] if "pprof-report cost" in run.commands else []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("docs", "examples", "tests"):
            os.symlink(os.path.join(TREE, name), os.path.join(folder, name))
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", run.commands], cwd=folder,
                              env=environment(binaries, *packages), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS,
                              check=False)
    text = done.stdout.decode(errors="replace")
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    return text, done.returncode


def words(text):
    """Lines may be broken anywhere."""
    return " ".join(text.split())


def layout(text):
    """What is alike from run to run: the heads of tables, and what frames an answer."""
    lines = text.splitlines()
    heads = [after for before, after in zip(lines, lines[1:]) if re.match(r" *-[- ]+$", before)]
    kept = [words(line) for line in heads if re.search(r"[A-Za-z]", line)]
    frame = [line for line in lines if re.match(r"Where a |More: ", line)]
    if frame:
        run = words(next(part for part in text.split("\n\n") if " each (" in part))
        frame.insert(0, " ".join(run.split(" each (")[0].split()[1:]))
    number = r"[\d.]+( (ns|us|ms|s)\b)?|\b(ns|us|ms|s)\b|\s+"
    return kept[:1] + [re.sub(number, "#", line) for line in frame]


def alike(left, right):
    """Whether two layouts are one. Tables may be cut at a column, so that a head ends earlier."""
    return len(left) == len(right) and all(
        short and long.startswith(short) for short, long in
        (sorted(pair, key=len) for pair in zip(left, right)))


def problem_of(run, text, status, is_idle):
    """Why this is not what the run has to print; nothing if it is."""
    if status:
        return f"exit status {status}"
    for pattern in run.expected.prints + (run.expected.idle if is_idle else ()):
        if not re.search(pattern, words(text)):
            return f"nothing printed is {pattern!r}"
    return None


def stale(run, text):
    """How the page's layout differs; nothing if it does not."""
    if run.shown is None:
        return None
    block = re.search(r"^```text\n(.*?)^```", run.shown, re.S | re.M)
    if not block:
        return None if run.kind == "gpu" else "the page shows nothing of it"
    of_page, now = layout(block.group(1)), layout(text)
    return None if alike(of_page, now) else f"{run.page} shows another layout: {of_page}, now {now}"


def machine():
    """Processors, and the device where there is one."""
    listed = shutil.which("nvidia-smi") and subprocess.run(
        ["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    device = re.search(r"GPU 0: (.*?) \(UUID", listed.stdout.decode()) if listed else None
    model = re.search(r"model name\s*: (.*)", read("/proc/cpuinfo"))
    text = f"{os.cpu_count()} CPUs ({model.group(1).strip() if model else os.uname().machine})"
    return (device.group(1) + ", " if device else "") + text


def put(run, text):
    """Into the page, with the day and the machine; and into the table of practices."""
    page, cell = read(run.page), run.expected.cell_of(words(text))
    made = f"<!-- answer {run.name} {run.kind} -->\n{datetime.date.today()}, {machine()}:\n\n" \
           f"```text\n{text}```\n<!-- end -->"
    if run.shown is not None:
        page = RUN.sub(lambda found: made if found.group(1, 2) == (run.name, run.kind) else
                       found.group(0), page)
    if cell:
        page = CELL.sub(lambda found: f"{found.group(1)}{cell}{found.group(4)}"
                        if found.group(2, 3) == (run.name, run.kind) else found.group(0), page)
    with open(run.page, "w", encoding="utf-8") as file:
        file.write(page)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put what is printed into the pages")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--kind", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--peers", help="where ./dev peers keeps what it installs")
    parser.add_argument("--modules", default="", help="what Python imports from first")
    parser.add_argument("binaries")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    asked.binaries = ":".join(map(os.path.abspath, asked.binaries.split(":")))
    if asked.modules:
        os.environ["PYTHONPATH"] = os.path.abspath(asked.modules)
    return asked


def readme_is_stale(text):
    """The README's program has steps on one thread, as the loader has."""
    shown = re.search(r"^```\n(Answer   .*?)^```", read("README.md"), re.S | re.M)
    of_page, now = layout(shown.group(1)), layout(text)
    return None if alike(of_page, now) else f"README.md shows another layout: {of_page}, now {now}"


def has_torch(binaries, peers):
    if peers:
        sys.path.append(os.path.join(TREE, "tests", "peers"))
        import peer_torch
        import run_peers
        python = run_peers.prepare("torch", peer_torch.PACKAGES, os.path.abspath(peers))
        os.environ["PATH"] = os.path.dirname(python) + ":" + os.environ["PATH"]
    return subprocess.run(["python3", "-c", "import torch"], env=environment(binaries),
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def attempt(run, asked):
    text, status = output_of(run, asked.binaries)
    problem = problem_of(run, text, status, asked.write)
    if not problem and asked.write:
        put(run, text)
    elif not problem:
        problem = stale(run, text)
        if not problem and run.name == OF_README:
            problem = readme_is_stale(text)
    if problem or asked.write:
        print(text)
    return problem


def main():
    asked = arguments()
    every = runs_of(asked.kind)
    unknown = set(asked.names) - {word for run in every for word in (run.name, run.page)}
    if unknown:
        sys.exit(f"no such run on a {asked.kind}: {' '.join(sorted(unknown))}; there are "
                 f"{' '.join(run.name for run in every)}")
    chosen = [run for run in every if not asked.names or {run.name, run.page} & set(asked.names)]
    if asked.sample > 1:
        others = sample.of([run for run in chosen if run.name != OF_README], asked.sample)
        chosen = [run for run in chosen if run.name == OF_README] + others
    torch = any(run.expected.torch for run in chosen) and has_torch(asked.binaries, asked.peers)
    counts = {"passed": 0, "failed": 0, "left out": 0}
    for run in chosen:
        if run.expected.torch and not torch:
            problem, outcome = "no torch in this Python", "left out"
        else:
            problem = attempt(run, asked)
            outcome = "failed" if problem else "passed"
        counts[outcome] += 1
        print(f"{outcome}: {run.name}" + (f": {problem}" if problem else ""), flush=True)
    print(", ".join(f"{number} {outcome}" for outcome, number in counts.items()))
    sys.exit(1 if counts["failed"] or not counts["passed"] else 0)


main()
