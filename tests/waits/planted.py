# SPDX-License-Identifier: Apache-2.0
"""planted.py NAME: threads of Python that wait for each other; see waits_test.py."""
import concurrent.futures
import itertools
import os
import queue
import sys
import threading
import time

import pprof


def run(*threads):
    threads = [threading.Thread(target=work, name=work.__name__) for work in threads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def gil(computes=True):
    """`tokenize` computes in Python; `infer` needs the interpreter after each of its waits."""
    done = threading.Event()

    def tokenize():
        for n in itertools.count(1000):
            if done.is_set():
                return
            with pprof.range("tokenize"):
                pprof.flow(n)
                sum(range(300000)) if computes else time.sleep(0.003)

    def infer():
        for n in range(60):
            with pprof.range("infer"):
                pprof.flow(n + 1)
                time.sleep(0.001)
        done.set()

    run(tokenize, infer)


def shared(holds=True):
    lock = threading.Lock()
    pprof.name_object(lock, "table")
    ready = threading.Barrier(2)

    def work(name):
        ready.wait()
        for _ in range(30):
            with pprof.range("round"):
                if holds:
                    lock.acquire()
                with pprof.range(name):
                    time.sleep(0.002)
                if holds:
                    lock.release()

    run(lambda: work("left"), lambda: work("right"))


def slow_producer():
    """`consume` waits for items of a queue."""
    items = queue.Queue()

    def produce():
        for item in range(20):
            with pprof.range("produce"):
                time.sleep(0.005)
            items.put(item)

    def consume():
        for _ in range(20):
            with pprof.range("consume"):
                items.get()

    run(produce, consume)


def executor():
    """A loop that waits for the only thread of an executor."""
    def task():
        with pprof.range("task"):
            time.sleep(0.005)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for _ in range(20):
            with pprof.range("wait for task"):
                pool.submit(task).result()


def pipe():
    """`serve` reads what comes later, one byte at a time."""
    reads, writes = os.pipe()

    def feed():
        for _ in range(5):
            time.sleep(0.02)
            os.write(writes, b"x")

    def serve():
        for _ in range(5):
            with pprof.range("serve"):
                os.read(reads, 1)

    run(feed, serve)


{"gil": gil, "no_gil": lambda: gil(False), "shared": shared, "not_shared": lambda: shared(False),
 "slow_producer": slow_producer, "executor": executor, "pipe": pipe}[sys.argv[1]]()
