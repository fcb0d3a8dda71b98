#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that mark at once, share objects, and end what others began."""
from python_case import ABANDONED, ASYNC, CLIPPED, Case, main


class Threads(Case):
    def test_many_threads_and_one_object(self):
        log = self.log_of("""
            import pprof, sys, threading
            sys.setswitchinterval(1e-6)
            pprof.start({"memory_limit": "64MiB"})
            shared = pprof.range("shared")
            @pprof.range("decorated")
            def decorated(n):
                with shared:
                    if n:
                        decorated(n - 1)
            barrier = threading.Barrier(4)
            def body(i):
                pprof.thread_name("worker %d" % i)
                barrier.wait()
                for n in range(500):
                    with pprof.range("name %d" % (n % 7)):
                        decorated(2)
            threads = [threading.Thread(target=body, args=[i]) for i in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            pprof.stop()
        """, PPROF_SET=None)
        names = log.select("name")
        self.assertEqual((names.count("shared"), names.count("decorated"), len(names)),
                         (6000, 6000, 14000))
        self.assertEqual(set(log.select("lane_name")), {"worker %d" % i for i in range(4)})
        depths = {}
        for lane, name, depth in log.select("lane_name", "name", "depth"):
            depths.setdefault((lane, name), []).append(depth)
        for (_, name), seen in depths.items():
            if name == "shared":
                self.assertEqual(sorted(seen), sorted([2, 4, 6] * 500))
        self.assertFalse([flags for flags in log.select("flags") if flags & (ABANDONED | ASYNC)])

    def test_one_object_that_the_first_leaves_first(self):
        log = self.log_of("""
            import pprof, threading
            pprof.start()
            shared = pprof.range("shared")
            in_first, in_second, left_first = (threading.Event() for _ in range(3))
            def first():
                with shared:
                    in_first.set()
                    in_second.wait()
                left_first.set()
            def second():
                in_first.wait()
                with shared:
                    in_second.set()
                    left_first.wait()
                    pprof.mark("alone")
            threads = [threading.Thread(target=body) for body in (first, second)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """)
        first, second = [event for event in log.events if event["name"] == "shared"]
        alone = log.named("alone")
        self.assertNotEqual(first["lane"], second["lane"])
        self.assertLessEqual(first["end"], alone["start"])
        self.assertGreaterEqual(second["end"], alone["start"])
        self.assertEqual((alone["lane"], alone["depth"]), (second["lane"], 1))

    def test_a_pushed_range_that_another_thread_exits(self):
        """Its thread is not touched: the exit is counted, and the range ends with its thread."""
        self.run_ok("""
            import pprof, threading
            pprof.start()
            carried = pprof.range("carried")
            def begin():
                with pprof.range("own"):
                    pass
                carried.__enter__()
            thread = threading.Thread(target=begin)
            thread.start()
            thread.join()
            with pprof.range("main"):
                carried.__exit__(None, None, None)
            pprof.stop()
        """)
        log, = self.logs()
        # A thread that was joined may still be on its way out when the session stops.
        self.assert_clean(log, abandoned=log.total("abandoned"), unmatched=1)
        self.assertEqual(sorted(log.select("name")), ["carried", "main", "own"])
        self.assertTrue(log.named("carried")["flags"] & (ABANDONED | CLIPPED))

    def test_a_begun_range_ends_anywhere(self):
        log = self.log_of("""
            import pprof, threading
            pprof.start()
            handles = [pprof.begin("carried") for _ in range(10)]
            threads = [threading.Thread(target=handle.end) for handle in handles]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """)
        self.assertEqual(log.select("name"), ["carried"] * 10)

    def test_threads_that_mark_while_it_stops(self):
        """Whatever they do meanwhile, every log is whole; what lies at its edge is not wanted."""
        self.run_ok("""
            import pprof, threading
            done = threading.Event()
            def body():
                while not done.is_set():
                    with pprof.range("a"), pprof.range("b"):
                        pprof.count("c", 1)
            threads = [threading.Thread(target=body) for _ in range(2)]
            for thread in threads: thread.start()
            for i in range(5):
                pprof.start({"output": "%d.pplog" % i, "memory_limit": "64MiB"})
                pprof.step()
                pprof.stop()
            done.set()
            for thread in threads: thread.join()
        """, PPROF_OUTPUT=None, PPROF_SET=None)
        logs = self.logs()
        self.assertEqual(len(logs), 5)
        for log in logs:
            self.assert_clean(log, excluded=log.total("excluded"))


if __name__ == "__main__":
    main()
