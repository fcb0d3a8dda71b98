# SPDX-License-Identifier: Apache-2.0
"""Programs with planted causes: batches, devices, fan-out, event loops, and random mixtures of all
of them."""
from kernel import MS, Engine
from topologies import (ALL, chain, closed, in_bursts, pauses, poisson, regular, shared, source,
                        topology)
from topologies_loops import training

# Batches.


@topology("batch")
def batch_timer(w):
    w.total = 250
    w.define(w.hide("timer"), 25, cv=0.01)
    chain(w, "parse 1 | embed 5 | reply 2", poisson(35), None,
          batch={"embed": (16, w.hide("timer"))})


@topology("batch")
def batch_timer_fill(w):
    """Batches fill before the timer ends; the stage behind them is the limit."""
    w.define(w.hide("timer"), 60, cv=0.01)
    chain(w, "parse 1 | embed 8 | rank 6", batch={"embed": (4, w.hide("timer"))})


@topology("batch")
def batch_saturated(w):
    w.total = 600
    chain(w, "parse 1 | embed 22 | reply 2", places=16, batch={"embed": (8, None)})


@topology("batch")
def batch_tokenizer(w):
    """The thread that fills batches tokenizes each request, too."""
    w.total = 400

    def each(row, units):
        for unit in units:
            yield from tokenize(row, [unit])
    chain(w, "parse 1 | tokenize 3, embed 6 | reply 1", places=16, how={"tokenize": each},
          batch={"tokenize": (8, None)})
    tokenize = w.serve("tokenize")


# Devices.


def submitting(w, name, host, model, engine, device="gpu:0"):
    """A stage with threads that submit to their own stream and wait; `host` is its own time."""
    streams = {}

    def stream(row):
        if row not in streams:
            streams[row] = w.stream(device, engine)
        return streams[row]
    w.define(model[0], model[1], category="Inference")
    w.alias[name] = (model[0], host) if host else (model[0],)
    steps = [w.hidden(host)] if host else []
    return w.within(name, *steps, w.launch(model[0], stream), w.sync())


@topology("device")
def device_bound(w):
    step = submitting(w, "infer", None, ("model", 5.5), Engine())
    chain(w, "decode 4 x2 | infer 0 x3 | reply 1", how={"infer": step})
    w.forget("infer")


@topology("device")
def device_host_bound(w):
    """The threads that submit are the limit, not the device."""
    w.define("prepare", 9)
    step = submitting(w, "infer", "prepare", ("model", 3), Engine())
    chain(w, "decode 2 x2 | infer 0 x2 | reply 1", how={"infer": step})
    w.forget("infer")


@topology("device")
def two_models(w):
    engine = Engine()
    detect = submitting(w, "detect", None, ("detector", 3), engine)
    rank = submitting(w, "rank", None, ("ranker", 4.5), engine)
    chain(w, "decode 2 | detect 0 x2 | rank 0 x2 | reply 1", how={"detect": detect, "rank": rank})
    w.forget("detect", "rank")


@topology("device")
def two_devices(w):
    detect = submitting(w, "detect", None, ("detector", 3), Engine(), "gpu:0")
    rank = submitting(w, "rank", None, ("ranker", 7), Engine(), "gpu:1")
    chain(w, "decode 2 | detect 0 x2 | rank 0 x2 | reply 1", how={"detect": detect, "rank": rank})
    w.forget("detect", "rank")


@topology("device")
def copy_limit(w):
    """Copies have an engine of their own, and are the limit."""
    copies, engine = Engine(), Engine()
    w.define("copy in", 6, category="Memcpy")
    copier = w.stream("gpu:0", copies)
    model = submitting(w, "infer", None, ("model", 3), engine)
    w.alias["upload"] = ("copy in",)
    chain(w, "decode 2 x2 | upload 0 x2 | infer 0 x2 | reply 1", how={
        "upload": w.within("upload", w.launch("copy in", copier), w.sync()), "infer": model})
    w.forget("upload", "infer")


@topology("device")
def device_callback(w):
    """A thread submits and goes on; the stage behind waits for the device."""
    w.define("model", 5, category="Inference")
    stream = w.stream()
    chain(w, "decode 1 | submit 0.3 | finish 0.5", places=4, how={
        "submit": w.within("submit", w.hidden("submit"), w.launch("model", stream)),
        "finish": w.within("finish", w.sync(), w.hidden("finish"))})


@topology("device")
def rag_three_models(w):
    """Each model has a thread and a stream; the generator launches and waits in turn."""
    how = {}
    for name, host, device in (("embed", 1, 1.5), ("rerank", 1.5, 2), ("generate", 3, 6)):
        model, stream = f"{name} kernels", w.stream()
        w.define(model, device / 6, category="Kernel")
        w.define(f"{name} launches", host / 6)
        steps = [w.hidden(f"{name} launches"), w.launch(model, stream)] * 6
        how[name] = w.within(name, *steps, w.sync())
        w.alias[name] = (f"{name} launches", model)
    chain(w, "fetch 1 | embed 0 | rerank 0 | generate 0", how=how)
    w.forget("embed", "rerank", "generate")


# Parts of a unit that run beside others.


def fan_out(w, start, branches, before="parse 1", after="merge"):
    """`branches` are (name, ms, threads)."""
    last = w.queue(after)
    inboxes = []
    for name, ms, threads in branches:
        w.define(name, ms)
        inboxes.append(w.queue(name))
        for number in range(threads):
            w.worker(w.row(f"{name} {number}"), [w.serve(name)], inboxes[-1], w.join(last.put))
    w.define(after, 1)
    w.worker(w.row(f"{after} 0"), [w.serve(after)], last, w.finish)
    chain(w, before, start, end=w.fork(inboxes))


@topology("fan-out")
def fanout_closed(w):
    fan_out(w, closed(3), (("shard A", 9, 4), ("shard B", 5, 4), ("shard C", 4, 4)))


@topology("fan-out")
def fanout_single(w):
    """One thread each: the slowest is full."""
    fan_out(w, closed(8), (("shard A", 4, 1), ("shard B", 8, 1), ("shard C", 3, 1)))


@topology("fan-out")
def fanout_open(w):
    fan_out(w, poisson(30), (("shard A", 9, 1), ("shard B", 5, 1), ("shard C", 4, 1)))


# An event loop: one thread, tasks that wait elsewhere.


def event_loop(w, start, stages, total=300, tasks=False):
    """`stages` are (name, ms, None) on the loop and (name, ms, places) elsewhere, 0 for any
    number, or a step of their own. Nothing shows that ranges of `tasks` stay on their thread."""
    w.total = total
    row = w.row("loop")
    ready = w.lock(None)
    steps = []
    for name, ms, places in stages:
        w.define(name, ms)
        if callable(places):
            steps.append(places)
        elif places is None:
            steps.append(w.locked(ready, w.serve(name, wandering=tasks)))
        else:
            steps.append(w.elsewhere(name, w.lock(None, places) if places else None,
                                     ready if tasks else None))
    inbox = w.queue("loop")
    w.main = row

    def one(unit):
        for step in steps:
            yield from step(row, [unit])
        yield from w.finish(unit)

    def accept():
        while True:
            unit = yield from inbox.get()
            w.kernel.spawn(one(unit), row, w.kernel.now)
    w.kernel.spawn(accept(), row)
    start(w, inbox)


@topology("asyncio")
def loop_busy(w):
    event_loop(w, closed(12), (("parse", 1.5, None), ("fetch", 20, 0), ("render", 4, None)))


@topology("asyncio")
def loop_tasks(w):
    event_loop(w, closed(10), (("parse", 1, None), ("fetch", 20, 0), ("render", 4, None)),
               tasks=True)


@topology("asyncio")
def loop_remote(w):
    event_loop(w, closed(4), (("parse", 1, None), ("fetch", 30, 0), ("render", 1, None)))


@topology("asyncio")
def loop_remote_cap(w):
    event_loop(w, closed(12), (("parse", 1, None), ("fetch", 20, 3), ("render", 1, None)))


@topology("asyncio")
def loop_rows(w):
    """Tasks come to the loop in rows, with a pause after each row."""
    event_loop(w, closed(10), (("fetch", 8, 0), ("render", 6, None), ("store", 4, 0)), tasks=True)


def loop_pool(w, *around):
    """A task waits for one of few connections before its range begins."""
    step = w.locked(w.lock(None, 3), w.elsewhere("query"))
    for name in around:
        step = w.within(name, step, cpu=(0, 0), wandering=True)
    event_loop(w, closed(16), (("parse", 0.1, None), ("query", 12, step), ("generate", 20, 0)))


topology("asyncio")(loop_pool)


@topology("asyncio")
def loop_pool_around(w):
    loop_pool(w, "retrieve")


@topology("asyncio")
def loop_open(w):
    event_loop(w, poisson(20), (("parse", 1.5, None), ("fetch", 12, 0), ("render", 2, None)))


# Random mixtures: each seed is another program.

NAMES = ("read", "parse", "clean", "embed", "search", "rerank", "score", "filter", "generate",
         "render", "store", "notify")


def spec_of(numbers, least=3, most=6, limit=None, pools=True):
    """A chain with one pool that is `limit` times as long for each thread as the next."""
    names = sorted(numbers.sample(NAMES, numbers.randint(least, most)), key=NAMES.index)
    busiest = numbers.randrange(len(names))
    parts = []
    for number, name in enumerate(names):
        threads = numbers.choice((1, 1, 1, 2, 4)) if pools else 1
        each = numbers.uniform(0.5, 4)
        if limit and number == busiest:
            each = 4 * numbers.uniform(*limit)
        parts.append(f"{name} {each * threads:.2f} x{threads}")
    return " | ".join(parts), names, names[busiest]


def mixture(family, name):
    """Built from numbers of the seed, so each seed is a program of its own."""
    def add(function):
        ALL[name] = (family, lambda w: function(w, w.numbers("mixture")))
        return function
    return add


@mixture("mixture", "fz_sat")
def fz_sat(w, numbers):
    chain(w, spec_of(numbers, limit=(1.15, 2.5))[0], places=numbers.choice((1, 2, 4, 16)))


@mixture("mixture", "fz_sat_single")
def fz_sat_single(w, numbers):
    chain(w, spec_of(numbers, limit=(1.15, 2), pools=False)[0], places=numbers.choice((2, 8)))


@mixture("mixture", "fz_closed")
def fz_closed(w, numbers):
    chain(w, spec_of(numbers, limit=(1, 2))[0], closed(numbers.randint(1, 12)), None)


@mixture("mixture", "fz_open")
def fz_open(w, numbers):
    w.total = 500
    chain(w, spec_of(numbers, limit=(1.3, 1.6))[0], poisson(numbers.uniform(6.6, 8)), None)


@mixture("mixture", "fz_healthy")
def fz_healthy(w, numbers):
    chain(w, spec_of(numbers)[0], poisson(numbers.uniform(25, 60)), None)


@mixture("mixture", "fz_workers")
def fz_workers(w, numbers):
    spec = ", ".join(part.partition(" x")[0] for part in spec_of(numbers)[0].split(" | "))
    chain(w, f"{spec} x{numbers.randint(2, 8)}", numbers.choice((source, closed(16))), None)


@mixture("mixture", "fz_lock")
def fz_lock(w, numbers):
    shared(w, "read 0.5 | embed 5 x4 | search 0.7 | rerank 4 x3 | store 0.5",
           ("embed", "rerank"), numbers.uniform(2, 5), marked=("index lock", "index write"))


@mixture("mixture", "fz_lock_unmarked")
def fz_lock_unmarked(w, numbers):
    shared(w, "read 0.5 | embed 5 x4 | search 0.7 | rerank 4 x4 | store 0.5",
           ("embed", "rerank"), numbers.uniform(2.5, 5))


@mixture("mixture", "fz_dev")
def fz_dev(w, numbers):
    step = submitting(w, "infer", None, ("model", numbers.uniform(3, 7)), Engine())
    spec, names, _ = spec_of(numbers, 2, 3)
    chain(w, f"{spec} | infer 0 x{numbers.randint(1, 3)}", how={"infer": step})
    w.forget("infer")


@mixture("mixture", "fz_steps")
def fz_steps(w, numbers):
    training(w, numbers.uniform(3, 16), numbers.uniform(4, 9), loaders=numbers.randint(1, 3),
             marked=numbers.random() < 0.5)


@mixture("mixture", "fz_fan")
def fz_fan(w, numbers):
    fan_out(w, closed(numbers.randint(1, 8)),
            [(f"shard {letter}", numbers.uniform(2, 9), numbers.randint(1, 3))
             for letter in "ABCD"[:numbers.randint(2, 4)]])


@mixture("mixture", "fz_batch")
def fz_batch(w, numbers):
    w.total = 500
    chain(w, f"parse 1 | embed {numbers.uniform(10, 30):.1f} | rank {numbers.uniform(1, 3):.1f}",
          places=16, batch={"embed": (numbers.choice((4, 8)), None)})


@mixture("mixture", "fz_loop")
def fz_loop(w, numbers):
    event_loop(w, closed(numbers.randint(3, 16)),
               (("parse", numbers.uniform(0.5, 3), None), ("fetch", numbers.uniform(8, 30),
                                                           numbers.choice((0, 2, 4))),
                ("render", numbers.uniform(0.5, 3), None)))


@mixture("mixture", "fz_pause_sat")
def fz_pause_sat(w, numbers):
    pauses(w, numbers.uniform(30, 80), 200, numbers.uniform(300, 600))
    chain(w, spec_of(numbers, limit=(1.2, 2.5))[0])


@mixture("mixture", "fz_balanced")
def fz_balanced(w, numbers):
    ms = numbers.uniform(2, 8)
    chain(w, " | ".join(f"{name} {ms:.2f}" for name in NAMES[:numbers.randint(3, 6)]),
          spread=0, cv=0.01)


@mixture("mixture", "fz_bursts")
def fz_bursts(w, numbers):
    w.total = 320
    chain(w, spec_of(numbers, limit=(1.1, 1.4))[0], in_bursts(8, numbers.choice((8, 16))), None)


@mixture("mixture", "fz_late")
def fz_late(w, numbers):
    """A loaded machine: threads wake up late."""
    w.kernel.late = int(numbers.uniform(0.3, 2.4) * MS)
    chain(w, spec_of(numbers, limit=(1.6, 3))[0], places=8)


@mixture("mixture", "fz_late_closed")
def fz_late_closed(w, numbers):
    w.kernel.late = int(numbers.uniform(0.2, 1) * MS)
    chain(w, spec_of(numbers, limit=(1.6, 3))[0], closed(12), None)


@mixture("mixture", "fz_all")
def fz_all(w, numbers):
    """A lock with ranges, a logger, waits with ranges, tails, late wake-ups at once."""
    w.kernel.late = int(numbers.choice((0, 0.1, 0.4)) * MS)
    if numbers.random() < 0.5:
        w.define("write log", numbers.uniform(0.5, 3))
        w.background(w.row("logger"), "write log")
    waits = ("wait for input", "hand over") if numbers.random() < 0.4 else ()
    chain(w, spec_of(numbers, limit=(1.3, 2.5))[0], places=numbers.choice((2, 4, 8)),
          waits=waits, cv=numbers.choice((0.1, 0.3, 0.6)))


@mixture("mixture", "fz_all_open")
def fz_all_open(w, numbers):
    w.total = 400
    if numbers.random() < 0.5:
        w.define("write log", numbers.uniform(0.5, 3))
        w.background(w.row("logger"), "write log")
    start = numbers.choice((poisson(9), regular(8), in_bursts(10, 6)))
    chain(w, spec_of(numbers, limit=(1, 1.6))[0], start, None, cv=numbers.choice((0.1, 0.4)))
