#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that data files name are marked from outside, by pprof.hooks.install and by
`pprof-report run --hooks`; nothing of the packages is changed, and nothing of a program fails."""
import os
import shutil
import subprocess
import sys
import textwrap

from python_case import ASYNC, CLIPPED, COUNTER, Case, LIBRARY, PACKAGE, REPORT, SECONDS, main

NVTX = os.path.join(os.path.dirname(LIBRARY), "sdk", "nvtx", "libpprof_nvtx.so")
MODULE = """
    class Engine:
        def __init__(self, size=0):
            self.size = size
        def turn(self, items, *, mode="fast"):
            return self.inner(len(items))
        def inner(self, number):
            return number
        @staticmethod
        def fixed(x):
            return x
        @classmethod
        def made(cls, x):
            return cls(x)
        async def later(self, x):
            return x
        def each(self, n):
            yield from range(n)
        async def stream(self, n):
            for i in range(n):
                yield i
        def predict(self, x):
            return x
        def deep(self, n):
            return n and self.deep(n - 1)
        def fails(self):
            raise KeyError("x")
        def wait(self):
            pass

    def work(x):
        return x
"""
RULES = """\
# a comment
engine  Engine.turn    turn {#items} {mode} {self.size}  Forward
engine  Engine.fixed   fixed {x}
engine  Engine.made    made  Preprocess
engine  Engine.later
engine  Engine.each    =  Dataloader
engine  Engine.stream  stream
engine  Engine.predict  predict  Inference  sub
engine  Engine.deep    deep  -  top
engine  Engine.fails   fails
engine  Engine.wait    wait  Idle
engine  work           work
"""


class Hooks(Case):
    def setUp(self):
        super().setUp()
        self.write("engine.py", MODULE)
        self.write("own.hooks", RULES)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))

    def run_tool(self, source, *options, status=0, **changes):
        """What `run` says of this program; its logs are in the folder "logs"."""
        lib = self.path("lib")
        if not os.path.exists(lib):
            os.mkdir(lib)
            shutil.copy(LIBRARY, os.path.join(lib, "libpprof.so.0"))
            shutil.copy(NVTX, lib)
        shutil.rmtree(self.path("logs"), ignore_errors=True)
        self.write("program.py", source)
        changes = {"PPROF_LIBRARY": None, "PPROF_OUTPUT": None, "PYTHONPATH": None, **changes}
        done = subprocess.run(
            [REPORT, "run", "--library", os.path.join(lib, "libpprof_nvtx.so"), "--logs", "logs",
             *options, "--", sys.executable, "program.py"], cwd=self.folder, text=True,
            env=self.environment(**changes), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def recorded(self):
        return [pair for log in self.logs("logs/*.pplog") for pair in log.select("name", "category")]

    def test_all_kinds_of_functions(self):
        log = self.log_of("""
            import asyncio, pprof, pprof.hooks
            pprof.hooks.install("own.hooks")
            import engine
            from engine import work
            class Own(engine.Engine):
                def predict(self, x):
                    return x + 1
            async def main(e):
                return await e.later(2), [x async for x in e.stream(2)]
            def use():
                e = Own(7)
                try:
                    e.fails()
                except KeyError:
                    pass
                return (e.turn([1, 2], mode="slow"), e.turn([]), e.fixed(5), type(e.made(1)),
                        asyncio.run(main(e)), list(e.each(3)), e.predict(1), e.deep(2), work(3),
                        asyncio.iscoroutinefunction(e.later), e.wait())
            before = use()
            pprof.start()
            print(use() == before, before[:2], before[4:])
            pprof.stop()
        """)
        self.assertEqual(self.printed, "True (2, 0) ((2, [0, 1]), [0, 1, 2], 2, 0, 3, True, None)\n")
        self.assertEqual(log.select("name", "category"), [
            ("fails", "UserDefined"), ("turn 2 slow 7", "Forward"), ("turn 0 ? 7", "Forward"),
            ("fixed 5", "UserDefined"), ("made", "Preprocess"), ("Engine.later", "UserDefined"),
            ("stream", "UserDefined"), ("Engine.each", "Dataloader"), ("predict", "Inference"),
            ("deep", "UserDefined"), ("work", "UserDefined"), ("wait", "Idle")])

    def test_a_row_begins_a_step(self):
        self.write("steps.hooks", "engine  work  turn  -  step\n")
        log = self.log_of("""
            import pprof, pprof.hooks
            pprof.start()
            pprof.hooks.install("steps.hooks")
            import engine
            for _ in range(3):
                engine.work(1)
        """)
        turns, steps = ([event for event in log.events if (event["category"] == "ProfileStep") is of]
                        for of in (False, True))
        self.assertEqual([event["name"] for event in turns], ["turn"] * 3)
        # The first one ends where the second turn begins.
        self.assertEqual(len(steps), 3)
        for turn, before, step in zip(turns[1:], steps, steps[1:]):
            self.assertTrue(before["end"] <= turn["start"] <= turn["end"] <= step["end"])

    def test_what_a_version_lacks(self):
        self.write("other.hooks", "engine  Engine.gone\nengine  work  work {nothing}\n"
                                  "package.module  f\npackage.sub.there  f\n")
        self.write("package/__init__.py", "")
        self.write("package/sub/there.py", "def f(): pass\n")
        done = self.start("""
            import warnings
            warnings.simplefilter("always")
            import engine, pprof.hooks
            pprof.hooks.install("other.hooks")
            import package.sub.there
            print(engine.work(4))
        """)
        self.assertEqual((done.returncode, done.stdout), (0, "4\n"))
        for name in "engine.Engine.gone", "engine.work", "package.module.f":
            self.assertIn("pprof: hooks other: not found in this version: %s\n" % name, done.stderr)
        self.assertNotIn("there", done.stderr)

    def test_wrong_rows(self):
        for text, words in (("engine  work  n  -  never\n", "'never' is no word of a row"),
                            ("engine\n", "a row needs a function")):
            self.write("own.hooks", text)
            self.assertIn("own.hooks:1: " + words, self.run_ok("""
                import pprof.hooks
                try:
                    pprof.hooks.install("own.hooks")
                except ValueError as error:
                    print(error)
            """))

    def test_files_of_the_package_are_readable(self):
        self.assertEqual(self.run_ok("""
            import os, pprof, pprof.hooks
            folder = os.path.join(os.path.dirname(pprof.__file__), "hook_files")
            for name in sorted(os.listdir(folder)):
                print(name[:-6], len(pprof.hooks.read(name[:-6])) > 0)
        """).split(), sum(([name, "True"] for name in (
            "asgi", "concurrent", "functions", "litserve", "ray-serve", "sglang", "torch", "transformers",
            "vllm")), []))

    CHILDREN = """
        import multiprocessing, os, subprocess, sys
        import engine
        def child(name):
            engine.work(1)
        if __name__ == "__main__":
            engine.work(0)
            for way in "fork", "spawn":
                process = multiprocessing.get_context(way).Process(target=child, args=(way,))
                process.start()
                process.join()
            subprocess.run([sys.executable, "-c", "import engine; engine.work(2)"], check=True)
    """

    def test_run_marks_children_of_all_kinds(self):
        _, said = self.run_tool(self.CHILDREN, "--hooks", "own.hooks")
        self.assertEqual(self.recorded(), [("work", "UserDefined")] * 4, said)
        self.assertIn("4 logs in", said)
        commands = [log.info["command"].split()[0] for log in self.logs("logs/*.pplog")]
        self.assertEqual(commands.count("program.py:SpawnProcess-2"), 1, commands)
        self.assertFalse(os.path.exists(self.path("logs/.python")))

    def test_install_marks_children_of_all_kinds(self):
        self.run_ok(self.CHILDREN.replace("import engine\n", """
        import pprof, pprof.hooks
        pprof.hooks.install("own.hooks")
        import engine
        if __name__ == "__main__":
            pprof.start()
""", 1), PPROF_ENABLE="1")
        self.assertEqual(self.names(self.logs()), ["work"] * 4)

    def test_a_configuration_names_them(self):
        self.write("run.yaml", "run: {hooks: [own.hooks]}\n")
        _, said = self.run_tool("import engine; engine.work(1)", "--config", "run.yaml")
        self.assertEqual(self.recorded(), [("work", "UserDefined")], said)

    def test_run_says_what_is_missing(self):
        self.write("own.hooks", RULES + "engine  Engine.gone\nengine  Engine.lost\n")
        _, said = self.run_tool("import engine; engine.work(1)", "--hooks", "own.hooks", "--hooks",
                                "vllm")
        self.assertIn("pprof-report: hooks own: not found in this version: engine.Engine.gone, "
                      "engine.Engine.lost\n", said)
        self.assertIn("pprof-report: hooks vllm: no Python process of this run has loaded their "
                      "modules", said)
        _, said = self.run_tool("", "--hooks", "vlm", status=2)
        self.assertIn("there is no hooks file 'vlm' (did you mean 'vllm'?)", said)
        _, said = self.run_tool("", "--hooks", "none.hooks", status=2)
        self.assertIn("none.hooks: No such file or directory", said)

    def server(self):
        """What stands for vLLM: an API server and its engine, both ends of a request."""
        self.write("vllm/v1/core/sched/scheduler.py", """
            class Scheduler:
                running, waiting = [1, 2], [3]
                class kv_cache_manager:
                    usage = 0.25
                def add_request(self, request):
                    pass
                def schedule(self, throttled=False):
                    class Output:
                        num_scheduled_tokens = {"a": 4}
                    return Output
                def update_from_output(self, scheduled, output):
                    class Outputs:
                        outputs = [output]
                    return {0: Outputs}
                def finish_requests(self, names, status):
                    return []
        """)
        self.write("vllm/v1/engine/core.py", """
            class EngineCore:
                def step(self, scheduler, output):
                    scheduler.update_from_output(scheduler.schedule(), output)
        """)
        self.write("vllm/v1/engine/output_processor.py", """
            class OutputProcessor:
                def add_request(self, request, prompt):
                    pass
                def process_outputs(self, outputs, timestamp=None):
                    pass
                def abort_requests(self, names, internal):
                    return names
        """)
        for folder in "", "/v1", "/v1/core", "/v1/core/sched", "/v1/engine":
            self.write("vllm%s/__init__.py" % folder, "")
        return """
            import sys, time, types
            from vllm.v1.core.sched.scheduler import Scheduler
            from vllm.v1.engine.core import EngineCore
            from vllm.v1.engine.output_processor import OutputProcessor
            def output(finish_reason):
                return types.SimpleNamespace(request_id="a", new_token_ids=[5],
                                             finish_reason=finish_reason)
            request = types.SimpleNamespace(request_id="a", num_prompt_tokens=4,
                                            prompt_token_ids=[1, 2, 3, 4],
                                            arrival_time=time.time())
            if sys.argv[1] == "server":
                server = OutputProcessor()
                server.add_request(request, "")
                server.process_outputs([output(None)])
                server.process_outputs([output("stop")])
                server.add_request(request, "")
                server.abort_requests(["a"], False)
            else:
                scheduler = Scheduler()
                scheduler.add_request(request)
                EngineCore().step(scheduler, output(None))
                EngineCore().step(scheduler, output("length"))
        """

    def test_requests_of_vllm(self):
        self.write("server.py", self.server())
        self.write("both.py", """
            import subprocess, sys
            for part in "server", "engine":
                subprocess.run([sys.executable, "server.py", part], check=True)
        """)
        _, said = self.run_tool("import both", "--hooks", "vllm")
        self.assertIn("hooks vllm: not found in this version: ", said)
        found = {}
        for log in self.logs("logs/*.pplog"):
            for event in log.events:
                if event["flows"]:
                    found.setdefault(event["name"], []).append(
                        (tuple(event["flows"]), event["work"][0]))
                    self.assertEqual(event["value"] > 0, event["name"] == "served")
                elif event["kind"] == COUNTER:
                    found.setdefault(event["name"], []).append(event["value"])
        number, = found["engine: request"][0][0]
        self.assertGreaterEqual(number, 1 << 63)
        a = (number,)
        self.assertEqual(found, {
            "server: request": [(a, 4), (a, 4)], "engine: request": [(a, 4)],
            "served": [(a, 0)] * 2, "token": [(a, 1)] * 4, "requests running": [2] * 2,
            "requests waiting": [1] * 2, "KV cache use, %": [25] * 2})

    def application(self):
        """What stands for Starlette, and a request to it."""
        self.write("site-packages/starlette/__init__.py", "")
        self.write("site-packages/starlette/applications.py", """
            class Starlette:
                async def __call__(self, scope, receive, send):
                    from starlette.routing import Route
                    await Route("/items/{item}").handle(scope, receive, send)
        """)
        self.write("site-packages/starlette/routing.py", """
            import asyncio
            class Route:
                def __init__(self, path):
                    self.path = path
                async def handle(self, scope, receive, send):
                    await asyncio.sleep(0)  # another may run
        """)
        return """
            import asyncio
            from starlette.applications import Starlette
            for i in range(3):
                trace = b"00-%032x-%016x-01" % (7 << 64 | 5, 9)
                headers = [(b"traceparent", trace)] if i else []
                scope = {"type": "http", "method": "GET", "headers": headers}
                asyncio.run(Starlette()(scope, None, None))
            asyncio.run(Starlette()({"type": "lifespan"}, None, None))
        """

    def test_a_program_that_marks_nothing(self):
        source = self.application()
        line = ("pprof-report: the program marks nothing: stages come from the hooks asgi; leave "
                "them out with --no-hooks\n")
        _, said = self.run_tool(source, PYTHONPATH=self.path("site-packages"))
        self.assertIn(line, said)
        log, = self.logs("logs/*.pplog")
        flows = [event["flows"] for event in log.events]
        self.assertEqual(log.select("name"), ["http GET", "loop: http GET", "GET /items/{item}",
                                              "loop: GET /items/{item}"] * 3 + ["? /items/{item}"])
        self.assertEqual(flows[:4], [flows[0]] * 4)
        self.assertEqual(flows[4:12], [[0xefcb19f08cb544aa]] * 8)  # of 7 << 64 | 5
        self.assertNotEqual(flows[0], flows[4])

        _, said = self.run_tool(source, "--no-hooks", PYTHONPATH=self.path("site-packages"))
        self.assertIn("nothing was recorded", said)

    def test_a_program_that_marks_keeps_its_own_marks(self):
        source = textwrap.dedent(self.application())
        for mine in ("import pprof\n", source + "import pprof\n"):
            _, said = self.run_tool(mine + source + "pprof.mark('mine')\n",
                                    PYTHONPATH=PACKAGE + ":" + self.path("site-packages"),
                                    PPROF_LIBRARY=LIBRARY)
            self.assertIn(("mine", "UserDefined"), self.recorded())
            self.assertNotIn("the program marks nothing", said)
            if mine == "import pprof\n":
                self.assertEqual(self.recorded(), [("mine", "UserDefined")])

    def test_functions_of_the_program(self):
        self.write("stages.py", """
            import asyncio
            def load(x, *, more=1):
                return x + more
            def each(n):
                yield from range(n)
            async def later(x):
                return x
            class Model:
                def run(self, x=5):
                    return x
                @staticmethod
                def fixed(x):
                    return x
            def deep(n):
                return n and deep(n - 1)
            def main():
                copied = load
                return [(copied(1), load(2, more=3), [*each(2)], asyncio.run(later(4)),
                         Model().run(), Model.fixed(6), deep(2)) for _ in range(2)]
        """)
        source = """
            import stages
            def work(x):
                return x
            print(stages.main())
            while not hasattr(work, "__wrapped__"):
                pass
            work(1), work(2)
        """
        printed, said = self.run_tool(source)
        self.assertEqual(printed, "%s\n" % ([(2, 5, [0, 1], 4, 5, 6, 0)] * 2))
        self.assertIn("stages come from the hooks functions; leave them out with --no-hooks", said)
        # `main` has not ended before, and `deep` calls itself.
        calls = ["load", "load", "each", "each", "each", "later", "Model.run", "Model.fixed"]
        self.assertEqual(sorted(name for name, _ in self.recorded()), sorted(
            ["stages." + name for name in 2 * calls + ["deep"]] + ["work", "work"]))
        log, = self.logs("logs/*.pplog")
        self.assertEqual([event["flags"] & ASYNC for event in log.events if event["name"] ==
                          "stages.load"], [ASYNC, 0, 0, 0])

        # A compiler of torch may trace them: they are marked only where it is asked for.
        self.write("site-packages/torch/__init__.py", "")
        self.write("site-packages/torch/_tensor.py", """
            class Tensor:
                def backward(self):
                    pass
        """)
        program = "import stages, torch._tensor; stages.main(); torch._tensor.Tensor().backward()"
        both = ["--hooks", "torch", "--hooks", "functions"]
        for options in [], both:
            _, said = self.run_tool(program, *options, PYTHONPATH=self.path("site-packages"))
            self.assertEqual(" ".join(both) in said, not options)
            self.assertEqual(("stages.load", "CpuTask") in self.recorded(), bool(options))
            self.assertIn(("backward", "Backward"), self.recorded())

    def test_functions_of_the_program_in_its_workers(self):
        _, said = self.run_tool("""
            import multiprocessing
            def work(x):
                return x
            def child():
                while not hasattr(work, "__wrapped__"):
                    pass
                work(1), work(2)
            if __name__ == "__main__":
                for way in "fork", "spawn":
                    process = multiprocessing.get_context(way).Process(target=child)
                    process.start()
                    process.join()
        """)
        self.assertEqual(self.recorded(), [("work", "CpuTask")] * 4, said)

    def test_wrong_arguments_fail_at_once(self):
        self.write("engine.py", """
            class Engine:
                async def later(self, x, /, y=2, *more, z=3, **rest):
                    return x, y, more, z, rest
        """)
        source = """
            import asyncio, inspect, engine
            async def answer(scope, receive, *, send=3):
                return scope, receive, send
            def each(n, /, k=1, *more, **rest):
                yield n, k, more, rest
            def fails(function, *args, **kwargs):
                try:
                    function(*args, **kwargs)
                except TypeError as error:
                    return True
            def main():
                later = engine.Engine().later
                while not hasattr(each, "__wrapped__") or not hasattr(later, "__wrapped__"):
                    pass
                print(fails(answer), fails(each), fails(answer, 1, 2, 3), fails(each, n=1),
                      fails(later), asyncio.run(answer(1, receive=2)), [*each(1, 2, 3, a=4)],
                      asyncio.run(later(1, 4, 5, z=6, a=7)), inspect.iscoroutinefunction(later),
                      str(inspect.signature(later)))
            main()
        """
        printed, said = self.run_tool(source, "--hooks", "functions", "--hooks", "own.hooks")
        self.assertEqual(printed, "True True True True True (1, 2, 3) [(1, 2, (3,), {'a': 4})] "
                         "(1, 4, (5,), 6, {'a': 7}) True (x, /, y=2, *more, z=3, **rest)\n", said)

    def test_the_call_that_began_before_its_function_was_marked(self):
        _, said = self.run_tool("""
            import os
            def load():
                while not any(".pplog" in name for name in os.listdir("logs")):
                    pass
            def main():
                load()
            main()
        """)
        self.assertEqual(self.recorded(), [("load", "CpuTask")], said)

    def test_functions_stay_what_they_are(self):
        self.write("stages.py", """
            def load(x, more=1):
                return x + more
            def short():
                pass
        """)
        log = self.log_of("""
            import inspect, pickle, pprof, pprof.hooks
            from pprof import _hook_functions
            _hook_functions.SHORT_NS = 1 << 60
            pprof.hooks.install("functions")
            import stages
            pprof.start()
            copied = stages.load
            print(pickle.loads(pickle.dumps(copied)) is copied, inspect.signature(copied))
            make, arguments = copied.__code__.co_consts[1].__reduce__()
            print(make(*arguments)(1), copied(1), copied(2))
            for _ in range(150):
                stages.short()
            print(hasattr(copied, "__wrapped__"), hasattr(stages.short, "__wrapped__"))
        """)
        self.assertEqual(self.printed, "True (x, more=1)\n2 2 3\nTrue False\n")
        # Of 150 calls, those before it was judged.
        self.assertEqual(sorted(log.select("name")),
                         ["stages.load"] * 2 + ["stages.short"] * 100)

    def test_functions_that_have_cells(self):
        self.write("stages.py", """
            import functools
            def noted(function):
                @functools.wraps(function)
                def call(*args):
                    return function(*args) + 1
                return call
            @noted
            def save(x):
                return x
            def made(k):
                def inner(x=1, *, more=2):
                    for i in range(x):
                        yield k + more
                return inner
            keep = kept = made(3)
            class Stage:
                def run(self, x):
                    return x
            class Decode(Stage):
                def run(self, x):
                    return super().run(x) + 10
                def __call__(self, x):
                    return self.run(x)
                def __getitem__(self, i):
                    return (i, i + 1)[i]
                def __len__(self):
                    return 1
        """)
        printed, said = self.run_tool("""
            import stages
            decode = stages.Decode()
            for i in range(2):
                print(stages.save(1), [*stages.keep(2, more=4)], [*stages.kept()], decode(5),
                      decode[i], len(decode))
        """)
        self.assertEqual(printed, "2 [7, 7] [5] 15 0 1\n2 [7, 7] [5] 15 2 1\n")
        self.assertEqual(sorted(name for name, _ in self.recorded()), sorted(
            2 * ["stages." + name for name in (
                "save", "keep", "keep", "keep", "keep", "keep", "Decode.__call__", "Decode.run",
                "Stage.run", "Decode.__getitem__")]), said)

    def test_the_programs_own_sitecustomize_runs(self):
        self.write("site/sitecustomize.py", "import builtins; builtins.mine = 'mine'\n")
        said, _ = self.run_tool("print(mine)", PYTHONPATH=self.path("site"))
        self.assertEqual(said, "mine\n")

    def test_pools(self):
        self.run_tool("""
            from concurrent.futures import ThreadPoolExecutor
            def task(x):
                return x
            from threading import Event
            go = Event()
            with ThreadPoolExecutor(1) as pool:
                first, second, third = (pool.submit(task, x) for x in (go.wait, 2, 3))
                assert second.cancel()
                go.set()
                assert third.result() == 3
            try:
                pool.submit(task, 4)
            except RuntimeError:
                print("shut down")
        """.replace("return x", "return x() if callable(x) else x"), "--hooks", "concurrent")
        self.assertEqual(sorted(self.recorded()), sorted(
            [("pool: queued", "UserDefined")] * 4 + [("pool: task", "CpuTask")] * 2))
        log, = self.logs("logs/*.pplog")
        self.assertEqual([event["name"] for event in log.events if event["flags"] & CLIPPED], [])


if __name__ == "__main__":
    main()
