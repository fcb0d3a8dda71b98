#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The worked examples of the reference through the command line, from traces in Paddle's layout.

worked_examples_test.py PPROF_REPORT. One step of 100 ms unless said. Every value is typed from the
definition; none is our output. Where docs/tables.md differs from Paddle, a comment has Paddle's.
"""
import os

import case
from case import DATA, Case, Report
from traces import MS, PaddleTrace

US = 1000


class Example(Case):
    def trace(self, step=100 * MS):
        trace = PaddleTrace()
        if step:
            trace.step(0, step)
        return trace

    def report(self, trace, *arguments):
        return Report(self.written(trace), *arguments)

    def check(self, report, view, key, **cells):
        """Cells of the row that begins with `key`; times in ns."""
        row = report.find(view, *key)
        found = {name: row[name] for name in cells}
        for name, value in cells.items():
            if isinstance(value, float):
                self.assertAlmostEqual(found[name], value, places=6, msg=f"{view} {key} {name}")
                found[name] = value
        self.assertEqual(found, cells, f"{view} {key}")

    def check_overview(self, report, name, part, calls, time, ratio):
        self.check(report, "overview", (name, part), calls=calls, time=time, ratio=ratio)

    def check_spread(self, report, view, key, side, total, avg, most, least):
        self.check(report, view, key, **{f"{side}_total": total, f"{side}_avg": avg,
                                         f"{side}_max": most, f"{side}_min": least})

    def check_distributed(self, report, *rows):
        found = [(row[0], row[1], row[3]) for row in report.rows("distributed")]
        self.assertEqual(found, [(name, part, time) for name, part, time in rows])


class HostTest(Example):
    def test_e1_touching_ranges(self):
        trace = self.trace()
        trace.host("a", "Operator", 10 * MS, 20 * MS)
        trace.host("a", "Operator", 20 * MS, 30 * MS)
        report = self.report(trace)
        self.check_overview(report, "Operator", "host", 2, 20 * MS, 20.0)
        self.check(report, "operator", ("a", None), calls=2, cpu_ratio=100.0)
        self.check_spread(report, "operator", ("a", None), "cpu", 20 * MS, 10 * MS, 10 * MS,
                          10 * MS)

    def test_e2_nested_ranges_of_one_type(self):
        trace = self.trace()
        trace.host("A", "Operator", 10 * MS, 50 * MS)
        trace.host("B", "Operator", 20 * MS, 30 * MS)
        report = self.report(trace)
        self.check_overview(report, "Operator", "host", 2, 40 * MS, 40.0)
        self.check(report, "operator", ("A", None), calls=1, cpu_total=40 * MS, cpu_ratio=80.0,
                   cpu_self=30 * MS)
        self.check(report, "operator", ("B", None), calls=1, cpu_total=10 * MS, cpu_ratio=20.0,
                   cpu_self=10 * MS)

    def test_e3_identical_ranges_on_two_threads(self):
        trace = self.trace()
        for tid in (100, 200):
            trace.host("Forward", "Forward", 10 * MS, 30 * MS, tid)
            trace.host("a", "Operator", 10 * MS, 30 * MS, tid)
        report = self.report(trace)
        self.check_overview(report, "Operator", "host", 2, 20 * MS, 20.0)
        self.check_overview(report, "Forward", "host", 2, 20 * MS, 20.0)  # Paddle: 40.00, the sum
        self.check(report, "model", ("Forward",), calls=2, cpu_ratio=40.0)
        self.check_spread(report, "model", ("Forward",), "cpu", 40 * MS, 20 * MS, 20 * MS, 20 * MS)

    def test_e4_zero_length(self):
        trace = self.trace()
        for start, end in ((10, 10), (10, 20), (30, 30)):
            trace.host("a", "Operator", start * MS, end * MS)
        report = self.report(trace)
        self.check_overview(report, "Operator", "host", 3, 10 * MS, 10.0)
        self.check_spread(report, "operator", ("a", None), "cpu", 10 * MS, 3333333, 10 * MS, 0)

    def test_e5_unsorted_across_threads(self):
        trace = self.trace()
        for tid, start, end in ((1, 40, 60), (1, 10, 20), (2, 15, 45), (2, 60, 70)):
            trace.host("a", "Operator", start * MS, end * MS, 100 + tid)
        report = self.report(trace, "--thread-sep")
        self.check_overview(report, "Operator", "host", 4, 60 * MS, 60.0)
        threads = sorted((row[2].split(": ")[1], row[3], row[4]) for row in report.rows("operator"))
        self.assertEqual(threads, [("101", 2, 30 * MS), ("102", 2, 40 * MS)])

    def test_e8_tiny_ranges(self):
        for length, union, ratio in ((100, 1 * MS, 1.0), (1000, 10 * MS, 10.0)):
            trace = self.trace()
            for i in range(10000):
                trace.host("tiny", "Operator", i * US, i * US + length)
            path = self.written(trace)
            report = Report(path)
            self.check_overview(report, "Operator", "host", 10000, union, ratio)
            self.check_spread(report, "operator", ("tiny", None), "cpu", 10000 * length, length,
                              length, length)
            if length == 100:
                for unit, cell in (("ms", "1.00 / 0.00 / 0.00 / 0.00"),
                                   ("us", "1000.00 / 0.10 / 0.10 / 0.10")):
                    text = case.output("summary", path, "--view", "operator", "--wide", "--time-unit",
                                       unit)
                    self.assertIn(cell, text)

    def test_e14_utilisation(self):
        trace = self.trace()
        trace.extra = {"System Cpu Utilization": "0.600000", "Process Cpu Utilization": "2.000000"}
        report = self.report(trace)
        self.check(report, "device", ("CPU(Process)",), utilization=200.0)
        self.check(report, "device", ("CPU(System)",), utilization=60.0)

    def test_e19_negative_length(self):
        trace = self.trace()
        trace.host("a", "Operator", 10 * MS, 5 * MS)
        report = self.report(trace)
        self.check_overview(report, "Operator", "host", 1, 0, 0.0)  # Paddle: -5
        self.assertEqual(report.json["trust"]["invalid"], 1)

    def test_e19_partial_overlap(self):
        trace = self.trace()
        trace.host("a", "Operator", 0, 10 * MS)
        trace.host("b", "Operator", 5 * MS, 15 * MS)
        report = self.report(trace)  # Paddle: aborts
        self.check_overview(report, "Operator", "host", 2, 15 * MS, 15.0)
        self.check(report, "operator", ("a", None), calls=1, cpu_total=10 * MS, cpu_self=10 * MS)
        self.check(report, "operator", ("b", None), calls=1, cpu_total=10 * MS)


class DeviceTest(Example):
    def test_e6_streams_of_one_device(self):
        trace = self.trace()
        trace.host("Forward", "Forward", 0, 5 * MS)
        for i, (stream, start, end) in enumerate(((7, 10, 30), (7, 50, 60), (8, 20, 40))):
            trace.launch("k", (i + 1) * MS, start * MS, end * MS, stream=stream)
        report = self.report(trace)
        self.check_overview(report, "Kernel", "device", 3, 40 * MS, 40.0)
        self.check(report, "device", ("GPU0",), busy=40 * MS, utilization=40.0)
        self.check(report, "kernel", ("k",), calls=3, device_ratio=100.0)
        self.check_spread(report, "kernel", ("k",), "device", 50 * MS, 16666667, 20 * MS, 10 * MS)
        self.check(report, "model", ("Forward",), device_total=50 * MS, device_ratio=100.0)

    def test_e7_two_devices(self):
        trace = self.trace()
        trace.launch("k", 1 * MS, 10 * MS, 30 * MS, device=0)
        trace.launch("k", 2 * MS, 20 * MS, 50 * MS, device=1)
        report = self.report(trace)
        self.check(report, "device", ("GPU0",), busy=20 * MS, utilization=20.0)
        self.check(report, "device", ("GPU1",), busy=30 * MS, utilization=30.0)
        self.check_overview(report, "Kernel", "device", 2, 40 * MS, 40.0)

    def test_e15_paddles_first_unit_test(self):
        """Its nanoseconds as microseconds, which is what such a trace can say."""
        trace = self.trace(400 * US)
        trace.host("Forward", "Forward", 20 * US, 50 * US)
        trace.host("Forward", "Forward", 50 * US, 110 * US)
        trace.host("conv2d", "Operator", 25 * US, 40 * US)
        trace.host("bn", "Operator", 60 * US, 100 * US)
        for start, end in ((100, 110), (35, 40), (90, 100)):
            trace.host("u", "UserDefined", start * US, end * US)
        trace.launch("conv", 30 * US, 35 * US, 50 * US)
        trace.launch("copy", 31 * US, 60 * US, 70 * US, category="Memcpy")
        trace.launch("bn_k", 65 * US, 95 * US, 155 * US)
        report = self.report(trace)
        for name, calls, time in (("UserDefined", 3, 25), ("Operator", 2, 55), ("Forward", 2, 90)):
            self.check(report, "overview", (name, "host"), calls=calls, time=time * US)
        self.check(report, "overview", ("Kernel", "device"), calls=2, time=75 * US)
        self.check(report, "operator", ("conv2d", None), device_total=25 * US)
        # The phases have kernels alone: 15 of the first Forward, 60 of the second.
        self.check_spread(report, "model", ("Forward",), "device", 75 * US, 37500, 60 * US, 15 * US)

    def test_e17_stray_kernel(self):
        trace = self.trace()
        trace.launch("k", 5 * MS, 10 * MS, 30 * MS, tid=300)
        report = self.report(trace)
        self.check(report, "kernel", ("k",), calls=1, device_total=20 * MS)
        # Paddle: in neither of the two.
        self.check(report, "device", ("GPU0",), busy=20 * MS, utilization=20.0)
        self.check_overview(report, "Kernel", "device", 1, 20 * MS, 20.0)


class DistributedTest(Example):
    def test_e9_paddles_second_unit_test(self):
        """Its nanoseconds as microseconds."""
        trace = self.trace(400 * US)
        trace.host("Forward", "Forward", 0, 220 * US)
        for start, end in ((105, 110), (105, 108), (230, 250)):
            trace.host("c", "Communication", start * US, end * US)
        for at, start, end in ((106, 105, 120), (107, 130, 150), (231, 250, 280)):
            trace.launch("ncclAllReduce", at * US, start * US, end * US, stream=13)
        trace.launch("k", 1 * US, 35 * US, 50 * US)
        trace.launch("k", 2 * US, 95 * US, 300 * US)
        trace.launch("copy", 3 * US, 50 * US, 60 * US, stream=0, category="Memcpy")
        trace.launch("copy", 4 * US, 150 * US, 200 * US, stream=1, category="Memcpy")
        expected = (("ProfileStep", "all", 400 * US), ("Communication", "all", 85 * US),
                    ("Computation", "all", 220 * US), ("Overlap", "all", 85 * US),
                    ("Exposed", "all", 0))
        report = self.report(trace)
        # Kernels alone communicate (105,120), (130,150), (250,280), all under (95,300).
        self.check_distributed(report, *expected, ("Communication", "device", 65 * US),
                               ("Overlap", "device", 65 * US), ("Exposed", "device", 0))
        self.check(report, "distributed", ("Communication", "all"), ratio=21.25)
        self.check(report, "distributed", ("Computation", "all"), ratio=55.0)
        self.check(report, "overview", ("Memcpy", "device"), calls=2, time=60 * US)
        self.check(report, "overview", ("Kernel", "device"), calls=5, time=220 * US)
        self.check_distributed(self.report(trace, "--distributed", "paddle"), *expected)

    def test_e10_partial_overlap(self):
        trace = self.trace()
        trace.host("c", "Communication", 10 * MS, 30 * MS)
        trace.launch("ncclAllReduce", 35 * MS, 40 * MS, 70 * MS, stream=13)
        for at, stream, start, end in ((1, 1, 0, 20), (2, 1, 60, 65), (3, 2, 15, 50)):
            trace.launch("k", at * MS, start * MS, end * MS, stream=stream)
        expected = (("ProfileStep", "all", 100 * MS), ("Communication", "all", 50 * MS),
                    ("Computation", "all", 55 * MS), ("Overlap", "all", 35 * MS),
                    ("Exposed", "all", 15 * MS))
        # The device alone communicates (40,70); the kernels cover (40,50) and (60,65) of it.
        self.check_distributed(self.report(trace), *expected, ("Communication", "device", 30 * MS),
                               ("Overlap", "device", 15 * MS), ("Exposed", "device", 15 * MS))
        self.check_distributed(self.report(trace, "--distributed", "paddle"), *expected)

    def test_e11_touching(self):
        trace = self.trace()
        trace.host("c", "Communication", 10 * MS, 20 * MS)
        trace.launch("k", 5 * MS, 20 * MS, 30 * MS)
        self.check_distributed(
            self.report(trace), ("ProfileStep", "all", 100 * MS),
            ("Communication", "all", 10 * MS), ("Computation", "all", 10 * MS),
            ("Overlap", "all", 0), ("Exposed", "all", 10 * MS),
            ("Communication", "device", 0), ("Overlap", "device", 0), ("Exposed", "device", 0))

    def test_e12_self_overlap(self):
        trace = self.trace()
        trace.host("c", "Communication", 10 * MS, 20 * MS)
        trace.host("inner", "OperatorInner", 11 * MS, 19 * MS)
        trace.launch("concat", 12 * MS, 30 * MS, 40 * MS)
        self.check_distributed(
            self.report(trace), ("ProfileStep", "all", 100 * MS),
            ("Communication", "all", 10 * MS), ("Computation", "all", 10 * MS),
            ("Overlap", "all", 0), ("Exposed", "all", 10 * MS),
            ("Communication", "device", 0), ("Overlap", "device", 0), ("Exposed", "device", 0))
        # Paddle's profiler takes the kernel for both, and finds that it overlaps itself.
        self.check_distributed(
            self.report(trace, "--distributed", "paddle"), ("ProfileStep", "all", 100 * MS),
            ("Communication", "all", 20 * MS), ("Computation", "all", 10 * MS),
            ("Overlap", "all", 10 * MS), ("Exposed", "all", 10 * MS))


class PerfTest(Example):
    BATCHES = [100 * MS] * 9 + [500 * MS, 100 * MS, 300 * MS]
    READERS = [10 * MS] * 10 + [20 * MS, 40 * MS]

    def steps(self, num, items=0):
        trace, at = self.trace(step=0), 0
        for i in range(num):
            trace.step(at, at + self.BATCHES[i], i, items=items)
            trace.host("DataLoader", "Dataloader", at, at + self.READERS[i])
            at += self.BATCHES[i]
        return trace

    def test_e13_correct_column(self):
        report = self.report(self.steps(12))
        self.check(report, "perf", ("batch_cost",), unit="ns", avg=200 * MS, max=300 * MS,
                   min=100 * MS)
        self.check(report, "perf", ("reader_cost",), unit="ns", avg=30 * MS, max=40 * MS,
                   min=20 * MS)
        self.check(report, "perf", ("ips",), unit="steps/s", avg=5.0, max=10.0, min=3.333333)
        self.check(report, "perf", ("reader_ratio",), unit="%", avg=15.0)
        text = case.output("summary", self.path("trace.json"), "--view", "perf", "--wide")
        lines = [" ".join(line.split()) for line in text.splitlines()]
        for line in ("Reader Ratio: 15.000%", "Time Unit: s, IPS Unit: steps/s",
                     "| reader_cost | 0.03000 | 0.04000 | 0.02000 |",
                     "| batch_cost | 0.20000 | 0.30000 | 0.10000 |",
                     "| ips | 5.00000 | 10.00000 | 3.33333 |"):
            self.assertIn(line, lines)

    def test_e13_samples(self):
        # 2 x 32 in 0.4 s; 32 in 0.1 s; 32 in 0.3 s.
        self.check(self.report(self.steps(12, items=32)), "perf", ("ips",), unit="samples/s",
                   avg=160.0, max=320.0, min=106.666667)

    def test_e13_ten_steps(self):
        report = self.report(self.steps(10))
        self.assertEqual(report.rows("perf"), [])
        self.assertTrue(report.json["views"]["perf"]["reason"])


class MemoryTest(Example):
    def test_e16_counts_and_sizes(self):
        trace = self.trace()
        trace.host("m", "Operator", 10 * MS, 20 * MS)
        level = 0
        for i, (kind, change) in enumerate((("Allocate", 100), ("Allocate", 50), ("Free", -30))):
            level += change
            trace.memory(kind, (11 + i) * MS, change, level, 0)
        row = self.report(trace).find("memory", "m")
        self.assertEqual((row["type"], row["allocation_count"], row["free_count"],
                          row["allocation_size"], row["free_size"], row["increased_size"]),
                         ("Allocated", 2, 1, 150, 30, 120))


# Section 1.6 of the reference with its values. Rows of equal time are in order of their names.
SCENARIO_S = {
    "device": """
-------------------Device Summary-------------------
------------------------------  --------------------
Device                          Utilization (%)
------------------------------  --------------------
CPU(Process)                    131.00
CPU(System)                     22.50
GPU0                            74.00
------------------------------  --------------------
""",
    # The operator and the kernel that communicate are told by their names, as Paddle does. The
    # device part is ordered by time.
    "overview": """
---------------------------------------------Overview Summary---------------------------------------------
Time unit: ms
-------------------------  -------------------------  -------------------------  -------------------------
Event Type                 Calls                      CPU Time                   Ratio (%)
-------------------------  -------------------------  -------------------------  -------------------------
ProfileStep                2                          100.00                     100.00
  Operator                 10                         56.00                      56.00
  Backward                 2                          30.00                      30.00
  Forward                  2                          30.00                      30.00
  Optimization             2                          14.00                      14.00
  CudaRuntime              12                         11.00                      11.00
  Dataloader               2                          10.00                      10.00
  OperatorInner            2                          8.00                       8.00
  PythonUserDefined        2                          8.00                       8.00
  Communication            2                          6.00                       6.00
  UserDefined              2                          2.00                       2.00
-------------------------  -------------------------  -------------------------  -------------------------
                           Calls                      GPU Time                   Ratio (%)
-------------------------  -------------------------  -------------------------  -------------------------
  Kernel                   10                         74.00                      74.00
  Communication            2                          20.00                      20.00
  Memcpy                   2                          4.00                       4.00
-------------------------  -------------------------  -------------------------  -------------------------
""",
    "model": """
-----------------------------------------------Model Summary-----------------------------------------------
Time unit: ms
---------------  ------  ----------------------------------------  ----------------------------------------
Name             Calls   CPU Total / Avg / Max / Min / Ratio(%)    GPU Total / Avg / Max / Min / Ratio(%)
---------------  ------  ----------------------------------------  ----------------------------------------
ProfileStep      2       100.00 / 50.00 / 50.00 / 50.00 / 100.00   86.00 / 43.00 / 43.00 / 43.00 / 100.00
  Dataloader     2       10.00 / 5.00 / 5.00 / 5.00 / 10.00        0.00 / 0.00 / 0.00 / 0.00 / 0.00
  Forward        2       30.00 / 15.00 / 15.00 / 15.00 / 30.00     32.00 / 16.00 / 16.00 / 16.00 / 37.21
  Backward       2       30.00 / 15.00 / 15.00 / 15.00 / 30.00     48.00 / 24.00 / 24.00 / 24.00 / 55.81
  Optimization   2       14.00 / 7.00 / 7.00 / 7.00 / 14.00        6.00 / 3.00 / 3.00 / 3.00 / 6.98
  Others         -       16.00 / - / - / - / 16.00                 0.00 / - / - / - / 0.00
---------------  ------  ----------------------------------------  ----------------------------------------
""",
    # Exposed: 26.00 - 18.00. The device alone: ncclAllReduce (34,44) under (26,40).
    "distributed": """
-----------------------------Distribution Summary------------------------------
Time unit: ms
-------------------------  -------------------------  -------------------------
Name                       Total Time                 Ratio (%)
-------------------------  -------------------------  -------------------------
ProfileStep                100.00                     100.00
  Communication            26.00                      26.00
  Computation              66.00                      66.00
  Overlap                  18.00                      18.00
""",
    "operator": """
----------------------------------------------------------------------Operator Summary----------------------------------------------------------------------
Time unit: ms
----------------------------------------------------  ------  ----------------------------------------  ----------------------------------------  ----------
Name                                                  Calls   CPU Total / Avg / Max / Min / Ratio(%)    GPU Total / Avg / Max / Min / Ratio(%)    FLOPs
----------------------------------------------------  ------  ----------------------------------------  ----------------------------------------  ----------
-----------------------------------------------------------------Thread: All threads merged-----------------------------------------------------------------
matmul_grad                                           2       20.00 / 10.00 / 10.00 / 10.00 / 35.71     28.00 / 14.00 / 14.00 / 14.00 / 32.56     -
  gemm_bw                                             2       - / - / - / - / -                         28.00 / 14.00 / 14.00 / 14.00 / 100.00    -
matmul                                                2       12.00 / 6.00 / 6.00 / 6.00 / 21.43        24.00 / 12.00 / 12.00 / 12.00 / 27.91     -
  matmul compute                                      2       8.00 / 4.00 / 4.00 / 4.00 / 66.67         24.00 / 12.00 / 12.00 / 12.00 / 100.00    -
    gemm_k                                            2       - / - / - / - / -                         24.00 / 12.00 / 12.00 / 12.00 / 100.00    -
adam                                                  2       10.00 / 5.00 / 5.00 / 5.00 / 17.86        6.00 / 3.00 / 3.00 / 3.00 / 6.98          -
  adam_k                                              2       - / - / - / - / -                         6.00 / 3.00 / 3.00 / 3.00 / 100.00        -
relu                                                  2       8.00 / 4.00 / 4.00 / 4.00 / 14.29         8.00 / 4.00 / 4.00 / 4.00 / 9.30          -
  relu_k                                              2       - / - / - / - / -                         8.00 / 4.00 / 4.00 / 4.00 / 100.00        -
c_allreduce_sum                                       2       6.00 / 3.00 / 3.00 / 3.00 / 10.71         20.00 / 10.00 / 10.00 / 10.00 / 23.26     -
  ncclAllReduce                                       2       - / - / - / - / -                         20.00 / 10.00 / 10.00 / 10.00 / 100.00    -
----------------------------------------------------  ------  ----------------------------------------  ----------------------------------------  ----------
""",
    "kernel": """
---------------------------------------------------------------Kernel Summary---------------------------------------------------------------
Time unit: ms
------------------------------------------------------------------------------------------  ------  ----------------------------------------
Name                                                                                        Calls   GPU Total / Avg / Max / Min / Ratio(%)
------------------------------------------------------------------------------------------  ------  ----------------------------------------
gemm_bw                                                                                     2       28.00 / 14.00 / 14.00 / 14.00 / 32.56
gemm_k                                                                                      2       24.00 / 12.00 / 12.00 / 12.00 / 27.91
ncclAllReduce                                                                               2       20.00 / 10.00 / 10.00 / 10.00 / 23.26
relu_k                                                                                      2       8.00 / 4.00 / 4.00 / 4.00 / 9.30
adam_k                                                                                      2       6.00 / 3.00 / 3.00 / 3.00 / 6.98
------------------------------------------------------------------------------------------  ------  ----------------------------------------
""",
    "memory_manipulation": """
--------------------------------------------Memory Manipulation Summary--------------------------------------------
Time unit: ms
-----------------------  ------  ----------------------------------------  ----------------------------------------
Name                     Calls   CPU Total / Avg / Max / Min / Ratio(%)    GPU Total / Avg / Max / Min / Ratio(%)
-----------------------  ------  ----------------------------------------  ----------------------------------------
GpuMemcpyAsync:CPU->GPU  2       2.00 / 1.00 / 1.00 / 1.00 / 2.00          4.00 / 2.00 / 2.00 / 2.00 / 4.44
""",
    "userdefined": """
----------------------------------------UserDefined Summary-----------------------------------------
Time unit: ms
--------  ------  ----------------------------------------  ----------------------------------------
Name      Calls   CPU Total / Avg / Max / Min / Ratio(%)    GPU Total / Avg / Max / Min / Ratio(%)
--------  ------  ----------------------------------------  ----------------------------------------
-------------------------------------Thread: All threads merged-------------------------------------
postproc  2       8.00 / 4.00 / 4.00 / 4.00 / 8.00          0.00 / 0.00 / 0.00 / 0.00 / 0.00
""",
}


class ScenarioSTest(Case):
    PATH = os.path.join(DATA, "paddle_scenario_s.json")

    def check(self, view, *arguments):
        """Our table begins with the reference's lines."""
        text = case.output("summary", self.PATH, "--view", view, "--wide", *arguments)
        expected = SCENARIO_S[view].strip("\n").splitlines()
        self.assertEqual(text.splitlines()[:len(expected)], expected)
        return text

    def test_e18_device(self):
        self.check("device")

    def test_e18_overview(self):
        self.check("overview")

    def test_e18_model(self):
        self.check("model")

    def test_e18_distributed(self):
        text = self.check("distributed")
        self.assertIn("  Exposed                  8.00                       8.00\n", text)

    def test_e18_distributed_as_paddle_has_it(self):
        self.check("distributed", "--distributed", "paddle")

    def test_e18_operator(self):
        self.check("operator", "--op-detail")

    def test_e18_kernel(self):
        self.check("kernel")

    def test_e18_memory_manipulation(self):
        self.check("memory_manipulation")

    def test_e18_userdefined(self):
        self.check("userdefined")

    def test_e18_memory(self):
        text = case.output("summary", self.PATH, "--view", "memory", "--wide")
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip("- ")]
        # "Allocation Count" is wider than Paddle's column; ours is as wide as its heading.
        self.assertEqual([lines[0].strip("-")] + lines[1:6], [
            "Memory Summary - Place(gpu:0)",
            "Peak Allocated Memory: 800",
            "Peak Reserved Memory: 1024",
            "Name Type Allocation Count Free Count Allocation Size Free Size Increased Size",
            "matmul Allocated 2 1 150 30 120",
            "ProfileStep Reserved 1 0 1024 0 1024",  # Paddle: ProfileStep#0
        ])

    def test_e18_unions_and_sums(self):
        report = Report(self.PATH)
        kernels = [row[2] for row in report.rows("kernel")]
        self.assertEqual(sum(kernels), 86 * MS)
        self.assertEqual(report.find("overview", "Kernel", "device")["time"], 74 * MS)
        self.assertEqual(report.find("model", "Others")["cpu_total"], 16 * MS)


if __name__ == "__main__":
    case.main()
