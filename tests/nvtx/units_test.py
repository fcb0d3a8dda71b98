#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of several linkage units, and clients that no header would make."""
import os
import shutil

from nvtx_case import MARK, PATHS, RANGE, Case, main

THREADS, MARKS = 8, 1000


class UnitsTest(Case):
    def units(self, scenario, *names, **options):
        libraries = [PATHS.get("unit_" + name, name) for name in names]
        printed = self.run_ok("units", scenario, *libraries, **options)
        log = self.log()
        self.assertEqual(log.total("lost"), 0)
        return printed, log

    def test_units_share_a_domain(self):
        printed, log = self.units("shared_domain", "alpha", "gamma")
        self.assertEqual(printed, ["program 0", "one 1", "two 2", "one pops 2", "program pops 1",
                                   "two pops 0"])
        self.assertEqual(log.tuples("name", "depth", "lane_name"), [
            ("program range", 0, "units [shared]"), ("alpha range", 1, "units [shared]"),
            ("gamma range", 2, "units [shared]")])

    def test_first_calls_of_all_threads_at_once(self):
        _, log = self.units("concurrent", "alpha", "gamma")
        for name in "alpha mark", "gamma mark", "program mark":
            self.assertEqual(log.count(name), THREADS * MARKS)

    def test_another_library_at_the_same_address(self):
        printed, log = self.units("reopen", "alpha", "gamma")
        tries = int(printed[0].split()[-1])
        self.assertLess(tries, 100)
        self.assertEqual(printed[1:], ["push 0", "pop 0"])
        self.assertEqual(log.names(), (["alpha mark"] * 5 + ["alpha range"] + ["gamma mark"] * 7)
                         * tries + ["alpha mark"] * 11 + ["alpha range"])

    def test_names_through_one_buffer(self):
        _, log = self.units("buffer", env=self.environment(PPROF_SET="names={fold: off}"))
        self.assertEqual(log.names(), [f"name {i % 100}" for i in range(200)])

    def test_two_copies_of_the_library(self):
        printed, log = self.units("copies", "alpha", self.install("other"))
        self.assertEqual(printed, ["push 0", "pop 0"])
        self.assertEqual(log.names(), ["program mark"] + ["alpha mark"] * 10
                         + ["alpha range", "program mark"])

    def test_a_link_is_the_same_library(self):
        link = self.path("link.so")
        os.symlink(self.injection, link)
        _, log = self.units("copies", "alpha", link)
        self.assertEqual(log.count("alpha mark"), 10)

    def test_no_static_tls_is_left(self):
        copies = [shutil.copy(PATHS["unit_tight"], self.path(f"tight{i}.so")) for i in range(300)]
        printed, log = self.units("no_tls", *copies)
        self.assertEqual(printed, ["all is taken 1", "push 0", "pop 0"])
        self.assertEqual(log.names(), ["without static TLS"])

    def test_first_call_in_a_constructor(self):
        _, log = self.units("load", "early")
        self.assertEqual(log.names(), ["early constructor"])

    def test_first_call_before_the_program(self):
        # A program built with the address sanitizer is particular about its order.
        options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        env = self.environment(LD_PRELOAD=PATHS["unit_early"], ASAN_OPTIONS=options)
        _, log = self.units("load", env=env)
        self.assertEqual(log.names(), ["early constructor"])

    def test_calls_of_leaving_libraries(self):
        """One loaded before the tool calls while it can; of later ones nothing is kept."""
        _, log = self.units("leave", "leave", "after", "early")
        self.assertEqual(sorted(log.names()), sorted([
            "program mark", "early constructor", "early mark", "leave destructor",
            "leave destructor mark", "leave destructor start"]))


class EntryPointsTest(Case):
    def early(self, scenario):
        printed = self.run_ok("early", scenario)
        log = self.log()
        self.assertEqual(log.total("lost"), 0)
        return printed, log

    def test_slots_work_from_the_moment_they_are_filled(self):
        printed, log = self.early("live_slots")
        made = int(printed[1].rsplit(" ", 1)[1])
        self.assertEqual(printed, ["init 1", f"made while Init ran {made}", "push 0", "pop 0"])
        self.assertEqual(log.count("of the watcher"), MARKS)
        self.assertEqual(log.count("while Init runs"), made)

    def test_nested(self):
        printed, log = self.early("nested")
        self.assertEqual(printed, ["inner init 1", "inner push 0", "outer init 1", "outer push 1",
                                   "outer pop 1", "inner pop 0"])
        self.assertEqual(log.tuples("kind", "name", "depth"), [
            (RANGE, "inner unit", 0), (MARK, "program's own unit", 1), (RANGE, "outer unit", 1)])

    def test_concurrent(self):
        _, log = self.early("concurrent")
        self.assertEqual(log.count("of a thread's unit"), THREADS * MARKS)

    def test_short_tables(self):
        printed, log = self.early("short_tables")
        # The table ends before the slot of the pop.
        self.assertEqual(printed, ["init 1", "filled beyond 0", "push 0", "pop -2"])
        self.assertEqual(log.names(), ["short tables"])

    def test_versions(self):
        printed, log = self.early("versions")
        self.assertEqual(printed, ["init 1", "mark 1"] * 3)
        self.assertEqual(log.names(), ["version"] * 3)

    def test_clients_without_tables(self):
        _, log = self.early("no_callbacks")
        self.assertEqual(log.names(), ["after clients without tables"])

    def test_extensions_are_never_refused(self):
        printed, _ = self.early("extensions")
        self.assertEqual(printed, [
            "extension 2 0x104 answers 1 fills 1", "extension 2 0x103 answers 1 fills 1",
            "extension 2 0x1ff answers 1 fills 1", "extension 4 0x102 answers 1 fills 1",
            "extension 4 0x101 answers 1 fills 1", "extension 1 0x102 answers 1 fills 0",
            "extension 77 0x100 answers 1 fills 0", "another generation answers 1 fills 0",
            "short answers 1 fills beyond 0", "without segments 1", "none 1"])


if __name__ == "__main__":
    main()
