# SPDX-License-Identifier: Apache-2.0
"""Real programs with planted causes, built from a line each (real/pipeline.c has its words). What
limits them is found as for simulated ones: each of their times halved, and run again."""
import collections
import os
import re
import subprocess
import sys
import types

import truth

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
LEAST = 0.1  # of the rate: less is noise of a machine that others use
TRIES, SECONDS = 2, 120
WORK = re.compile(r"([~@!#%]?)([\d.]+)")
# What the parts of a stage's work are called in the answer; a stage's own time has its name.
PARTS = {"@": truth.HIDDEN + "cache", "!": "cache update", "#": "model", "%": "kernel"}
Program = collections.namedtuple("Program", "by spec start units places")

PROGRAMS = {
    "c_chain": Program("c", "fetch ~1 | embed ~8 | search ~1 | rerank ~1 | generate ~1", "source",
                       150, 4),
    "c_chain_computes": Program("c", "fetch 0.2 | embed 4 | search 0.2 | rerank 0.2", "source",
                                200, 4),
    "c_pool_hidden": Program("c", "fetch ~1 | embed ~24 x8 | rerank ~6 | reply ~1", "source",
                             200, 4),
    "c_workers": Program("c", "parse ~1, embed ~4, generate ~20 x8", "source", 300, 4),
    "c_lock": Program("c", "fetch ~1 | embed ~4@4 x4 | reply ~1", "source", 200, 4),
    "c_lock_marked": Program("c", "fetch ~1 | embed ~4!4 x4 | reply ~1", "source", 200, 4),
    "c_few": Program("c", "parse ~1 x2 | rank ~9 x4 | reply ~2 x4", "closed:2", 150, 4),
    "c_keeps_up": Program("c", "parse ~2 | rank ~5 | reply ~2", "regular:20", 80, 4),
    "c_device": Program("c", "decode ~1 x2 | infer #8 x2 | reply ~1", "source", 150, 4),
    "c_device_in_turn": Program("c", "infer ~6#3", "steps", 150, 4),
    "c_opencl": Program("c", "decode ~1 | infer %6 | reply ~1", "source", 150, 4),
    "c_steps": Program("c", "load ~2, forward ~6, update ~1", "steps", 150, 4),
    "cc_fanout": Program("cc", "shard_a ~9, shard_b ~4, shard_c ~3", "closed:2", 100, 4),
    "python_chain": Program("python", "fetch ~1 | embed ~8 | reply ~1", "source", 120, 4),
    "python_interpreter": Program("python", "tokenize 5, infer 1 x4", "source", 150, 4),
    "python_lock": Program("python", "fetch ~1 | embed ~4@5 x4 | reply ~1", "source", 150, 4),
    "python_tasks": Program("python", "parse 1, fetch ~20, render 4", "tasks:10", 150, 4),
}


def times_of(program):
    """{name: (stage, kind)} of what can be halved."""
    found = {}
    for stage, work in re.findall(r"(\w+) ([~@!#%\d.]+)", program.spec):
        for kind, _ in WORK.findall(work):
            found[PARTS.get(kind, stage)] = stage, kind
    return found


def halved(program, stage, kind):
    """`~` and none are a stage's own time, which has one name."""
    same = ("", "~") if kind in ("", "~") else (kind,)

    def half(match):
        return match.group(1) + WORK.sub(
            lambda one: one.group(1) + f"{float(one.group(2)) / 2:g}"
            if one.group(1) in same else one.group(0), match.group(2))
    return program._replace(spec=re.sub(rf"(\b{stage} )([~@!#%\d.]+)", half, program.spec))


def command_of(program, folder):
    if program.by == "cc":
        shards = re.findall(r"~([\d.]+)", program.spec)
        return [os.path.join(folder, "fanout"), *shards, str(program.units)]
    arguments = [program.spec, program.start, str(program.units), str(program.places)]
    if program.by == "python":
        return [sys.executable, os.path.join(HERE, "real", "pipeline.py"), *arguments]
    return [os.path.join(folder, "pipeline"), *arguments]


def figures(program, folder, log):
    """(rate, mean latency, P99): the best of two runs, as others use the machine, too."""
    found = [run(program, folder, log) for _ in range(TRIES)]
    return max(one[0] for one in found), *(min(one[k] for one in found) for k in (1, 2))


def run(program, folder, log):
    """What the program says; its log is `log`."""
    for old in (log, log + ".part"):
        if os.path.exists(old):
            os.remove(old)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PPROF_")}
    env = {**kept, "PPROF_OUTPUT": log, "PPROF_SET": 'cpu=["*"]', "PPROF_QUIET": "1",
           "PYTHONPATH": os.path.join(TREE, "python"), "PYTHONDONTWRITEBYTECODE": "1",
           "PPROF_LIBRARY": os.path.join(folder, "..", "..", "libpprof.so")}
    done = subprocess.run(command_of(program, folder), env=env, capture_output=True, check=False,
                          timeout=SECONDS)
    if done.returncode:
        sys.exit(f"{program}: {done.stderr.decode(errors='replace')}")
    return tuple(map(float, done.stdout.split()[-3:]))


def case_of(name, folder, out):
    """(paths of its logs, what is true of it)."""
    program, log = PROGRAMS[name], os.path.join(out, f"{name}.pplog")
    rate, mean, p99 = figures(program, folder, log)
    gains = {}
    for target, (stage, kind) in times_of(program).items():
        other = figures(halved(program, stage, kind), folder, os.path.join(out, "halved.pplog"))
        gains[target] = other[0] / rate - 1, 1 - other[1] / mean, 1 - other[2] / p99
    work = sum(float(ms) for _, ms in WORK.findall(re.sub(r" x\d+", "", program.spec)))
    is_open = program.start.startswith("regular")
    world = types.SimpleNamespace(open=is_open, resources=())
    alias = {"infer": ("model", "kernel"), "cpu:0": ("model",), "opencl:0": ("kernel",),
             "cache lock": ("cache update",)}
    stages = [stage for stage, _ in times_of(program).values()]
    return [log], {"name": name, "family": f"real, {program.by}", "open": is_open, "gains": gains,
                 "alias": alias, "shown": [*stages, "request"], "hidden": [
                     target for target in gains if target.startswith(truth.HIDDEN)],
                 **truth.judge(world, gains, max(0, 1 - work / mean), LEAST)}
