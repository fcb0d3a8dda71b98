#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the interpreter takes: collections, imports and held event loops, planted one by one."""
import os
import unittest

from python_case import PACKAGE, Case, main


class Ledger(Case):
    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_collections_are_ranges_in_the_stage_that_they_hit(self):
        """Of a heap of 200 000 objects, collected at a known moment; the garbage is counted."""
        log = self.log_of("""
            import gc, pprof
            gc.disable()
            pprof.start()
            gc.collect(1)
            gc.collect()
            heap = [[i] for i in range(200000)]
            def garbage():
                for _ in range(50):
                    ring = []
                    ring.append(ring)
            for stage, generation in (("load", 2), ("decode", 0)):
                garbage()
                with pprof.range(stage):
                    gc.collect(generation)
            gc.collect(1)
            class Last:
                def __del__(self):
                    pprof.mark("inside")
            last = Last()
            last.itself = last
            del last
            pprof.mark("before")
            gc.collect()
            pprof.mark("behind")
        """, PPROF_LEDGER="1")
        found = [(event["name"], event["category"], event["depth"]) for event in log.events
                 if event["category"] == "Garbage"]
        pauses = [(2, 1), (0, 1), (1, 0)]
        self.assertEqual(found[2:5], [("gc generation %d" % generation, "Garbage", depth)
                                      for generation, depth in pauses])
        load = log.named("load")
        pause = [event for event in log.events if event["name"] == "gc generation 2"][1]
        self.assertLessEqual(load["start"], pause["start"])
        self.assertLessEqual(pause["end"], load["end"])
        self.assertEqual(pause["work"][0], 50)
        pause = [event for event in log.events if event["name"] == "gc generation 2"][-1]
        marks = [log.named(name)["start"] for name in ("before", "inside", "behind")]
        times = [marks[0], pause["start"], marks[1], pause["end"], marks[2]]
        self.assertEqual(times, sorted(times))

    def test_nothing_is_woken(self):
        """A process that marks nothing leaves no log, whatever it collects and imports."""
        self.run_ok("""
            import pprof, gc, decimal
            gc.collect()
        """, PPROF_LEDGER="1", PPROF_ENABLE="1")
        self.assertEqual(self.logs(), [])

    def test_what_holds_the_loop_is_named(self):
        log = self.log_of("""
            import asyncio, pprof, time
            def spin():
                end = time.perf_counter() + 0.03
                while time.perf_counter() < end:
                    pass
            async def tokenize():
                await asyncio.sleep(0)
                spin()
            async def quick():
                await asyncio.sleep(0)
            async def main():
                loop = asyncio.get_running_loop()
                await asyncio.gather(tokenize(), quick())
                loop.call_soon(spin)
                await asyncio.sleep(0)
            pprof.start()
            asyncio.run(main())
        """, PPROF_LEDGER="1")
        held = {}  # what was preempted meanwhile may be there, too
        for event in log.events:
            if event["category"] == "EventLoop":
                held[event["name"]] = max(held.get(event["name"], 0), event["value"])
        for name in ("loop:tokenize", "loop:spin"):
            self.assertGreaterEqual(held[name], 30)

    def test_imports_are_ranges_of_their_package(self):
        self.write("outer_pkg/__init__.py", "from . import part\nimport inner_pkg\n")
        self.write("outer_pkg/part.py", "")
        self.write("inner_pkg.py", "import outer_pkg\n")
        self.write("slow_pkg.py", "import time\ntime.sleep(0.02)\n")
        log = self.log_of("""
            import sys
            sys.path.insert(0, ".")
            import pprof
            import slow_pkg
            pprof.start()
            with pprof.range("first step"):
                import outer_pkg
        """, PPROF_LEDGER="1")
        self.assertEqual([(event["name"], event["depth"]) for event in log.events
                          if event["name"].startswith("import ")],
                         [("import outer_pkg", 1), ("import inner_pkg", 2)])
        # What was loaded before is told as a number once something records.
        self.assertGreaterEqual(log.named("import:slow_pkg")["value"], 20)

    def test_torch_is_asked_once_a_second_where_it_is_loaded(self):
        self.write("torch/__init__.py", """
class cuda:
    is_initialized = staticmethod(lambda: True)
    memory_stats = staticmethod(lambda: {"num_alloc_retries": 3})
""")
        self.write("torch/_dynamo/__init__.py", "")
        self.write("torch/_dynamo/utils.py",
                   "import collections\ncounters = {'stats': collections.Counter(unique_graphs=7)}\n")
        log = self.log_of("""
            import sys
            sys.path.insert(0, ".")
            import pprof
            pprof.start()
            pprof.step()
            import torch, torch._dynamo.utils
            pprof.step()
            pprof.step()
        """, PPROF_LEDGER="1")
        self.assertEqual([(event["name"], event["value"]) for event in log.events
                          if event["category"] == "Torch"],
                         [("torch.compiled_graphs", 7), ("torch.alloc_retries", 3)])

    def test_a_program_that_marks_by_nvtx_has_one_too(self):
        """By the site of hooks, as `run` sets it; nothing else loads the package there."""
        self.write("nvtx.py", "")
        for ledger, expected in (("1", "True"), ("0", "False")):
            printed = self.run_ok("""
                import sys
                before = hasattr(sys, "_pprof_ledger")
                import nvtx
                print(not before and hasattr(sys, "_pprof_ledger"))
            """, PPROF_HOOKS="auto", PPROF_LEDGER=ledger,
                PYTHONPATH=os.path.join(PACKAGE, "pprof", "site"))
            self.assertEqual(printed.strip(), expected)

    def test_off_without_the_variable(self):
        log = self.log_of("""
            import gc, pprof
            pprof.start()
            with pprof.range("stage"):
                gc.collect()
        """)
        self.assertEqual([event["name"] for event in log.events], ["stage"])


if __name__ == "__main__":
    main()
