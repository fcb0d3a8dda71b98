#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/serving: what the report says of its requests lies within what the program saw itself.

It prints the times just before and after each marker. So each of its times lies between two
bounds, and a sum of them between two sums, up to how far the two clocks may drift apart."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SERVER, REPORT = (os.path.abspath(path) for path in sys.argv[1:3])
ARRIVED, SCHEDULED, FIRST, LAST, ENDED = range(5)
DRIFT = 0.001  # of a time: far more than the error of either clock


class ServingExample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "server.pplog")
            done = subprocess.run([SERVER], check=True, text=True, stdout=subprocess.PIPE,
                                  env=dict(os.environ, PPROF_OUTPUT=log, PPROF_QUIET="1"))
            written = subprocess.run([REPORT, "-f", "json", "--slo", "ttft=40ms", log], check=True,
                                     text=True, stdout=subprocess.PIPE).stdout
            trace = os.path.join(folder, "server.json")
            subprocess.run([REPORT, "trace", "-o", trace, log], check=True)
            again = subprocess.run([REPORT, "-f", "json", "--slo", "ttft=40ms", trace], check=True,
                                   text=True, stdout=subprocess.PIPE).stdout
        cls.requests = {}
        for line in done.stdout.splitlines():
            name, tokens, *times = line.split()
            times = [int(time) for time in times]
            cls.requests.setdefault(name, []).append(
                (int(tokens), list(zip(times[::2], times[1::2]))))
        view = json.loads(written)["views"]["serving"]
        cls.view, cls.view_of_trace = view, json.loads(again)["views"]["serving"]
        names = [column["name"] for column in view["columns"]]
        rows = [dict(zip(names, row)) for row in view["rows"]]
        cls.rows = {(row["name"], row["measure"]): row for row in rows}

    def check(self, measure, begin, end):
        for name, requests in self.requests.items():
            row = self.rows[name, measure]
            self.assertEqual(row["n"], len(requests))
            least = sum(max(times[end][0] - times[begin][1], 0) for _, times in requests)
            most = sum(times[end][1] - times[begin][0] for _, times in requests)
            total = row["avg"] * row["n"]
            self.assertGreaterEqual(total, least * (1 - DRIFT) - row["n"], (name, measure))
            self.assertLessEqual(total, most * (1 + DRIFT) + row["n"], (name, measure))

    def test_times(self):
        self.check("end to end", ARRIVED, ENDED)
        self.check("queue", ARRIVED, SCHEDULED)
        self.check("prefill", SCHEDULED, FIRST)
        self.check("TTFT", ARRIVED, FIRST)
        self.check("decode", FIRST, LAST)

    def test_trace_says_the_same(self):
        self.assertEqual(self.view, self.view_of_trace)

    def test_tokens(self):
        for name, prompt in (("chat", 100), ("summary", 2000)):
            row, requests = self.rows[name, "end to end"], self.requests[name]
            self.assertEqual(row["requests"], len(requests))
            self.assertEqual(row["tokens_in"], prompt * len(requests))
            self.assertEqual(row["tokens_out"], sum(tokens for tokens, _ in requests))
            self.assertEqual(self.rows[name, "ITL"]["n"],
                             sum(tokens - 1 for tokens, _ in requests))
            self.assertEqual((row["cut"], row["without_tokens"], row["unequal"]), (0, 0, 0))

    def test_good_ones(self):
        bound = 40_000_000
        for name, requests in self.requests.items():
            sure = sum(times[FIRST][1] - times[ARRIVED][0] <= bound * (1 - DRIFT)
                       for _, times in requests)
            may = sum(times[FIRST][0] - times[ARRIVED][1] <= bound * (1 + DRIFT)
                      for _, times in requests)
            good = self.rows[name, "end to end"]["good"]
            self.assertGreaterEqual(good, sure)
            self.assertLessEqual(good, may)

    def test_a_long_prompt_makes_who_run_wait(self):
        """The script: 100 tokens of a prompt add 0.5 ms to an iteration, 2000 add 10 ms. On a busy
        machine no chat may run meanwhile."""
        if any(chat[FIRST][1] < long[SCHEDULED][0] and long[FIRST][1] < chat[LAST][0]
               for _, long in self.requests["summary"] for _, chat in self.requests["chat"]):
            waits = self.rows["chat", "ITL, prefill in"]
            self.assertGreaterEqual(waits["max"], 11_000_000 * (1 - DRIFT))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
