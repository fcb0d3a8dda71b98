#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""log_dump.py LOG: the lines of log_dump, by the Python reader. PYTHONPATH must lead to pplog."""
import sys

import pplog

KEYS = ("recorded lost excluded unmatched begun_before abandoned clipped late "
        "invalid device_lost flows_lost no_device_time names_overflowed "
        "device_times_clamped clock_error_ns "
        "own_cost_ns_per_marker_x1000 own_cost_total_ns crash_safe cpu_process_ns cpu_elapsed_ns "
        "cpu_system_busy_ticks cpu_system_idle_ticks ended_without_stop").split()


def tally(lanes, events):
    """What totals would say, for a log that has none."""
    for event in events:
        row = lanes.setdefault(event["lane"], [0] * len(KEYS))
        row[KEYS.index("recorded")] += 1
        for bit, key in ((1, "clipped"), (2, "abandoned"), (4, "late"), (16, "no_device_time")):
            row[KEYS.index(key)] += event["flags"] & bit != 0
        row[KEYS.index("invalid")] += (event["end"] < event["start"]
                                       or event["device"][1] < event["device"][0])


def synthesise(lanes):
    lanes = dict(sorted(lanes.items()))
    sums = [sum(row[key] for row in lanes.values()) for key in range(len(KEYS))]
    sums[-1] = 1
    return [(lane, key, value) for lane, row in [*lanes.items(), (pplog.ALL_LANES, sums)]
            for key, value in enumerate(row) if value]


def escape(text):
    return "".join(chr(c) if 32 <= c <= 126 and c != 92 else f"\\x{c:02x}" for c in text)


def print_event(what, event):
    numbers = " ".join(f"{key}={event[key]}" for key in
                       ("kind", "site", "lane", "stream", "depth", "flags", "window"))
    start, end, error = event["device"]
    work = "-" if event["work"] is None else ",".join(f"{bits:016x}" for bits in event["work"])
    print(f"{what} {numbers} host={event['start']}..{event['end']} device={start}..{end}+-{error}"
          f" value={event['value']:016x} flows=[{','.join(map(str, event['flows']))}] work={work}"
          + (f" attributes={event['attributes']}" if event["attributes"] else "")
          + (f" cpu={','.join(map(str, event['cpu']))}" if event["cpu"] else "")
          + ("" if event["numbers"] is None else
             f" numbers={event['full_name']}:{','.join(map(str, event['numbers']))}"))


def print_totals(items, notes, lanes):
    if items is None:
        items = synthesise(lanes)
    else:
        items = sorted((lane, KEYS.index(key), value) for lane, key, value in items if key in KEYS)
    for lane, key, value in items:
        print(f"total lane={-1 if lane == pplog.ALL_LANES else lane} {KEYS[key]}={value}")
    for key, value in notes:
        print(f"note {escape(key)}={escape(value)}")
    print("finish")


def dump(path):
    for what, *rest in pplog.read(path):
        if what == "info":
            lanes = {}
            for key, value in rest[0]:
                print(f"info {escape(key)}={escape(value)}")
            print("begin")
        elif what == "define":
            kind, number, parent, color, os_number, name = rest
            print(f"define kind={kind} id={number} parent={parent} color={color}"
                  f" number={os_number} name={escape(name)}")
        elif what == "batch":
            (lane, _, first, end, num, _), events = rest
            tally(lanes, events)
            print(f"batch lane={lane} seq={first}..{end} num={num}")
            for event in events:
                print_event(f"event {lane}", event)
        elif what == "checkpoint":
            print(f"checkpoint time={rest[0]}")
            for event in rest[1]:
                print_event("open", event)
        elif what == "window":
            print(f"window index={rest[0]} {'opens' if rest[1] else 'closes'} time={rest[2]}")
        else:
            items, notes, damage = rest
            print_totals(items, notes, lanes)
    whole = not damage["bytes"] and not damage["missing"]
    print("status " + ("success" if whole else "the log is damaged"))
    return 0 if whole else 4


if __name__ == "__main__":
    try:
        sys.exit(dump(sys.argv[1]))
    except (OSError, ValueError) as failure:
        sys.exit(f"{sys.argv[1]}: {failure}")
