#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which process of a trace is a device: JAX, TensorFlow, rocprof, Paddle, and what only looks so.

devices_test.py PPROF_REPORT. Figures are typed from the traces' own ranges, in microseconds.
"""
import json
import os

import case
from case import DATA, Case, Report

US = 1000


class DevicesTest(Case):
    def ask(self, name, *options):
        path = os.path.join(DATA, name)
        self.said = case.run("summary", path, *options).stderr.decode()
        return Report(path, *options)

    def devices(self, report):
        return {row[0]: row[2] for row in report.rows("device") if row[0].startswith("GPU")}

    def kernels(self, report):
        return {row[0]: (row[1], row[2]) for row in report.rows("kernel")}

    def hosts(self, report):
        return {row[0]: (row[2], row[3]) for row in report.rows("userdefined")}

    def of_device(self, report):
        return {row[0]: (row[2], row[3]) for row in report.rows("overview") if row[1] == "device"}

    def test_jax_on_a_gpu(self):
        # Its XLA lines show the same work again.
        report = self.ask("jax_gpu.json")
        self.assertEqual(self.devices(report), {"GPU0": 90 * US})
        self.assertEqual(self.kernels(report), {"gemm": (1, 60 * US), "loop_fusion": (1, 30 * US)})
        self.assertEqual(self.hosts(report), {"PjitFunction(f)": (1, 140 * US)})
        self.assertEqual(self.of_device(report), {
            "Kernel": (2, 90 * US), "Memcpy": (1, 20 * US), "GpuUserAnnotation": (3, 100 * US)})
        self.assertIn("'/device:GPU:0' is taken for device GPU0: 'Stream #20(Compute)', "
                      "'Stream #21(MemcpyH2D)'; no work of their own: 'XLA Modules', 'XLA Ops'",
                      self.said)

    def test_jax_on_a_tpu(self):
        # There are no streams: the operations are the work.
        report = self.ask("jax_tpu.json")
        self.assertEqual(self.devices(report), {"GPU0": 80 * US})
        self.assertEqual(self.kernels(report),
                         {"convolution.1": (1, 40 * US), "fusion.2": (1, 40 * US)})

    def test_tensorflow_1(self):
        # The launches, one stream, and that with all streams show the same operator.
        report = self.ask("tf1_timeline.json")
        self.assertEqual(self.devices(report), {"GPU0": 30 * US})
        self.assertEqual(self.kernels(report), {"MatMul": (1, 30 * US)})
        self.assertEqual(self.hosts(report), {"Const": (1, 10 * US)})

    def test_short_names(self):
        report = self.ask("tf1_short_names.json")
        self.assertEqual(self.devices(report), {"GPU0": 40 * US, "GPU1": 20 * US})
        self.assertEqual(self.hosts(report), {"Const": (1, 50 * US)})

    def test_rocprof(self):
        report = self.ask("rocprof.json")
        self.assertEqual(self.devices(report), {"GPU0": 14 * US, "GPU1": 9 * US})
        self.assertEqual(self.kernels(report), {"vecadd.kd": (3, 23 * US)})
        self.assertEqual(self.hosts(report), {"hipLaunchKernel": (1, 5 * US)})

    def test_copies_without_a_stream_or_an_id(self):
        report = self.ask("device_copies.json")
        step = report.find("overview", "ProfileStep", "host")
        self.assertEqual((step["time"], step["ratio"]), (100 * US, 100))
        device = report.find("device", "GPU3")
        self.assertEqual((device["busy"], device["utilization"]), (30 * US, 30))
        self.assertEqual(self.of_device(report), {
            "Kernel": (1, 30 * US), "Memcpy": (1, 10 * US), "Memset": (1, 5 * US)})
        self.assertEqual(len(report.json["inputs"]), 1)

    def test_what_only_a_host_does_is_stronger_than_a_name(self):
        report = self.ask("named_like_a_device.json")
        self.assertEqual(self.devices(report), {})
        self.assertIn("'cuda:0' has a device's name and a host's calls: it is a host; "
                      "--device-process 'cuda:0' changes that", self.said)

    def test_labels_of_other_devices(self):
        report = self.ask("device_labels.json")
        kinds = ["GPU3", "HPU0", "MTIA17", "NPU0", "PrivateUse1:0", "TPU0", "XPU0"]
        self.assertEqual({row[0]: row[2] for row in report.rows("device")[2:]},
                         {kind: 50 * US for kind in kinds})
        self.assertEqual({row[1] for row in self.kernels(report).values()}, {50 * US})
        self.assertEqual(len(report.json["inputs"]), 1)
        self.assertIn("process 'python' is taken for device MTIA17: 7", self.said)

    def test_labels_in_other_forms(self):
        def report(label, cat):
            events = [
                {"ph": "M", "name": "process_labels", "pid": 5, "args": {"labels": label}},
                {"ph": "X", "name": "op", "pid": 5, "tid": 7, "ts": 100, "dur": 50},
                {"ph": "X", "cat": cat, "name": "mm", "pid": 9, "tid": 9, "ts": 90, "dur": 100}]
            with open(self.path("label.json"), "w") as file:
                json.dump(events, file)
            return [row[0] for row in self.ask(self.path("label.json")).rows("device")[2:]]
        for label, device in (("GPU", "GPU5"), ("gpu 3 (A card)", "GPU3"), ("GPU2", "GPU2"),
                              ("CUDA 1", "GPU1"), ("NPU", "NPU5"), ("HPU: eight", "HPU5"),
                              ("PrivateUse1", "PrivateUse1:5"), ("XPU functions", "GPU7")):
            self.assertEqual(report(label, ""), [device], label)
        # Only PyTorch's labels may be of kinds that nobody knows.
        for label, device in (("Rocket 4", "Rocket4"), ("Rocket", "Rocket5"), ("Rocket4", "Rocket4")):
            self.assertEqual(report(label, "cpu_op"), [device])
            self.assertEqual(report(label, ""), [])
        for label in "CPU", "cpu 0", "A page", "loading: 5 %":
            self.assertEqual(report(label, "cpu_op"), [], label)

    def test_ascend(self):
        # What its hardware did is shown twice more, by sums of it.
        report = self.ask("ascend_trace_view.json")
        device = report.find("device", "NPU0")
        self.assertEqual((device["busy"], device["utilization"]), (6000 * US, 60))
        self.assertEqual(self.kernels(report), {"MatMulV2": (10, 6000 * US)})
        self.assertIn("'Communication' is taken for device NPU0; no work of their own", self.said)

    def test_the_first_profiler_of_pytorch(self):
        report = self.ask("legacy_autograd.json")
        self.assertEqual(self.devices(report), {"GPU0": 122 * US})
        self.assertEqual(self.kernels(report), {"mul": (4, 122 * US)})
        self.assertEqual(self.hosts(report), {"mul": (4, 241 * US)})
        # The arrows lead to launches, and make no requests.
        self.assertEqual(report.find("userdefined", "mul")["device_total"], 122 * US)

    def test_lines_that_are_not_known_beside_those_that_are(self):
        for name in "Async XLA Ops", "Something new":
            with open(os.path.join(DATA, "jax_tpu_no_async_line.json")) as file:
                trace = json.load(file)
            trace["traceEvents"] += [
                {"ph": "M", "pid": 3, "tid": 30, "name": "thread_name", "args": {"name": name}},
                {"ph": "X", "pid": 3, "tid": 30, "name": "copy-start", "ts": 150, "dur": 840}]
            with open(self.path("more.json"), "w") as file:
                json.dump(trace, file)
            for path in os.path.join(DATA, "jax_tpu_no_async_line.json"), self.path("more.json"):
                self.assertEqual(self.devices(self.ask(path)), {"GPU0": 4000 * US})
        self.assertIn("'Framework Name Scope', 'Source code', 'Something new'", self.said)

    def test_told_by_a_pattern(self):
        report = self.ask("named_like_a_device.json", "--device-process", "accelerator*")
        self.assertEqual(self.devices(report), {"GPU5": 10 * US})
        self.assertIn("'accelerator board 5' is taken for device GPU5", self.said)

    def test_a_pattern_that_fits_nothing(self):
        self.ask("named_like_a_device.json", "--device-process", "nothing*")
        self.assertIn("--device-process 'nothing*': no process of", self.said)


if __name__ == "__main__":
    case.main()
