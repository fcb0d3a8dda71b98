#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PPROF_ENABLE=1: markers of a program that starts nothing record from the first one on. And what a
run says at its end on a terminal."""
import os
import pty
import subprocess
import sys
import textwrap

from python_case import Case, main

MARKS = """
    import pprof
    with pprof.range("first"):
        pprof.mark("inside")
    pprof.step(3)
"""


class Unasked(Case):
    def names(self):
        return sorted(log.select("name") for log in self.logs())

    def test_the_first_marker_starts(self):
        log = self.log_of(MARKS, PPROF_ENABLE="1")
        self.assertEqual(log.select("name"), ["first", "inside"])
        self.assertTrue(log.path.endswith(".pplog"))

    def test_only_where_it_is_asked_for(self):
        for value in None, "", "0", "off", "perhaps":
            with self.subTest(value):
                self.run_ok(MARKS, PPROF_ENABLE=value)
                self.assertEqual(self.logs(), [])

    def test_a_program_without_markers_leaves_nothing(self):
        self.run_ok("import pprof", PPROF_ENABLE="1")
        self.assertEqual(os.listdir(self.folder), ["program.py"])

    def test_a_start_before_any_marker_is_the_programs(self):
        log = self.log_of("""
            import pprof
            pprof.start({"output": "own.pplog"})
            pprof.mark("mine")
            pprof.stop()
            pprof.mark("nobody's")
        """, PPROF_ENABLE="1", PPROF_OUTPUT=None)
        self.assertEqual((os.path.basename(log.path), log.select("name")), ("own.pplog", ["mine"]))

    def test_a_start_like_it_goes_on_with_it(self):
        log = self.log_of("""
            import pprof
            pprof.mark("before")
            pprof.start()
            pprof.mark("mine")
            pprof.stop()
            pprof.mark("nobody's")
        """, PPROF_ENABLE="1")
        self.assertEqual(log.select("name"), ["before", "mine"])

    def test_another_start_ends_it(self):
        self.run_ok("""
            import pprof
            pprof.mark("before")
            pprof.start({"output": "own.pplog"})
            pprof.mark("mine")
        """, PPROF_ENABLE="1", PPROF_OUTPUT=None)
        self.assertEqual(self.names(), [["before"], ["mine"]])

    def test_a_stop_ends_only_what_the_program_began(self):
        log = self.log_of("import pprof; pprof.mark('a'); pprof.stop(); pprof.mark('b')",
                          PPROF_ENABLE="1")
        self.assertEqual(log.select("name"), ["a", "b"])

    def test_forked_children(self):
        """Of a parent that has marked, of one that has not, and theirs: a log of each that marks."""
        children = """
            import os, pprof, sys
            if sys.argv[1] == "marks":
                pprof.mark("parent")
            for name in "one", "two", "silent":
                child = os.fork()
                if child:
                    os.waitpid(child, 0)
                    continue
                if name == "two" and not os.fork():
                    name = "grandchild"
                elif name == "two":
                    os.wait()
                if name != "silent":
                    pprof.mark(name)
                sys.exit(0)
        """
        for which, more in ("marks", [["parent"]]), ("none", []):
            for output in "%s.pplog" % which, "%%p.%s.pplog" % which:
                with self.subTest(output):
                    self.run_ok(children, which, PPROF_ENABLE="1", PPROF_OUTPUT=output)
                    self.assertEqual(self.names(),
                                     sorted([["one"], ["two"], ["grandchild"]] + more))
                    for log in self.logs():
                        os.remove(log.path)

    def test_children_that_shall_not(self):
        log = self.log_of("""
            import os, pprof
            pprof.mark("parent")
            if not os.fork():
                pprof.mark("child")
            else:
                os.wait()
        """, PPROF_ENABLE="1", PPROF_SET="memory_limit=1MiB;fork=off")
        self.assertEqual(log.select("name"), ["parent"])

    def test_programs_that_it_starts(self):
        """They have the environment, too; where the log's name has no %p each has its own."""
        self.run_ok("""
            import pprof, subprocess, sys
            pprof.mark("outer")
            subprocess.run([sys.executable, "-c", "import pprof; pprof.mark('inner')"], check=True)
        """, PPROF_ENABLE="1", PPROF_OUTPUT="run.pplog")
        self.assertEqual(self.names(), [["inner"], ["outer"]])


class Told(Case):
    def on_terminal(self, source, **changes):
        """What a program says on a terminal that is its stderr."""
        ours, theirs = pty.openpty()
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(source)], cwd=self.folder,
                              env=self.environment(**changes), stderr=theirs, check=False)
        os.close(theirs)
        self.assertEqual(done.returncode, 0)
        said = b""
        try:
            while True:
                piece = os.read(ours, 4096)
                if not piece:
                    break
                said += piece
        except OSError:  # the last end of it is closed
            pass
        os.close(ours)
        return said.decode().replace("\r\n", "\n")

    RUNS = """
        import os, pprof
        for i in range(2):
            pprof.start()
            pprof.mark("x")
            if os.fork() == 0:
                pprof.mark("child")
                pprof.stop()
                os._exit(0)
            os.wait()
            pprof.stop()
    """

    def test_where_the_log_is(self):
        """Once, by the program, not by its children."""
        said = self.on_terminal(self.RUNS, PPROF_OUTPUT="run.pplog")
        self.assertEqual(said, "pprof: wrote %s; `pprof-report LOG` reads it\n"
                         % self.path("run.pplog"))
        said = self.on_terminal(self.RUNS, PPROF_OUTPUT="run.pplog")
        self.assertEqual(said, "pprof: wrote %s; run.pplog was there already: the log is "
                         "run.2.pplog; `pprof-report LOG` reads it\n" % self.path("run.2.pplog"))
        self.assertIn("other.pplog;", self.on_terminal(
            "import pprof; pprof.mark('x')", PPROF_ENABLE="1", PPROF_OUTPUT="other.pplog"))

    def test_quiet(self):
        self.assertEqual(self.on_terminal(self.RUNS, PPROF_QUIET="1"), "")
        self.assertEqual(self.on_terminal("import pprof", PPROF_ENABLE="1"), "")
        self.run_ok(self.RUNS)  # no terminal
        self.assertIn("wrote", self.on_terminal(self.RUNS, PPROF_QUIET="0"))


if __name__ == "__main__":
    main()
