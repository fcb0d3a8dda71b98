#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pprof.cost: of a file, and of a module that a framework exports."""
import os
import sys

from python_case import PACKAGE, REPORT, Case, main

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cost"))
import models

GRAPH = models.Graph([models.node("MatMul", "x,w", "y", "layer/product")],
                   [models.info("x", ["batch", 16])], "y", [models.tensor("w", [16, 16])])
PYTHONPATH = PACKAGE + ":" + models.PACKAGES
PATH = os.path.dirname(REPORT) + ":/usr/bin:/bin"
# A framework in so far as it exports: it writes the file that the test has made, and what it was
# given.
FRAMEWORK = """
import shutil
class nn:
    class Module:
        pass
class onnx:
    @staticmethod
    def export(module, args, path, kwargs=None, **options):
        shutil.copy("fixed.onnx", path)
        print(type(module).__name__, args, sorted(kwargs.items()), sorted(options.items()))
"""


class CostTest(Case):
    def setUp(self):
        super().setUp()
        graph = models.Graph([models.node("MatMul", "x,w", "y")], [models.info("x", [2, 16])], "y",
                           [models.tensor("w", [16, 16])])
        for name, data in (("model.onnx", GRAPH), ("fixed.onnx", graph)):
            with open(self.path(name), "wb") as file:
                file.write(models.model(data))
        with open(self.path("torch.py"), "w", encoding="utf-8") as file:
            file.write(FRAMEWORK)

    def test_of_a_file(self):
        printed = self.run_ok("""
            import pathlib, pprof
            cost = pprof.cost("model.onnx", batch=8)
            print(cost.macs, cost.flops, cost.parameters, cost.at_least, cost.rows[0]["shape"])
            print(pprof.cost(pathlib.Path("model.onnx")).at_least)
            print(cost)
            assert cost._repr_html_().startswith("<pre>")
        """, PATH=PATH, PYTHONPATH=PYTHONPATH)
        lines = printed.splitlines()
        self.assertEqual(lines[0], "2048 4096 256 [] [8,16]")
        self.assertEqual(lines[1], "['macs', 'flops', 'input_bytes', 'output_bytes']")
        self.assertIn("Total: 256 parameters", printed)

    def test_of_a_module(self):
        printed = self.run_ok("""
            import sys
            sys.path.insert(0, "")
            import pprof, torch
            class Model(torch.nn.Module):
                pass
            print(pprof.cost(Model(), [1, {"a": (2, 3)}], mask=None).macs)
            pprof.cost(Model(), {"a": 1})
            pprof.cost(Model(), {"a": 1}, mask=None)
        """, PATH=PATH, PYTHONPATH=PYTHONPATH)
        options = " [('dynamo', True), ('external_data', True), ('verbose', False)]"
        self.assertEqual(printed.splitlines(), [
            "Model ([1, {'a': (2, 3)}],) [('mask', None)]" + options, "512",
            # What is taken for keywords is an empty dictionary behind the last input.
            "Model ({'a': 1}, {}) []" + options,
            "Model ({'a': 1},) [('mask', None)]" + options])

    def test_a_package_that_the_export_lacks(self):
        with open(self.path("torch.py"), "w", encoding="utf-8") as file:
            file.write(FRAMEWORK.split("class onnx")[0] + """
class onnx:
    @staticmethod
    def export(module, *_, **__):
        if module.fails:
            raise ValueError("its own")
        try:
            import onnxscript.of_no_version
        except ImportError as error:
            raise RuntimeError("cannot export") from error
""")
        printed = self.run_ok("""
            import sys
            sys.path.insert(0, "")
            import pprof, torch
            class Model(torch.nn.Module):
                fails = False
            for Model.fails in False, True:
                try:
                    pprof.cost(Model())
                except Exception as error:
                    print(type(error).__name__, error)
        """, PATH=PATH, PYTHONPATH=PYTHONPATH)
        self.assertEqual(printed.splitlines(), [
            "Error PyTorch exports no module without the package onnxscript: pip install onnxscript",
            "ValueError its own"])

    def test_what_it_cannot_count(self):
        printed = self.run_ok("""
            import pprof
            for model, args in ((3, ()), ("model.onnx", (1,)), ("nothing.onnx", ())):
                try:
                    pprof.cost(model, *args)
                except pprof.Error as error:
                    print(error)
            for sizes in {"bacth": 8}, {"batch": 1.9}, {"batch": "x"}:
                try:
                    print(pprof.cost("model.onnx", **sizes).macs)
                except pprof.Error as error:
                    print(error)
        """, PATH=PATH, PYTHONPATH=PYTHONPATH)
        lines = printed.splitlines()
        self.assertEqual(lines[0], "int is neither an ONNX file nor a module of PyTorch: export it to ONNX")
        self.assertEqual(lines[1], "a file takes sizes by name, such as batch=8, and no inputs")
        self.assertIn("nothing.onnx: No such file or directory", lines[2])
        self.assertIn("no dimension or tensor is called 'bacth'", lines[3])
        self.assertIn("batch=1.9", lines[4])
        self.assertIn("batch=x", lines[5])


if __name__ == "__main__":
    main()
