# SPDX-License-Identifier: Apache-2.0
"""What the tests of python/pprof share: running a program that uses it, and its logs in words.

A test is started with two arguments, libpprof.so and pprof-report. The programs are texts; each
runs in a folder of its own, in which its logs are.
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "python")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "tools", "python"), os.path.join(ROOT, "tests", "support")]
import pplog  # noqa: E402  (found by the line above)
from patience import SECONDS  # noqa: E402

LIBRARY, REPORT = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]
SITE, CATEGORY, LANE = 1, 2, 3
RANGE, DEVICE_RANGE, MARK, COUNTER = 1, 2, 3, 4
CLIPPED, ABANDONED, ASYNC = 1, 2, 32


def number_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


class Log:
    """A log with names in the place of ids; events in the order in which they began."""

    def __init__(self, path):
        self.path, self.events, self.totals, self.notes = path, [], {}, {}
        sites, categories, lanes = {}, {}, {}
        for what, *rest in pplog.read(path):
            if what == "info":
                self.info = {key.decode(): value.decode() for key, value in rest[0]}
            elif what == "define":
                kind, number, parent, _, _, name = rest
                {SITE: sites, CATEGORY: categories, LANE: lanes}.get(kind, {})[number] = (
                    name.decode(), parent)
            elif what == "batch":
                for event in rest[1]:  # an id may be another name's later
                    event["name"], event["category"] = sites[event["site"]]
                self.events += rest[1]
            elif what == "totals" and rest[0] is not None:
                self.totals = {key: value for lane, key, value in rest[0]
                               if lane == pplog.ALL_LANES}
                self.notes = dict(rest[1])
        for event in self.events:
            event["category"] = categories[event["category"]][0]
            event["lane_name"] = lanes[event["lane"]][0]
            event["value"] = number_of(event["value"])
            event["work"] = [number_of(bits) for bits in event["work"] or [0] * 4]
        self.events.sort(key=lambda event: (event["start"], -event["end"]))

    def select(self, *keys, kind=None, steps=False):
        """Tuples of these keys, of one key the values, of all events but steps."""
        chosen = [event for event in self.events if kind in (None, event["kind"])
                  and (steps or event["category"] != "ProfileStep")]
        return [event[keys[0]] if len(keys) == 1 else tuple(event[key] for key in keys)
                for event in chosen]

    def named(self, name):
        found = [event for event in self.events if event["name"] == name]
        assert len(found) == 1, (name, found)
        return found[0]

    def total(self, key):
        return self.totals.get(key, 0)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def environment(self, **changes):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("PPROF_", "NVTX_", "PYTHON", "LD_"))}
        # RECLAIM: not what other tests' processes leave.
        env.update(PYTHONPATH=PACKAGE, PYTHONDONTWRITEBYTECODE="1", PPROF_LIBRARY=LIBRARY,
                   PPROF_RECLAIM="0",
                   PPROF_OUTPUT=self.path("%p.pplog"), PPROF_SET="memory_limit=1MiB;machine=off",
                   PPROF_LEDGER="0",
                   PYTHONWARNINGS="ignore::DeprecationWarning")
        env.update(changes)
        return {key: value for key, value in env.items() if value is not None}

    def start(self, source, *arguments, **changes):
        """The finished process, whatever its exit status is."""
        program = self.path("program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(source))
        return subprocess.run([sys.executable, program, *arguments], cwd=self.folder,
                              env=self.environment(**changes), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS, text=True, check=False)

    def run_ok(self, source, *arguments, **changes):
        """What the program printed; it must end well and say nothing on stderr."""
        done = self.start(source, *arguments, **changes)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def logs(self, pattern="*.pplog"):
        return [Log(path) for path in sorted(glob.glob(self.path(pattern)))]

    def names(self, logs):
        return sorted(name for log in logs for name in log.select("name"))

    def recover(self):
        """What `pprof-report FOLDER` says to run, once; then nothing is left to say."""
        said = subprocess.run([REPORT, self.folder], stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.PIPE, text=True).stderr
        parts = [name for name in os.listdir(self.folder) if name.endswith(".part")]
        self.assertEqual(bool(parts), "`pprof-report recover " in said, said)
        if not parts:
            return 0
        words = said.split("`")[1].replace("pprof-report", REPORT, 1)
        done = subprocess.run(words, shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return len(parts)

    def log_of(self, source, *arguments, **changes):
        """The one log of a program that ends well; nothing in it is lost or odd."""
        self.printed = self.run_ok(source, *arguments, **changes)
        self.assertEqual(len(self.logs()), 1, os.listdir(self.folder))
        log = self.logs()[0]
        self.assert_clean(log)
        return log

    def assert_clean(self, log, **counts):
        keys = ("lost", "unmatched", "abandoned", "flows_lost", "excluded")
        self.assertEqual({key: log.total(key) for key in keys},
                         {key: counts.get(key, 0) for key in keys})

    def report(self, log):
        """What pprof-report makes of it, views as lists of dictionaries."""
        done = subprocess.run([REPORT, "-f", "json", log.path], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads(done.stdout)
        views = {name: [dict(zip([column["name"] for column in view["columns"]], row))
                        for row in view["rows"]] for name, view in made["views"].items()}
        return views, made["trust"]


def main():
    unittest.main()
