#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What limits programs with one planted limit each, and where the answer says so.

limits_test.py PPROF_REPORT. Truth is by simulating each program again with each time halved.
"""
import os

import case

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
    ("balanced", "balanced", None),
    ("open_low", "keeps_up", None),
)


class LimitsTest(case.Case):
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


if __name__ == "__main__":
    case.main()
