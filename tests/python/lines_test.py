#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions and loops of a main file, from Python 3.12 on: functions are marked as soon as they are
defined, statements of loops outside of functions are stages."""
import os
import shutil
import subprocess
import sys
import textwrap
import unittest

from python_case import Case, LIBRARY, REPORT, SECONDS, main

NVTX = os.path.join(os.path.dirname(LIBRARY), "sdk", "nvtx", "libpprof_nvtx.so")


def newer_python():
    """A Python with sys.monitoring that runs here; None: there is none."""
    for name in sys.executable, "python3.12", "python3.13", "python3.14":
        path = shutil.which(name)
        check = "import sys, ctypes; sys.exit(not hasattr(sys, 'monitoring'))"
        if path and subprocess.run([path, "-c", check], stderr=subprocess.DEVNULL,
                                   check=False).returncode == 0:
            return path
    return None


PYTHON = newer_python()


class Followed(Case):
    python = sys.executable

    def names_of(self, source):
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(source).lstrip())
        lib = self.path("lib")
        shutil.rmtree(self.path("logs"), ignore_errors=True)
        os.makedirs(lib, exist_ok=True)
        shutil.copy(LIBRARY, os.path.join(lib, "libpprof.so.0"))
        shutil.copy(NVTX, lib)
        done = subprocess.run(
            [REPORT, "run", "--library", os.path.join(lib, "libpprof_nvtx.so"), "--logs", "logs", "--",
             self.python, "program.py"], cwd=self.folder, text=True,
            env=self.environment(PPROF_LIBRARY=None, PPROF_OUTPUT=None, PYTHONPATH=None),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.printed, self.said = done.stdout, done.stderr
        self.events = [event for log in self.logs("logs/*.pplog") for event in log.events]
        return [event["name"] for event in self.events]


@unittest.skipIf(hasattr(sys, "monitoring"), "loops have stages")
class NoLines(Followed):
    LINE = ("loops outside of functions have stages from Python 3.12 on; this is Python %d.%d"
            % sys.version_info[:2])

    def test_a_line_says_that_loops_have_no_stages(self):
        for source, is_said in ("""
            try:
                for i in range(3):
                    print(i)
            finally:
                pass
        """, True), ("x = [i for i in range(3)]", False), ("""
            def work():
                for i in range(3):
                    pass
            if work():
                print()
        """, False):
            with self.subTest(source):
                names = self.names_of(source)
                self.assertEqual(not names, "nothing was recorded" in self.said)
                self.assertEqual(self.LINE in self.said, is_said, self.said)

    def test_children_do_not_say_it(self):
        with open(self.path("stages.py"), "w", encoding="utf-8") as file:
            file.write("def load(): pass\ndef save(): pass\ndef work(): pass\n")
        names = self.names_of("""
            import multiprocessing, os, stages, sys
            if __name__ == "__main__":
                if not os.fork():
                    sys.exit()
                os.wait()
                for step in stages.load, stages.save:
                    step()
                process = multiprocessing.get_context("spawn").Process(target=stages.work)
                process.start()
                process.join()
        """)
        self.assertEqual(names, ["stages.load", "stages.save"], self.said)
        self.assertNotIn(self.LINE, self.said)

    def test_two_functions_that_ran_are_enough(self):
        for functions in 1, 2:
            with open(self.path("stages.py"), "w", encoding="utf-8") as file:
                file.write("def load(): pass\ndef save(): pass\n")
            names = self.names_of("""
                import stages
                for name in ["load", "save"][:%d]:
                    getattr(stages, name)()
            """ % functions)
            self.assertEqual(names, ["stages.load", "stages.save"][:functions], self.said)
            self.assertEqual(self.LINE in self.said, functions == 1, self.said)


@unittest.skipUnless(PYTHON, "no Python 3.12 or newer")
class Lines(Followed):
    python = PYTHON

    def test_statements_of_a_loop(self):
        names = self.names_of("""
            import json
            for i in range(3):
                text = json.dumps(
                    i)
                if i == 1:
                    print(text)
            done = True
        """)
        head, first = "line 2: for i in range(3)", "line 3: text = json.dumps("
        self.assertEqual(self.printed, "1\n")
        # The head runs once more, to find that nothing is left.
        self.assertEqual({name: names.count(name) for name in names}, {
            head: 4, first: 3, "line 5: if i == 1": 3, "line 6: print(text)": 1}, self.said)
        self.assertNotIn("outside of functions", self.said)

    def test_marked_functions_are_the_stages_of_a_loop(self):
        names = self.names_of("""
            def each(n):
                for i in range(n):
                    yield i
            class Model:
                def __call__(self, x):
                    return x + 1
            made = each(2)  # before the next line runs, it is marked
            model = Model()
            if __name__ == "__main__":
                for x in made:
                    y = model(x)
            def last(x):
                return x
            last(y)
        """)
        self.assertEqual({name: names.count(name) for name in names}, {
            "each": 3, "Model.__call__": 2, "last": 1, "line 10: for x in made": 3}, self.said)

    def test_a_loop_of_short_statements_is_one_stage(self):
        names = self.names_of("""
            import sys
            lines = next(one.lines for one in sys.meta_path if getattr(one, "lines", None))
            type(lines)._line.__globals__["SHORT_NS"] = 1 << 60
            for outer in range(2):
                for i in range(1000):
                    x = i
        """)
        inner = "line 5: for i in range(1000)"
        self.assertEqual([names.count("line 6: x = i"), names.count("line 4: for outer in range(2)")],
                         [100, 3], self.said)
        # 100 times its head, then the rest of the first loop, and the second one.
        self.assertEqual(names.count(inner), 102)


if __name__ == "__main__":
    main()
