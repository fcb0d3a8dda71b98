# SPDX-License-Identifier: Apache-2.0
"""Programs of the kind of real ones whose limit, or what to do about it, was not named once."""
from topologies import chain, closed, topology
from topologies_loops import rounds
from topologies_more import event_loop


@topology("chain")
def chain_disk(w):
    """The limit waits for a disk, as its CPU use shows."""
    w.cpu = True
    w.define("disk", 8)
    w.alias["store"] = ("disk",)
    store = w.within("store", w.hidden("disk"), cpu=(0, 0))
    chain(w, "parse 1 | store 0 | reply 1", how={"store": store})
    w.forget("store")
    w.advice = "waits for"


@topology("chain")
def chain_loop(w):
    """Hooks name what holds the thread of an event loop."""
    chain(w, "loop: GET 8", closed(4))
    w.advice = "event loop"


@topology("replica")
def replica_in_order(w):
    """Two threads take items in turn, and one is slow; a writer takes them in order."""
    inboxes, outs = ([w.queue(f"{what} {n}", 4) for n in range(2)]
                     for what in ("transform", "write"))
    for number, ms in enumerate((1, 5)):
        own = w.define(f"transform {number}", ms)
        w.worker(w.row(own), [w.within("transform", w.hidden(own))], inboxes[number],
                 outs[number].put)
    w.alias["transform"] = ("transform 0", "transform 1")
    w.define("write", 0.2)
    row, write = w.row("writer"), w.serve("write")

    def life():
        for number in range(w.total):
            unit = yield from outs[number % 2].get()
            yield from write(row, [unit])
            yield from w.finish(unit)

    def in_turn(unit):
        yield from inboxes[(unit.n - 1) % 2].put(unit)
    w.kernel.spawn(life(), row)
    chain(w, "read 0.3", end=in_turn)
    w.advice = "slows that thread"


@topology("asyncio")
def loop_unnumbered(w):
    """Tasks without numbers of requests await what takes two at a time."""
    w.no_flows = True
    event_loop(w, closed(16), (("parse", 0.5, None), ("fetch", 20, 2)))
    w.advice = "permits|at a time"


@topology("loops")
def loader_in_turn(w):
    """The thread that trains reads each batch itself."""
    w.unmarked = True
    w.define("next batch", 8, category="Dataloader")
    w.define("forward", 3)
    rounds(w, w.serve("next batch"), w.serve("forward"))
    w.advice = "read ahead"


def rounds_alike(w, threads, *steps):
    w.total, w.unmarked = 120, True
    for number in range(threads):
        w.loop(w.row(f"worker {number}"), steps, counted=not number)


@topology("lock")
def lock_in_rounds(w):
    """The range around a round is no stage: the one around the lock is."""
    w.define("decode", 0.4)
    w.define(w.hide("cache"), 4)
    put = w.within("put", w.locked(w.lock("cache"), w.hidden(w.hide("cache"))))
    rounds_alike(w, 4, w.within("item", w.serve("decode"), put))


@topology("lock")
def places_in_rounds(w):
    """Two of twelve threads may query. Hooks record each thread's first call on no thread."""
    w.define("query", 10)
    gate = w.lock("gate", 2)
    first, later = (w.within("search", w.locked(gate, w.serve("query", wandering=is_first)),
                             wandering=is_first) for is_first in (True, False))

    def search(row, units):
        yield from (first if units[0].n == 1 else later)(row, units)
    w.define("rerank", 6)
    rounds_alike(w, 12, search, w.serve("rerank"))
    w.advice = "let more in"


@topology("kernels")
def numbers_read_back(w):
    """Each number is read back by a copy that the thread waits for, in no stage and no call."""
    stream, ends = w.stream(), []
    for name, ms, category in (("MEMCPY_DtoH", 0.03, "Memcpy"), ("gemm", 1, "Kernel"),
                               ("optimizer", 0.5, "Optimization")):
        w.define(name, ms, category=category)
    w.alias["forward"] = ("gemm",)
    read = (w.launch("MEMCPY_DtoH", stream, ends), w.sync(None, 0, ends))
    rounds(w, w.within("forward", w.launch("gemm", stream, ends), w.sync(None, 0, ends)),
           *read * 60, w.serve("optimizer"))
    w.advice = "fewer numbers back"
