# SPDX-License-Identifier: Apache-2.0
"""Computes the arithmetic of shapes, as exporters write it, on small tensors."""
import functools
import math
import operator

import numpy

from .values import BOOL, MOST_VALUES, TYPES, Unknown, bounded, is_known, listed


def _divided(a, b):
    if isinstance(a, float):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # towards zero


_TWO = {"Add": operator.add, "Sum": operator.add, "Sub": operator.sub, "Mul": operator.mul,
        "Div": _divided, "Mod": lambda a, b: math.fmod(a, b) if isinstance(a, float) else a % b,
        "Pow": lambda a, b: a ** b if isinstance(a, float) or 0 <= b <= 64 else None, "Min": min,
        "Max": max, "Equal": operator.eq, "Greater": operator.gt, "Less": operator.lt,
        "GreaterOrEqual": operator.ge, "LessOrEqual": operator.le,
        "And": lambda a, b: bool(a and b), "Or": lambda a, b: bool(a or b),
        "Xor": lambda a, b: bool(a) != bool(b)}
_ONE = {"Floor": math.floor, "Ceil": math.ceil, "Sqrt": math.sqrt, "Round": round, "Exp": math.exp,
        "Log": math.log, "Abs": abs, "Neg": operator.neg, "Reciprocal": lambda a: 1 / a,
        "Not": operator.not_}
_ALL = {"ReduceProd": "Mul", "ReduceSum": "Add", "ReduceMax": "Max", "ReduceMin": "Min"}
_VIEWS = ("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity")


def _number(values, out):
    """What a function has made of numbers, of the first one's kind; None: nothing."""
    if out is None or isinstance(out, bool):
        return Unknown("overflow") if out is None else out
    return float(out) if isinstance(values[0], float) else bounded(out)


def _each(function, finish=_number):
    """The function of numbers as one of arrays, of which any may be unknown."""
    def one(*values):
        for value in values:
            if not is_known(value):
                return value
        try:
            return finish(values, function(*values))
        except (ArithmeticError, ValueError):
            return Unknown("overflow")
    return lambda *arrays: numpy.frompyfunc(one, len(arrays), 1)(*arrays)


def _cast(kind, data):
    is_float = TYPES.get(kind, ("",))[0] in ("f32", "f64", "f16", "bf16")
    make = bool if kind == BOOL else float if is_float else int
    return _each(make, lambda _, out: out)(data)


def whole(array):
    """A flat list of whole numbers. Raises TypeError where one is unknown."""
    return [int(value) for value in array.reshape(-1).tolist()]


def _slice(op, data, *lists):
    lists = [None if one is None else whole(one) for one in lists] + [None] * 4
    starts = op.attribute("starts") or lists[0]
    ends = op.attribute("ends") or lists[1]
    axes = op.attribute("axes") or lists[2] or range(len(starts))
    at = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, lists[3] or [1] * len(starts)):
        is_before = step < 0 and end < -data.shape[axis]
        at[axis] = slice(start, None if is_before else end, step)
    return data[tuple(at)]


def _split(op, data, *_):
    axis = op.attribute("axis", 0)
    ends = numpy.cumsum([out.dims[axis] for out in op.outputs])[:-1]
    for out, part in zip(op.outputs, numpy.split(data, ends, axis)):
        out.values = part
    return op.outputs[0].values


def _range(op, start, _, step):
    number = op.outputs[0].dims[0]
    return listed([start.item() + i * step.item() for i in range(number)], (number,))


def _gather(op, data, indices):
    return numpy.take(data, numpy.array(whole(indices)).reshape(indices.shape).astype(int),
                      op.attribute("axis", 0))


def _reduce(op, data, *_):
    if op.outputs[0].elements() != 1 or not data.size:
        return None
    return functools.reduce(_each(_TWO[_ALL[op.kind]]), data.reshape(-1).tolist())


_MAKERS = {
    "Cast": lambda op, data: _cast(op.outputs[0].type, data),
    "CastLike": lambda op, data, _: _cast(op.outputs[0].type, data),
    "Concat": lambda op, *arrays: numpy.concatenate(arrays, op.attribute("axis", 0)),
    "Expand": lambda op, data, _: numpy.broadcast_to(data, op.outputs[0].dims),
    "Gather": _gather, "Slice": _slice, "Split": _split, "Range": _range,
    "Transpose": lambda op, data: data.transpose(op.attribute("perm")),
    "Where": lambda _, test, yes, no: numpy.frompyfunc(
        lambda test, yes, no: test if not is_known(test) else yes if test else no, 3, 1)(
            test, yes, no),
    **{kind: lambda op, data, *_: data.reshape(op.outputs[0].dims) for kind in _VIEWS},
    **{kind: _reduce for kind in _ALL},
    **{kind: lambda op, *arrays: functools.reduce(_each(_TWO[op.kind]), arrays) for kind in _TWO},
    **{kind: lambda op, data: _each(_ONE[op.kind])(data) for kind in _ONE}}


def fold(op):
    """Gives the first output its values, where the inputs have theirs and they are few."""
    out = op.outputs[0] if op.outputs else None
    if op.kind not in _MAKERS or out is None or out.values is not None or out.items is not None:
        return
    number = out.elements()
    given = [tensor for tensor in op.inputs if tensor is not None]
    if not is_known(number) or number > MOST_VALUES or not given:
        return
    if any(tensor.values is None for tensor in given):
        return
    try:
        made = _MAKERS[op.kind](op, *(tensor and tensor.values for tensor in op.inputs))
        if made is not None and numpy.size(made) == number:
            values = numpy.empty(out.dims, dtype=object)
            values[...] = made
            out.values = values
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError):
        pass  # what does not fit has no values
