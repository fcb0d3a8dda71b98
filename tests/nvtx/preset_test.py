#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pprof-report run --preset`: what servers mark has its categories, each process its table, and
where nothing is marked the reason is told. Replays stand for the servers (calls.c has their
names)."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import unittest

from nvtx_case import Case, PATHS, SECONDS, main

# What a shell of the command does once it is there: it has the tool look, then waits for the end
# of its input. Processes in the background have that as 3.
LOOK = "kill -ALRM $PPID; read line"
# A program in the background that waits, behind what else it does, and says so.
WAITING = 'mkfifo go; "$0" {} wait <&3 >go & exec 5<go; read line <&5; '
# The tool looks, and the shell waits until the tool waits again.
LOOKED = ("count() { grep ^voluntary /proc/$PPID/status; }; before=$(count); kill -ALRM $PPID;"
          " while [ \"$(count)\" = \"$before\" ]; do :; done")


class PresetTest(Case):
    def command(self, preset, *arguments):
        return [PATHS["report"], "run", "--library", self.injection, "--logs", "logs", "--preset",
                preset, *arguments]

    def run_tool(self, preset, *arguments, **changes):
        return subprocess.run(
            self.command(preset, *arguments), cwd=self.folder, timeout=SECONDS, text=True,
            env=self.environment(NVTX_INJECTION64_PATH=None, PPROF_OUTPUT=None, **changes),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def types(self, preset):
        """{event type: calls} of the preset's replay."""
        done = self.run_tool(preset, PATHS["calls"], preset)
        self.assertEqual(done.returncode, 0, done.stderr)
        log, = [name for name in os.listdir(self.path("logs")) if name.endswith(".pplog")]
        self.assertTrue(os.path.exists(self.path(f"logs/{preset}.yaml")))
        return self.overview(os.path.join("logs", log))

    def test_vllm(self):
        self.assertEqual(self.types("vllm"), {
            "engine step": 10, "Preprocess": 10, "Forward": 20, "Postprocess": 20, "CpuTask": 20,
            "Communication": 10})

    def test_sglang(self):
        self.assertEqual(self.types("sglang"), {
            "Dataloader": 10, "Preprocess": 10, "CpuTask": 10, "Forward": 10, "Postprocess": 10})

    def test_tensorrt_llm(self):
        self.assertEqual(self.types("trtllm"), {
            "engine step": 10, "Dataloader": 10, "CpuTask": 10, "Preprocess": 10, "Forward": 10,
            "Postprocess": 30})

    def test_dynamo(self):
        self.assertEqual(self.types("dynamo"), {
            "Preprocess": 20, "CpuTask": 20, "Communication": 20, "Postprocess": 10})

    def test_torch(self):
        self.assertEqual(self.types("torch"), {
            "Dataloader": 10, "Operator": 10, "Backward": 20, "Optimization": 20,
            "Communication": 10})

    def test_switches_are_set_and_those_of_the_user_stay(self):
        script = 'echo "$VLLM_NVTX_SCOPES_FOR_PROFILING"'
        self.assertEqual(self.run_tool("vllm", "sh", "-c", script).stdout, "1\n")
        done = self.run_tool("vllm", "sh", "-c", script, VLLM_NVTX_SCOPES_FOR_PROFILING="0")
        self.assertEqual(done.stdout, "0\n")
        # Nothing was recorded, so nothing is left.
        self.assertFalse(os.path.exists(self.path("logs")))

    def test_each_process_has_a_table(self):
        """Whatever they are called, and however they were started."""
        script = ("import os, subprocess, sys\n"
                  "calls = sys.argv[1]\n"
                  "worker = subprocess.Popen(['Worker_TP0', 'vllm'], executable=calls)\n"
                  "if os.fork() == 0:\n"
                  "    os.setsid()\n"
                  "    os.execv(calls, ['EngineCore', 'vllm'])\n"
                  "os.wait()\n"
                  "os.wait()\n")
        done = self.run_tool("vllm", sys.executable, "-c", script, PATHS["calls"])
        self.assertEqual(done.returncode, 0, done.stderr)
        # A busy machine decides whether iterations are found, and how long a time is.
        titles = re.findall(r"^(\w+) pid \d+: (?:where )?(?:the|an) \w+'s ", done.stderr, re.M)
        self.assertEqual(sorted(titles), ["EngineCore", "Worker_TP0"], done.stderr)

    def refused(self, *arguments):
        done = self.run_tool(*arguments, "sh", "-c", "echo started")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertFalse(os.path.exists(self.path("logs")))
        return done.stderr

    def test_refusals(self):
        self.assertIn("no preset 'vlm' (did you mean 'vllm'?)", self.refused("vlm"))
        self.assertIn("no preset 'other'; there are dynamo, sglang, torch, trtllm, vllm",
                      self.refused("other"))
        self.assertIn("--preset and --config are one configuration each",
                      self.refused("vllm", "--config", "x.yaml"))
        with open(self.path("x.yaml"), "w", encoding="utf-8") as file:
            file.write("run: {environment: [A]}\n")
        done = subprocess.run([PATHS["report"], "run", "--config", "x.yaml", "--library",
                               self.injection, "true"], cwd=self.folder, text=True,
                              env=self.environment(NVTX_INJECTION64_PATH=None, PPROF_OUTPUT=None),
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("x.yaml:1:20: 'run.environment' needs variables as NAME=value", done.stderr)

    # ---- a package that a switch needs ----

    SERVER = textwrap.dedent("""\
        import os, sys
        sys.dont_write_bytecode = True
        def serve():
            if os.environ.get("VLLM_NVTX_SCOPES_FOR_PROFILING") == "1":
                import nvtx
                with nvtx.annotate("gpu_model_runner: forward"):
                    pass
        serve()
        print("served", sys.argv[1:])
        """)

    def write(self, name, text, mode=0o600):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def commands(self):
        """One server, started in all the ways that there are; whether they name their Python."""
        python = sys.executable
        self.write("server.py", self.SERVER)
        self.write("bin/vllm", f"#!{python} -s\n{self.SERVER}", 0o700)
        self.write("bin/any", f"#!/usr/bin/env python3\n{self.SERVER}", 0o700)
        self.write("bin/long", f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n"
                   + self.SERVER, 0o700)
        for command in ([python, "server.py"], [python, "-Xdev", "-W", "ignore", "server.py"],
                        [python, "-m", "server"], [python, "-sm", "server"],
                        ["env", "A=b", python, "server.py"], ["env", "-u", "A", "bin/vllm"],
                        ["vllm"], ["any"], ["bin/long"], [python, "-c", self.SERVER]):
            yield True, [*command, "model"]
        yield False, ["sh", "-c", 'exec "$0" server.py model', python]

    def serve(self, command, **changes):
        subprocess.run(["rm", "-rf", self.path("logs")], check=True)
        return self.run_tool("vllm", *command, **changes,
                             PATH=self.path("bin") + ":" + os.environ["PATH"])

    @unittest.skipIf(importlib.util.find_spec("nvtx"), "the package is there")
    def test_stand_in_of_a_package_that_is_missing(self):
        for is_known, command in self.commands():
            with self.subTest(command):
                done = self.serve(command, PYTHONPATH=None)
                self.assertEqual((done.returncode, done.stdout), (0, "served ['model']\n"),
                                 done.stderr)
                self.assertEqual("has no Python package nvtx: a stand-in" in done.stderr, is_known)
                log, = [name for name in os.listdir(self.path("logs")) if name.endswith(".pplog")]
                self.assertEqual(self.overview(os.path.join("logs", log)).get("Forward"), 1)

    def test_package_that_is_there_is_used(self):
        self.write("real/nvtx/__init__.py", "from .inner import annotate\n")
        self.write("real/nvtx/inner.py", "import contextlib\nprint('the package', end=' ')\n"
                   "annotate = lambda name: contextlib.nullcontext()\n")
        for _, command in self.commands():
            with self.subTest(command):
                done = self.serve(command, PYTHONPATH=self.path("real"))
                self.assertEqual(done.stdout, "the package served ['model']\n", done.stderr)
                self.assertNotIn("stand-in", done.stderr)
                self.assertFalse(os.path.exists(self.path("logs")))

    def test_package_without_a_stand_in(self):
        """Nothing is started, and nothing is left."""
        python = sys.executable
        self.write("server.py", self.SERVER)
        self.write("x.yaml", "run: {environment: [SWITCH=1], packages: [json, no_such_thing]}\n")
        for options, command, package in (
                (["--preset", "vllm"], ["-I", "server.py"], "nvtx"),
                (["--preset", "vllm"], ["-Es", "server.py"], "nvtx"),
                (["--preset", "dynamo"], ["-Ic", "print(1)"], "nvtx"),
                (["--config", "x.yaml"], ["server.py"], "no_such_thing")):
            with self.subTest(command):
                done = subprocess.run(
                    [PATHS["report"], "run", "--library", self.injection, "--logs", "logs",
                     *options, python, *command], cwd=self.folder, text=True, check=False,
                    timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=self.environment(NVTX_INJECTION64_PATH=None, PPROF_OUTPUT=None,
                                         PYTHONPATH=None))
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(f"need the Python package {package}, which {python} does not find; "
                              f"install it: `{python} -m pip install {package}`", done.stderr)
                self.assertFalse(os.path.exists(self.path("logs")))

    # ---- nothing is marked ----

    def warning(self, script, preset="vllm", **changes):
        """The line that the tool prints when SIGALRM has it look; the command ends behind it."""
        with subprocess.Popen(
                self.command(preset, "sh", "-c", "exec 3<&0; " + script, PATHS["calls"]),
                cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True,
                env=self.environment(NVTX_INJECTION64_PATH=None, PPROF_OUTPUT=None,
                                     **changes)) as tool:
            hanging = threading.Timer(SECONDS, tool.stdin.close)
            hanging.start()
            line = tool.stderr.readline()
            hanging.cancel()
            tool.stdin.close()
            tool.stderr.read()
        return line

    def test_nothing_is_loaded(self):
        line = self.warning(LOOK)
        self.assertIn("nothing is marked so far: none of its 1 processes has loaded the Python "
                      "package nvtx: install it, or wait until it loads", line)
        self.assertIn("; vLLM marks from the first request on", line)

    def test_the_package_is_loaded(self):
        """A file of the package's folder is mapped."""
        os.makedirs(self.path("site-packages/nvtx"))
        shutil.copy(PATHS["calls"], self.path("site-packages/nvtx/program"))
        waiting = WAITING.replace('"$0"', "site-packages/nvtx/program")
        line = self.warning(waiting.format("") + LOOK)
        self.assertIn("nothing is marked so far: no process has called NVTX yet; vLLM", line)
        os.unlink(self.path("go"))
        shutil.rmtree(self.path("logs"), ignore_errors=True)
        line = self.warning(waiting.format("torch") + LOOK)
        self.assertIn("categories for so far: who is to mark them has not yet, or its version calls "
                      "them otherwise; vLLM", line)

    def test_a_switch_of_the_users(self):
        self.assertIn("VLLM_NVTX_SCOPES_FOR_PROFILING was set to '0' already, and stays so",
                      self.warning(LOOK, VLLM_NVTX_SCOPES_FOR_PROFILING="0"))

    def test_another_runner(self):
        self.assertIn("so far: the V2 model runner marks nothing, set VLLM_USE_V2_MODEL_RUNNER=0\n",
                      self.warning(LOOK, VLLM_USE_V2_MODEL_RUNNER="1"))

    def test_an_environment_of_its_own(self):
        self.assertRegex(
            self.warning("tool=$PPID; env -i sh -c \"kill -ALRM $tool; read line\""),
            r"process \d+ \(sh\) runs without the variables of this run")

    def test_others_mark(self):
        line = self.warning('"$0" core; ' + LOOK)
        self.assertIn("something is marked, but none of the names that the configuration has "
                      "categories for so far: ", line)

    def test_another_category_is_marked(self):
        """By markers that the configuration does not know: somebody marks what is wanted."""
        done = self.run_tool("vllm", "sh", "-c", '"$0" torch; ' + LOOKED, PATHS["calls"],
                             PPROF_SET="names={categories: {\"aten::*\": operator}}")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("so far", done.stderr)

    def test_all_is_well(self):
        """Names that lie in the memory of a process that runs, and those of one that has ended."""
        waiting = "mkfifo hold; " + WAITING.format("sglang").replace("<&3", "<hold").replace(
            "exec", "exec 4>hold; exec")
        for script in '"$0" sglang; ' + LOOKED, waiting + LOOKED + "; exec 4>&-; wait":
            with self.subTest(script):
                done = self.run_tool("sglang", "sh", "-c", script, PATHS["calls"])
                self.assertEqual(done.returncode, 0)
                self.assertNotIn("so far", done.stderr)
                for name in "logs", "go", "hold":
                    subprocess.run(["rm", "-rf", self.path(name)], check=True)


if __name__ == "__main__":
    main()
