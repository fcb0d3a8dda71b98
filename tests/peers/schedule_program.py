# SPDX-License-Identifier: Apache-2.0
"""Random schedules: the steps that paddle or torch records, and those that we record.

schedule_program.py paddle|torch: prints a JSON list of [parameters, their windows, our windows],
each window a list of its steps.
"""
import importlib
import json
import os
import random
import sys

import pprof

SETS, STEPS = 1000, 24


def draw(chance):
    return {"wait": chance.randrange(4), "warmup": chance.randrange(3),
            "active": chance.randrange(1, 4), "repeat": chance.randrange(4),
            "skip_first": chance.randrange(5)}


def states_of_paddle(numbers):
    profiler = importlib.import_module("paddle.profiler")
    scheduler = profiler.make_scheduler(closed=numbers["wait"], ready=numbers["warmup"],
                                        record=numbers["active"], repeat=numbers["repeat"],
                                        skip_first=numbers["skip_first"])
    return [scheduler(step).name for step in range(STEPS + 1)]


def states_of_torch(numbers):
    profiler = importlib.import_module("torch.profiler")
    scheduler = profiler.schedule(**numbers)
    return [scheduler(step).name for step in range(STEPS + 1)]


def windows_of(states):
    """The last step begins, and nothing is in it; its window is told at the stop."""
    windows, steps = [], []
    for step, state in enumerate(states):
        if state in ("RECORD", "RECORD_AND_RETURN", "RECORD_AND_SAVE"):
            steps.append(step)
        if state in ("RECORD_AND_RETURN", "RECORD_AND_SAVE"):
            windows.append(steps)
            steps = []
    windows += [steps] * bool(steps)
    return [[step for step in window if step < STEPS] for window in windows]


def windows_of_ours(numbers):
    windows = {}

    def look(window):
        windows[window.index] = sorted(int(name[5:]) for name in window.stages
                                       if name.startswith("step "))

    pprof.start({"output": "run.pplog"}, schedule=pprof.schedule(**numbers), on_window=look,
                window_log=False)
    for step in range(STEPS):
        with pprof.range("step %d" % step):
            pass
        pprof.step()
    pprof.stop()
    os.remove("run.pplog")
    return [windows[at] for at in sorted(windows)]


states_of = {"paddle": states_of_paddle, "torch": states_of_torch}[sys.argv[1]]
chance = random.Random(20261125)
results = []
for _ in range(SETS):
    these = draw(chance)
    results.append([these, windows_of(states_of(these)), windows_of_ours(these)])
print(json.dumps(results))
