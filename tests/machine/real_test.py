#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The machine for real: a cgroup with a quota, spinners beside the program, and SIGSTOP.
real_test.py PPROF_REPORT PROGRAM, in the tree's root. What the machine does not let us make is
skipped. The program runs until the kernel counted enough, however busy the machine is."""
import glob
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

    def start(self, milliseconds, **options):
        self.log = os.path.join(self.folder, "x.pplog")
        env = dict(os.environ, PPROF_OUTPUT=self.log, PPROF_RECLAIM="0",
                   PPROF_SET="machine=on;memory_limit=4MiB;stop_wait=60s")
        process = subprocess.Popen([PROGRAM, str(milliseconds)], env=env, bufsize=0,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        for close in process.stdout.close, process.wait, process.stdin.close:
            self.addCleanup(close)
        self.assertEqual(process.stdout.readline(), b"started\n")
        return process

    def call(self, process):
        process.stdin.write(b"\n")
        self.assertEqual(process.stdout.readline(), b"called\n")

    def end(self, process):
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def recorded(self, process, name):
        """A counter's last value after a call; 0 before its first."""
        self.call(process)
        return (self.counters(name, self.log + ".part") or [0])[-1]

    def findings(self):
        done = subprocess.run([REPORT, "-f", "json", self.log], stdout=subprocess.PIPE, check=True)
        return {finding["id"]: finding for finding in json.loads(done.stdout)["findings"]
                if finding["id"] in OURS}

    def counters(self, name, log=None):
        sites, found = {}, []
        for what, *rest in pplog.read(log or self.log):
            if what == "define" and rest[0] == 1:
                sites[rest[1]] = rest[5].decode()
            elif what == "batch":
                found += [struct.unpack("<d", struct.pack("<Q", event["value"]))[0]
                          for event in rest[1] if sites[event["site"]] == name]
        return found

    def grown(self, name):
        values = self.counters(name)
        return values[-1] - values[0]

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

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def throttled_us(self, folder):
        stat = dict(line.split() for line in self.read(folder + "/cpu.stat").splitlines())
        return float(stat.get("throttled_usec", int(stat.get("throttled_time", 0)) / 1000))

    def sampler(self, process):
        """(asleep, how often it went to sleep) of the thread that looks at the machine."""
        for status in glob.glob("/proc/%d/task/*/status" % process.pid):
            fields = dict(line.split(":\t", 1) for line in self.read(status).splitlines())
            if fields["Name"] == "pprof-machine":
                return fields["State"][0] == "S", int(fields["voluntary_ctxt_switches"])
        return False, 0

    def test_a_quota_is_named_with_the_time_that_it_took(self):
        folder, began = self.quota(), time.monotonic()
        process = self.start(20, preexec_fn=lambda: self.write(folder + "/cgroup.procs",
                                                               str(os.getpid())))
        while not self.sampler(process)[0]:  # its first sample is taken
            pass
        first = self.throttled_us(folder)
        while self.throttled_us(folder) < first + 5e5:
            self.call(process)
        before_the_stop = self.throttled_us(folder)
        self.end(process)
        # The last sample is of the stop.
        last = self.counters("cgroup.throttled_sum_us")[-1]
        self.assertLessEqual(before_the_stop, last)
        self.assertLessEqual(last, self.throttled_us(folder))
        # The library's threads lose their processors at the same time.
        passed, sum_us = self.grown("cgroup.throttled_us"), self.grown("cgroup.throttled_sum_us")
        self.assertLessEqual(sum_us / os.cpu_count(), 1.05 * passed)
        self.assertLessEqual(passed, min(sum_us, 1.05e6 * (time.monotonic() - began)))
        finding = self.findings()["quota"]
        self.assertIn("0.0500 processors", finding["text"])

    def test_a_stopped_process_stood_still(self):
        process = self.start(5)
        while not self.sampler(process)[0]:
            pass
        # A stop that meets the sampler at work, or in a long rest, goes unnoticed.
        while self.recorded(process, "process.stood_still_us") < 0.2e6:
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            before = self.sampler(process)
            time.sleep(0.4)
            process.send_signal(signal.SIGCONT)
            while self.sampler(process)[1] == before[1]:
                pass
        self.end(process)
        self.assertIn("stood-still", self.findings())

    def test_spinners_are_neighbours(self):
        """Two on two processors, whatever the others of the machine do."""
        two = sorted(os.sched_getaffinity(0))[:2]

        def pin():
            os.sched_setaffinity(0, two)
        spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=pin)
                    for _ in two]
        try:
            began = time.monotonic()
            process = self.start(200, preexec_fn=pin)
            while not self.sampler(process)[0]:
                pass
            # The finding asks for a tenth of the time.
            while self.recorded(process, "process.crowded_us") < 2e5 * (time.monotonic() - began):
                pass
            self.end(process)
        finally:
            for spinner in spinners:
                spinner.kill()
                spinner.wait()
        self.assertIn("neighbours", self.findings())


if __name__ == "__main__":
    unittest.main()
