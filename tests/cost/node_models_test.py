#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own tests of its operators (Debian: libonnx-testdata): the shapes that `cost` infers are those
of the outputs that come with them. TOOL

What a test gives its model at run time, a shape or axes among it, becomes a constant of the model first,
where it is short. What depends on values may stay unknown; a wrong shape is wrong."""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1])
ROOT = "/usr/share/libonnx-testdata/data"
SHORT = 64  # numbers
# What stays unknown: operators that cost does not know, or whose result decides its size.
UNKNOWN = set("""Adagrad Adam Compress Det Gradient Momentum NegativeLogLikelihoodLoss NonMaxSuppression
    NonZero Scan SequenceEmpty SoftmaxCrossEntropyLoss StringNormalizer TfIdfVectorizer Unique""".split())


# ---- the wire format: (field, kind, value) of a message ----

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if tag & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        yield tag >> 3, tag & 7, value


def put_varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def put_bytes(field, data):
    return put_varint(field << 3 | 2) + put_varint(len(data)) + data


def all_of(data, number):
    return [value for field, _, value in fields(data) if field == number]


# ---- models and tensors ----

def dims_of(tensor):
    dims = []
    for field, kind, value in fields(tensor):
        if field != 1:
            continue
        if kind == 0:
            dims.append(value)
        else:
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                dims.append(one)
    return dims


def read(path):
    with open(path, "rb") as file:
        return file.read()


def name_of(info):
    return all_of(info, 1)[0].decode()


def is_tensor(info):
    return any(all_of(kind, 1) for kind in all_of(info, 2))


def without_answers(graph):
    """The graph without what it says of its outputs."""
    out = b""
    for field, _, value in fields(graph):
        if field == 12:
            value = put_bytes(1, all_of(value, 1)[0])
        if field != 13:
            out += put_bytes(field, value)
    return out


def with_constants(model, constants):
    """The model with these tensors, by name, among its initialisers."""
    out = b""
    for field, kind, value in fields(model):
        if field == 7:
            value = without_answers(value) + b"".join(put_bytes(5, tensor + put_bytes(8, name.encode()))
                              for name, tensor in constants.items())
        if kind == 2:
            out += put_bytes(field, value)
        elif kind == 0:
            out += put_varint(field << 3) + put_varint(value)
    return out


def elements(dims):
    product = 1
    for dim in dims:
        product *= dim
    return product


class Case:
    """A model with the outputs that it should have."""

    def __init__(self, folder):
        model = read(os.path.join(folder, "model.onnx"))
        graph = all_of(model, 7)[0]
        weights = {all_of(tensor, 8)[0] for tensor in all_of(graph, 5) if all_of(tensor, 8)}
        inputs = [info for info in all_of(graph, 11) if all_of(info, 1)[0] not in weights]
        self.outputs = [name_of(info) for info in all_of(graph, 12)]
        self.nodes = [all_of(node, 4)[0].decode() for node in all_of(graph, 1)]
        self.shapes, constants = {}, {}
        data = os.path.join(folder, "test_data_set_0")
        for i, info in enumerate(inputs):
            path = os.path.join(data, "input_%d.pb" % i)
            if os.path.exists(path) and is_tensor(info):
                dims = dims_of(read(path))
                if len(dims) < 2 and elements(dims) <= SHORT:
                    constants[name_of(info)] = read(path)
        for i, info in enumerate(all_of(graph, 12)):
            path = os.path.join(data, "output_%d.pb" % i)
            if os.path.exists(path) and is_tensor(info):
                self.shapes[name_of(info)] = dims_of(read(path))
        self.model = with_constants(model, constants)


def inferred(model):
    """({output: shape}, reasons) of a model, or a message."""
    with tempfile.NamedTemporaryFile(suffix=".onnx", dir=os.environ.get("TEST_TMPDIR")) as file:
        file.write(model)
        file.flush()
        done = subprocess.run([TOOL, "cost", "--by", "node", "-f", "json", file.name],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return done.stderr, []
    told = json.loads(done.stdout)
    at = {column["name"]: i for i, column in enumerate(told["columns"])}
    return ({row[at["output"]]: row[at["shape"]] for row in told["rows"]},
            {row[at["reason"]] for row in told["rows"]} - {None})


def fits(shape, dims):
    """Whether an inferred one can be this one: unknown dimensions can."""
    if shape == "?":
        return True
    said = [part for part in shape.strip("[]").split(",") if part]
    return len(said) == len(dims) and all(one in ("?", str(dim)) for one, dim in zip(said, dims))


class NodeModels(unittest.TestCase):
    def test_shapes(self):
        self.assertTrue(os.path.isdir(ROOT), "install libonnx-testdata")
        counts, wrong, unknown = collections.Counter(), [], []
        for folder, _, files in sorted(os.walk(ROOT)):
            if "model.onnx" not in files:
                continue
            case = Case(folder)
            shapes, reasons = inferred(case.model)
            if isinstance(shapes, str):
                counts["refused"] += 1
                wrong.append((folder, shapes))
                continue
            for name in set(case.shapes) & set(shapes):
                shape = shapes[name]
                if not fits(shape, case.shapes[name]):
                    wrong.append((folder, name, shape, case.shapes[name]))
                elif "?" in shape:
                    counts["unknown"] += 1
                    if not UNKNOWN & set(case.nodes):
                        unknown.append((folder, name, sorted(reasons)))
                else:
                    counts["equal"] += 1
        print(dict(counts))
        self.assertEqual(wrong, [])
        self.assertEqual(unknown, [])
        self.assertGreater(counts["equal"], 950)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
