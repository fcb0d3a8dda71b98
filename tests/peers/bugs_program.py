# SPDX-License-Identifier: Apache-2.0
"""What Paddle's profiler does wrong, each in as few lines as there are: bugs_program.py NAME.

Ours marks the same ranges, in NAME.pplog; Paddle's trace is NAME.json. Prints what Paddle does, and
as the last line what the comparison needs, in JSON.
"""
import contextlib
import glob
import json
import os
import sys
import threading
import time

from paddle import profiler

import pprof

NAME = sys.argv[1]


@contextlib.contextmanager
def recorded(**options):
    """Both profilers around it."""
    for left in glob.glob(NAME + "*.pplog*"):
        os.remove(left)
    pprof.start({"output": NAME + ".pplog"})
    run = profiler.Profiler(targets=[profiler.ProfilerTarget.CPU],
                            on_trace_ready=lambda this: this.export(NAME + ".json", "json"),
                            **options)
    run.start()
    yield run
    pprof.stop()
    run.stop()


def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def growing():
    """Each step is longer than the one before."""
    with recorded(timer_only=True) as run:
        started, steps = time.perf_counter(), [0.001]
        for _ in range(20):
            busy(steps[-1] * 1.2)
            run.step()
            pprof.step()
            now = time.perf_counter()
            steps.append(now - started)
            started = now
    return steps[1:]


def threads():
    """Forward on two threads at once."""
    together = threading.Barrier(2)

    def work():
        together.wait()
        with pprof.range("f", "Forward"), \
                profiler.RecordEvent("f", profiler.TracerEventType.Forward):
            together.wait()
            busy(0.02)

    with recorded() as run:
        both = [threading.Thread(target=work) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
    run.summary(time_unit="ns")


def quote():
    """A name with a quote in it."""
    with recorded():
        with pprof.range('say "a"'), profiler.RecordEvent('say "a"'):
            pass


def overlap():
    """Two ranges of one thread, of which neither is in the other."""
    both = [profiler.RecordEvent("first"), profiler.RecordEvent("second")]
    try:
        with recorded():
            ours = []
            for one, name in zip(both, ("first", "second")):
                ours.append(pprof.begin(name))
                one.begin()
                busy(0.001)
            for one, mine in zip(both, ours):
                one.end()
                mine.end()
                busy(0.001)
    except SystemError as error:
        return str(error)
    return ""


print(json.dumps(globals()[NAME]()))
