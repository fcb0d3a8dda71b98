# SPDX-License-Identifier: Apache-2.0
"""What a trace says, as plain lists, and the definitions of docs/tables.md over them.

Nothing here is clever on purpose: unions sort all borders, what lies in what is asked of every
pair, numbers are Python's integers and fractions.
"""
from fractions import Fraction
from math import isqrt

RUNTIME, STEP, OPERATOR, COMMUNICATION = "CudaRuntime", "ProfileStep", "Operator", "Communication"
KERNEL, COPIES = "Kernel", ("Memcpy", "Memset")
GENERAL = (KERNEL,) + COPIES
USER = ("UserDefined", "PythonUserDefined")
PHASES = ("Dataloader", "Forward", "Backward", "Optimization", "Preprocess", "Inference",
          "Postprocess", "CpuTask")
NO_OWNER = ("OperatorInner", RUNTIME, "PythonOp")
WARM_UP, EXACT = 10, 256


class Cut(int):
    """The time of a range that an edge has cut, or what was submitted in it: it adds to sums, and
    is of no call."""


def uncut(values):
    return [value for value in values if not isinstance(value, Cut)]


class Host:
    """A host range."""

    def __init__(self, name, category, thread, start, end, **more):
        self.name, self.category, self.thread = name, category, thread
        self.start, self.end = start, max(start, end)
        self.is_nested = more.get("is_nested", True)
        self.is_communication = more.get("is_communication", False)
        self.is_invalid = more.get("is_invalid", False)
        self.is_pair = more.get("is_pair", False)
        self.is_cut = more.get("is_cut", False)
        self.flops, self.items = more.get("flops", 0), more.get("items", 0)
        self.parent, self.children = None, []
        self.depth = self.place = 0  # ranges around it; where it comes in its lane
        self.lane = more.get("lane", thread)

    length = property(lambda self: self.time(self.end - self.start))
    self_time = property(lambda self: max(0, self.length - sum(c.length for c in self.children))
                         if self.is_nested else 0)

    def time(self, value):
        return Cut(value) if self.is_cut else value


class Device:
    """A device range; `submit` is when its launch began on `thread`."""

    def __init__(self, name, category, device, stream, start, end, thread, submit, **more):
        self.name, self.category, self.device, self.stream = name, category, device, stream
        self.start, self.end, self.thread, self.submit = start, max(start, end), thread, submit
        self.lane = more.get("lane", thread)
        self.is_communication = more.get("is_communication", False)
        self.is_projected = more.get("is_projected", False)  # an envelope of work, not work
        self.owner = None

    length = property(lambda self: self.end - self.start)


class Memory:
    """A sample of the memory of a place: the level after a change."""

    def __init__(self, place, is_reserved, thread, time, level, change, order=0):
        self.place, self.is_reserved, self.thread, self.time = place, is_reserved, thread, time
        self.level, self.change, self.order = level, change, order


def net(samples):
    """The sum of changes on the host, and that on devices."""
    changed = [m for m in samples if m.change and not m.is_reserved]
    return [sum(m.change for m in changed if m.place.startswith("cpu") == is_host)
            for is_host in (True, False)]


class Run:
    """One process."""

    def __init__(self, host, pid):
        self.host, self.pid = host, pid
        self.hosts, self.devices, self.memory = [], [], []
        self.device_names = []
        self.window = (0, 0)
        self.cpu_process = self.cpu_system = None  # fractions of one

    process = property(lambda self: f"{self.host} {self.pid}".strip())

    def settle(self):
        """Parents and children of all ranges, and owners of what was submitted."""
        for lane in {host.lane for host in self.hosts}:
            nest([host for host in self.hosts if host.lane == lane and host.is_nested])
        for device in self.devices:
            device.owner = self.around(device.lane, device.submit, (RUNTIME,))

    def around(self, lane, time, skipped):
        """The innermost range at a time, or the first around it that is in no skipped category."""
        found = [host for host in self.hosts if host.lane == lane and host.is_nested
                 and host.start <= time < host.end]
        host = max(found, key=lambda host: host.place, default=None)
        while host and host.category in skipped:
            host = host.parent
        return host

    work = property(lambda self: [d for d in self.devices if not d.is_projected])
    has_kernels = property(lambda self: any(d.category == KERNEL for d in self.devices))
    steps = property(lambda self: [host for host in self.hosts if host.category == STEP])

    def counts(self, device):
        """Whether a device range is part of the general device time."""
        return not device.is_projected and (not self.has_kernels or device.category in GENERAL)

    def counts_in_model(self, device):
        return device.category == KERNEL if self.has_kernels else not device.is_projected

    def base(self):
        if self.steps:
            return union(spans(self.steps))
        return self.window[1] - self.window[0]

    def base_spans(self):
        return spans(self.steps) if self.steps else [self.window]

    def submitted_in(self, host):
        """The device ranges submitted in a host range."""
        return [d for d in self.devices if host.start <= d.submit < host.end and
                (host.category == STEP or d.thread == host.thread)]

    def inside(self, host):
        if host.category == RUNTIME:
            return host.time(0)
        return host.time(sum(d.length for d in self.submitted_in(host) if self.counts(d)))

    def own(self, host):
        return sum(d.length for d in self.devices if d.owner is host and self.counts(d))

    def memory_in(self, host):
        """What any thread took less what it gave back while a range ran: of the host, of devices."""
        return net([m for m in self.memory if host.start <= m.time <= host.end])

    def own_memory(self, host):
        if not host.is_nested:
            return [0, 0]
        inner = [self.memory_in(child) for child in host.children]
        return [own - sum(sums) for own, *sums in zip(self.memory_in(host), *inner)]

    def memory_outside(self):
        """Changes while no range ran."""
        return [m for m in self.memory if m.change and not m.is_reserved and
                not any(host.start <= m.time <= host.end for host in self.hosts)]

    def model_inside(self, host):
        return host.time(sum(d.length for d in self.submitted_in(host)
                             if self.counts_in_model(d)))

    def outermost(self, phase):
        """The ranges of a phase that lie in no other phase of their thread. What is not nested lies
        in none, and has none inside."""
        phases = [host for host in self.hosts if host.category in PHASES]
        return [host for host in phases if host.category == phase and
                not any(lies_in(host, other) for other in phases if other is not host)]


def lies_in(host, other):
    if not host.is_nested or not other.is_nested or host.thread != other.thread:
        return False
    if not other.start <= host.start <= host.end <= other.end:
        return False
    if (host.start, host.end) == (other.start, other.end):
        return host.length > 0 and other.depth < host.depth
    return host.start < other.end  # one that begins where another ended follows it


def nest(hosts):
    """A range's parent is the innermost open one that holds all of it; one that it overlaps partly
    is closed by that. Of equal ranges one of a begin and an end, else the first of the trace, is
    outside."""
    ordered = sorted(range(len(hosts)), key=lambda i: (hosts[i].start, -hosts[i].end,
                                                       not hosts[i].is_pair, i))
    stack = []
    for place, host in enumerate(hosts[i] for i in ordered):
        while stack and (host.start >= stack[-1].end or host.end > stack[-1].end):
            stack.pop()
        if stack:
            host.parent = stack[-1]
            stack[-1].children.append(host)
        host.depth, host.place = len(stack), place
        stack.append(host)


def spans(ranges):
    return [(r.start, r.end) for r in ranges]


def covered(ranges):
    """Disjoint pieces, by counting at every border how much is open."""
    borders = sorted([(start, 1) for start, end in ranges if end > start] +
                     [(end, -1) for start, end in ranges if end > start])
    pieces, depth, since = [], 0, None
    for at, change in borders:
        if depth == 0 and change == 1:
            since = at
        depth += change
        if depth == 0:
            pieces.append((since, at))
    return pieces


def union(ranges):
    return sum(end - start for start, end in covered(ranges))


def overlap(left, right):
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0]))
               for a in covered(left) for b in covered(right))


def percentile(values, percent):
    """Nearest rank; above 256 values the middle of the bucket it falls in."""
    ordered = sorted(values)
    rank = max(1, -(-len(ordered) * percent // 100))
    value = ordered[rank - 1]
    if len(ordered) <= EXACT or value < 128:
        return value
    width = 1 << (value.bit_length() - 7)
    return value // width * width + width // 2


def rounded(value):
    """The nearest integer, halves away from zero."""
    value = Fraction(value)
    sign = -1 if value < 0 else 1
    return sign * ((2 * abs(value).numerator + value.denominator) // (2 * value.denominator))


def deviation(values):
    """The sample's standard deviation, to the nearest integer."""
    n, total = len(values), sum(values)
    if n < 2:
        return None
    variance = Fraction(n * sum(v * v for v in values) - total * total, n * (n - 1))
    return (isqrt(int(4 * variance)) + 1) // 2


class Ratio(Fraction):
    """A percentage; to be compared within what its print rounds off."""


def ratio(part, whole):
    if whole == 0:
        return None if part else Ratio(0)
    return Ratio(100 * part, whole)


def spread(values):
    """Total, mean, greatest, least."""
    values = list(values)
    if not values:
        return [0, None, 0, 0]
    kept = uncut(values)
    if not kept:
        return [sum(values), None, None, None]
    return [sum(values), rounded(Fraction(sum(kept), len(kept))), max(kept), min(kept)]


def quantiles(values, side):
    """Percentiles, deviation, and which percentiles have too few values to differ from the
    greatest: those whose rank is the last one."""
    kept = uncut(values)
    if not kept:
        return [None] * 5
    at_max = [f"{side}_p{p}" for p in (50, 90, 99) if -(-p * len(kept) // 100) == len(kept)]
    return [percentile(kept, p) for p in (50, 90, 99)] + \
        [deviation(kept), " ".join(at_max) or None]
