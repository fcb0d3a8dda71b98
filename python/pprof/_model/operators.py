# SPDX-License-Identifier: Apache-2.0
"""What operators compute, as docs/cost.md says: rows of a formula, its factor, and the operators."""
import math

from .shapes import Attention, Unfit, axis_of, indices_of, number_of
from .values import Unknown, add, is_known, product


def _elements(tensor):
    return tensor.elements() if tensor is not None else 0


def _out(op):
    return _elements(op.output(0))


def _missing(op, tensor):
    """The reason of a tensor without a shape, or that it does not fit."""
    return tensor.cause if tensor is not None and tensor.dims is None else op.unfit()


def _after_first(op, at):
    """The product of all sizes of weights but the first."""
    weights = op.input(at)
    if weights is None:
        return 0
    return weights.cause if weights.dims is None else product(*weights.dims[1:])


# ---- formulas: (MACs, other FLOPs) ----

def none(op, _):
    return 0, 0


def views(op, _):
    """Nothing, and no data moves either."""
    return 0, 0


def each_out(op, factor):
    return 0, product(_out(op), factor)


def each_in(op, factor):
    return 0, product(_elements(op.input(0)), factor)


def variadic(op, factor):
    return 0, product(_out(op), max(len(op.inputs) - 1, 0) + factor)


def pool(op, factor):
    return 0, product(_out(op), factor, *op.attribute("kernel_shape", []))


def lrn(op, _):
    """Squares of `size` channels and their sum, then scale, bias, power, quotient."""
    size = op.attribute("size", 1)
    return 0, product(_out(op), 2 * size + 4) if size > 0 else op.unfit()


def conv(op, _):
    """N.OC.OH.OW . (IC/g).KH.KW: weights are (OC, IC/g, KH, KW)."""
    at = 3 if op.kind.startswith("QLinear") else 1
    return product(_out(op), _after_first(op, at)), 0


def conv_transpose(op, _):
    """N.IC.IH.IW . (OC/g).KH.KW: weights are (IC, OC/g, KH, KW)."""
    return product(_elements(op.input(0)), _after_first(op, 1)), 0


def gemm(op, _):
    return product(_out(op), op.dim(0, 0 if op.attribute("transA", 0) else 1)), 0


def matmul(op, _):
    first = op.input(0)
    turned = op.attribute("transA", 0) and first.dims is not None and len(first.dims) > 1
    return product(_out(op), op.dim(0, -2 if turned else -1)), 0


def einsum(op, _):
    """The product of the sizes of all indices; one operand alone is summed."""
    if len(op.inputs) < 2:
        whole = _elements(op.input(0))
        return 0, 0 if is_known(whole) and whole == _out(op) else whole
    try:
        sizes, hidden = indices_of(op)
    except Unfit:
        return op.unfit(), 0
    return product(*sizes.values(), *hidden, len(op.inputs) - 1), 0


def attention(op, _):
    """B.H.(Lq.Lk.Dqk + Lq.Lk.Dv), and 5 for each score's softmax. A causal one counts in full, as
    it is computed unless a kernel skips blocks."""
    try:
        sizes = Attention(op)
    except Unfit:
        return (op.output(0) and op.output(0).cause) or op.unfit(), 0
    scores = product(sizes.batch, sizes.heads, sizes.queries, sizes.total)
    made = product(sizes.batch, sizes.queries, sizes.input_size, sizes.projected)
    return (add(product(scores, add(sizes.size, sizes.value_size)), made), product(scores, 5))


def recurrent(op, gates):
    """T.B.directions.gates.H.(I + H)"""
    data = op.input(0)
    if data is None or data.dims is None or len(data.dims) != 3:
        return _missing(op, data), 0
    hidden = op.dim(2, -1)
    return product(data.dims[0], data.dims[1], op.dim(1, 0), hidden, gates,
                   add(data.dims[2], hidden)), 0


def _transforms(op, number, size):
    """5 n log2 n a transform."""
    if not is_known(number) or not is_known(size):
        return size if is_known(number) else number
    if size < 1:
        return op.unfit()
    flops = 5 * size * math.log2(size) * number
    return round(flops) if flops < 9e18 else Unknown("overflow")


def dft(op, _):
    data = op.input(0)
    axis = op.attribute("axis", 1 if op.opset < 20 else -2)
    if op.input(2) is not None:
        axis = number_of(op, 2)
    if not is_known(axis):
        return 0, axis
    if data is None or data.dims is None or not -len(data.dims) <= axis < len(data.dims):
        return 0, _missing(op, data)
    at = axis_of(axis, len(data.dims))
    number = product(*(dim for i, dim in enumerate(data.dims[:-1]) if i != at))
    return 0, _transforms(op, number, data.dims[at] if op.input(1) is None else number_of(op, 1))


def stft(op, _):
    made = op.output(0)
    if made is None or made.dims is None or len(made.dims) != 4:
        return 0, _missing(op, made)
    size = number_of(op, 3) if op.input(3) is not None else op.dim(2, 0)
    return 0, _transforms(op, product(made.dims[0], made.dims[1]), size)


# ---- the operators ----

_ONNX = [
    (views, 0, "Constant Dropout Flatten Identity Optional OptionalGetElement OptionalHasElement "
               "Reshape SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert "
               "SequenceLength Shape Size Squeeze Unsqueeze"),
    (none, 0, "Bernoulli BlackmanWindow Cast CastLike CenterCropPad Compress Concat "
              "ConcatFromSequence ConstantOfShape DepthToSpace Expand EyeLike Gather "
              "GatherElements GatherND GridSample HammingWindow HannWindow MaxUnpool "
              "MelWeightMatrix NonMaxSuppression NonZero OneHot Pad RandomNormal RandomNormalLike "
              "RandomUniform RandomUniformLike Range Resize ReverseSequence RoiAlign Scatter "
              "ScatterElements ScatterND Slice SpaceToDepth Split SplitToSequence TensorScatter "
              "Tile TopK Transpose Trilu Unique Upsample"),
    (each_out, 1, "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot "
                  "BitwiseOr BitwiseXor Ceil Celu Clip Cos Cosh CumSum DequantizeLinear Div "
                  "DynamicQuantizeLinear Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual "
                  "HardSigmoid HardSwish Hardmax IsInf IsNaN LeakyRelu Less LessOrEqual Log Mish "
                  "Mod Mul Neg Not Or PRelu Pow QuantizeLinear Reciprocal Relu Round Selu Shrink "
                  "Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Swish Tan Tanh "
                  "ThresholdedRelu Where Xor"),
    (each_out, 2, "BatchNormalization"),
    (each_out, 3, "LpNormalization RotaryEmbedding"),
    (each_out, 4, "RMSNormalization SimplifiedLayerNormalization"),
    (each_out, 5, "GroupNormalization InstanceNormalization LayerNormalization LogSoftmax "
                  "MeanVarianceNormalization Softmax"),
    (each_in, 1, "ArgMax ArgMin Col2Im GlobalAveragePool GlobalMaxPool ReduceL1 ReduceL2 "
                 "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
                 "ReduceSumSquare"),
    (each_in, 2, "GlobalLpPool"),
    (variadic, 0, "Max Min Sum"), (variadic, 1, "Mean"),
    (pool, 1, "AveragePool MaxPool"), (pool, 2, "LpPool"), (lrn, 0, "LRN"),
    (conv, 0, "Conv ConvInteger DeformConv QLinearConv"), (conv_transpose, 0, "ConvTranspose"),
    (gemm, 0, "Gemm"), (matmul, 0, "MatMul MatMulInteger QLinearMatMul"), (einsum, 0, "Einsum"),
    (attention, 0, "Attention"), (recurrent, 1, "RNN"), (recurrent, 3, "GRU"),
    (recurrent, 4, "LSTM"), (dft, 0, "DFT"), (stft, 0, "STFT")]
# ONNX Runtime's.
_RUNTIME = [
    (none, 0, "ReorderInput ReorderOutput"),
    (each_out, 1, "DequantizeLinear FastGelu Gelu QLinearAdd QLinearMul QLinearSigmoid "
                  "QuantizeLinear QuickGelu"),
    (each_out, 2, "BiasGelu"), (each_out, 3, "RotaryEmbedding"),
    (each_out, 4, "SimplifiedLayerNormalization"),
    (each_out, 5, "SkipSimplifiedLayerNormalization"), (each_out, 6, "SkipLayerNormalization"),
    (conv, 0, "FusedConv"), (gemm, 0, "FusedGemm QGemm"),
    (matmul, 0, "FusedMatMul MatMulIntegerToFloat MatMulNBits"),
    (attention, 0, "Attention GroupQueryAttention MultiHeadAttention")]


def _by_name(rows):
    return {name: (formula, factor) for formula, factor, names in rows for name in names.split()}


ONNX, RUNTIME = _by_name(_ONNX), _by_name(_RUNTIME)


def find(domain, kind):
    """((formula, factor), whether it is ONNX's); (None, ...) for one that nobody knows."""
    if domain in ("", "ai.onnx"):
        return ONNX.get(kind), True
    if domain == "com.microsoft":
        return RUNTIME.get(kind), False
    if domain == "com.microsoft.nchwc":
        # ONNX's with channels in blocks: the shapes are those of whole channels.
        return RUNTIME.get(kind) or ONNX.get(kind), False
    return None, False
