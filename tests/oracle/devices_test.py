#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which process of a trace is a device: JAX, TensorFlow, rocprof, Paddle, and what only looks so.

devices_test.py PPROF_REPORT. Figures are typed from the traces' own ranges, in microseconds.
"""
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
        self.assertIn("'cuda:0' is called like a device and does what only a host does: "
                      "it is taken for a host; --device-process 'cuda:0' changes that", self.said)

    def test_told_by_a_pattern(self):
        report = self.ask("named_like_a_device.json", "--device-process", "accelerator*")
        self.assertEqual(self.devices(report), {"GPU5": 10 * US})
        self.assertIn("'accelerator board 5' is taken for device GPU5", self.said)

    def test_a_pattern_that_fits_nothing(self):
        self.ask("named_like_a_device.json", "--device-process", "nothing*")
        self.assertIn("--device-process 'nothing*': no process of", self.said)


if __name__ == "__main__":
    case.main()
