# SPDX-License-Identifier: Apache-2.0
"""What an operator's outputs look like: by ONNX's own inference, node by node, in which each unknown
size has a name of its own, so that its reason comes through; by rules of ours for what ONNX lacks:
targets of which some sizes are unknown, and the operators of ONNX Runtime."""
import numpy
import onnx
from onnx import checker, defs, helper, numpy_helper, shape_inference

from .fold import fold
from .values import (BOOL, F32, INT64, MOST_VALUES, TYPES, Tensor, UINT8, Unknown, add, constant,
                     divide, is_known, listed, product)

MOST_RANK = 32
MOST_NUMBER = (1 << 31) - 1  # of an attribute: what is larger ONNX cuts


class Unfit(Exception):
    """The inputs do not fit the operator."""


def axis_of(axis, rank):
    if not -rank <= axis < rank:
        raise Unfit
    return axis % rank


# ---- lists of whole numbers that an input holds ----

def sizes_of(op, at):
    """A list, each of which may be Unknown; or an Unknown, where their number is."""
    tensor = op.input(at)
    if tensor is None:
        raise Unfit
    if tensor.values is not None:
        return [int(one) if is_known(one) else one for one in tensor.values.reshape(-1).tolist()]
    number = tensor.elements()
    if not is_known(number):
        return number
    if number > MOST_RANK:
        raise Unfit
    return [op.by_data()] * number


def number_of(op, at):
    """The one number that an input is."""
    sizes = sizes_of(op, at)
    return sizes if not is_known(sizes) else sizes[0] if len(sizes) == 1 else op.by_data()


# ---- rules ----

def put(op, dims, at=0, kind=None):
    if at >= len(op.outputs):
        return
    out = op.outputs[at]
    if not is_known(dims):
        out.dims, out.cause = None, dims
    else:
        out.dims = list(dims)
    first = op.input(0)
    out.type = kind or out.type or (first.type if first else 0)


def _needs(op, number):
    """True where the first inputs have a rank each; the outputs have the reason otherwise."""
    for at in range(number):
        tensor = op.input(at)
        if tensor is None:
            raise Unfit
        if tensor.dims is None:
            op.forget(tensor.cause)
            return False
    return True


def _constant(op):
    for name, value in op.attributes.items():
        if name == "value":
            made = constant(value.t, op.folder)
            op.outputs[0].__init__(made.type, made.dims, values=made.values)
        elif name == "sparse_value":
            put(op, value.sparse_tensor.dims, kind=value.sparse_tensor.values.data_type)
        elif name in ("value_int", "value_ints", "value_float", "value_floats"):
            value = helper.get_attribute_value(value)
            is_list = name.endswith("s")
            put(op, [len(value)] if is_list else [], kind=F32 if "float" in name else INT64)
            values = list(value) if is_list else [value]
            if len(values) <= MOST_VALUES:
                op.outputs[0].values = listed(values, op.outputs[0].dims)


def _constant_of_shape(op):
    sizes = sizes_of(op, 0)
    value = op.attributes.get("value")
    filler = constant(value.t, op.folder) if value is not None else Tensor(F32, [1])
    first = 0.0 if value is None else filler.values.reshape(-1)[0] if filler.values is not None \
        else None
    put(op, sizes, kind=filler.type)
    number = op.outputs[0].elements()
    if first is not None and is_known(number) and number <= MOST_VALUES:
        op.outputs[0].values = listed([first] * number, op.outputs[0].dims)


def _reshape(op):
    if not _needs(op, 1):
        return
    sizes, data = sizes_of(op, 1), op.inputs[0]
    if not is_known(sizes):
        op.forget(sizes)
        return
    if not op.attribute("allowzero", 0):
        sizes = [data.dims[i] if is_known(size) and size == 0 and i < len(data.dims) else size
                 for i, size in enumerate(sizes)]
    rest = [i for i, size in enumerate(sizes) if is_known(size) and size == -1]
    sizes = [op.unfit() if is_known(size) and size < 0 else size for size in sizes]
    if rest:
        others = product(*(size for i, size in enumerate(sizes) if i != rest[0]))
        every = data.elements()
        if not is_known(every) or not is_known(others):
            sizes[rest[0]] = every if not is_known(every) else others
        elif others > 0 and every % others == 0:
            sizes[rest[0]] = every // others
        else:
            sizes[rest[0]] = 0 if every == 0 else op.unfit()
    put(op, sizes)


def wider(one, other):
    if is_known(one) and one == 1:
        return other
    if is_known(other) and other == 1 or not is_known(other):
        return one
    if is_known(one) and one != other:
        raise Unfit
    return other  # what is larger than one decides


def broadcast(one, other):
    rank = max(len(one), len(other))
    return [wider(*pair) for pair in zip([1] * (rank - len(one)) + list(one),
                                         [1] * (rank - len(other)) + list(other))]


def _expand(op):
    if _needs(op, 1):
        sizes = sizes_of(op, 1)
        put(op, broadcast(op.inputs[0].dims, sizes) if is_known(sizes) else sizes)


def indices_of(op):
    """({letter: size}, sizes of "...") of an Einsum."""
    sizes, hidden = {}, []
    terms = op.attribute("equation", "").replace(" ", "").split("->")[0].split(",")
    if len(terms) != len(op.inputs):
        raise Unfit
    for term, tensor in zip(terms, op.inputs):
        if tensor is None or tensor.dims is None:
            raise Unfit
        front, dots, back = term.partition("...")
        dims, num = tensor.dims, len(front) + len(back)
        if num > len(dims) or not dots and num != len(dims):
            raise Unfit
        end = len(dims) - len(back)
        hidden = broadcast(hidden, dims[len(front):end])
        for letter, size in zip(front + back, dims[:len(front)] + dims[end:]):
            old = sizes.get(letter, 1)
            sizes[letter] = size if not is_known(old) or old == 1 and is_known(size) \
                or letter not in sizes else old
    return sizes, hidden


def _einsum(op):
    if not _needs(op, len(op.inputs)):
        return
    sizes, hidden = indices_of(op)
    terms, arrow, result = op.attribute("equation", "").replace(" ", "").partition("->")
    if not arrow:  # the letters that are there once, in their order
        result = "..." * ("." in terms) + "".join(
            letter for letter in sorted(sizes) if terms.count(letter) == 1)
    front, dots, back = result.partition("...")
    put(op, [sizes[one] for one in front] + (hidden if dots else []) + [sizes[one] for one in back])


def _shape(op):
    if not _needs(op, 1):
        return
    dims = op.inputs[0].dims[slice(op.attribute("start", 0), op.attribute("end"))]
    put(op, [len(dims)], kind=INT64)
    op.outputs[0].values = listed(dims, (len(dims),))


def _size(op):
    put(op, [], kind=INT64)
    op.outputs[0].values = listed([op.inputs[0].elements()], ())


def _non_zero(op):
    if not _needs(op, 1):
        return
    values, number = op.inputs[0].values, op.by_data()
    # Those of a constant, as exporters make of masks.
    if values is not None and all(map(is_known, values.reshape(-1).tolist())):
        number = int(numpy.count_nonzero(values.astype(bool)))
    put(op, [len(op.inputs[0].dims), number], kind=INT64)


def _length(op):
    put(op, [], kind=INT64)
    items = op.inputs[0].items
    op.outputs[0].values = listed([op.by_data() if items is None else items], ())


def _has_element(op):
    put(op, [], kind=BOOL)


def _copy(op):
    """Copies an input; an optional is its contents."""
    first, out = op.input(0), op.outputs[0]
    if first is None:
        op.forget(op.by_data())
        return
    put(op, first.cause if first.dims is None else first.dims)
    out.values, out.items = first.values, first.items


def _same(op):
    first = op.input(0)
    for at in (0, 3):
        if at < len(op.outputs):
            put(op, first.cause if first.dims is None else first.dims, at)


def _unpool(op):
    if op.input(2) is None:
        _infer(op, op.kind, op.opset, None)
    elif _needs(op, 1):
        put(op, sizes_of(op, 2))


def _reorder(op):
    """ONNX Runtime's channels in blocks, and back: between them the channels are whole, axis 1."""
    dims, channels = list(op.inputs[0].dims or []), op.attribute("channels", 0)
    if len(dims) < 2:
        raise Unfit
    if op.attribute("channels_last", 0):
        dims = [dims[0], *dims[2:], channels] if channels else [dims[0], dims[-1], *dims[1:-1]]
    elif channels:
        dims[1] = channels
    put(op, dims)


def _fused_matmul(op):
    if not _needs(op, 2):
        return
    one, other = (list(tensor.dims) for tensor in op.inputs[:2])
    if op.attribute("transA", 0) and len(one) > 1:
        one[-2:] = one[:-3:-1]
    if op.attribute("transB", 0) and len(other) > 1:
        other[-2:] = other[:-3:-1]
    if not one or not other:
        raise Unfit
    put(op, broadcast(one[:-2], other[:-2]) + one[-2:-1] + (other[-1:] if len(other) > 1 else []))


def _few_bits(op):
    if _needs(op, 1):
        put(op, [*op.inputs[0].dims[:-1], op.attribute("N", 0)])


# ---- attention ----

class Attention:
    """The sizes of ONNX's and of ONNX Runtime's. Raises Unfit."""
    past = projected = input_size = 0

    def __init__(self, op):
        self.op = op
        if op.input(0) is None or op.input(0).dims is None:
            raise Unfit
        read = (self._grouped if op.kind == "GroupQueryAttention" else
                self._separate if op.kind != "Attention" else
                self._joined if op.domain else self._onnx)
        read(len(op.input(0).dims))
        self.total = add(self.keys, self.past)

    def _dim(self, at, axis):
        tensor = self.op.input(at)
        return tensor.dim(axis, self.op.unfit()) if tensor is not None else self.op.unfit()

    def _heads(self, name, fallback=None):
        return self.op.attribute(name, 0) or (self.op.unfit() if fallback is None else fallback)

    def _put(self, rank, length=1):
        if rank != 3 and rank != length + 2:
            raise Unfit
        self.batch, self.queries = self._dim(0, 0), self._dim(0, length)

    def _onnx(self, rank):
        """Of rank 4 (B, H, L, D), or of rank 3 (B, L, H*D)."""
        is_split = rank == 4
        length = 2 if is_split else 1
        self._put(rank, length)
        self.keys = self._dim(1, length)
        self.heads = self._dim(0, 1) if is_split else self._heads("q_num_heads")
        self.key_heads = self._dim(1, 1) if is_split else self._heads("kv_num_heads", self.heads)
        self.size, self.value_size = self._dim(0, -1), self._dim(2, -1)
        if not is_split:
            self.size = divide(self.size, self.heads)
            self.value_size = divide(self.value_size, self.key_heads)
        self.past = self._dim(4, 2) if self.op.input(4) else 0

    def _joined(self, rank):
        """One input that its weights make query, key and value of."""
        self._put(rank)
        self.keys = self.queries
        self.heads = self.key_heads = self._heads("num_heads")
        self.projected, self.input_size = self._dim(1, 1), self._dim(0, 2)
        sizes = self.op.attribute("qkv_hidden_sizes") or [divide(self.projected, 3)] * 3
        self.size, self.value_size = divide(sizes[0], self.heads), divide(sizes[2], self.heads)
        cache = self.op.input(4)
        self.past = self._dim(4, 3) if cache is not None and cache.dims is not None else 0

    def _separate(self, rank):
        """Query, key and value, or all three in the first."""
        self.batch, self.queries = self._dim(0, 0), self._dim(0, 1)
        self.heads = self.key_heads = self._heads("num_heads")
        self.past = self._dim(6, 2) if self.op.input(6) else 0
        if rank == 5:
            self.keys, self.size = self.queries, self._dim(0, 4)
            self.value_size = self.size
            return
        self._put(rank)
        self.size = divide(self._dim(0, 2), self.heads)
        key = self.op.input(1)
        key_rank = len(key.dims) if key is not None and key.dims is not None else -1
        self.keys = self._dim(1, 2 if key_rank == 4 else 1)
        self.value_size = (self.size if key_rank == 5 else self._dim(2, 3) if key_rank == 4 else
                           divide(self._dim(2, 2), self.heads))

    def _grouped(self, rank):
        self._put(rank)
        self.keys = self.queries
        self.heads = self._heads("num_heads")
        self.key_heads = self._heads("kv_num_heads", self.heads)
        parts = self.heads if self.op.input(1) else add(self.heads, self.key_heads, self.key_heads)
        self.size = self.value_size = divide(self._dim(0, 2), parts)
        self.past = self._dim(3, 2) if self.op.input(3) else 0


def _attention(op):
    if not _needs(op, 1):
        return
    sizes = Attention(op)
    put(op, [sizes.batch, sizes.queries, product(sizes.heads, sizes.value_size)])
    cache = [sizes.batch, sizes.key_heads, sizes.total]
    # The contributed Attention has key and value of its cache in one tensor.
    if op.kind == "Attention":
        put(op, [2, *cache, sizes.size], 1)
    else:
        put(op, [*cache, sizes.size], 1)
        put(op, [*cache, sizes.value_size], 2)


# ---- ONNX's ----

_RULES = {"Compress": ("Compress", None), "Constant": _constant,
          "ConstantOfShape": _constant_of_shape, "Einsum": _einsum, "Expand": _expand,
          "GreaterOrEqual": ("Greater", None), "GroupNormalization": _same, "Identity": _copy,
          "LessOrEqual": ("Less", None), "MaxUnpool": _unpool, "MeanVarianceNormalization": _same,
          "NonZero": _non_zero, "Optional": _copy, "OptionalGetElement": _copy,
          "OptionalHasElement": _has_element, "Reshape": _reshape, "SequenceLength": _length,
          "Shape": _shape, "SimplifiedLayerNormalization": _same, "Size": _size}
# Of ONNX Runtime's: a rule, or the operator of ONNX that it is a twin of, with the inputs that are.
_TWINS = {"Attention": _attention, "BiasGelu": _same, "DequantizeLinear": ("DequantizeLinear", None),
          "FastGelu": _same, "FusedConv": ("Conv", [0, 1, 2]), "FusedGemm": ("Gemm", [0, 1, 2]),
          "FusedMatMul": _fused_matmul, "Gelu": _same, "GroupQueryAttention": _attention,
          "MatMulIntegerToFloat": ("MatMulInteger", [0, 1]), "MatMulNBits": _few_bits,
          "MultiHeadAttention": _attention, "QGemm": ("Gemm", [0, 3]),
          "QLinearAdd": ("Add", [0, 3]), "QLinearMul": ("Mul", [0, 3]), "QLinearSigmoid": _same,
          "QuantizeLinear": ("QuantizeLinear", None), "QuickGelu": _same, "ReorderInput": _reorder,
          "ReorderOutput": _reorder, "RotaryEmbedding": _same,
          "SimplifiedLayerNormalization": _same, "SkipLayerNormalization": _same,
          "SkipSimplifiedLayerNormalization": _same}
_TWINS_OPSET = 13


def _described(tensor, names):
    """The type of a tensor, its unknown sizes by names."""
    def named(dim):
        if is_known(dim):
            return dim
        name = "?%d" % len(names)
        names[name] = dim
        return name
    dims = None if tensor.dims is None else [named(dim) for dim in tensor.dims]
    out = helper.make_tensor_type_proto(tensor.type if tensor.type in TYPES else F32, dims)
    return out if tensor.items is None else helper.make_sequence_type_proto(out)


def _data_of(tensor):
    """Its values, where ONNX can represent them."""
    if tensor.values is None or tensor.items is not None:
        return None
    try:
        kind = helper.tensor_dtype_to_np_dtype(tensor.type)
        return numpy_helper.from_array(tensor.values.astype(kind))
    except (KeyError, OverflowError, TypeError, ValueError):
        return None  # one is unknown


def _first_unknown(op):
    """The reason of an unknown size that no input has: from sizes, then from values."""
    for tensor in op.inputs:
        if tensor is not None:
            for dim in [tensor.cause] if tensor.dims is None else tensor.dims:
                if not is_known(dim):
                    return dim
    for tensor in op.inputs:
        if tensor is not None and tensor.values is not None:
            for value in tensor.values.reshape(-1).tolist():
                if not is_known(value):
                    return value
    return op.by_data()


def _take(op, out, kind, names):
    """Reads an output as inference describes it."""
    while not kind.HasField("tensor_type") and kind.WhichOneof("value"):
        if kind.HasField("sequence_type"):
            out.items = op.by_data()
        kind = getattr(kind, kind.WhichOneof("value")).elem_type
    tensor = kind.tensor_type
    out.type = tensor.elem_type
    if not tensor.HasField("shape"):
        out.cause = _first_unknown(op)
        return
    out.dims = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            size = dim.dim_value if dim.dim_value >= 0 else op.unfit()
        else:
            size = names.get(dim.dim_param) or _first_unknown(op)
        out.dims.append(size)


def _infer(op, kind, opset, places):
    try:
        schema = defs.get_schema(kind, max(min(opset, MOST_NUMBER), 0), "")
    except (defs.SchemaError, TypeError):  # a name that is not UTF-8
        op.forget(Unknown("operator", op.kind))
        return
    inputs = op.inputs if places is None else [op.input(place) for place in places]
    names, types, data = {}, {}, {}
    node = onnx.NodeProto(op_type=kind)
    for i, tensor in enumerate(inputs):
        node.input.append("" if tensor is None else "i%d" % i)
        if tensor is None:
            continue
        types["i%d" % i] = _described(tensor, names)
        values = _data_of(tensor)
        if values is not None:
            data["i%d" % i] = values
    node.output.extend("o%d" % i for i in range(len(op.outputs)))
    node.attribute.extend(one for name, one in op.attributes.items() if name in schema.attributes)
    # Some inference has defaults of its own.
    node.attribute.extend(one.default_value for name, one in schema.attributes.items()
                          if name not in op.attributes and one.default_value.name)
    if any(abs(one.i) > MOST_NUMBER for one in op.attributes.values()):
        raise Unfit
    try:
        made = shape_inference.infer_node_outputs(
            schema, node, types, data, opset_imports=[helper.make_opsetid("", opset)])
    except (shape_inference.InferenceError, ValueError):
        raise Unfit from None
    except checker.ValidationError:
        made = {}  # a type that nobody knows may be none that it takes
    for i, out in enumerate(op.outputs):
        if "o%d" % i in made:
            _take(op, out, made["o%d" % i], names)
        else:
            out.cause = _first_unknown(op)


def _count_items(op):
    """The number of elements of a sequence."""
    first, out = op.input(0), op.outputs[0]
    if op.kind == "SequenceConstruct":
        out.items = len(op.inputs)
    elif first.items is not None and op.kind in ("SequenceInsert", "SequenceErase"):
        out.items = add(first.items, 1 if op.kind == "SequenceInsert" else -1)
    elif out.dims is None or first.dims is None:
        return
    elif op.kind == "ConcatFromSequence":
        axis = axis_of(op.attribute("axis", 0), len(out.dims))
        is_new = op.attribute("new_axis", 0)
        out.dims[axis] = first.items if is_new else product(first.dims[axis], first.items)
    elif op.kind == "SplitToSequence":
        whole = first.dims[axis_of(op.attribute("axis", 0), len(first.dims))]
        sizes = [1] if op.input(1) is None else sizes_of(op, 1)
        if is_known(sizes) and op.input(1) is not None and op.inputs[1].dims:
            out.items = len(sizes)
        elif is_known(sizes) and is_known(whole) and is_known(sizes[0]) and sizes[0] > 0:
            out.items = -(-whole // sizes[0])


def _retype(op):
    """Corrects types that the inference by a twin does not know."""
    out, scale, zero = op.outputs[0], op.input(2), op.input(8)
    if op.kind == "MatMulIntegerToFloat":
        out.type = scale.type if scale is not None else F32
    elif op.kind == "QGemm":
        out.type = zero.type if zero is not None else F32
    elif op.kind == "DequantizeLinear":
        out.stored = op.inputs[0].type
    elif op.kind == "QuantizeLinear" and not out.type:
        out.type = UINT8


def infer(op, is_onnx):
    """Fills the outputs of an operator of ONNX, or of ONNX Runtime."""
    if not op.outputs:
        return
    rule = _RULES.get(op.kind) if is_onnx else _TWINS.get(op.kind, (op.kind, None))
    try:
        if callable(rule):
            rule(op)
        elif rule is None:
            _infer(op, op.kind, op.opset, None)
        else:
            _infer(op, rule[0], _TWINS_OPSET, rule[1])
        if op.inputs and op.inputs[0] is not None:
            _retype(op)
            _count_items(op)
    except (AttributeError, IndexError, KeyError, Unfit):  # an input is not there
        op.forget(op.unfit())
    for out in op.outputs:
        if out.dims is not None and len(out.dims) > MOST_RANK:
            out.dims, out.cause = None, op.unfit()
        if not out.type and op.input(0) is not None:
            out.type = op.input(0).type
    fold(op)
