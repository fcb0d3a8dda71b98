# SPDX-License-Identifier: Apache-2.0
"""Random programs that no rule was made on: what they are of differs by seed, not only how long it
takes."""
from kernel import MS, Engine
from topologies import chain, closed, in_bursts, poisson, regular, source
from topologies_loops import kernel_loop, layers, rounds
from topologies_more import NAMES, event_loop, fan_out, mixture, submitting


def arrivals(numbers, limit_ms):
    """Of a program that could end a unit each `limit_ms`."""
    return numbers.choice((
        source, source, closed(numbers.randint(1, 12)), poisson(limit_ms * numbers.uniform(1.1, 6)),
        regular(limit_ms * numbers.uniform(1.05, 3)),
        in_bursts(limit_ms * numbers.uniform(1.3, 3), numbers.choice((4, 12)))))


def plain(w, numbers, name, ms):
    w.define(name, ms, cv=numbers.choice((0.05, 0.2, 0.6)))
    return w.serve(name)


def divided(w, numbers, name, ms):
    """Two ranges in one."""
    part = numbers.uniform(0.2, 0.8)
    w.alias[name] = (f"{name} head", f"{name} tail")
    return w.within(name, plain(w, numbers, f"{name} head", ms * part),
                    plain(w, numbers, f"{name} tail", ms * (1 - part)))


def served(w, numbers, name, ms):
    """The range waits for threads that answer."""
    w.define(f"{name} answer", ms)
    inbox = w.queue(f"{name} answer")
    for number in range(numbers.choice((1, 1, 3))):
        w.server(w.row(f"{name} server {number}"), inbox, f"{name} answer")
    w.alias[name] = (f"{name} answer",)
    return w.call(name, inbox)


def locked(w, numbers, name, ms):
    """A part of it holds a lock; both have ranges."""
    part = numbers.uniform(0.3, 0.9)
    w.alias[name] = (f"{name} own", f"{name} update")
    w.alias[f"{name} lock"] = (f"{name} update",)
    lock = w.lock(f"{name} lock")
    return w.within(name, plain(w, numbers, f"{name} own", ms * (1 - part)),
                    w.locked(lock, plain(w, numbers, f"{name} update", ms * part),
                             wait=f"{name} lock"))


def on_device(w, numbers, name, ms):
    part = numbers.uniform(0.5, 0.95)
    host = w.define(f"{name} host", ms * (1 - part))
    return submitting(w, name, host, (f"{name} model", ms * part), w.wild_engine)


KINDS = (plain, plain, plain, divided, served, locked, on_device)


def some_times(numbers, number):
    """Mostly one that stands out."""
    times = [numbers.uniform(0.4, 4) for _ in range(number)]
    if numbers.random() < 0.7:
        times[numbers.randrange(number)] *= numbers.uniform(2, 4)
    return times


def wild_chain(w, numbers, spec, times, start):
    """`spec` has the stages by pool."""
    w.total, w.wild_engine, how = 350, Engine(), {}
    names = [name for pool in spec for name in pool]
    for name, ms in zip(names, times):
        how[name] = numbers.choice(KINDS)(w, numbers, name, ms)
    text = " | ".join(", ".join(f"{name} 0" for name in pool) + f" x{threads}"
                      for pool, threads in spec.items())
    known = dict(w.times)
    chain(w, text, start, numbers.choice((1, 4, 16, None)), how=how)
    w.forget(*(name for name in names if name not in known))


@mixture("wild", "wild_pools")
def wild_pools(w, numbers):
    """A pool for each stage."""
    names = sorted(numbers.sample(NAMES, numbers.randint(2, 6)), key=NAMES.index)
    times = some_times(numbers, len(names))
    spec = {(name,): numbers.choice((1, 1, 1, 2, 4)) for name in names}
    slowest = max(ms / threads for ms, threads in zip(times, spec.values()))
    wild_chain(w, numbers, spec, times, arrivals(numbers, max(slowest, max(times) / 2)))


@mixture("wild", "wild_workers")
def wild_workers(w, numbers):
    """One pool does all stages on each of its threads, perhaps behind another pool."""
    names = sorted(numbers.sample(NAMES, numbers.randint(3, 5)), key=NAMES.index)
    times, first = some_times(numbers, len(names)), numbers.randint(0, 1)
    threads = numbers.randint(2, 8)
    spec = {tuple(names[:first]): 1, tuple(names[first:]): threads} if first else {
        tuple(names): threads}
    wild_chain(w, numbers, spec, times,
               arrivals(numbers, max(sum(times) / threads, max(times))))


@mixture("wild", "wild_device")
def wild_device(w, numbers):
    """Models with a thread and a stream each, on one engine or one each."""
    names = sorted(numbers.sample(NAMES, numbers.randint(2, 3)), key=NAMES.index)
    shared, how, total = Engine(), {}, 0
    for name in names:
        host, device = numbers.uniform(0.2, 3), numbers.uniform(0.5, 5)
        total = max(total, host + device)
        w.define(f"{name} host", host)
        how[name] = submitting(w, name, f"{name} host", (f"{name} model", device),
                               numbers.choice((shared, shared, Engine())))
    spec = " | ".join(f"{name} 0 x{numbers.choice((1, 1, 2))}" for name in names)
    chain(w, spec, arrivals(numbers, 1.5 * total), 8, how=how)
    w.forget(*names)


@mixture("wild", "wild_fan")
def wild_fan(w, numbers):
    branches = [(f"shard {letter}", numbers.uniform(2, 9), numbers.randint(1, 3))
                for letter in "ABCD"[:numbers.randint(2, 4)]]
    slowest = max(ms / threads for _, ms, threads in branches)
    fan_out(w, arrivals(numbers, slowest), branches, f"parse {numbers.uniform(0.5, 6):.2f}")


@mixture("wild", "wild_tasks")
def wild_tasks(w, numbers):
    stages = []
    for name in sorted(numbers.sample(NAMES, numbers.randint(3, 5)), key=NAMES.index):
        places = numbers.choice((None, None, 0, 3))
        stages.append((name, numbers.uniform(0.5, 3) * (1 if places is None else 6), places))
    busy = sum(ms for _, ms, places in stages if places is None)
    event_loop(w, arrivals(numbers, max(busy, 8)), stages)


@mixture("wild", "wild_batch")
def wild_batch(w, numbers):
    w.total = 400
    each, size, timer = numbers.uniform(4, 30), numbers.choice((4, 8, 16)), None
    if numbers.random() < 0.5:
        timer = w.define(w.hide("timer"), numbers.uniform(5, 40), cv=0.01)
    chain(w, f"parse {numbers.uniform(0.5, 3):.2f} | embed {each:.2f} | "
          f"rank {numbers.uniform(0.5, 4):.2f}", arrivals(numbers, 1.3 * each / size + 3), 32,
          batch={"embed": (size, timer)})


@mixture("wild", "wild_rounds")
def wild_rounds(w, numbers):
    """A thread that goes round; some of it runs on a device that it waits for late or at once."""
    w.total, w.unmarked = 120, numbers.random() < 0.5
    stream, steps = w.stream(), []
    names = numbers.sample(NAMES, numbers.randint(2, 5))
    for name, ms in zip(names, some_times(numbers, len(names))):
        kind = numbers.choice(("host", "host", "device", "kernels"))
        if kind == "host":
            steps.append(plain(w, numbers, name, ms))
        elif kind == "device":
            w.define(f"{name} model", ms)
            w.alias[name] = (f"{name} model",)
            steps.append(w.within(name, w.launch(f"{name} model", stream)))
        else:
            number = numbers.randint(3, 12)
            steps.append(layers(w, name, numbers.uniform(0.01, 0.2), ms / number, number,
                                numbers.random() < 0.3))
    every = None
    if numbers.random() < 0.3:
        w.define("save", numbers.uniform(5, 60))
        every = (numbers.choice((10, 20)), w.serve("save"))
    rounds(w, *steps, w.sync("loss"), every=every)


@mixture("wild", "wild_train")
def wild_train(w, numbers):
    kernel_loop(w, numbers.uniform(0.5, 8),
                (numbers.uniform(0.01, 0.1), numbers.uniform(0.01, 0.6), numbers.randint(3, 30)),
                (numbers.uniform(0.01, 0.1), numbers.uniform(0.01, 0.2), numbers.randint(3, 60)),
                item=numbers.random() < 0.3)


@mixture("wild", "wild_late")
def wild_late(w, numbers):
    """As wild_pools, with threads that wake up late, beside a thread without waiters."""
    w.kernel.late = int(numbers.uniform(0.1, 1.5) * MS)
    w.define("write log", numbers.uniform(0.5, 3))
    w.background(w.row("logger"), "write log")
    wild_pools(w, numbers)
