# SPDX-License-Identifier: Apache-2.0
"""What a model's nodes cost, by module, operator or node, as the rows and notes that pprof-report
prints, and as DeepSpeed's FLOPS profiler prints PyTorch's modules."""
import json
import os
from bisect import bisect_right

SUMS = ("params", "param_bytes", "macs", "others", "flops", "in_bytes", "weight_bytes", "out_bytes")
TOTALS = ("parameters", "parameter_bytes", "macs", "elementwise_flops", "flops", "input_bytes",
          "weight_bytes", "output_bytes")
SHOWN = ("parameters", "parameter_bytes", "macs", "flops", "elementwise_flops", "input_bytes",
         "weight_bytes", "output_bytes")
MOST, LEVELS, REASONS, WIDTH, LABEL = (1 << 63) - 1, 64, 6, 86, 50
HOLDERS = ("If", "Loop", "Scan")  # their inner nodes have times of their own


class Node:
    """A node, by the words of its line; a number that nobody knows is None."""

    def __init__(self, words):
        texts = [word.replace("\0", " ") for word in words[:8]]
        (self.name, self.op, self.domain, self.module, self.output, self.type, self.shape,
         self.reason) = texts
        numbers = [None if word == "?" else min(int(word), MOST) for word in words[8:]]
        self.times, self.macs, self.ns = numbers[0] or 0, numbers[3], None
        self.twice = 2 * self.macs if self.macs is not None and self.macs <= MOST // 2 else None
        self.numbers = numbers[1:5] + [self.twice, numbers[4]] + numbers[5:]


class Figures:
    """Sums over nodes: of the figures that are known."""

    def __init__(self):
        self.sums, self.least = dict.fromkeys(SUMS, 0), dict.fromkeys(SUMS, False)
        self.nodes = self.timed = 0
        self.ns = self.timed_flops = self.timed_bytes = 0.0
        self.type = None

    def _add(self, name, value):
        if value is not None:
            total = self.sums[name] + value
            self.sums[name] = (total + MOST + 1) % (2 * MOST + 2) - MOST - 1
        if value is None or total > MOST:
            self.least[name] = True

    def add(self, node):
        names = ("params", "param_bytes", "macs", "others", "flops", "flops", "in_bytes",
                 "weight_bytes", "out_bytes")
        self.nodes += 1
        for name, value in zip(names, node.numbers):
            self._add(name, value)
        if node.ns is not None:
            others, *sizes = (float(one or 0) for one in node.numbers[5:])
            self.timed += 1
            self.ns += node.ns
            self.timed_flops += float(node.twice or 0) + others
            self.timed_bytes += sizes[0] + sizes[1] + sizes[2]
        if node.times < 0:  # how often it runs is unknown: it counts once
            self.least.update(dict.fromkeys(SUMS[2:], True))
        # Nodes that only move data often have the type of a shape.
        if node.macs and node.type:
            self.type = node.type if self.type in (None, node.type) else "mixed"

    def bytes(self):
        return (float(self.sums["in_bytes"]) + float(self.sums["weight_bytes"]) +
                float(self.sums["out_bytes"]))


class Group:
    """Nodes of a module, of an operator in it, or one node."""

    def __init__(self, name, module, level=0, op=None, node=None):
        self.name, self.module, self.level, self.op, self.node = name, module, level, op, node
        self.inner, self.figures = [], Figures()

    def label(self):
        return "model" if not self.name and self.op is None and self.node is None else self.name

    def all_inside(self):
        for group in self.inner:
            yield group
            yield from group.all_inside()


def _find(known, outer, module, op=None):
    group = known.get((module, op))
    if group is None:
        name = module.rpartition("/")[2] if op is None else op
        group = known[module, op] = Group(name, module, outer.level + 1, op)
        outer.inner.append(group)
    return group


def _by_cost(group):
    sums = group.figures.sums
    return -group.figures.ns, -sums["flops"], -sums["out_bytes"], os.fsencode(group.name)


def grouped(nodes, by, depth):
    """The groups in order, and the figures of all."""
    model, known = Group("", ""), {}
    depth = 0 if by == "operator" else depth if 0 < depth < LEVELS else LEVELS
    groups = []
    for node in nodes:
        inside = model
        model.figures.add(node)
        if by == "node":
            groups.append(Group(node.name or node.output, node.module, 0, node.op, node))
            groups[-1].figures.add(node)
            continue
        parts = node.module.split("/") if node.module else []
        for level in range(1, min(depth, len(parts)) + 1):
            inside = _find(known, inside, "/".join(parts[:level]))
            inside.figures.add(node)
        if by != "module":
            domain = "" if node.domain in ("", "ai.onnx") else node.domain[:400] + "."
            _find(known, inside, inside.module, domain + node.op[:400]).figures.add(node)
    if by == "operator":
        groups = sorted(model.inner, key=_by_cost)
        for group in groups:
            group.level = 0
    elif by != "node":
        groups = [model, *model.all_inside()]
    return groups, model.figures


# ---- times ----

class Times:
    """Times of the model's nodes in a trace: of one run, or of an average one."""

    def __init__(self, step):
        self.step, self.runs, self.chosen = step, 0, 0
        self.run_ns = self.node_ns = self.strange_ns = 0.0
        self.strange = 0

    def give(self, node, ns, share):
        ns *= share
        if node is None:
            self.strange_ns += ns
            self.strange += 1
        elif node.op not in HOLDERS:
            node.ns = (node.ns or 0.0) + ns
            self.node_ns += ns

    def give_calls(self, events):
        """Without runs, each range is a call of its node."""
        calls = {}
        for _, _, node in events:
            if node is not None:
                calls[node] = calls.get(node, 0) + 1
        for _, ns, node in events:
            self.give(node, ns, 1.0 / calls.get(node, 1))

    def give_runs(self, runs, events):
        first = self.step if self.step >= 0 else int(len(runs) > 1)
        last = first + 1 if self.step >= 0 else len(runs)
        self.chosen = last - first
        share, starts = 1.0 / self.chosen, [start for start, _ in runs]
        for _, ns in runs[first:last]:
            self.run_ns += ns * share
        for start, ns, node in events:
            at = bisect_right(starts, start) - 1
            if first <= at < last and start - starts[at] <= runs[at][1]:
                self.give(node, ns, share)


def timed(nodes, records, trace, step, refused):
    """Gives nodes the times of the ranges of `records`: "a" and an id for a range's property that
    names its node, "s" for a range's name, "r" where that is a run's, "e" for a range."""
    names, sites, attributes, runs, events = {}, {}, {}, [], []
    for node in nodes:
        names.setdefault(node.name, node)
    names.pop("", None)
    for record in records:
        kind, *words = record.split("\t", 4 if record[0] == "e" else 2)
        if kind == "a":
            attributes[words[0]] = names.get(words[1])
        elif kind in "rs":
            sites[words[0]] = runs if kind == "r" else names.get(words[1])
        else:
            start, ns, attribute, site = words
            what = sites.get(site)
            if attribute in attributes:
                events.append((int(start), int(ns), attributes[attribute]))
            elif what is runs:
                runs.append((int(start), int(ns)))
            elif what is not None:
                events.append((int(start), int(ns), what))
    runs.sort(key=lambda run: run[0])
    times = Times(step)
    times.runs = len(runs)
    if step >= len(runs) and step >= 0:
        raise refused("%s: --step %d: it has %d runs, counted from 0" % (trace, step, len(runs)),
                      usage=True)
    if runs:
        times.give_runs(runs, events)
    else:
        times.give_calls(events)
    if not times.node_ns > 0:
        raise refused("%s: no range is of a node of this model: names are the running model's, see "
                      "docs/cost.md" % trace)
    return times


# ---- rows ----

def three(value):
    return "%.*f" % (0 if value >= 99.95 else 1 if value >= 9.995 else 2 if value > 0 else 0, value)


def number(value, unit="", at_least=False):
    value, i = float(value), 0
    while value >= 999.5 and i < 6:
        value, i = value / 1000, i + 1
    text = "%d" % value if i == 0 and value == int(value) else three(value)
    unit = " " + ["", "k", "M", "G", "T", "P", "E"][i] + unit if unit or i else ""
    return (">=" if at_least else "") + text + unit


def _cells(group, every, times, for_people):
    """The words of a row's cells: what kind each is, and its value."""
    figures, node = group.figures, group.node
    own, least = figures.sums, figures.least
    name = group.label()
    if node is not None and for_people:
        name = "%s %s" % (group.op, group.name)

    def amount(key, unit=""):
        if least[key] and own[key] == 0:
            return "t?" if for_people else ""
        return "t" + number(own[key], unit, least[key]) if for_people else "i%d" % own[key]

    size, intensity, share = figures.bytes(), "", ""
    if size > 0 and not (least["flops"] or least["in_bytes"] or least["out_bytes"]):
        value = float(own["flops"]) / size
        intensity = "t" + number(value) if for_people else "d%r" % value
    if every.sums["flops"] > 0:
        share = "r%d/%d" % (own["flops"], every.sums["flops"])
    out = ["t" + name, "t" + group.module, "" if group.op is None else "t" + group.op,
           "i%d" % group.level, "i%d" % figures.nodes, "t" + figures.type if figures.type else "",
           amount("params"), amount("param_bytes", "B"), amount("macs"), amount("flops"),
           amount("others"), amount("in_bytes", "B"), amount("weight_bytes", "B"),
           amount("out_bytes", "B"), intensity, share]
    out += ["", "", "", "i%d" % least["flops"], ""] if node is None else [
        "t" + node.output, "t" + node.shape, "i%d" % node.times if node.times >= 0 else "",
        "i%d" % least["flops"], "v" + node.reason if node.reason else ""]
    return out + (_times_of(figures, times) if times else [])


def _times_of(figures, times):
    out = ["", "", "", ""]
    if figures.timed:
        out[0] = "n%d" % int(figures.ns + 0.5)
        out[1] = "d%r" % (100 * figures.ns / (times.node_ns + times.strange_ns))
    if figures.ns > 0:
        if figures.timed_flops > 0:
            out[2] = "d%r" % (figures.timed_flops / figures.ns)  # GFLOP/s
        if figures.timed_bytes > 0:
            out[3] = "d%r" % (figures.timed_bytes / figures.ns)  # GB/s
    return out


def _reasons(nodes):
    counts = {}
    for node in nodes:
        if node.reason:
            counts[node.reason] = counts.get(node.reason, 0) + 1
    order = sorted(counts, key=lambda reason: (-counts[reason], os.fsencode(reason)))
    for reason in order[:REASONS]:
        yield "Not known of %d %s: %s" % (counts[reason], "node" if counts[reason] == 1 else "nodes",
                                          reason)
    if len(order) > REASONS:
        yield "... and %d more reasons; --by node has all" % (len(order) - REASONS)


def _timing(nodes, times):
    in_nodes = times.node_ns + times.strange_ns
    how = "the mean call of each node"
    if times.chosen and times.step >= 0:
        how = "run %d of %d" % (times.step, times.runs)
    elif times.chosen:
        how = "the mean of %d run%s%s" % (times.chosen, "" if times.chosen == 1 else "s",
                                          ", without the first" if times.runs > 1 else "")
    run = ", %s ms" % three(times.run_ns / 1e6) if times.run_ns > 0 else ""
    yield "Time: %s%s; in nodes %s ms, %d of %d of the model's" % (
        how, run, three(in_nodes / 1e6), sum(node.ns is not None for node in nodes), len(nodes))
    if times.strange:
        yield ("%s %% of that is of nodes that the model does not have: another model ran."
               % three(100 * times.strange_ns / in_nodes))
        yield "ONNX Runtime writes the one that it runs to optimized_model_filepath."


def _notes(nodes, every, times):
    own, least = every.sums, every.least
    yield "Total: %s parameters (%s), %s%s MACs and %s other FLOPs: %s" % (
        number(own["params"], "", least["params"]),
        number(own["param_bytes"], "B", least["param_bytes"]),
        "at least " if least["flops"] else "", number(own["macs"]), number(own["others"]),
        number(own["flops"], "FLOP"))
    unused = sum(node.times == 0 for node in nodes)
    bodies = sum(node.times < 0 for node in nodes)
    if unused:
        yield "Of branches the one that costs more is counted: %d nodes are in others" % unused
    if bodies:
        yield ("Of loops without a known number of iterations one is counted: %d nodes" % bodies)
    yield from _reasons(nodes)
    if times:
        yield from _timing(nodes, times)
    yield "FLOPs are twice the MACs and all others; Share is of them. Bytes: each node reads"
    yield "and writes its own."


def _totals(every):
    names = dict(zip(TOTALS, SUMS))
    out = {"nodes": every.nodes, **{name: every.sums[names[name]] for name in SHOWN}}
    out["at_least"] = [name for name in SHOWN if every.least[names[name]]]
    return json.dumps(out, separators=(",", ":"))


def view(nodes, times, by, depth, top, for_people):
    """Lines of words: the totals as JSON, rows, notes."""
    groups, every = grouped(nodes, by, depth)
    yield "totals", _totals(every)
    for group in groups[:top] if top > 0 else groups:
        yield ("row", str(2 * group.level), *_cells(group, every, times, for_people))
    for note in _notes(nodes, every, times):
        yield "line", note


def total(nodes):
    """What a stage's rate needs."""
    every = grouped(nodes, "node", 0)[1]
    return ("total", str(every.sums["flops"]), repr(every.bytes()), str(every.sums["params"]),
            "1" if every.least["flops"] else "0", every.type or "")


# ---- DeepSpeed's layout ----

def _short(value):
    return ("%.2f" % value).rstrip("0").rstrip(".")


def _scaled(value, unit):
    value, i = float(value), 0
    while value >= 1000 and i < 6:
        value, i = value / 1000, i + 1
    return _short(value) + (" " + ["", "K", "M", "G", "T", "P", "E"][i] + unit if unit or i else "")


def _latency(ns):
    i = 0
    while ns >= 1000 and i < 3:
        ns, i = ns / 1000, i + 1
    return "%s %s" % (_short(ns), ("ns", "us", "ms", "s")[i])


WHATS = (("params      - ", "Params", "params"), ("MACs        - ", "MACs", "macs"),
         ("fwd latency - ", "latency", None))


def _value(figures, key):
    return float(figures.sums[key]) if key else figures.ns


def _amount(figures, key):
    if key is None:
        return _latency(figures.ns)
    return (">=" if figures.least[key] else "") + _scaled(figures.sums[key],
                                                          "MACs" if key == "macs" else "")


def _heading(text):
    left = (WIDTH - len(text) - 2) // 2
    return "-" * left + " " + text + " " + "-" * (WIDTH - len(text) - 2 - left)


def _summary(every, times):
    step = ""
    if times and times.step >= 0:
        step = " at step %d" % times.step
    elif times and times.chosen:
        step = " of a mean step, of %d" % times.chosen
    yield from ("", _heading("Flops Profile"), "Profile Summary%s:" % step)
    lines = [("params:", "", _amount(every, "params")), ("fwd MACs:", " ", _amount(every, "macs")),
             ("fwd flops:", " >=" if every.least["flops"] else " ", _scaled(every.sums["flops"], ""))]
    if every.timed:
        ns = times.run_ns if times.run_ns > 0 else every.ns
        lines += [("fwd latency:", " ", _latency(ns)),
                  ("fwd FLOPS = fwd flops / fwd latency:", " ",
                   _scaled(1e9 * float(every.sums["flops"]) / ns, "FLOPS"))]
    for at, (label, before, value) in enumerate(lines):
        yield label.ljust(LABEL - (at > 0)) + before + value


def _aggregated(groups, whats, top):
    yield from ("", _heading("Aggregated Profile"),
                "Top %d modules in terms of params, MACs%s at different model depths:"
                % (top, " or fwd latency" if len(whats) > 2 else ""))
    for level in range(max(group.level for group in groups) + 1):
        yield "depth %d:" % level
        for label, _, key in whats:
            own = sorted((group for group in groups if group.level == level),
                         key=lambda group: -_value(group.figures, key))[:top]  # noqa: B023
            yield "    %s{%s}" % (label, ", ".join(
                "'%s': '%s'" % (group.module if level else "model", _amount(group.figures, key))
                for group in own))


def _profile(every, figures, whats):
    parts = []
    for _, name, key in whats:
        whole = _value(every, key)
        share = 100 * _value(figures, key) / whole if whole > 0 else 0
        parts.append("%s = %s%% %s" % (_amount(figures, key), _short(share), name))
    if len(whats) > 2:
        rate = 1e9 * figures.timed_flops / figures.ns if figures.ns > 0 else 0
        parts.append(_scaled(rate, "FLOPS"))
    return ", ".join(parts)


def _tree(groups, every, whats):
    """Groups with inner groups have their figures on a line of their own."""
    for group, after in zip(groups, groups[1:] + [groups[0]]):
        level, inner = group.level, after.level
        head = " " * 2 * level + ("(%s): (" % group.name if level else "model(")
        text = _profile(every, group.figures, whats)
        if inner > level:
            yield head
            yield " " * (2 * level + 2) + text
        else:
            yield head + text + ")"
        for outer in range(level, inner, -1):
            yield " " * 2 * (outer - 1) + ")"


def deepspeed(nodes, times, depth, top):
    """The lines of the page: the `top` greatest modules of each depth, and the tree."""
    groups, every = grouped(nodes, "module", depth)
    whats, top = WHATS if every.timed else WHATS[:2], max(top, 1)
    yield from _summary(every, times)
    yield from _aggregated(groups, whats, top)
    yield from ("", _heading("Detailed Profile"),
                "Each module profile is listed after its name in the following order:")
    yield "params, percentage of total params, MACs, percentage of total MACs" + (
        ", fwd latency, percentage" if every.timed else "")
    if every.timed:
        yield "of total fwd latency, fwd FLOPS"
    yield ""
    yield from _tree(groups, every, whats)
