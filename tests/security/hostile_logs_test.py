#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile_logs_test.py TOOL MAKE_LOGS: what a log can do to its readers, through every verb.

A log with definitions of a later version; golden logs with any byte of their definitions changed,
under checksums that agree and under those that do not: nothing crashes, hangs or says nothing.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.abspath(os.path.join("tests", "support")))
import raw_log  # noqa: E402

TOOL, MAKE_LOGS = (os.path.abspath(path) for path in sys.argv[1:3])
GOLDEN = os.path.abspath(os.path.join("tests", "data", "logs", "v1.pplog"))
LONG = os.environ.get("PPROF_TEST_LONG", "0") not in ("", "0")
SEED = int(os.environ.get("PPROF_TEST_SEED", "20261128"))
SECONDS = 120
VERBS = [verb.split() for verb in (
    "summary LOG", "summary --wide --verbose LOG", "summary --by thread LOG",
    "summary --by step LOG", "summary --compact -f json LOG", "summary --tree LOG",
    "summary --tree -f json LOG", "summary --flat LOG", "summary --kernels LOG",
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
        run, payload = raw_log.nest([1, 2, 1])
        defined = b"".join([
            raw_log.definition(raw_log.SITE, 1, 13, name="outer"), raw_log.definition(7, 1),
            raw_log.definition(1 << 31, 5, 3, name="later"), raw_log.definition(0, 2, name="x"),
            raw_log.definition(raw_log.SITE, 2, 13, name="inner"),
            raw_log.definition(raw_log.LANE, 1, number=99, name="main")])
        data = raw_log.log((raw_log.DEFINITIONS, defined), (raw_log.EVENTS, payload, [run]))
        for verb in VERBS:
            code, said = self.read(verb, data)
            self.assertIn(code, (0, 5) if verb[0] == "compare" else (0,), (verb, said))
            if verb[0] not in ("recover", "merge"):  # they copy whole blocks
                self.assertIn("definitions: 3 of a kind that this version does not know", said, verb)

    def golden_logs(self):
        subprocess.run([MAKE_LOGS, "."], check=True)
        for path in [pathlib.Path(GOLDEN), *sorted(pathlib.Path().glob("*.pplog"))]:
            yield path.name, raw_log.stored_raw(path.read_bytes())

    def test_any_byte_of_definitions_may_be_another(self):
        chance, changes = random.Random(SEED), []
        for name, data in list(self.golden_logs()):
            places = [at for _, begin, size, kind in raw_log.blocks_of(data)
                      if kind == raw_log.DEFINITIONS for at in range(begin, begin + size)]
            self.assertTrue(places, name)
            for at in places if LONG else chance.sample(places, 2):
                value = data[at] ^ chance.randrange(1, 256)
                changes += [(name, data, at, value, sealed) for sealed in (True, False)]
        for name, data, at, value, sealed in changes:
            pathlib.Path("log.pplog").write_bytes(raw_log.changed(data, at, value, sealed))
            for verb in VERBS:
                code, said = self.read(verb)
                what = (name, at, value, sealed, verb, code, said)
                self.assertIn(code, range(6), what)
                self.assertTrue(code in (0, 1, 4) or said, what)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
