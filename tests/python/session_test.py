#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starting and stopping: configurations of all kinds, errors, the interpreter's end."""
import os
import subprocess

from python_case import REPORT, Case, main


class Sessions(Case):
    def test_configurations(self):
        self.run_ok("""
            import pathlib, pprof
            def record(name, config):
                pprof.start(config)
                with pprof.range(name):
                    pass
                pprof.stop()
            for name in "abc":
                pathlib.Path(name + ".yaml").write_text("output: %s.pplog\\n" % name)
            record("a", "a.yaml")
            record("b", pathlib.Path("b.yaml"))
            record("c", b"c.yaml")
            record("d", "output: d.pplog")
            record("e", "output: e.pplog\\ndrain_interval: 1ms\\n")
            record("f", {"output": pathlib.Path("f: {odd} #.pplog"), "memory_limit": "2MiB",
                         "stop_wait": "500ms", "capture": [{"active": 5}],
                         "devices": {"mode": "off", "backends": ["cpu"]}, "version": 1,
                         "nvtx": {"fields": False}})
        """, PPROF_OUTPUT=None)
        self.assertEqual([log.select("name") for log in self.logs()],
                         [[name] for name in "abcdef"])
        self.assertTrue(os.path.exists(self.path("f: {odd} #.pplog")))

    def test_configuration_of_the_environment(self):
        with open(self.path("profile.yaml"), "w", encoding="utf-8") as file:
            file.write("output: here.pplog\n")
        self.run_ok("import pprof; pprof.start()", PPROF_OUTPUT=None, PPROF_CONFIG="profile.yaml")
        self.assertTrue(os.path.exists(self.path("here.pplog")))

    def test_kernels(self):
        """As by the key; children follow, and the environment is as before."""
        self.run_ok("""
            import multiprocessing, os, pprof
            def work():
                with pprof.range("child"):
                    pass
            if __name__ == "__main__":
                os.environ["PPROF_SET"] = "stop_wait=500ms"
                pprof.start({"output": "run.%p.pplog"}, kernels=True)
                assert os.environ["PPROF_SET"] == "stop_wait=500ms"
                for method in "fork", "spawn":
                    child = multiprocessing.get_context(method).Process(target=work)
                    child.start()
                    child.join()
                pprof.stop()
        """, PPROF_OUTPUT=None)
        self.assertEqual([log.info["config"].count("kernels: true") for log in self.logs()],
                         [1, 1, 1])

    def test_kernels_that_the_environment_knows(self):
        """What it says goes first, as for each key."""
        for said, found in (("devices.kernels=true", "true"), ("devices.kernels=false", "false"),
                            ("devices={mode: off, kernels: false}", "false"),
                            ("devices={mode: off}", "true")):
            with self.subTest(said):
                self.run_ok("import pprof\npprof.start({'output': 'run.pplog'}, kernels=True)",
                            PPROF_OUTPUT=None, PPROF_SET=said)
                log, = self.logs()
                self.assertIn("\n  kernels: %s\n" % found, log.info["config"])
                os.remove(log.path)

    def test_closed_standard_descriptors(self):
        """What the program prints meets no file of ours, nor does a daemon's /dev/null."""
        self.run_ok("""
            import os, pprof
            null = os.open("/dev/null", os.O_RDWR)
            def printed():
                for fd in 1, 2:
                    try:
                        os.write(fd, b"what the program prints")
                    except OSError:
                        pass
            for fd in 0, 1, 2:
                os.close(fd)
            pprof.start({"output": "run.pplog", "spool": os.getcwd()})
            for fd in 0, 1, 2:
                try:
                    os.fstat(fd)
                except OSError:
                    continue
                os._exit(10 + fd)
            for i in range(100):
                printed()
                with pprof.range("marked"):
                    pass
                if i == 50:
                    for fd in 0, 1, 2:
                        os.dup2(null, fd)
            pprof.stop()
        """, PPROF_OUTPUT=None)
        log, = self.logs()
        self.assertEqual(log.select("name"), ["marked"] * 100)
        self.assert_clean(log)
        with open(log.path, "rb") as file:
            self.assertNotIn(b"what the program prints", file.read())

    def test_dictionary_needs_no_descriptor(self):
        """Its number would be another file's as soon as it is closed."""
        self.run_ok("""
            import os, pprof
            def refuse(*arguments):
                raise OSError("no descriptor")
            os.memfd_create = os.open = refuse
            pprof.start({"output": "run.pplog", "exclude": ["b"]})
            for name in "ab":
                with pprof.range(name):
                    pass
            pprof.stop()
        """, PPROF_OUTPUT=None)
        log, = self.logs()
        self.assertEqual(log.select("name"), ["a"])

    def test_number_is_read_once(self):
        """Children, too, have what was in the file at the start, and not its number."""
        with open(self.path("profile.yaml"), "w", encoding="utf-8") as file:
            file.write("output: run.%p.pplog\nexclude: [b]\n")
        self.run_ok("""
            import multiprocessing, os, pprof
            def work():
                for name in "ab":
                    with pprof.range(name):
                        pass
            if __name__ == "__main__":
                fd = os.open("profile.yaml", os.O_RDONLY)
                pprof.start("/dev/fd/%d" % fd)
                other = os.open("program.py", os.O_RDONLY)
                os.dup2(other, fd)
                work()
                for method in "fork", "spawn":
                    child = multiprocessing.get_context(method).Process(target=work)
                    child.start()
                    child.join()
                pprof.stop()
        """, PPROF_OUTPUT=None)
        self.assertEqual([log.select("name") for log in self.logs()], [["a"]] * 3)

    def test_own_cost_has_pythons_share(self):
        """Measured before the start, by calls that record nothing and wake nobody."""
        log = self.log_of("""
            import pprof
            from pprof import _markers
            assert _markers.wrapper_ns() > 0
            assert not pprof.enabled()
            _markers.wrapper_ns = lambda: 5000
            pprof.start()
            with pprof.range("x"):
                pass
            pprof.stop()
        """)
        self.assertEqual(log.select("name"), ["x"])
        self.assertGreaterEqual(log.total("own_cost_ns_per_marker_x1000"), 5000000)
        self.assertGreaterEqual(log.total("own_cost_total_ns"), 10000)

    def test_bad_configurations(self):
        self.run_ok("""
            import pprof
            def refuse(config, *words):
                try:
                    pprof.start(config)
                except pprof.Error as error:
                    for word in words:
                        assert word in str(error), error
                    assert error.status, error
                else:
                    raise SystemExit("%r was not refused" % (config,))
                assert not pprof.enabled()
            refuse("missing.yaml", "missing.yaml")
            refuse("output: x\\noutptu: y", "config:2:1", "did you mean 'output'?")
            refuse({"outptu": "y"}, "config:1:1", "did you mean 'output'?")
            refuse({"memory_limit": "lots"}, "config:1:15", "lots")
            refuse({"output": None}, "output")
            refuse({"output": "missing/folder/x.pplog"}, "missing/folder")
            for wrong in 5, object():
                try:
                    pprof.start(wrong)
                    raise SystemExit("not refused")
                except TypeError:
                    pass
            try:
                pprof.start(fork="perhaps")
                raise SystemExit("not refused")
            except ValueError:
                pass
            pprof.start({"output": "good.pplog"})
            pprof.stop()
        """, PPROF_OUTPUT=None)
        self.assertEqual(sorted(os.listdir(self.folder)), ["good.pplog", "program.py"])

    def test_twice(self):
        log = self.log_of("""
            import pprof
            pprof.stop()
            pprof.start()
            try:
                pprof.start()
                raise SystemExit("not refused")
            except pprof.Error as error:
                assert "running already" in str(error) and error.status == 3, error
            with pprof.range("goes on"):
                pass
            pprof.stop()
            pprof.stop()
        """)
        self.assertEqual(log.select("name"), ["goes on"])

    def test_exit_without_stop(self):
        log = self.log_of("""
            import atexit, pprof
            pprof.start()
            def last():
                with pprof.range("at exit"):
                    pass
            atexit.register(last)
            open_range = pprof.range("open")
            open_range.__enter__()
            handle = pprof.begin("begun")
        """)
        self.assertEqual(sorted(log.select("name")), ["at exit", "begun", "open"])

    def test_stop_tells_another_name(self):
        printed = self.run_ok("""
            import pprof
            for i in range(2):
                pprof.start()
                print(pprof.stop())
        """, PPROF_OUTPUT=self.path("same.pplog"))
        self.assertEqual(printed.split("\n")[:2], [
            "None", "same.pplog was there already: the log is same.1.pplog"])

    def test_exit_by_an_exception(self):
        done = self.start("""
            import pprof
            pprof.start()
            with pprof.range("failing"):
                raise SystemExit(3)
        """)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertEqual(self.logs()[0].select("name"), ["failing"])

    def test_a_killed_program_leaves_what_it_recorded(self):
        done = self.start("""
            import os, pprof, signal
            pprof.start()
            with pprof.range("kept"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        """)
        self.assertEqual(done.returncode, -9)
        path, = [name for name in os.listdir(self.folder) if name.endswith(".part")]
        done = subprocess.run([REPORT, "recover", self.path(path)], stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, check=False, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.logs()[0].select("name"), ["kept"])

    def test_a_report_of_what_was_stopped(self):
        """Of the last log, though the folder is another by then; of one by name; of none."""
        printed = self.run_ok("""
            import os, pprof
            try:
                pprof.report()
            except pprof.Error as error:
                print(error)
            pprof.start()
            for _ in range(3):
                with pprof.range("<one>"):
                    sum(range(100000))
                pprof.step()
            pprof.stop()
            os.chdir("/")
            report = pprof.report()
            assert isinstance(report, str) and report == repr(report)
            assert report._repr_html_().startswith("<pre>"), report._repr_html_()
            assert "&lt;one&gt;" in report._repr_html_()
            print(report)
            again = pprof.report(html=os.environ["PAGE"])
            assert again == report and again._repr_html_().startswith("<iframe sandbox")
            assert "default-src &#x27;none&#x27;" in again._repr_html_()
            try:
                pprof.report(html="/nowhere/page.html")
            except pprof.Error as error:
                assert "nowhere" in str(error), error
            else:
                raise AssertionError("no error")
            try:
                pprof.report("/nowhere.pplog")
            except pprof.Error as error:
                print(error)
        """, PPROF_OUTPUT="run.pplog", PAGE=os.path.join(self.folder, "page.html"),
            PATH=os.path.dirname(REPORT) + ":/usr/bin:/bin")
        lines = printed.splitlines()
        self.assertEqual(lines[0],
                         "there is no log to report: nothing was stopped that writes one")
        self.assertIn("\nAnswer   ", printed)
        self.assertIn("\n<one> ", printed)
        self.assertIn("Where a step's ", printed)
        self.assertIn("/nowhere.pplog: No such file or directory", lines[-1])

    def test_switched_off_by_the_environment(self):
        """With the library there, too."""
        self.run_ok("""
            import pprof
            pprof.start()
            with pprof.range("x"):
                pass
            assert not pprof.enabled()
        """, PPROF_ENABLE="0")
        self.assertEqual(os.listdir(self.folder), ["program.py"])


if __name__ == "__main__":
    main()
