# SPDX-License-Identifier: Apache-2.0
"""Programs with planted causes that go in rounds: training with loaders, with a device, and on
several ranks."""
from topologies import ALL, chain, pauses, pools_of, topology
from world import Unit


def rounds(w, *steps, main="main", every=None):
    w.main = w.row(main)
    w.loop(w.main, steps, every)


@topology("pause")
def barrier_stops(w):
    """Four threads compute a part of each round, and all stand still twice, for 5 % of the time."""
    w.total = 250
    pauses(w, 80, 700, 1300)
    w.define("grad", 10)
    w.define("reduce", 2)
    inboxes = [w.queue(f"part {n}") for n in range(4)]
    for number, inbox in enumerate(inboxes):
        w.server(w.row(f"worker {number}"), inbox, "grad")

    def parts(_, units):
        back = w.queue("parts done")
        for inbox in inboxes:
            inbox.put_now((units[0], back))
        for _ in inboxes:
            yield from back.get()
    rounds(w, parts, w.serve("reduce"))


@topology("device")
def device_one_thread(w):
    """Preprocessing and submission in one thread, the device is the limit all the same."""
    stream = w.stream()
    w.define("decode", 1.5, category="Preprocess")
    w.define("model", 6, category="Inference")
    ends = []
    rounds(w, w.serve("decode"), w.launch("model", stream, ends), w.sync("wait", 1, ends))


@topology("device")
def device_ahead(w):
    """Many launches ahead; the device is the limit and the host waits at times."""
    stream, ends = w.stream(), []
    w.define("launch layers", 1)
    w.define("layers", 5, category="Inference")
    rounds(w, w.serve("launch layers"), w.launch("layers", stream, ends),
           w.sync("wait for loss", 3, ends))


@topology("device")
def host_bound(w):
    stream = w.stream()
    w.define("decode", 7.6, category="Preprocess")
    w.define("model", 2.7, category="Inference")
    w.define("reply", 0.9)
    rounds(w, w.serve("decode"), w.launch("model", stream), w.sync("wait"), w.serve("reply"))


@topology("device")
def launch_bound(w):
    """Small kernels, each launched for longer than it runs."""
    stream, w.total = w.stream(), 120
    w.define("launch", 0.05)
    w.define("small kernel", 0.02, category="Kernel")
    steps = [w.hidden("launch"), w.launch("small kernel", stream)] * 60
    rounds(w, w.within("forward", *steps), w.sync("step"))
    w.alias["forward"] = ("launch", "small kernel")


@topology("device")
def item_waits(w):
    """Forward reads a number back from the device after each layer."""
    stream, w.total = w.stream(), 150
    w.define("load", 0.6, category="Dataloader")
    w.define("layer", 0.35, category="Kernel")
    w.define("launch", 0.02)
    steps = [w.hidden("launch"), w.launch("layer", stream), w.sync()] * 8
    rounds(w, w.serve("load"), w.within("forward", *steps))
    w.alias["forward"] = ("layer", "launch")


def training(w, load, forward, optimizer=2, loaders=1, places=4, marked=True, every=None,
             before=None):
    """Loaders that work ahead, and a thread that takes a batch and computes."""
    w.total = 150
    for name, ms in (("forward", forward), ("optimizer", optimizer), ("decode", load)):
        w.define(name, ms, category={"forward": "Forward", "optimizer": "Optimization",
                                     "decode": "Preprocess"}[name])
    batches = w.queue("forward", places)
    w.main = w.row("train")

    def take(row, units):
        begin = w.kernel.now
        yield from batches.get()
        if marked:
            w.mark(row, "next batch", begin, units)

    def loader(row, number):
        step = w.serve("decode")
        n = number
        while True:
            yield from step(row, [Unit(n, 0)])
            n += loaders
            yield from batches.put(n)
    for number in range(loaders):
        row = w.row(f"loader {number}")
        w.kernel.spawn(loader(row, number), row)
    w.loop(w.main, [take, w.serve("forward"), w.serve("optimizer")], every, before=before)


@topology("loops")
def prefetch_ok(w):
    training(w, 5, 8.5)


@topology("loops")
def prefetch_slow(w):
    training(w, 13, 7)


@topology("loops")
def prefetch_slow_gap(w):
    training(w, 13, 7, marked=False)


@topology("loops")
def loaders_four(w):
    training(w, 30, 8.5, loaders=4)


@topology("loops")
def loaders_meet(w):
    """Each of two loaders decodes half of a batch, of unlike lengths, well ahead."""
    w.total, w.unmarked = 150, True
    w.define("forward", 12, category="Forward")
    halves = [w.queue(f"half {number}", 1) for number in range(2)]

    def ends_in(half):
        def put(_row, units):
            yield from half.put(units[0].n)
        return put

    def take(_row, _units):
        for half in halves:
            yield from half.get()
    rounds(w, take, w.serve("forward"))
    for number, half in enumerate(halves):
        name = w.define(f"decode {number}", 4, shape=lambda _, u: 1.9 if u < 0.4 else 0.5)
        w.alias.setdefault("decode", []).append(name)
        w.loop(w.row(f"loader {number}"), [w.within("decode", w.hidden(name)), ends_in(half)],
               counted=False)


@topology("background")
def background(w):
    training(w, 5, 8.5)
    w.background(w.row("metrics"), w.define("poll metrics", 0.9))


@topology("loops")
def iter_unmarked(w):
    """No steps; one round takes far longer than the others, and it begins with a start."""
    w.unmarked = True
    build, evaluate = (w.serve(w.define(name, ms))
                       for name, ms in (("build model", 800), ("evaluate", 600)))
    training(w, 5, 8.5, every=(130, evaluate), before=build)


@topology("loops")
def iter_loader(w):
    w.unmarked = True
    training(w, 14, 7)


@topology("loops")
def one_thread(w):
    for name, ms in (("load", 2), ("forward", 6), ("backward", 3.5), ("optimizer", 1)):
        w.define(name, ms)
    rounds(w, *map(w.serve, ("load", "forward", "backward", "optimizer")))


@topology("loops")
def save_now_and_then(w):
    w.define("save", 120)
    for name, ms in (("load", 1), ("forward", 4), ("optimizer", 2.2)):
        w.define(name, ms)
    w.unmarked = True
    rounds(w, *map(w.serve, ("load", "forward", "optimizer")), every=(100, w.serve("save")))


# Loops with kernels, as in annotated programs without steps.


SYNC = "cudaStreamSynchronize"


def layers(w, name, launch, kernel, number, wait=False):
    """A range that launches so many kernels; with `wait` it reads each result back."""
    w.define(f"{name} launches", launch, spread=0.1)
    w.define(f"{name} kernel", kernel, spread=0.1, category="Kernel")
    w.alias[name] = (f"{name} launches", f"{name} kernel")
    steps = [w.hidden(f"{name} launches"), w.launch(f"{name} kernel", w.streams[0])]
    w.categories[SYNC] = "CudaRuntime"
    return w.within(name, *(steps + [w.sync(SYNC)] * wait) * number)


def kernel_loop(w, data=1, forward=(0.02, 0.3, 6), optimizer=(0.02, 0.1, 4), copy=None, item=False,
                free=None, save=None, advice=""):
    """Data, forward, backward and optimizer; `copy` is one that the host waits for, `free` a time
    between the stages, `save` a stage of each tenth round, `advice` what has to be advised."""
    w.total, w.unmarked, w.advice = 80, True, advice
    w.stream()
    steps = [w.serve(w.define("data", data, category="Dataloader"))]
    if copy:
        w.define("copy", copy, category="Memcpy")
        steps.append(w.within("upload", w.launch("copy", w.streams[0]), w.sync()))
        w.alias["upload"] = ("copy",)
    steps += [layers(w, "forward", *forward, wait=item), layers(w, "backward", *forward),
              layers(w, "optimizer", *optimizer), w.sync("loss")]
    if free:
        w.define(w.hide("free memory"), free)
        steps.append(w.hidden(w.hide("free memory")))
    every = (10, w.serve(w.define("save", save))) if save else None
    rounds(w, *steps, main="python", every=every)


for row in (
        ("train_compute", {}),
        ("train_launch", {"forward": (0.05, 0.02, 40), "advice": "launch fewer"}),
        ("train_item", {"forward": (0.02, 0.16, 18), "item": True}),
        # So many that the report keeps outer ranges alone.
        ("train_items", {"forward": (0.02, 0.005, 300), "item": True, "advice": r"\.item\(\)"}),
        ("train_copy", {"copy": 6}),
        ("train_loader", {"data": 12}),
        ("train_free_memory", {"free": 9}),
        ("train_optimizer", {"optimizer": (0.06, 0.01, 120)}),
        ("train_save", {"save": 160})):
    ALL[row[0]] = ("kernels", lambda w, options=row[1]: kernel_loop(w, **options))


@topology("kernels")
def train_memory(w):
    """Each round gives all memory back, and takes it again."""
    w.total, w.unmarked, w.advice = 80, True, "keep memory"
    w.stream()
    for name, ms in (("cudaMalloc", 2), ("cudaFree", 3.4)):
        w.define(name, ms)
        w.categories[name] = "CudaRuntime"
    w.alias["empty_cache"] = ("cudaFree",)
    rounds(w, w.serve(w.define("data", 0.3, category="Dataloader")),
           w.within("forward", w.serve("cudaMalloc"), layers(w, "layers", 0.02, 0.3, 6)),
           layers(w, "backward", 0.02, 0.3, 14), w.sync("loss"),
           w.within("empty_cache", w.serve("cudaFree")), main="python")


@topology("kernels")
def train_pageable(w):
    """Each copy from pageable memory returns once the device has it, behind earlier work."""
    stream, ends = w.stream(), []
    w.advice = "pinned"
    w.define("data", 0.1, category="Preprocess")
    for name, ms in (("copy pictures", 47), ("copy labels", 0.02)):
        w.define(name, ms, category="Memcpy")
    for name, ms in (("forward", 7.5), ("backward", 17.5)):
        w.define(name, ms, category="Forward")
    w.alias["to_gpu"] = ("copy pictures",)
    copies = [step for name in ("copy pictures", "copy labels")
              for step in (w.launch(name, stream, ends), w.sync(None, 0, ends))]
    rounds(w, w.serve("data"), w.within("to_gpu", *copies), w.launch("forward", stream, ends),
           w.launch("backward", stream, ends))


@topology("processes")
def train_slow_rank(w):
    """Two ranks; the second has more to do before the collective, which the first waits in."""
    w.total, w.ranks = 120, True
    w.define("augment", 9)
    w.define("augment of rank 0", 1)
    w.define("forward", 4, category="Forward")
    w.define("all_reduce", 0.8, category="Communication")
    meeting = Meeting(w, 2)
    for rank in range(2):
        row = w.row("python", rank)
        name = "augment" if rank else "augment of rank 0"
        stream = w.stream(f"gpu:{rank}", process=rank)
        w.loop(row, [w.within("augment", w.hidden(name)), w.serve("forward"),
                     meeting.all_reduce("all_reduce", stream)], counted=rank == 1)
    w.main = row


class Meeting:
    """A collective begins once all have come; its kernel runs from when its rank came."""

    def __init__(self, w, number):
        self.w, self.number, self.waiting = w, number, []

    def wait(self, _row, _units):
        self.waiting.append(self.w.kernel.task)
        if len(self.waiting) < self.number:
            yield None
            return
        for task in self.waiting[:-1]:
            self.w.kernel.give(task)
        self.waiting.clear()

    def all_reduce(self, name, stream):
        def step(row, units):
            w, ready = self.w, self.w.kernel.now
            self.waiting.append(w.kernel.task)
            if len(self.waiting) < self.number:
                yield None
            else:
                for task in self.waiting[:-1]:
                    w.kernel.give(task)
                self.waiting.clear()
            end = w.kernel.now + w.time(name, units[0].n)
            w.ranges.append((row, name, ready, ready + 6000, [], None,
                             (stream.number, ready + 20000, end)))
            yield end - w.kernel.now + 12000
        return step


def meeting_threads(w, parts, reduce=1):
    """A thread for each part of a round; all meet, the first one reduces, and all meet again.
    `parts` are (ms, shape) of each thread's time."""
    w.total, w.unmarked = 150, True
    w.define("reduce", reduce)
    meeting = Meeting(w, len(parts))
    for number, (ms, shape) in enumerate(parts):
        name = w.define(f"part {number}", ms, shape=shape, spread=0.03)
        w.alias.setdefault("compute", []).append(name)
        row = w.row(f"worker {number}")
        steps = [w.within("compute", w.hidden(name)), meeting.wait]
        w.loop(row, steps + [w.serve("reduce")] * (not number) + [meeting.wait],
               counted=not number)
        w.main = row if not number else w.main


@topology("loops")
def meet_slow(w):
    """One of four threads takes longer, as it has more to do."""
    meeting_threads(w, [(4, None), (4, None), (7, None), (4, None)])
    w.advice = "worker 2"


@topology("loops")
def meet_uneven(w):
    """In each round other threads have more to do."""
    meeting_threads(w, [(4, lambda _, u: 2.5 if u < 0.25 else 1)] * 4)
    w.advice = "smaller parts"


@topology("loops")
def meet_alike(w):
    meeting_threads(w, [(5, None)] * 3)
    w.advice = "cheaper"


@topology("processes")
def two_processes(w):
    """Requests go on in a second process, which is the limit."""
    w.define("rank", 6)
    w.define("answer", 1)
    inbox, last = w.queue("rank", 8), w.queue("answer", 8)
    w.worker(w.row("ranker", 1), [w.serve("rank")], inbox, last.put)
    w.worker(w.row("answerer", 1), [w.serve("answer")], last, w.finish)
    chain(w, "accept 1 | embed 3", end=inbox.put)


@topology("processes")
def call_process(w):
    """One thread asks a model in another process, and waits for it in its own range."""
    w.define("ask", 4)
    w.define("infer", 10)
    inbox, model = w.queue("ask", 4), w.queue("infer")
    w.server(w.row("model", 1), model, "infer")
    w.worker(w.row("front"), [w.within("ask", w.hidden("ask"), w.call(None, model))], inbox,
             w.finish)
    w.no_request = True
    w.main = w.row("main")
    w.source(inbox)


def processes(w, spec):
    """One for each stage, with queues between them. Ranges without a request wait for input and
    for a place behind them."""
    stages = [name for pool, _ in pools_of(spec) for name in pool]
    inboxes = [w.queue(name, 4) for name in stages]
    w.no_request = True
    outs = [*(inbox.put for inbox in inboxes[1:]), w.finish]
    for number, (pool, threads) in enumerate(pools_of(spec)):
        name = stages[number]
        w.define(name, pool[name])
        for _ in range(threads):
            w.worker(w.row(name, number), [w.serve(name)], inboxes[number], outs[number],
                     waits=(f"get before {name}", f"put behind {name}"))
    w.main = w.row("main")
    w.source(inboxes[0])


for row in (
        ("processes_first", "decode 8 | embed 3 | index 2"),
        ("processes_second", "decode 3 | embed 16 x2 | index 5"),
        ("processes_last", "decode 5 | embed 2 | index 8")):
    ALL[row[0]] = ("processes", lambda w, spec=row[1]: processes(w, spec))
