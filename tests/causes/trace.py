# SPDX-License-Identifier: Apache-2.0
"""Writes a world's records as a trace of pprof, and its waits beside it."""
import gzip
import hashlib
import json

PID, THREADS = 4242, 1000
MUTEX, CONDITION, TIMED_OUT = 1, 3, 256
PROCESS, SUBMIT, ASYNC = 16777216, 16777416, 16777316
NO_LOSS = {name: 0 for name in (
    "lost", "excluded", "unmatched", "begun_before", "abandoned", "clipped", "late", "invalid",
    "device_lost", "flows_lost", "no_device_time", "names_overflowed", "device_times_clamped",
    "clock_error_ns", "own_cost_ns_per_marker_x1000", "own_cost_total_ns", "ended_without_stop")}


def us(ns):
    return round(ns / 1000, 3)


class Woken(list):
    """The numbers of a recorded wait."""


def waits_of(world, lanes):
    """They are ranges, as docs/log-format.md has them. Tasks that share a thread wait elsewhere."""
    shared, ends = set(), {}
    for row, begin, end, *_ in sorted(world.kernel.waits):
        if begin < ends.get(row, 0):
            shared.add(row)
        ends[row] = max(end, ends.get(row, 0))
    objects = sorted({one[4] for one in world.kernel.waits if one[4]})
    for row, begin, end, kind, name, _, woken_by in world.kernel.waits:
        if not name or row not in lanes or row in shared:
            continue
        how = MUTEX if kind == "lock" else CONDITION
        if kind == "timed get" and not woken_by:
            how += TIMED_OUT
        by = THREADS + lanes[woken_by] if lanes.get(woken_by) else 0
        yield (row, f"wait for {name}", begin, end, [], None,
               Woken([1 + objects.index(name), by, 0, how]))


def depths(ranges):
    """{index: how many ranges of its row a range is inside of}."""
    rows, found = {}, {}
    for index, (row, _, begin, end, _, _, place) in enumerate(ranges):
        if place is not True:
            rows.setdefault(row, []).append((begin, -end, -index))
    for members in rows.values():
        stack = []
        for begin, end, index in sorted(members):
            index = -index  # of equal ranges the outer one ends last
            while stack and stack[-1] <= begin:
                stack.pop()
            found[index] = len(stack)
            if not isinstance(ranges[index][6], tuple):  # a submission holds nothing
                stack.append(-end)
    return found


def range_event(world, one, lane, depth):
    _, name, begin, end, flows, cpu, place = one
    args = {"window": 0}
    if depth:
        args["depth"] = depth
    if place is True:
        args["async"] = True
    if flows:
        args["flows"] = flows
    if cpu:
        args.update(cpu_known=3, cpu_user_ns=cpu[0], cpu_sys_ns=0, run_queue_ns=cpu[1])
    tid = THREADS + lane
    if place is True:
        tid = ASYNC + lane
    elif isinstance(place, tuple):
        tid = SUBMIT + lane
        args.update(on_stream=place[0], device_start_ns=place[1], device_end_ns=place[2],
                    device_off_ns=0)
    category = world.categories.get(name, "UserDefined")
    if isinstance(place, Woken):
        category, args["numbers"] = "Wait", list(place)
    name = world.renamed.get(name, name)
    return {"ph": "X", "name": name, "cat": category, "tid": tid, "args": args, "ts": us(begin),
            "dur": us(end - begin)}


def events_of(world, lanes):
    """Those of the rows in `lanes`, {row: lane}."""
    last = max(one[3] for one in world.ranges)
    waits = list(waits_of(world, lanes)) if world.has_waits else []
    around = [(row, name, 0, last, [], None, False) for row, name in world.around]
    ranges = [one for one in waits + around + world.ranges if one[3] > one[2] and one[0] in lanes]
    depth = depths(ranges)

    def border(what, at):
        return {"ph": "i", "s": "p", "name": f"window 0 {what}", "cat": "window", "tid": PID,
                "ts": us(at)}
    yield border("opens", 0)
    for row, number, begin, end in [] if world.unmarked else world.rounds:
        if row in lanes:
            yield {"ph": "X", "name": "ProfileStep", "cat": "ProfileStep", "tid": PROCESS,
                   "args": {"window": 0, "async": True, "step": number}, "ts": us(begin),
                   "dur": us(end - begin)}
    for index, one in enumerate(ranges):
        yield range_event(world, one, lanes[one[0]], depth.get(index, 0))
    yield border("closes", last)
    for row, lane in lanes.items():
        tids = ((PROCESS if lane == 0 else THREADS + lane, ""), (SUBMIT + lane, " submit"),
                (ASYNC + lane, " async"))
        for tid, what in tids:
            yield {"ph": "M", "name": "thread_name", "tid": tid,
                   "args": {"name": world.rows[row] + what, "lane": lane}}


def facts_of(world, process, lanes):
    made = [{"id": lane, "of": 0, "number": THREADS + lane if lane else 0,
             "name": world.rows[row]} for row, lane in lanes.items()]
    devices = [name for name, of in world.devices if of == process]
    made += [{"id": len(made) + n, "of": 1, "number": n, "name": name}
             for n, name in enumerate(devices)]
    streams = [stream for stream in world.streams if world.devices[stream.device][1] == process]
    name = f"{world.name} {world.seed} {process}"
    return {"baseTimeNanoseconds": "1700000000000000000", "version": "0.1.0",
            "pid": str(PID + process), "uuid": hashlib.sha256(name.encode()).hexdigest()[:32],
            "clock": "tsc", "time_base_realtime_ns": "1700000000000000000",
            "ticks_per_second": "1000000000", "host": "h0", "num_cpus": "8", "cpu": "c",
            "kernel": "k", "command": world.name, "counters_not_finite": 0, "shift_ns": 0,
            **({"rank": str(process)} if world.ranks else {}), "lanes": made,
            "devices": [{"id": n + 1, "of": 0, "number": n, "name": name}
                        for n, name in enumerate(devices)],
            "streams": [{"id": stream.number, "number": stream.number, "name": "",
                         "of": devices.index(world.devices[stream.device][0]) + 1}
                        for stream in streams],
            "trust": {"recorded": len(world.ranges), **NO_LOSS, "crash_safe": 1}, "notes": []}


def write_process(world, path, process):
    rows = [0] + [row for row in world.process if row and world.process[row] == process]
    if world.order:
        rows[1:] = sorted(rows[1:], key=lambda _: world.order())
    lanes = {row: lane for lane, row in enumerate(rows)}
    lines = ",\n".join(json.dumps({"pid": PID + process, **event}, separators=(",", ":"))
                       for event in events_of(world, lanes))
    facts = json.dumps(facts_of(world, process, lanes))
    waits = [(lanes[row], *what, lanes.get(had, 0), lanes.get(woke, 0))
             for row, *what, had, woke in world.kernel.waits
             if row in lanes and what[3] and what[1] > what[0]]
    compress(path + ".waits.gz", "".join(json.dumps(one) + "\n" for one in waits))
    compress(path + ".json.gz", '{"displayTimeUnit":"ns","pprofTrace":1,"baseTimeNanoseconds":'
             f'1700000000000000000,\n"traceEvents":[\n{lines}\n],\n"otherData":{facts}}}\n')


def compress(path, text):
    with open(path, "wb") as file:
        file.write(gzip.compress(text.encode(), 5, mtime=0))


def write(world, path):
    """The paths of the traces, one for each process. Beside each its .waits.gz has a wait a line:
    row, begin, end, kind, what for, the row that had it then, the row that woke this one."""
    paths = []
    for process in sorted(set(world.process.values())):
        place = f"{path}.{process}" if process else path
        write_process(world, place, process)
        paths.append(place + ".json.gz")
    return paths
