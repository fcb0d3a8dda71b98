#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own tests of its operators (Debian: libonnx-testdata): the shapes that `cost` infers are those
of the outputs that come with them. PACKAGE, a file of Python's package

What a test gives its model at run time, a shape or axes among it, becomes a constant of the model first,
where it is short. What depends on values may stay unknown; a wrong shape is wrong."""
import collections
import math
import os
import random
import sys
import unittest

import models  # noqa: F401  (says where the package onnx is)

os.environ["PPROF_ENABLE"] = "0"
sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1]))), models.PACKAGES]
import onnx
from pprof._model import __main__, file, walk

ROOT = "/usr/share/libonnx-testdata/data"
SHORT = 64  # numbers
# What stays unknown: operators whose result decides its size, or of a type that is not known before.
UNKNOWN = set("""Adagrad Adam Compress Gradient Momentum NonMaxSuppression NonZero Scan SequenceEmpty
    StringNormalizer TfIdfVectorizer Unique""".split())


class Case:
    """A model with the outputs that it should have."""

    def __init__(self, folder):
        self.model = onnx.load(os.path.join(folder, "model.onnx"))
        graph, data = self.model.graph, os.path.join(folder, "test_data_set_0")
        weights = {weight.name for weight in graph.initializer}
        self.nodes = [node.op_type for node in graph.node]
        inputs = [info for info in graph.input if info.name not in weights]
        for i, info in enumerate(inputs):
            tensor = self.read(info, os.path.join(data, "input_%d.pb" % i))
            if tensor and len(tensor.dims) < 2 and math.prod(tensor.dims) <= SHORT:
                tensor.name = info.name
                graph.initializer.append(tensor)
        self.shapes = {}
        for i, info in enumerate(graph.output):
            tensor = self.read(info, os.path.join(data, "output_%d.pb" % i))
            if tensor:
                self.shapes[info.name] = list(tensor.dims)
            info.ClearField("type")  # the answer
        del graph.value_info[:]

    @staticmethod
    def read(info, path):
        if not os.path.exists(path) or not info.type.HasField("tensor_type"):
            return None
        with open(path, "rb") as data:
            return onnx.TensorProto.FromString(data.read())


def fits(shape, dims):
    """Whether an inferred one can be this one: unknown dimensions can."""
    return shape is None or len(shape) == len(dims) and all(
        one == dim or not isinstance(one, int) for one, dim in zip(shape, dims))


def damage(graph, chance):
    """Parts that are left out, or another number, in some nodes and inputs."""
    for node in graph.node:
        part = chance.choice([node.input, node.output, node.attribute])
        if part and chance.random() < 0.5:
            del part[chance.randrange(len(part))]
        for attribute in node.attribute:
            attribute.i = chance.choice([attribute.i, -1, 7, 1 << 40])
            damage(attribute.g, chance)
    for info in graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if chance.random() < 0.3:
                dim.dim_value = chance.choice([0, -3, 1 << 62])


class NodeModels(unittest.TestCase):
    def test_damaged_models(self):
        # Counted, or refused in words.
        chance, refused = random.Random(1), 0
        for folder, _, files in sorted(os.walk(ROOT)):
            if "model.onnx" in files:
                model = onnx.load(os.path.join(folder, "model.onnx"))
                damage(model.graph, chance)
                try:
                    walk.Walk(model, __main__.Dims("", file.Refused), folder).run()
                except file.Refused:
                    refused += 1
        self.assertIn(refused, range(1, 500))

    def test_shapes(self):
        self.assertTrue(os.path.isdir(ROOT), "install libonnx-testdata")
        counts, wrong, unknown = collections.Counter(), [], []
        for folder, _, files in sorted(os.walk(ROOT)):
            if "model.onnx" not in files:
                continue
            case = Case(folder)
            try:
                rows = walk.Walk(case.model, __main__.Dims("", file.Refused), folder).run()
            except file.Refused as error:
                wrong.append((folder, str(error)))
                continue
            for row in rows:
                if row.output not in case.shapes:
                    continue
                if not fits(row.dims, case.shapes[row.output]):
                    wrong.append((folder, row.output, row.dims, case.shapes[row.output]))
                elif row.dims is None or not all(isinstance(one, int) for one in row.dims):
                    counts["unknown"] += 1
                    if not UNKNOWN & set(case.nodes):
                        unknown.append((folder, row.output, str(row.reason)))
                else:
                    counts["equal"] += 1
        print(dict(counts))
        self.assertEqual(wrong, [])
        self.assertEqual(unknown, [])
        self.assertGreater(counts["equal"], 950)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
