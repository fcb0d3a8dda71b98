#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What limits programs with one planted limit each, and where the answer says so.

limits_test.py PPROF_REPORT. Truth is by simulating each program again with each time halved.
"""
import json
import os
import random

import case
import traces

DATA = os.path.join(case.DATA, "..", "limits")

# Run, claim, and what halving pays for, of which one is named first; none: nothing recorded.
TRUTHS = (
    ("chain_second", "limit", ("embed",)),
    ("pool_hidden", "limit", ("rerank",)),
    ("sub_rpc", "limit", ("rank",)),
    ("wait_marked", "limit", ("search",)),
    ("device_bound", "limit", ("model",)),
    ("host_bound", "part", ("decode",)),
    ("lock_marked", "limit", ("cache lock", "cache update")),
    ("lock_unmarked", "unrecorded", ("embed", "rerank")),
    ("connections_unmarked", "unrecorded", ("query",)),
    ("gil_cpu", "limit", ("tokenize",)),
    ("batch_timer", "unrecorded", ("embed",)),
    ("gc_pauses", "unrecorded", ()),
    ("cold_start", "limit", ("generate",)),
    ("head_of_line", "limit", ("rerank",)),
    ("drift", "limit", ("rerank",)),
    ("closed_two_pools", "part", ("embed", "rerank")),
    ("limit_moves", "limit", ("embed", "generate")),
    ("bursts", "limit", ("generate",)),
    ("background", "limit", ("forward",)),
    ("iter_unmarked", "limit", ("forward",)),
    ("branches_alike", "part", ("merge", "parse")),
    ("branches_open", "limit", ("shard A",)),
    ("loaders_alike", "limit", ("forward",)),
    ("pauses_pool", "limit", ("filter",)),
    ("stop_once", "unrecorded", ("fetch",)),
    ("balanced", "balanced", None),
    ("open_low", "keeps_up", None),
)


class LimitsTest(case.Case):
    def of_ranges(self, ranges, *threads):
        """A trace of (name, thread, begin, end, category, arguments), in us."""
        events = [{"ph": "M", "pid": 1, "tid": 1000 + lane, "name": "thread_name",
                   "args": {"name": name, "lane": lane}} for lane, name in enumerate(threads, 1)]
        for name, lane, begin, end, category, args in ranges:
            events.append({"ph": "X", "name": name, "pid": 1, "tid": 1000 + lane, "ts": begin,
                           "dur": end - begin, "cat": category, "args": {"window": 0, **args}})
        path = self.path("ranges.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"pprofTrace": 1, "baseTimeNanoseconds": 0, "traceEvents": events}, file)
        return path

    def rounds(self, length, *ranges, threads=("main",)):
        """The same of 60 rounds, each `length` later."""
        return self.of_ranges([(name, lane, length * i + begin, length * i + end, category, args)
                               for i in range(60)
                               for name, lane, begin, end, category, args in ranges], *threads)

    def test_the_planted_limit_is_named(self):
        for run, claim, causes in TRUTHS:
            path = os.path.join(DATA, f"{run}.json.gz")
            with self.subTest(run=run):
                limit = case.Report(path).json["limit"]
                self.assertEqual(claim, limit["claim"], limit["sentence"])
                if causes is None:
                    continue
                self.assertEqual(bool(causes), bool(limit["names"]))
                if causes:
                    self.assertIn(limit["names"][0], causes)

    def test_people_read_it_first(self):
        for run, _, _ in TRUTHS:
            path = os.path.join(DATA, f"{run}.json.gz")
            limit = case.Report(path).json["limit"]
            said = " ".join(case.output("summary", path).split())
            with self.subTest(run=run):
                self.assertIn("Answer " + " ".join(limit["sentence"].split()), said)
                self.assertIn("Next: " + limit["next"], said)

    def test_servers_and_blame_are_those_of_the_program(self):
        # `embed` takes 8 ms of each 8 ms, the other four stages 1 ms, one thread each; queues of
        # four: requests wait for embed alone, or for a thread that waits for it.
        limit = case.Report(os.path.join(DATA, "chain_second.json.gz")).json["limit"]
        use = {server["name"]: server["utilization"] for server in limit["servers"]}
        self.assertEqual({"fetch", "embed", "search", "rerank", "generate"}, set(use))
        self.assertGreater(use.pop("embed"), 0.98)
        self.assertLess(max(use.values()), 0.2)
        waits = [row for row in limit["blame"] if row["kind"] in ("in line for", "held up by")]
        of_embed = sum(row["time"] for row in waits if row["name"] == "embed")
        self.assertGreater(of_embed, 0.9 * sum(row["time"] for row in waits))
        asked = json.loads(case.output("sql", os.path.join(DATA, "chain_second.json.gz"),
                                       "SELECT name, utilization FROM server", "-f", "json"))
        self.assertEqual([server["name"] for server in limit["servers"]],
                         [row[0] for row in asked["rows"]])
        rows = case.Report(os.path.join(DATA, "chain_second.json.gz")).rows("answer")
        shown = {row[0] for row in rows}
        self.assertTrue({"in line for embed", "held up by embed"} <= shown, shown)

    def test_a_lock_whose_waiters_overtake_each_other(self):
        # Four threads think for 4 ms, 5 % more or less, and hold a lock for 4 ms, all of it in
        # `embed`. Any of those that wait is next, so that the ends have no order, but a distance.
        chance, trace, us = random.Random(7), traces.KinetoTrace(), 1000
        begins, ready, free = [0] * 4, [0] * 4, 0
        for i in range(4):
            ready[i] = chance.randrange(3800, 4200)
        for _ in range(400):
            waiting = [i for i in range(4) if ready[i] <= free] or [ready.index(min(ready))]
            i = chance.choice(waiting)
            free = max(free, ready[i]) + 4000
            trace.host("embed", "user_annotation", begins[i] * us, free * us, 100 + i)
            begins[i], ready[i] = free + 1, free + chance.randrange(3800, 4200)
        limit = case.Report(self.written(trace)).json["limit"]
        self.assertEqual(("unrecorded", "shared"), (limit["claim"], limit["verdict"]))
        self.assertRegex(limit["sentence"], "take turns: .*a rate limit")

    def test_of_several_processes_the_one_that_limits_is_named(self):
        paths = [os.path.join(DATA, f"two_processes.{i}.json.gz") for i in range(2)]
        both = json.loads(case.output("summary", *paths, "-f", "json"))
        self.assertEqual(["rank", "ranker"], both["limit"]["names"])
        self.assertEqual("pid 4243", both["limit"]["process"])
        self.assertTrue(both["answer"].startswith("pid 4243: rank is the limit"), both["answer"])
        self.assertEqual("", case.Report(paths[0]).json["limit"]["process"])
        one = self.path("one.json.gz")
        case.output("trace", "-o", one, *paths)
        merged = case.Report(one).json
        self.assertEqual([both["limit"], both["views"]["answer"]],
                         [merged["limit"], merged["views"]["answer"]])

    def batches(self, fixed, each):
        """A trace: 300 requests, each for 20 ms, 10 % more or less, in one of two threads that
        always have one; then in a thread that takes up to eight, if so many are there."""
        chance, free, ready, events, at = random.Random(7), [0, 3000], [], [], 0

        def add(name, thread, begin, end, requests):
            events.append({"ph": "X", "name": name, "pid": 1, "tid": thread, "ts": begin,
                           "dur": end - 10 - begin, "args": {"window": 0, "flows": requests}})
        for i in range(300):
            thread = free.index(min(free))
            begin, free[thread] = free[thread], free[thread] + chance.randrange(18000, 22000)
            add("tokenize", thread + 1, begin, free[thread], [i + 1])
            ready.append((free[thread], i + 1))
        ready.sort()
        while ready:
            at = max(at, ready[0][0])
            batch = [number for when, number in ready[:8] if when <= at]
            end = at + fixed + each * len(batch)
            add("model", 3, at, end, batch)
            at, ready = end, ready[len(batch):]
        path = self.path(f"{fixed}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"pprofTrace": 1, "baseTimeNanoseconds": 0, "traceEvents": events}, file)
        return path

    def test_larger_batches_take_less_time_for_each_request(self):
        # Batches of 1.2 requests keep the model busy for 97 % of the time; eight take 18 ms.
        # Without a fixed part a batch brings nothing: 9 of 10 ms a request allow 11 % more.
        for fixed, each, next_limit, least, most in ((10000, 1000, "tokenize", 0.9, 1.1),
                                                     (0, 9000, "model", 0.05, 0.2)):
            limit = case.Report(self.batches(fixed, each)).json["limit"]
            self.assertEqual(("limit", "tokenize", next_limit),
                             (limit["claim"], limit["names"][0], limit["next_limit"]))
            self.assertTrue(least < limit["bound"] < most, limit["bound"])

    def test_a_stage_that_waits_for_a_lock_does_not_compute(self):
        # A request every 50 ms: `lookup` 10 ms, 7 of them in wait for the lock that `refresh` has
        # on another thread; then `generate`, 4 ms. Nothing is busy: arrivals set the rate.
        ranges = []
        for number in range(1, 101):
            at, of = 50000 * number, {"flows": [number]}
            ranges += [("refresh", 2, at - 1000, at + 8900, "UserDefined", {}),
                       ("lookup", 1, at, at + 10000, "UserDefined", of),
                       ("wait for cache", 1, at + 2000, at + 9000, "Wait",
                        {"depth": 1, "numbers": [1, 1002, 0, 1]}),
                       ("generate", 1, at + 10010, at + 14010, "UserDefined", of)]
        limit = case.Report(self.of_ranges(ranges, "server", "updater")).json["limit"]
        self.assertEqual("keeps_up", limit["claim"], limit["sentence"])
        self.assertEqual("refresh", limit["names"][0], limit["sentence"])
        times = {row["name"]: row["time"] for row in limit["blame"] if row["kind"] == "work"}
        for name, time in (("refresh", 6900), ("lookup", 3000), ("generate", 4000)):
            self.assertAlmostEqual(time, times[name] / 1000, delta=150, msg=times)

    def test_a_blocked_thread_holds_up_until_its_output_is_taken(self):
        # Every 50 ms, in ms: rank has `y` until 11 and takes `x` then, which embed gave out at 1.
        # `r` is ready for embed at 2: rank holds it up for 9; until 21 the thread of embed idles.
        us, events = 1000, [{"ph": "M", "pid": 1, "tid": 1000 + lane, "name": "thread_name",
                             "args": {"name": name, "lane": lane}}
                            for lane, name in enumerate(("front", "embed", "rank"), 1)]
        stages = {"y": (("rank", 3, -5, 11),),
                  "x": (("front", 1, -3, -2), ("embed", 2, 0, 1), ("rank", 3, 11, 12)),
                  "r": (("front", 1, 1, 2), ("embed", 2, 21, 22), ("rank", 3, 23, 24))}
        for number in range(1, 301):
            calls = stages["yxr"[number % 3]]
            for name, lane, begin, end in calls:
                events.append({"ph": "X", "name": name, "pid": 1, "tid": 1000 + lane,
                               "ts": (50 * (1 + number // 3) + begin) * us,
                               "dur": (end - begin) * us, "cat": "UserDefined",
                               "args": {"window": 0, "flows": [number]}})
        path = self.path("blocked.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"pprofTrace": 1, "baseTimeNanoseconds": 0, "traceEvents": events}, file)
        limit = case.Report(path).json["limit"]
        times = {(row["kind"], row["name"]): row["time"] / us / us * 3 for row in limit["blame"]}
        for row, time in ((("held up by", "rank"), 9), (("idle before", "embed"), 10 + 2),
                          (("in line for", "rank"), 10)):
            self.assertAlmostEqual(time, times[row], delta=0.3, msg=times)

    def test_a_pause_counts_from_where_it_begins(self):
        # Each round, in ms: embed 2, tick ends at 2.5, rank begins at 3. In each tenth round all
        # stand still from 2.5 to 33, while load and log are open: rank's thread idles for 0.5.
        us, events, at = 1000, [{"ph": "M", "pid": 1, "tid": 1000 + lane, "name": "thread_name",
                                 "args": {"name": name, "lane": lane}} for lane, name in
                                enumerate(("embed", "rank", "load", "log", "tick"), 1)], 50
        for number in range(1, 401):
            pause = 0 if number % 10 else 30
            for lane, (name, begin, end) in enumerate((
                    ("embed", 0, 2), ("rank", 3 + pause, 5 + pause), ("load", 1, 3.2 + pause),
                    ("log", 1, 3.4 + pause), ("tick", 2.4, 2.5)), 1):
                flows = {"flows": [number]} if lane < 3 else {}
                events.append({"ph": "X", "name": name, "pid": 1, "tid": 1000 + lane,
                               "ts": (at + begin) * us, "dur": (end - begin) * us,
                               "cat": "UserDefined", "args": {"window": 0, **flows}})
            at += 6 + pause
        path = self.path("pause.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"pprofTrace": 1, "baseTimeNanoseconds": 0, "traceEvents": events}, file)
        limit = case.Report(path).json["limit"]
        times = {(row["kind"], row["name"]): row["time"] / us / us for row in limit["blame"]}
        self.assertAlmostEqual(30.5 / 10, times["paused", ""], delta=0.1, msg=times)
        self.assertAlmostEqual((9 * 1 + 0.5) / 10, times["idle before", "rank"], delta=0.03,
                               msg=times)

    def test_compare_says_where_the_limit_moved(self):
        runs = [os.path.join(DATA, f"{run}.json.gz") for run in ("chain_second", "pool_hidden")]
        moved = case.run("compare", "--force", *runs).stdout.decode()
        self.assertIn("The limit moved from embed (busy 100 %) to rerank (busy 100 %)", moved)
        same = case.run("compare", "--force", runs[0], runs[0]).stdout.decode()
        self.assertIn("A: ", same)
        self.assertNotIn("The limit moved", same)

    def test_idle_time_of_a_device_is_charged_to_what_the_host_does(self):
        # Rounds of 8 ms on one thread: data 3 ms; forward 5 ms, which launches three kernels, and
        # waits for the first one. The device is idle for 0.8 ms after that wait, for 0.8 ms until
        # the third launch, for 3 ms of data and 0.2 ms of forward before its first launch and
        # after its last kernel; that one takes 0.1 ms to start.
        trace, us = traces.KinetoTrace(), 1000
        for at in range(0, 40 * 8000 * us, 8000 * us):
            def host(name, start, end, category="user_annotation"):
                trace.host(name, category, at + start * us, at + end * us)

            def launch(start, begin, end):
                number = trace.call(at + start * us, at + (start + 1) * us)
                trace.device("gemm", at + begin * us, at + end * us, number)
            host("data", 0, 3000)
            host("forward", 3000, 8000)
            launch(3100, 3200, 3400)
            host("cudaStreamSynchronize", 3150, 3410, "cuda_runtime")
            launch(4100, 4200, 4400)
            launch(5100, 5200, 7900)
        limit = case.Report(self.written(trace)).json["limit"]
        found = {(gap["kind"], gap["name"]): gap["time"] / us for gap in limit["gaps"]}
        want = {("stage", "data"): 3000, ("after wait", "forward"): 800,
                ("launching", "forward"): 800, ("stage", "forward"): 200,
                ("starting", "forward"): 100}
        self.assertEqual(set(want), set(found))
        for key, time in want.items():
            self.assertAlmostEqual(time, found[key], delta=0.02 * time, msg=key)
        self.assertAlmostEqual(1, limit["stops"], delta=0.02)
        self.assertNotIn("host-bound", case.output("summary", self.path("trace.json")))
        self.assertAlmostEqual(4900 / 8000, sum(gap["part"] for gap in limit["gaps"]), delta=0.01)

    def test_idle_time_in_no_call_is_a_wait_for_the_stage_that_ends_it(self):
        # Rounds of 8 ms: load takes 3 ms on a thread of its own; forward begins 0.05 ms later,
        # and its kernel takes all of its 4.9 ms but the first 0.1 ms.
        trace, us = traces.KinetoTrace(), 1000
        for at in range(0, 40 * 8000 * us, 8000 * us):
            trace.host("load", "user_annotation", at, at + 3000 * us, tid=7)
            trace.host("forward", "user_annotation", at + 3050 * us, at + 7950 * us)
            number = trace.call(at + 3060 * us, at + 3061 * us)
            trace.device("gemm", at + 3150 * us, at + 7940 * us, number)
            trace.host("cudaStreamSynchronize", "cuda_runtime", at + 3070 * us, at + 7945 * us)
        limit = case.Report(self.written(trace)).json["limit"]
        found = {(gap["kind"], gap["name"]): gap["time"] / us for gap in limit["gaps"]}
        self.assertAlmostEqual(3100, found.get(("waiting", "load"), 0), delta=60, msg=found)

    def test_time_that_nothing_explains_has_no_bound(self):
        # Rounds of 8 ms: forward takes 2 ms and its kernel 1.7 ms; the trace has nothing of the rest.
        trace, us = traces.KinetoTrace(), 1000
        for at in range(0, 40 * 8000 * us, 8000 * us):
            trace.host("forward", "user_annotation", at, at + 2000 * us)
            number = trace.call(at + 100 * us, at + 101 * us)
            trace.device("gemm", at + 200 * us, at + 1900 * us, number)
        said = " ".join(case.output("summary", self.written(trace)).split())
        self.assertRegex(said, r"is idle 7\d % of the time, by cause: nothing recorded")
        self.assertNotIn("Without the first of these", said)

    def test_a_device_that_limits_is_not_called_idle_for_the_start(self):
        # One kernel, 400 ms of start-up, then 40 rounds of 8 ms that the device works through.
        trace, us = traces.KinetoTrace(), 1000
        early = trace.call(0, us)
        trace.device("warm up", 10 * us, 20 * us, early)
        for at in range(400000 * us, 720000 * us, 8000 * us):
            trace.host("data", "user_annotation", at, at + 500 * us)
            trace.host("forward", "user_annotation", at + 500 * us, at + 8000 * us)
            number = trace.call(at + 510 * us, at + 511 * us)
            trace.device("gemm", at + 520 * us, at + 7980 * us, number)
            trace.host("cudaStreamSynchronize", "cuda_runtime", at + 600 * us, at + 7990 * us)
        said = case.output("summary", self.written(trace))
        self.assertRegex(said, r"Answer +(GPU|cuda:|gpu:)?.* is the limit")
        self.assertNotIn("host-bound", said)

    def test_numbers_that_are_read_back_between_stages(self):
        # Forward, 1 ms, launches 1.5 ms; numbers are read back, each by a copy of 1 us and 15 us
        # of other calls behind a pause; backward, 1.5 ms, launches 2.5 ms. Nothing says in which
        # stage they are. There are few, or more than the calls of all stages take.
        us = 1000
        for numbers, pause in ((60, 20), (128, 12)):
            trace, at, free = traces.KinetoTrace(), 0, 0
            for _ in range(40):
                for stage, host, device in (("forward", 1000, 1500), ("backward", 1500, 2500)):
                    trace.host(stage, "user_annotation", at * us, (at + host) * us)
                    launch = trace.call((at + 10) * us, (at + 18) * us)
                    begin, free = max(free, at + 20), max(free, at + 20) + device
                    trace.device("gemm", begin * us, free * us, launch)
                    at += host
                    for _ in range(numbers if stage == "forward" else 0):
                        at += pause
                        copy = trace.call(at * us, (at + 8) * us, name="cudaMemcpyAsync")
                        begin, free = max(free, at + 10), max(free, at + 10) + 1
                        trace.device("copy", begin * us, free * us, copy, category="gpu_memcpy")
                        trace.host("cudaStreamSynchronize", "cuda_runtime", (at + 9) * us,
                                   (free + 4) * us)
                        at = free + 5
            limit = case.Report(self.written(trace)).json["limit"]
            self.assertEqual(("part", ["cudaStreamSynchronize"]), (limit["claim"], limit["names"]))
            self.assertIn(f"waits for the device {numbers} times", limit["sentence"])
            self.assertIn(".item()", limit["next"])
            self.assertAlmostEqual(numbers * (pause + 15), limit["demand"] / us, delta=30)
            self.assertRegex(case.output("summary", self.path("trace.json")),
                             "iterations of forward, backward found on")

    def test_what_waits_for_work_has_the_share_of_the_table(self):
        of = "UserDefined"
        get = ("queue: get", 1, 0, 9800, "Idle", {})
        path = self.rounds(10000, get, ("work", 1, 9800, 9890, of, {}))
        limit = case.Report(path).json["limit"]
        self.assertEqual("keeps_up", limit["claim"], limit["sentence"])
        self.assertIn("waits for work 98 % of the time, in queue: get", limit["sentence"])
        # Inside a stage it is a part of the iteration.
        path = self.rounds(16000, ("data", 1, 0, 10000, "Dataloader", {}),
                           (*get[:5], {"depth": 1}), ("forward", 1, 10000, 16000, of, {}))
        limit = case.Report(path).json["limit"]
        self.assertEqual(("part", ["data"]), (limit["claim"], limit["names"]))
        self.assertIn("9.80 ms of 16.0 ms (61 %)", limit["sentence"])
        # What lies between two steps is in none.
        path = self.rounds(10000, ("step", 1, 0, 1000, "ProfileStep", {"step": 1, "async": True}),
                           ("work", 1, 0, 600, of, {}), ("more", 1, 600, 1000, of, {}))
        limit = case.Report(path).json["limit"]
        self.assertEqual("unrecorded", limit["claim"])
        self.assertRegex(limit["sentence"], r"^9.00 ms \(90 %\) pass from the end of each step")

    def test_a_worker_of_a_pool_works(self):
        of = "UserDefined"
        path = self.rounds(10000, ("load", 1, 0, 1000, of, {}), ("pool: work", 2, 1000, 8000, of, {}),
                           ("forward", 1, 8000, 10000, of, {}), threads=("main", "worker"))
        self.assertEqual("host", case.Report(path).find("answer", "pool: work")["where"])

    def test_what_few_iterations_have_comes_less_often(self):
        # A checkpoint of 40 ms in one of five: beside others, and as the limit.
        for gap in (0, 4000):
            ranges, at = [], 0
            for i in range(60):
                for name, length in (("data", 1000), ("forward", 4000),
                                     ("checkpoint", 40000 if i % 5 == 4 else 0)):
                    ranges += [(name, 1, at, at + length, "UserDefined", {})] if length else []
                    at += length
                at += gap
            limit = case.Report(self.of_ranges(ranges, "main")).json["limit"]
            self.assertEqual("checkpoint", limit["names"][0], limit["sentence"])
            self.assertEqual("do checkpoint less often, or beside the iterations: in another "
                             "thread or process.", limit["next"])

    def test_an_import_before_most_requests_is_no_limit(self):
        # 1000 requests, one each ms, of 60 us on the event loop; one of the first waits for a
        # module, 200 ms, and 200 others behind it.
        ranges, free, at, chance = [], 0, 0, random.Random(5)
        for number in range(1, 1001):
            at += chance.randrange(500, 1500)
            begin = max(free, at)
            if number == 61:
                ranges.append(("import anyio", 1, begin, begin + 200000, "Import", {}))
                begin += 200003
            free = begin + chance.randrange(30, 90)
            of = {"flows": [number]}
            ranges += [("loop: GET", 1, begin, free, "Forward", of),
                       ("GET", 1, at, free + 1, "Forward", {**of, "async": True})]
            free += 5
        limit = case.Report(self.of_ranges(ranges, "main")).json["limit"]
        self.assertEqual(["loop: GET"], limit["names"], limit["sentence"])
        self.assertNotIn("import", json.dumps(limit))

    def test_steps_inside_an_outlier(self):
        # What is left of the time behind an outlier of another thread is nothing: no verdict.
        def step(number, start, length, tid):
            return {"ph": "X", "name": f"ProfilerStep#{number}", "cat": "user_annotation",
                    "ts": start, "dur": length, "pid": 1, "tid": tid}
        steps = [step(i + 1, 1000 + 1000 * i, 900, 1) for i in range(60)]
        path = self.path("inside.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump({"traceEvents": [step(0, 0, 100000, 9), *steps]}, file)
        self.assertEqual("none", case.Report(path).json["limit"]["claim"])


if __name__ == "__main__":
    case.main()
