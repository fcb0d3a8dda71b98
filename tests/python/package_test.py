#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package as a wheel: it builds without the net, holds what it should, and works."""
import importlib.util
import os
import shutil
import subprocess
import sys
import unittest
import zipfile

from python_case import PACKAGE, Case, main

TOOLS = [name for name in ("pip", "setuptools", "wheel") if not importlib.util.find_spec(name)]


# What a module starts in a program of its own may need more.
PROGRAMS = {"_model": {"math", "mmap", "numpy", "onnx", "resource", "stat"},
            "_search_batch.py": {"collections", "fnmatch", "html", "math", "select", "signal",
                                 "subprocess"}}


def modules(folder):
    return sorted(os.path.relpath(os.path.join(inner, name), folder)
                  for inner, _, names in os.walk(folder) for name in names
                  if name.endswith((".hooks", ".py", ".pyi", ".typed")))


class Package(Case):
    @unittest.skipIf(TOOLS, "not installed: " + ", ".join(TOOLS))
    def test_wheel(self):
        source, target = self.path("source"), self.path("installed")
        shutil.copytree(PACKAGE, source)  # building leaves folders in it
        done = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
             "--no-index", "--quiet", "--disable-pip-version-check", "-w", self.folder, source],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            env=dict(self.environment(), HOME=self.folder))
        self.assertEqual(done.returncode, 0, done.stdout)
        wheel, = [name for name in os.listdir(self.folder) if name.endswith(".whl")]
        self.assertRegex(wheel, r"^pprof_pipeline-\d+\.\d+\.\d+-py3-none-any\.whl$")
        with zipfile.ZipFile(self.path(wheel)) as archive:
            archive.extractall(target)
        self.assertEqual(modules(os.path.join(target, "pprof")),
                          modules(os.path.join(PACKAGE, "pprof")))
        printed = self.run_ok("""
            import pprof
            pprof.start()
            with pprof.range("installed"):
                pass
            import pprof.hooks
            pprof.hooks.install("torch")
            print(pprof.__version__, pprof.__file__)
        """, PYTHONPATH=target)
        version, path = printed.split()
        self.assertEqual(wheel.split("-")[1], version)
        self.assertEqual(path, os.path.join(target, "pprof", "__init__.py"))
        self.assertEqual(self.logs()[0].select("name"), ["installed"])

    def test_sources_are_of_one_licence_and_need_only_python(self):
        allowed = {"_thread", "ast", "asyncio", "atexit", "contextlib", "ctypes", "contextvars",
                   "functools", "gc", "hashlib", "importlib", "importlib.machinery",
                   "importlib.util", "inspect", "itertools", "json", "operator", "os", "re", "sys", "threading", "time",
                   "tokenize", "types", "warnings"}
        for folder, _, names in os.walk(os.path.join(PACKAGE, "pprof")):
            for name in names:
                if not name.endswith(".py"):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    lines = file.read().splitlines()
                self.assertEqual(lines[0], "# SPDX-License-Identifier: Apache-2.0", name)
                imported = {line.split()[1] for line in lines if line.startswith("import ")}
                more = PROGRAMS.get(name) or PROGRAMS.get(os.path.basename(folder), set())
                self.assertLessEqual(imported, allowed | more, name)


if __name__ == "__main__":
    main()
