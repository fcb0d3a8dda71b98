#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Schedules and windows in Python: what is recorded, and what `on_window` gets."""
import json
import os

from python_case import Case, main


class Windows(Case):
    def test_each_window_is_told(self):
        """wait, warmup and active as torch's; two windows, each with its own figures and trace."""
        printed = self.run_ok("""
            import json, os, pprof
            told = []
            def look(window):
                window.trace("w%d.json" % window.index)
                told.append([window.index, window.stages["work"]["calls"],
                             window.stages["work"]["avg_ns"] > 0, "Inference" in window.tables,
                             os.path.exists(window.log), window.log])
            pprof.start(schedule=pprof.schedule(wait=1, warmup=1, active=3, repeat=2),
                        on_window=look)
            for number in range(12):
                for _ in range(number):
                    with pprof.range("work", category="Inference"):
                        pass
                pprof.step()
            pprof.stop()
            print(json.dumps([one[:5] + [os.path.exists(one[5])] for one in told]))
        """)
        # Steps 2 to 4 and 7 to 9, each with as many ranges as its number; the logs are gone.
        self.assertEqual(json.loads(printed), [[0, 2 + 3 + 4, True, True, True, False],
                                               [1, 7 + 8 + 9, True, True, True, False]])
        with open(self.path("w1.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(len([one for one in events if one.get("name") == "work"
                              and one["ph"] == "X"]), 24)

    def test_logs_that_stay(self):
        self.run_ok("""
            import pprof
            def look(window):
                print(window.log)
            pprof.start({"output": "run.pplog"}, schedule=(1, 3), on_window=look,
                        window_log="own.%w.pplog")
            for number in range(5):
                with pprof.range("r%d" % number):
                    pass
                pprof.step()
            pprof.stop()
        """, PPROF_OUTPUT=None)
        self.assertEqual([log.select("name") for log in self.logs()], [["r1", "r2"]] * 2)

    def test_a_child_that_ends_leaves_the_windows(self):
        """They are its parent's, whether it marks or not."""
        for fork in "follow", "off":
            for child in "pass", "pprof.mark('here')", "pprof.stop()":
                with self.subTest(fork=fork, child=child):
                    self.run_ok("""
                        import os, pprof, sys
                        folders = set()
                        def look(window):
                            assert os.path.exists(window.log), window.log
                            folders.add(os.path.dirname(window.log))
                        pprof.start(schedule=pprof.schedule(active=1), on_window=look,
                                    fork=sys.argv[1])
                        for number in range(4):
                            if number == 2 and not os.fork():
                                exec(sys.argv[2])
                                sys.exit(0)
                            if number == 2:
                                assert os.wait()[1] == 0
                            pprof.step()
                        pprof.stop()
                        assert len(folders) == 1
                        assert not any(map(os.path.exists, folders)), folders
                    """, fork, child)

    def test_a_worker_that_on_window_makes(self):
        """It has a log as any other, and finishes it."""
        self.run_ok("""
            import multiprocessing, pprof, threading
            done = threading.Event()
            def work():
                with pprof.range("child"):
                    pass
            def look(window):
                if window.index == 0:
                    worker = multiprocessing.get_context("fork").Process(target=work)
                    worker.start()
                    worker.join()
                    assert worker.exitcode == 0
                    done.set()
            pprof.start({"output": "run.pplog"}, schedule=pprof.schedule(active=1), on_window=look)
            pprof.step()
            done.wait()
            pprof.stop()
        """, PPROF_OUTPUT=None)
        self.assertEqual(self.recover(), 0)
        self.assertEqual(self.names(self.logs()), ["child"])

    def test_an_exception_is_told_and_not_fatal(self):
        done = self.start("""
            import pprof
            def fail(window):
                raise KeyError("window %d went wrong" % window.index)
            pprof.start(schedule=pprof.schedule(active=1, repeat=2), on_window=fail,
                        window_log=False)
            pprof.step(); pprof.step()
            pprof.stop()
            print("goes on")
        """)
        self.assertEqual((done.returncode, done.stdout), (0, "goes on\n"))
        for number in 0, 1:
            self.assertIn("window %d went wrong" % number, done.stderr)

    def test_it_runs_on_no_thread_that_marks(self):
        self.run_ok("""
            import pprof, threading
            def look(window):
                assert threading.current_thread() is not threading.main_thread()
                assert window.log is None
                for call in pprof.start, pprof.stop:
                    try:
                        call()
                    except pprof.Error as error:
                        assert error.status == 3, error
                    else:
                        raise AssertionError
                try:
                    window.trace("x.json")
                except ValueError:
                    told.append(window.index)
            told = []
            pprof.start(schedule=pprof.schedule(active=1), on_window=look, window_log=False)
            pprof.step()
            pprof.stop()
            assert told == [0, 1], told
        """)

    def test_what_is_no_schedule(self):
        self.run_ok("""
            import pprof
            for wrong, kind in ((3, 3), ValueError), ((1, 2, 3), TypeError), (lambda step: 0,
                                                                             TypeError):
                try:
                    pprof.start(schedule=wrong)
                except kind:
                    continue
                raise AssertionError(wrong)
            for wrong in {"active": 0}, {"active": 1, "wait": -1}:
                try:
                    pprof.schedule(**wrong)
                except ValueError:
                    continue
                raise AssertionError(wrong)
            try:
                pprof.start(on_window=3)
            except TypeError:
                pass
        """)
        self.assertEqual(os.listdir(self.folder), ["program.py"])

    def test_children_keep_the_schedule(self):
        self.run_ok("""
            import multiprocessing, pprof
            def work():
                for number in range(4):
                    with pprof.range("child%d" % number):
                        pass
                    pprof.step()
            if __name__ == "__main__":
                pprof.start(schedule=(1, 2), on_window=lambda window: None)
                for method in "fork", "spawn":
                    child = multiprocessing.get_context(method).Process(target=work)
                    child.start()
                    child.join()
                pprof.stop()
        """)
        self.assertEqual(self.names(self.logs()), ["child1", "child1"])


if __name__ == "__main__":
    main()
