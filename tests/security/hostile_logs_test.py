#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile_logs_test.py TOOL MAKE_LOGS: what a log can do to its readers, through every verb.

A log with definitions of a later version; golden logs with any byte of their definitions changed,
under checksums that agree and under those that do not: nothing crashes, hangs or says nothing.
Inputs below 1 MB that would become much: no verb takes more than 256 MB, under a limit of addresses.
A short run reads each with a part of the verbs, the next with others, by the day.
"""
import itertools
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.abspath(os.path.join("tests", "support")))
import raw_log  # noqa: E402
import sample  # noqa: E402
from patience import SECONDS  # noqa: E402

TOOL, MAKE_LOGS = (os.path.abspath(path) for path in sys.argv[1:3])
GOLDEN = os.path.abspath(os.path.join("tests", "data", "logs", "v1.pplog"))
LONG, DAY = sample.LONG, sample.day()
VERBS = [verb.split() for verb in (
    "summary LOG", "summary --wide --verbose LOG", "summary --by thread LOG",
    "summary --by step LOG", "summary --compact -f json LOG", "summary --tree LOG",
    "summary --tree -f json LOG", "summary --flat LOG", "summary --kernel-tree LOG",
    "summary --style paddle --thread-sep --op-detail LOG", "summary --style torch LOG",
    "summary --style nsys LOG", "summary -f csv LOG", "summary -f markdown LOG",
    "summary --view stages,requests,serving,queue,interference,messages,perf,launches,numbers LOG",
    "trace LOG -o trace.json --force", "html LOG -o log.html --force", "info LOG",
    "info -f json LOG", "check LOG", "recover LOG -o log.out --force",
    "merge LOG LOG -o both.out --force", "compare --force LOG LOG", "whatif LOG",
    "export folded LOG -o - --force", "export otlp LOG -o - --force",
    "export perfetto LOG -o - --force", "export profile LOG -o - --force",
    "export speedscope LOG -o - --force", "export sqlite LOG -o log.sqlite --force",
    "export sqlite --schema nsys LOG -o nsys.sqlite --force")]

MAIN = [(raw_log.SITE, 1, 13, 0, 0, "a"), (raw_log.LANE, 1, 0, 0, 99, "main"),
        (raw_log.DEVICE, 1, 0, 0, 0, "gpu"), (raw_log.STREAM, 1, 1, 0, 7, "s"),
        (raw_log.CATEGORY, 6, 0, 0, 0, "Kernel")]


def names(num, parent=13, form="%x"):
    return [(raw_log.SITE, at + 2, parent, 0, 0, form % at) for at in range(num)]


def log(definitions, *blocks):
    """A log of some definitions, in blocks as large as they may be."""
    made = [raw_log.definition(*one) for one in MAIN + definitions]
    sizes = itertools.accumulate(map(len, made))
    parts = itertools.groupby(zip(sizes, made), lambda pair: pair[0] // 50000)
    return raw_log.log(*[(raw_log.DEFINITIONS, b"".join(one for _, one in part))
                         for _, part in parts], *blocks)


def bombs(share):
    """(name, bytes) of inputs below 1 MB; a share of each."""
    many = 45000 // share
    deep = [(at, 200000 - at, {"depth": at}) for at in reversed(range(1020))]
    few = many // 4
    yield "one name deep", log([], *raw_log.events(raw_log.nest([1] * many)))
    yield "many names deep", log(names(2 * few), *raw_log.events(
        raw_log.nest(list(range(2, 2 * few + 2)))))
    yield "a long name deep", log(names(1, form="%x" + "n" * 60000), *raw_log.events(
        raw_log.nest([2] * many)))
    yield "leaves of a deep one", log(names(few), *raw_log.events(
        [(2000 + at, 2001 + at, {"site": at + 2, "depth": 1020}) for at in range(few)] + deep))
    yield "kernels of a deep one", log(names(few, 6), *raw_log.events(
        [(2000 + at, 2001 + at, {"site": at + 2, "device": (2 * at, 2 * at + 1)})
         for at in range(few)] + deep))
    for flags in 0, 32:
        yield "overlaps, flags %d" % flags, log([], *raw_log.events(
            [(at, at + many, {"flags": flags}) for at in range(many)]))
    yield "overlaps of a stream", log(names(1, 6), *raw_log.events(
        [(at, at + 1, {"site": 2, "device": (at, at + many)}) for at in range(many)]))
    yield "devices", log(
        [(raw_log.DEVICE, at + 2, 0, 0, at, "gpu:%d" % at) for at in range(few)]
        + [(raw_log.STREAM, at + 2, at + 2, 0, at, "s") for at in range(few)], *raw_log.events(
            [(at, at + 1, {"stream": at + 2, "device": (at, at + many)}) for at in range(few)]))
    for kind in range(1, 7):
        most = (1 << 18) - 1
        yield "ids far apart, %d" % kind, log(
            [(kind, most, most, 0, most, "x")], *raw_log.events([(0, 9, {}), (2, 3, {
                "device": (4, 5)}), (11, 12, {"site": most})]))
    for phases in "B", "BE", "b":
        events = [{"ph": phase, "name": "a", "cat": "c", "id": 1, "ts": at}
                  for at, phase in enumerate("".join(phase * (17000 // share) for phase in phases))]
        yield phases, json.dumps(events, separators=(",", ":")).encode()[:999999]


def verbs_of(number, parts):
    """What reads the input of this number: a part of the verbs, all in the long version."""
    return VERBS if LONG else VERBS[(DAY + number) % parts::parts]


class HostileLogs(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)
        os.chdir(self.home.name)

    def read(self, verb, data=None):
        """Exit status and stderr of one verb over a log."""
        if data is not None:
            pathlib.Path("log.pplog").write_bytes(data)
        done = subprocess.run([TOOL, *("log.pplog" if word == "LOG" else word for word in verb)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=SECONDS)
        return done.returncode, done.stderr.decode()

    def test_definitions_of_a_later_version_are_left_out_and_named(self):
        defined = b"".join([
            raw_log.definition(raw_log.SITE, 1, 13, name="outer"), raw_log.definition(7, 1),
            raw_log.definition(1 << 31, 5, 3, name="later"), raw_log.definition(0, 2, name="x"),
            raw_log.definition(raw_log.SITE, 2, 13, name="inner"),
            raw_log.definition(raw_log.LANE, 1, number=99, name="main")])
        data = raw_log.log((raw_log.DEFINITIONS, defined),
                           *raw_log.events(raw_log.nest([1, 2, 1])))
        for verb in VERBS:
            code, said = self.read(verb, data)
            self.assertIn(code, (0, 5) if verb[0] == "compare" else (0,), (verb, said))
            if verb[0] not in ("recover", "merge"):  # they copy whole blocks
                self.assertIn("definitions: 3 of a kind that this version does not know", said, verb)

    def measured(self, verb):
        """Exit status, stderr and the greatest memory in MB of one verb over log.pplog."""
        words = ["log.pplog" if word == "LOG" else word for word in verb]
        with open("said", "wb") as said:
            process = subprocess.Popen(
                [TOOL, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, pathlib.Path("said").read_text(), used.ru_maxrss // 1024

    def test_no_small_input_takes_much(self):
        for number, (name, data) in enumerate(bombs(1 if LONG else 5)):
            self.assertLess(len(data), 1000000, name)
            pathlib.Path("log.pplog").write_bytes(data)
            for verb in verbs_of(number, 3):
                code, said, megabytes = self.measured(verb)
                self.assertIn(code, range(6), (name, verb, said))
                self.assertNotIn("out of memory", said, (name, verb))
                self.assertLess(megabytes, 256, (name, verb, said))

    def golden_logs(self):
        subprocess.run([MAKE_LOGS, "."], check=True)
        for path in [pathlib.Path(GOLDEN), *sorted(pathlib.Path().glob("*.pplog"))]:
            yield path.name, raw_log.stored_raw(path.read_bytes())

    def test_any_byte_of_definitions_may_be_another(self):
        chance, changes = random.Random(20261128), []
        for name, data in list(self.golden_logs()):
            places = [at for _, begin, size, kind in raw_log.blocks_of(data)
                      if kind == raw_log.DEFINITIONS for at in range(begin, begin + size)]
            self.assertTrue(places, name)
            for at in places if LONG else chance.sample(places, 2):
                value = data[at] ^ chance.randrange(1, 256)
                changes += [(name, data, at, value, sealed) for sealed in (True, False)]
        for number, (name, data, at, value, sealed) in enumerate(changes):
            pathlib.Path("log.pplog").write_bytes(raw_log.changed(data, at, value, sealed))
            for verb in verbs_of(number, 3):
                code, said = self.read(verb)
                what = (name, at, value, sealed, verb, code, said)
                self.assertIn(code, range(6), what)
                self.assertTrue(code in (0, 1, 4) or said, what)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
