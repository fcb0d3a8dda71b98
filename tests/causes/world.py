# SPDX-License-Identifier: Apache-2.0
"""A program to be: stages with times, threads that run them, where units come from; and what a
profiler would record of it. Times have names; a run can be repeated with those of a name changed,
and all else, random numbers included, as it was."""
import math
import random

from kernel import MS, US, Engine, Kernel, Processors, Quota, Queue, Semaphore, Stream

HIDDEN = "unrecorded: "  # begins the names of times that no range shows


class Unit:
    """A request, a step, or a part of one that runs beside others. `work` is what a unit takes
    that never stands in line."""

    def __init__(self, n, begin, whole=None):
        self.n, self.begin, self.end = n, begin, None
        self.whole, self.parts = whole or self, 0
        self.work = whole.work if whole else 0


class World:
    def __init__(self, name, seed, change=None):
        self.name, self.seed, self.change = name, seed, change or {}
        self.kernel = Kernel(seed=f"{name} {seed}")
        self.times, self.series, self.alias = {}, {}, {}
        self.rows, self.streams, self.ranges, self.devices = [], [], [], []
        self.process, self.ranks = {}, False
        self.row("process")
        self.units, self.total, self.finished, self.rounds = [], 300, 0, []
        self.open = self.steps = self.cpu = False
        self.advice = ""  # required text of the next step; "": any
        self.unmarked = self.no_flows = False
        self.again = None  # starts the next unit once one has ended
        self.main = None
        self.categories = {}
        self.around = []  # ranges around the lives of threads
        self.pools = []  # (rows, names of stages)
        self.apart = {}  # stage -> times that its thread takes outside of the stage's range
        # Variants of the recording.
        self.no_request, self.renamed, self.order, self.has_waits = False, {}, None, False
        self.nested = {}  # row -> the range around its work for a unit
        self.resources = []  # hidden names of resources that all times share

    def numbers(self, what):
        return random.Random(f"{self.name} {self.seed} {what}")

    # Times.

    def define(self, name, ms, cv=0.15, shape=None, spread=0.15, category="UserDefined"):
        """The time `name`, of `ms` on average, which differs by seed by up to `spread`; `shape` of
        (unit, a uniform number) multiplies single ones."""
        if name in self.times:
            return name
        numbers = self.numbers(name)
        ms *= 1 + spread * (2 * numbers.random() - 1)
        self.times[name] = (ms * MS, cv, shape)
        self.categories[name] = category
        self.series[name] = (numbers, [])
        return name

    def hide(self, what):
        """The name of a time that no range shows."""
        return HIDDEN + what

    def forget(self, *names):
        """These have no time of their own."""
        for name in names:
            del self.times[name]

    def time(self, name, n):
        """That of the n-th unit."""
        mean, cv, shape = self.times[name]
        numbers, drawn = self.series[name]
        while len(drawn) <= n:
            drawn.append((numbers.gauss(0, 1), numbers.random()))
        normal, uniform = drawn[n]
        sigma = math.sqrt(math.log1p(cv * cv))
        value = mean * math.exp(sigma * normal - sigma * sigma / 2)
        if shape:
            value *= shape(n, uniform)
        return max(1, int(value * self.change.get(name, 1)))

    # What is recorded.

    def row(self, name, process=0):
        self.rows.append(name)
        self.process[len(self.rows) - 1] = process
        return len(self.rows) - 1

    def flows_of(self, units):
        return [] if self.steps or self.no_flows else [unit.n for unit in units]

    def mark(self, row, name, begin, units=(), cpu=None, wandering=False):
        flows = self.flows_of(units)
        self.ranges.append((row, name, begin, self.kernel.now, flows, cpu if self.cpu else None,
                            wandering))

    def stream(self, device="gpu:0", engine=None, process=0):
        if (device, process) not in self.devices:
            self.devices.append((device, process))
        made = Stream(self.kernel, self.devices.index((device, process)), len(self.streams) + 1,
                      engine or Engine())
        self.streams.append(made)
        return made

    # What threads do for units: a step is a function of (row, units) that makes a generator.

    def spend(self, name, units, computes=None):
        length = self.time(name, units[0].n)
        for unit in units:
            unit.work += length
        if computes:
            return length, (yield from computes.compute(length))
        yield length
        return length, 0

    def serve(self, name, computes=None, flows=True, wandering=False):
        def step(row, units):
            begin = self.kernel.now
            cpu = yield from self.spend(name, units, computes)
            self.mark(row, name, begin, units if flows else (), cpu, wandering)
        return step

    def hidden(self, name):
        def step(row, units):
            yield from self.spend(name, units)
        return step

    def within(self, name, *steps, cpu=None, wandering=False):
        """A range around them."""
        def step(row, units):
            begin = self.kernel.now
            for inner in steps:
                yield from inner(row, units)
            self.mark(row, name, begin, units, cpu, wandering)
        return step

    def locked(self, lock, *steps, wait=None):
        """They run with a place of the lock; `wait` names the range of the wait, if it has one."""
        def step(row, units):
            begin = self.kernel.now
            yield from lock.acquire()
            if wait:
                self.mark(row, wait, begin, units)
            for inner in steps:
                yield from inner(row, units)
            lock.release()
        return step

    def launch(self, name, stream, keep=None):
        """Submits a range of the device and goes on; `keep` gets when it ends."""
        def step(row, units):
            begin, length = self.kernel.now, self.time(name, units[0].n)
            for unit in units:
                unit.work += length
            place = stream(row) if callable(stream) else stream
            start, end = place.submit(length)
            yield 6 * US
            self.ranges.append((row, name, begin, self.kernel.now,
                                self.flows_of(units), None,
                                (place.number, start, end)))
            (units[0].__dict__.setdefault("ends", []) if keep is None else keep).append(end)
        return step

    def sync(self, name=None, behind=0, ends=None):
        """Waits for all that was launched, save the last `behind`."""
        def step(row, units):
            begin = self.kernel.now
            launched = units[0].__dict__.get("ends", []) if ends is None else ends
            until = launched[-1 - behind] if len(launched) > behind else 0
            yield max(0, until - self.kernel.now) + 12 * US
            if name:
                self.mark(row, name, begin, units, (4 * US, 0))
        return step

    def elsewhere(self, name, places=None, loop=None):
        """Work on no thread here, as an await has it; with places it is in line there. The range
        ends once `loop` has time for it."""
        def step(row, units):
            begin = self.kernel.now
            if places:
                yield from places.acquire()
            yield from self.spend(name, units)
            if places:
                places.release()
            if loop:
                yield from loop.acquire()
                loop.release()
            self.mark(row, name, begin, units, (0, 0), True)
        return step

    def call(self, name, inbox):
        """Hands the unit to threads that answer, and waits; without a name no range shows it."""
        def step(row, units):
            begin, back = self.kernel.now, Queue(self.kernel, f"{name}'s answer")
            inbox.put_now((units[0], back))
            yield from back.get()
            if name:
                self.mark(row, name, begin, units, (0, 0))
        return step

    # Threads.

    def queue(self, name, places=None, urgent=None):
        return Queue(self.kernel, f"queue before {name}", places, urgent)

    def lock(self, name, places=1):
        return Semaphore(self.kernel, name, places)

    def _resource(self, what):
        """How many times as much of it there is."""
        name = self.hide(what)
        self.resources.append(name)
        return 1 / self.change.get(name, 1)

    def processors(self, number, what="processors"):
        return Processors(self.kernel, None, int(number * self._resource(what)))

    def quota(self, number):
        return Quota(self.kernel, int(number * self._resource("processors") * 100 * MS))

    def worker(self, row, steps, inbox, out, batch=None, waits=()):
        """One thread's life. `batch` is (size, the name of a timer); `waits` names the ranges of
        its waits for input and for a place behind it."""
        def life():
            while True:
                begin = self.kernel.now
                if batch:
                    timer = batch[1] and self.time(batch[1], 0)
                    units = yield from inbox.get_batch(batch[0], timer)
                else:
                    units = [(yield from inbox.get())]
                if waits and self.kernel.now > begin:
                    self.mark(row, waits[0], begin)
                begin = self.kernel.now
                for step in steps:
                    yield from step(row, units)
                if row in self.nested:
                    self.mark(row, self.nested[row], begin, units)
                begin = self.kernel.now
                for unit in units:
                    yield from out(unit)
                if waits and self.kernel.now > begin:
                    self.mark(row, waits[1], begin)
        self.kernel.spawn(life(), row)

    def server(self, row, inbox, *names):
        """A thread that answers calls."""
        def life():
            steps = [self.serve(name) for name in names]
            while True:
                unit, back = yield from inbox.get()
                for step in steps:
                    yield from step(row, [unit])
                back.put_now(None)
        self.kernel.spawn(life(), row)

    def background(self, row, name, pause=None):
        """A thread that works for no unit."""
        def life():
            n = 0
            while True:
                begin = self.kernel.now
                length = self.time(name, n)
                yield length
                self.mark(row, name, begin, (), (length, 0))
                n += 1
                yield self.time(pause, n) if pause else 100 * US
        self.kernel.spawn(life(), row)

    # Units.

    def unit(self):
        made = Unit(len(self.units) + 1, self.kernel.now)
        self.units.append(made)
        return made

    def finish(self, unit):
        """A generator, as all that takes units."""
        unit = unit.whole
        unit.end = self.kernel.now
        self.finished += 1
        if not (self.steps or self.no_flows or self.no_request):
            self.ranges.append((self.main, "request", unit.begin, unit.end,
                                [unit.n], None, True))
        if self.finished == self.total:
            self.kernel.running = False
        elif self.again and len(self.units) < self.total:
            self.again()
        return
        yield

    def fork(self, inboxes):
        """A unit goes on in all of them at once."""
        def out(unit):
            unit.parts = len(inboxes)
            for inbox in inboxes:
                yield from inbox.put(Unit(unit.n, unit.begin, unit))
        return out

    def join(self, out):
        """Goes on with the last of its parts."""
        def one(part):
            whole = part.whole
            whole.parts -= 1
            whole.work = max(whole.work, part.work)
            if not whole.parts:
                yield from out(whole)
        return one

    # Where units come from.

    def closed(self, inbox, under_way):
        """So many are under way; one that ends brings the next."""
        def arrive():
            if len(self.units) < self.total:
                inbox.put_now(self.unit())
            yield 0
        self.again = lambda: self.kernel.spawn(arrive(), self.kernel.task.row, self.kernel.now)
        for number in range(int(under_way * self.change.get("in flight", 1))):
            self.kernel.spawn(arrive(), self.main, number * 2 * US)

    def source(self, inbox, steps=(), before=None):
        """As many as the queue takes; of a thread with ranges, if it has steps."""
        def life():
            if before:
                yield from before(self.main, [Unit(1, 0)])
            for _ in range(self.total):
                yield 10 * US
                unit = self.unit()
                for step in steps:
                    yield from step(self.main, [unit])
                yield from inbox.put(unit)
        self.kernel.spawn(life(), self.main)

    def arrivals(self, inbox, ms, kind="poisson", burst=1):
        """Whatever happens here, one comes each `ms` on average."""
        self.open = True
        numbers = self.numbers("arrivals")
        inter = ms * MS * self.change.get("arrivals", 1)
        gaps = {"poisson": lambda: numbers.expovariate(1 / inter),
                "regular": lambda: inter * (0.9 + 0.2 * numbers.random()),
                "bursts": lambda: burst * inter * (0.6 + 0.8 * numbers.random())}[kind]

        def life():
            while len(self.units) < self.total:
                yield int(gaps())
                for _ in range(burst):
                    if len(self.units) < self.total:
                        inbox.put_now(self.unit())
        self.kernel.spawn(life(), self.main, outside=True)

    def loop(self, row, steps, every=None, counted=True, before=None):
        """A thread that goes in rounds, which are the units if they are counted; `every` is
        (rounds, a further step)."""
        self.steps = True

        def life():
            if before:
                yield from before(row, [Unit(1, 0)])
            for n in range(self.total):
                unit = self.unit() if counted else Unit(n + 1, self.kernel.now)
                for step in steps:
                    yield from step(row, [unit])
                if every and n % every[0] == every[0] - 1:
                    yield from every[1](row, [unit])
                self.rounds.append((row, n, unit.begin, self.kernel.now))
                if counted:
                    yield from self.finish(unit)
        self.kernel.spawn(life(), row)

    def run(self):
        self.kernel.run()
        return self
