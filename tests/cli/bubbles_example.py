#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/rl: the bubbles of its log lie within what the program saw itself, and wait for whom its
loop waits. Two of them at once: what is waited for may be another process's.

It prints the times just before and after each marker, so each of its times lies between two bounds,
up to how far the two clocks may drift apart."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

LOOP, REPORT = (os.path.abspath(path) for path in sys.argv[1:3])
DRIFT = 0.001  # of a time: far more than the error of either clock
TURNS = 8


def ask(query, *logs):
    done = subprocess.run([REPORT, "sql", "-f", "json", *logs, query], check=True, text=True,
                          stdout=subprocess.PIPE)
    answer = json.loads(done.stdout)
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row)) for row in answer["rows"]]


def start(log):
    return subprocess.Popen([LOOP], text=True, stdout=subprocess.PIPE,
                            env=dict(os.environ, PPROF_OUTPUT=log, PPROF_QUIET="1"))


class BubblesExample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.roles = {}
        with tempfile.TemporaryDirectory() as folder:
            logs = [os.path.join(folder, name + ".pplog") for name in ("one", "two", "three")]
            with start(logs[0]) as loop:
                printed = loop.stdout.read().splitlines()
            cls.bubbles = ask("SELECT * FROM bubble ORDER BY lane, start_ns", logs[0])
            with start(logs[1]) as first, start(logs[2]) as second:
                for loop in (first, second):
                    loop.stdout.read()
            cls.both = ask("SELECT * FROM bubble", *logs[1:])
            cls.ranges = ask("SELECT l.name AS role, h.lane, s.name, h.start_ns + r.base_ns AS start,"
                             " h.end_ns + r.base_ns AS end, h.run, r.base_ns AS base FROM host_range h"
                             " JOIN run r ON r.id = h.run JOIN lane l ON l.id = h.lane"
                             " JOIN site s ON s.id = h.site WHERE h.depth = 0", *logs[1:])
        for line in printed:
            role, name, times = line.split(", ")
            times = [int(time) for time in times.split()]
            cls.roles.setdefault(role, []).append((name, times[:2], times[2:]))
        (_, cls.begin, cls.end), = cls.roles.pop("recorded")

    def of_role(self, role):
        return [bubble for bubble in self.bubbles if bubble["role"] == role]

    def test_lengths(self):
        """Each gap, those before the first phase and behind the last one too."""
        for role, phases in self.roles.items():
            ends = [self.begin] + [end for _, _, end in phases]
            begins = [begin for _, begin, _ in phases] + [self.end]
            names = [name for name, _, _ in phases] + [None]
            bubbles = self.of_role(role)
            self.assertEqual([bubble["next"] for bubble in bubbles], names)
            for bubble, end, begin in zip(bubbles, ends, begins):
                least, most = begin[0] - end[1], begin[1] - end[0]
                self.assertGreaterEqual(bubble["length_ns"], least * (1 - DRIFT) - 1, bubble)
                self.assertLessEqual(bubble["length_ns"], most * (1 + DRIFT) + 1, bubble)

    def last_ended(self, role, since, until):
        """What of other roles may have ended last between two markers."""
        ends = [((other, name), end) for other, phases in self.roles.items() if other != role
                for name, _, end in phases if end[1] >= since[0] and end[0] <= until[1]]
        sure = [end[0] for _, end in ends if end[0] >= since[1] and end[1] <= until[0]]
        may = {who for who, end in ends if end[1] >= max(sure, default=0)}
        return may if sure else may | {(None, None)}

    def test_who_waits_for_whom(self):
        for role, phases in self.roles.items():
            ends = [self.begin] + [end for _, _, end in phases]
            for bubble, since, (_, until, _) in zip(self.of_role(role), ends, phases):
                self.assertIn((bubble["for_role"], bubble["for_name"]),
                              self.last_ended(role, since, until), bubble)
        # Nobody else works then.
        waited_for = [(bubble["for_role"], bubble["for_name"])
                      for bubble in self.of_role("trainer") if bubble["next"] == "train"]
        self.assertEqual(waited_for, TURNS * [("reward", "reward")])

    def test_across_processes(self):
        """By the definition: of another thread, ended last while the gap lasted."""
        base = {one["run"]: one["base"] for one in self.ranges}
        for bubble in self.both:
            since, until = (bubble[key] + base[bubble["run"]] for key in ("start_ns", "end_ns"))
            ended = [one for one in self.ranges
                     if one["lane"] != bubble["lane"] and since < one["end"] <= until]
            last = max((one["end"] for one in ended), default=None)
            wanted = {(one["role"], one["name"]) for one in ended if one["end"] == last}
            if last is None or bubble["next"] is None:
                wanted = {(None, None)}
            self.assertIn((bubble["for_role"], bubble["for_name"]), wanted, bubble)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
