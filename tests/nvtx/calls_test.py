#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call of NVTX: what it answers, and what it leaves in the log, call by call."""
from collections import Counter
import json
import os
import unittest

from nvtx_case import ASYNC, COUNTER, MARK, RANGE, Case, main

USER = "UserDefined"
SHOWN = ("kind", "name", "category", "lane_name", "depth", "flags")


class CallsTest(Case):
    def calls(self, part):
        """What the part printed, and its log."""
        printed = self.run_ok("calls", part)
        log = self.log()
        self.assertEqual(log.total("lost"), 0)
        self.assertEqual(log.total("recorded"), len(log.events))
        return printed, log

    def test_core(self):
        printed, log = self.calls("core")
        self.assertEqual(printed, ["push 0", "push 1", "push 2", "pop 2", "pop 1", "pop 0",
                                   "pop -1", "ids differ 1"])
        self.assertEqual(log.tuples(*SHOWN), [
            (RANGE, "push a", USER, "calls", 0, 0),
            (RANGE, "push w é 漢 😀", USER, "calls", 1, 0),
            (RANGE, "push ex", "seven", "calls", 2, 0),
            (MARK, "mark a", USER, "calls", 0, 0),
            (MARK, "mark w 漢", USER, "calls", 0, 0),
            (MARK, "mark ex", "eight é", "calls", 0, 0),
            (RANGE, "start a", USER, "calls", 0, ASYNC),
            (RANGE, "start w", USER, "calls", 0, ASYNC),
            (RANGE, "start ex", USER, "calls", 0, ASYNC),
        ])
        self.assertEqual(log.events[2]["color"], 0x336699)
        self.assertEqual(log.total("unmatched"), 1)
        ends = {event["name"]: event["end"] for event in log.events}
        self.assertLess(ends["start w"], ends["start a"])
        self.assertLess(ends["start a"], ends["start ex"])

    def test_domains(self):
        printed, log = self.calls("domains")
        self.assertEqual(printed, ["domains differ 1", "strings differ 1", "push 0", "push 0",
                                   "push 1", "pop 1", "pop 0", "pop 0", "pop -1", "id 1",
                                   "push 0", "pop 0", "push 0", "pop 0"])
        alpha, beta = "calls [alpha]", "calls [beta β]"
        self.assertEqual(log.tuples(*SHOWN), [
            (RANGE, "registered a", "alpha seven", alpha, 0, 0),
            (RANGE, "registered w", "beta seven", beta, 0, 0),
            (RANGE, "alpha inner", USER, alpha, 1, 0),
            (MARK, "registered a", USER, alpha, 0, 0),
            (RANGE, "registered a", USER, beta, 0, ASYNC),
            (RANGE, "default domain", USER, "calls", 0, 0),
            (RANGE, "alpha after", USER, alpha, 0, 0),
        ])
        self.assertEqual(log.total("unmatched"), 1)
        # Rows of one thread: the same OS thread in each.
        self.assertEqual(len({number for _, number in log.lanes.values() if number}), 1)

    def rows(self, path):
        """{name: calls} of the report's stages."""
        view = json.loads(self.report("-f", "json", "--view", "stages", path))["views"]["stages"]
        column = {column["name"]: i for i, column in enumerate(view["columns"])}
        return {row[column["name"]]: row[column["calls"]] for row in view["rows"]}

    def test_numbers_in_names_fold(self):
        """Names that differ in numbers are one row, whose time is that of its ranges."""
        _, log = self.calls("server")
        layers = {"layer%d" % i: len(range(i, 400, 32)) for i in range(32)}
        self.assertEqual(self.rows(log.path), {
            "execute_context_{}({})_generation_{}({})": 400, "gpu_model_runner: forward": 400,
            "Linear in={} out={}": 400, "decode step {}": 400, **layers})
        self.assertLess(len(set(log.names())), 34 * 3 + 36)

    def numbers(self, path):
        """{(name, place): (names, least, greatest, sum)} of the report's numbers."""
        view = json.loads(self.report("-f", "json", "--view", "numbers", path))["views"]["numbers"]
        keys = [column["name"] for column in view["columns"]]
        rows = [dict(zip(keys, row)) for row in view["rows"]]
        return {(row["name"], row["place"]): (row["names"], row["min"], row["max"], row["sum"])
                for row in rows}

    def expected_numbers(self):
        """As calls.c makes the names."""
        steps = range(400)
        batch = [1 + i * 7 % 64 for i in steps]
        linear = [batch[i] + i % 999 for i in steps]
        places = {
            "execute_context_{}({})_generation_{}({})": [
                [i % 3 for i in steps], [i % 3 * 1024 + i for i in steps], batch, batch],
            "Linear in={} out={}": [linear, [4096] * 400, linear, [11008] * 400],
            "decode step {}": [steps]}
        return {(name, place): (len(values), min(values), max(values), sum(values))
                for name, lists in places.items() for place, values in enumerate(lists, 1)}

    def test_numbers_in_names_are_kept(self):
        """Their range and sum, in the report of the log and of its trace."""
        _, log = self.calls("server")
        self.assertEqual(self.numbers(log.path), self.expected_numbers())
        trace = self.path("trace.json")
        self.report("trace", "-o", trace, log.path)
        self.assertEqual(self.numbers(trace), self.expected_numbers())
        self.assertEqual(self.rows(log.path), self.rows(trace))

    def test_names_in_full_in_traces(self):
        """As far as numbers make them up; what is beyond that is counted."""
        self.run_ok("calls", "server", env=self.environment(PPROF_SET="names={full: on}"))
        log, trace = self.log(), self.path("trace.json")
        self.report("trace", "-o", trace, log.path)
        with open(trace, encoding="utf-8") as file:
            document = json.load(file)
        names = [event["name"] for event in document["traceEvents"] if event["ph"] == "X"]
        self.assertEqual(sorted(name for name in names if name.startswith("decode")),
                         sorted("decode step %d" % i for i in range(400)))
        self.assertEqual(sorted(name for name in names if name.startswith("execute")),
                         sorted("execute_context_%d(%d)_generation_%d(%d)" % (
                             i % 3, i % 3 * 1024 + i, 1 + i * 7 % 64, 1 + i * 7 % 64)
                             for i in range(400)))
        # 33 names came before their shape folded, and have it in full anyhow.
        own, linear = [], [1 + i * 7 % 64 + i % 999 for i in range(400)]
        for size in linear:
            if size not in own and len(own) < 33:
                own.append(size)
        beyond = sum(size not in own for size in linear)
        self.assertEqual(names.count("Linear in={} out={}"), beyond)
        self.assertEqual(document["otherData"]["names_not_in_full"], beyond)
        self.assertIn("%d ranges lack their full names" % beyond,
                      self.report("--verbose", log.path).replace("\n", " "))
        self.assertEqual(self.numbers(trace), self.expected_numbers())
        self.assertEqual(self.rows(log.path), self.rows(trace))

    def test_filters_see_the_name_that_folds(self):
        self.run_ok("calls", "server", env=self.environment(
            PPROF_SET='exclude=["decode step 3?7"]'))
        log = self.log()
        self.assertEqual(self.rows(log.path)["decode step {}"], 390)
        self.assertEqual(log.total("excluded"), 10)

    def test_names_have_categories(self):
        """Patterns see whole names: those that fold, and those of registered strings."""
        self.run_ok("calls", "server", "domains", env=self.environment(PPROF_SET="names={categories: {"
                    "'decode step 3?7': memory, 'decode *': inference, 'gpu_*: forward': forward,"
                    "'execute_*': my own, 'registered a': communication}}"))
        log = self.log()
        calls = {}
        for event in log.events:
            calls.setdefault(event["category"], Counter())[event["name"].split(" ")[0]] += 1
        self.assertEqual(calls["Memory"], {"decode": 10})
        self.assertEqual(calls["Inference"], {"decode": 390})
        self.assertEqual(calls["Forward"], {"gpu_model_runner:": 400})
        self.assertEqual(sum(calls["my own"].values()), 400)
        # A push, a mark and a start, in two domains.
        self.assertEqual(calls["Communication"], {"registered": 3})
        self.assertEqual(calls["UserDefined"]["Linear"], 400)

    def test_a_category_by_name_goes_before_the_domains(self):
        self.run_ok("calls", "server", env=self.environment(
            PPROF_SET="names={categories: {'decode *': inference}};nvtx={domains: {server: memory}}"))
        path, = self.log_paths()
        self.assertEqual(self.overview(path)["Inference"], 400)
        self.assertNotIn("Memory", self.overview(path))

    def test_names_stay_when_told(self):
        self.run_ok("calls", "server", env=self.environment(PPROF_SET="names={fold: off}"))
        self.assertIn("decode step 399", self.log().names())

    @unittest.skipIf("TSAN_OPTIONS" in os.environ, "one thread marks")
    def test_names_without_end(self):
        """More names than there is room for, and none folds: all ranges are there, in time."""
        self.run_ok("calls", "server", env=self.environment(
            SERVER_STEPS="80000", PPROF_SET="names={fold: off}"))
        path, = self.log_paths()
        self.assertEqual(self.overview(path), {"UserDefined": 400000})

    def test_values_become_counters(self):
        _, log = self.calls("values")
        names = ["u64", "i64", "double", "u32", "i32", "float"]
        self.assertEqual(log.names(MARK), names)
        counters = [(event["name"], event["value"]) for event in log.events
                    if event["kind"] == COUNTER]
        self.assertEqual(counters, [("u64.payload", 18446744073709551616.0), ("i64.payload", -9.0),
                                    ("double.payload", 0.5), ("u32.payload", 4294967295.0),
                                    ("i32.payload", -3.0), ("float.payload", 0.25)])

    def test_values_ignored(self):
        self.run_ok("calls", "values", env=self.environment(PPROF_SET="nvtx.payload=ignore"))
        self.assertEqual(self.log().names(COUNTER), [])

    def values_of_ranges(self, use):
        self.run_ok("calls", "range_values", env=self.environment(PPROF_SET=f"nvtx.payload={use}"))
        log = self.log()
        self.assertEqual(log.names(RANGE), ["pushed", "started"])
        return log.names(COUNTER), [event for event in log.events if event["kind"] == RANGE]

    def test_values_as_counters_of_ranges(self):
        counters, _ = self.values_of_ranges("counter")
        self.assertEqual(counters, ["pushed.payload", "started.payload"])

    def test_values_as_bytes(self):
        counters, ranges = self.values_of_ranges("bytes")
        self.assertEqual((counters, [event["bytes"] for event in ranges]), ([], [4096, 4096]))

    def test_values_as_items(self):
        counters, ranges = self.values_of_ranges("items")
        self.assertEqual((counters, [event["items"] for event in ranges]), ([], [4096, 4096]))

    def test_values_as_flows(self):
        counters, ranges = self.values_of_ranges("flow")
        self.assertEqual((counters, [event["flows"] for event in ranges]), ([], [[4096], [4096]]))

    def test_resources(self):
        printed, log = self.calls("resources")
        self.assertEqual(printed, ["resource 1"] * 6)
        self.assertEqual(log.tuples("name", "lane_name"),
                         [("in a named thread", "worker of calls")])

    def test_thread_named_as_a_resource(self):
        _, log = self.calls("thread_resource")
        self.assertEqual(log.tuples("name", "lane_name"),
                         [("in a thread named as a resource", "resource thread")])

    def test_sync_objects_are_tolerated(self):
        _, log = self.calls("locks")
        self.assertEqual(log.names(), ["after locks"])
        self.assertEqual(log.total("invalid"), 0)

    def test_payloads(self):
        printed, log = self.calls("payloads")
        self.assertEqual(printed, ["enabled 1", "enum id is a tool's 1", "own id 1",
                                   "enum id is a tool's 1", "given id is a tool's 1", "push 0",
                                   "pop 0", "push 0", "pop 0"])
        ranges = [(event["name"], event["bytes"], event["flags"]) for event in log.events
                  if event["kind"] == RANGE]
        self.assertEqual(ranges, [("AllReduce", 1048576, 0), ("Broadcast", 4096, 0),
                                  ("Send", 4096, ASYNC)])
        self.assertEqual(log.names(MARK), ["Barrier"])
        # A mark has no work; what tells things apart, or has a word, is no curve.
        self.assertEqual([(event["name"], event["value"]) for event in log.events
                          if event["kind"] == COUNTER], [("Barrier.bytes", 4096.0)])

    def test_payload_fields_can_be_left_out(self):
        env = self.environment(PPROF_SET="nvtx.fields=false")
        self.run_ok("calls", "payloads", env=env)
        self.assertEqual(self.log().names(COUNTER), [])

    def test_payload_calls(self):
        printed, log = self.calls("payload_calls")
        self.assertEqual(printed, ["push 0", "push 1", "pop 1", "pop 0", "id 1"])
        shown = [(event["kind"], event["name"], event["depth"], event["flags"], event["bytes"])
                 for event in log.events if event["kind"] != COUNTER]
        self.assertEqual(shown, [(RANGE, "payload push", 0, 0, 100),
                                 (RANGE, "plain inner", 1, 0, 0),
                                 (MARK, "twenty-four letters used", 0, 0, 0),
                                 (RANGE, "payload start", 0, ASYNC, 600)])
        self.assertEqual([(event["name"], event["value"]) for event in log.events
                          if event["kind"] == COUNTER], [
                              ("twenty-four letters used.bytes", 200.0)])

    def test_a_traceparent_is_the_request(self):
        _, log = self.calls("context_calls")
        self.assertEqual([(event["name"], event["flows"]) for event in log.events], [
            ("pushed", [0xcd98bc78c6e30ad1]), ("started", [0xcd98bc78c6e30ad1])])

    def test_times_of_others_are_tolerated(self):
        printed, log = self.calls("deferred")
        self.assertEqual(printed, ["timestamps are in order 1"])
        self.assertEqual(log.names(), ["after deferred"])
        self.assertEqual(log.total("invalid"), 2)
        self.assertIn("not recorded", log.notes["nvtx deferred"])

    def test_counters(self):
        """What comes in a batch, with times of its own, is not taken for something of now."""
        printed, log = self.calls("counters")
        self.assertEqual(printed, ["given id is a tool's 1", "own id 1"])
        self.assertEqual({event["kind"] for event in log.events}, {COUNTER})
        self.assertEqual([(event["name"], event["value"]) for event in log.events], [
            ("queue depth", -4.0), ("queue depth", 12.0), ("load", 0.75), ("queue depth", 5.0),
            ("memory.used", 1000.0), ("memory.share", 0.25)])
        self.assertEqual(log.total("invalid"), 1)
        self.assertIn("not recorded", log.notes["nvtx deferred"])

    def test_all_in_one_run(self):
        self.run_ok("calls", "core", "domains", "values", "resources", "locks", "payloads",
                    "payload_calls", "deferred", "counters")
        log = self.log()
        self.assertEqual(log.count("registered a"), 3)
        self.assertEqual((log.total("lost"), log.total("unmatched")), (0, 2))
        self.report("check", "--strict", log.path)

    def test_without_a_tool(self):
        env = self.environment(NVTX_INJECTION64_PATH=None)
        printed = self.run_ok("calls", "core", env=env)
        self.assertEqual(printed[0], "push -2")
        self.assertEqual(self.log_paths(), [])

    def test_switched_off(self):
        printed = self.run_ok("calls", "core", env=self.environment(PPROF_ENABLE="0"))
        self.assertEqual(printed[0], "push -2")
        self.assertEqual(self.log_paths(), [])


if __name__ == "__main__":
    main()
