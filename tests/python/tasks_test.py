#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges in coroutines and generators: they never unbalance the thread they happen to run on."""
import importlib.util
import unittest

from python_case import ASYNC, Case, main


class Tasks(Case):
    def test_tasks_that_overlap(self):
        log = self.log_of("""
            import asyncio, pprof
            pprof.start()
            shared = pprof.range("shared")
            async def task(name, mine, others):
                with pprof.range(name), shared:
                    with pprof.range("in " + name):
                        others.set()
                        await mine.wait()
                    helper(name)
            def helper(name):
                with pprof.range("plain " + name):
                    pass
            async def main():
                a, b, c = asyncio.Event(), asyncio.Event(), asyncio.Event()
                tasks = [asyncio.create_task(task(*args))
                         for args in (("a", a, b), ("b", b, c), ("c", c, a))]
                await asyncio.gather(*tasks)
            with pprof.range("main"):
                asyncio.run(main())
            with pprof.range("after"):
                pass
        """)
        cross_thread = [name for name, flags in log.select("name", "flags") if flags & ASYNC]
        self.assertEqual(sorted(cross_thread),
                         ["a", "b", "c", "in a", "in b", "in c"] + ["shared"] * 3)
        plain = [pair for pair in log.select("name", "depth") if pair[0] not in cross_thread]
        self.assertEqual(sorted(plain), [("after", 0), ("main", 0), ("plain a", 1), ("plain b", 1),
                                         ("plain c", 1)])
        for name in "abc":
            outer, inner = log.named(name), log.named("in " + name)
            self.assertLessEqual(outer["start"], inner["start"])
            self.assertLessEqual(inner["end"], outer["end"])

    def test_one_object_in_tasks_that_end_in_the_order_they_began(self):
        """Each ends its own: the first to begin is the first to end, and not the last's."""
        log = self.log_of("""
            import pprof
            pprof.start()
            shared = pprof.range("shared")
            def generator():
                with shared:
                    yield
            first, second = generator(), generator()
            next(first); next(second)
            list(first)
            pprof.mark("between")
            list(second)
        """)
        first, second = [event for event in log.events if event["name"] == "shared"]
        between = log.named("between")["start"]
        self.assertLessEqual(first["end"], between)
        self.assertGreaterEqual(second["end"], between)

    def test_generators(self):
        log = self.log_of("""
            import gc, pprof
            pprof.start()
            def numbers(name):
                with pprof.range(name):
                    yield 1
                    yield 2
            with pprof.range("outer"):
                dropped = numbers("dropped")
                next(dropped)
                for _ in numbers("whole"):
                    with pprof.range("body"):
                        pass
                del dropped
                gc.collect()
                pprof.mark("gone")
            kept = numbers("kept until exit")
            next(kept)
        """)
        flags = {name: bool(flags & ASYNC) for name, flags in log.select("name", "flags")}
        self.assertEqual(flags, {"outer": False, "body": False, "gone": False, "dropped": True,
                                 "whole": True, "kept until exit": True})
        self.assertLessEqual(log.named("dropped")["end"], log.named("gone")["start"])
        self.assertEqual([depth for name, depth in log.select("name", "depth") if name == "body"],
                         [1, 1])

    def test_a_generator_that_another_thread_ends(self):
        log = self.log_of("""
            import pprof, threading
            pprof.start()
            def work():
                with pprof.range("carried"):
                    yield
            carried = work()
            next(carried)
            thread = threading.Thread(target=lambda: list(carried))
            thread.start()
            thread.join()
            with pprof.range("after"):
                pass
        """)
        self.assertEqual(log.select("name", "depth"), [("carried", 0), ("after", 0)])

    def test_context_managers_made_of_generators_nest(self):
        log = self.log_of("""
            import contextlib, pprof
            pprof.start()
            @contextlib.contextmanager
            def stage(name):
                with pprof.range(name):
                    pprof.work(items=2)
                    yield
            with stage("outer"), stage("inner"):
                with pprof.range("leaf"):
                    pass
            with contextlib.ExitStack() as stack:
                stack.enter_context(pprof.range("stacked"))
                stack.enter_context(stage("stacked stage"))
                with pprof.range("leaf"):
                    pass
        """)
        self.assertEqual(log.select("name", "depth"), [
            ("outer", 0), ("inner", 1), ("leaf", 2), ("stacked", 0), ("stacked stage", 1),
            ("leaf", 2)])
        self.assertEqual(log.named("inner")["work"][0], 2)
        self.assertFalse([flags for flags in log.select("flags") if flags & ASYNC])

    def test_the_same_in_coroutines_rest(self):
        log = self.log_of("""
            import asyncio, contextlib, pprof
            pprof.start()
            @contextlib.contextmanager
            def stage(name):
                with pprof.range(name):
                    yield
            @contextlib.asynccontextmanager
            async def async_stage(name):
                with pprof.range(name):
                    yield
            async def task(n):
                with contextlib.ExitStack() as stack:
                    stack.enter_context(pprof.range("stacked"))
                    with stage("stage"):
                        async with async_stage("async stage"):
                            await asyncio.sleep(0)
            async def main():
                await asyncio.gather(*map(task, range(3)))
            asyncio.run(main())
        """)
        self.assertEqual(sorted(log.select("name")),
                         ["async stage"] * 3 + ["stacked"] * 3 + ["stage"] * 3)
        self.assertTrue(all(flags & ASYNC for flags in log.select("flags")))

    def test_decorators(self):
        log = self.log_of("""
            import asyncio, inspect, pprof
            pprof.start()
            @pprof.range("coroutine")
            async def coroutine(x):
                await asyncio.sleep(0)
                return x + 1
            @pprof.range("generator")
            def generator():
                got = []
                try:
                    while True:
                        got.append((yield len(got)))
                except KeyError:
                    return got
            @pprof.range("async generator")
            async def async_generator():
                try:
                    got = yield 1
                    yield got
                except KeyError as error:
                    yield error
            assert inspect.iscoroutinefunction(coroutine)
            assert inspect.isgeneratorfunction(generator)
            assert inspect.isasyncgenfunction(async_generator)
            async def main():
                assert await asyncio.gather(coroutine(1), coroutine(2)) == [2, 3]
                agen = async_generator()
                assert await agen.__anext__() == 1
                assert await agen.asend("sent") == "sent"
                thrown = KeyError("thrown")
                assert await agen.athrow(thrown) is thrown
                assert [item async for item in agen] == []
                closed = async_generator()
                await closed.__anext__()
                await closed.aclose()
                assert [item async for item in async_generator()] == [1, None]
            asyncio.run(main())
            running = generator()
            assert [next(running), running.send("a")] == [0, 1]
            try:
                running.throw(KeyError())
            except StopIteration as stop:
                assert stop.value == ["a"], stop.value
        """)
        self.assertEqual(sorted(log.select("name")), ["async generator"] * 3 + ["coroutine"] * 2 +
                         ["generator"])
        self.assertTrue(all(flags & ASYNC for flags in log.select("flags")))

    def test_work_and_flows_find_the_coroutine(self):
        log = self.log_of("""
            import asyncio, pprof
            pprof.start()
            async def inner():
                await asyncio.sleep(0)
                pprof.work(bytes=100)
            async def task(number):
                with pprof.range("task %d" % number) as mine:
                    pprof.flow(number)
                    with pprof.range("part %d" % number):
                        await asyncio.sleep(0)
                        pprof.work(items=number)
                    await inner()
                    mine.work(params=number)
                    mine.flow(number + 10)
            async def main():
                await asyncio.gather(task(1), task(2))
            with pprof.range("main"):
                asyncio.run(main())
        """)
        for number in 1, 2:
            task, part = log.named("task %d" % number), log.named("part %d" % number)
            self.assertEqual((task["flows"], task["work"]), ([number, number + 10],
                                                             [0, 100, 0, number]))
            self.assertEqual((part["flows"], part["work"]), ([number], [number, 0, 0, 0]))
        self.assertEqual((log.named("main")["flows"], log.named("main")["work"]), ([], [0] * 4))

    def test_ranges_of_a_task_serve_its_request(self):
        """Those that it awaits, of tasks that it begins, and of functions that it calls; not those
        behind the range with the number."""
        log = self.log_of("""
            import asyncio, pprof
            pprof.start()
            def plain(number):
                with pprof.range("plain %d" % number):
                    pass
            async def child(number):
                with pprof.range("child %d" % number):
                    await asyncio.sleep(0)
            async def task(number):
                with pprof.range("task %d" % number):
                    pprof.flow(number)
                    with pprof.range("part %d" % number):
                        await asyncio.gather(child(number), child(number + 2))
                        plain(number)
                with pprof.range("behind %d" % number):
                    await asyncio.sleep(0)
                    plain(number + 2)
            async def main():
                await asyncio.gather(task(1), task(2))
            asyncio.run(main())
            plain(5)
        """)
        flows = dict(log.select("name", "flows"))
        for number in 1, 2:
            for name in ("task %d", "part %d", "child %d", "plain %d"):
                self.assertEqual(flows[name % number], [number], name)
            self.assertEqual(flows["child %d" % (number + 2)], [number])
            self.assertEqual(flows["behind %d" % number], [])
            self.assertEqual(flows["plain %d" % (number + 2)], [])
        self.assertEqual(flows["plain 5"], [])

    def test_nothing_is_kept(self):
        self.run_ok("""
            import asyncio, pprof
            from pprof import _markers
            pprof.start()
            async def task():
                with pprof.range("task"):
                    await asyncio.sleep(0)
            async def main():
                await asyncio.gather(*(task() for _ in range(100)))
            asyncio.run(main())
            def generator():
                with pprof.range("resting"):
                    yield
            for _ in range(100):
                next(generator())
            assert _markers._resting == {}, _markers._resting
            resting = generator()
            next(resting)
            pprof.stop()
            del resting
            assert _markers._resting == {}, _markers._resting
        """)

    def test_executors_and_threads_of_tasks(self):
        """What a task has a thread do nests there, and the task's own range goes on."""
        log = self.log_of("""
            import asyncio, concurrent.futures, pprof
            pprof.start()
            @pprof.range("blocking")
            def blocking(i):
                with pprof.range("inside"):
                    return i
            async def task(i):
                with pprof.range("task"):
                    return await asyncio.get_running_loop().run_in_executor(None, blocking, i)
            async def main():
                return await asyncio.gather(*map(task, range(4)))
            assert asyncio.run(main()) == [0, 1, 2, 3]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                assert list(pool.map(blocking, range(4))) == [0, 1, 2, 3]
        """)
        found = log.select("name", "depth", "flags")
        self.assertEqual(sorted((name, bool(flags & ASYNC)) for name, _, flags in found),
                         [("blocking", False)] * 8 + [("inside", False)] * 8 + [("task", True)] * 4)
        self.assertEqual({(name, depth) for name, depth, flags in found if not flags & ASYNC},
                         {("blocking", 0), ("inside", 1)})

    @unittest.skipUnless(importlib.util.find_spec("anyio"), "no anyio")
    def test_anyio(self):
        """Task groups, one of which is cancelled, and worker threads."""
        log = self.log_of("""
            import anyio, anyio.to_thread, pprof
            pprof.start()
            @pprof.range("blocking")
            def blocking():
                pass
            @pprof.range("task")
            async def task(seconds, sleeps):
                await anyio.to_thread.run_sync(blocking)
                with pprof.range("sleeps"):
                    sleeps.set()
                    await anyio.sleep(seconds)
            async def main():
                async with anyio.create_task_group() as group:
                    for _ in range(3): group.start_soon(task, 0, anyio.Event())
                async with anyio.create_task_group() as group:
                    sleeps = anyio.Event()
                    group.start_soon(task, 1000, sleeps)
                    await sleeps.wait()
                    group.cancel_scope.cancel()
            with pprof.range("main"):
                anyio.run(main)
        """)
        found = log.select("name", "flags")
        self.assertEqual(sorted((name, bool(flags & ASYNC)) for name, flags in found),
                         [("blocking", False)] * 4 + [("main", False)] +
                         [("sleeps", True)] * 4 + [("task", True)] * 4)


if __name__ == "__main__":
    main()
