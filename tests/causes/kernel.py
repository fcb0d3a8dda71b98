# SPDX-License-Identifier: Apache-2.0
"""Discrete events. A task is a generator; it yields how many nanoseconds it takes, or None to wait
until another task wakes it. Tasks wait at semaphores, queues and streams of devices."""
import collections
import heapq
import itertools
import random

WAKE_NS = 2000  # from the end of a thread's wait to its next instruction
US, MS = 1000, 1000000


class Task:
    """`row` is the thread that it runs on, for the waits; time of the outside has no pauses."""
    __slots__ = ("gen", "row", "value", "outside", "timer")

    def __init__(self, gen, row, outside):
        self.gen, self.row, self.outside = gen, row, outside
        self.value = self.timer = None


class Kernel:
    """`pauses` are (begin, length): no task but the outside's goes on in them. Threads wake up to
    `late` later than they could."""

    def __init__(self, pauses=(), late=0, seed=0):
        self.now, self.running, self.task = 0, True, None
        self.pauses, self.late = sorted(pauses), late
        self.heap, self.order = [], itertools.count()
        self.jitter = random.Random(f"{seed} wake")
        self.waits = []

    def spawn(self, gen, row=0, at=0, outside=False):
        task = Task(gen, row, outside)
        self._push(at, task)
        return task

    def wake(self, task):
        delay = WAKE_NS + int(self.jitter.random() * (1500 + self.late))
        self._push(self._after(task, delay), task)

    def at(self, when, call):
        heapq.heappush(self.heap, (when, next(self.order), call))

    def _push(self, when, task):
        heapq.heappush(self.heap, (when, next(self.order), task))

    def _after(self, task, length):
        """The moment by which the task has had so much time."""
        end = self.now + length
        if task.outside:
            return end
        for begin, pause in self.pauses:
            if begin > end:
                break
            if begin + pause > self.now:
                end += begin + pause - max(begin, self.now)
        return end

    def run(self):
        while self.heap and self.running:
            self.now, _, task = heapq.heappop(self.heap)
            if not isinstance(task, Task):
                task()
                continue
            self.task = task
            try:
                length = next(task.gen)
            except StopIteration:
                continue
            if length is not None:
                self._push(self._after(task, length), task)

    def wait(self, kind, name, holder=0):
        """Parks the running task until it is woken, and keeps the object of its wait."""
        begin, task = self.now, self.task
        yield None
        woken_by = 0 if kind == "timed get" and task.value is None else task.timer or 0
        self.waits.append((task.row, begin, self.now, kind, name, holder, woken_by))
        return task.value

    def give(self, task, value=None):
        task.value, task.timer = value, self.task.row if self.task else 0
        self.wake(task)


class Semaphore:
    """Of `places`, first come, first served: a lock, connections, processors."""

    def __init__(self, kernel, name, places=1):
        self.kernel, self.name, self.free = kernel, name, places
        self.waiting, self.holder = collections.deque(), 0

    def acquire(self):
        task = self.kernel.task
        if self.free:
            self.free -= 1
        else:
            self.waiting.append(task)
            yield from self.kernel.wait("lock", self.name, self.holder)
        self.holder = task.row

    def release(self):
        if self.waiting:
            self.kernel.give(self.waiting.popleft())
        else:
            self.free += 1


class Queue:
    """A queue of `places`, or of any number. Items go first if `urgent` calls them urgent."""

    def __init__(self, kernel, name, places=None, urgent=None):
        self.kernel, self.name, self.places, self.urgent = kernel, name, places, urgent
        self.items, self.getters, self.putters = (collections.deque() for _ in range(3))

    def _append(self, item):
        if self.urgent and self.urgent(item):
            self.items.appendleft(item)
        else:
            self.items.append(item)

    def put_now(self, item):
        if self.getters:
            self.kernel.give(self.getters.popleft(), item)
        else:
            self._append(item)

    def put(self, item):
        if not self.getters and self.places is not None and len(self.items) >= self.places:
            self.putters.append((self.kernel.task, item))
            yield from self.kernel.wait("put", self.name)
        else:
            self.put_now(item)

    def take_now(self):
        item = self.items.popleft()
        if self.putters:
            task, waiting = self.putters.popleft()
            self._append(waiting)
            self.kernel.give(task)
        return item

    def get(self):
        if self.items:
            return self.take_now()
        self.getters.append(self.kernel.task)
        return (yield from self.kernel.wait("get", self.name))

    def get_before(self, deadline):
        """None once it is `deadline`."""
        if self.items:
            return self.take_now()
        task, is_over = self.kernel.task, []

        def give_up():
            if not is_over and task in self.getters:
                self.getters.remove(task)
                self.kernel.give(task)
        if deadline <= self.kernel.now:
            return None
        self.getters.append(task)
        self.kernel.at(deadline, give_up)
        item = yield from self.kernel.wait("timed get", self.name)
        is_over.append(True)
        return item

    def get_batch(self, size, timer=None):
        """All that is there, up to `size`; with a timer those that come before its end, too."""
        batch = [(yield from self.get())]
        deadline = self.kernel.now + (timer or 0)
        while len(batch) < size:
            item = (yield from self.get_before(deadline)) if timer or self.items else None
            if item is None:
                break
            batch.append(item)
        return batch


class Processors:
    """A number of them that threads share in turns: an interpreter's lock, a machine."""

    def __init__(self, kernel, name, number, turn=5 * MS):
        self.kernel, self.turn = kernel, turn
        self.places = Semaphore(kernel, name, number)

    def compute(self, length):
        """Returns how long the thread waited for one."""
        waited, begin = 0, self.kernel.now
        yield from self.places.acquire()
        waited += self.kernel.now - begin
        while length > self.turn:
            yield self.turn
            length -= self.turn
            if self.places.waiting:
                self.places.release()
                begin = self.kernel.now
                yield from self.places.acquire()
                waited += self.kernel.now - begin
        yield length
        self.places.release()
        return waited


class Quota:
    """So much processor time each period for all threads, as a container has it."""

    def __init__(self, kernel, quota, period=100 * MS):
        self.kernel, self.quota, self.period = kernel, quota, period
        self.number = self.used = 0

    def compute(self, length):
        waited = 0
        while length > 0:
            number = self.kernel.now // self.period
            if number != self.number:
                self.number, self.used = number, 0
            if self.used >= self.quota:
                left = (number + 1) * self.period - self.kernel.now
                waited += left
                yield left
                continue
            turn = min(length, 2 * MS, self.quota - self.used)
            self.used += turn
            length -= turn
            yield turn
        return waited


class Engine:
    """Streams of a device share it: one range at a time, in the order of submission."""

    def __init__(self):
        self.end = 0


class Stream:
    """Ranges one after another. When one begins and ends is known as it is submitted."""

    def __init__(self, kernel, device, number, engine):
        self.kernel, self.device, self.number, self.engine = kernel, device, number, engine
        self.end = 0

    def submit(self, length, latency=20 * US):
        begin = max(self.kernel.now + latency, self.end, self.engine.end)
        self.end = self.engine.end = begin + length
        return begin, self.end
