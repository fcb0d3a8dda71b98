# SPDX-License-Identifier: Apache-2.0
"""planted.py NAME: threads of Python that wait for each other; see waits_test.py."""
import asyncio
import concurrent.futures
import functools
import itertools
import os
import queue
import socket
import sys
import threading
import time

import pprof


def run(*threads):
    threads = [threading.Thread(target=work, name=getattr(work, "__name__", None)) for work in threads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ask(naps):
    """As in planted.cc: equal naps, which load stretches alike."""
    for _ in range(naps):
        time.sleep(0.0005)


def gil(computes=True):
    """Two compute in Python, or read a pipe, which needs no interpreter's lock; `infer` needs it after each
    of its waits."""
    done = threading.Event()
    reads, writes = os.pipe()

    def tokenize(first=1000):
        for n in itertools.count(first):
            if done.is_set():
                return
            with pprof.range("tokenize"):
                pprof.flow(n)
                sum(range(300000)) if computes else os.read(reads, 1)

    def infer():
        for n in range(60):
            with pprof.range("infer"):
                pprof.flow(n + 1)
                ask(4)
        done.set()
        os.write(writes, b"12")

    def tokenize_more():
        tokenize(10**6)

    run(tokenize, tokenize_more, infer)


def turns(shares=True):
    """Two take a lock in turns, which one of them has for longer; who gives it back rests, so that
    the other gets it."""
    def work(name, naps, lock):
        pprof.name_object(lock, "table")
        for _ in range(30):
            with pprof.range("round"):
                with lock, pprof.range(name):
                    ask(naps)
            ask(1)

    lock = threading.Lock()
    run(lambda: work("left", 10, lock), lambda: work("right", 1, lock if shares else threading.Lock()))


def slow_producer(waits=True):
    """`consume` waits for items of a queue."""
    items = queue.Queue()
    is_filled = threading.Event()

    def produce():
        for item in range(20):
            with pprof.range("produce"):
                ask(10)
            items.put(item)
        is_filled.set()

    def consume():
        while not waits and not is_filled.is_set():
            ask(1)
        for _ in range(20):
            with pprof.range("consume"):
                items.get()

    run(produce, consume)


def executor(waits=True):
    """A loop that waits for the only thread of an executor."""
    def task():
        with pprof.range("task"):
            ask(10)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        for _ in range(20):
            with pprof.range("wait for task"):
                future = pool.submit(task)
                while not waits and not future.done():
                    ask(1)
                future.result()


def condition_pool(places=2):
    """Six threads share `places` connections by a condition, which is no lock."""
    condition, free = threading.Condition(), [places]

    def work(first):
        for n in range(30):
            with pprof.range("query"):
                pprof.flow(first + n)
                with pprof.range("get"), condition:
                    condition.wait_for(lambda: free[0])
                    free[0] -= 1
                with pprof.range("use connection"):
                    ask(8)
                with condition:
                    free[0] += 1
                    condition.notify()

    run(*[functools.partial(work, 1000 * i + 1) for i in range(6)])


def coroutines(in_executor=True):
    """Four at a time; the work is the executor's only thread's, or the loop's own."""
    def task():
        with pprof.range("task"):
            ask(10)

    async def requests(pool):
        for _ in range(20):
            if in_executor:
                await asyncio.get_running_loop().run_in_executor(pool, task)
            else:
                with pprof.range("handle"):
                    ask(10)
                await asyncio.sleep(0)

    async def main():
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            await asyncio.gather(*[requests(pool) for _ in range(4)])

    asyncio.run(main())


def pipe():
    """`serve` reads what comes later, one byte at a time: of a pipe and of a connection."""
    reads, writes = os.pipe()
    listens = socket.create_server(("127.0.0.1", 0))

    def feed():
        ask(40)
        with socket.create_connection(listens.getsockname()) as client:
            for _ in range(5):
                ask(40)
                os.write(writes, b"x")
                ask(40)
                client.send(b"x")

    def serve():
        with pprof.range("accept"):
            server = listens.accept()[0]
        for _ in range(5):
            with pprof.range("serve"):
                os.read(reads, 1)
                server.recv(1)

    run(feed, serve)


{"gil": gil, "no_gil": lambda: gil(False),
 "turns": turns, "no_turns": lambda: turns(False),
 "slow_producer": slow_producer, "filled_queue": lambda: slow_producer(False),
 "condition_pool": condition_pool, "roomy_pool": lambda: condition_pool(6),
 "executor": executor, "asked_executor": lambda: executor(False), "coroutines": coroutines,
 "busy_loop": lambda: coroutines(False), "pipe": pipe}[sys.argv[1]]()
