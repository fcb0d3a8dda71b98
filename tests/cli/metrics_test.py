#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pprof-report metrics` and `metrics.file` before the real Prometheus:
metrics_test.py TOOL RUN_CHILD DASHBOARD PIPELINE.

Each wait ends when what it waits for is there; a hang ends with the test's time."""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

TOOL, RUN_CHILD, DASHBOARD, PIPELINE = map(os.path.abspath, sys.argv[1:5])
del sys.argv[1:5]
SCRAPE = """
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: pprof
    static_configs: [{targets: ["%s"]}]
"""


def has_server():
    try:
        return bool(ctypes.CDLL("libmicrohttpd.so.12"))
    except OSError:
        return False


class Metrics(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith("PPROF_")}
        self.env.update(XDG_RUNTIME_DIR=self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, settings=""):
        child = subprocess.Popen([RUN_CHILD, "start", "touch=ready", "steps-until=enough", "stop"],
                                 cwd=self.folder, env=dict(
                                     self.env, PPROF_SET="log=false;report=stderr;" + settings),
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, child)
        while not os.path.exists(self.path("ready")):
            pass
        return child

    def end(self, child):
        open(self.path("enough"), "w", encoding="utf-8").close()
        self.assertEqual(child.wait(), 0)

    def serve(self, *words):
        server = subprocess.Popen([TOOL, "metrics", "--listen", "127.0.0.1:0", *words],
                                  env=self.env, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        address = server.stderr.readline().partition("http://")[2].partition("/")[0]
        self.assertRegex(address, r"^127\.0\.0\.1:\d+$")
        return server, address

    def get(self, address, path="/metrics", **headers):
        request = urllib.request.Request("http://%s%s" % (address, path), headers=headers)
        with urllib.request.urlopen(request) as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    def wait_for(self, address, *texts):
        while True:
            text = self.get(address)[1]
            if all(one in text for one in texts):
                return text

    def check(self, text):
        """Prometheus' own opinion of names, types and format."""
        if shutil.which("promtool"):
            done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    @unittest.skipUnless(has_server(), "libmicrohttpd is not installed")
    def test_served(self):
        child = self.program()
        server, address = self.serve()  # no operand: whatever runs
        text = self.wait_for(address, 'pid="%d",process="run_child",stage="stage"' % child.pid)
        self.check(text)
        kind, more = self.get(address, Accept="application/openmetrics-text;version=1.0.0")
        self.assertIn("application/openmetrics-text", kind)
        self.assertTrue(more.endswith("# EOF\n"))
        for path, status in ("/", 404), ("/metrics/x", 404):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.get(address, path)
            self.assertEqual(caught.exception.code, status)
            caught.exception.close()
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)

    def test_file(self):
        """Whole at each moment, and written once more at the stop."""
        child = self.program("metrics={file: x.prom, every: 100ms, buckets: 1ms 10ms}")
        seen = 0
        while seen < 3:
            if not os.path.exists(self.path("x.prom")):
                continue
            with open(self.path("x.prom"), encoding="utf-8") as file:
                text = file.read()
            self.assertTrue(text.endswith("\n") and "pprof_collector_cpu_seconds_total{" in text)
            seen += 'stage="stage"' in text
        self.check(text)
        self.assertIn('timed="host",le="0.01"}', text)
        busy = re.search(r"^pprof_thread_busy_seconds_total\{.*,thread=.*\} (\S+)$", text, re.M)
        self.assertGreater(float(busy.group(1)), 0, text)
        self.end(child)
        with open(self.path("x.prom"), encoding="utf-8") as file:
            self.assertIn('pprof_recording{pid="%d",process="run_child"} 0\n' % child.pid,
                          file.read())

    @unittest.skipUnless(has_server() and shutil.which("prometheus"), "prometheus is not installed")
    def test_scraped(self):
        """Prometheus scrapes it, and each panel of the dashboard has its answer."""
        pipeline = subprocess.Popen([PIPELINE, "--device", "cpu", "--requests", "100000"],
                                    env=dict(self.env, PPROF_SET="log=false;report=stderr"),
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(pipeline.wait)
        self.addCleanup(pipeline.kill)
        _, address = self.serve()
        with open(self.path("prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(SCRAPE % address)
        with open(self.path("said"), "w", encoding="utf-8") as said:
            prometheus = subprocess.Popen(
                ["prometheus", "--config.file", self.path("prometheus.yml"),
                 "--web.listen-address", "127.0.0.1:0", "--storage.tsdb.path", self.path("data"),
                 "--enable-feature=exemplar-storage"], stdout=subprocess.DEVNULL, stderr=said)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.kill)
        found = None
        while not found:
            with open(self.path("said"), encoding="utf-8") as said:
                found = re.search(r'"Listening on" .*?address=(\S+)\n', said.read())
        own = found[1]

        def query(expression):
            try:
                text = self.get(own, "/api/v1/query?" + urllib.parse.urlencode(
                    {"query": expression}))[1]
            except (urllib.error.URLError, ConnectionError):
                return []  # it is not up yet
            answer = json.loads(text)
            self.assertEqual(answer["status"], "success", expression)
            return answer["data"]["result"]

        while not query('up{job="pprof"} == 1'):
            pass
        with open(DASHBOARD, encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        self.assertEqual(len(panels), 12)
        for panel in panels:
            for target in panel["targets"]:
                expression = target["expr"].replace("$__rate_interval", "1m").replace(
                    "$process", ".*")
                while not query(expression):
                    pass


if __name__ == "__main__":
    unittest.main()
