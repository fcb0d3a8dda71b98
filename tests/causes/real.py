# SPDX-License-Identifier: Apache-2.0
"""Real programs with planted causes, built from a line each: real/pipeline.c and real/gpu.py have
the words. What limits them is found as for simulated ones: each of their times halved, and run
again."""
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import types

import truth

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
LEAST = 0.1  # of the rate: less is noise of a machine that others use
ROUNDS, MOST_ROUNDS, SECONDS = 3, 12, 300
CERTAIN = 4  # standard errors in the best gain
WORK = re.compile(r"([~@!#%]?)([\d.]+)")
CACHE, MEMORY = truth.HIDDEN + "cache", truth.HIDDEN + "free memory"


class Pipeline:
    """Of threads. `by` is c, cc or python."""
    # Names of the parts of a stage's work; a stage's own time has the stage's name.
    PARTS = {"@": CACHE, "!": "cache update", "#": "model", "%": "kernel"}
    alias = {"infer": ("model", "kernel"), "cpu:0": ("model",), "opencl:0": ("kernel",),
             "cache lock": ("cache update",)}

    def __init__(self, by, spec, start, units, places=4):
        self.by, self.spec, self.start, self.units, self.places = by, spec, start, units, places
        self.family, self.open = f"real, {by}", start.startswith("regular")

    def times(self):
        """{name: (stage, kind)} of all times that can be halved."""
        found = {}
        for stage, work in re.findall(r"(\w+) ([~@!#%\d.]+)", self.spec):
            for kind, _ in WORK.findall(work):
                found[self.PARTS.get(kind, stage)] = stage, kind
        return found

    def halved(self, name):
        """`~` and none are a stage's own time, which has one name."""
        stage, kind = self.times()[name]
        same = ("", "~") if kind in ("", "~") else (kind,)

        def half(match):
            return match.group(1) + WORK.sub(
                lambda one: one.group(1) + f"{float(one.group(2)) / 2:g}"
                if one.group(1) in same else one.group(0), match.group(2))
        spec = re.sub(rf"(\b{stage} )([~@!#%\d.]+)", half, self.spec)
        return Pipeline(self.by, spec, self.start, self.units, self.places)

    def command(self, folder, _):
        if self.by == "cc":
            shards = re.findall(r"~([\d.]+)", self.spec)
            return [os.path.join(folder, "fanout"), *shards, str(self.units)]
        arguments = [self.spec, self.start, str(self.units), str(self.places)]
        if self.by == "python":
            return [sys.executable, os.path.join(HERE, "real", "pipeline.py"), *arguments]
        return [os.path.join(folder, "pipeline"), *arguments]


class Gpu:
    """Of PyTorch, by the parameters of real/gpu.py; those given and the usual ones are halved."""
    USUAL = {"train": "data=2 batch=4096 layers=6", "models": "embed=6 rerank=8 generate=12"}
    PARTS = {"batch": "kernels", "free": MEMORY, "tensors": "optimizer"}
    family, open = "real, gpu", False
    alias = {"forward": ("kernels", "layers", "items"), "backward": ("kernels", "layers")}

    def __init__(self, what, given):
        self.what, self.given = what, given

    def times(self):
        text = f"{self.USUAL[self.what]} {self.given}"
        values = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}
        return {self.PARTS.get(name, name): (name, value) for name, value in values.items()
                if name not in ("ranks", "size", "tokens")}

    def halved(self, name):
        parameter, value = self.times()[name]
        return Gpu(self.what, f"{self.given} {parameter}={value // 2}")

    def command(self, folder, logs):
        return [os.path.join(folder, "pprof-report"), "run", "--kernels", "-o", "/dev/null",
                "--logs", logs, "--", sys.executable, os.path.join(HERE, "real", "gpu.py"),
                self.what, *f"{self.USUAL[self.what]} {self.given}".split()]


PROGRAMS = {
    "c_chain": Pipeline("c", "fetch ~1 | embed ~8 | search ~1 | rerank ~1 | generate ~1", "source",
                        150),
    "c_chain_computes": Pipeline("c", "fetch 0.2 | embed 4 | search 0.2 | rerank 0.2", "source",
                                 200),
    "c_pool_hidden": Pipeline("c", "fetch ~1 | embed ~24 x8 | rerank ~6 | reply ~1", "source", 200),
    "c_workers": Pipeline("c", "parse ~1, embed ~4, generate ~20 x8", "source", 300),
    "c_lock": Pipeline("c", "fetch ~1 | embed ~4@4 x4 | reply ~1", "source", 200),
    "c_lock_marked": Pipeline("c", "fetch ~1 | embed ~4!4 x4 | reply ~1", "source", 200),
    "c_few": Pipeline("c", "parse ~1 x2 | rank ~9 x4 | reply ~2 x4", "closed:2", 150),
    "c_keeps_up": Pipeline("c", "parse ~2 | rank ~5 | reply ~2", "regular:20", 80),
    "c_device": Pipeline("c", "decode ~1 x2 | infer #8 x2 | reply ~1", "source", 150),
    "c_device_in_turn": Pipeline("c", "infer ~6#3", "steps", 150),
    "c_opencl": Pipeline("c", "decode ~1 | infer %6 | reply ~1", "source", 150),
    "c_steps": Pipeline("c", "load ~2, forward ~6, update ~1", "steps", 150),
    "cc_fanout": Pipeline("cc", "shard_a ~9, shard_b ~4, shard_c ~3", "closed:2", 100),
    "python_chain": Pipeline("python", "fetch ~1 | embed ~8 | reply ~1", "source", 120),
    "python_interpreter": Pipeline("python", "tokenize 5, infer 1 x4", "source", 150),
    "python_lock": Pipeline("python", "fetch ~1 | embed ~4@5 x4 | reply ~1", "source", 150),
    "python_tasks": Pipeline("python", "parse 1, fetch ~20, render 4", "tasks:10", 150),
}
# On a machine with a GPU; `gpu_ranks` needs two.
GPU_PROGRAMS = {
    "gpu_compute": Gpu("train", "batch=32768 size=4096"),
    "gpu_launch": Gpu("train", "batch=16 size=64 layers=400"),
    "gpu_item": Gpu("train", "items=300"),
    "gpu_copy": Gpu("train", "copy=200"),
    "gpu_loader": Gpu("train", "data=30"),
    "gpu_free": Gpu("train", "free=8"),
    "gpu_optimizer": Gpu("train", "tensors=1500"),
    "gpu_save": Gpu("train", "save=800"),
    "gpu_ranks": Gpu("train", "ranks=2 augment=12"),
    "gpu_models": Gpu("models", "batch=64 size=1024 tokens=16"),
}


def run(program, folder, logs):
    """The figures that the program prints; its logs are in the folder `logs`."""
    shutil.rmtree(logs, ignore_errors=True)
    os.mkdir(logs)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PPROF_")}
    libraries = [os.path.join(folder, name) for name in ("libpprof.so.0", "../../libpprof.so")]
    env = {**kept, "PPROF_QUIET": "1", "PYTHONPATH": os.path.join(TREE, "python"),
           "PYTHONDONTWRITEBYTECODE": "1",
           "PPROF_LIBRARY": next(filter(os.path.exists, libraries), "")}
    if program.family != Gpu.family:
        env.update(PPROF_OUTPUT=os.path.join(logs, "run.pplog"), PPROF_SET='cpu=["*"]')
    done = subprocess.run(program.command(folder, logs), env=env, capture_output=True, check=False,
                          timeout=SECONDS)
    if done.returncode:
        sys.exit(f"{program.__dict__}: {done.stderr.decode(errors='replace')}")
    return tuple(map(float, done.stdout.split()[-4:]))


def gains_of(rounds, name):
    """What halving `name` adds to the rate, takes from the mean latency, from its P99: medians of
    rounds, in which the programs take turns, as others use the machine, too."""
    ratios = [[round_[name][k] / round_[""][k] for round_ in rounds] for k in range(3)]
    rate, mean, p99 = map(statistics.median, ratios)
    return rate - 1, 1 - mean, 1 - p99


def noise(rounds, name):
    """The standard error of its rate's gain."""
    ratios = [round_[name][0] / round_[""][0] for round_ in rounds]
    return statistics.stdev(ratios) / len(ratios) ** 0.5


def measured(program, folder, out):
    """(gains, part of the latency that is waiting): as many rounds as the machine's noise needs.
    The logs of the last ROUNDS stay."""
    programs, rounds = {"": program, **{one: program.halved(one) for one in program.times()}}, []
    while len(rounds) < MOST_ROUNDS:
        logs = os.path.join(out, f"run{len(rounds) % ROUNDS}")
        rounds.append({name: run(one, folder, os.path.join(out, "halved") if name else logs)
                       for name, one in programs.items()})
        if len(rounds) < ROUNDS:
            continue
        gains = {name: gains_of(rounds, name) for name in programs if name}
        best = max(gain[0] for gain in gains.values())
        if program.open or CERTAIN * max(noise(rounds, name) for name in gains) <= best:
            break
    served = statistics.median(1 - one[""][3] / one[""][1] for one in rounds)
    return gains, max(0, served)


def cases_of(name, folder, out, times):
    """(paths of a run's logs, the program's true causes) of so many runs, at most ROUNDS."""
    program = {**PROGRAMS, **GPU_PROGRAMS}[name]
    gains, waiting = measured(program, folder, out)
    world = types.SimpleNamespace(open=program.open, resources=())
    shown = ["forward", "backward", "loss", "all_reduce"] if program.family == Gpu.family else [
        stage for stage, _ in program.times().values()]
    case = {
        "name": name, "family": program.family, "open": program.open, "gains": gains,
        "alias": program.alias, "shown": shown,
        "hidden": [target for target in gains if target.startswith(truth.HIDDEN)],
        **truth.judge(world, gains, waiting, LEAST)}
    for number in range(times):
        yield sorted(glob.glob(os.path.join(out, f"run{number}", "*.pplog"))), case
