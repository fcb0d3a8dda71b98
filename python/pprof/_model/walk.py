# SPDX-License-Identifier: Apache-2.0
"""Walks over a model: outputs and row of each node, also inside functions, If, Loop and Scan."""
from collections import ChainMap

from onnx import AttributeProto, helper

from . import modules, operators, shapes
from .file import Refused
from .values import (BOOL, INT4, INT64, INT8, LARGEST, Tensor, UINT8, Unknown, add, constant, divide,
                     is_known, product)

DEPTH = 64             # no real model recurses or nests deeper
# Functions that call functions multiply what a file has: by so much at most.
MOST_TIMES, FEW_NODES, MOST_NODES = 8, 65536, 1100000
MOST_ITERATIONS = 10 ** 9  # beyond, a number stands for "until the condition fails"
LEFT_OUT = Tensor()    # a function's input that its caller leaves out


def name_of(node):
    return node.name or (node.output[0] if node.output else "") or node.op_type


def refuse(node, what, name):
    raise Refused("node '%.80s' (%.40s): %s '%.80s'" % (name_of(node), node.op_type, what, name))


class Row:
    """One node: of the graph, of a function that was called, or of a branch or body."""
    __slots__ = ("node", "module", "output", "type", "reason", "times", "parameters",
                 "parameter_bytes", "macs", "others", "inputs", "weights", "outputs", "dims")

    def all_of(self):
        return (self.macs, self.others, self.outputs, self.inputs, self.weights, self.parameters)


class Frame:
    """A graph or function that is walked."""
    __slots__ = ("names", "declared", "call", "opsets", "module", "times", "depth")

    def __init__(self, opsets):
        self.names, self.declared, self.opsets = ChainMap(), ChainMap(), opsets
        self.call, self.module, self.times, self.depth = None, "", 1, 0

    def inside(self, op, sees_outer):
        """The frame inside a node; a function cannot use names around it."""
        out = Frame(self.opsets)
        if sees_outer:
            out.names, out.declared = self.names.new_child(), self.declared.new_child()
        out.call, out.times, out.depth = self.call, self.times, self.depth + 1
        if out.depth > DEPTH:
            refuse(op.node, "too deep, or without an end:", op.kind)
        own = modules.of_node(op.node, None)
        if "/" in op.node.name:
            own = modules.below(own, op.node.name.rpartition("/")[2])
        out.module = modules.below(self.module, own) if self.call or not own else own
        return out


def _resolved(node, call):
    """A node's attributes by name: a function's node may take one from the call, or else what the
    function says."""
    out = {}
    for attribute in node.attribute:
        found, at = attribute, call
        while found is not None and found.ref_attr_name:
            wanted, found = found.ref_attr_name, None
            if at is None:
                break
            found = next((one for one in at[1].attribute if one.name == wanted), None)
            if found is None:
                found = next((one for one in at[2].attribute_proto if one.name == wanted), None)
                break
            at = at[0]
        if found is not None:
            copied = found
            if found.name != attribute.name:
                copied = AttributeProto()
                copied.CopyFrom(found)
                copied.name = attribute.name
            out[attribute.name] = copied
    return out


class Op:
    """A node with what is known of its inputs; its outputs are unknown at first."""
    __slots__ = ("node", "kind", "domain", "opset", "attributes", "inputs", "outputs", "folder")

    def __init__(self, node, frame, inputs, folder):
        self.node, self.kind, self.inputs, self.folder = node, node.op_type, inputs, folder
        self.domain = "" if node.domain == "ai.onnx" else node.domain
        self.opset = frame.opsets.get(self.domain, 1)
        self.attributes = _resolved(node, frame.call)
        self.outputs = [Tensor() for _ in node.output]

    def attribute(self, name, fallback=None):
        found = self.attributes.get(name)
        if found is None:
            return fallback
        value = helper.get_attribute_value(found)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def input(self, at):
        return self.inputs[at] if at < len(self.inputs) else None

    def output(self, at):
        return self.outputs[at] if at < len(self.outputs) else None

    def dim(self, at, axis):
        tensor = self.input(at)
        return self.unfit() if tensor is None else tensor.dim(axis, self.unfit())

    def unfit(self):
        return Unknown("invalid", name_of(self.node))

    def by_data(self):
        """The reason of sizes that values decide. It names the tensor, because --dim may give its
        size."""
        return Unknown("data", (self.node.output[0] if self.node.output else "")
                       or name_of(self.node))

    def forget(self, cause):
        for out in self.outputs:
            out.dims, out.values, out.cause = None, None, cause

    def graph(self, name):
        found = self.attributes.get(name)
        if found is None or not found.HasField("g"):
            refuse(self.node, "it has no", name)
        return found.g


def _joined(op, one, other):
    """The facts that both have in common."""
    out, cause = one.copy(), op.by_data()
    out.values = None
    if one.dims is None or other.dims is None or len(one.dims) != len(other.dims):
        out.dims, out.cause = None, cause if one.dims is not None or other.dims is not None \
            else one.cause
        return out
    out.dims = [a if is_known(a) and is_known(b) and a == b else cause
                for a, b in zip(one.dims, other.dims)]
    return out


def _differ(one, other):
    def plain(tensor):
        return tensor.dims and [dim if is_known(dim) else None for dim in tensor.dims]
    return plain(one) != plain(other)


def _first_value(tensor):
    """The value of a condition or number; None: unknown."""
    if tensor is None or tensor.values is None or not tensor.values.size:
        return None
    value = tensor.values.reshape(-1)[0]
    return value if is_known(value) else None


def _count_nodes(nodes):
    return len(nodes) + sum(_count_nodes(attribute.g.node) for node in nodes
                            for attribute in node.attribute if attribute.HasField("g"))


class Walk:
    def __init__(self, model, dims, folder):
        self.model, self.dims, self.folder = model, dims, folder
        self.rows = []
        self.functions = {(one.domain, one.name, one.overload): one for one in model.functions}
        num = _count_nodes(model.graph.node)
        num += sum(_count_nodes(one.node) for one in model.functions)
        self.left = min(MOST_TIMES * num + FEW_NODES, MOST_NODES)

    def run(self):
        frame = Frame(_opsets(self.model.opset_import))
        self._bind(frame, self.model.graph, True)
        self._nodes(frame, self.model.graph.node)
        return self.rows

    # ---- what the file says ----

    def _named(self, dim, tensor, axis):
        if dim.HasField("dim_value"):
            return dim.dim_value if dim.dim_value >= 0 else Unknown("invalid", tensor)
        # Without a name it is known by its tensor's: "image:0".
        name = dim.dim_param or "%s:%d" % (tensor, axis)
        size = self.dims.find(dim.dim_param, None) if dim.dim_param else None
        return Unknown("dim", name) if size is None else size

    def _take_shape(self, dims, name, tensor):
        """Sizes found by inference stay; a size that inference leaves unknown may have a name
        here."""
        said = [self._named(dim, name, i) for i, dim in enumerate(dims)]
        if tensor.dims is None:
            tensor.dims = said
        elif len(tensor.dims) == len(said):
            tensor.dims = [new if not is_known(old) and (is_known(new) or old.kind == "operator")
                           else old for old, new in zip(tensor.dims, said)]

    def _declared(self, frame, name, tensor):
        """Fills in unknown facts of a tensor from the file and --dim."""
        kind = frame.declared.get(name)
        is_sequence = False
        while kind is not None and not kind.HasField("tensor_type"):
            is_sequence |= kind.HasField("sequence_type")
            kind = (kind.sequence_type.elem_type if kind.HasField("sequence_type") else
                    kind.optional_type.elem_type if kind.HasField("optional_type") else None)
        if kind is not None:
            tensor.type = tensor.type or kind.tensor_type.elem_type
            if tensor.dims is None and is_sequence:
                tensor.items = tensor.items or Unknown("data", name)
            if kind.tensor_type.HasField("shape"):
                self._take_shape(kind.tensor_type.shape.dim, name, tensor)
        self._wanted(name, tensor)

    def _wanted(self, name, tensor):
        sizes = self.dims.axes(name)
        if tensor.dims is None:
            # Of a tensor of which nothing is known, all axes from 0 on are its shape.
            rank = next(i for i in range(len(sizes) + 1) if i not in sizes)
            tensor.dims = [0] * rank if rank else None
        for axis, size in sizes.items():
            if tensor.dims is not None and axis < len(tensor.dims):
                self.dims.find(name, axis)
                tensor.dims = [size if i == axis else dim for i, dim in enumerate(tensor.dims)]
                tensor.values = None

    def _bind(self, frame, graph, with_inputs):
        for info in [*graph.value_info, *graph.output, *graph.input]:
            frame.declared[info.name] = info.type
        for weight in graph.initializer:
            tensor = frame.names[weight.name] = constant(weight, self.folder)
            tensor.is_weight = True
        for sparse in graph.sparse_initializer:
            tensor = frame.names[sparse.values.name] = Tensor(sparse.values.data_type,
                                                              list(sparse.dims))
            tensor.is_weight = True
        for info in graph.input if with_inputs else ():
            if info.name not in frame.names:  # up to IR 3 weights are among the inputs
                tensor = frame.names[info.name] = Tensor(cause=Unknown("input", info.name))
                self._declared(frame, info.name, tensor)

    # ---- nodes ----

    def _begin(self, frame, node):
        if not node.op_type:
            refuse(node, "it has no", "op_type")
        inputs = []
        for name in node.input:
            found = frame.names.get(name) if name else LEFT_OUT
            if found is None:
                refuse(node, "no node before it makes its input", name)
            inputs.append(None if found is LEFT_OUT else found)
        while inputs and inputs[-1] is None:
            inputs.pop()
        return Op(node, frame, inputs, self.folder)

    def _nodes(self, frame, nodes):
        for node in nodes:
            if not self.left:
                refuse(node, "too many nodes, here and in", "functions")
            self.left -= 1
            op = self._begin(frame, node)
            function = self.functions.get((node.domain, node.op_type, node.overload))
            inside = {"If": self._if, "Loop": self._loop, "Scan": self._scan}.get(op.kind)
            if function is not None:
                self._call(frame, op, function)
            elif inside and not op.domain and (op.kind != "Scan" or op.opset >= 9):
                inside(frame, op)
            else:
                self._plain(frame, op)
                continue
            self._outputs(frame, op)

    def _outputs(self, frame, op):
        for name, tensor in zip(op.node.output, op.outputs):
            if not name:
                continue
            if tensor.dims is not None:
                tensor.dims = [op.unfit() if is_known(dim) and dim < 0 else dim
                               for dim in tensor.dims]
            self._declared(frame, name, tensor)
            if tensor.dims is None and tensor.cause is None:
                tensor.cause = op.by_data()
            frame.names[name] = tensor

    def _plain(self, frame, op):
        formula, is_onnx = operators.find(op.domain, op.kind)
        if formula or is_onnx:
            shapes.infer(op, is_onnx)
        else:
            op.forget(Unknown("operator", op.kind))
        if op.kind == "Constant" and op.outputs:
            # Constants of more than one number are weights as initialisers are.
            number = op.outputs[0].elements()
            op.outputs[0].is_weight = number is not None and is_known(number) and number > 1
        self._outputs(frame, op)
        if op.kind == "Identity" and op.inputs and op.outputs and op.inputs[0].is_weight:
            frame.names[op.node.output[0]] = op.inputs[0]
        else:
            self._add_row(frame, op, formula)

    # ---- the row ----

    def _add_row(self, frame, op, formula):
        row, out = Row(), op.output(0)
        weights = next((name for name, tensor in zip(op.node.input, op.inputs)
                        if tensor is not None and tensor.is_weight), None)
        own = modules.of_node(op.node, weights)
        # The name of a node in a body has the whole path; in a function it begins there.
        row.module = own if own and not frame.call else modules.below(frame.module, own)
        row.node, row.times, row.type = op.node, frame.times, _type_of(op)
        row.output = op.node.output[0] if out else ""
        row.dims = out.dims if out else None
        row.parameters = row.parameter_bytes = row.inputs = row.weights = row.outputs = 0
        moves = not formula or formula[0] is not operators.views
        for at, tensor in enumerate(op.inputs):
            if tensor is not None and (at == 0 or tensor is not op.inputs[at - 1]):
                _add_input(op, at, moves, row)
        for name, tensor in zip(op.node.output, op.outputs):
            if name and moves:
                row.outputs = add(row.outputs, tensor.bytes())
        row.reason = None
        if not formula:
            row.reason = row.macs = row.others = Unknown("operator", op.kind)
        elif out is not None and out.values is not None:
            row.macs = row.others = 0  # a value known before the run costs nothing
        else:
            row.macs, row.others = formula[0](op, formula[1])
        for name in ("macs", "others", "inputs", "weights", "outputs"):
            setattr(row, name, product(getattr(row, name), max(row.times, 1) if row.times else 0))
        row.reason = row.reason or next((one for one in row.all_of() if not is_known(one)), None)
        self.rows.append(row)

    # ---- functions ----

    def _call(self, outer, op, function):
        frame = outer.inside(op, False)
        frame.call = (outer.call, op.node, function)
        if function.opset_import:
            frame.opsets = _opsets(function.opset_import)
        for at, name in enumerate(function.input):
            frame.names[name] = op.input(at) or LEFT_OUT
        self._nodes(frame, function.node)
        op.outputs = [self._given(frame, op, name) for name in function.output][:len(op.outputs)] \
            + op.outputs[len(function.output):]

    def _given(self, frame, op, name):
        """A body's or branch's output."""
        found = frame.names.get(name)
        if found is None:
            refuse(op.node, "nothing inside it makes its output", name)
        return found.copy()

    # ---- If ----

    def _branch(self, outer, op, name):
        graph, frame = op.graph(name), outer.inside(op, True)
        self._bind(frame, graph, True)
        self._nodes(frame, graph.node)
        return [self._given(frame, op, out.name) for out in graph.output][:len(op.outputs)]

    def _if(self, frame, op):
        """Counts the branch that costs more, unless the condition is known."""
        test = _first_value(op.input(0))
        if test is not None and op.inputs[0].dims == []:
            made = self._branch(frame, op, "then_branch" if test else "else_branch")
        else:
            first = len(self.rows)
            one = self._branch(frame, op, "then_branch")
            middle = len(self.rows)
            other = self._branch(frame, op, "else_branch")
            costs = [_flops(self.rows[first:middle]), _flops(self.rows[middle:])]
            left = slice(middle, None) if costs[0] >= costs[1] else slice(first, middle)
            for row in self.rows[left]:
                _do_not_count(row)
            made = [_joined(op, a, b) for a, b in zip(one, other)]
        op.outputs[:len(made)] = made

    # ---- Loop and Scan ----

    def _run(self, outer, op, graph, inputs, times):
        """One walk over a body; answers its outputs."""
        frame = outer.inside(op, True)
        most = outer.times * times
        frame.times = most if min(outer.times, times) >= 0 and most <= LARGEST else -1
        for info, tensor in zip(graph.input, inputs):
            frame.names[info.name] = tensor.copy(tensor.is_weight)
        self._bind(frame, graph, False)
        for info in graph.input:
            self._declared(frame, info.name, frame.names[info.name])
        self._nodes(frame, graph.node)
        return [self._given(frame, op, out.name) for out in graph.output]

    def _settle(self, outer, op, graph, inputs, times, states):
        """The shape of a state, (input, output), is unknown if an iteration changes it. Nodes that
        depend on it are walked once more."""
        first = len(self.rows)
        made = self._run(outer, op, graph, inputs, times)
        changed = [(i, o) for i, o in states if _differ(inputs[i], made[o])]
        if not changed:
            return made
        for i, o in changed:
            inputs[i] = _joined(op, inputs[i], made[o])
        before = self.rows[first:]
        del self.rows[first:]
        made = self._run(outer, op, graph, inputs, times)
        for old, new in zip(before, self.rows[first:]):  # the first walk has counted the weights
            new.parameters, new.parameter_bytes = old.parameters, old.parameter_bytes
        return made

    def _loop(self, frame, op):
        graph = op.graph("body")
        if len(graph.input) < 2 or not graph.output or len(graph.output) < len(graph.input) - 1:
            refuse(op.node, "too few inputs or outputs of its", "body")
        most, test = _first_value(op.input(0)), op.input(1)
        inputs = [Tensor(cause=op.by_data()) for _ in graph.input]
        for i in range(2, len(inputs)):
            if op.input(i) is not None:
                inputs[i] = op.input(i).copy()
                inputs[i].values = None  # the next iteration has others
        inputs[0] = Tensor(INT64, [])
        inputs[1] = Tensor(BOOL, []) if test is None else test.copy(test.is_weight)
        is_counted = most is not None and 0 <= most < MOST_ITERATIONS and \
            (test is None or bool(_first_value(test)))
        first = len(self.rows)
        states = [(i, i - 1) for i in range(2, len(inputs))]
        made = self._settle(frame, op, graph, inputs, most if is_counted else -1, states)
        ends = test is not None and not _first_value(made[0])  # it may end sooner
        if is_counted and ends:
            for row in self.rows[first:]:
                _count_once(row, most)
        times = most if is_counted and not ends else op.by_data()
        for i, one in enumerate(made[1:len(op.outputs) + 1]):
            op.outputs[i] = one if i < len(states) else _collected(op, one, 0, times)

    def _scan(self, frame, op):
        graph, scanned = op.graph("body"), op.attribute("num_scan_inputs", -1)
        num = len(graph.input) - scanned
        if scanned < 1 or num < 0 or len(graph.output) < num:
            refuse(op.node, "no Scan of opset 9 or later:", "num_scan_inputs")
        inputs, steps = [Tensor(cause=op.by_data()) for _ in graph.input], 0
        axes = op.attribute("scan_input_axes") or [0] * scanned
        for i, tensor in enumerate(op.inputs[:len(inputs)]):
            if tensor is None:
                continue
            inputs[i] = tensor.copy()
            inputs[i].values = None
            axis = axes[i - num] if num <= i < num + len(axes) else 0
            if i >= num and tensor.dims and -len(tensor.dims) <= axis < len(tensor.dims):
                inputs[i].dims = list(tensor.dims)
                steps = inputs[i].dims.pop(axis)
            elif i >= num:
                steps = tensor.cause or op.unfit()
                inputs[i].dims, inputs[i].cause = None, steps
        made = self._settle(frame, op, graph, inputs, steps if is_known(steps) else -1,
                            [(i, i) for i in range(num)])
        axes = op.attribute("scan_output_axes") or []
        for i, one in enumerate(made[:len(op.outputs)]):
            axis = axes[i - num] if num <= i < num + len(axes) else 0
            op.outputs[i] = one if i < num else _collected(op, one, axis, steps)


def _opsets(imports):
    return {"" if one.domain == "ai.onnx" else one.domain: one.version for one in imports}


def _type_of(op):
    """The type of the computation; low-bit if the operands were."""
    one, other = op.input(0), op.input(1)
    if op.kind == "MatMulNBits":
        return INT4 if op.attribute("bits", 4) == 4 else INT8
    if one is not None and other is not None and (
            one.stored and other.stored or one.type == UINT8):
        return INT8
    if one is not None and one.type:
        return one.type
    return op.outputs[0].type if op.outputs else 0


def _add_input(op, at, moves, row):
    tensor = op.inputs[at]
    size = tensor.bytes()
    # Whole numbers of 64 bits and truths are shapes, axes, places: no parameters.
    if tensor.is_weight and not tensor.was_used and tensor.type not in (INT64, BOOL):
        tensor.was_used = True
        row.parameters = add(row.parameters, tensor.elements())
        row.parameter_bytes = add(row.parameter_bytes, size)
    if not moves:
        return
    # Only the requested rows of a table are read.
    if op.kind == "Gather" and tensor is op.inputs[0] and op.outputs:
        size = op.outputs[0].bytes()
    if tensor.is_weight:
        row.weights = add(row.weights, size)
    else:
        row.inputs = add(row.inputs, size)


def _flops(rows):
    return sum(times * value for row in rows for times, value in ((2, row.macs), (1, row.others))
               if is_known(value))


def _do_not_count(row):
    """Counts a row with an unknown number of runs as 0 at least. Unknown costs stay unknown, with
    their reason."""
    known = [is_known(row.macs), is_known(row.others)]
    if row.times > 0 or all(known) and not row.macs and not row.others:
        row.times = 0
    row.macs, row.others = (0 if is_known(one) else one for one in (row.macs, row.others))
    row.inputs = row.weights = row.outputs = 0
    row.reason = None if all(known) else row.reason


def _count_once(row, times):
    """Counts a body once if it may end sooner than after the counted iterations."""
    if row.times > 0:
        for name in ("macs", "others", "inputs", "weights", "outputs"):
            setattr(row, name, divide(getattr(row, name), times))
        row.times = -1


def _collected(op, one, axis, times):
    """What each iteration gives, one behind the other along `axis`."""
    out = Tensor(one.type, cause=one.cause)
    if one.dims is None:
        return out
    rank = len(one.dims) + 1
    if not -rank <= axis < rank:
        out.cause = op.unfit()
        return out
    out.dims = list(one.dims)
    out.dims.insert(axis % rank, times)
    return out
