# SPDX-License-Identifier: Apache-2.0
"""What the tests of the injection share: running a program under it, and its logs in words.

A test is started with key=path arguments: nvtx, libpprof, report, pplog (a file of the Python
reader's folder) and the programs it runs. Both libraries lie in one folder then, as installed, and
nothing else tells the loader where they are.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

PATHS = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
PATHS = {key: os.path.abspath(path) for key, path in PATHS.items()}
sys.argv[1:] = [argument for argument in sys.argv[1:] if "=" not in argument]
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(PATHS["pplog"]), os.path.join("tests", "support")]
import pplog  # noqa: E402  (found by the line above)
from patience import SECONDS  # noqa: E402

SITE, CATEGORY, LANE = 1, 2, 3
RANGE, MARK, COUNTER = 1, 3, 4
CLIPPED, ABANDONED, ASYNC = 1, 2, 32
OURS = ("PPROF_", "NVTX_", "RECORDER_", "LD_")


class Log:
    """A log with names in the place of ids. Events are in the order in which they began."""

    def __init__(self, path):
        self.path, self.events, self.totals, self.windows = path, [], {}, []
        self.info, self.notes, self.lanes, sites, categories = {}, {}, {}, {}, {}
        for what, *rest in pplog.read(path):
            if what == "info":
                self.info = {key.decode(): value.decode() for key, value in rest[0]}
            elif what == "define":
                kind, number, parent, color, os_number, name = rest
                name = name.decode(errors="surrogateescape")
                if kind == SITE:
                    sites[number] = (name, parent, color)
                elif kind == CATEGORY:
                    categories[number] = name
                elif kind == LANE:
                    self.lanes[number] = (name, os_number)
            elif what == "batch":
                for event in rest[1]:  # ids are given again: what one means then
                    event["name"], event["category"], event["color"] = sites[event["site"]]
                self.events += rest[1]
            elif what == "window":
                self.windows.append(tuple(rest))
            elif what == "totals":
                items, notes, self.damage = rest
                for lane, key, value in items or []:
                    if lane == pplog.ALL_LANES:
                        self.totals[key] = value
                self.notes = {key.decode(): value.decode() for key, value in notes}
        for event in self.events:
            event["category"] = categories[event["category"]]
            event["lane_name"] = self.lanes[event["lane"]][0]
            event["value"] = number_of(event["value"])
            work = [number_of(bits) for bits in event["work"] or [0] * 4]
            event["items"], event["bytes"] = work[:2]
        self.events.sort(key=lambda event: (event["start"], -event["end"]))

    def names(self, kind=None):
        return [event["name"] for event in self.events if kind in (None, event["kind"])]

    def count(self, name):
        return self.names().count(name)

    def total(self, key):
        return self.totals.get(key, 0)

    def tuples(self, *keys):
        return [tuple(event[key] for key in keys) for event in self.events]


def number_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


class Case(unittest.TestCase):
    """One folder for each test, with the libraries as they are installed."""
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.injection = self.install("lib")

    def install(self, name):
        """Both libraries in a folder of their own; answers the injection's path."""
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        shutil.copy(PATHS["libpprof"], os.path.join(folder, "libpprof.so.0"))
        return shutil.copy(PATHS["nvtx"], os.path.join(folder, "libpprof_nvtx.so"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self, **changes):
        """The test's own, without what would change the outcome; None takes a variable away."""
        env = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
        # Not what other tests' processes leave.
        env["PPROF_RECLAIM"] = "0"
        env.update(NVTX_INJECTION64_PATH=self.injection, PPROF_OUTPUT=self.path("%p.pplog"))
        env.update(changes)
        return {key: value for key, value in env.items() if value is not None}

    def start(self, program, *arguments, env=None, **options):
        """Answers the finished process, whatever its exit status is."""
        return subprocess.run([PATHS[program], *arguments], env=env or self.environment(),
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS, text=True, check=False, **options)

    def run_ok(self, program, *arguments, **options):
        """What the program printed; it must end well and say nothing on stderr."""
        done = self.start(program, *arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.splitlines()

    def log_paths(self, suffix=".pplog"):
        return sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder)
                      if name.endswith(suffix))

    def logs(self):
        return [Log(path) for path in self.log_paths()]

    def log(self):
        """The only log, which must be whole."""
        logs = self.logs()
        self.assertEqual(len(logs), 1, os.listdir(self.folder))
        self.assertEqual((logs[0].damage["bytes"], logs[0].damage["missing"]), (0, 0))
        return logs[0]

    def recover(self):
        """The logs that `recover` makes of what dead processes left in `spools`."""
        logs = []
        for name in sorted(os.listdir(self.path("spools"))):
            spool = os.path.join(self.path("spools"), name)
            # PATH: so many blocks of the log, so many records ...
            logs.append(Log(self.report("recover", spool).split(":")[0]))
            self.assertFalse(os.path.exists(spool))
        self.assertEqual(self.log_paths(".part"), [])
        return logs

    def report(self, *arguments, status=0):
        done = subprocess.run([PATHS["report"], *arguments], cwd=self.folder, timeout=SECONDS,
                              env=self.environment(NVTX_INJECTION64_PATH=None),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def overview(self, path):
        """{event type: calls} of the host part."""
        view = json.loads(self.report("-f", "json", path))["views"]["overview"]
        column = {column["name"]: i for i, column in enumerate(view["columns"])}
        return {row[column["event_type"]]: row[column["calls"]] for row in view["rows"]
                if row[column["part"]] == "host"}


def main():
    unittest.main(verbosity=2)
