#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first answers of docs/first-answer.md, from programs that are run for it.

first_answers.py BINARIES runs each program of examples/ below, checks that the
line of its answer names the stage and the cause, which findings there are, and
that the page, and the README's report, have the layout that reports have now.
With --write it puts the reports into the page instead. Figures vary from run to
run, and what a program shares the machine with: problems beside those that are
its own may be there.
"""
import os
import re
import subprocess
import sys
import tempfile

PAGE = "docs/first-answer.md"
README = "README.md"  # its program has steps on one thread, as the loader has
# The program, what stands in the line of its answer, and ids of its findings.
PROGRAMS = (
    ("loader", (), r"unpack, inside load, takes .* a step .*; it computes", {"input-bound"}),
    ("trainer", (), r"sort takes .* a step .*; it computes", {"host-bound"}),
    ("service", (), r"a request .* lie between stages, most in line before rank begins",
     {"queueing", "few-requests"}),
    ("pipeline", ("--device", "cpu"), r"cpu:0 is the limit: busy .* The greatest part is \w+\.\w+|"
     r"a request .* is queueing for cpu:0", {"queueing", "few-requests"}),
)


def report_of(program, arguments, folder):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PPROF_") and name != "COLUMNS"}
    environment.update(PPROF_REPORT="1", PPROF_OUTPUT="run.pplog", PPROF_SET='cpu=["*"]',
                       LC_ALL="C.UTF-8")
    done = subprocess.run([program, *arguments], cwd=folder, env=environment, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit("%s: exit status %d\n%s" % (program, done.returncode, done.stderr))
    return done.stderr


def check(name, report, answer, ids):
    """The line of the answer may be broken into several."""
    said = re.search(r"^Answer +(.*?)\n(?: +Next:|\n)", report, re.M | re.S)
    line = " ".join(said.group(1).split()) if said else ""
    found = set(re.findall(r"^\d  ([a-z-]+)  ", report, re.M))
    if not re.search(answer, line):
        sys.exit("%s: the answer is %r, not %r\n%s" % (name, line, answer, report))
    if not ids <= found:
        sys.exit("%s: no finding %s\n%s" % (name, ", ".join(sorted(ids - found)), report))


def layout(report):
    """The lines that are alike from run to run, without figures and units."""
    lines = report.split("\n")
    begin = " ".join(lines[0].split()[1:]).split(" each (")[0]
    kept = [line for line in lines if re.match(r"Where a |More: ", line)]
    return [re.sub(r"[\d.]+( (ns|us|ms|s)\b)?|\b(ns|us|ms|s)\b|\s+", "#", line)
            for line in [begin] + kept]


def shown(page, path, name):
    """The report of the program called so."""
    found = re.search(r"^```(?:text)?\n(%s   .*?)^```" % name, page, re.M | re.S)
    return found.group(1) if found else sys.exit("%s has no report of %s" % (path, name))


def check_page(page, path, name, report):
    of_page, now = layout(shown(page, path, name)), layout(report)
    if of_page != now:
        sys.exit("%s shows %s in another layout than reports have; ./dev answers writes "
                 "docs/first-answer.md anew:\n%s\n%s" % (path, name, of_page, now))


def put(page, name, report):
    """Into the first block below the heading that has the program's name."""
    pattern = r"(\n## [^\n]*`%s`.*?\n```text\n).*?(```\n)" % name
    page, num = re.subn(pattern, lambda found: found.group(1) + report + found.group(2), page,
                        count=1, flags=re.S)
    if num != 1:
        sys.exit("%s has no place for %s" % (PAGE, name))
    return page


def main(arguments):
    writes = "--write" in arguments
    binaries = os.path.abspath([word for word in arguments if word != "--write"][0])
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    with open(README, encoding="utf-8") as file:
        readme = file.read()
    for name, words, answer, ids in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            report = report_of(os.path.join(binaries, name), words, folder)
        print(report)
        check(name, report, answer, ids)
        if not writes:
            check_page(page, PAGE, name, report)
        if not writes and name == "loader":
            check_page(readme, README, "hello", report)
        page = put(page, name, report)
    if writes:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)


main(sys.argv[1:])
