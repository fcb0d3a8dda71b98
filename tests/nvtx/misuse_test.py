#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that make no sense: counted, never a crash, and the rest of the log stays right."""
import json
import os

from nvtx_case import CLIPPED, RANGE, Case, main


class MisuseTest(Case):
    def environment(self, **changes):
        """Handlers do here what the thread sanitizer says that they must not."""
        options = os.environ.get("TSAN_OPTIONS", "") + ":report_signal_unsafe=0"
        return super().environment(TSAN_OPTIONS=options, **changes)

    def misuse(self, scenario, **variables):
        printed = self.run_ok("misuse", scenario, env=self.environment(**variables))
        log = self.log()
        self.report("check", log.path)
        return printed, log

    def refused(self, log):
        return log.total("invalid") + log.total("unmatched")

    def test_unbalanced(self):
        printed, log = self.misuse("unbalanced")
        self.assertEqual(printed, ["pop -1"] * 5 + ["push 0", "pop -1", "pop 0", "pop -1",
                                                    "push 0"])
        self.assertEqual(log.tuples("name", "depth"), [("whole", 0), ("never popped", 0)])
        self.assertEqual(log.events[1]["flags"], CLIPPED)
        self.assertEqual(log.total("unmatched"), 7)

    def test_deep(self):
        """512 levels are kept; deeper ones are lost, and the balance is not."""
        printed, log = self.misuse("deep")
        self.assertEqual(printed, ["wrong levels 0", "push 0", "pop 0"])
        self.assertEqual((log.count("level"), log.count("after")), (512, 1))
        self.assertEqual((log.total("lost"), log.total("unmatched")), (3000 - 512, 0))

    def test_unknown_ids(self):
        _, log = self.misuse("unknown_ids")
        self.assertEqual(log.names(), ["ended twice", "ended in a domain", "never ended"])
        self.assertEqual(log.events[2]["flags"] & CLIPPED, CLIPPED)
        # 0 is what a start answers that was not kept: its end is no mistake.
        self.assertEqual(self.refused(log), 5)

    def test_foreign_handles(self):
        _, log = self.misuse("foreign_handles")
        self.assertEqual(log.count("after all"), 1)
        self.assertEqual(log.tuples("name", "lane_name")[-1], ("after all", "misuse [of kinds]"))
        self.assertGreaterEqual(self.refused(log), 5)

    def test_freed_domains(self):
        """Only the handle ends: what is said of it then is kept, and counted."""
        printed, log = self.misuse("freed_domains")
        self.assertEqual(printed, ["push 1"])
        self.assertEqual(log.tuples("name", "depth", "lane_name"), [
            ("open when freed", 0, "misuse [freed]"), ("pushed after", 1, "misuse [freed]"),
            ("of a freed one", 0, "misuse"), ("created again", 0, "misuse [freed]")])
        self.assertGreaterEqual(log.total("invalid"), 2)

    def test_string_of_another_domain(self):
        _, log = self.misuse("other_domains_string")
        self.assertEqual(log.tuples("name", "lane_name"), [
            ("string of one", "misuse [two]"), ("string of one", "misuse")])

    def test_long_names(self):
        printed, log = self.misuse("long_names")
        self.assertEqual(printed, ["push 0", "push 1", "pop 1", "pop 0"])
        names = log.names(RANGE)
        self.assertEqual([name[0] for name in names], ["n", "\U0001f600"])
        for name in log.names():
            self.assertLessEqual(len(name.encode()), 4096)
        self.assertEqual(set(names[1]), {"\U0001f600"})
        self.assertGreaterEqual(log.total("names_overflowed"), 2)
        self.assertEqual(log.count("in a long domain") + log.count("in a long category"), 2)

    def test_control_characters(self):
        _, log = self.misuse("control_characters")
        self.assertEqual(len(log.events), 6)
        for view in self.report("summary", log.path), self.report("-f", "csv", log.path):
            self.assertFalse([c for c in view if ord(c) < 32 and c != "\n" or ord(c) == 127])
        json.loads(self.report("-f", "json", log.path))
        self.report("trace", "-o", "trace.json", log.path)
        with open(self.path("trace.json"), encoding="utf-8", errors="strict") as file:
            self.assertIn("traceEvents", json.load(file))

    def test_attributes(self):
        printed, log = self.misuse("attributes")
        self.assertEqual(printed, ["push 0", "pop 0"] * 2)
        for name in "version 2", "larger than we know", "odd types":
            self.assertEqual(log.count(name), 1)
        # Each call is an event, named or not.
        self.assertEqual(len(log.events), 13)
        self.assertEqual(log.total("unmatched"), 0)

    def test_payloads(self):
        _, log = self.misuse("payloads")
        for name in "unknown schema", "no data", "less than none", "null blob", "after payloads":
            self.assertEqual(log.count(name), 1)

    def test_signal_handlers(self):
        printed, log = self.misuse("signals")
        made, signals = (int(line.split()[1]) for line in printed)
        # Three ranges a round, three events a signal, and a first mark. What
        # interrupted a call of its own thread is lost, and counted.
        self.assertEqual(log.total("recorded") + log.total("lost"), 1 + 3 * made + 3 * signals)
        self.assertEqual(log.total("recorded"), len(log.events))
        self.assertEqual(log.total("unmatched"), 0)
        self.assertGreater(log.count("in a handler"), 0)

    def test_first_call_in_a_signal_handler(self):
        _, log = self.misuse("first_in_signal")
        self.assertEqual(log.names(), ["in a handler", "mark in a handler", "start in a handler",
                                       "after the handler"])

    def test_many_names(self):
        """More than there are ids at a time: those that are not used any more are used again, and
        what came while there was none is told."""
        _, log = self.misuse("many_names", PPROF_SET="names={fold: off}")
        self.assertEqual(len(log.events) + log.total("lost"), 70000)
        self.assertEqual(log.total("recorded"), len(log.events))
        self.assertEqual(log.total("names_overflowed"), log.count("<other>"))
        own = [name for name in log.names() if name != "<other>"]
        self.assertEqual(len(set(own)), len(own))
        self.assertLessEqual(set(own), {"name %d" % i for i in range(70000)})

    def test_many_domains(self):
        _, log = self.misuse("many_domains")
        self.assertEqual(log.total("recorded"), len(log.events))
        self.assertEqual(log.total("recorded") + log.total("lost"), 5000)


if __name__ == "__main__":
    main()
