# SPDX-License-Identifier: Apache-2.0
"""python3 -m pprof._model MODEL DIMS [BY DEPTH TOP IS_FOR_PEOPLE STEP TRACE]: what pprof-report prints
of a model, as lines with tabs between words; without BY its totals. With TRACE the standard input has
the trace's ranges. The last line is "end", or "error" with a message."""
import os
import resource
import sys

MEMORY = 3 << 30


def _text(value):
    for old, new in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\0", "\\0")):
        value = value.replace(old, new)
    return value


def _put(*words):
    sys.stdout.write("\t".join(map(_text, words)) + "\n")


class Dims:
    """What --dim says: "batch=8,image:0=2"."""

    def __init__(self, text, refused):
        self._sizes, self._unused = {}, {}
        for one in text.split(",") if text else ():
            name, _, size = one.rpartition("=")
            if not name or not size.isascii() or not size.isdigit() or int(size) >= 1 << 63:
                raise refused("--dim: '%s' is no NAME=SIZE, such as batch=8" % one[:80], usage=True)
            tensor, _, axis = name.rpartition(":")
            is_axis = axis.isascii() and axis.isdigit() and int(axis) < 32 and ":" in name
            key = (tensor, int(axis)) if is_axis else (name, None)
            self._sizes.setdefault(key, int(size))
            self._unused[key] = True

    def find(self, name, axis):
        self._unused.pop((name, axis), None)
        return self._sizes.get((name, axis))

    def axes(self, name):
        return {axis: size for (tensor, axis), size in self._sizes.items()
                if tensor == name and axis is not None} if self._sizes else {}

    def unused(self):
        return next((name for name, _ in self._unused), None)


def _words(row, types):
    node = row.node
    dims = "?" if row.dims is None else "[%s]" % ",".join(
        str(dim) if isinstance(dim, int) else "?" for dim in row.dims)
    numbers = (row.times, row.parameters, row.parameter_bytes, row.macs, row.others, row.inputs,
               row.weights, row.outputs)
    return (node.name, node.op_type, node.domain, row.module, row.output,
            types.get(row.type, ("",))[0], dims, str(row.reason or ""),
            *(str(one) if isinstance(one, int) else "?" for one in numbers))


def lines(path, dims):
    """The words of each line."""
    from .file import Refused, load
    from .values import TYPES
    from .walk import Walk
    try:
        wanted = Dims(dims, Refused)
        rows = Walk(load(path), wanted, os.path.dirname(path)).run()
    except Refused as error:
        yield "error", "usage" if error.usage else "input", str(error)
        return
    for row in rows:
        yield _words(row, TYPES)
    if wanted.unused():
        yield "unused", wanted.unused()
    yield ("end",)


def answer(path, dims, by="", depth="0", top="0", is_for_people="", step="-1", trace=""):
    """The lines for pprof-report."""
    from . import table
    from .file import Refused
    nodes, last, times = [], (), None
    for words in lines(path, dims):
        if len(words) == 3:
            yield words[0], words[1], "%s: %s" % (path, words[2])
            return
        if len(words) == 2:
            last = words
        elif len(words) > 3:
            nodes.append(table.Node(words))
    try:
        if trace:
            ranges = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").split("\0")[:-1]
            times = table.timed(nodes, ranges, trace, int(step), Refused)
    except Refused as error:
        yield "error", "usage" if error.usage else "input", str(error)
    else:
        if not by:
            yield table.total(nodes)
        elif by == "deepspeed":
            yield from (("line", line) for line in
                        table.deepspeed(nodes, times, int(depth), int(top)))
        else:
            yield from table.view(nodes, times, by, int(depth), int(top), bool(is_for_people))
    if last:
        yield "unused", "%s: no dimension or tensor is called '%s'" % (path, last[1])
    yield ("end",)


def main():
    # Nothing is imported from the current folder. Unused threads would take stacks.
    sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        from . import walk  # noqa: F401  (and onnx, with what that needs)
    except ImportError as error:
        return _put("error", "input", "%s: cost needs Python's package onnx (%s): "
                    "%s -m pip install onnx" % (sys.argv[1], error, sys.executable))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    try:
        for words in answer(*sys.argv[1:]):
            _put(*words)
        return None
    except MemoryError:
        return _put("error", "input", "%s: too large: out of memory" % sys.argv[1])
    except Exception as error:  # of bytes that nobody has foreseen: a message, and no traceback
        return _put("error", "input", "%s: it cannot be counted: %r" % (sys.argv[1], error))


if __name__ == "__main__":
    main()
