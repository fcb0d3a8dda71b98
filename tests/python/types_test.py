#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package's types are what it has: each name, each parameter with its default, the categories;
and mypy and pyright, where they are, take a program that uses them, and refuse one that uses them
wrongly."""
import ast
import inspect
import json
import os
import shutil
import subprocess
import sys
import unittest

from python_case import PACKAGE, Case, main

RIGHT = """
import pprof

@pprof.range("decode", category="Preprocess")
def decode(image: int) -> int:
    return image

def run() -> None:
    pprof.start({"output": "x.pplog"}, fork="off")
    with pprof.range("a") as a, pprof.device_range("b", category="mine"):
        a.flow(3)
        a.work(items=2.5)
    begun = pprof.begin("c")
    begun.end()
    pprof.step(items=decode(3))
    pprof.strict()
    left = pprof.stop()
    pprof.report("x.pplog", "--tree").upper()
    if left is not None:
        print(left.upper())
"""
WRONG = ["pprof.step(items='three')", "pprof.start(fork='maybe')", "pprof.range()",
         "pprof.stop().upper()", "pprof.report('x', tree=True)", "pprof.begin('c').finish()"]


def parameters(function):
    """Names with their defaults as texts, as in a `def`."""
    args = function.args
    named = args.posonlyargs + args.args
    defaults = [None] * (len(named) - len(args.defaults)) + args.defaults
    rest = [(args.vararg, None)] if args.vararg else []
    pairs = list(zip(named, defaults)) + rest + list(zip(args.kwonlyargs, args.kw_defaults))
    pairs += [(args.kwarg, None)] if args.kwarg else []
    return [(arg.arg, None if default is None else ast.literal_eval(default))
            for arg, default in pairs if arg.arg != "self"]


def declared():
    """(name, parameters) of what the stub has, `class.method` for methods."""
    with open(os.path.join(PACKAGE, "pprof/__init__.pyi"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, parameters(node)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    yield node.name + "." + method.name, parameters(method)


class Types(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.environ["PPROF_ENABLE"] = "0"
        sys.path.insert(0, PACKAGE)
        import pprof
        cls.pprof = pprof

    def test_parameters(self):
        found = dict(declared())
        self.assertIn("range.__init__", found)
        for name, expected in found.items():
            thing = self.pprof
            for part in name.split("."):
                thing = getattr(thing, part)
            has = [(parameter.name, None if parameter.default is parameter.empty
                    else parameter.default)
                   for parameter in inspect.signature(thing).parameters.values()
                   if parameter.name != "self"]
            self.assertEqual(has, expected, name)

    def test_names(self):
        found = {name.split(".")[0] for name, _ in declared()}
        public = set(self.pprof.__all__) | {"range"}
        self.assertEqual(found | {"__version__"}, public)

    def test_categories(self):
        with open(os.path.join(PACKAGE, "pprof/__init__.pyi"), encoding="utf-8") as file:
            text = file.read().split("Literal[", 1)[1].split("]", 1)[0]
        from pprof._markers import CATEGORIES
        self.assertEqual(ast.literal_eval("[" + text + "]"), list(CATEGORIES))

    def check(self, command, refusal):
        """`command` finds nothing in what is right, and `refusal` in all that is wrong."""
        with open(self.path("pyrightconfig.json"), "w", encoding="utf-8") as file:
            json.dump({"typeCheckingMode": "strict", "extraPaths": [PACKAGE]}, file)
        for text in [RIGHT] + ["import pprof\n" + wrong + "\n" for wrong in WRONG]:
            with open(self.path("program.py"), "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=self.folder,
                                  check=False, env=dict(os.environ, MYPYPATH=PACKAGE))
            if text is RIGHT:
                self.assertEqual(done.returncode, 0, done.stdout)
            else:
                self.assertIn(refusal, done.stdout, text)

    @unittest.skipUnless(shutil.which("mypy"), "no mypy")
    def test_mypy(self):
        self.check(["mypy", "--strict", "program.py"], "error:")

    @unittest.skipUnless(shutil.which("pyright"), "no pyright")
    def test_pyright(self):
        self.check(["pyright"], " - error: ")


if __name__ == "__main__":
    main()
