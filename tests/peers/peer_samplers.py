# SPDX-License-Identifier: Apache-2.0
"""Profilers that sample and the kernel's tracer: what is read of their files, what is refused by
what it is, and whether the way that is named then is one."""
import json
import os
import re
import subprocess

import common
import peer_viewers
import viewers

PROGRAM = "sampler_programs.py"


def refused(peer, row, name, *words):
    """A cell: that a file is refused, with these words."""
    done = subprocess.run([peer.tool, "--flat", name], cwd=peer.folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=common.SECONDS, check=False)
    said = done.stderr.decode()
    row.cell(f"{name}: {said}", True, done.returncode != 0 and all(word in said for word in words))


def version_of(*command):
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.search(r"\d[\w.]*", said)[0]


def compare_perf(peer):
    peer.run(PROGRAM, "perf")
    row = common.Row("its file, and as JSON by perf data convert: refused by what they are; "
                     "perf script's text in speedscope, as the hint says: its time")
    for name in ("perf.data", "perf.json"):
        refused(peer, row, name, "samples of perf", "speedscope opens what perf script")
    with open(peer.path("perf.txt"), encoding="utf-8") as file:
        times = [int(a + b) for a, b in re.findall(r"(\d+)\.(\d{6}): +\d+ cpu-clock", file.read())]
    saved = viewers.speedscope(peer_viewers.unpacked(peer), peer.path("perf.txt"))
    row.cell("from the first sample to the last, in us", times[-1] - times[0],
             round(sum(profile["endValue"] for profile in saved["profiles"]) * 1e6))
    return [(version_of("perf", "--version"), row)]


def compare_pyspy(peer):
    peer.run(PROGRAM, "pyspy")
    row = common.compare_sums(peer, "trace.json", "calls and total of each name of chrometrace; "
                              "speedscope, and what its page saves of it, refused by what it is")
    saved = viewers.speedscope(peer_viewers.unpacked(peer), peer.path("speedscope.json"))
    with open(peer.path("saved.json"), "w", encoding="utf-8") as file:
        json.dump(saved, file)
    for name in ("speedscope.json", "saved.json"):
        refused(peer, row, name, "a profile of speedscope", "py-spy record -f chrometrace")
    return [(peer.version("py-spy"), row)]


def ranges_of(path):
    """[name, ranges, us] of the marks in ftrace's text."""
    with open(path, encoding="utf-8") as file:
        marks = re.findall(r"(\d+)\.(\d{6}): tracing_mark_write: ([BE])\|\d+\|?(\w*)", file.read())
    found, stack = {}, []
    for seconds, fraction, phase, name in marks:
        us = int(seconds + fraction)
        if phase == "B":
            stack.append((name, us))
            continue
        name, start = stack.pop()
        calls, total = found.get(name, (0, 0))
        found[name] = calls + 1, total + us - start
    return [[name, *both] for name, both in sorted(found.items())]


def compare_ftrace(peer):
    peer.run(PROGRAM, "ftrace")
    row = common.Row("its text, and as JSON by Perfetto's converter: refused by what they are; the "
                     "text in Perfetto's interface, as the hint says: ranges and their time")
    folder, version = peer_viewers.perfetto_page(peer)
    with open(peer.path("ftrace.json"), "w", encoding="utf-8") as file:
        file.write(viewers.converted(folder, version, peer.path("ftrace.txt")))
    for name in ("ftrace.txt", "ftrace.json"):
        refused(peer, row, name, "ftrace's text, which ui.perfetto.dev opens")
    slices, = viewers.perfetto(folder, peer.path("ftrace.txt"), [
        "SELECT name, COUNT(*), SUM(dur) FROM slice GROUP BY 1 ORDER BY 1"])
    # Perfetto reads seconds as floats.
    row.cell("ranges and their us", [[*both, round(ns / 1000)] for *both, ns in slices],
             ranges_of(peer.path("ftrace.txt")))
    return [(os.uname().release.split("-")[0], row)]


def compare_firefox(peer):
    peer.run(PROGRAM, "firefox")
    row = common.Row("a profile from start to end: refused by what it is")
    refused(peer, row, "firefox.json", "the Firefox profiler", "profiler.firefox.com opens it")
    return [(version_of("firefox-esr", "--version"), row)]


PEERS = {
    "perf": ([], compare_perf, None),
    "py-spy": (["py-spy==0.4.3"], compare_pyspy, None),
    "ftrace": (["viztracer==1.1.1"], compare_ftrace, "viztracer"),
    "firefox": ([], compare_firefox, None),
}
