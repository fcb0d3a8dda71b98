# SPDX-License-Identifier: Apache-2.0
"""Programs with planted causes: chains, pools, locks, processors and where units come from. Which
of their times limits them is found by running them again, not written here."""
import re

from kernel import MS

CATEGORIES = {"embed": "Inference", "generate": "Inference", "infer": "Inference",
              "model": "Inference", "forward": "Forward", "optimizer": "Optimization",
              "next batch": "Dataloader", "decode": "Preprocess"}
ALL = {}  # name -> (family, function)


def topology(family):
    def add(function):
        ALL[function.__name__] = (family, function)
        return function
    return add


def source(w, inbox):
    w.source(inbox)


def closed(under_way):
    return lambda w, inbox: w.closed(inbox, under_way)


def poisson(ms):
    return lambda w, inbox: w.arrivals(inbox, ms)


def regular(ms):
    return lambda w, inbox: w.arrivals(inbox, ms, "regular")


def in_bursts(ms, burst):
    return lambda w, inbox: w.arrivals(inbox, ms, "bursts", burst)


def pools_of(spec):
    """`a 1 | b 2, c 3 x4`: [({stage: ms}, threads)]."""
    pools = []
    for text in spec.split("|"):
        text, _, threads = text.strip().partition(" x")
        stages = dict(re.fullmatch(r"(.*) ([\d.]+)", one.strip()).groups()
                      for one in text.split(","))
        pools.append(({name: float(ms) for name, ms in stages.items()}, int(threads or 1)))
    return pools


def chain(w, spec, start=source, places=4, how=None, batch=None, waits=(), end=None, urgent=None,
          computes=None, **times):
    """Pools of threads with queues between them. `how` has other steps than a plain range for
    single stages, `batch` the batches of a pool by its first stage. Returns the rows of each."""
    pools, how, batch, rows = pools_of(spec), how or {}, batch or {}, {}
    for stages, _ in pools:
        for name, ms in stages.items():
            w.define(name, ms, category=CATEGORIES.get(name, "UserDefined"), **times)
    first = [next(iter(stages)) for stages, _ in pools]
    inboxes = [w.queue(name, places, urgent) for name in first]
    if start is not source:
        inboxes[0].places = None
    for number, (stages, threads) in enumerate(pools):
        title = "worker" if len(stages) > 1 else first[number]
        steps = [how[name] if name in how else w.serve(name, computes) for name in stages]
        out = inboxes[number + 1].put if number + 1 < len(pools) else end or w.finish
        rows[first[number]] = [w.row(f"{title} {n}") for n in range(threads)]
        w.pools.append((rows[first[number]], list(stages)))
        for row in rows[first[number]]:
            w.worker(row, steps, inboxes[number], out, batch.get(first[number]), waits)
    w.main = w.row("main")
    start(w, inboxes[0])
    return rows


def add_chain(family, name, spec, start=source, total=300, cpu=False, **options):
    def build(w):
        w.total, w.cpu = total, cpu
        chain(w, spec, start, **options)
    ALL[name] = (family, build)


FIVE = "fetch {} | embed {} | search {} | rerank {} | generate {}"
LOW = FIVE.format(2, 4, 3, 4.5, 3.5)
for row in (
        ("chain", "chain_first", FIVE.format(8, 1, 1, 1, 1)),
        ("chain", "chain_second", FIVE.format(1, 8, 1, 1, 1)),
        ("chain", "chain_mid", FIVE.format(1, 1, 8, 1, 1)),
        ("chain", "chain_last", FIVE.format(1, 1, 1, 1, 8)),
        ("chain", "chain_moderate", FIVE.format(2, 4.4, 2.5, 2, 3)),
        ("chain", "chain_two_slow", FIVE.format(1, 3, 1, 6, 1)),
        ("pool", "pool_hidden", "fetch 1 | embed 24 x8 | search 1 | rerank 5.5 | generate 2"),
        ("pool", "pool_limit", "fetch 1 | embed 40 x4 | search 1 | rerank 4 | generate 2"),
        ("pool", "worker_pool", "parse 1, embed 6, generate 20 x8"),
        ("pool", "scatter_pool", "parse 1 x2 | embed 12 x3 | rank 30 x6 | reply 1 x2"),
        ("open", "overload_pool", "parse 1, embed 6, generate 20 x4", poisson(5))):
    add_chain(*row)
for row, options in (
        (("chain", "chain_unbounded", FIVE.format(1, 1, 5, 1, 2)), {"places": None}),
        (("chain", "chain_cpu", FIVE.format(1, 2, 6, 1, 1)), {"cpu": True}),
        (("balanced", "two_near", FIVE.format(1, 5, 1, 4.75, 1)), {"spread": 0.02}),
        (("balanced", "balanced", FIVE.format(5, 5, 5, 5, 5)), {"spread": 0, "cv": 0.01}),
        (("closed", "closed_eight", FIVE.format(1, 2, 7, 1, 1), closed(8)), {}),
        (("closed", "closed_one", FIVE.format(2, 4, 9, 1, 3), closed(1)), {}),
        (("closed", "closed_two_pools",
          "fetch 1.5 x3 | embed 8 x4 | search 2 x3 | rerank 11 x4 | generate 4 x3", closed(3)), {}),
        (("open", "open_low", LOW, poisson(24)), {}),
        (("open", "open_cpu", LOW, poisson(24)), {"cpu": True}),
        (("open", "open_regular", LOW, regular(9)), {}),
        (("open", "open_idle_poisson", FIVE.format(1, 2, 1, 2, 1), poisson(30)), {}),
        (("open", "open_high", FIVE.format(1, 2, 2, 6, 2), poisson(7.2)), {"total": 500}),
        (("open", "open_busy_pool", "parse 1 x2 | embed 20 x4 | reply 1 x2", poisson(5.8)),
         {"total": 500}),
        (("open", "worker_pool_open", "parse 1, embed 6, generate 20 x8", poisson(7)), {}),
        (("open", "slow_source", LOW, regular(8)), {"cv": 0.1}),
        (("open", "bursts", FIVE.format(0.3, 1, 1, 0.5, 4.2), in_bursts(6.2, 32)), {}),
        (("open", "idle_server", "parse 2 x2 | embed 4 x2 | reply 1 x2", poisson(60)), {})):
    add_chain(*row, **options)


@topology("closed")
def source_marked(w):
    w.define("read", 6)
    chain(w, "parse 1 | embed 3 | rerank 2 | reply 1",
          lambda w, inbox: w.source(inbox, [w.serve("read")]))


@topology("chain")
def chain_noflow(w):
    w.no_flows = True
    chain(w, FIVE.format(1, 2, 1, 6, 1))


@topology("chain")
def container(w):
    """A range around each thread's life."""
    rows = chain(w, FIVE.format(1, 1, 6, 2, 1))
    w.around = [(row[0], f"{name} thread") for name, row in rows.items()]


@topology("chain")
def long_start(w):
    load = w.serve(w.define("load model", 2000, cv=0.01), flows=False)
    chain(w, FIVE.format(1, 6, 1, 1, 2), lambda w, inbox: w.source(inbox, before=load))


@topology("open")
def priority(w):
    """A fifth of the requests go first wherever they wait."""
    w.total = 500
    chain(w, FIVE.format(1, 2, 1, 6, 1), poisson(6.9), None, urgent=lambda unit: unit.n % 5 == 0)


@topology("open")
def two_classes(w):
    """Few requests take long in one stage, and the others wait behind them."""
    w.total = 500
    long = lambda n, _: 14 if n % 20 == 0 else 1
    w.define("rank", 2.2, shape=long)
    chain(w, "parse 1 | rank 2.2 | reply 1", poisson(6.5), None)


@topology("tail")
def heavy_tail(w):
    w.total = 600
    w.define("rerank", 3.6, cv=2.2)
    chain(w, FIVE.format(1, 1, 1, 3.6, 1), poisson(6), None)


@topology("tail")
def head_of_line(w):
    w.total = 600
    w.define("rerank", 1.5, shape=lambda _, chance: 22 if chance < 0.06 else 1)
    chain(w, FIVE.format(0.5, 1, 1, 1.5, 1), poisson(6), None)


@topology("moves")
def drift(w):
    w.total = 400
    w.define("rerank", 1.8, shape=lambda n, _: 1 + 3.6 * n / 400)
    chain(w, FIVE.format(0.5, 2, 1, 1.8, 2), poisson(7.5), None)


@topology("moves")
def cold_start(w):
    w.total = 400
    w.define("generate", 2.2, shape=lambda n, _: 400 if n == 1 else 1)
    chain(w, FIVE.format(0.5, 1, 1, 0.5, 2.2), poisson(5.2), None)


@topology("moves")
def limit_moves(w):
    w.define("embed", 6, shape=lambda n, _: 1 if n < 150 else 0.2)
    w.define("generate", 6, shape=lambda n, _: 0.2 if n < 150 else 1)
    chain(w, FIVE.format(1, 6, 1, 1, 6), places=4)


@topology("replica")
def replica_slow(w):
    """Each of three threads gets every third request; the last takes three times as long."""
    w.define("embed", 2)
    inboxes = [w.queue(f"generate {n}") for n in range(3)]
    for number, inbox in enumerate(inboxes):
        own = w.define(f"generate {number}", 27 if number == 2 else 8, category="Inference")
        w.worker(w.row(own), [w.within("generate", w.hidden(own))], inbox, w.finish)
    w.categories["generate"] = "Inference"
    w.alias["generate"] = tuple(f"generate {n}" for n in range(3))

    def in_turn(unit):
        yield from inboxes[unit.n % 3].put(unit)
    chain(w, "fetch 1 | embed 2", poisson(10.5), None, end=in_turn)


add_chain("replica", "replicas_fine", "fetch 1 | embed 2 | generate 10 x3", poisson(12))


@topology("replica")
def hot_partition(w):
    """Each of four threads has a queue of its own, and one gets two thirds of the requests."""
    inboxes = [w.queue(f"look up {n}") for n in range(4)]
    w.define("look up", 4)
    for number, inbox in enumerate(inboxes):
        w.worker(w.row(f"shard {number}"), [w.serve("look up")], inbox, w.finish)
    numbers = w.numbers("keys")

    def by_key(unit):
        hot = numbers.random() < 0.66
        yield from inboxes[2 if hot else numbers.choice((0, 1, 3))].put(unit)
    chain(w, "parse 2 x16", closed(16), None, end=by_key)
    w.advice = "evenly"


@topology("retry")
def retry(w):
    """A third of the calls fail and are made again after a while, in the same range."""
    w.define(w.hide("back off"), 6)
    steps = [w.hidden(w.hide("back off"))]
    numbers = w.numbers("failures")
    fails = [numbers.random() < 0.35 for _ in range(w.total + 1)]

    def again(row, units):
        begin = w.kernel.now
        yield from w.spend("call", units)
        if fails[units[0].n]:
            yield from steps[0](row, units)
            yield from w.spend("call", units)
        w.mark(row, "call", begin, units)
    chain(w, "parse 1 | call 8 x2 | reply 1", how={"call": again})


# Locks, connections.


def shared(w, spec, stages, hold, places=1, marked=None, start=source, **options):
    """The stages take a place of one lock for `hold` ms after their own time; with `marked`
    (wait, use) both have ranges."""
    lock = w.lock("cache" if places == 1 else "connections", places)
    wait, use = marked or (None, w.hide(lock.name))
    w.define(use, hold)
    if wait:
        w.alias[wait] = (use,)
    own = w.serve(use) if marked else w.hidden(use)
    how = {name: w.within(name, w.hidden(name), w.locked(lock, own, wait=wait))
           for name in stages}
    chain(w, spec, start, how=how, **options)


LOCKED = "fetch 1 | embed 6 x4 | search 1 | rerank 4 x4 | generate 1"


@topology("lock")
def lock_marked(w):
    shared(w, LOCKED, ("embed", "rerank"), 3.7, marked=("cache lock", "cache update"))


@topology("lock")
def lock_unmarked(w):
    shared(w, LOCKED, ("embed", "rerank"), 3.7)


@topology("lock")
def lock_one_stage(w):
    shared(w, "fetch 1 | embed 6 x8 | reply 1", ("embed",), 4)


@topology("lock")
def lock_open(w):
    w.total = 500
    shared(w, "parse 1, embed 3 x8", ("embed",), 4, start=poisson(5.2))


@topology("lock")
def brief_lock(w):
    shared(w, "fetch 1 | embed 20 x4 | reply 1", ("embed",), 0.3)


@topology("lock")
def connections_marked(w):
    shared(w, "parse 2, query 3, render 4 x8", ("query",), 10, 2,
           ("wait for connection", "use connection"))


@topology("lock")
def connections_unmarked(w):
    w.total = 400
    shared(w, "parse 2, query 1, render 4 x8", ("query",), 10, 2)


def in_turn(w, spec, places, hidden, start=source):
    """Workers answer with a place of a lock around all their ranges; `hidden` ms of it have none."""
    lock = w.lock("turn", places)
    for name, time in (("embed", 1.2), ("rerank", 7), ("generate", 1.5)):
        w.define(name, time)
    w.define(w.hide("search"), hidden)
    how = {"answer": w.locked(lock, w.serve("embed"), w.hidden(w.hide("search")),
                              w.serve("rerank"), w.serve("generate"))}
    chain(w, spec, start, how=how)
    w.forget("answer")


@topology("lock")
def lock_around(w):
    in_turn(w, "fetch 0.2 | answer 0 x4 | reply 0.2", 1, 1.7)


@topology("lock")
def lock_around_closed(w):
    in_turn(w, "answer 0 x4", 1, 1.7, closed(4))


@topology("lock")
def lock_around_unmarked(w):
    in_turn(w, "fetch 0.2 | answer 0 x4 | reply 0.2", 1, 12)


@topology("lock")
def lock_around_two(w):
    in_turn(w, "fetch 0.2 | answer 0 x6 | reply 0.2", 2, 0.4)


@topology("lock")
def hidden_feeder(w):
    """Nothing lets in one at a time: a thread without ranges hands out slowly."""
    w.define(w.hide("feed"), 10, cv=0.02)
    chain(w, "feed 0 | answer 9 x4", closed(4), how={"feed": w.hidden(w.hide("feed"))}, cv=0.02)
    w.forget("feed")


# Processors.


def computing(w, shared_by, spec, start=source, cpu=True, total=300):
    w.cpu, w.total = cpu, total
    chain(w, spec, start, computes=shared_by)


for row in (("gil_cpu", 7, source, True), ("gil_nocpu", 7, source, False),
            ("gil_open", 5, poisson(7), True), ("gil_open_nocpu", 5, poisson(7), False)):
    def build(w, tokenize, start, cpu):
        computing(w, w.processors(1, "interpreter"), f"tokenize {tokenize}, infer 1.1 x6", start,
                  cpu, 300 if start is source else 500)
    ALL[row[0]] = ("processors", lambda w, build=build, row=row: build(w, *row[1:]))


@topology("processors")
def cpus_full(w):
    computing(w, w.processors(2), "parse 2, embed 9, rank 4 x8")


@topology("processors")
def quota_full(w):
    computing(w, w.quota(1.5), "parse 2, embed 9, rank 4 x6")


@topology("processors")
def rpc_cpu(w):
    w.cpu = True
    sub_rpc(w)


# Waits that are ranges, threads that wait for others.


@topology("waits")
def wait_marked(w):
    chain(w, FIVE.format(1, 1, 7, 1, 1), waits=("wait for input", "hand over"))


@topology("waits")
def wait_marked_last(w):
    chain(w, FIVE.format(1, 2, 1, 1, 7), waits=("wait for input", "hand over"))


@topology("waits")
def wait_marked_open(w):
    chain(w, LOW, poisson(24), None, waits=("wait for input", "hand over"))


@topology("waits")
def sub_rpc(w):
    """Threads that call one that answers."""
    w.define("rank", 5.8)
    inbox = w.queue("rank")
    w.server(w.row("ranker"), inbox, "rank")
    chain(w, "parse 1, call rank 0, reply 1 x5", closed(5), how={
        "call rank": w.call("call rank", inbox)})
    w.forget("call rank")


@topology("waits")
def calls_two(w):
    """A thread that calls one that does two things for it."""
    w.define("search", 6)
    w.define("rank", 1.5)
    inbox = w.queue("search")
    w.server(w.row("helper"), inbox, "search", "rank")
    chain(w, "parse 1.2, ask 0, reply 1", closed(4), how={"ask": w.call("ask", inbox)})
    w.forget("ask")


@topology("waits")
def executor(w):
    """One thread hands each request to a pool and waits for all of it."""
    w.define("work", 9)
    inbox = w.queue("work")
    for number in range(4):
        w.server(w.row(f"executor {number}"), inbox, "work")
    chain(w, "accept 1, wait for work 0, reply 1", how={
        "wait for work": w.call("wait for work", inbox)})
    w.forget("wait for work")


@topology("waits")
def queue_range(w):
    """A range of each request that is its time in a queue."""
    inbox = w.queue("rank")
    w.define("rank", 5)
    row = w.row("ranker")

    def enqueue(unit):
        unit.queued = w.kernel.now
        yield from inbox.put(unit)

    def leave(_, units):
        w.mark(w.main, "in queue", units[0].queued, units, wandering=True)
        yield 0
    w.worker(row, [leave, w.serve("rank")], inbox, w.finish)
    chain(w, "parse 1", closed(6), end=enqueue)


@topology("waits")
def polling(w):
    """A thread that asks every 2 ms, in short ranges, whether there is work."""
    w.define("poll", 0.05)
    row = w.row("poller")
    w.background(row, "poll", w.define(w.hide("pause between polls"), 2))
    chain(w, FIVE.format(1, 2, 6, 1, 1))


@topology("waits")
def rate_limit(w):
    """A stage that may go once in 9 ms, whatever there is to do."""
    w.define(w.hide("rate"), 9, cv=0.01)
    free = [0]

    def limited(row, units):
        begin = w.kernel.now
        until = max(free[0], begin)
        free[0] = until + w.time(w.hide("rate"), 0)
        yield until - begin
        yield from w.spend("call", units)
        w.mark(row, "call", begin, units)
    chain(w, "parse 1 | call 2 x4 | reply 1", how={"call": limited})


@topology("waits")
def rate_limit_range(w):
    """A range that lets one go in 10 ms: it ends 2 ms after another request does."""
    w.define(w.hide("rate"), 10, cv=0.001, spread=0)
    free = [0]

    def limited(row, units):
        begin = w.kernel.now
        until = max(free[0], begin)
        free[0] = until + w.time(w.hide("rate"), 0)
        yield until - begin
        w.mark(row, "limiter", begin, units)
    chain(w, "limiter 0.01, call 8 x4", start=closed(4), how={"limiter": limited}, cv=0.02,
          spread=0.02)


@topology("waits")
def idle_consumer(w):
    """A thread that asks for work once in 25 ms only."""
    tick = w.define(w.hide("tick"), 25, cv=0.01)

    def sleepy(row, units):
        length = w.time(tick, 0)
        yield length - w.kernel.now % length
        yield from serve(row, units)
    chain(w, "parse 1 | rerank 3 | reply 1", poisson(40), None, how={"rerank": sleepy})
    serve = w.serve("rerank")
    w.apart["rerank"] = (tick,)


# All stand still.


def pauses(w, each, first, every):
    """`each` ms long, a name of its own."""
    name = w.hide("pause")
    w.define(name, each, spread=0.05, cv=0.05)
    w.kernel.pauses = [(int((first + n * every) * MS), w.time(name, n))
                       for n in range(1 if not every else 60)]


@topology("pause")
def gc_pauses(w):
    w.total = 400
    pauses(w, 120, 300, 480)
    chain(w, FIVE.format(0.5, 2.5, 1, 0.5, 1), poisson(7), None)


@topology("pause")
def stop_once(w):
    w.total = 400
    pauses(w, 900, 700, 0)
    chain(w, FIVE.format(0.5, 2.5, 1, 0.5, 1), poisson(7), None)


@topology("pause")
def gc_saturated(w):
    pauses(w, 60, 200, 400)
    chain(w, FIVE.format(1, 6, 1, 2, 1))


# Threads without waiters.


@topology("background")
def busy_logger(w):
    w.define("write log", 3)
    w.background(w.row("logger"), "write log")
    chain(w, LOW, poisson(24), None)


@topology("background")
def chain_busy_logger(w):
    w.define("write log", 3)
    w.background(w.row("logger"), "write log")
    chain(w, FIVE.format(1, 1, 6, 1, 1))

