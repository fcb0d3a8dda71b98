#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of other profilers with something unusual in them, and what they say all the same.

others_test.py PPROF_REPORT. Figures are typed from what each trace was made of, in microseconds.
"""
import json
import os

import case
from case import DATA, Case, Report

US = 1000


class OthersTest(Case):
    def ask(self, name, *options):
        return Report(os.path.join(DATA, name + ".json"), *options)

    def page(self, name, *options):
        """What a reader sees, in one line."""
        done = case.run(os.path.join(DATA, name + ".json"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join((done.stdout + done.stderr).decode().split())

    def changed(self, name, change):
        """A sibling: the same trace after `change` of its list of events."""
        with open(os.path.join(DATA, name + ".json")) as file:
            trace = json.load(file)
        change(trace if isinstance(trace, list) else trace["traceEvents"])
        with open(self.path("changed.json"), "w") as file:
            json.dump(trace, file)
        return self.path("changed.json")

    def test_a_raw_control_character(self):
        report = self.ask("raw_control")
        self.assertEqual(report.json["trust"]["recorded"], 10)
        self.assertEqual(report.json["trust"]["lost"], 0)
        self.assertEqual(report.find("operator", "re.py(1): compile [\x01\x02\n\t]")["calls"], 1)
        self.assertIn("4 control characters in texts without their escapes",
                      self.page("raw_control"))

    # ---- what is no process ----

    def check_one_process(self, path):
        report = Report(path)
        self.assertEqual(report.find("device", "GPU0")["utilization"], 80)
        self.assertEqual(len(report.json["inputs"]), 1)
        step = report.find("model", "ProfileStep")
        self.assertEqual((step["calls"], step["cpu_ratio"]), (4, 100))
        return report

    def test_python_functions_of_no_process(self):
        # PyTorch writes 0 for process and thread of what ran before it started.
        pid0 = os.path.join(DATA, "torch_startup_frames_pid0.json")
        usual = self.check_one_process(os.path.join(DATA, "torch_startup_frames_none.json"))
        self.check_one_process(pid0)
        self.assertEqual(Report(pid0).json["views"]["overview"], usual.json["views"]["overview"])
        self.assertIn("4 Python functions of no process left out",
                      self.page("torch_startup_frames_pid0"))
        self.assertIn("4 Python functions", self.page("torch_startup_frames_pid0",
                                                      "--group-by", "stack=2"))
        self.check_one_process(self.changed("torch_startup_frames_pid0", lambda all: all.reverse()))
        # Where the process has nothing else, they are what it did.
        only = self.changed("torch_startup_frames_pid0", lambda all: all.__setitem__(
            slice(None), [event for event in all if event["pid"] == 0 and event.get("tid") == 0]))
        self.assertEqual(Report(only).json["trust"]["recorded"], 4)

    def test_spans_of_profilers(self):
        self.check_one_process(os.path.join(DATA, "torch_second_trace_span.json"))

        def rename(all):
            all[-1].update(name="XpuptiProfiler", pid="Traces", tid=3)
            all.insert(0, all.pop())
        self.check_one_process(self.changed("torch_second_trace_span", rename))

    # ---- what a device's share is of ----

    def test_each_rank_has_its_device(self):
        report = self.ask("two_ranks_own_gpu")
        for device in "GPU0", "GPU1":
            self.assertEqual(report.find("device", device)["utilization"], 90)
        # A process without a device beside them changes nothing.
        third = self.changed("two_ranks_own_gpu", lambda all: all.append(
            {"ph": "X", "cat": "cpu_op", "name": "load", "pid": 1002, "tid": 1,
             "ts": 1700000000000000, "dur": 9000}))
        self.assertEqual(Report(third).find("device", "GPU1")["utilization"], 90)

    # ---- ends that name what they end ----

    def totals(self, path):
        return {row[0]: row[3] / US for row in Report(path).rows("userdefined")}

    def pairs(self, *events):
        """A trace of begins and ends of one thread: phase, name, time."""
        with open(self.path("pairs.json"), "w") as file:
            json.dump([{"ph": ph, "name": name, "pid": 1, "tid": 1, "ts": at}
                       for ph, name, at in events], file)
        return self.path("pairs.json")

    def test_asynchronous_ends_by_name(self):
        expected = {"Nested": 9, "Read": 3, "Write": 4, "Top": 9, "Tread": 3, "Twrite": 4}
        path = os.path.join(DATA, "async_same_id.json")
        self.assertEqual(self.totals(path), expected)

        def unnamed(all):
            # Then the one that began last ends first.
            for event in all:
                if event["ph"] == "e":
                    del event["name"]
        self.assertEqual(self.totals(self.changed("async_same_id", unnamed)),
                         {**expected, "Read": 5, "Write": 2})

    def test_ends_by_name(self):
        path = os.path.join(DATA, "be_overlap_named.json")
        expected = {"E1": 100, "E2": 100, "E3": 70, "E4": 40}
        self.assertEqual(self.totals(path), expected)
        self.assertIn("1 ranges that overlap others of their thread partly",
                      self.page("be_overlap_named"))

    def test_many_that_overlap_by_name(self):
        # Names that fold are matched as they are written.
        events = [("B", f"request {i}", 10 * i) for i in range(300)]
        events += [("E", f"request {i}", 3000 + 20 * i) for i in range(300)]
        report = Report(self.pairs(*events))
        rows = report.rows("userdefined")
        self.assertEqual(sum(row[2] for row in rows), 300)
        self.assertEqual(sum(row[3] for row in rows),
                         sum(3000 + 20 * i - 10 * i for i in range(300)) * US)

    def test_ends_of_nothing(self):
        # "b" has ended: the second end is of none. No begin is called "done".
        path = self.pairs(("B", "a", 0), ("B", "b", 10), ("E", "b", 20), ("E", "b", 30),
                          ("B", "c", 35), ("E", "done", 40), ("E", "", 50))
        self.assertEqual(self.totals(path), {"a": 50, "b": 10, "c": 5})
        self.assertEqual(Report(path).json["trust"]["unmatched"], 1)

    def test_ends_at_one_moment_in_the_order_of_the_file(self):
        path = self.pairs(("B", "a", 0), ("E", "a", 10), ("B", "a", 10), ("E", "a", 15),
                          ("B", "b", 15), ("B", "c", 15), ("E", "b", 25), ("E", "c", 25))
        self.assertEqual(self.totals(path), {"a": 15, "b": 10, "c": 10})

    # ---- times that cannot be ----

    def test_negative_lengths(self):
        for change in (lambda all: None, lambda all: all.reverse(),
                       lambda all: all[0].update(dur=-0.5),
                       lambda all: all[3].update(dur=-1e15)):
            path = self.changed("negative_dur", change)
            report = Report(path)
            self.assertEqual({row[0]: (row[2], row[3]) for row in report.rows("userdefined")},
                             {"build": (2, 2500 * US), "lint": (2, 1500 * US)})
            self.assertEqual(report.json["trust"]["invalid"], 2)
            page = case.output(path)
            for line in "build +host +2.50 +31 % +2", "lint +host +1.50 +19 % +2":
                self.assertRegex(page, line)

    def check_zero_times(self, path):
        report = Report(path)
        trust = report.json["trust"]
        self.assertEqual((trust["recorded"], trust["lost"], trust["no_device_time"]), (30, 0, 5))
        self.assertEqual(report.json["identity"]["devices"][0]["wall_ns"], 9100 * US)
        self.assertEqual(report.find("kernel", "sgemm_64x64")["device_total"], 2500 * US)
        self.assertEqual(report.find("operator", "aten::mm")["calls"], 10)
        page = " ".join(case.output(path).split())
        self.assertIn("1 run of 9.10 ms", page)
        self.assertIn("Incomplete: 30 records, none lost, 5 without a device time", page)
        self.assertIn("5 device ranges at time 0, or of another clock,", page)
        self.assertEqual(case.run(path, "--strict").returncode, 1)

    def test_times_of_zero(self):
        def change(ts, dur=0):
            def do(all):
                for event in all:
                    if event.get("ts") == 0:
                        event.update(ts=ts, dur=dur)
                all.reverse()
            return self.changed("zero_ts_kernels", do)
        reference = Report(os.path.join(DATA, "zero_ts_reference.json"))
        self.assertEqual(reference.json["identity"]["devices"][0]["wall_ns"], 9100 * US)
        self.check_zero_times(os.path.join(DATA, "zero_ts_kernels.json"))
        self.check_zero_times(change(0, 500))
        self.check_zero_times(change(-1))
        self.check_zero_times(change("0", 1615207264005200))
        # Since the machine started, of a host with the time of day.
        self.check_zero_times(change(86400e6, 500))

    def test_times_since_some_day_beside_zero(self):
        # Kineto writes them since a day of each quarter.
        def do(all):
            for event in all:
                if event.get("ts"):
                    event["ts"] -= 1615207264000000 - 5e12
        self.check_zero_times(self.changed("zero_ts_kernels", do))

    def test_a_trace_may_begin_at_zero(self):
        def do(all):
            for event in all:
                if event.get("ts"):
                    event["ts"] -= 1615207264000000
        report = Report(self.changed("zero_ts_reference", do))
        self.assertEqual(report.json["trust"]["no_device_time"], 0)
        self.assertEqual(report.json["identity"]["devices"][0]["wall_ns"], 9100 * US)

    def test_two_clocks(self):
        def do(all):
            # The device's of every kernel, and that of one operator.
            for event in all:
                if event.get("cat") == "kernel":
                    event["ts"] -= 1615207264000000 - 7e9
            all.append({**next(event for event in all if event.get("cat") == "cpu_op"), "ts": 3e8})
        report = Report(self.changed("zero_ts_reference", do))
        trust = report.json["trust"]
        self.assertEqual((trust["recorded"], trust["lost"], trust["no_device_time"]), (25, 1, 5))
        self.assertEqual(report.find("operator", "aten::mm")["calls"], 10)
        notes = [note["text"] for note in trust["notes"] if note["key"] == "clocks"]
        self.assertEqual([note.split()[0] for note in notes], ["1", "5"])

    # ---- orders that cannot be ----

    def test_work_before_its_launch(self):
        # It begins 15 us before the call and 25 us before the call's end.
        report = self.ask("kernel_before_launch")
        self.assertEqual(report.json["trust"]["clock_error_ns"], 25 * US)
        page = self.page("kernel_before_launch", "--strict")
        self.assertIn("none lost \u00b7 clock error up to 25.0 us", page)
        self.assertIn("10 device ranges that begin before their launch, which cannot be: the "
                      "clocks are off by at least 25 us", page)

        def later(all):
            for event in all:
                if event.get("cat") == "kernel":
                    event["ts"] += 15.5 if event["args"]["correlation"] != 3 else 10
        path = self.changed("kernel_before_launch", later)
        self.assertEqual(Report(path).json["trust"]["clock_error_ns"], 15 * US)

        def by_arrow(all):
            # An arrow leads from a moment of the launch, here its begin.
            for event in list(all):
                if "correlation" in event.get("args", {}):
                    number = event["args"].pop("correlation")
                    all.append({**event, "ph": "s" if event["cat"] == "cuda_runtime" else "f",
                                "bp": "e", "cat": "ac2g", "name": "ac2g", "id": number})
        path = self.changed("kernel_before_launch", by_arrow)
        self.assertEqual(Report(path).json["trust"]["clock_error_ns"], 15 * US)

    def test_work_over_later_work_of_its_stream(self):
        why = ("1 device ranges that last over two or more later ones of their stream, which "
               "cannot be: one of fmha_bwd over 15")
        path = os.path.join(DATA, "kernel_overextended.json")
        report = Report(path)
        self.assertIn(why, report.json["answer"])
        self.assertEqual(report.json["findings"], [])
        self.assertEqual(report.find("kernel", "fmha_bwd")["calls"], 20)
        done = case.run(path, "--strict")
        self.assertEqual(done.returncode, 1)
        self.assertIn(why, " ".join(done.stderr.decode().split()))

    def test_work_over_later_work_without_launches(self):
        def no_launches(all):
            all[:] = [event for event in all if event.get("cat") != "cuda_runtime"]

        def no_correlation(all):
            for event in all:
                event["args"].pop("correlation", None)
        for change in no_launches, no_correlation:
            page = " ".join(case.output(self.changed("kernel_overextended", change)).split())
            self.assertIn("one of fmha_bwd over 15", page)

    def test_work_beside_other_work(self):
        def no_id(all):
            # As kernels of one graph: their launch is one.
            for event in all:
                if event.get("ts", 0) >= 1615207264004000 and "correlation" in event["args"]:
                    event["args"]["correlation"] = 5

        def streams(all):
            for event in all:
                if event.get("ts", 0) > 1615207264005000 and event["cat"] == "kernel":
                    event["args"]["stream"] = event["tid"] = 4

        def one(all):
            # Two kernels may overlap: the later one may begin before the other's end.
            for event in all:
                if event.get("dur") == 1600000:
                    event["dur"] = 1900
        for change in no_id, streams, one:
            page = " ".join(case.output(self.changed("kernel_overextended", change)).split())
            self.assertNotIn("which cannot be", page)

    # ---- launches without work ----

    def steps(self, has_work):
        events = []
        for i in range(10):
            at = 1700000000000000 + 1000 * i
            events += [
                {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 5,
                 "tid": 5, "ts": at, "dur": 1000},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5,
                 "ts": at + 20, "dur": 10, "args": {"correlation": i + 1}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaEventRecord", "pid": 5, "tid": 5,
                 "ts": at + 35, "dur": 5, "args": {"correlation": i + 101}}]
            if has_work(i):
                events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                               "ts": at + 50, "dur": 900, "args": {
                                   "correlation": i + 1, "device": 0, "stream": 7}})
        with open(self.path("steps.json"), "w") as file:
            json.dump(events, file)
        return self.path("steps.json")

    def test_launches_whose_work_was_dropped(self):
        path = self.steps(lambda i: i >= 4)
        report = Report(path)
        trust = report.json["trust"]
        self.assertEqual((trust["recorded"], trust["no_device_time"]), (40, 4))
        device = report.json["identity"]["devices"][0]
        # To the first launch, then between each end and the next launch, but for the last.
        self.assertEqual(device["not_submitted_ns"], (20 + 5 * 70 + 5 * 30) * US)
        self.assertEqual(device["unresolved_ns"], 4030 * US)
        page = " ".join(case.output(path).split())
        self.assertNotIn("nothing was submitted", page)
        self.assertIn("4 launches before the first work that was recorded have none", page)

    def test_launches_without_work_later(self):
        # Those of a graph that is captured have none either.
        report = Report(self.steps(lambda i: i != 4))
        self.assertEqual(report.json["trust"]["no_device_time"], 0)

    # ---- what the answer says of all this ----

    def answer(self, events, *options):
        with open(self.path("answer.json"), "w") as file:
            json.dump(events, file)
        done = case.run(self.path("answer.json"), "--strict")
        self.assertEqual(done.returncode, 1)
        return " ".join(done.stdout.decode().split())

    def test_a_run_over_ten_years(self):
        # No clock has most of the events.
        events = [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": ts, "dur": 5}
                  for ts in (1e9, 1700000000000000)]
        self.assertIn("Answer This run would last 53.9 years: its times are not of one clock",
                      self.answer(events))

    def test_more_than_half_is_of_no_use(self):
        good = {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
        bad = {"ph": "X", "name": "a", "pid": 1, "tid": 1, "dur": 5}
        self.assertIn("Answer 2 of 3 events had nothing usable", self.answer([good, bad, bad]))
        self.assertIn("Answer: nothing could be used of what the trace has; the notes say why",
                      self.answer([bad]))

    # ---- recursion ----

    def test_the_outside_of_a_recursion_is_no_first_call(self):
        name = "module.py(1779): _call_impl"
        self.assertNotIn("first call of", self.page("recursive_first_call"))
        stage = self.ask("recursive_first_call", "--view", "stages").find("stages", name)
        self.assertEqual((stage["first"], stage["cold_calls"]), (200 * US, 0))

        def deeper(all):
            # Another function between two of them, and one more around all.
            all.append({**all[0], "name": "step.py(1): run", "ts": all[0]["ts"] + 10, "dur": 41000})
            all.append({**all[0], "ts": all[0]["ts"] - 5000, "dur": 48000})
        self.assertNotIn("first call of", " ".join(case.output(
            self.changed("recursive_first_call", deeper)).split()))

        def slow(all):
            # The same calls on other threads are in none: the first one loads.
            for event in all[1:]:
                event["tid"] = 6
        page = " ".join(case.output(self.changed("recursive_first_call", slow)).split())
        self.assertIn(f"The first call of {name} took 42.0 ms, 210 times a usual one", page)


if __name__ == "__main__":
    case.main()
