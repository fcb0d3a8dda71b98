#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In its long version: 1 000 ranks as Parquet, exported by several processes at once; stragglers
that were planted; an export that is killed, a file that is cut, a rank that is missing. Clocks
of two jobs in one folder, exports that fail, a file that is damaged inside.
TOOL MAKE_RANKS."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TOOL, MAKE_RANKS = (os.path.abspath(name) for name in sys.argv[1:3])
LONG = os.environ.get("PPROF_TEST_LONG", "0") not in ("", "0")
DUCKDB = os.path.expanduser("~/.cache/pprof/duckdb-2.0.1/_duckdb.*.so")
RANKS, STEPS, NODES = 1000, 100, 4


def library():
    found = glob.glob(DUCKDB)
    if not found:
        raise AssertionError(f"no {DUCKDB}: `./dev test --long` fetches it")
    return found[0]


class Fleet(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        cls.folder = os.path.join(cls.place, "fleet")
        cls.environment = {**os.environ, "PPROF_DUCKDB": library()}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.place)

    @classmethod
    def make(cls, name, *arguments):
        os.mkdir(os.path.join(cls.place, name))
        subprocess.run([MAKE_RANKS, os.path.join(cls.place, name), *map(str, arguments)],
                       check=True)

    @classmethod
    def export(cls, logs):
        return subprocess.Popen([TOOL, "export", "parquet", *logs, "-o", cls.folder],
                                env=cls.environment, stderr=subprocess.DEVNULL)

    def ask(self, code, *question):
        done = subprocess.run([TOOL, "fleet", self.folder, "-f", "json", *question],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=self.environment)
        self.assertEqual(code, done.returncode, done.stderr)
        return json.loads(done.stdout)["rows"], done.stderr.decode()


@unittest.skipUnless(LONG, "long")
class FleetRanks(Fleet):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make("logs", RANKS, STEPS, 1, 7, "forward", 20, 130, 333, "load", 30, 130)
        logs = [os.path.join(cls.place, "logs", f"rank-{rank}.pplog") for rank in range(RANKS)]
        running = [cls.export(logs[node::NODES]) for node in range(NODES)]
        assert [process.wait() for process in running] == [0] * NODES

    def kill_an_export(self):
        """It is killed while it writes a run; what it had begun is left."""
        self.make("killed", 1, 20000, 2)
        process = self.export([os.path.join(self.place, "killed", "rank-0.pplog")])
        while not glob.glob(os.path.join(self.folder, ".unfinished-*")):
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGKILL)
        self.assertEqual(-signal.SIGKILL, process.wait())

    def test_a_fleet(self):
        told, said = self.ask(0, "--view", "stragglers")
        self.assertEqual("", said)
        self.assertEqual([[7, "forward", 20, 99], [333, "load", 30, 99]], [
            [rank, name, since, last] for rank, name, _, place, since, last, *_ in told
            if place == "host"])
        told, _ = self.ask(0, "SELECT rank, COUNT(*) FROM call GROUP BY rank ORDER BY rank")
        self.assertEqual([[rank, 7 * STEPS] for rank in range(RANKS)], told)
        self.kill_an_export()
        run = glob.glob(os.path.join(self.folder, "run=*", "rank=600"))[0]
        shutil.rmtree(os.path.dirname(run))
        cut = glob.glob(os.path.join(self.folder, "run=*", "rank=500", "device_range.parquet"))[0]
        os.truncate(cut, os.path.getsize(cut) // 2)
        told, said = self.ask(4, "SELECT COUNT(DISTINCT rank) FROM run")
        self.assertEqual([[RANKS - 2]], told)
        self.assertIn(f"{cut}: is cut or damaged; the run is left out", said)
        self.assertIn(": its export did not finish; the run is left out", said)
        self.assertIn("of ranks 0 to 999, 1 is missing: 600", said)
        self.assertEqual(3, len(said.splitlines()))


@unittest.skipUnless(LONG, "long")
class FleetJobs(Fleet):

    def test_clocks_are_compared_within_a_job(self):
        """Hosts 0 and 1, then 1 and 2 with the same steps, a minute later."""
        self.make("first", 16, STEPS, 1)
        self.make("later", 16, STEPS, "2:1:60")
        self.assertEqual(0, self.export([os.path.join(self.place, name)
                                         for name in ("first", "later")]).wait())
        told, _ = self.ask(0, "--view", "clocks")
        # The first host of each is before the median, which is one of its own.
        self.assertEqual([[job, f"node{host}", 8 * 2 * STEPS] for job, host in
                          ((1, 0), (1, 1), (2, 1), (2, 2))], [row[:3] for row in told])
        for job, host, _, offset_ns, error_ns in told:
            self.assertAlmostEqual(1000000 * (host == f"node{job}"), offset_ns, delta=20000)
            self.assertLessEqual(error_ns, 20000)


@unittest.skipUnless(LONG, "long")
class FleetExports(Fleet):

    def test_what_cannot_be_exported_is_named(self):
        """A log that is none, then a run that is there already."""
        self.make("logs", 5, STEPS, 1)
        logs = [os.path.join(self.place, "logs", f"rank-{rank}.pplog") for rank in range(5)]
        bad = os.path.join(self.place, "bad.pplog")
        with open(bad, "w", encoding="utf-8") as file:
            file.write("no log")
        code, said = self.say(logs[0], bad, logs[1])
        self.assertEqual((3, [f"pprof-report: {bad}: not a pprof log"]), (code, said))
        self.assertEqual([[0], [1]], self.ask(0, "SELECT rank FROM run ORDER BY rank")[0])
        run, = glob.glob(os.path.join(self.folder, "run=*", "rank=1"))
        code, said = self.say(logs[2], logs[1], logs[3])
        self.assertEqual((3, [
            f"pprof-report: {logs[1]}: cannot be exported: input or output failed",
            f"pprof-report: {self.folder}: {os.path.dirname(run)}: exists; --force replaces it"]),
            (code, said))
        self.assertEqual([[0], [1], [2]], self.ask(0, "SELECT rank FROM run ORDER BY rank")[0])
        self.assertEqual((0, [self.folder]), self.say("--force", logs[1], logs[3]))

    def say(self, *operands):
        done = subprocess.run([TOOL, "export", "parquet", *operands, "-o", self.folder],
                              env=self.environment, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stderr.decode().splitlines()


@unittest.skipUnless(LONG, "long")
class FleetDamage(Fleet):

    def test_a_file_that_does_not_unpack_is_named(self):
        self.make("logs", 2, STEPS, 1)
        self.assertEqual(0, self.export([os.path.join(self.place, "logs")]).wait())
        path, = glob.glob(os.path.join(self.folder, "run=*", "rank=1", "call.parquet"))
        with open(path, "r+b") as file:
            file.seek(200)
            data = file.read(360)
            file.seek(200)
            file.write(bytes(byte ^ 255 for byte in data))
        done = subprocess.run([TOOL, "fleet", self.folder, "--view", "stages"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=self.environment)
        self.assertEqual((2, b""), (done.returncode, done.stdout))
        self.assertIn(path, done.stderr.decode())
        shutil.rmtree(os.path.dirname(os.path.dirname(path)))
        self.assertEqual([[0]], self.ask(0, "SELECT DISTINCT rank FROM call")[0])


unittest.main(argv=sys.argv[:1])
