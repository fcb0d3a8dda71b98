# SPDX-License-Identifier: Apache-2.0
"""60 steps under Paddle's timer and our markers at once: how long they took, by both.

Prints a JSON object: steps_s, by the clock; paddle and ours, the averages that they print.
"""
import contextlib
import io
import json
import re
import time

from paddle import profiler

import pprof

STEPS = 60


def busy_until(end):
    while time.perf_counter() < end:
        pass


def average_of(text):
    return float(re.search(r"batch_cost +\| +([0-9.]+)", text)[1])


def main():
    pprof.start({"output": "perf.%p.pplog"})
    run = profiler.Profiler(timer_only=True)
    run.start()
    steps, started = [], time.perf_counter()
    for at in range(STEPS):
        # The tenth and eleventh are long: one of them is in Paddle's sum and not in its count.
        busy_until(started + (0.05 if at in (9, 10) else 0.005))
        run.step(num_samples=4)
        pprof.step(4)
        now = time.perf_counter()
        steps.append(now - started)
        started = now
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        run.stop()
    pprof.stop()
    table = str(pprof.report(None, "--view", "perf"))
    print(json.dumps({"steps_s": steps, "paddle": average_of(said.getvalue()),
                      "ours": average_of(table)}))


main()
