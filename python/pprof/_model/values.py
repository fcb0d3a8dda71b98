# SPDX-License-Identifier: Apache-2.0
"""The facts known of tensors before a model runs. An unknown number is an Unknown, with the reason;
values of small tensors are arrays of Python's numbers and Unknowns."""
import numpy
from onnx import external_data_helper, numpy_helper

LARGEST = (1 << 63) - 1
MOST_VALUES = 1024

# By ONNX's numbers of types: the name, and bits of an element.
TYPES = {1: ("f32", 32), 2: ("uint8", 8), 3: ("int8", 8), 4: ("uint16", 16), 5: ("int16", 16),
         6: ("int32", 32), 7: ("int64", 64), 8: ("text", 0), 9: ("bool", 8), 10: ("f16", 16),
         11: ("f64", 64), 12: ("uint32", 32), 13: ("uint64", 64), 14: ("complex64", 64),
         15: ("complex128", 128), 16: ("bf16", 16), 17: ("fp8", 8), 18: ("fp8", 8), 19: ("fp8", 8),
         20: ("fp8", 8), 21: ("uint4", 4), 22: ("int4", 4), 23: ("fp4", 4), 24: ("fp8", 8),
         25: ("uint2", 2), 26: ("int2", 2)}
F32, UINT8, INT8, INT32, INT64, BOOL, INT4 = 1, 2, 3, 6, 7, 9, 22

REASONS = {
    "dim": "the size of '%(name)s' is open: --dim %(name)s=N sets it",
    "data": "the size of '%(name)s' depends on values: --dim %(name)s:AXIS=N sets it",
    "operator": "nobody has told what the operator '%(name)s' computes",
    "invalid": "the sizes of its inputs do not fit '%(name)s'",
    "input": "the model does not say the shape of '%(name)s'",
    "overflow": "a size is above 2^63"}


class Unknown:
    __slots__ = ("kind", "name")

    def __init__(self, kind, name=""):
        self.kind, self.name = kind, name

    def __str__(self):
        return REASONS[self.kind] % {"name": self.name}


def is_known(value):
    return not isinstance(value, Unknown)


def bounded(value):
    return value if -LARGEST - 1 <= value <= LARGEST else Unknown("overflow")


def add(*values):
    return next((value for value in values if not is_known(value)), None) or bounded(sum(values))


def product(*values):
    """The product; 0 times an unknown number is 0."""
    out = 1
    if any(is_known(value) and value == 0 for value in values):
        return 0
    for value in values:
        if not is_known(value):
            return value
        out = bounded(out * value)
        if not is_known(out):
            return out
    return out


def divide(value, by):
    if not is_known(by) or not is_known(value):
        return value if is_known(by) else by
    return value // by if by > 0 else Unknown("overflow")


class Tensor:
    """`dims` is None where nothing is known of the shape; `cause` then says why. `items` is the
    number of a sequence's elements, which the rest describes: None where it is none."""
    __slots__ = ("type", "dims", "cause", "values", "is_weight", "was_used", "stored", "items")

    def __init__(self, kind=0, dims=None, cause=None, values=None):
        self.type, self.dims, self.cause, self.values = kind, dims, cause, values
        self.is_weight = self.was_used = False
        self.stored = 0  # the type that a DequantizeLinear made it of
        self.items = None

    def copy(self, is_weight=False):
        out = Tensor(self.type, self.dims, self.cause, self.values)
        out.stored, out.items, out.is_weight = self.stored, self.items, is_weight
        return out

    def elements(self):
        if self.dims is None:
            return self.cause
        return product(*self.dims, *(() if self.items is None else (self.items,)))

    def bytes(self):
        number, bits = self.elements(), TYPES.get(self.type, ("?", 0))[1]
        return bounded(-(-number * bits // 8)) if is_known(number) else number

    def dim(self, axis, unfit):
        """The size of an axis; `unfit` where there is none."""
        if self.dims is None:
            return self.cause
        return self.dims[axis] if -len(self.dims) <= axis < len(self.dims) else unfit


def listed(values, shape):
    """An array of these, of any kind each."""
    out = numpy.empty(len(values), dtype=object)
    out[:] = values
    return out.reshape(shape)


def plain(array):
    """An array of Python's own numbers."""
    if array.dtype.kind not in "biuf":
        array = array.astype(numpy.float64)
    return listed(array.reshape(-1).tolist(), array.shape)


def constant(proto, folder):
    """The Tensor of a constant, with its values where they are few."""
    dims = [dim if dim >= 0 else Unknown("invalid", proto.name) for dim in proto.dims]
    out = Tensor(proto.data_type, dims)
    number = out.elements()
    if proto.data_type == 8 or not is_known(number) or number > MOST_VALUES:
        return out
    try:
        if external_data_helper.uses_external_data(proto):
            proto = type(proto).FromString(proto.SerializeToString())
            external_data_helper.load_external_data_for_tensor(proto, folder)
        out.values = plain(numpy_helper.to_array(proto))
    except Exception:  # a missing or different file: it has no values
        pass
    return out
