#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulator against queueing theory, and judgements typed from their definition."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import judge
import topologies
import trace
import truth
from world import World


def waits(cv, ms, between, threads=1):
    """(mean wait, utilization) of one station with random arrivals, both in units of `ms`."""
    world = World("station", 1)
    world.total = 40000
    topologies.chain(world, f"serve {ms} x{threads}", topologies.poisson(between), None, cv=cv,
                     spread=0)
    world.run()
    _, mean, _, waiting = truth.figures(world)
    length = world.units[-1].begin / len(world.units)
    return waiting * mean / (ms * 1e6), ms * 1e6 / length / threads


class Theory(unittest.TestCase):

    def test_waits_as_pollaczek_and_khinchine_say(self):
        for cv in (0.05, 1, 2):
            wait, busy = waits(cv, 5, 8)
            expected = busy * (1 + cv * cv) / (2 * (1 - busy))
            self.assertAlmostEqual(wait / expected, 1, delta=0.12, msg=cv)

    def test_two_servers_wait_as_erlang_says(self):
        wait, busy = waits(1, 5, 3.5, 2)
        self.assertAlmostEqual(wait / (busy * busy / (1 - busy * busy)), 1, delta=0.1)

    def test_the_slowest_stage_sets_the_rate(self):
        world = World("slowest", 1)
        world.total = 2000
        topologies.chain(world, "fetch 1 | embed 24 x8 | rank 5 | reply 1", spread=0)
        self.assertAlmostEqual(truth.figures(world.run())[0] * 5e6, 1, delta=0.02)

    def test_one_seed_is_one_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = []
            for name in ("a", "b"):
                trace.write(truth.world_of("fz_all", 3), os.path.join(folder, name))
                with open(os.path.join(folder, name + ".json.gz"), "rb") as file:
                    texts.append(file.read())
        self.assertEqual(*texts)


class Truth(unittest.TestCase):

    def test_each_is_what_was_planted(self):
        for name, right in (("chain_second", "embed"), ("pool_hidden", "rerank"),
                            ("lock_marked", "cache update"), ("device_bound", "model"),
                            ("lock_unmarked", "unrecorded: cache"), ("sub_rpc", "rank"),
                            ("gc_pauses", "unrecorded: pause"), ("prefetch_ok", "forward"),
                            ("batch_timer", "unrecorded: timer")):
            self.assertEqual(truth.case_of(name, 0)[1]["right"], [right], name)
        for name in ("balanced", "open_low"):
            self.assertTrue(truth.case_of(name, 0)[1]["healthy"], name)


def case(right=("embed",), healthy=False):
    gains = {"embed": [1, 0, 0], "fetch": [0, 0, 0], "unrecorded: cache": [1, 0, 0]}
    return {"right": list(right), "worth": list(right), "healthy": healthy, "gains": gains,
            "alias": {"gpu:0": ["embed"]}, "shown": ["embed", "fetch", "wait"],
            "hidden": ["unrecorded: cache", "unrecorded: pause"]}


class Judgement(unittest.TestCase):

    def test_outcomes(self):
        hidden = ("unrecorded: cache",)
        for case_of, claim, names, result, false in (
                (case(), "limit", ["embed"], "right", 0),
                (case(), "part", ["embed"], "right", 0),
                (case(), "limit", ["gpu:0"], "right", 0),
                (case(), "limit", ["fetch"], "wrong", 1),
                (case(), "limit", ["wait"], "wrong", 1),
                (case(), "unrecorded", ["embed"], "wrong", 0),
                (case(), "none", [], "silent", 0),
                (case(), "keeps_up", ["embed"], "silent", 0),
                (case(hidden), "unrecorded", ["embed"], "unrecorded", 0),
                (case(hidden), "limit", ["embed"], "wrong", 1),
                (case(("unrecorded: pause",)), "unrecorded", [], "unrecorded", 0),
                (case((), True), "keeps_up", ["embed"], "right", 0),
                (case((), True), "part", ["embed"], "right", 0),
                (case((), True), "limit", ["embed"], "wrong", 1),
                (case((), True), "unrecorded", [], "wrong", 0)):
            limit = {"claim": claim, "names": names, "verdict": "", "sentence": ""}
            found = judge.outcome(case_of, limit, [])
            self.assertEqual((found["result"], found["false"]), (result, false), limit)

    def test_advice_that_matters(self):
        limit = {"claim": "part", "names": ["embed"], "verdict": "", "sentence": ""}
        for advice, result in (("wait less in embed.", "right"), ("a faster embed.", "wrong")):
            of = {**case(), "advice": "wait less"}
            self.assertEqual(judge.outcome(of, {**limit, "next": advice}, [])["result"], result)

    def test_what_no_range_shows_is_named(self):
        limit = {"claim": "unrecorded", "names": [], "verdict": "pause"}
        for sentence, result in (("Everything stands still 3 times.", "right"),
                                 ("Everything stands still: it is not recorded.", "unrecorded")):
            found = judge.outcome(case(("unrecorded: pause",)), {**limit, "sentence": sentence}, [])
            self.assertEqual(found["result"], result)

    def test_one_of_three_findings(self):
        limit = {"claim": "limit", "names": ["fetch"], "verdict": "", "sentence": ""}
        findings = [{"text": "fetch waits."}, {"text": "wait.", "next": "less of embed."}]
        self.assertTrue(judge.outcome(case(), limit, findings)["three"])
        self.assertFalse(judge.outcome(case(), limit, findings[:1])["three"])

    def test_answers_without_a_model(self):
        for text, claim, names in (
                ("embed takes 5 of 9 ms a step (55 %).", "part", ["embed"]),
                ("9 ms lie between stages, most in line before fetch begins.", "limit", ["fetch"]),
                ("Nothing stands out.", "none", [])):
            found = judge.without_a_model(case(), text)
            self.assertEqual((found["claim"], found["names"]), (claim, names))


if __name__ == "__main__":
    unittest.main()
