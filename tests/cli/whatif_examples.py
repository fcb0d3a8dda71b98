#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three real programs are recorded, and predicted, and then changed as predicted: the stage that
limits is the one that was told. How fast they are then is no matter of a test: a machine may have
other work."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = os.path.abspath(sys.argv[1])
REPORT = os.path.abspath(sys.argv[2])


class WhatifExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.logs = {}

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def log(self, *command):
        """The log of a program with these arguments."""
        if command not in self.logs:
            path = os.path.join(self.scratch.name, "%d.pplog" % len(self.logs))
            environment = dict(os.environ, PPROF_OUTPUT=path, PPROF_QUIET="1")
            program = os.path.join(EXAMPLES, command[0])
            subprocess.run([program, *command[1:]], env=environment, check=True,
                           stdout=subprocess.DEVNULL)
            self.logs[command] = path
        return self.logs[command]

    def whatif(self, log, *options):
        """What is said, and its rows by column."""
        done = subprocess.run([REPORT, "whatif", "-f", "json", *options, log], check=True, text=True,
                              stdout=subprocess.PIPE)
        said = json.loads(done.stdout)
        self.assertEqual(said["schema"], "pprof.whatif/1")
        names = [column["name"] for column in said["columns"]]
        return said, [dict(zip(names, row)) for row in said["rows"]]

    def check(self, before, scale, after, limits):
        """`limits`: what limits the program before, and the changed one."""
        _, (recorded, predicted) = self.whatif(self.log(*before), "--scale", scale)
        _, (truth, *_) = self.whatif(self.log(*after))
        self.assertEqual(recorded["limits"], limits[0])
        self.assertEqual(predicted["limits"], limits[1])
        self.assertEqual(truth["limits"], limits[1])
        return recorded, predicted

    def test_host_bound_until_the_device_has_more_to_do(self):
        recorded, predicted = self.check(("trainer", "60000", "1"), "model=20",
                                         ("trainer", "60000", "20"), ("sort", "model"))
        self.assertLess(predicted["rate"], recorded["rate"])

    def test_device_bound_until_the_device_has_less_to_do(self):
        recorded, predicted = self.check(("trainer", "60000", "20"), "model=0.05",
                                         ("trainer", "60000", "1"), ("model", "sort"))
        self.assertGreater(predicted["rate"], recorded["rate"])

    def test_queue_bound_until_the_other_thread_is(self):
        _, (recorded, predicted) = self.whatif(self.log("service", "100", "2"), "--scale", "rank=0")
        _, (truth, *_) = self.whatif(self.log("service", "100", "0"))
        self.assertEqual(recorded["limits"], "rank")
        # Parsing takes so little that waking a thread may take longer.
        self.assertNotEqual(predicted["limits"], "rank")
        self.assertNotEqual(truth["limits"], "rank")
        self.assertGreater(predicted["rate"], recorded["rate"])
        self.assertLess(predicted["p99"], recorded["p99"])

    def test_eight_requests_are_under_way(self):
        said, _ = self.whatif(self.log("service", "100", "2"))
        self.assertEqual(said["in_flight"], 8)
        self.assertEqual((said["unit"], said["count"], said["cold"]), ("requests", 99, 1))

    def test_waits_are_found(self):
        said, rows = self.whatif(self.log("trainer", "60000", "20"))
        self.assertTrue([note for note in said["notes"] if note.endswith(": wait")], said["notes"])
        self.assertEqual(rows[1]["name"], "model")
        self.assertNotIn("wait", [row["name"] for row in rows])

    def test_of_a_pipeline_the_layer_that_takes_longest_gains_most(self):
        log = self.log("pipeline", "--requests", "32", "--repeat", "detector.down=12")
        _, rows = self.whatif(log)
        self.assertEqual(rows[0]["limits"], "detector.down")
        self.assertEqual(rows[1]["name"], "detector.down")

    def test_nothing_changed_is_what_was(self):
        for command in [("trainer", "60000", "1"), ("service", "100", "2"),
                        ("pipeline", "--requests", "32", "--repeat", "detector.down=12")]:
            _, (recorded, predicted) = self.whatif(self.log(*command), "--scale", "*=1")
            for column in ("rate", "rate_low", "rate_high", "p50", "p99", "length", "limits"):
                self.assertEqual(predicted[column], recorded[column])
            self.assertEqual((predicted["gain"], predicted["p99_change"]), (0, 0))


unittest.main(argv=sys.argv[:1])
