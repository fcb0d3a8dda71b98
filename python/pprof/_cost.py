# SPDX-License-Identifier: Apache-2.0
"""What a model costs, by pprof-report; a framework that is there only exports it."""
import json
import os
import sys

from ._library import Error
from ._report import Report, _run


class Cost:
    """Totals are attributes, the rows nodes, and the table a text. `at_least` names the totals that
    are lower bounds."""
    __slots__ = ("at_least", "elementwise_flops", "flops", "input_bytes", "macs", "nodes", "notes",
                 "output_bytes", "parameter_bytes", "parameters", "rows", "table", "weight_bytes")

    def __init__(self, told, table):
        for name, value in told["totals"].items():
            setattr(self, name, value)
        names = [column["name"] for column in told["columns"]]
        self.rows = [dict(zip(names, row)) for row in told["rows"]]
        self.notes, self.table = told["notes"], Report(table)

    def __repr__(self):
        return str(self.table)

    def _repr_html_(self):
        return self.table._repr_html_()


def _printed(path, dims, *options):
    sizes = ["--dim", ",".join("%s=%s" % pair for pair in dims.items())] if dims else []
    text, said, code = _run("cost", *options, *sizes, os.path.join(".", path),
                            env={**os.environ, "PPROF_PYTHON": sys.executable})
    if code:
        raise Error(said, code)
    return text


def _of_file(path, dims):
    return Cost(json.loads(_printed(path, dims, "--by", "node", "-f", "json")),
                _printed(path, dims))


def _missing(error):
    """The package that some import failed to find."""
    while error is not None:
        if isinstance(error, ImportError) and error.name:
            return error.name.partition(".")[0]
        error = error.__cause__ or error.__context__
    return None


def _export(module, args, kwargs, path):
    try:
        sys.modules["torch"].onnx.export(module, args, path, kwargs=kwargs, dynamo=True,
                                         external_data=True, verbose=False)
    except Exception as error:
        package = _missing(error)
        if package is None:
            raise
        raise Error("PyTorch exports no module without the package %s: pip install %s"
                    % (package, package)) from None


def _of_module(module, args, kwargs):
    import tempfile
    # The export takes a dictionary at the end for keywords where there are none.
    if args and isinstance(args[-1], dict) and not kwargs:
        args = (*args, {})
    with tempfile.TemporaryDirectory(prefix="pprof-cost.") as folder:
        path = os.path.join(folder, "model.onnx")
        _export(module, args, kwargs, path)
        return _of_file(path, {})


def cost(model, *args, **kwargs):
    """The cost of a model: parameters, MACs, FLOPs, bytes, see docs/cost.md. The model is an ONNX
    file, with keywords as sizes of its dimensions, or a module of PyTorch with its (nested) inputs,
    which is exported.

    Raises Error in pprof-report's words, and what the export raises."""
    if isinstance(model, (str, bytes, os.PathLike)):
        if args:
            raise Error("a file takes sizes by name, such as batch=8, and no inputs")
        return _of_file(os.fsdecode(model), kwargs)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        raise Error("%s is neither an ONNX file nor a module of PyTorch: export it to ONNX"
                    % type(model).__name__)
    return _of_module(model, args, kwargs)
