#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a model's nodes are counted together: what is unknown, branches, loops, functions, modules, and
what is no model. TOOL"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import models
from models import BOOL, F32, INT64, Graph, info, ints, node, tensor

TOOL = os.path.abspath(sys.argv[1])
SQUARE = tensor("w", [16, 16])


def rows_of(graph, dims="", **more):
    return models.rows(models.model(graph, **more), dims)


def told(graph, *options, **more):
    return models.told(TOOL, models.model(graph, **more), *options)


class Unknown(unittest.TestCase):
    GRAPH = Graph([node("MatMul", "x,w", "a"), node("Own", "a", "b", domain="own"),
                   node("Relu", "b", "c"), node("MatMul", "x,w", "y")],
                  [info("x", ["batch", 16])], "y,c", [SQUARE])

    def test_says_which_option_helps(self):
        out = told(self.GRAPH)
        self.assertEqual(out["totals"]["at_least"], ["macs", "flops", "elementwise_flops",
                                                     "input_bytes", "output_bytes"])
        self.assertIn("Not known of 2 nodes: the size of 'batch' is open: --dim batch=N sets it",
                      out["notes"])
        self.assertIn("Not known of 2 nodes: nobody has told what the operator 'Own' computes",
                      out["notes"])
        self.assertEqual(out["rows"][0]["macs"], None)

    def test_rest_is_known(self):
        out = told(self.GRAPH, "--dim", "batch=8", "--by", "node")
        self.assertEqual([row["macs"] for row in out["rows"]], [2048, None, 0, 2048])
        self.assertEqual([row["flops"] for row in out["rows"]], [4096, None, None, 4096])
        self.assertEqual(out["totals"]["macs"], 4096)
        self.assertIn("at least 4.10 k MACs", out["notes"][0])
        done = models.run(TOOL, models.model(self.GRAPH), "--dim", "batch=8")
        self.assertIn(">=8.19 k", done.stdout)

    def test_sizes_by_tensor(self):
        out = told(self.GRAPH, "--dim", "batch=8,b:0=4,b:1=2", "--by", "node")
        self.assertEqual(out["rows"][2]["flops"], 4 * 2)  # both axes are its shape
        graph = Graph([node("NonZero", "x", "a"), node("Transpose", "a", "b"),
                       node("Cast", "b", "c", to=F32), node("MatMul", "c,w", "y")],
                      [info("x", [4, 4])], "y", [tensor("w", [2, 5])])
        row = rows_of(graph)[-1]
        self.assertEqual((row["macs"], row["shape"]), (None, "[?,5]"))
        self.assertEqual(row["reason"], "the size of 'a' depends on values: --dim a:AXIS=N sets it")
        row = rows_of(graph, "a:1=7")[-1]
        self.assertEqual((row["macs"], row["shape"]), (7 * 2 * 5, "[7,5]"))

    def test_axes_without_a_name(self):
        graph = Graph([node("Relu", "x", "y")], [info("x", [None, 16])], "y")
        row = rows_of(graph)[0]
        self.assertEqual(row["reason"], "the size of 'x:0' is open: --dim x:0=N sets it")
        self.assertEqual(told(graph, "--dim", "x:0=3")["totals"]["flops"], 48)

    def test_what_does_not_fit(self):
        graph = Graph([node("MatMul", "x,w", "a", "first"), node("Conv", "x,w", "y", "second")],
                      [info("x", [2, 3, 16])], "y", [SQUARE])
        rows = rows_of(graph)
        self.assertEqual(rows[0]["macs"], 2 * 3 * 16 * 16)
        self.assertEqual(rows[1]["reason"], "the sizes of its inputs do not fit 'second'")

    def test_what_the_file_says_of_others(self):
        data = Graph([node("Own", "x", "a", domain="own"), node("MatMul", "a,w", "y")],
                     [info("x", [2, 16])], "y", [SQUARE])
        data.data += models.part(13, info("a", ["rows", 16]))
        row = rows_of(data, "rows=3")[1]
        self.assertEqual(row["macs"], 3 * 16 * 16)

    def test_a_number_that_is_too_large(self):
        graph = Graph([node("MatMul", "x,w", "y")], [info("x", [1 << 62, 16])], "y", [SQUARE])
        row = rows_of(graph)[0]
        self.assertEqual((row["macs"], row["reason"]), (None, "a size is above 2^63"))

    def test_options_that_nothing_has(self):
        done = models.run(TOOL, models.model(self.GRAPH), "--dim", "bacth=8")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no dimension or tensor is called 'bacth'", done.stderr)
        done = models.run(TOOL, models.model(self.GRAPH), "--dim", "batch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--dim: 'batch' is no NAME=SIZE, such as batch=8", done.stderr)


class Inside(unittest.TestCase):
    def branches(self, test, weights=()):
        small = Graph([node("MatMul", "x,w", "s")], outputs="s")
        large = Graph([node("MatMul", "x,w", "t"), node("MatMul", "t,w", "l")], outputs="l")
        return Graph([node("If", "c", "y", "if", then_branch=small, else_branch=large)],
                     [info("x", [1, 16])] + test, "y", [SQUARE, *weights])

    def test_the_branch_that_costs_more(self):
        out = told(self.branches([info("c", [], BOOL)]), "--by", "node")
        self.assertEqual([row["times"] for row in out["rows"]], [0, 1, 1])
        self.assertEqual(out["totals"]["macs"], 512)
        self.assertEqual(out["totals"]["parameters"], 256)
        self.assertIn("Of branches the one that costs more is counted: 1 nodes are in others",
                      out["notes"])

    def test_a_branch_that_may_cost_more(self):
        # What is left out with an unknown part may be what costs more.
        known = Graph([node("MatMul", "x,w", "k"), node("MatMul", "k,w", "m")], outputs="m")
        own = Graph([node("Own", "x", "o", "own", "own")], outputs="o")
        wide = Graph([node("MatMul", "z,w", "o", "wide")], outputs="o")
        for other, reason in ((own, "nobody has told what the operator 'Own' computes"),
                              (wide, "the size of 'rows' is open: --dim rows=N sets it")):
            for branches in ((known, other), (other, known)):
                graph = Graph([node("If", "c", "y", "if", then_branch=branches[0],
                                    else_branch=branches[1])],
                              [info("c", [], BOOL), info("x", [1, 16]), info("z", ["rows", 16])],
                              "y", [SQUARE])
                out = told(graph)
                self.assertEqual(out["totals"]["macs"], 512)
                self.assertEqual(out["totals"]["at_least"][:2], ["macs", "flops"])
                self.assertIn("Not known of 1 node: " + reason, out["notes"])
                left = [row for row in rows_of(graph) if row["times"] == 0]
                self.assertEqual([(row["macs"], row["reason"]) for row in left], [(None, reason)])
        self.assertEqual(told(graph, "--dim", "rows=1")["totals"]["at_least"], [])
        self.assertEqual(told(graph, "--dim", "rows=9")["totals"]["macs"], 9 * 256)

    def test_a_branch_with_a_loop_of_nobody_knows(self):
        body = Graph([node("MatMul", "h,w", "n")],
                     [info("i", [], INT64), info("go", [], BOOL), info("h", [1, 16])], "go,n")
        loop = Graph([node("Loop", "m,,x", "l", "loop", body=body)], outputs="l")
        known = Graph([node("MatMul", "x,w", "k"), node("MatMul", "k,w", "j")], outputs="j")
        out = told(Graph([node("If", "c", "y", "if", then_branch=known, else_branch=loop)],
                         [info("c", [], BOOL), info("x", [1, 16]), info("m", [], INT64)],
                         "y", [SQUARE]))
        self.assertEqual(out["totals"]["macs"], 512)
        self.assertIn("macs", out["totals"]["at_least"])

    def test_the_branch_that_is_taken(self):
        out = told(self.branches([], [tensor("c", [], [True], BOOL)]))
        self.assertEqual(out["totals"]["macs"], 256)

    def loop(self, most, cond="", body_cond="go"):
        body = Graph([node("MatMul", "h,w", "n"), node("Identity", "go", "again"),
                      node("Less", "i,ten", "less")],
                     [info("i", [], INT64), info("go", [], BOOL), info("h", [1, 16])],
                     ("again" if body_cond == "go" else "less") + ",n,n")
        return Graph([node("Loop", most + "," + cond + ",x", "h,all", "loop", body=body)],
                     [info("x", [1, 16]), info("m", [], INT64)], "h,all",
                     [SQUARE, tensor("seven", [], [7], INT64), tensor("ten", [], [10], INT64),
                      tensor("yes", [], [True], BOOL)])

    def test_a_loop_of_seven(self):
        out = told(self.loop("seven"), "--by", "node")
        self.assertEqual(out["totals"]["macs"], 7 * 256)
        self.assertEqual(out["totals"]["at_least"], [])
        self.assertEqual(told(self.loop("seven", "yes"))["totals"]["macs"], 7 * 256)

    def test_a_loop_of_nobody_knows(self):
        out = told(self.loop("m"))
        self.assertEqual(out["totals"]["macs"], 256)
        self.assertIn("macs", out["totals"]["at_least"])
        self.assertTrue(any("one is counted: 3 nodes" in note for note in out["notes"]))

    def test_a_loop_that_may_end_sooner(self):
        graph = self.loop("seven", "yes", "less")
        out = told(graph)
        self.assertEqual(out["totals"]["macs"], 256)
        self.assertEqual(out["totals"]["elementwise_flops"], 1)
        self.assertEqual(out["totals"]["at_least"],
                         ["macs", "flops", "elementwise_flops", "input_bytes", "weight_bytes",
                          "output_bytes"])
        self.assertTrue(any("one is counted: 2 nodes" in note for note in out["notes"]))
        self.assertEqual([row["times"] for row in rows_of(graph)], [None] * 2)
        # Without a condition at the loop the body's is not asked.
        self.assertEqual(told(self.loop("seven", "", "less"))["totals"]["macs"], 7 * 256)

    def test_a_loop_inside_another_that_may_end_sooner(self):
        inner = Graph([node("MatMul", "g,w", "o")],
                      [info("k", [], INT64), info("on", [], BOOL), info("g", [1, 16])], "on,o")
        body = Graph([node("Loop", "three,,h", "n", "inner", body=inner),
                      node("Less", "i,ten", "less")],
                     [info("i", [], INT64), info("go", [], BOOL), info("h", [1, 16])], "less,n")
        out = told(Graph([node("Loop", "seven,yes,x", "y", "outer", body=body)],
                         [info("x", [1, 16])], "y",
                         [SQUARE, tensor("three", [], [3], INT64), tensor("seven", [], [7], INT64),
                          tensor("ten", [], [10], INT64), tensor("yes", [], [True], BOOL)]))
        self.assertEqual(out["totals"]["macs"], 3 * 256)
        self.assertIn("macs", out["totals"]["at_least"])

    def test_a_loop_that_grows(self):
        body = Graph([node("Concat", "h,x", "n", axis=0), node("MatMul", "h,w", "p")],
                     [info("i", [], INT64), info("go", [], BOOL), info("h", None)], "go,n")
        graph = Graph([node("Loop", "seven,,x", "y", "loop", body=body)], [info("x", [1, 16])],
                      "y", [SQUARE, tensor("seven", [], [7], INT64)])
        rows = rows_of(graph)
        self.assertEqual([(row["macs"], row["shape"]) for row in rows],
                         [(0, "[?,16]"), (None, "[?,16]")])
        self.assertEqual(sum(row["parameters"] for row in rows), 256)

    def test_a_scan(self):
        body = Graph([node("MatMul", "step,w", "p"), node("Add", "p,h", "n")],
                     [info("h", [2, 16]), info("step", [2, 16])], "n,n")
        graph = Graph([node("Scan", "x,xs", "y,ys", "scan", body=body, num_scan_inputs=1)],
                      [info("x", [2, 16]), info("xs", [9, 2, 16])], "y,ys", [SQUARE])
        out = told(graph)
        self.assertEqual(out["totals"]["macs"], 9 * 2 * 256)
        self.assertEqual(out["totals"]["elementwise_flops"], 9 * 32)

    def test_a_function(self):
        linear = models.function("Linear", "a,b,c", "d",
                               [node("MatMul", "a,b", "e", "inner/product"),
                                node("Add", "e,c", "d", "inner/sum")])
        graph = Graph([node("Linear", "x,w,b", "h", "model/first/Linear", "own"),
                       node("Linear", "h,w,b", "y", "model/second/Linear", "own")],
                      [info("x", [1, 16])], "y", [SQUARE, tensor("b", [16])])
        out = told(graph, "--by", "node", functions=[linear])
        self.assertEqual(out["totals"]["macs"], 512)
        self.assertEqual(out["totals"]["parameters"], 272)
        self.assertEqual([row["module"] for row in out["rows"]],
                         ["model/first/Linear/inner"] * 2 + ["model/second/Linear/inner"] * 2)

    def test_a_function_that_calls_itself(self):
        own = models.function("Own", "a", "b", [node("Own", "a", "b", "again", "own")])
        graph = Graph([node("Own", "x", "y", "own", "own")], [info("x", [1])], "y")
        done = models.run(TOOL, models.model(graph, functions=[own]))
        self.assertEqual(done.returncode, 3)
        self.assertIn("node 'again' (Own): too deep, or without an end: 'Own'", done.stderr)

    def test_functions_that_multiply(self):
        functions = [models.function("F0", "a", "b", [node("Relu", "a", "b")])]
        for i in range(1, 60):
            below = "F%d" % (i - 1)
            functions.append(models.function("F%d" % i, "a", "b", [
                node(below, "a", "m", "", "own"), node(below, "m", "b", "", "own")]))
        graph = Graph([node("F59", "x", "y", "top", "own")], [info("x", [1])], "y")
        done = models.run(TOOL, models.model(graph, functions=functions))
        self.assertEqual(done.returncode, 3)
        self.assertIn("too many nodes, here and in 'functions'", done.stderr)


class Modules(unittest.TestCase):
    def test_names_become_a_tree(self):
        graph = Graph([node("MatMul", "x,w", "a", "/layer1/layer1.0/conv1/MatMul"),
                       node("MatMul", "a,w", "b", "/layer1/layer1.1/conv1/MatMul"),
                       node("Relu", "b", "c", "/layer1/layer1.1/Relu"),
                       node("MatMul", "c,w", "y", "/head/MatMul")],
                      [info("x", [1, 16])], "y", [SQUARE])
        rows = told(graph, "--depth", "0")["rows"]
        self.assertEqual([(row["module"], row["level"], row["macs"]) for row in rows],
                         [("", 0, 1024 - 256), ("layer1", 1, 512), ("layer1/0", 2, 256),
                          ("layer1/0/conv1", 3, 256), ("layer1/1", 2, 256),
                          ("layer1/1/conv1", 3, 256), ("head", 1, 256)])
        rows = told(graph, "--depth", "1")["rows"]
        self.assertEqual([row["name"] for row in rows], ["model", "layer1", "head"])
        rows = told(graph, "--by", "module,operator", "--depth", "1")["rows"]
        self.assertEqual([(row["name"], row["macs"], row["elementwise_flops"]) for row in rows],
                         [("model", 768, 16), ("layer1", 512, 16), ("MatMul", 512, 0),
                          ("Relu", 0, 16), ("head", 256, 0), ("MatMul", 256, 0)])

    def test_scopes_of_pytorch(self):
        one = node("MatMul", "x,w", "y", "node_MatMul_1") + models.part(
            9, models.part(1, "pkg.torch.onnx.name_scopes") +
            models.part(2, "['', 'encoder', 'encoder.layers.0', 'linear']"))
        rows = told(Graph([one], [info("x", [1, 16])], "y", [SQUARE]), "--by", "node")["rows"]
        self.assertEqual(rows[0]["module"], "encoder/layers/0")

    def test_names_of_weights(self):
        weights = [tensor("blocks.3.fc.weight", [16, 16])]
        graph = Graph([node("MatMul", "x,blocks.3.fc.weight", "y", "MatMul_17")],
                      [info("x", [1, 16])], "y", weights)
        self.assertEqual(rows_of(graph)[0]["module"], "blocks/3/fc")

    def test_three_levels_are_usual(self):
        graph = Graph([node("Relu", "x", "y", "/one/two/three/four/Relu")], [info("x", [4])], "y")
        self.assertEqual([row["level"] for row in told(graph)["rows"]], [0, 1, 2, 3])
        self.assertEqual(len(told(graph, "--depth", "0")["rows"]), 5)


class NoModels(unittest.TestCase):
    def refused(self, graph, words, **more):
        data = graph if isinstance(graph, bytes) else models.model(graph, **more)
        done = models.run(TOOL, data)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn(words, done.stderr)

    def test_inputs_that_nothing_makes(self):
        self.refused(Graph([node("Relu", "b", "a", "first"), node("Relu", "a", "b", "second")],
                           [], "b"), "node 'first' (Relu): no node before it makes its input 'b'")

    def test_nodes_without_a_kind(self):
        self.refused(Graph([models.part(1, "x") + models.part(2, "y") + models.part(3, "first")],
                           [info("x", [1])], "y"), "node 'first' (): it has no 'op_type'")

    def test_negative_sizes(self):
        graph = Graph([node("Relu", "x", "y")], [info("x", [-5, 16])], "y")
        self.assertEqual(rows_of(graph)[0]["reason"],
                         "the sizes of its inputs do not fit 'x'")
        graph = Graph([node("Reshape", "x,s", "y")], [info("x", [4, 4])], "y",
                      [ints("s", [-1, -7])])
        self.assertEqual(rows_of(graph)[0]["shape"], "[?,?]")

    def test_axes_out_of_range(self):
        for made in (node("Concat", "x,x", "y", "n", axis=1 << 40),
                     node("Transpose", "x", "y", "n", perm=[7, 0]),
                     node("ReduceSum", "x,s", "y", "n"), node("Gather", "x,s", "y", "n", axis=-9),
                     node("GatherND", "x,s", "y", "n", batch_dims=-(1 << 63)),
                     node("Unsqueeze", "x,s", "y", "n"), node("Split", "x,s", "y", "n", axis=5)):
            graph = Graph([made], [info("x", [4, 4])], "y", [ints("s", [99])])
            row = rows_of(graph)[0]
            self.assertEqual(row["shape"], "?", row["operator"])

    def test_a_branch_that_is_missing(self):
        self.refused(Graph([node("If", "c", "y", "if")], [info("c", [], BOOL)], "y"),
                     "node 'if' (If): it has no 'then_branch'")

    def test_what_is_not_installed(self):
        data = models.model(Unknown.GRAPH)
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            with open(os.path.join(folder, "onnx.py"), "w", encoding="utf-8") as file:
                file.write("raise ImportError('not here')")
            for name, value, words in (
                    ("PPROF_PYTHON", "no-python", "'no-python' has no pprof and onnx for Python 3.9: python3 -m "
                     "pip install 'pprof-pipeline[cost]'"),
                    ("PYTHONPATH", folder, "cost needs Python's package onnx (not here): ")):
                done = models.run(TOOL, data, **{name: value})
                self.assertEqual((done.returncode, done.stdout), (3, ""))
                self.assertIn(words, done.stderr)

    def test_weights_are_not_read(self):
        # 3 GiB of them are a hole in the file, behind their length.
        size = 3 << 30
        weight = tensor("w", [16, size // 64]) + models.varint(9 << 3 | 2) + models.varint(size)
        graph = Graph([node("MatMul", "x,w", "y")], [info("x", [1, 16])], "y").data
        graph += models.varint(5 << 3 | 2) + models.varint(len(weight) + size) + weight
        data = models.part(8, models.number(2, 18)) + models.varint(7 << 3 | 2)
        data += models.varint(len(graph) + size) + graph
        with tempfile.NamedTemporaryFile(dir=os.environ.get("TEST_TMPDIR")) as file:
            file.write(data)
            file.truncate(len(data) + size)
            file.flush()
            done = subprocess.run([TOOL, "cost", "-f", "json", file.name], check=True,
                                  stdout=subprocess.PIPE)
        totals = json.loads(done.stdout)["totals"]
        self.assertEqual((totals["parameters"], totals["macs"]), (size // 4, size // 4))

    def test_cut(self):
        data = models.model(Unknown.GRAPH)
        for size in range(1, len(data), 29):
            self.assertIn(models.run(TOOL, data[:size]).returncode, (0, 3), size)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
