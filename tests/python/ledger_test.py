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

    def test_uvloop_is_covered(self):
        """Its loop is of C; what it is given to call is timed. A stand-in calls at once."""
        self.write("uvloop.py", """
class Loop:
    def call_soon(self, callback, *args, context=None):
        callback(*args)
    call_soon_threadsafe = call_soon
    def call_later(self, delay, callback, *args, context=None):
        callback(*args)
    call_at = call_later
""")
        log = self.log_of("""
            import sys
            sys.path.insert(0, ".")
            import functools, pprof, time, uvloop
            def spin(seconds, more=0):
                end = time.perf_counter() + seconds + more
                while time.perf_counter() < end:
                    pass
            def late():
                spin(0.03)
                raise ValueError("late")
            pprof.start()
            loop = uvloop.Loop()
            loop.call_soon(spin, 0.03, context=None)
            loop.call_soon_threadsafe(callback=functools.partial(spin, 0.01, 0.03))
            try:
                loop.call_later(1, late)
            except ValueError as error:
                print(error)
            loop.call_at(1, print, "called")
        """, PPROF_LEDGER="1")
        self.assertEqual(self.printed.split(), ["late", "called"])
        held = [(event["name"], event["value"]) for event in log.events
                if event["category"] == "EventLoop"]
        self.assertEqual([name for name, _ in held], ["loop:spin", "loop:spin", "loop:late"])
        for (_, value), least in zip(held, (30, 40, 30)):
            self.assertGreaterEqual(value, least)

    def write_torch(self):
        self.write("torch/__init__.py", """
import time
time.sleep(0.02)
from . import compiler
class cuda:
    is_initialized = staticmethod(lambda: True)
    memory_stats = staticmethod(lambda: {"num_alloc_retries": 3})
""")
        self.write("torch/compiler.py", "is_dynamo_compiling = lambda: False\n")
        self.write("torch/nn/__init__.py", "from . import modules\n")
        self.write("torch/nn/modules/__init__.py", "from . import module\n")
        self.write("torch/nn/modules/module.py",
                   "class Module:\n    def __call__(self):\n        return self.forward()\n")
        self.write("torch/_dynamo/__init__.py", "")
        self.write("torch/_dynamo/utils.py",
                   "import collections\ncounters = {'stats': collections.Counter(unique_graphs=7)}\n")

    TORCH = [("torch.compiled_graphs", 7), ("torch.alloc_retries", 3)]

    def test_torch_is_asked_once_a_second_where_it_is_loaded(self):
        self.write_torch()
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
                          if event["category"] == "Torch"], self.TORCH)

    def test_an_unchanged_program_has_one_from_its_first_import(self):
        """By the site of hooks: the package is loaded in the middle of torch."""
        self.write_torch()
        self.write("slow_first.py", "import time\ntime.sleep(0.02)\n")
        self.write("own.hooks", "torch.nn.modules.module  Module.__call__  forward  -  "
                   "by=torch_module\n")
        log = self.log_of("""
            import slow_first, torch.nn, torch._dynamo.utils
            class Net(torch.nn.modules.module.Module):
                def forward(self):
                    pass
            net = Net()
            net()
            net()
        """, PPROF_HOOKS="own.hooks", PPROF_LEDGER="1", PPROF_ENABLE="1",
            PYTHONPATH=os.path.join(PACKAGE, "pprof", "site"))
        self.assertEqual([(event["name"], event["value"]) for event in log.events
                          if event["category"] == "Torch"], self.TORCH)
        imports = {event["name"]: event["value"] for event in reversed(log.events)
                   if event["category"] == "Import"}
        for name in ("import:slow_first", "import:torch"):
            self.assertGreaterEqual(imports[name], 20)

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
