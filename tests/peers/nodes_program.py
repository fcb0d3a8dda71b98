# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's traces of a small model whose nodes have modules' names: nodes_program.py FOLDER.

Writes FOLDER/as_is.onnx and .json, of four runs without any optimisation, and optimised.onnx and
.json, of the model that ONNX Runtime makes of it by default."""
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

RUNS = 4


def block(at, source, inner, outer):
    """A convolution with its activation, as PyTorch's exporter names them."""
    name, random = "/features/%d" % at, np.random.default_rng(at)
    weight = random.standard_normal((outer, inner, 3, 3)).astype("float32")
    return [helper.make_node("Conv", [source, "w%d" % at], ["c%d" % at], name + "/conv/Conv",
                             pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c%d" % at], ["r%d" % at], name + "/act/Relu")], \
        [onnx.numpy_helper.from_array(weight, "w%d" % at)]


def model():
    first, weights = block(0, "x", 3, 16)
    second, more = block(1, "r0", 16, 16)
    nodes = [*first, *second,
             helper.make_node("GlobalAveragePool", ["r1"], ["p"], "/pool/GlobalAveragePool"),
             helper.make_node("Flatten", ["p"], ["f"], "/Flatten"),
             helper.make_node("Gemm", ["f", "w", "b"], ["y"], "/head/Gemm")]
    weights += more + [onnx.numpy_helper.from_array(np.ones((16, 10), "float32"), "w"),
                       onnx.numpy_helper.from_array(np.ones(10, "float32"), "b")]
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 9
    return made


def trace(folder, name, level, written=None):
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = os.path.join(folder, "ort")
    options.graph_optimization_level = level
    if written:
        options.optimized_model_filepath = os.path.join(folder, written)
    session = ort.InferenceSession(os.path.join(folder, "as_is.onnx"), options,
                                   ["CPUExecutionProvider"])
    for _ in range(RUNS):
        session.run(None, {"x": np.ones((1, 3, 32, 32), "float32")})
    os.replace(session.end_profiling(), os.path.join(folder, name))


def main():
    folder = sys.argv[1]
    onnx.save(model(), os.path.join(folder, "as_is.onnx"))
    trace(folder, "as_is.json", ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    trace(folder, "optimised.json", ort.GraphOptimizationLevel.ORT_ENABLE_ALL, "optimised.onnx")


main()
