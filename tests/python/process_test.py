#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that a program makes of itself: each records into a log of its own."""
import importlib.util
import os
import subprocess
import unittest

from python_case import REPORT, Case, main

# Works as a data loader does: a worker marks, and its parent does.
WORKERS = """
    import multiprocessing, os, pprof, sys

    pprof.mark("a worker that is not one yet")

    @pprof.range("load", category="Dataloader")
    def load(i):
        return i * i

    def work(numbers, answers):
        for i in iter(numbers.get, None):
            answers.put(load(i))

    def main(context, **options):
        pprof.start(**options)
        numbers, answers = context.Queue(), context.Queue()
        workers = [context.Process(target=work, args=(numbers, answers)) for _ in range(2)]
        for worker in workers: worker.start()
        print(*(worker.pid for worker in workers))
        with pprof.range("train"):
            for i in range(10): numbers.put(i)
            assert sorted(answers.get() for _ in range(10)) == [i * i for i in range(10)]
        for _ in workers: numbers.put(None)
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0, worker.exitcode
        pprof.stop()

    if __name__ == "__main__":
        main(multiprocessing.get_context(sys.argv[1]), **eval(sys.argv[2]))
"""


# As WORKERS, by what makes processes for a program; `with` terminates a Pool's.
POOL = """
    import concurrent.futures, multiprocessing, pprof, sys

    @pprof.range("load", category="Dataloader")
    def load(i):
        return i * i

    def made(kind, context):
        if kind == "Pool":
            return context.Pool(2)
        return concurrent.futures.ProcessPoolExecutor(2, mp_context=context)

    if __name__ == "__main__":
        pprof.start()
        with pprof.range("train"):
            with made(sys.argv[1], multiprocessing.get_context(sys.argv[2])) as pool:
                assert list(pool.map(load, range(10))) == [i * i for i in range(10)]
"""
# As gunicorn's arbiter: it forks workers, which leave by sys.exit when they are told to by a
# signal, and makes another of one that died.
PREFORK = """
    import os, pprof, signal, sys, time

    @pprof.range("request")
    def answer():
        pass

    def serve(end):
        def leave(*_):
            sys.exit(0)
        signal.signal(signal.SIGTERM, leave)
        for _ in range(5):
            answer()
        os.write(end, b".")
        while True:
            signal.pause()

    def spawn(end):
        child = os.fork()
        if not child:
            serve(end)
        return child

    pprof.start()
    with pprof.range("arbiter"):
        read, write = os.pipe()
        workers = [spawn(write) for _ in range(2)]
        for _ in workers: os.read(read, 1)
        for worker in workers:
            os.kill(worker, getattr(signal, sys.argv[1]))
            os.waitpid(worker, 0)
"""


class Processes(Case):
    def check_workers(self, logs):
        """Nothing is unfinished, and the ten loads are in the workers' logs."""
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".part")], [])
        own = [log for log in logs if "train" in log.select("name")]
        self.assertEqual([log.select("name") for log in own], [["train"]])
        self.assertEqual(self.names(logs), ["load"] * 10 + ["train"])
        for log in logs:
            self.assert_clean(log)
        return [log for log in logs if log not in own]

    def check_names(self, logs, name, pids):
        """A worker that got no work has none."""
        self.assertLessEqual({os.path.basename(log.path) for log in logs},
                             {name % pid for pid in pids})

    def test_workers_that_are_forked(self):
        self.run_ok(WORKERS, "fork", "{}")
        self.check_workers(self.logs())

    def test_workers_that_are_spawned(self):
        self.run_ok(WORKERS, "spawn", "{}")
        self.check_workers(self.logs())

    def test_workers_of_a_server(self):
        self.run_ok(WORKERS, "forkserver", "{}")
        self.check_workers(self.logs())

    def check_pool(self, kind, method):
        for name in os.listdir(self.folder):
            os.remove(self.path(name))
        self.run_ok(POOL, kind, method)
        found = self.recover()
        self.assertEqual(self.names(self.logs()), ["load"] * 10 + ["train"])
        return found

    def test_workers_that_a_pool_terminates(self):
        """Every range is in the folder's report once the command that it names was run."""
        for method in "fork", "spawn", "forkserver":
            with self.subTest(method):
                self.check_pool("Pool", method)

    def test_workers_of_an_executor(self):
        for method in "fork", "spawn", "forkserver":
            with self.subTest(method):
                self.assertEqual(self.check_pool("executor", method), 0)

    def test_prefork(self):
        """Workers of a server that is stopped, and ones that are killed."""
        for signal, parts in ("SIGTERM", 0), ("SIGKILL", 2):
            with self.subTest(signal):
                self.run_ok(PREFORK, signal, PPROF_OUTPUT=signal + "%p.pplog")
                self.assertEqual(self.recover(), parts)
                self.assertEqual(self.names(self.logs(signal + "*.pplog")),
                                 ["arbiter"] + ["request"] * 10)

    @unittest.skipUnless(importlib.util.find_spec("gunicorn"), "no gunicorn")
    def test_gunicorn(self):
        """Its workers, told to leave, leave whole logs."""
        self.run_ok("""
            import os, pprof, signal, sys, threading, urllib.request
            from gunicorn.app.base import BaseApplication
            def answer(environ, start_response):
                with pprof.range("request"):
                    start_response("200 OK", [])
                    return [b"yes"]
            def ask(server):
                port = server.LISTENERS[0].sock.getsockname()[1]
                for _ in range(10):
                    with urllib.request.urlopen("http://127.0.0.1:%d/" % port) as got:
                        assert got.read() == b"yes"
                os.kill(os.getpid(), signal.SIGTERM)
            class App(BaseApplication):
                def load_config(self):
                    self.cfg.set("bind", "127.0.0.1:0")
                    self.cfg.set("workers", 2)
                    self.cfg.set("loglevel", "critical")
                    if "control_socket_disable" in self.cfg.settings:
                        self.cfg.set("control_socket_disable", True)
                    self.cfg.set("when_ready", lambda server: threading.Thread(
                        target=ask, args=(server,)).start())
                def load(self):
                    return answer
            pprof.start()
            App().run()
        """)
        self.assertEqual(self.recover(), 0)
        self.assertEqual(self.names(self.logs()), ["request"] * 10)

    def test_workers_do_not_write_the_parents_files(self):
        """Wherever they are named: a worker has a log, with a name of its own, and no more."""
        export = "{format: json, path: %s.%%p.json}"
        for method in "fork", "spawn":
            with self.subTest(method):
                config, settings = "output: %s.pplog\n" % method, "memory_limit=1MiB;log=true"
                if method == "fork":
                    config += "exports: [%s]\n" % (export % method)
                else:
                    settings += ";exports=[%s]" % (export % method)
                pids = self.run_ok(WORKERS, method, repr({"config": config}), PPROF_OUTPUT=None,
                                   PPROF_SET=settings).split()
                logs = self.logs(method + "*.pplog")
                self.check_names(self.check_workers(logs), method + ".%s.pplog", pids)
                self.assertTrue(os.path.exists(self.path(method + ".pplog")))
                made = [name for name in os.listdir(self.folder)
                        if name.startswith(method) and name.endswith(".json")]
                self.assertEqual(len(made), 1, made)

    def test_a_file_says_what_workers_record(self):
        with open(self.path("profile.yaml"), "w", encoding="utf-8") as file:
            file.write("# output: not.this\noutput: 'run.pplog'  # one\nlog: true\n")
        pids = self.run_ok(WORKERS, "fork", "{'config': 'profile.yaml'}", PPROF_OUTPUT=None).split()
        self.check_names(self.check_workers(self.logs()), "run.%s.pplog", pids)

    def test_exports_alone(self):
        config = {"log": False, "exports": [{"format": "json", "path": "only.json"}]}
        self.run_ok(WORKERS, "fork", repr({"config": config}))
        self.assertEqual(self.names(self.logs()), ["load"] * 10)

    def test_off(self):
        for method in "fork", "spawn":
            with self.subTest(method):
                self.run_ok(WORKERS, method, "{'fork': 'off'}", PPROF_OUTPUT=method + "%p.pplog")
                self.assertEqual(self.names(self.logs(method + "*.pplog")), ["train"])

    def test_a_child_that_starts_itself(self):
        self.run_ok("""
            import multiprocessing, pprof
            def work():
                pprof.start({"output": "child.pplog"})
                with pprof.range("child"):
                    pass
            if __name__ == "__main__":
                pprof.start({"output": "parent.pplog"})
                worker = multiprocessing.get_context("fork").Process(target=work)
                worker.start()
                worker.join()
        """, PPROF_OUTPUT=None)
        self.assertEqual([log.select("name") for log in self.logs()], [["child"], []])

    def test_forked_inside_a_range(self):
        """The range is the parent's alone; a child that marks nothing leaves nothing."""
        self.run_ok("""
            import os, pprof, sys
            pprof.start()
            def resting():
                with pprof.range("resting"):
                    yield
            held = resting()
            next(held)
            with pprof.range("around"):
                for name in "marks", "silent":
                    child = os.fork()
                    if not child:
                        break
                    assert os.waitpid(child, 0)[1] == 0
                else:
                    pprof.mark("parent")
                if not child and name == "marks":
                    with pprof.range("child"):
                        pprof.mark("in child")
            list(held)
            if not child:
                sys.exit(0)
        """)
        logs = sorted((log.select("name") for log in self.logs()), key=len)
        self.assertEqual(logs, [["child", "in child"], ["resting", "around", "parent"]])

    def test_children_of_children(self):
        self.run_ok("""
            import os, pprof
            pprof.start()
            with pprof.range("first"):
                pass
            if not os.fork():
                with pprof.range("second"):
                    pass
                if not os.fork():
                    with pprof.range("third"):
                        pass
                else:
                    os.wait()
            else:
                os.wait()
        """)
        self.assertEqual(sorted(log.select("name") for log in self.logs()),
                         [["first"], ["second"], ["third"]])

    def test_a_child_that_ends_at_once(self):
        """os._exit: what it recorded is in its spool, and recover brings it."""
        self.run_ok("""
            import os, pprof
            pprof.start()
            if not os.fork():
                with pprof.range("child"):
                    pass
                os._exit(0)
            os.wait()
        """)
        part, = [name for name in os.listdir(self.folder) if name.endswith(".part")]
        done = subprocess.run([REPORT, "recover", self.path(part)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(self.logs()), ["child"])

    def test_after_a_stop_nobody_follows(self):
        self.run_ok("""
            import multiprocessing, os, pprof
            def work():
                with pprof.range("nobody's"):
                    assert not pprof.enabled()
            if __name__ == "__main__":
                pprof.start()
                pprof.stop()
                for method in "fork", "spawn":
                    worker = multiprocessing.get_context(method).Process(target=work)
                    worker.start()
                    worker.join()
                    assert worker.exitcode == 0
        """)
        self.assertEqual(len(self.logs()), 1)

    def test_other_programs_do_not_follow(self):
        """They inherit the environment, but are no workers."""
        self.run_ok("""
            import pprof, subprocess, sys
            pprof.start()
            subprocess.run([sys.executable, "-c", "import pprof\\nwith pprof.range('x'): pass\\n"
                            "assert not pprof.enabled()"], check=True)
        """)
        self.assertEqual(len(self.logs()), 1)

    def test_threads_of_the_parent_and_a_fork(self):
        """A fork while another thread marks: the child records, and both logs are whole."""
        self.run_ok("""
            import os, pprof, sys, threading
            pprof.start({"memory_limit": "64MiB"})
            done = threading.Event()
            def body():
                while not done.is_set():
                    with pprof.range("busy"):
                        pass
            thread = threading.Thread(target=body)
            thread.start()
            for _ in range(10):
                child = os.fork()
                if not child:
                    with pprof.range("child"):
                        pass
                    pprof.stop()
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            done.set()
            thread.join()
        """, PPROF_SET=None)
        logs = self.logs()
        self.assertEqual(sum(log.select("name") == ["child"] for log in logs), 10)
        for log in logs:
            self.assert_clean(log)


if __name__ == "__main__":
    main()
