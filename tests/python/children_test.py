#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What children record of what their parent has asked for, and what they leave alone."""
import glob
import json
import os
import subprocess
import textwrap

from python_case import RANGE, REPORT, ROOT, Case, main

# A child of os.fork, or of multiprocessing, that serves requests and has no range of its own.
REQUESTS = """
    import multiprocessing, pprof, sys

    def work():
        with pprof.request(7, "chat") as request:
            pprof.serve([request])
            request.token(5)

    if __name__ == "__main__":
        pprof.start({"output": sys.argv[1] + ".pplog"})
        child = multiprocessing.get_context(sys.argv[1]).Process(target=work)
        child.start()
        child.join()
        assert child.exitcode == 0
"""
# A request of three stages; the second one is in a process of its own.
SHARED = """
    import multiprocessing, pprof, sys, time

    called = pprof.flow_context if sys.argv[1] == "context" else int

    def work(numbers, answers):
        for number in iter(numbers.get, None):
            with pprof.range("infer" if sys.argv[1] == "other" else "prepare") as stage:
                stage.flow(called(number))
                time.sleep(0.002)
            answers.put(number)

    if __name__ == "__main__":
        pprof.start()
        context = multiprocessing.get_context("spawn")
        numbers, answers = context.Queue(), context.Queue()
        child = context.Process(target=work, args=(numbers, answers))
        child.start()
        for number in range(1, 21):
            with pprof.range("prepare") as stage:
                stage.flow(called(number))
            numbers.put(number)
            assert answers.get() == number
            with pprof.range("reply") as stage:
                stage.flow(called(number))
        numbers.put(None)
        child.join()
"""
# A child has a range of its own; the parent's "parent" ends behind it.
FORK = """
    import os, pprof, sys
    pprof.start(%s)
    with pprof.range("parent"):
        child = os.fork()
        if not child:
            with pprof.range("child"):
                assert pprof.enabled()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
    print(child)
"""
# Each range is a moment to write out what is held.
RECORDER = """
    log: false
    flight_recorder:
      output: slow.pplog  # log: true
      after: 0s
      every: 1ms
      rules: ['stage "parent" > 1ns', 'stage "child" > 1ns']
"""


class Children(Case):
    def fork(self, config, settings="memory_limit=64MiB"):
        """The child's number, after a program that starts with this configuration."""
        for path in glob.glob(self.path("*.p*")):
            os.remove(path)
        return self.run_ok(FORK % repr(config), PPROF_OUTPUT=None, PPROF_SET=settings).strip()

    def ranges(self):
        """What each log has, by its name."""
        return {os.path.basename(log.path): log.select("name") for log in self.logs()}

    def test_requests_alone(self):
        for method in "fork", "spawn", "forkserver":
            with self.subTest(method):
                self.run_ok(REQUESTS, method, PPROF_OUTPUT=None)
                logs = self.logs(method + "*.pplog")
                self.assertEqual(sorted(log.select("name", kind=RANGE) for log in logs),
                                 [[], ["chat"]])

    def test_a_flight_recorder(self):
        """Its `output` is not the log's, and without a log a child has none."""
        for config in RECORDER, textwrap.dedent(RECORDER), "profile.yaml":
            with open(self.path("profile.yaml"), "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(RECORDER))
            with self.subTest(config):
                child = self.fork(config)
                self.assertEqual(self.ranges(), {"slow.pplog": ["parent"],
                                                 "slow.%s.pplog" % child: ["child"]})

    def test_the_flight_recorder_of_the_examples(self):
        """Nothing was slow, and nothing is written."""
        self.fork(os.path.join(ROOT, "examples", "config", "flight_recorder.yaml"))
        self.assertEqual(os.listdir(self.folder), ["program.py"])

    def test_a_flight_recorder_beside_a_log(self):
        recorder = {"output": "slow.pplog", "rules": ['stage "child" > 1h']}
        for config, settings in (
                ({"flight_recorder": recorder, "output": "run.pplog"}, None),
                (json.dumps({"flight_recorder": recorder, "output": "run.pplog"}, indent=1), None),
                ("{flight_recorder: {output: slow.pplog},\n output: 'run.pplog'}", None),
                (None, "flight_recorder={output: slow.pplog, after: 1s};output=run.pplog"),
                ({"output": "not.this"}, 'flight_recorder.output="a;b.pplog"; output=run.pplog')):
            with self.subTest(config=config, settings=settings):
                child = self.fork(config, settings)
                self.assertEqual(self.ranges(), {"run.pplog": ["parent"],
                                                 "run.%s.pplog" % child: ["child"]})

    def test_metrics(self):
        """A child's own file, and not its parent's."""
        child = self.fork({"output": "run.pplog", "metrics": {"file": "run.prom"}})
        self.assertEqual(sorted(os.path.basename(path) for path in glob.glob(self.path("*.prom"))),
                         sorted(["run.prom", "run.%s.prom" % child]))

    def test_a_program_that_changes_its_folder(self):
        """Its children's files begin where it was started, as its own do."""
        with open(self.path("run%.yaml"), "w", encoding="utf-8") as file:
            file.write("output: run.pplog")
        for config in {"output": "run.pplog"}, "run%.yaml", None:
            for method in "fork", "spawn":
                with self.subTest(config=config, method=method):
                    child = self.run_ok("""
                        import multiprocessing, os, pprof, sys
                        @pprof.range("child")
                        def child():
                            pass
                        if __name__ == "__main__":
                            pprof.start(eval(sys.argv[1]))
                            os.chdir("/")
                            worker = multiprocessing.get_context(sys.argv[2]).Process(target=child)
                            worker.start()
                            worker.join()
                            print(worker.pid)
                    """, repr(config), method, PPROF_OUTPUT=None,
                        PPROF_CONFIG=None if config else "run%.yaml").strip()
                    self.assertEqual(self.ranges(), {"run.pplog": [],
                                                     "run.%s.pplog" % child: ["child"]})
                    for name in self.ranges():
                        os.remove(self.path(name))

    def test_a_child_that_stops_before_it_marks(self):
        """It records nothing from there on."""
        for method in "fork", "spawn":
            with self.subTest(method):
                self.run_ok("""
                    import multiprocessing, pprof, sys
                    def work():
                        pprof.stop()
                        with pprof.range("child"):
                            assert not pprof.enabled()
                    if __name__ == "__main__":
                        pprof.start({"output": sys.argv[1] + ".pplog"})
                        worker = multiprocessing.get_context(sys.argv[1]).Process(target=work)
                        worker.start()
                        worker.join()
                        assert worker.exitcode == 0
                """, method, PPROF_OUTPUT=None)
                self.assertEqual([log.select("name") for log in self.logs(method + "*")], [[]])

    def test_a_child_that_cannot_record_says_so(self):
        """The file is gone by then, or is wrong; the child goes on."""
        for change, words in ("os.remove('profile.yaml')", "No such file"), (
                "open('profile.yaml', 'w').write('outptu: x')", "did you mean 'output'"):
            with self.subTest(change):
                with open(self.path("profile.yaml"), "w", encoding="utf-8") as file:
                    file.write("output: run.pplog\ncontrol: {reload: false}\n")
                done = self.start("""
                    import os, pprof, sys
                    pprof.start("profile.yaml")
                    exec(sys.argv[1])
                    if not os.fork():
                        for _ in range(2):
                            with pprof.range("child"):
                                pass
                        sys.exit(3)
                    assert os.waitstatus_to_exitcode(os.wait()[1]) == 3
                """, change, PPROF_OUTPUT=None)
                self.assertEqual((done.returncode, done.stdout), (0, ""))
                self.assertRegex(done.stderr, r"program.py:7: RuntimeWarning: pprof: process \d+ "
                                 r"is not recorded: .*" + words)
                self.assertEqual(done.stderr.count("RuntimeWarning"), 1, done.stderr)


class Requests(Case):
    def answer(self, stage):
        self.run_ok(SHARED, stage)
        logs = [log.path for log in self.logs()]
        self.assertEqual(len(logs), 2)
        done = subprocess.run([REPORT, "--warmup", "0", "-f", "json", *logs], check=True, text=True,
                              stdout=subprocess.PIPE)
        for path in logs:
            os.remove(path)
        answer = json.loads(done.stdout)["views"]["answer"]
        return [dict(zip([column["name"] for column in answer["columns"]], row))
                for row in answer["rows"]]

    def test_one_request_of_two_processes(self):
        """Its parts add up to it, and it is no average of what each process knows."""
        rows = {row["name"]: row for row in self.answer("other")}
        self.assertEqual(sorted(rows), ["between stages", "infer", "prepare", "reply", "total"])
        self.assertEqual([rows[name]["calls"] for name in ("prepare", "infer", "reply")],
                         [20, 20, 20])
        parts = [row["total"] for name, row in rows.items() if name != "total"]
        self.assertEqual(sum(parts), rows["total"]["total"])
        self.assertGreaterEqual(rows["infer"]["total"], 20 * 2000000)

    def test_processes_that_number_their_own(self):
        """Where both do the same, an equal number says nothing."""
        self.assertNotIn("infer", [row["name"] for row in self.answer("same")])

    def test_a_context_is_of_one_request_whoever_has_it(self):
        rows = {row["name"]: row for row in self.answer("context")}
        self.assertEqual([rows[name]["calls"] for name in ("prepare", "reply")], [40, 20])
        self.assertEqual(rows["prepare"]["calls_avg"], 2)


if __name__ == "__main__":
    main()
