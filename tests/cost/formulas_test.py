#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What operators cost: each expected value is typed from the operator's formula. TOOL"""
import os
import sys
import unittest

import models
from models import F16, INT64, INT8, UINT8, Graph, info, ints, node, tensor

TOOL = os.path.abspath(sys.argv[1])


def row_of(nodes, inputs, weights=(), opset=18, dim=None):
    """The last node's row."""
    graph = Graph(nodes, inputs, "y", weights)
    return models.rows(models.model(graph, opset), dim or "")[-1]


class Formulas(unittest.TestCase):
    def expect(self, row, macs, others, shape):
        self.assertEqual((row["macs"], row["elementwise_flops"], row["shape"]),
                         (macs, others, shape))
        self.assertEqual(row["flops"], 2 * macs + others)

    def test_conv(self):
        # N.OC.OH.OW . IC/g.KH.KW
        weights = [tensor("w", [64, 3, 7, 7]), tensor("b", [64])]
        row = row_of([node("Conv", "x,w,b", "y", strides=[2, 2], pads=[3, 3, 3, 3])],
                     [info("x", [8, 3, 224, 224])], weights)
        self.expect(row, 8 * 64 * 112 * 112 * 3 * 7 * 7, 0, "[8,64,112,112]")
        self.assertEqual(row["parameters"], 64 * 3 * 7 * 7 + 64)
        self.assertEqual(row["parameter_bytes"], 4 * (64 * 3 * 7 * 7 + 64))
        self.assertEqual(row["input_bytes"], 4 * 8 * 3 * 224 * 224)
        self.assertEqual(row["weight_bytes"], row["parameter_bytes"])
        self.assertEqual(row["output_bytes"], 4 * 8 * 64 * 112 * 112)

    def test_conv_of_groups_dilated(self):
        row = row_of([node("Conv", "x,w", "y", group=32, dilations=[2, 2])],
                     [info("x", [1, 32, 20, 20])], [tensor("w", [32, 1, 3, 3])])
        self.expect(row, 32 * 16 * 16 * 9, 0, "[1,32,16,16]")

    def test_conv_with_what_follows_it(self):
        row = row_of([node("FusedConv", "x,w", "y", domain="com.microsoft", activation="Relu",
                           pads=[1, 1, 1, 1])], [info("x", [1, 3, 8, 8])], [tensor("w", [4, 3, 3, 3])])
        self.expect(row, 4 * 8 * 8 * 27, 0, "[1,4,8,8]")

    def test_conv_transpose(self):
        # N.IC.IH.IW . OC/g.KH.KW
        row = row_of([node("ConvTranspose", "x,w", "y", strides=[2, 2])],
                     [info("x", [1, 16, 8, 8])], [tensor("w", [16, 4, 2, 2])])
        self.expect(row, 16 * 8 * 8 * 4 * 2 * 2, 0, "[1,4,16,16]")

    def test_channels_in_blocks(self):
        # ONNX Runtime's own layout: the formulas of ONNX, and what only moves.
        blocks = {"domain": "com.microsoft.nchwc"}
        conv = node("Conv", "x,w", "a", kernel_shape=[3, 3], **blocks)
        inputs, weights = [info("x", [2, 8, 20, 20])], [tensor("w", [16, 8, 3, 3])]
        self.expect(row_of([conv, node("MaxPool", "a", "y", kernel_shape=[2, 2], strides=[2, 2],
                                       **blocks)], inputs, weights),
                    0, 2 * 16 * 9 * 9 * 4, "[2,16,9,9]")
        row = row_of([node("Conv", "x,w", "y", kernel_shape=[3, 3], **blocks)], inputs, weights)
        self.expect(row, 2 * 16 * 18 * 18 * 8 * 9, 0, "[2,16,18,18]")
        for last, shape in ((0, "[2,12,18,18]"), (1, "[2,18,18,12]")):
            back = node("ReorderOutput", "a", "y", channels=12, channels_last=last, **blocks)
            self.expect(row_of([conv, back], inputs, weights), 0, 0, shape)
        there = node("ReorderInput", "x", "y", channels_last=1, **blocks)
        self.expect(row_of([there], [info("x", [2, 20, 30, 8])]), 0, 0, "[2,8,20,30]")

    def test_gemm(self):
        row = row_of([node("Gemm", "x,w,b", "y", transB=1)], [info("x", [5, 2048])],
                     [tensor("w", [1000, 2048]), tensor("b", [1000])])
        self.expect(row, 5 * 1000 * 2048, 0, "[5,1000]")
        row = row_of([node("Gemm", "x,w", "y", transA=1)], [info("x", [30, 7])],
                     [tensor("w", [30, 11])])
        self.expect(row, 7 * 11 * 30, 0, "[7,11]")

    def test_matmul(self):
        row = row_of([node("MatMul", "x,z", "y")],
                     [info("x", [2, 1, 12, 10, 64]), info("z", [3, 12, 64, 20])])
        self.expect(row, 2 * 3 * 12 * 10 * 20 * 64, 0, "[2,3,12,10,20]")
        row = row_of([node("MatMul", "x,z", "y")], [info("x", [9]), info("z", [4, 9, 3])])
        self.expect(row, 4 * 3 * 9, 0, "[4,3]")

    def test_einsum(self):
        row = row_of([node("Einsum", "x,z", "y", equation="bhqd,bhkd->bhqk")],
                     [info("x", [2, 8, 30, 64]), info("z", [2, 8, 40, 64])])
        self.expect(row, 2 * 8 * 30 * 40 * 64, 0, "[2,8,30,40]")
        row = row_of([node("Einsum", "x,z", "y", equation="...ij,jk")],
                     [info("x", [6, 5, 3, 4]), info("z", [4, 7])])
        self.expect(row, 6 * 5 * 3 * 4 * 7, 0, "[6,5,3,7]")
        # Where "..." differs, it is as wide as both: as the MatMul of the same is.
        for equation, x, z, macs, shape in (
                ("...ij,...jk->...ik", [2, 1, 3, 4], [1, 5, 4, 6], 2 * 5 * 3 * 6 * 4, "[2,5,3,6]"),
                ("...ij,...jk", [2, 1, 3, 4], [5, 4, 6], 2 * 5 * 3 * 6 * 4, "[2,5,3,6]"),
                ("i...,...->i...", [7, 3, 1], [4], 7 * 3 * 4, "[7,3,4]"),
                ("...i,...i->", [2, 1, 9], [1, 5, 9], 2 * 5 * 9, "[]")):
            row = row_of([node("Einsum", "x,z", "y", equation=equation)],
                         [info("x", x), info("z", z)])
            self.expect(row, macs, 0, shape)
        row = row_of([node("Einsum", "x,z", "y", "n", equation="...i,...i->...")],
                     [info("x", [2, 9]), info("z", [3, 9])])
        self.assertEqual((row["macs"], row["reason"]),
                         (None, "the sizes of its inputs do not fit 'n'"))
        row = row_of([node("Einsum", "x", "y", equation="ij->i")], [info("x", [6, 5])])
        self.expect(row, 0, 30, "[6]")

    def test_attention(self):
        # B.H.(Lq.Lk.Dqk + Lq.Lk.Dv), and 5 for each score
        row = row_of([node("Attention", "q,k,v", "y", is_causal=1)],
                     [info("q", [2, 8, 10, 64]), info("k", [2, 4, 30, 64]),
                      info("v", [2, 4, 30, 32])], opset=23)
        self.expect(row, 2 * 8 * 10 * 30 * (64 + 32), 2 * 8 * 10 * 30 * 5, "[2,8,10,32]")

    def test_attention_of_onnx_runtime(self):
        row = row_of([node("Attention", "x,w", "y", domain="com.microsoft", num_heads=12)],
                     [info("x", [2, 128, 768])], [tensor("w", [768, 2304])])
        self.expect(row, 2 * 128 * 768 * 2304 + 2 * 12 * 128 * 128 * 128, 2 * 12 * 128 * 128 * 5,
                    "[2,128,768]")
        row = row_of([node("GroupQueryAttention", "q,k,v", "y", domain="com.microsoft",
                           num_heads=8, kv_num_heads=2)],
                     [info("q", [1, 16, 512]), info("k", [1, 16, 128]), info("v", [1, 16, 128])])
        self.expect(row, 8 * 16 * 16 * 128, 8 * 16 * 16 * 5, "[1,16,512]")

    def test_recurrent(self):
        # T.B.dir.gates.H.(I + H)
        for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
            row = row_of([node(kind, "x,w,r", "y", hidden_size=20, direction="bidirectional")],
                         [info("x", [7, 5, 10])],
                         [tensor("w", [2, gates * 20, 10]), tensor("r", [2, gates * 20, 20])])
            self.expect(row, 7 * 5 * 2 * gates * 20 * 30, 0, "[7,2,5,20]")

    def test_without_a_shape(self):
        # What depends on a shape that nobody says is unknown, not 0.
        x, w, r = info("x", None), tensor("w", [1, 80, 10]), tensor("r", [1, 80, 20])
        for made, column in ((node("LSTM", "x,w,r", "y", hidden_size=20), "macs"),
                             (node("DFT", "x", "y"), "elementwise_flops"),
                             (node("STFT", "x,s", "y"), "elementwise_flops")):
            row = row_of([made], [x], [w, r, ints("s", [4])])
            self.assertEqual((row[column], row["flops"], row["reason"]),
                             (None, None, "the model does not say the shape of 'x'"))
        for made in (node("LSTM", "x,w,r", "y", "n"), node("DFT", "x", "y", "n", axis=7)):
            row = row_of([made], [info("x", [7, 2])], [w, r])
            self.assertEqual((row["flops"], row["reason"]),
                             (None, "the sizes of its inputs do not fit 'n'"))

    def test_transform_of_an_axis_that_values_decide(self):
        row = row_of([node("DFT", "x,,axis", "y")],
                     [info("x", [2, 64, 8, 1]), info("axis", [], INT64)], opset=20)
        self.assertEqual(row["flops"], None)

    def test_quantised(self):
        scales = [tensor("s", [], [0.5]), tensor("z", [], [0], UINT8),
                  tensor("wz", [], [0], INT8)]
        row = row_of([node("QLinearConv", "x,s,z,w,s,wz,s,z", "y")],
                     [info("x", [1, 3, 8, 8], UINT8)],
                     scales + [tensor("w", [4, 3, 3, 3], None, INT8)])
        self.expect(row, 4 * 6 * 6 * 27, 0, "[1,4,6,6]")
        self.assertEqual((row["type"], row["parameter_bytes"]), ("int8", 108 + 4 + 1 + 1))
        row = row_of([node("QLinearMatMul", "x,s,z,w,s,wz,s,z", "y")],
                     [info("x", [6, 10], UINT8)], scales + [tensor("w", [10, 3], None, INT8)])
        self.expect(row, 6 * 10 * 3, 0, "[6,3]")
        row = row_of([node("MatMulInteger", "x,w", "y")], [info("x", [6, 10], UINT8)],
                     [tensor("w", [10, 3], None, INT8)])
        self.expect(row, 6 * 10 * 3, 0, "[6,3]")
        row = row_of([node("DequantizeLinear", "x,s,z", "a"),
                      node("DequantizeLinear", "w,s,z", "b"), node("MatMul", "a,b", "y")],
                     [info("x", [6, 10], UINT8)], scales + [tensor("w", [10, 3], None, UINT8)])
        self.assertEqual((row["macs"], row["type"]), (180, "int8"))
        row = row_of([node("MatMulNBits", "x,w,s", "y", domain="com.microsoft", K=64, N=16,
                           bits=4, block_size=32)],
                     [info("x", [2, 5, 64], F16)],
                     [tensor("w", [16, 2, 16], None, UINT8), tensor("s", [32])])
        self.expect(row, 2 * 5 * 64 * 16, 0, "[2,5,16]")
        self.assertEqual(row["type"], "int4")

    def test_by_element(self):
        image = [info("x", [2, 3, 8, 8])]
        of_three = [tensor(name, [3]) for name in "abcd"]
        for made, weights, factor in (
                (node("Relu", "x", "y"), [], 1), (node("Softmax", "x", "y"), [], 5),
                (node("Add", "x,x", "y"), [], 1), (node("Sum", "x,x,x", "y"), [], 2),
                (node("BatchNormalization", "x,a,b,c,d", "y"), of_three, 2),
                (node("LayerNormalization", "x,e", "y"), [tensor("e", [8])], 5),
                (node("RMSNormalization", "x,e", "y"), [tensor("e", [8])], 4),
                (node("Cast", "x", "y", to=F16), [], 0)):
            self.expect(row_of([made], image, weights, 23), 0, factor * 384, "[2,3,8,8]")

    def test_reductions_and_pools(self):
        image = [info("x", [2, 3, 8, 8])]
        self.expect(row_of([node("ReduceMean", "x", "y", axes=[2, 3])], image, opset=13), 0, 384,
                    "[2,3,1,1]")
        self.expect(row_of([node("GlobalAveragePool", "x", "y")], image), 0, 384, "[2,3,1,1]")
        self.expect(row_of([node("MaxPool", "x", "y", kernel_shape=[3, 3], strides=[2, 2])],
                           image), 0, 2 * 3 * 3 * 3 * 9, "[2,3,3,3]")
        self.expect(row_of([node("MaxPool", "x", "y", kernel_shape=[3, 3], strides=[2, 2],
                                 ceil_mode=1)], image), 0, 2 * 3 * 4 * 4 * 9, "[2,3,4,4]")

    def test_transform(self):
        # 5 n log2 n
        self.expect(row_of([node("DFT", "x", "y")], [info("x", [3, 1024, 1])], opset=17), 0,
                    3 * 5 * 1024 * 10, "[3,1024,2]")
        weights = [tensor("step", [], [128], INT64), tensor("window", [512])]
        self.expect(row_of([node("STFT", "x,step,window", "y")], [info("x", [2, 1280])], weights),
                    0, 2 * 7 * 5 * 512 * 9, "[2,7,257,2]")

    def test_tables_are_read_by_row(self):
        row = row_of([node("Gather", "w,x", "y")], [info("x", [2, 16], INT64)],
                     [tensor("w", [50000, 768])])
        self.expect(row, 0, 0, "[2,16,768]")
        self.assertEqual((row["parameters"], row["weight_bytes"]),
                         (50000 * 768, 4 * 2 * 16 * 768))

    def test_views_move_nothing(self):
        row = row_of([node("Reshape", "x,s", "y")], [info("x", [2, 6])], [ints("s", [3, -1])])
        self.expect(row, 0, 0, "[3,4]")
        self.assertEqual((row["input_bytes"], row["output_bytes"], row["parameters"]), (0, 0, 0))

    def test_shapes_are_known_before(self):
        nodes = [node("Shape", "x", "a"), node("Gather", "a,zero", "b"),
                 node("Mul", "b,two", "c"), node("Unsqueeze", "c,axis", "d"),
                 node("Concat", "d,rest", "e", axis=0), node("Reshape", "x,e", "y")]
        weights = [tensor("zero", [], [0], INT64), tensor("two", [], [2], INT64),
                   ints("axis", [0]), ints("rest", [-1, 4])]
        row = row_of(nodes, [info("x", ["batch", 3, 8])], weights, dim="batch=5")
        self.expect(row, 0, 0, "[10,3,4]")
        told = models.told(TOOL, models.model(Graph(nodes, [info("x", ["batch", 3, 8])], "y", weights)),
                         "--dim", "batch=5")
        self.assertEqual(told["totals"]["flops"], 0)

    def test_shared_weights_once(self):
        graph = Graph([node("MatMul", "x,w", "a"), node("MatMul", "a,w", "y")],
                      [info("x", [1, 16])], "y", [tensor("w", [16, 16])])
        totals = models.told(TOOL, models.model(graph))["totals"]
        self.assertEqual((totals["parameters"], totals["macs"], totals["weight_bytes"]),
                         (256, 512, 2048))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
