#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that mark at once, share objects, and end what others began."""
import json
import sys
import unittest

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

    @unittest.skipIf(sys.version_info >= (3, 14), "Python does it, and cuts the end")
    def test_names_of_threads(self):
        """The system's, and so the rows', are Python's, but for names that a program gave. At most
        15 bytes: of a longer name the number at its end stays."""
        names = {"embed": "embed", "ThreadPoolExecutor-0_11": "ThreadPool-0_11",
                 "Thread-1 (rank_documents)": "Thread-1 (rank_",
                 "shard 4294967295 (17)": "sha4967295 (17)", "1" * 20: "1" * 15,
                 "\u6a21" * 5: "\u6a21" * 5, "\u6a21" * 6 + "_3": "\u6a21" * 4 + "_3"}
        log = self.log_of("""
            import concurrent.futures, ctypes, json, sys, threading
            end, began = threading.Event(), threading.Barrier(3)
            def body(own=None):
                if own:
                    ctypes.CDLL(None).prctl(15, own)
                began.wait()
                end.wait()
                with pprof.range("early"):
                    pass
            early = [threading.Thread(target=body, name="early"),
                     threading.Thread(target=body, name="not this", args=[b"its own"])]
            for thread in early: thread.start()
            began.wait()
            import pprof
            pprof.start()
            end.set()
            def late():
                with pprof.range("late"):
                    pass
            threads = [threading.Thread(target=late, name=name) for name in json.loads(sys.argv[1])]
            for thread in threads: thread.start()
            with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="rank") as pool:
                pool.submit(late).result()
            for thread in early + threads: thread.join()
            pprof.mark("main")
            print(open("/proc/self/comm").read())
        """, json.dumps(list(names)))
        pairs = log.select("name", "lane_name")
        self.assertEqual([lane for name, lane in pairs if name == "main"], [self.printed.strip()])
        self.assertEqual({lane for name, lane in pairs if name == "early"}, {"early", "its own"})
        self.assertEqual({lane for name, lane in pairs if name == "late"},
                         {*names.values(), "rank_0"})


if __name__ == "__main__":
    main()
