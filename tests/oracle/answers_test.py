#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reports say of runs of known truth.

answers_test.py PPROF_REPORT. Every expected text is typed from what the run was made of.
"""
import csv
import glob
import os

import case

DATA = os.path.join(case.DATA, "..", "answers")

# Run, arguments, what the report says, and what it does not say.
TRUTHS = (
    # Twelve cold requests load for 41 ms; of the others 1 % look up for 5 ms instead of 1 ms.
    ("tail_counts_cold", (), ("p99 2.01", "100 % of the difference is more of lookup"),
     ("more of load", "take 42.0 ms")),
    # Each step: 6 ms without work of the device, 4 ms with; pauses between steps.
    ("host_bound_gap3", (), ("g:0 has nothing to do 60 % of the steps' time",), ()),
    # Of 100 ms optimizer takes 40 in four operators of 10, decode 38, log 22.
    ("outermost_of_small_ones", (), ("The greatest part is optimizer, 40.0 ms a step.",),
     ("part is decode",)),
    # 100 steps of 2 us, and one of 5 s.
    ("steadily_one_outlier", (),
     ("The greatest part is work, 1.50 us a step.",
      "1 of 101 steps took 5.00 s, most of it in work: not counted here.",
      "p50 2.00 us"), ("steadily", "37.1 ms of 49.5 ms")),
    # A cold request of 10 s beside 40 of 10 ms, two at a time.
    ("cold_outlasts", (), ("40 requests in 205 ms = 195/s", "1.95 in flight"), ("4.00/s",)),
    # Rank 3 works 15 ms of each step, the others 10 ms, and wait 5 ms.
    ("slow_rank", (), ("others wait in all of theirs", "median max longest"),
     ("in half of theirs", "slowest")),
    # Half of the requests are one batch of 10 ms, half of them parse for 1 ms and rank for 2 ms.
    ("single_stage", (), ("Of 6.71 ms batch has the most: 5.29 ms.", "batch host 5.00 77 %"),
     ("between stages",)),
    # 6 ms of preprocess, which submits 4 ms of model at its end.
    ("stage_before_device", (), ("preprocess host 6.00 60 %", "model g:0 4.00 40 %"),
     ("between stages",)),
    # Shard A takes 10 ms, shard B 8 ms of them beside it.
    ("fan_out", (), ("Of 10.0 ms shard A has the most: 10.0 ms.", "shard A host 10.0 100 %",
                     "shard B host 0 0 %"), ()),
    # A thread decodes the next batch for 8 ms while the trainer computes for all 10 ms.
    ("prefetching_loader", (), ("compute host 10.0 100 %", "decode next host 0 0 %"), ()),
    # Eight threads share two connections for 12 of each request's 14 ms: 166/s, halved 333/s.
    ("two_connections", (), ("only 2 threads are in it at a time",
                             "Halving query raises the rate by at most 100 %"), ()),
    # A producer puts into a queue of four of another process; its index takes 10.2 ms: 94/s,
    # halved 186/s. Half of a stage never brings more than twice the rate.
    ("queue_of_processes", (), ("index is the limit: its thread is busy 99 %",
                                "Halving index raises the rate by at most 100 %"), ()),
    # Four threads infer for 12 ms, then one of them at a time writes for 8 ms in its audit:
    # 124/s, halved 245/s.
    ("lock_in_audit", (), ("write is the limit: only 1 thread is in it at a time",
                           "Halving write raises the rate by at most 100 %"), ("balanced",)),
    # Three places for 8 ms within two ranges, which compute for 3 ms before: halved 65 % more.
    ("semaphore_two_levels", (), ("write is the limit: only 3 threads are in it at a time",
                                  "Halving write raises the rate by at most 70 %"), ()),
    # An audit computes for 30 ms of its 32 ms around a lock: without half of these 71 % more.
    ("computes_around_lock", (), ("4 threads that run audit, infer, write are the limit",
                                  "audit, 30.2 ms a request",
                                  "Halving audit raises the rate by at most 72 %"), ()),
    # Eight threads wait for two that embed for 10 ms; they give up after 30 ms, twice at most.
    ("client_gives_up", (), ("embed is the limit: its 2 threads are busy 100 %",
                             "at most 100 %; embed stays the limit."), ("balanced", "then embed")),
    # Ten tasks fetch for 20 ms, parse and render for 5 ms on the thread of their event loop.
    ("busy_event_loop", (), ("make render cheaper, or run it beside the event loop: "
                             "`asyncio.to_thread(...)`, or in a process",), ("more threads",)),
    # Five steps of three hours.
    ("rate_zero", (), ("5 steps in 54000 s = 0.0000926/s",), ("= 0.00/s",)),
    ("rate_zero", ("--view", "stages", "--wide"), ("0.0000926 / 0.000123",), ()),
    ("rate_zero", ("--tree",), ("0.33/h", "0.44/h"), ("0.00 ",)),
    # Each step: 7 ms of kernels and 3 ms of copies, one after the other.
    ("busy_with_copies", (), ("g:0 is the limit: busy 100 %. The greatest part is train",), ()),
    ("busy_with_copies", ("--view", "device"), ("g:0 with copies and sets: 100.00 %.",), ()),
    # Two calls of 25 ms, two of 2.5 ms.
    ("cold_half", ("--view", "stages", "--wide"), ("25.40 / 0 / -",), ("25.40 / 2 / 25.22",)),
    # The processor's time is asked a little outside of each range: 10.4 of 10 ms.
    ("cpu_104", (), ("its thread is on a processor for 100 % of its time",
                     "Of the busy time 100 % is computing."), ("104 %",)),
    ("cpu_104", ("--view", "cpu", "--wide"), ("500.00 / 500.00 / 0.00 / 100.00",), ("104.00", "520.00")),
    # It rises for 60 % of the time, and stays.
    ("memory_levelled_off", (), ("100 steps in 1.00 s",), ("memory-grows", "a second")),
)


class AnswersTest(case.Case):
    def test_known_truths(self):
        for run, arguments, present, absent in TRUTHS:
            paths = sorted(glob.glob(os.path.join(DATA, run + "*")))
            self.assertTrue(paths, run)
            said = " ".join(case.output(*paths, *arguments).split())
            for text in present:
                with self.subTest(run=run, arguments=arguments, says=text):
                    self.assertIn(text, said)
            for text in absent:
                with self.subTest(run=run, arguments=arguments, does_not_say=text):
                    self.assertNotIn(text, said)

    def test_whole_nanoseconds_add_up(self):
        # Six stages of 31 ns in two steps of 101 ns, and 16 ns of nothing.
        text = case.output(os.path.join(DATA, "time_avg_rounding.json.gz"), "--view", "answer",
                           "-f", "csv")
        times = [int(row["time_avg_ns"]) for row in csv.DictReader(text.splitlines())]
        self.assertEqual((sum(times[:-1]), times[-1]), (101, 101))

    def test_what_nsys_takes_has_nvtx_ranges_alone(self):
        path = self.path("n.sqlite")
        case.output("export", "sqlite", "--schema", "nsys", "-o", path,
                    os.path.join(DATA, "nsys_runtime_in_nvtx_sum.json.gz"))
        report = case.Report(path, "--style", "nsys")
        self.assertEqual({row[-1] for row in report.rows("nvtx_sum")},
                         {"step", "fwd", "bwd", "opt"})
        self.assertEqual(sum(row[2] for row in report.rows("cuda_api_sum")), 56)
        children = report.columns("nvtx_gpu_proj_sum").index("Avg Num Child")
        self.assertEqual({row[0]: row[children] for row in report.rows("nvtx_gpu_proj_sum")},
                         {"step": 2, "fwd": 0, "bwd": 0, "opt": 0})


if __name__ == "__main__":
    case.main()
