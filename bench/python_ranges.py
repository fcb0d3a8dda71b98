#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a range costs a Python program, beside an empty `with` block and, where torch can be
imported, torch.profiler.record_function without a profiler. PPROF_LIBRARY names the library.

All ways take turns in each repetition; the figures are medians of the thread's CPU time for one
range. It exits 1 when a marker was lost, or a bound was missed."""
import argparse
import ctypes
import json
import os
import platform
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import pprof  # noqa: E402  (found by the line above)
from pprof import _hook_calls, _markers, hooks  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

BASE, TORCH, RANGE = "empty with", "record_function", "range"


class Empty:
    """As much of a `with` block as any object of Python's own needs."""
    __slots__ = ("name", "category")

    def __init__(self, name, category=None):
        self.name, self.category = name, category

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


def plain():
    pass


@pprof.range("decorated")
def decorated():
    pass


def hooked(name):
    """A function as a row of a data file has it marked."""
    return _hook_calls.wrap(lambda size: None, hooks.Rule(name=name, category=None, words=[],
                                                          by=None))


HOOKED, HOOKED_FIELD = hooked("hooked"), hooked("hooked {size}")
REUSED = pprof.range("reused")
serial = 0


def loop_nothing(turns):
    for _ in turns:
        pass


def loop_empty(turns):
    for _ in turns:
        with Empty("decode"):
            pass


def loop_range(turns):
    for _ in turns:
        with pprof.range("decode"):
            pass


def loop_category(turns):
    for _ in turns:
        with pprof.range("decode", category="Preprocess"):
            pass


def loop_reused(turns):
    for _ in turns:
        with REUSED:
            pass


def loop_names(turns):
    for i in turns:
        with pprof.range("request %d" % (i & 63)):
            pass


def loop_new_names(turns):
    global serial
    for _ in turns:
        serial += 1
        with pprof.range("new %d" % serial):
            pass


def loop_decorated(turns):
    for _ in turns:
        decorated()


def loop_hooked(turns):
    for _ in turns:
        HOOKED(1)


def loop_hooked_field(turns):
    for _ in turns:
        HOOKED_FIELD(1)


def loop_plain(turns):
    for _ in turns:
        plain()


def loop_resting(turns):
    def body():
        for _ in turns:
            with pprof.range("task"):
                pass
        yield
    for _ in body():
        pass


def loop_mark(turns):
    for _ in turns:
        pprof.mark("mark")


def loop_count(turns):
    for i in turns:
        pprof.count("count", i)


def loop_device(turns):
    for _ in turns:
        with pprof.device_range("model"):
            pass


def loop_record_function(turns):
    for _ in turns:
        with torch.profiler.record_function("decode"):
            pass


def loop_nvtx(turns):
    for _ in turns:
        with torch.cuda.nvtx.range("decode"):
            pass


OFF = {BASE: loop_empty, "range, off": loop_range, "function": loop_plain,
       "decorated, off": loop_decorated, "mark, off": loop_mark,
       "hooked, off": loop_hooked}
ON = {BASE + ", again": loop_empty, RANGE: loop_range, "range with a category": loop_category,
      "range, reused": loop_reused, "decorated": loop_decorated, "range, 64 names": loop_names,
      "range, new names": loop_new_names, "range in a generator": loop_resting,
      "hooked": loop_hooked, "hooked, a field": loop_hooked_field,
      "mark": loop_mark, "count": loop_count, "device range, no device": loop_device}
if torch is not None:
    OFF[TORCH] = loop_record_function
    if torch.cuda.is_available():
        OFF["torch.cuda.nvtx.range"] = loop_nvtx
        ON["device range"] = ON.pop("device range, no device")


def measure(ways, turns, into):
    started = time.thread_time_ns()
    loop_nothing(turns)
    empty_loop = time.thread_time_ns() - started
    for name, loop in ways.items():
        started = time.thread_time_ns()
        loop(turns)
        spent = time.thread_time_ns() - started - empty_loop
        into.setdefault(name, []).append(spent / len(turns))


def num_lost():
    """Markers lost by the session that runs; `lost` is the third field of pprof_stats."""
    library = ctypes.CDLL(None if pprof.library_path() == "in this process"
                          else pprof.library_path())
    stats = (ctypes.c_uint64 * 32)(ctypes.sizeof(ctypes.c_size_t) * 17)
    library.pprof_session_current.restype = ctypes.c_void_p
    library.pprof_session_stats.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.pprof_session_stats(library.pprof_session_current(), stats)
    return stats[2]


def run(repetitions, num):
    samples, lost, turns = {}, 0, range(num)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(repetitions + 1):
            into = samples if i else {}  # the first warms up
            measure(OFF, turns, into)
            pprof.start({"output": os.path.join(folder, "%p.pplog"), "drain_interval": "1ms"})
            for name, loop in ON.items():
                measure({name: loop}, turns, into)
                time.sleep(0.005)  # the collector drains outside the timed part
            lost += num_lost()
            pprof.stop()
            _markers._sites.clear()
    return samples, lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(".")[0])
    parser.add_argument("-r", "--repetitions", type=int, default=60)
    parser.add_argument("-n", "--num", type=int, default=2000, help="ranges at a time")
    parser.add_argument("--json", metavar="FILE", help="all samples")
    args = parser.parse_args()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    machine = "%s, %d CPUs, load %.1f; Python %s%s" % (
        models[0] if models else platform.machine(), os.cpu_count(), os.getloadavg()[0],
        platform.python_version(), ", torch " + torch.__version__ if torch else ", no torch")
    print(machine)
    samples, lost = run(args.repetitions, args.num)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    compared = [name for name in (BASE, TORCH) if name in medians]
    print("\n%-26s %8s" % ("one", "ns") + "".join(" %18s" % ("/ " + name) for name in compared))
    for name, ns in medians.items():
        ratios = ["%18.2f" % statistics.median(a / b for a, b in zip(samples[name], samples[other]))
                  for other in compared]
        print("%-26s %8.0f %s" % (name, ns, " ".join(ratios)))
    missed = lost > 0 or (TORCH in medians and medians[RANGE] >= medians[TORCH])
    print("\nlost %d; %s" % (lost, "bound missed" if missed else
                             "no bound missed" if torch else "no bound without torch"))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine, "lost": lost, "samples_ns": samples}, file)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
