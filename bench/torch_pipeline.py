#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two models with a CPU task between them, timed in five ways, to see what each gets wrong:

    detect (GPU) -> resize a frame (CPU) -> classify (GPU) -> wait

The host submits the detector, resizes the frame while the GPU works, submits the classifier and
waits once. The ways are: host clocks around the stages, torch.cuda.synchronize after each,
torch.cuda.Event, torch.profiler, and pprof; beside them the pipeline runs bare. `run_pprof` is what
you would write in your program. All is done three times: with eager models, with each model in a
CUDA graph, and with torch.compile.

Ways take turns in each repetition; 50 runs each, of which the first 5 do not count. torch.profiler
comes last, because what it attaches to the driver stays. Exit status: 0 all bounds were met, 1 one
was not, 3 no torch, no GPU or no library.
"""
import argparse
import contextlib
import gc
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import torch
except ImportError:
    print("torch_pipeline.py needs PyTorch: https://pytorch.org", file=sys.stderr)
    sys.exit(3)
try:
    import pprof
except ImportError as error:
    if not os.environ.get("PYTHONPATH"):
        error = "%s\nDoes PYTHONPATH name PREFIX/lib/python?" % error
    print(error, file=sys.stderr)
    sys.exit(3)

STAGES = ("detect", "resize", "classify", "wait")
MODELS = ("detect", "classify")
SIZE, DETECTOR_LAYERS, CLASSIFIER_LAYERS = 4096, 24, 2  # 5 ms and 0.5 ms on an H200
FRAME, SMALL = (3, 1080, 1920), (224, 224)
RUNS, FIRST = 50, 5


# The pipeline.

def make_model(layers, outputs):
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(SIZE, SIZE), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts, torch.nn.Linear(SIZE, outputs))


class Pipeline:
    """The stages as functions without arguments, on memory that stays where it is."""

    def __init__(self, variant, device):
        torch.manual_seed(1)
        kind = dict(device=device, dtype=torch.bfloat16)
        self.images = torch.rand(SIZE, SIZE, **kind)
        self.crops = torch.rand(SIZE, SIZE, **kind)
        self.frame = torch.rand(1, *FRAME)
        self.small = torch.empty(1, FRAME[0], *SMALL, pin_memory=True)
        self.features = torch.empty(1, FRAME[0], *SMALL, device=device)
        detector = make_model(DETECTOR_LAYERS, 256).to(**kind).eval()
        classifier = make_model(CLASSIFIER_LAYERS, 16).to(**kind).eval()
        if variant == "compile":
            detector, classifier = torch.compile(detector), torch.compile(classifier)
        self.detect = lambda: detector(self.images)
        self.classify = lambda: classifier(self.crops)
        self.warm_up()
        if variant == "graph":
            self.detect, self.classify = self.captured(self.detect), self.captured(self.classify)
            self.warm_up()

    def warm_up(self):
        for _ in range(3):
            self.run()
        torch.cuda.synchronize()

    @staticmethod
    def captured(model):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            model()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model()
        return graph.replay

    def resize(self):
        """A CPU task that is done before the detector is."""
        self.small.copy_(torch.nn.functional.interpolate(self.frame, SMALL, mode="area"))
        self.features.copy_(self.small, non_blocking=True)

    @staticmethod
    def wait():
        torch.cuda.current_stream().synchronize()

    def run(self):
        self.detect()
        self.resize()
        self.classify()
        self.wait()


# The ways. Each makes RUNS runs and answers {"run": seconds of each, STAGE: seconds of each}.

def run_bare(pipeline, _):
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        pipeline.run()
        times.append(time.perf_counter() - start)
    return {"run": times}


def run_clock(pipeline, _, after=lambda: None):
    """What people write first: the GPU's work lands in whatever waits for it."""
    times = {name: [] for name in ("run",) + STAGES}
    for _ in range(RUNS):
        begin = start = time.perf_counter()
        for name in STAGES:
            getattr(pipeline, name)()
            after()
            end = time.perf_counter()
            times[name].append(end - start)
            start = end
        times["run"].append(end - begin)
    return times


def run_synchronize(pipeline, folder):
    """The stages are right, and the pipeline is another one: nothing overlaps any more."""
    return run_clock(pipeline, folder, torch.cuda.synchronize)


def run_events(pipeline, _):
    pairs = {name: [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(RUNS)]
             for name in MODELS}
    times = []
    for i in range(RUNS):
        start = time.perf_counter()
        pairs["detect"][i][0].record()
        pipeline.detect()
        pairs["detect"][i][1].record()
        pipeline.resize()
        pairs["classify"][i][0].record()
        pipeline.classify()
        pairs["classify"][i][1].record()
        pipeline.wait()
        times.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    measured = {name: [a.elapsed_time(b) / 1e3 for a, b in pairs[name]] for name in MODELS}
    return dict(measured, run=times)


def run_pprof(pipeline, log):
    """The stages keep their times, and the pipeline its own."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        with pprof.device_range("detect"):
            pipeline.detect()
        with pprof.range("resize"):
            pipeline.resize()
        with pprof.device_range("classify"):
            pipeline.classify()
        with pprof.range("wait"):
            pipeline.wait()
        pprof.step()
        times.append(time.perf_counter() - start)
    return {"run": times}


def run_profiler(pipeline, _):
    times = []
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]) as profiler:
        for _ in range(RUNS):
            start = time.perf_counter()
            for name in STAGES:
                with torch.profiler.record_function(name):
                    getattr(pipeline, name)()
            times.append(time.perf_counter() - start)
        torch.cuda.synchronize()
    return dict(spans_of(profiler), run=times)


def spans_of(profiler):
    """From the first to the last kernel of each model; where torch has no span, the sum of its
    kernels. Host times of the other stages."""
    times = {name: [] for name in STAGES}
    kernels = {name: [] for name in STAGES}
    for event in profiler.events():
        if event.name not in times:
            continue
        on_device = str(event.device_type).endswith("CUDA")
        if on_device == (event.name in MODELS):
            times[event.name].append(event.time_range.elapsed_us() / 1e6)
        if not on_device:
            kernels[event.name].append(getattr(event, "device_time_total", 0) / 1e6)
    return {name: times[name] or kernels[name] for name in STAGES}


WAYS = {"bare": run_bare, "pprof": run_pprof, "bare again": run_bare,
        "torch.cuda.Event": run_events, "synchronize": run_synchronize, "host clock": run_clock,
        "torch.profiler": run_profiler}
LAST = "torch.profiler"


# pprof's own numbers come from its log.

def read_log(report, log):
    """Seconds of each stage: of models on the device, of the others on the host."""
    trace = log + ".trace.json.gz"
    subprocess.run([report, "trace", "--force", "-o", trace, log], check=True,
                   capture_output=True)
    with gzip.open(trace, "rt", encoding="utf-8") as file:
        made = json.load(file)
    times = {name: [] for name in STAGES}
    for event in made["traceEvents"]:
        name = event.get("name")
        if event["ph"] != "X" or name not in times:
            continue
        if (name in MODELS) == ("device_error_ns" in event["args"]):
            times[name].append(event["dur"] / 1e6)
    trust = made["otherData"]["trust"]
    if trust["lost"] or any(len(times[name]) != RUNS - FIRST for name in STAGES):
        raise SystemExit("%s is not whole: %s, %s" % (
            log, {name: len(found) for name, found in times.items()}, trust))
    return times


@contextlib.contextmanager
def session(log):
    pprof.stream_name("main")  # its events are ready before the first range
    pprof.start({"output": log, "capture": {"skip_first": FIRST, "active": RUNS - FIRST,
                                            "repeat": 1}})
    try:
        yield
    finally:
        pprof.stop()


def run_way(way, pipeline, log):
    """The samples of one turn: the times of all runs, and of the stages without the first runs."""
    gc.collect()
    gc.disable()  # a collection in one way and not in another is none of theirs
    try:
        with session(log) if way == "pprof" else contextlib.nullcontext():
            times = WAYS[way](pipeline, log)
    finally:
        gc.enable()
    stages = {name: found[FIRST:] for name, found in times.items() if name != "run"}
    return {"first": times["run"][:FIRST], "run": times["run"][FIRST:], **stages}


def measure(variant, args, folder):
    """Way to samples, one dictionary a repetition."""
    pipeline = Pipeline(variant, torch.device("cuda"))
    samples, logs = {}, []
    turns = [[way for way in WAYS if way != LAST]] * args.repetitions
    if args.profiler:
        turns = turns + [[LAST]] * args.profiler
    for i, ways in enumerate(turns):
        for way in ways:
            log = os.path.join(folder, "%s.%d.pplog" % (variant, i))
            samples.setdefault(way, []).append(run_way(way, pipeline, log))
            if way == "pprof":
                logs.append(log)
    for sample, log in zip(samples["pprof"], logs):
        sample.update(read_log(args.report, log))
    return samples, logs[-1]


# What came out.

def median_of(samples, name):
    """The median over repetitions of each one's median, s; None without any."""
    found = [statistics.median(sample[name]) for sample in samples if sample.get(name)]
    return statistics.median(found) if found else None


def total(sample):
    return sum(sample["run"])


def check(samples):
    """The bounds: [what, figure, limit, met]. A way's total is compared with the bare runs before
    and after it in the same repetition."""
    made = []
    for name in MODELS:
        ours, theirs = (median_of(samples[way], name) for way in ("pprof", "torch.cuda.Event"))
        made.append(("%s against torch.cuda.Event, us" % name, abs(ours - theirs) * 1e6,
                     max(0.01 * theirs * 1e6, 2)))
    bare = list(zip(map(total, samples["bare"]), map(total, samples["bare again"])))
    ratios = [total(ours) / ((a + b) / 2) for ours, (a, b) in zip(samples["pprof"], bare)]
    spread = statistics.median(abs(b / a - 1) for a, b in bare)
    made.append(("run against bare, %", (statistics.median(ratios) - 1) * 100,
                 spread * 100 + 0.2))
    return [(what, figure, limit, figure <= limit) for what, figure, limit in made]


def cell(seconds):
    return "%10s" % ("-" if seconds is None else "%.3f" % (seconds * 1e3))


def print_table(variant, samples, checks):
    columns = ("first", "run") + STAGES
    print("\n%s: ms, medians of %d x %d runs; `first`: of the first %d of each" % (
        variant, len(samples["bare"]), RUNS - FIRST, FIRST))
    print("%-18s" % "way" + "".join("%10s" % name for name in columns) + "%10s" % "/ bare")
    bare = median_of(samples["bare"], "run")
    for way, found in samples.items():
        print("%-18s" % way + "".join(cell(median_of(found, name)) for name in columns) +
              "%10.4f" % (median_of(found, "run") / bare))
    for what, figure, limit, met in checks:
        print("%-44s %8.2f  at most %8.2f  %s" % (what, figure, limit, "met" if met else "MISSED"))


def describe():
    device = torch.cuda.get_device_properties(0)
    return {"gpu": device.name, "torch": torch.__version__, "cuda": torch.version.cuda,
            "python": sys.version.split()[0], "pprof": pprof.__version__,
            "load": os.getloadavg()[0]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-r", "--repetitions", type=int, default=20)
    parser.add_argument("--profiler", type=int, default=3, metavar="N",
                        help="repetitions of torch.profiler; 0 leaves it out")
    parser.add_argument("--variants", default="eager,graph,compile")
    parser.add_argument("--json", metavar="FILE", help="all samples and checks")
    parser.add_argument("--logs", metavar="FOLDER", help="keep the logs there")
    parser.add_argument("--report", default=shutil.which("pprof-report"), metavar="PROGRAM",
                        help="pprof-report, where PATH does not lead to it")
    args = parser.parse_args()
    if not args.report:
        parser.error("pprof-report is not in PATH: use --report")
    return args


def run_variants(args, folder, results):
    """Whether all bounds were met. A variant that this machine cannot run prints the reason."""
    met = True
    for variant in args.variants.split(","):
        try:
            with torch.no_grad():
                samples, log = measure(variant, args, folder)
        except Exception as error:
            if variant != "compile":  # it needs a compiler, too
                raise
            print("\ncompile: not run: %s" % (str(error).strip().splitlines() or [error])[0])
            results[variant] = {"error": str(error)}
            continue
        checks = check(samples)
        print_table(variant, samples, checks)
        sys.stdout.flush()
        met = met and all(row[-1] for row in checks)
        results[variant] = {"samples_s": samples, "checks": checks}
        subprocess.run([args.report, "--view", "userdefined", log], check=True)
    return met


def main():
    args = parse()
    if not torch.cuda.is_available():
        print("torch_pipeline.py needs a CUDA device", file=sys.stderr)
        return 3
    torch.set_num_threads(1)  # the CPU task alike each time
    machine = describe()
    print(", ".join("%s %s" % pair for pair in machine.items()))
    results = {}
    with contextlib.ExitStack() as stack:
        folder = args.logs or stack.enter_context(tempfile.TemporaryDirectory())
        os.makedirs(folder, exist_ok=True)
        met = run_variants(args, folder, results)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "pprof.example.torch/1", "machine": machine,
                       "variants": results}, file)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
