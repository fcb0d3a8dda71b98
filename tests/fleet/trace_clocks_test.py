#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pprof-report trace` of several hosts' logs: one timeline, as far as their clocks are known.
TOOL MAKE_RANKS, whose host N is N ms ahead, and whose collectives end within 20 us."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL, MAKE_RANKS = (os.path.abspath(name) for name in sys.argv[1:3])
STEPS = 30
SET = "clock set by ([+-]\\d+\\.\\d+) ms, \\+-(\\d+\\.\\d+) ms"
OWN = "host's own clock, error not known"


class TraceClocks(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, name, *arguments):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        subprocess.run([MAKE_RANKS, folder, *arguments], check=True)
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def trace(self, logs, code=0):
        """(events, what was said but for the file's name)"""
        path = os.path.join(self.folder, "all.json")
        done = subprocess.run([TOOL, "trace", *logs, "--force", "-o", path], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(code, done.returncode, done.stderr)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        said = done.stderr.decode().splitlines()
        self.assertEqual(path, said.pop())
        return events, said

    def labels(self, events):
        return [event["args"]["labels"] for event in events if event["name"] == "process_labels"]

    def apart(self, events):
        """By how much a collective's ends differ at most, in us."""
        ends = collections.defaultdict(list)
        for event in events:
            if event["name"] == "all_reduce" and event["ph"] == "X":
                ends[event["pid"]].append(event["ts"] + event["dur"])
        return max(max(of) - min(of) for of in zip(*map(sorted, ends.values())))

    def test_hosts_are_set_by_their_collectives(self):
        events, said = self.trace(self.make("logs", "24", str(STEPS), "1"))
        line, = said
        bound = re.fullmatch("pprof-report: the ends of their collectives set"
                             " the clocks of 3 hosts: order between hosts is true beyond"
                             " (0.0\\d\\d) ms", line)
        self.assertLessEqual(float(bound[1]), 0.04)
        self.assertLessEqual(self.apart(events), 20 + 1000 * float(bound[1]))
        labels = self.labels(events)
        self.assertEqual(24, len(labels))
        # The median is that of host 1.
        for rank, label in enumerate(labels):
            moved, error = map(float, re.fullmatch(SET, label).groups())
            self.assertAlmostEqual(1 - self.hosts(events)[rank], moved, delta=error)

    def hosts(self, events):
        """The host of each process that has a label, in their order: processes count from 1000."""
        return [(event["pid"] - 1000) // 8 for event in events
                if event["name"] == "process_labels"]

    def test_one_host_has_one_clock(self):
        events, said = self.trace(self.make("logs", "8", str(STEPS), "1"))
        self.assertEqual(([], []), (said, self.labels(events)))
        self.assertLessEqual(self.apart(events), 20)

    def test_what_has_no_collective_in_common_stays(self):
        logs = self.make("logs", "16", str(STEPS), "1") + self.make("other", "24:16:20", "0", "2")
        events, said = self.trace(logs)
        self.assertIn("set the clocks of 2 hosts", said[0])
        self.assertEqual(
            "pprof-report: 1 of 3 hosts share no collective with the others: their own clocks"
            " order them, with unknown error", said[1])
        self.assertEqual(2, len(said))
        self.assertEqual([16, 4], [sum(bool(re.fullmatch(SET, label))
                                       for label in self.labels(events)),
                                   self.labels(events).count(OWN)])

    def test_hosts_with_nothing_in_common_keep_their_clocks(self):
        logs = self.make("logs", "16:0:1", str(STEPS), "1") + \
            self.make("other", "16:8:9", "0", "2")
        events, said = self.trace(logs)
        self.assertEqual(
            ["pprof-report: 2 of 2 hosts share no collective with the others: their own clocks"
             " order them, with unknown error"], said)
        self.assertEqual([OWN, OWN], self.labels(events))

    def test_collectives_of_one_host_say_nothing_of_others(self):
        """Ranks of two hosts, each with collectives among its own alone: other steps."""
        logs = self.make("logs", "16:0:8", "2", "1") + self.make("other", "16:8:16", "0", "2")
        _, said = self.trace(logs)
        self.assertEqual(1, len(said))
        self.assertIn("2 of 2 hosts share no collective", said[0])

    def test_jobs_at_other_times_have_nothing_in_common(self):
        """The same steps and names, a day apart on other hosts."""
        logs = self.make("logs", "16", str(STEPS), "1") + \
            self.make("other", "8", str(STEPS), "2:5:86400")
        events, said = self.trace(logs)
        self.assertIn("set the clocks of 2 hosts", said[0])
        self.assertIn("1 of 3 hosts share no collective", said[1])
        self.assertEqual(8, self.labels(events).count(OWN))
        loads = sorted(event["ts"] for event in events if event["name"] == "load")
        # The hosts of the first job are moved by 1 ms, host 5 has its own clock, 5 ms ahead.
        self.assertAlmostEqual(86400e6, loads[16 * STEPS] - loads[0], delta=10e3)

    def test_a_restart_is_compared_with_itself(self):
        """Host 2 takes the place of host 1; host 0, in both, ties their clocks together."""
        logs = self.make("logs", "16", str(STEPS), "1") + \
            self.make("again", "16:0:8", str(STEPS), "2:0:60") + \
            self.make("new", "16:8:16", str(STEPS), "2:1:60")
        events, said = self.trace(logs)
        line, = said
        self.assertIn("set the clocks of 3 hosts", line)
        moved = [float(re.fullmatch(SET, label)[1]) for label in self.labels(events)]
        self.assertLess(max(moved) - min(moved), 4, moved)

    def test_where_one_has_no_time_of_day_no_clock_is_set(self):
        path = os.path.join(self.folder, "other.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1, "name": "a"}], file)
        events, said = self.trace(self.make("logs", "16:7:9", str(STEPS), "1") + [path])
        self.assertEqual(["pprof-report: not all of the 3 runs say when they began: each starts"
                          " at 0"], said)
        self.assertEqual([], self.labels(events))

    def test_a_cut_log_is_told_of_once(self):
        logs = self.make("logs", "16:7:9", str(STEPS), "1")
        os.truncate(logs[1], os.path.getsize(logs[1]) * 2 // 3)
        _, said = self.trace(logs, code=4)
        self.assertEqual(1, sum(logs[1] in line for line in said), said)

    def test_the_trace_is_read_again(self):
        logs = self.make("logs", "16", str(STEPS), "1")
        self.trace(logs)
        told = [json.loads(subprocess.run(
            [TOOL, "sql", *of, "-f", "json", "SELECT COUNT(*) FROM call WHERE place = 'host'"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)["rows"]
            for of in (logs, [os.path.join(self.folder, "all.json")])]
        self.assertEqual(*told)


unittest.main(argv=sys.argv[:1])
