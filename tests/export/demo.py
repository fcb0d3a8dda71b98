#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One log of the demo through every format: what they tell of it agrees. TOOL PIPELINE CONFIG."""
import os
import sqlite3
import subprocess

import export_case
import folded_test
import otlp_test
import perfetto_test
import profile_test
import speedscope_test
from wire import fields


class Demo(export_case.Case):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        pipeline, config = export_case.REST
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("PPROF_")}
        subprocess.run([pipeline, "--config", config, "--requests", "24"], cwd=cls.folder,
                       env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        cls("run").export("sqlite", "pipeline.pplog", "-o", "pipeline.sqlite")
        cls.db = sqlite3.connect(os.path.join(cls.folder, "pipeline.sqlite"))

    @classmethod
    def tearDownClass(cls):
        cls.db.close()
        super().tearDownClass()

    def ask(self, query):
        return self.db.execute(query).fetchall()

    def read(self, name):
        return self.export(name, "pipeline.pplog", "-o", "-")[0]

    def self_times(self):
        return {name: ns for name, ns in
                self.ask("SELECT name, SUM(self_ns) FROM stage_self GROUP BY name") if ns}

    def device_times(self):
        return dict(self.ask("SELECT name, SUM(total_ns) FROM stage WHERE place = 'device'"
                             " GROUP BY name"))

    def test_there_is_something(self):
        self.assertGreater(self.ask("SELECT COUNT(*) FROM host_range")[0][0], 100)
        self.assertGreater(self.ask("SELECT COUNT(*) FROM device_range")[0][0], 100)
        self.assertEqual([(24,)], self.ask("SELECT COUNT(*) FROM request"))
        self.assertEqual([], self.ask("SELECT * FROM lost"))

    def test_folded(self):
        host, device = {}, {}
        for path, ns in folded_test.read(self.read("folded")).items():
            of = device if path.startswith("[device]") else host
            of[path.split(";")[-1]] = of.get(path.split(";")[-1], 0) + ns
        self.assertEqual((self.self_times(), self.device_times()), (host, device))

    def test_profile(self):
        host, device = {}, {}
        for stack, (_, host_ns, device_ns) in profile_test.read(self.read("profile"))[1].items():
            for of, ns in ((host, host_ns), (device, device_ns)):
                if ns:
                    of[stack[-1]] = of.get(stack[-1], 0) + ns
        self.assertEqual((self.self_times(), self.device_times()), (host, device))

    def test_perfetto(self):
        trace = perfetto_test.Trace(self.read("perfetto"))
        start_of = self.ask("SELECT base_ns FROM run")[0][0] - perfetto_test.BASE
        host = sorted((name, start - start_of, end - start_of)
                      for title, name, _, start, end, _, _, _ in trace.slices
                      if "/ " not in title or title.endswith("ends anywhere"))
        self.assertEqual(sorted(self.ask(
            "SELECT s.name, start_ns, end_ns FROM host_range r JOIN site s ON s.id = r.site")), host)
        nested = sorted((name, start - start_of, depth)
                        for title, name, _, start, _, depth, _, _ in trace.slices
                        if "/ " not in title)
        self.assertEqual(sorted(self.ask(
            "SELECT s.name, start_ns, depth FROM host_range r JOIN site s ON s.id = r.site"
            " WHERE is_loose = 0")), nested)
        self.assertEqual(self.ask("SELECT COUNT(*), SUM(value) FROM counter"),
                         [(len(trace.counters), sum(value for _, _, value in trace.counters))])
        self.assertEqual(self.ask("SELECT COUNT(*) FROM device_range WHERE start_ns IS NOT NULL")
                         [0][0], sum(1 for item in trace.slices if " / " in item[0] and
                                     not item[0].endswith(("submits", "anywhere"))))

    def test_speedscope(self):
        _, profiles = speedscope_test.read(self.read("speedscope"))
        found = sorted((name, start, end) for ranges in profiles.values()
                       for name, start, end, _ in ranges)
        self.assertEqual(sorted(self.ask("SELECT name, start_ns, end_ns FROM call")), found)

    def test_otlp(self):
        start_of = self.ask("SELECT base_ns FROM run")[0][0] - otlp_test.BASE
        found = sorted((span["name"], span["start"] - start_of, span["end"] - start_of)
                       for _, span in otlp_test.read(self.read("otlp"))[0])
        self.assertEqual(sorted(self.ask("SELECT name, start_ns, end_ns FROM call")), found)

    def test_nsys(self):
        self.export("sqlite", "--schema", "nsys", "pipeline.pplog", "-o", "nsys.sqlite")
        db = sqlite3.connect(self.path("nsys.sqlite"))
        found = db.execute('SELECT s.value, start, "end" FROM NVTX_EVENTS n JOIN StringIds s'
                           " ON s.id = n.textId WHERE eventType = 59").fetchall()
        db.close()
        self.assertEqual(sorted(self.ask(
            "SELECT s.name, start_ns, end_ns FROM host_range r JOIN site s ON s.id = r.site"
            " WHERE is_loose = 0 AND s.category != 'CudaRuntime'")), sorted(found))

    def test_packets_are_of_one_kind(self):
        self.assertEqual({1}, {number for number, _ in fields(self.read("perfetto"))})


export_case.main()
