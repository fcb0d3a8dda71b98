# SPDX-License-Identifier: Apache-2.0
"""Writes what a world has recorded as a trace of pprof, and its waits beside it."""
import gzip
import hashlib
import json

PID, THREADS = 4242, 1000
PROCESS, SUBMIT, ASYNC = 16777216, 16777416, 16777316
NO_LOSS = {name: 0 for name in (
    "lost", "excluded", "unmatched", "begun_before", "abandoned", "clipped", "late", "invalid",
    "device_lost", "flows_lost", "no_device_time", "names_overflowed", "device_times_clamped",
    "clock_error_ns", "own_cost_ns_per_marker_x1000", "own_cost_total_ns", "ended_without_stop")}


def us(ns):
    return round(ns / 1000, 3)


def depths(ranges):
    """{index: how many ranges of its row a range is inside of}."""
    rows, found = {}, {}
    for index, (row, _, begin, end, _, _, place) in enumerate(ranges):
        if place is not True:
            rows.setdefault(row, []).append((begin, -end, index))
    for members in rows.values():
        stack = []
        for begin, end, index in sorted(members):
            while stack and stack[-1] <= begin:
                stack.pop()
            found[index] = len(stack)
            if not isinstance(ranges[index][6], tuple):  # a submission holds nothing
                stack.append(-end)
    return found


def range_event(world, one, depth):
    row, name, begin, end, flows, cpu, place = one
    args = {"window": 0}
    if depth:
        args["depth"] = depth
    if place is True:
        args["async"] = True
    if flows:
        args["flows"] = flows
    if cpu:
        args.update(cpu_known=3, cpu_user_ns=cpu[0], cpu_sys_ns=0, run_queue_ns=cpu[1])
    tid = THREADS + row
    if place is True:
        tid = ASYNC + row
    elif isinstance(place, tuple):
        tid = SUBMIT + row
        args.update(on_stream=place[0], device_start_ns=place[1], device_end_ns=place[2],
                    device_off_ns=0)
    category = world.categories.get(name, "UserDefined")
    return {"ph": "X", "name": name, "cat": category, "pid": PID, "tid": tid, "args": args,
            "ts": us(begin), "dur": us(end - begin)}


def events_of(world):
    end = max(one[3] for one in world.ranges)
    around = [(row, name, 0, end, [], None, False) for row, name in world.around]
    ranges = around + [one for one in world.ranges if one[3] > one[2]]
    depth = depths(ranges)

    def border(what, at):
        return {"ph": "i", "s": "p", "name": f"window 0 {what}", "cat": "window", "pid": PID,
                "tid": PID, "ts": us(at)}
    yield border("opens", 0)
    if world.steps and not world.unmarked:
        for unit in world.units:
            if unit.end is not None:
                yield {"ph": "X", "name": "ProfileStep", "cat": "ProfileStep", "pid": PID,
                       "tid": PROCESS, "args": {"window": 0, "async": True, "step": unit.n - 1},
                       "ts": us(unit.begin), "dur": us(unit.end - unit.begin)}
    for index, one in enumerate(ranges):
        yield range_event(world, one, depth.get(index, 0))
    yield border("closes", end)
    for lane, name in enumerate(world.rows):
        tids = ((PROCESS if lane == 0 else THREADS + lane, ""), (SUBMIT + lane, " submit"),
                (ASYNC + lane, " async"))
        for tid, what in tids:
            yield {"ph": "M", "name": "thread_name", "pid": PID, "tid": tid,
                   "args": {"name": name + what, "lane": lane}}


def facts_of(world):
    lanes = [{"id": row, "of": 0, "number": THREADS + row if row else 0, "name": name}
             for row, name in enumerate(world.rows)]
    lanes += [{"id": len(lanes) + n, "of": 1, "number": n, "name": name}
              for n, name in enumerate(world.devices)]
    name = f"{world.name} {world.seed}"
    return {"baseTimeNanoseconds": "1700000000000000000", "version": "0.1.0", "pid": str(PID),
            "uuid": hashlib.sha256(name.encode()).hexdigest()[:32], "clock": "tsc",
            "time_base_realtime_ns": "1700000000000000000", "ticks_per_second": "1000000000",
            "host": "h0", "num_cpus": "8", "cpu": "c", "kernel": "k", "command": world.name,
            "counters_not_finite": 0, "shift_ns": 0, "lanes": lanes,
            "devices": [{"id": n + 1, "of": 0, "number": n, "name": name}
                        for n, name in enumerate(world.devices)],
            "streams": [{"id": stream.number, "of": stream.device + 1, "number": stream.number,
                         "name": ""} for stream in world.streams],
            "trust": {"recorded": len(world.ranges), **NO_LOSS, "crash_safe": 1}, "notes": []}


def write(world, path):
    """`path`.json.gz, and `path`.waits.gz with a wait a line: row, begin, end, kind, what for, the
    row that had it then, the row that woke this one."""
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events_of(world))
    text = ('{"displayTimeUnit":"ns","pprofTrace":1,"baseTimeNanoseconds":1700000000000000000,\n'
            f'"traceEvents":[\n{lines}\n],\n"otherData":{json.dumps(facts_of(world))}}}\n')
    waits = [one for one in world.kernel.waits if one[4] and one[2] > one[1]]
    for end, content in ((".json.gz", text),
                         (".waits.gz", "".join(json.dumps(one) + "\n" for one in waits))):
        with open(path + end, "wb") as file:
            file.write(gzip.compress(content.encode(), 5, mtime=0))
