# SPDX-License-Identifier: Apache-2.0
"""Reads an ONNX file without its weights: no more than the structure is in memory."""
import mmap
import os
import stat

import onnx
from google.protobuf.message import DecodeError

SMALL = 8192          # bytes of a tensor's values that are kept: shapes, axes and the like
MOST = 256 << 20      # bytes of all that is kept
MOST_GRAPHS = 32      # inside each other

# Messages by the numbers of their fields; a tensor has none, and its long fields are left out.
_TENSOR = {}
_SPARSE = {1: _TENSOR, 2: _TENSOR}
_ATTRIBUTE = {5: _TENSOR, 22: _SPARSE}
_NODE = {5: _ATTRIBUTE}
_GRAPH = {1: _NODE, 5: _TENSOR, 15: _SPARSE}
_ATTRIBUTE[6] = _GRAPH
_MODEL = {7: _GRAPH, 25: {7: _NODE}}


class Refused(Exception):
    """An unusable model or option; `usage` says that it is the option."""

    def __init__(self, text, usage=False):
        super().__init__(text)
        self.usage = usage


def _varint(data, at, end):
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at
    raise Refused("byte %d: no ONNX model, or it is cut there" % at)


def _put_varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data, at, end):
    """(number, whether it has a length, start, start of the value, end) of each field."""
    while at < end:
        start = at
        tag, at = _varint(data, at, end)
        value, kind = at, tag & 7
        if kind == 0:
            _, at = _varint(data, at, end)
        elif kind == 2:
            size, value = _varint(data, at, end)
            at = value + size
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise Refused("byte %d: no ONNX model: a field of an unknown kind" % start)
        if at > end:
            raise Refused("byte %d: it is cut: field %d ends behind the file" % (start, tag >> 3))
        yield tag >> 3, kind == 2, start, value, at


class _Slim:
    def __init__(self, data):
        self.data, self.left = data, MOST

    def message(self, form, at, end, graphs=0):
        parts = []
        if graphs > MOST_GRAPHS:
            raise Refused("byte %d: more than %d graphs inside each other" % (at, MOST_GRAPHS))
        for number, has_length, start, value, stop in _fields(self.data, at, end):
            inner = form.get(number) if has_length else None
            if inner is not None and stop - start > SMALL:
                body = self.message(inner, value, stop, graphs + (inner is _GRAPH))
                parts.append(_put_varint(number << 3 | 2) + _put_varint(len(body)) + body)
            elif form is not _TENSOR or stop - start <= SMALL:
                self.left -= stop - start
                if self.left < 0:
                    raise Refused("more than %d MiB, even without weights" % (MOST >> 20))
                parts.append(self.data[start:stop])
        return b"".join(parts)


def _read(path):
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise Refused(error.strerror) from None
    try:
        info = os.fstat(number)
        if not stat.S_ISREG(info.st_mode):
            raise Refused("Is a directory" if stat.S_ISDIR(info.st_mode) else "is no regular file")
        if not info.st_size:
            raise Refused("it is empty")
        with mmap.mmap(number, 0, prot=mmap.PROT_READ) as data:
            return _Slim(data).message(_MODEL, 0, len(data))
    finally:
        os.close(number)


def load(path):
    """The model. Raises Refused."""
    data = _read(path)
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError:
        raise Refused("no ONNX model: a field of another kind, or a text that is not UTF-8") from None
    if not model.HasField("graph") or not model.opset_import:
        raise Refused("no ONNX model: it has no %s"
                      % ("opset_import" if model.HasField("graph") else "graph"))
    return model
