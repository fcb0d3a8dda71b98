#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that a program makes of itself: each records into a log of its own."""
import os
import subprocess

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


class Processes(Case):
    def names(self, logs):
        return sorted(name for log in logs for name in log.select("name"))

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
