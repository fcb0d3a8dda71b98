# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models, written by the standard library alone, and what `cost` says of them."""
import json
import os
import struct
import subprocess
import sys
import tempfile

# What `cost` counts with, where ./dev has put it.
PACKAGES = os.path.expanduser("~/.cache/pprof/onnx-1.23.2")
os.environ["PYTHONPATH"] = PACKAGES

HERE = os.path.dirname(os.path.realpath(__file__))
COLUMNS = ("name operator domain module output type shape reason times parameters parameter_bytes "
           "macs elementwise_flops input_bytes weight_bytes output_bytes").split()

F32, UINT8, INT8, INT32, INT64, BOOL, F16 = 1, 2, 3, 6, 7, 9, 10


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def part(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, values=None, kind=F32):
    """One with values, or one whose values the file leaves out."""
    out = b"".join(number(1, dim) for dim in dims) + number(2, kind) + part(8, name)
    if values is not None:
        form = {F32: "f", INT64: "q", INT32: "i", BOOL: "?", INT8: "b", UINT8: "B"}[kind]
        out += part(9, struct.pack("<%d%s" % (len(values), form), *values))
    return out


def ints(name, values):
    """A list of whole numbers, as shapes and axes are."""
    return tensor(name, [len(values)], values, INT64)


def attribute(name, value):
    out = part(1, name)
    if isinstance(value, float):
        return out + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, int):
        return out + number(3, value) + number(20, 2)
    if isinstance(value, str):
        return out + part(4, value) + number(20, 3)
    if isinstance(value, Graph):
        return out + part(6, value.data) + number(20, 5)
    if isinstance(value, bytes):
        return out + part(5, value) + number(20, 4)
    return out + b"".join(number(8, one) for one in value) + number(20, 7)


def node(kind, inputs, outputs, name="", domain="", **attributes):
    out = b"".join(part(1, one) for one in inputs.split(",")) if inputs else b""
    out += b"".join(part(2, one) for one in outputs.split(","))
    out += part(3, name) + part(4, kind)
    out += b"".join(part(5, attribute(*pair)) for pair in attributes.items())
    return out + (part(7, domain) if domain else b"")


def info(name, dims, kind=F32):
    """`dims`: numbers, names, or None for one without either; None: no shape."""
    said = b"".join(part(1, b"" if dim is None else
                         part(2, dim) if isinstance(dim, str) else number(1, dim))
                    for dim in dims or [])
    shape = b"" if dims is None else part(2, said)
    return part(1, name) + part(2, part(1, number(1, kind) + shape))


class Graph:
    def __init__(self, nodes, inputs=(), outputs="", weights=()):
        self.data = b"".join(part(1, one) for one in nodes) + part(2, "g")
        self.data += b"".join(part(5, one) for one in weights)
        self.data += b"".join(part(11, one) for one in inputs)
        self.data += b"".join(part(12, part(1, one)) for one in outputs.split(",") if one)


def function(name, inputs, outputs, nodes, domain="own"):
    return (part(1, name) + b"".join(part(4, one) for one in inputs.split(",")) +
            b"".join(part(5, one) for one in outputs.split(",")) +
            b"".join(part(7, one) for one in nodes) + part(9, number(2, 18)) + part(10, domain))


def model(graph, opset=18, functions=()):
    return (number(1, 8) + part(7, graph.data) + part(8, number(2, opset)) +
            part(8, part(1, "com.microsoft") + number(2, 1)) +
            part(8, part(1, "own") + number(2, 1)) + b"".join(part(25, one) for one in functions))


def run(tool, data, *options, **variables):
    with tempfile.NamedTemporaryFile(suffix=".onnx", dir=os.environ.get("TEST_TMPDIR")) as file:
        file.write(data)
        file.flush()
        return subprocess.run([tool, "cost", *options, file.name], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **variables})


def rows(data, dims=""):
    """The rows of the nodes as pprof._model counts them, in this process."""
    if PACKAGES not in sys.path:
        os.environ["PPROF_ENABLE"] = "0"
        sys.path[:0] = [os.path.join(HERE, "..", "..", "python"), PACKAGES]
    from pprof._model import __main__
    with tempfile.NamedTemporaryFile(suffix=".onnx", dir=os.environ.get("TEST_TMPDIR")) as file:
        file.write(data)
        file.flush()
        lines = list(__main__.lines(file.name, dims))
    if lines[-1] != ("end",):
        raise AssertionError(lines[-1])
    out = []
    for line in lines[:-1]:
        row = dict(zip(COLUMNS, line))
        for name in COLUMNS[COLUMNS.index("times"):]:
            row[name] = None if row[name] in ("?", "-1") else int(row[name])
        row["reason"] = row["reason"] or None
        is_known = None not in (row["macs"], row["elementwise_flops"])
        row["flops"] = 2 * row["macs"] + row["elementwise_flops"] if is_known else None
        out.append(row)
    return out


def told(tool, data, *options):
    """What the JSON says: {"totals": ..., "rows": [{column: value}], "notes": ...}."""
    done = run(tool, data, "-f", "json", *options)
    if done.returncode:
        raise AssertionError("%d: %s" % (done.returncode, done.stderr))
    out = json.loads(done.stdout)
    names = [column["name"] for column in out["columns"]]
    out["rows"] = [dict(zip(names, row)) for row in out["rows"]]
    return out
