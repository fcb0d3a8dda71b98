#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pipeline.py SPEC START UNITS PLACES: pipeline.c with threads of Python.

`5` computes in Python, `~5` waits for time to pass, `@5` does so with the one lock. START is
source, closed:N, or tasks:N: an event loop, where `~5` is an await.
"""
import asyncio
import os
import queue
import re
import sys
import threading
import time

import pprof

CACHE = threading.Lock()


def compute(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        sum(range(200))


def work(parts):
    for kind, ms in parts:
        if kind == "@":
            with CACHE:
                time.sleep(ms / 1000)
        elif kind == "~":
            time.sleep(ms / 1000)
        else:
            compute(ms)


def pools_of(spec):
    """[([(name, [(kind, ms)])], threads)]"""
    for text in spec.split("|"):
        text, _, threads = text.strip().partition(" x")
        stages = [one.split() for one in text.split(",")]
        yield [(name, [(kind, float(ms)) for kind, ms in re.findall(r"([~@]?)([\d.]+)", what)])
               for name, what in stages], int(threads or 1)


class Units:
    def __init__(self, number):
        self.number, self.begun, self.spans, self.ended = number, 0, [], threading.Event()
        self.lock, self.first, self.served = threading.Lock(), time.monotonic(), 0

    def begin(self):
        """(its number, its range, when), or None after the last."""
        with self.lock:
            if self.begun == self.number:
                return None
            self.begun += 1
            request = pprof.begin("request")
            request.flow(self.begun)
            return self.begun, request, time.monotonic()

    def end(self, unit):
        unit[1].end()
        with self.lock:
            self.spans.append(time.monotonic() - unit[2])
            if len(self.spans) == self.number:
                self.ended.set()

    def print(self):
        seconds, spans = time.monotonic() - self.first, sorted(self.spans)
        print(self.number / seconds, 1000 * sum(spans) / self.number,
              1000 * spans[self.number * 99 // 100], 1000 * self.served / self.number)


def with_threads(spec, start, units, places):
    pools = list(pools_of(spec))
    inboxes = [queue.Queue(places) for _ in pools]
    at_once = int(start.partition(":")[2] or 0)

    def life(number, stages):
        pprof.thread_name(f"{stages[0][0]} thread")
        while True:
            unit = inboxes[number].get()
            begin = time.monotonic()
            for name, parts in stages:
                with pprof.range(name):
                    pprof.flow(unit[0])
                    work(parts)
            with units.lock:
                units.served += time.monotonic() - begin
            if number + 1 < len(pools):
                inboxes[number + 1].put(unit)
                continue
            units.end(unit)
            if at_once and (unit := units.begin()):
                inboxes[0].put(unit)
    for number, (stages, threads) in enumerate(pools):
        for _ in range(threads):
            threading.Thread(target=life, args=(number, stages), daemon=True).start()
    for _ in range(at_once or units.number):
        inboxes[0].put(units.begin())
    units.ended.wait()


async def with_tasks(spec, at_once, units):
    stages = [stage for stages, _ in pools_of(spec) for stage in stages]

    async def life():
        while unit := units.begin():
            for name, parts in stages:
                waiting = sum(ms for kind, ms in parts if kind == "~")
                if waiting:
                    away = pprof.begin(name)
                    away.flow(unit[0])
                    await asyncio.sleep(waiting / 1000)
                    away.end()
                else:
                    with pprof.range(name):
                        pprof.flow(unit[0])
                        work(parts)
                    await asyncio.sleep(0)
            units.end(unit)
    await asyncio.gather(*(life() for _ in range(at_once)))


def main():
    spec, start, number, places = sys.argv[1:5]
    pprof.start()
    units = Units(int(number))
    if start.startswith("tasks"):
        asyncio.run(with_tasks(spec, int(start[6:]), units))
    else:
        with_threads(spec, start, units, int(places))
    pprof.stop()
    units.print()
    sys.stdout.flush()
    os._exit(0)  # the threads wait for more


if __name__ == "__main__":
    main()
