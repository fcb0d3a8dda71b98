#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pprof-report run` and `search-batch`: a program that knows NVTX alone gets its tables, logs and
trace, and its batches are counted."""
import json
import os
import subprocess

from nvtx_case import Case, PATHS, SECONDS, main


class RunTest(Case):
    def run_tool(self, *arguments, **changes):
        """Answers the finished `pprof-report run`; nothing but the tool sets variables."""
        env = self.environment(NVTX_INJECTION64_PATH=None, PPROF_OUTPUT=None, **changes)
        return subprocess.run([PATHS["report"], "run", "--library", self.injection, "--logs",
                               "logs", *arguments], env=env, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                              text=True, check=False)

    def views(self, *arguments, **changes):
        """The JSON report's views; the command must succeed."""
        done = self.run_tool("-f", "json", "-o", "out.json", "--force", *arguments, **changes)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out.json"), encoding="utf-8") as file:
            return json.load(file)["views"], done

    @staticmethod
    def calls_of(view):
        column = [column["name"] for column in view["columns"]].index("calls")
        return {row[0]: row[column] for row in view["rows"]}

    def logs_made(self):
        return sorted(os.listdir(self.path("logs")))

    def test_what_the_program_prints_is_its_own(self):
        done = self.run_tool(PATHS["calls"], "core")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("push 0\npush 1\n"), done.stdout)
        self.assertNotIn("Summary", done.stdout)
        self.assertIn("Where the run's", done.stderr)
        self.assertEqual(len(self.logs_made()), 1)

    def test_ranges_are_in_the_tables(self):
        views, _ = self.views(PATHS["calls"], "core")
        calls = self.calls_of(views["userdefined"])
        self.assertEqual(calls["push a"], 1)
        self.assertEqual(calls["start w"], 1)
        self.assertEqual(self.calls_of(views["overview"])["seven"], 1)

    def test_children_are_added_up(self):
        program = PATHS["calls"]
        views, _ = self.views("sh", "-c", f"'{program}' core; '{program}' core >other; exit 0")
        self.assertEqual(self.calls_of(views["userdefined"])["push a"], 2)
        self.assertEqual(len(self.logs_made()), 2)

    def test_message_sizes_are_a_table(self):
        with open(self.path("p.yaml"), "w", encoding="utf-8") as file:
            file.write("nvtx: {domains: {payloads: communication}}\n")
        views, _ = self.views("--config", "p.yaml", PATHS["calls"], "payloads")
        rows = {row[0]: row[1:5] for row in views["messages"]["rows"]}
        self.assertEqual(rows, {"AllReduce": [1, 1048576, 1048576, 1048576],
                                "Broadcast": [1, 4096, 4096, 4096],
                                "Send": [1, 4096, 4096, 4096]})

    def test_the_exit_status_is_the_programs(self):
        done = self.run_tool("sh", "-c", f"'{PATHS['calls']}' core; exit 5")
        self.assertEqual(done.returncode, 5)
        self.assertIn("push a", done.stderr)

    def test_a_log_makes_a_trace(self):
        self.views(PATHS["calls"], "core")
        log = os.path.join("logs", self.logs_made()[0])
        subprocess.run([PATHS["report"], "trace", "-o", "trace.json", log], cwd=self.folder,
                       check=True, stderr=subprocess.DEVNULL)
        with open(self.path("trace.json"), encoding="utf-8") as file:
            names = {event.get("name") for event in json.load(file)["traceEvents"]}
        self.assertIn("push a", names)

    def test_exec_in_place(self):
        """What the first program has recorded is made whole, and is in the tables, too."""
        views, done = self.views(PATHS["life"], "exec_after_marks", PATHS["life"])
        calls = self.calls_of(views["userdefined"])
        self.assertEqual((calls["before exec"], calls["some"]), (100, 20))
        self.assertIn("2 logs in", done.stderr)
        self.assertEqual([name for name in self.logs_made() if name.endswith(".part")], [])

    def test_closed_standard_descriptors(self):
        """The command has them closed, too, and what it prints meets no log and no spool."""
        # At its end it says which of them lead somewhere.
        script = (f"'{PATHS['calls']}' core; for fd in 0 1 2; do"
                  " test ! -e /proc/self/fd/$fd || : > open.$fd; done; exit 0")
        for closed in (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2):
            with self.subTest(closed):
                logs = "logs." + "".join(map(str, closed))
                done = subprocess.run(
                    [PATHS["report"], "run", "--library", self.injection, "--logs", logs, "-f",
                     "json", "-o", "out.json", "--force", "sh", "-c", script],
                    env=self.environment(NVTX_INJECTION64_PATH=None, PPROF_OUTPUT=None),
                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, timeout=SECONDS, check=False,
                    preexec_fn=lambda closed=closed: [os.close(fd) for fd in closed])
                self.assertEqual(done.returncode, 0)
                self.assertEqual({fd for fd in range(3) if self.was_open(fd)},
                                 {0, 1, 2} - set(closed))
                with open(self.path("out.json"), encoding="utf-8") as file:
                    views = json.load(file)["views"]
                self.assertEqual(self.calls_of(views["userdefined"])["push a"], 1)
                name, = os.listdir(self.path(logs))
                with open(os.path.join(self.path(logs), name), "rb") as file:
                    self.assertNotIn(b"push 0\n", file.read())
                self.report("check", os.path.join(logs, name))

    def was_open(self, fd):
        """Says so once."""
        path = self.path(f"open.{fd}")
        found = os.path.exists(path)
        if found:
            os.unlink(path)
        return found

    def test_nothing_recorded_is_said_in_one_line(self):
        done = self.run_tool(PATHS["calls"])
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.stderr.splitlines()), 4, done.stderr)
        self.assertIn("nothing was recorded", done.stderr)
        self.assertFalse(os.path.exists(self.path("logs")))

    def search(self, *arguments, **changes):
        """Answers the finished `search-batch` of a program that makes one range and fails from 3
        on."""
        env = self.environment(**{"NVTX_INJECTION64_PATH": None, "PPROF_OUTPUT": None, **changes})
        program = f"'{PATHS['calls']}' core; test {{batch}} -lt 3"
        return subprocess.run([PATHS["report"], "search-batch", "--stage", "push a", "-f", "json",
                               *arguments, "--", "sh", "-c", program], env=env,
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS, text=True, check=False)

    def test_search_batch_counts_ranges_of_nvtx(self):
        done = self.search("--library", self.injection)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        column = [column["name"] for column in found["columns"]].index("batches")
        self.assertEqual(found["largest"], 2)
        self.assertGreater(found["throughput"], 0)
        self.assertEqual([(row[0], row[column]) for row in found["rows"]],
                         [(1, 1), (2, 1), (3, None), (4, None)])

    def test_search_batch_leaves_another_tool_alone(self):
        other = os.path.join(self.folder, "other.so")
        done = self.search(NVTX_INJECTION64_PATH=other)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIsNone(json.loads(done.stdout)["throughput"])
        done = self.search("--library", self.injection, NVTX_INJECTION64_PATH=other)
        self.assertEqual(done.returncode, 2)
        self.assertIn("NVTX_INJECTION64_PATH is set already", done.stderr)


if __name__ == "__main__":
    main()
