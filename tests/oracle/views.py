# SPDX-License-Identifier: Apache-2.0
"""The rows of every view, from the runs of model.py.

A cell is an integer, a text, a Ratio or None.
"""
from collections import defaultdict

from model import (COMMUNICATION, COPIES, KERNEL, OPERATOR, PHASES, RUNTIME, STEP, USER, WARM_UP,
                   NO_OWNER, Ratio, net, overlap, quantiles, ratio, spans, spread,
                   union, uncut)

COPY_NAMES = ("memcpy", "memorycopy", "memset")
NONE = [None] * 5


def by_time(rows, key):
    return sorted(rows, key=lambda row: (-row[key], row[0]))


def is_in_category(item, category):
    return item.category == category or (category == COMMUNICATION and item.is_communication)


def grouped(items, key):
    groups = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def count(items):
    """Device ranges are calls, all of them."""
    return sum(not getattr(item, "is_cut", False) for item in items)


def num_calls(pairs):
    return count(host for run, host in pairs)


class Views:
    def __init__(self, runs):
        self.runs = runs
        for run in runs:
            run.settle()
        self.hosts = [(run, host) for run in runs for host in run.hosts]
        self.device_ranges = [device for run in runs for device in run.devices]
        self.has_steps = any(run.steps for run in runs)
        self.base = sum(run.base() for run in runs)
        self.model_base = self.device_base(lambda run, d: run.counts_in_model(d))
        self.general_base = self.device_base(lambda run, d: run.counts(d))

    def device_base(self, counts):
        """The device time of all steps, or of all where there are none."""
        total = 0
        for run in self.runs:
            chosen = [d for d in run.devices if counts(run, d)]
            for step in run.steps:
                total += sum(d.length for d in chosen if step.start <= d.submit < step.end)
            if not run.steps:
                total += sum(d.length for d in chosen)
        return total

    def device(self):
        rows = [["CPU(Process)", None, None, self.cpu("cpu_process")],
                ["CPU(System)", None, None, self.cpu("cpu_system")]]
        names = sorted({name for run in self.runs for name in run.device_names})
        for name in names:
            calls = busy = base = 0
            for run in self.runs:
                mine = [d for d in run.work if d.device == name]
                kernels = [d for d in mine if d.category == KERNEL]
                calls += len(mine)
                busy += overlap(spans(kernels or mine), run.base_spans())
                base += run.base() if mine else 0
            rows.append([name, calls, busy, ratio(busy, base)])
        return rows

    def identity(self):
        """Of each device how long the windows are, and how much of them it was busy."""
        known = {}
        for run in self.runs:
            for name in run.device_names:
                wall, busy = known.get(name, (0, 0))
                mine = spans(d for d in run.work if d.device == name)
                known[name] = (wall + run.window[1] - run.window[0],
                               busy + overlap(mine, [run.window]))
        return known

    def trust(self):
        return {"recorded": sum(len(run.hosts) + len(run.devices) + len(run.memory)
                                for run in self.runs),
                "invalid": sum(host.is_invalid for run, host in self.hosts)}

    def cpu(self, which):
        known = [getattr(run, which) for run in self.runs]
        known = [value for value in known if value is not None]
        if not known:
            return None
        return ratio(sum(part for part, whole in known), sum(whole for part, whole in known))

    def overview(self):
        rows = []
        for part in ("host", "device"):
            found = []
            lists = [run.hosts if part == "host" else run.devices for run in self.runs]
            names = {item.category for items in lists for item in items}
            if any(item.is_communication for items in lists for item in items):
                names.add(COMMUNICATION)
            for name in names:
                calls = time = 0
                for items in lists:
                    mine = [item for item in items if is_in_category(item, name)]
                    calls += count(mine)
                    time += union(spans(mine))
                found.append([name, part, calls, time, ratio(time, self.base)])
            rows += by_time(found, 3)
        return rows

    def model(self):
        rows, host_left, device_left = [], self.base, self.model_base
        for name in (STEP,) + PHASES:
            pairs = []
            for run in self.runs:
                chosen = run.steps if name == STEP else run.outermost(name)
                pairs += [(run, host) for host in chosen]
            if not pairs:
                continue
            host = spread(host.length for run, host in pairs)
            device = spread(run.model_inside(host) for run, host in pairs)
            rows.append([name, num_calls(pairs)] + host + [ratio(host[0], self.base)] +
                        device + [ratio(device[0], self.model_base)])
            if name != STEP:
                host_left, device_left = host_left - host[0], device_left - device[0]
        rows.append(["Others", None, host_left, None, None, None, ratio(host_left, self.base),
                     device_left, None, None, None, ratio(device_left, self.model_base)])
        return rows

    def distributed(self):
        sums, calls = defaultdict(int), defaultdict(int)
        for run in self.runs:
            host = [h for h in run.hosts if is_in_category(h, COMMUNICATION)]
            device = [d for d in run.work if is_in_category(d, COMMUNICATION)]
            computation = [d for d in run.work if not is_in_category(d, COMMUNICATION) and
                           (d.category == KERNEL if run.has_kernels
                            else d.category not in COPIES)]
            cut = sum(h.is_cut for h in host)
            calls["Communication", "all"] -= cut
            self.add_distribution(sums, calls, "all", spans(host + device), spans(computation))
            self.add_distribution(sums, calls, "device", spans(device), spans(computation))
        return self.distribution_rows(sums, calls, ("all", "device"))

    def add_distribution(self, sums, calls, part, communication, computation):
        both = overlap(communication, computation)
        calls["Communication", part] += len(communication)
        calls["Computation", part] += len(computation)
        sums["Communication", part] += union(communication)
        sums["Computation", part] += union(computation)
        sums["Overlap", part] += both
        sums["Exposed", part] += union(communication) - both

    def distribution_rows(self, sums, calls, parts):
        if not any(calls["Communication", part] for part in parts):
            return []
        base = STEP if self.has_steps else "Window"
        num = sum(count(run.steps) for run in self.runs) if self.has_steps else None
        rows = [[base, "all", num, self.base, ratio(self.base, self.base)]]
        for part in parts:
            for name in ("Communication", "Computation", "Overlap", "Exposed"):
                if (name, part) == ("Computation", "device"):
                    continue
                rows.append([name, part, calls.get((name, part)), sums[name, part],
                             ratio(sums[name, part], self.base)])
        return rows

    def paddle_distributed(self):
        """Section 1.5 of the reference."""
        sums, calls = defaultdict(int), defaultdict(int)
        for run in self.runs:
            host = [h for h in run.hosts if communicates_in_paddle(h)]
            device, computation = [], []
            for d in (d for d in run.devices if d.category == KERNEL):
                around = [run.around(lane, d.submit, (RUNTIME,))
                          for lane in {h.lane for h in run.hosts if h.thread == d.thread}]
                around = [h for h in around if h]
                innermost = max(around, key=lambda h: h.start, default=None)
                is_direct = innermost and not communicates_in_paddle(innermost)
                is_nccl = "nccl" in d.name.lower() or "xccl" in d.name.lower()
                if any(map(is_under_communication, around)) or (is_direct and is_nccl):
                    device.append(d)
                if is_direct and not is_nccl:
                    computation.append(d)
            calls["Communication", "all"] -= sum(h.is_cut for h in host)
            self.add_distribution(sums, calls, "all", spans(host) + spans(device),
                                  spans(computation))
        return self.distribution_rows(sums, calls, ("all",))

    def operator(self, by_thread=False, parts=False, order=None):
        pairs = [(run, host) for run, host in self.hosts if host.category == OPERATOR]
        blocks = grouped(pairs, lambda pair: thread_of(*pair) if by_thread else None)
        rows = []
        for thread in sorted(blocks, key=thread_key):
            block = blocks[thread]
            cpu = sum(host.length for run, host in block)
            gpu = sum(run.inside(host) for run, host in block)
            named = {}
            for name, mine in grouped(block, lambda pair: pair[1].name).items():
                row = [name, None, thread, num_calls(mine)]
                row += self.times([h.length for r, h in mine], cpu)
                row += self.times([r.inside(h) for r, h in mine], gpu)
                row += [None if by_thread else sum(h.flops for r, h in mine) or None]
                row += [sum(h.self_time for r, h in mine)] + quantiles(
                    [h.length for r, h in mine], "cpu")
                named[name] = (row, mine)
            for row in ordered([row for row, mine in named.values()], OPERATOR_KEYS, order):
                rows.append(row)
                if parts:
                    rows += self.parts(row[0], thread, named[row[0]][1], row[4], row[9])
        return rows

    def times(self, values, whole):
        return spread(values) + [ratio(sum(values), whole)]

    def parts(self, name, thread, mine, cpu, gpu):
        rows, named = [], {}
        children = [(run, child) for run, host in mine for child in parts_of(host)
                    if child.category != OPERATOR]
        for child, same in grouped(children, lambda pair: pair[1].name).items():
            row = [child, name, thread, num_calls(same)] + self.times([h.length for r, h in same], cpu)
            row += self.times([r.inside(h) for r, h in same], gpu) + [None] * 7
            named[child] = (row, same)
        for row in by_time([row for row, same in named.values()], 4):
            rows.append(row)
            rows += self.launches(f"{name} / {row[0]}", thread, named[row[0]][1], row[9])
        return rows + self.launches(name, thread, mine, gpu)

    def launches(self, parent, thread, pairs, whole):
        launched = [d for run, host in pairs for d in run.devices
                    if d.owner is host and run.counts(d)]
        rows = [[name, parent, thread, len(same)] + NONE +
                self.times([d.length for d in same], whole) + [None] * 7
                for name, same in grouped(launched, lambda d: d.name).items()]
        return by_time(rows, 9)

    def kernel(self, order=None):
        kernels = [d for d in self.device_ranges if d.category == KERNEL]
        whole = sum(d.length for d in kernels)
        rows = []
        for name, same in grouped(kernels, lambda d: d.name).items():
            lengths = [d.length for d in same]
            rows.append([name, len(same)] + self.times(lengths, whole) +
                        quantiles(lengths, "device"))
        return ordered(rows, KERNEL_KEYS, order)

    def named(self, wanted, by_thread=False):
        """Rows of UserDefined and of Memory Manipulation, by thread."""
        blocks = defaultdict(list)
        pairs = [(run, host) for run, host in self.hosts if wanted(host)]
        key = (lambda p: (p[1].name, p[1].category, thread_of(*p) if by_thread else None))
        for (name, category, thread), mine in grouped(pairs, key).items():
            lengths = [h.length for r, h in mine]
            row = [name, category, num_calls(mine)] + self.times(lengths, self.base)
            row += self.times([r.inside(h) for r, h in mine], self.general_base)
            blocks[thread].append(row + [thread, sum(h.self_time for r, h in mine)] +
                                  quantiles(lengths, "cpu"))
        return blocks

    def userdefined(self, by_thread=False, order=None):
        blocks = self.named(lambda host: host.category in USER and not is_copy(host), by_thread)
        return [row for thread in sorted(blocks, key=thread_key)
                for row in ordered(blocks[thread], USER_KEYS, order)]

    def memory_manipulation(self, order=None):
        hosts = self.named(is_copy)[None]
        rows = [row[:13] + row[14:] for row in ordered(hosts, USER_KEYS, order)]
        copies = [d for d in self.device_ranges if d.category in COPIES]
        found = []
        for (name, category), same in grouped(copies, lambda d: (d.name, d.category)).items():
            found.append([name, category, len(same)] + NONE +
                         self.times([d.length for d in same], self.general_base) + [None] * 6)
        return rows + ordered(found, COPY_KEYS, order)

    def memory(self):
        rows = []
        samples = [(run, sample) for run in self.runs for sample in run.memory]
        for (place, is_reserved), mine in sorted(grouped(
                samples, lambda pair: (pair[1].place, pair[1].is_reserved)).items()):
            kind = "Reserved" if is_reserved else "Allocated"
            named = grouped(mine, lambda pair: memory_owner(*pair))
            found = [[name, place, kind] + changes(same) + [None] for name, same in named.items()]
            found = [row for row in found if row[3] or row[4]]
            rows.append([None, place, kind] + changes(mine) + [max(s.level for r, s in mine)])
            rows += by_time(found, 7)
        return rows

    def perf(self):
        batch, reader = [], []
        stated, items = True, []
        for run in self.runs:
            steps = sorted(run.steps, key=lambda step: step.start)[WARM_UP:]
            batch += [step.length for step in steps]
            items += [step.items for step in steps]
            reader += [h.length for h in run.hosts if h.category == "Dataloader" and
                       any(step.start <= h.start < step.end for step in steps)]
        if not batch:
            return []
        stated = all(items)
        items = items if stated else [1] * len(batch)
        speeds = [Ratio(n * 10**9, length) for n, length in zip(items, batch) if length]
        rows = []
        rows.append(["reader_cost", "ns", len(uncut(reader))] +
                    (spread(reader)[1:] if reader else [None] * 3))
        rows.append(["batch_cost", "ns", len(batch)] + spread(batch)[1:])
        rows.append(["ips", "samples/s" if stated else "steps/s", len(batch),
                     Ratio(sum(items) * 10**9, sum(batch)) if speeds else None,
                     max(speeds) if len(speeds) == len(batch) else None,
                     min(speeds) if speeds else None])
        share = ratio(sum(reader), sum(batch)) if reader else None
        rows.append(["reader_ratio", "%", len(uncut(reader)), share, None, None])
        return rows

    def torch(self, column):
        rows = []
        pairs = [(run, host) for run, host in self.hosts if host.category != "PythonOp"]
        whole = sum(host.self_time for run, host in pairs)
        has_kernels = any(run.has_kernels for run in self.runs)
        gpu = sum(d.length for d in self.device_ranges
                  if not has_kernels or d.category in (KERNEL,) + COPIES)
        for (category, name), mine in grouped(
                pairs, lambda pair: (pair[1].category, pair[1].name)).items():
            total, own = sum(h.length for r, h in mine), sum(h.self_time for r, h in mine)
            self_device = sum(r.own(h) for r, h in mine)
            device = [r.inside(h) for r, h in mine]
            rows.append([category, name, "host", num_calls(mine), own, ratio(own, whole), total,
                         ratio(total, whole), spread([h.length for r, h in mine])[1],
                         self_device, ratio(self_device, gpu), sum(device), spread(device)[1],
                         sum(h.flops for r, h in mine) or None,
                         *self.torch_memory([r.memory_in(h) for r, h in mine],
                                            [r.own_memory(h) for r, h in mine])])
        for (category, name), same in grouped(
                self.device_ranges, lambda d: (d.category, d.name)).items():
            times = spread([d.length for d in same])
            rows.append([category, name, "device", len(same)] + NONE +
                        [times[0], ratio(times[0], gpu), times[0], times[1], None,
                         *self.torch_memory([], [])])
        outside = [sample for run in self.runs for sample in run.memory_outside()]
        if outside:
            rows.append(["Memory", "[memory]", "host", len(outside), 0, ratio(0, whole), 0,
                         ratio(0, whole), None, 0, ratio(0, gpu), 0, 0,
                         None, *self.torch_memory([net(outside)], [net(outside)])])

        total = {7: 6, 11: 11}.get(column)  # of a mean, which is compared before rounding

        def key(row):
            value = row[column + 1]
            if total and value is not None:
                value = Ratio(row[total], row[3])
            return bool(total) and value is None, -(value or 0), row[1], row[0]
        rows.sort(key=key)
        return [row[1:] for row in rows]

    def torch_memory(self, sums, own):
        """CPU, self CPU, device, self device; none in a trace that tells of no memory."""
        if not any(run.memory for run in self.runs):
            return [None] * 4
        total, mine = ([sum(pair[at] for pair in pairs) for at in (0, 1)] for pairs in (sums, own))
        return [total[0], mine[0], total[1], mine[1]]

    def nvtx_sum(self, column=1):
        rows = []
        hosts = [pair for pair in self.hosts if pair[1].category != RUNTIME]
        total = sum(host.length for run, host in hosts)
        for name, mine in grouped(hosts, lambda pair: pair[1].name).items():
            lengths = [h.length for r, h in mine]
            times = spread(lengths)
            styles = sorted({"PushPop" if h.is_nested else "StartEnd" for r, h in mine})
            rows.append([ratio(times[0], total), times[0], num_calls(mine), times[1],
                         quantiles(lengths, "")[0], times[3], times[2],
                         quantiles(lengths, "")[3],
                         "+".join(styles), name])

        def key(row):
            value = Ratio(row[1], row[2]) if column == 3 and row[2] else row[column]
            return value is None, (value or 0) * (1 if column == 5 else -1), row[9]
        return sorted(rows, key=key)


# Where a view has what a sort key means; those it does not have leave its own order, the first.
TIMES = ("total", "avg", "max", "min")
REST = ("p50", "p90", "p99", "std")


def keys(cpu, gpu, calls, **more):
    named = {"calls": calls, **more}
    named.update({f"cpu-{what}": cpu + i for i, what in enumerate(TIMES) if cpu})
    named.update({f"gpu-{what}": gpu + i for i, what in enumerate(TIMES)})
    named[None] = named["cpu-total" if cpu else "gpu-total"]
    return named


OPERATOR_KEYS = keys(4, 9, 3, self=15, **{name: 16 + i for i, name in enumerate(REST)})
KERNEL_KEYS = keys(0, 2, 1, **{name: 7 + i for i, name in enumerate(REST)})
USER_KEYS = keys(3, 8, 2, self=14, **{name: 15 + i for i, name in enumerate(REST)})
COPY_KEYS = keys(0, 8, 2)


def ordered(rows, where, order):
    """Greatest first, of minima the least; then by name. Means are compared before rounding."""
    at = where.get(order, where[None])
    is_least = order in ("cpu-min", "gpu-min") and order in where
    is_mean = order in ("cpu-avg", "gpu-avg") and order in where
    calls = where["calls"]

    def key(row):
        value = row[at]
        if is_mean and value is not None:
            value = Ratio(row[at - 1], row[calls])
        return (value is None, 0 if value is None else value if is_least else -value) + \
            tuple(row[:2])
    return sorted(rows, key=key)


def cut(rows, top, part_of=None):
    """The first `top` rows of each block."""
    num, kept, block = 0, [], object()
    for row in rows:
        thread, is_part = part_of(row)
        if thread != block:
            num, block = 0, thread
        num += not is_part
        if not top or num <= top:
            kept.append(row)
    return kept


def thread_key(thread):
    if thread is None:
        return ()
    process, number = thread.rsplit(": ", 1)
    return process, int(number)


def is_copy(host):
    if host.category in COPIES:
        return True
    return host.category in USER and any(word in host.name.lower() for word in COPY_NAMES)


def parts_of(host):
    """Ranges directly in it, runtime calls aside."""
    for child in host.children:
        if child.category == RUNTIME:
            yield from parts_of(child)
        else:
            yield child


def communicates_in_paddle(host):
    words = ("allreduce", "broadcast", "rpc")
    return host.category == COMMUNICATION or (
        host.category == OPERATOR and any(word in host.name.lower() for word in words))


def is_under_communication(host):
    while host and not communicates_in_paddle(host):
        host = host.parent
    return host is not None


def thread_of(run, host):
    return f"{run.process}: {host.thread}"


def memory_owner(run, sample):
    # Python functions, which own nothing, have a lane of their own.
    host = run.around((sample.thread, False), sample.time, NO_OWNER)
    return host.name if host else "<none>"


def changes(pairs):
    sizes = [sample.change for run, sample in pairs if sample.change]
    plus, minus = [s for s in sizes if s > 0], [-s for s in sizes if s < 0]
    return [len(plus), len(minus), sum(plus), sum(minus), sum(plus) - sum(minus)]
