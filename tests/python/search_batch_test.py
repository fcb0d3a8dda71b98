#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`search-batch`: which batches are tried, and what the tries say together."""
import importlib.util
import os
import signal
import unittest

from python_case import PACKAGE, main

SPEC = importlib.util.spec_from_file_location(
    "search_batch", os.path.join(PACKAGE, "pprof", "_search_batch.py"))
batch = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(batch)
SECOND = 1000000000


def made(size, batches, **more):
    """A try that ended well with so many batches, each of which took a second."""
    return batch.Try(size, True, runs=bool(batches), batches=batches, span_ns=batches * SECOND,
                     p99_ns=SECOND)._replace(**more)


def tried(first, last, limit, sequential=False):
    """What is tried with a command that survives up to `limit`, and the largest of it."""
    search, sizes = batch.Search(first, last, sequential), []
    while search.next():
        sizes.append(search.next())
        search.tell(sizes[-1], sizes[-1] <= limit)
    return sizes, search.survived


class Tried(unittest.TestCase):
    def test_it_doubles_then_halves(self):
        self.assertEqual(tried(1, 1024, 21), ([1, 2, 4, 8, 16, 32, 24, 20, 22, 21], 21))
        self.assertEqual(tried(3, 20, 1000), ([3, 6, 12, 20], 20))
        self.assertEqual(tried(4, 20, 3), ([4], 0))

    def test_one_by_one(self):
        self.assertEqual(tried(2, 6, 4, True), ([2, 3, 4, 5], 4))
        self.assertEqual(tried(2, 4, 9, True), ([2, 3, 4], 4))

    def test_every_limit_is_found(self):
        for first in range(1, 8):
            for last in range(first, 70):
                for limit in range(first, 75):
                    sizes, found = tried(first, last, limit)
                    self.assertLessEqual(len(sizes), 15)
                    self.assertEqual(found, min(limit, last), (first, last, limit))


class Command:
    """A command that notes its signals."""

    def __init__(self):
        self.signals = []

    def send_signal(self, number):
        self.signals.append(number)


class Signalled(unittest.TestCase):
    def test_a_signal_before_the_command_is_known_reaches_it(self):
        signals, command = batch.Signals(), Command()
        os.kill(os.getpid(), signal.SIGTERM)
        while not signals.asked:
            os.sched_yield()
        signals.follow(command)
        signals.follow(None)
        self.assertEqual((signals.asked, command.signals), (signal.SIGTERM, [signal.SIGTERM]))


class Judged(unittest.TestCase):
    def judged(self, before, one, latency_ns=0, least=0):
        one = batch.judge(before, one, latency_ns, least)
        self.assertEqual(one.result == "ok", one.survived)
        return one.result

    def test_as_many_batches_whatever_the_size(self):
        before = [made(1, 100), made(2, 100)]
        for batches, result in ((100, "ok"), (130, "ok"), (99, "stopped early"),
                                (25, "stopped early"), (0, "stopped early")):
            self.assertEqual(self.judged(before, made(4, batches)), result, batches)

    def test_as_many_batches_as_the_items_make(self):
        before = [made(1, 99), made(2, 49)]
        for size, batches, result in ((4, 24, "ok"), (3, 32, "ok"), (4, 20, "stopped early")):
            self.assertEqual(self.judged(before, made(size, batches)), result)

    # One try alone does not say which it is: what either allows is good.
    def test_what_is_not_known_is_not_held_against_a_try(self):
        one, neither = [made(1, 100)], [made(1, 100), made(2, 170)]
        failed = [made(1, 100), made(2, 100), made(8, 3, survived=False)]
        for before, now, result in (
                ([], made(1, 3), "ok"), ([], made(1, 0), "ok"), (one, made(2, 100), "ok"),
                (one, made(2, 50), "ok"), (one, made(2, 30), "stopped early"),
                (neither, made(4, 10), "ok"), ([made(1, 0), made(2, 0)], made(4, 0), "ok"),
                (failed, made(4, 100), "ok")):
            self.assertEqual(self.judged(before, now), result, (before, now))

    # The first batch of a run is no part of what is counted.
    def test_what_is_asked_for(self):
        self.assertEqual(self.judged([], made(1, 99), least=100), "ok")
        self.assertEqual(self.judged([], made(1, 98), least=100), "stopped early")
        self.assertEqual(self.judged([], made(1, 0), least=1), "stopped early")
        self.assertEqual(self.judged([], made(1, 9), SECOND), "ok")
        self.assertEqual(self.judged([], made(1, 9), SECOND - 1), "too slow")
        self.assertEqual(self.judged([made(1, 100)], made(2, 10, says_no_memory=True)),
                         "stopped early, out of memory")

    def test_largest_fastest_and_knee(self):
        tries = [made(size, 10, span_ns=round(10 * size / rate * SECOND))
                 for size, rate in ((1, 1), (2, 2), (4, 3.6), (8, 4), (16, 3.9))]
        self.assertEqual([one.batch for one in batch.curve(tries)], [16, 8, 4])
        failed = tries[:3] + [one._replace(survived=False) for one in tries[3:]]
        self.assertEqual([one.batch for one in batch.curve(failed)], [4, 4, 4])
        self.assertEqual(batch.curve([]), (None, None, None))

    def test_the_usual_limit_grows_with_the_batch(self):
        first = made(2, 10, wall_ns=SECOND)
        self.assertEqual([batch.limit_s(first, size) for size in (1, 2, 12, 32)],
                         [60, 60, 60, 160])
        self.assertEqual(batch.limit_s(made(2, 10, wall_ns=100 * SECOND), 1), 1000)


if __name__ == "__main__":
    main()
