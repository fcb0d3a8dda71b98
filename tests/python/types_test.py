#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package's types are what it has: each name, each parameter with its default, the categories;
and mypy, where it is, takes a program that uses them, and refuses one that uses them wrongly."""
import ast
import inspect
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
    left = pprof.stop()
    if left is not None:
        print(left.upper())
"""
WRONG = ["pprof.step(items='three')", "pprof.start(fork='maybe')", "pprof.range()",
         "pprof.stop().upper()", "pprof.begin('c').finish()"]


def parameters(function):
    """Names with their defaults as texts, as in a `def`."""
    args = function.args
    named = args.posonlyargs + args.args
    defaults = [None] * (len(named) - len(args.defaults)) + args.defaults
    pairs = list(zip(named, defaults)) + list(zip(args.kwonlyargs, args.kw_defaults))
    rest = [(args.vararg.arg, None)] if args.vararg else []
    return [(arg.arg, None if default is None else ast.literal_eval(default))
            for arg, default in pairs if arg.arg != "self"] + rest


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

    @unittest.skipUnless(shutil.which("mypy"), "no mypy")
    def test_mypy(self):
        def check(text):
            path = self.path("program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return subprocess.run(["mypy", "--strict", path], stdout=subprocess.PIPE, text=True,
                                  cwd=self.folder, check=False,
                                  env=dict(os.environ, MYPYPATH=PACKAGE)).stdout
        self.assertIn("Success", check(RIGHT))
        for wrong in WRONG:
            self.assertIn("error:", check("import pprof\n" + wrong + "\n"), wrong)


if __name__ == "__main__":
    main()
