#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that fork, exec, leave early or are killed: every record is in some log, once."""
import os
import subprocess

from nvtx_case import CLIPPED, PATHS, SECONDS, Case, main

RANGES, WORKERS = 1000, 4


class LifeTest(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("spools"))

    def environment(self, **changes):
        """Spools lie where the test finds them, and are small. A child forgets its parent's
        session, which the address sanitizer calls a leak."""
        setting = f"spool={self.path('spools')};memory_limit=8MiB"
        changes["PPROF_SET"] = ";".join(filter(None, [setting, changes.get("PPROF_SET")]))
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        return super().environment(ASAN_OPTIONS=options, **changes)

    def by_name(self, *names):
        """The logs, each as {name: count} of these names, those with most first."""
        logs = self.logs()
        for log in logs:
            self.assertEqual((log.damage["bytes"], log.damage["missing"]), (0, 0))
            self.assertEqual(log.total("lost"), 0)
            self.assertEqual(log.info["pid"], os.path.basename(log.path).split(".")[0])
        return sorted(({name: log.count(name) for name in names} for log in logs),
                      key=lambda counts: list(counts.values()), reverse=True)

    def check_open_at_the_end(self, log):
        """What is open when a process dies is known to the moment of its death at least."""
        opened = [event for event in log.events if event["name"] == "open at the end"]
        self.assertEqual([event["flags"] & CLIPPED for event in opened], [CLIPPED])

    def test_fork_and_exit(self):
        printed = self.run_ok("life", "fork_exit")
        self.assertEqual(printed, ["push 0", "child push 0", "child pop 0", "status 7", "pop 0"])
        self.assertEqual(self.by_name("parent", "over the fork", "child", "child outer"), [
            {"parent": 20, "over the fork": 1, "child": 0, "child outer": 0},
            {"parent": 0, "over the fork": 0, "child": 20, "child outer": 1}])
        self.assertEqual(self.log_paths(".part"), [])

    def test_fork_and_underscore_exit(self):
        printed = self.run_ok("life", "fork_underscore_exit")
        self.assertEqual(printed[3], "status 7")
        self.assertEqual(self.by_name("parent", "child"), [{"parent": 20, "child": 0}])
        child, = self.recover()
        self.assertEqual((child.count("child"), child.count("child outer")), (20, 1))
        self.assertEqual(child.count("parent"), 0)

    def test_workers(self):
        printed = self.run_ok("life", "workers")
        self.assertEqual(printed, ["status 0"] * WORKERS)
        self.assertEqual(self.log().names(), ["parent"])
        logs = self.recover()
        self.assertEqual(len(logs), WORKERS)
        names = []
        for log in logs:
            names += sorted(set(log.names()) - {"inside", "open at the end"})
            self.assertEqual((log.count(names[-1]), log.count("inside")), (RANGES, RANGES))
            self.assertEqual(log.total("lost"), 0)
            self.check_open_at_the_end(log)
        self.assertEqual(sorted(names), [f"worker {i}" for i in range(WORKERS)])

    def test_part_of_a_short_life_leads_to_its_spool(self):
        self.run_ok("life", "workers")
        parts = self.log_paths(".part")
        self.assertEqual(len(parts), WORKERS)
        for part in parts:
            self.report("recover", part)
        self.assertEqual(os.listdir(self.path("spools")), [])
        self.assertEqual(sorted(log.count("inside") for log in self.logs()),
                         [0] + [RANGES] * WORKERS)

    def test_fork_of_a_program_with_threads(self):
        printed = self.run_ok("life", "fork_of_thread")
        self.assertEqual(printed, ["status 0"])
        self.assertEqual(self.by_name("grandchild", "child", "parent", "thread"), [
            {"grandchild": 30, "child": 0, "parent": 0, "thread": 0},
            {"grandchild": 0, "child": 20, "parent": 0, "thread": 50},
            {"grandchild": 0, "child": 0, "parent": 1, "thread": 50}])

    def test_child_that_never_calls_has_no_log(self):
        self.run_ok("life", "silent_child")
        self.assertEqual(self.log().names(), ["parent"])
        self.assertEqual(self.log_paths(".part"), [])

    def test_children_share_no_file(self):
        """Without the process id in the output's name a child finds a name of its own."""
        env = self.environment(PPROF_OUTPUT=self.path("same.pplog"))
        self.run_ok("life", "fork_exit", env=env)
        logs = self.logs()
        self.assertEqual(sorted((log.count("parent"), log.count("child")) for log in logs),
                         [(0, 20), (20, 0)])
        self.assertEqual(log_named(logs, "same.pplog").count("parent"), 20)

    def test_forks_not_followed(self):
        env = self.environment(PPROF_SET="nvtx.fork=off")
        printed = self.run_ok("life", "fork_exit", env=env)
        self.assertEqual(printed[1], "child push -2")
        self.assertEqual(self.log().count("child"), 0)

    def test_fork_and_exec(self):
        printed = self.run_ok("life", "fork_exec", PATHS["life"])
        self.assertEqual(printed, ["status 0"])
        self.assertEqual(self.by_name("some", "parent"), [{"some": 20, "parent": 0},
                                                          {"some": 0, "parent": 1}])

    def test_vfork_and_exec(self):
        printed = self.run_ok("life", "vfork_exec", PATHS["life"])
        self.assertEqual(printed, ["status 0"])
        self.assertEqual(self.by_name("some", "parent"), [{"some": 20, "parent": 0},
                                                          {"some": 0, "parent": 2}])

    def test_exec_in_place(self):
        """One process id, two programs: the first one's records are not overwritten."""
        self.run_ok("life", "exec_after_marks", PATHS["life"])
        after = self.log()
        self.assertEqual((after.count("some"), after.count("before exec")), (20, 0))
        before, = self.recover()
        self.assertEqual((before.count("some"), before.count("before exec")), (0, 100))

    def test_parent_that_leaves_first(self):
        process = subprocess.Popen([PATHS["life"], "daemon_like"], env=self.environment(),
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.wait(SECONDS), 0)
        parents = [log for log in self.logs() if log.count("parent")]
        self.assertEqual([log.count("parent") for log in parents], [1])
        # The child ends when nobody writes to it any more, and so does its output.
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"")
        self.assertEqual(self.by_name("daemon", "parent"), [{"daemon": 40, "parent": 0},
                                                            {"daemon": 0, "parent": 1}])

    def check_recovered(self, scenario, status):
        done = self.start("life", scenario)
        self.assertEqual(done.returncode, status)
        self.assertEqual(self.log_paths(), [])
        log, = self.recover()
        self.assertEqual((log.count("before the end"), log.count("inside")), (RANGES, RANGES))
        self.assertEqual(log.total("lost"), 0)
        return log

    def test_killed(self):
        self.check_open_at_the_end(self.check_recovered("killed", -9))

    def test_aborted(self):
        self.check_recovered("aborted", -6)

    def test_underscore_exited(self):
        self.check_recovered("underscore_exited", 0)

    def test_quick_exited(self):
        self.check_recovered("quick_exited", 0)

    def test_exit_order(self):
        self.run_ok("life", "exit_order")
        self.assertEqual(self.log().names(), [
            "first call", "registered after the first call", "registered before the first call",
            "destructor of the program"])

    def test_exit_while_threads_call(self):
        self.run_ok("life", "exit_under_load")
        log = self.log()
        self.assertEqual(log.total("recorded"), len(log.events))
        self.report("check", log.path)


def log_named(logs, name):
    return next(log for log in logs if os.path.basename(log.path) == name)


if __name__ == "__main__":
    main()
