#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The machine for real: a cgroup with a quota, spinners beside the program, SIGSTOP, and a quiet
run. real_test.py PPROF_REPORT PROGRAM, in the tree's root. What the machine does not let us make is skipped."""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

REPORT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join("tools", "python"))  # in the tree's root
import pplog  # noqa: E402  (found by the line above)

CGROUP = "/sys/fs/cgroup"
OURS = ("power-cap", "heat", "quota", "shared-device", "stood-still", "neighbours", "steal",
        "swapping")


class Real(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, calls, milliseconds, **options):
        self.log = os.path.join(self.folder, "x.pplog")
        env = dict(os.environ, PPROF_OUTPUT=self.log, PPROF_SET="machine=on;memory_limit=4MiB",
                   PPROF_RECLAIM="0")
        process = subprocess.Popen([PROGRAM, str(calls), str(milliseconds)], env=env,
                                   stdout=subprocess.PIPE, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"started\n")
        return process

    def findings(self):
        done = subprocess.run([REPORT, "-f", "json", self.log], stdout=subprocess.PIPE, check=True)
        return {finding["id"]: finding for finding in json.loads(done.stdout)["findings"]
                if finding["id"] in OURS}

    def counters(self, name):
        sites, found = {}, []
        for what, *rest in pplog.read(self.log):
            if what == "define" and rest[0] == 1:
                sites[rest[1]] = rest[5].decode()
            elif what == "batch":
                found += [struct.unpack("<d", struct.pack("<Q", event["value"]))[0]
                          for event in rest[1] if sites[event["site"]] == name]
        return found

    def quota(self):
        """A cgroup whose processes get a twentieth of a processor, and where it counts that."""
        v2 = os.path.exists(CGROUP + "/cgroup.controllers")
        folder = os.path.join(CGROUP if v2 else CGROUP + "/cpu", "pprof_test.%d" % os.getpid())
        try:
            os.mkdir(folder)
            self.addCleanup(os.rmdir, folder)
            if v2:
                self.write(folder + "/cpu.max", "5000 100000")
            else:
                self.write(folder + "/cpu.cfs_quota_us", "5000")
        except OSError as error:
            self.skipTest("no cgroup with a quota can be made here: %s" % error)
        return folder

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def throttled_us(self, folder):
        with open(folder + "/cpu.stat", encoding="utf-8") as file:
            stat = dict(line.split() for line in file)
        return float(stat.get("throttled_usec", int(stat.get("throttled_time", 0)) / 1000))

    def test_a_quota_is_named_with_the_time_that_it_took(self):
        folder = self.quota()
        process = self.start(10, 20, preexec_fn=lambda: self.write(folder + "/cgroup.procs",
                                                                   str(os.getpid())))
        process.wait()
        throttled = self.throttled_us(folder)
        values = self.counters("cgroup.throttled_us")
        self.assertGreater(throttled, 5e5)  # 0.2 s of work
        # What came before the first sample and after the last is outside.
        self.assertLess(abs(values[-1] - throttled), 0.05 * throttled)
        finding = self.findings()["quota"]
        self.assertIn("0.0500 processors", finding["text"])

    def test_a_stopped_process_stood_still(self):
        process = self.start(400, 5)
        for _ in range(3):
            time.sleep(0.4)
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            process.send_signal(signal.SIGCONT)
        process.wait()
        stood = self.counters("process.stood_still_us")[-1]
        self.assertGreater(stood, 3 * 0.2e6)
        self.assertIn("stood-still", self.findings())

    def test_spinners_are_neighbours(self):
        spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                    for _ in range(2 * len(os.sched_getaffinity(0)))]
        try:
            self.start(200, 10).wait()
        finally:
            for spinner in spinners:
                spinner.kill()
                spinner.wait()
        crowded = self.counters("process.crowded_us")
        self.assertGreater(crowded[-1], 0.2e6)
        self.assertIn("neighbours", self.findings())


if __name__ == "__main__":
    unittest.main()
