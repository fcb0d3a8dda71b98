# SPDX-License-Identifier: Apache-2.0
"""Reads a trace into the runs of model.py, as docs/import.md says, all of it at once.

Of events it knows ranges, metadata and memory, which is what the traces of these tests have.
"""
import decimal
import gzip
import json
import re
from fractions import Fraction

from categories import CATS, clean_name, classify
from model import Device, Host, Memory, Run

PROJECTED = ("GpuUserAnnotation", "CudaSync")
ON_DEVICE = ("Kernel", "Memcpy", "Memset", *PROJECTED)
MICROSECOND = decimal.Decimal(1000)


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    return {"traceEvents": trace} if isinstance(trace, list) else trace


def to_ns(value):
    return int((decimal.Decimal(value) * MICROSECOND).to_integral_value(decimal.ROUND_HALF_UP))


class Event:
    """A range with exact times."""

    def __init__(self, event):
        self.is_pair = event["ph"] == "B"
        self.is_cut = event.get("is_open", False)  # it has no end: the trace's
        self.args = event.get("args", {})
        self.pid, self.tid = event["pid"], thread_number(event["tid"])
        self.start = to_ns(event["ts"])
        self.end = self.start + to_ns(event["dur"])
        self.name = clean_name(event["name"])
        self.cat = event.get("cat", "")
        self.category, self.communicates = classify(self.cat, self.name)
        self.correlation = self.args.get("correlation", self.args.get("correlation id"))
        self.external = self.args.get("External id")
        has_ids = self.correlation is not None or "stream" in self.args
        is_kernel = self.cat.lower() in CATS and self.category in ON_DEVICE
        self.is_device = is_kernel and (self.category not in ("Memcpy", "Memset") or has_ids or
                                        self.cat.startswith("gpu_"))


def thread_number(tid):
    """Paddle's two rows of a thread, 12(C++) and 12(Python), are one."""
    return int(str(tid).split("(", maxsplit=1)[0])


class Reader:
    def __init__(self, path):
        trace = load(path)
        self.events = [Event(e) for e in trace["traceEvents"] if is_range(e)]
        self.events += paired(trace["traceEvents"])
        self.memory = [e for e in trace["traceEvents"] if e.get("name") == "[memory]"]
        frames = [e for e in trace["traceEvents"] if e.get("ph") == "X" and
                  e.get("cat") == "Trace"]
        times = [(to_ns(e["ts"]), to_ns(e["ts"]) + to_ns(e["dur"])) for e in frames]
        times += [(e.start, max(e.start, e.end)) for e in self.events]
        points = self.memory + [e for e in trace["traceEvents"]
                                if e.get("name") == "Record Window End"]
        times += [(to_ns(e["ts"]), to_ns(e["ts"])) for e in points]
        self.base = min(start for start, end in times)
        self.length = max(end for start, end in times) - self.base
        for event in self.events:
            if event.is_cut:
                event.end = self.base + self.length
        self.extra = trace.get("ExtraInfo", {})
        self.calls, self.owners = {}, {}

    def runs(self):
        hosts = [event for event in self.events if not event.is_device]
        pids = sorted({event.pid for event in hosts if event.category != "Overhead"} |
                      {event["pid"] for event in self.memory})
        pids = pids or [min(event.pid for event in self.events)]
        launches = [event for event in hosts if event.category == "CudaRuntime"
                    and event.correlation is not None]
        # What is of no process goes with the one that launches most, or does most.
        main = max(pids, key=lambda pid: (sum(e.pid == pid for e in launches),
                                          self.num_of_host(hosts, pid), -pid))
        runs = {pid: Run("", str(pid)) for pid in pids}
        for event in hosts:
            pid = event.pid if event.pid in runs else main
            host = self.host(event)
            runs[pid].hosts.append(host)
            if event.category == "CudaRuntime" and event.correlation is not None:
                self.calls[event.correlation] = (pid, host)
            elif event.cat in ("cpu_op", "user_annotation") and event.external is not None:
                self.owners[event.external] = (pid, host)
        for event in self.events:
            if event.is_device:
                pid, device = self.device(event, main)
                runs[pid].devices.append(device)
        for pid, run in runs.items():
            run.memory = self.samples([e for e in self.memory if e["pid"] == pid])
            run.window = (0, self.length)
            run.device_names = sorted({device.device for device in run.devices})
        self.take_utilization(runs[main])
        return list(runs.values())

    def num_of_host(self, hosts, pid):
        """Events, not ranges: a begin and an end are two."""
        return sum(1 + (event.is_pair and not event.is_cut)
                   for event in hosts if event.pid == pid) + sum(
            event["pid"] == pid for event in self.memory)

    def host(self, event):
        thread = event.tid if event.category != "Overhead" else -1
        lane = (thread, event.cat == "python_function")
        # Annotations of collectives end on another thread than they begin on.
        is_nested = event.category != "Communication" or event.cat != "user_annotation"
        return Host(event.name, event.category, thread, event.start - self.base,
                    event.end - self.base, lane=lane, is_nested=is_nested,
                    is_communication=event.communicates,
                    is_pair=event.is_pair, is_cut=event.is_cut, flops=event.args.get("flops", 0),
                    items=event.args.get("items", 0), is_invalid=event.end < event.start)

    def device(self, event, main):
        number = event.args.get("device", event.pid)
        pid, call = self.calls.get(event.correlation) or self.owners.get(event.external) or \
            (main, None)
        start = event.start - self.base
        return pid, Device(event.name, event.category, f"GPU{number}", event.args.get("stream"),
                           start, event.end - self.base, call.thread if call else None,
                           call.start if call else start, lane=call.lane if call else None,
                           is_communication=event.communicates,
                           is_projected=event.category in PROJECTED)

    def samples(self, events):
        """The level of what is handed out at each event; of what is reserved when it changes."""
        samples, last = [], {}
        for event in sorted(events, key=lambda event: to_ns(event["ts"])):
            args, time = event["args"], to_ns(event["ts"]) - self.base
            is_of_reserved = event["cat"].startswith("Reserved")
            if "place" in args:
                place = re.sub(r"^Place\((.*)\)$", r"\1", args["place"])
                change, levels = args["increase_bytes"], ("current_allocated", "current_reserved")
                if event["cat"].endswith("Free"):
                    change = -abs(change)
            else:
                place = f"gpu:{args['Device Id']}" if args["Device Type"] else "cpu"
                change, levels = args["Bytes"], ("Total Allocated", "Total Reserved")
            thread = thread_number(event["tid"])
            if levels[0] in args or not is_of_reserved:
                samples.append(Memory(place, False, thread, time, args.get(levels[0], 0),
                                      None if is_of_reserved else change))
            level = args.get(levels[1])
            if level is None:
                continue
            before = last.get(place, 0)
            stated = change if is_of_reserved else level - before if place in last else None
            if is_of_reserved or level != before:
                samples.append(Memory(place, True, thread, time, level, stated))
            last[place] = level
        return samples

    def take_utilization(self, run):
        for what in ("Process", "System"):
            text = self.extra.get(f"{what} Cpu Utilization")
            if text is not None:
                setattr(run, f"cpu_{what.lower()}", (Fraction(text), 1))


def paired(events):
    """Begins with their ends: the last one begun on the thread is the first to end."""
    found, stacks = [], {}
    for event in events:
        stack = stacks.setdefault((event.get("pid"), event.get("tid")), [])
        if event.get("ph") == "B":
            stack.append(event)
        elif event.get("ph") == "E":
            begin = stack.pop()
            found.append((begin["ts"], -event["ts"], len(stack),
                          Event({**begin, "dur": event["ts"] - begin["ts"]})))
    for stack in stacks.values():
        for depth, begin in enumerate(stack):
            found.append((begin["ts"], -decimal.Decimal("Infinity"), depth,
                          Event({**begin, "dur": 0, "is_open": True})))
    return [event for *order, event in sorted(found, key=lambda item: item[:3])]


def is_range(event):
    return event.get("ph") == "X" and event.get("cat") != "Trace"


def read(path):
    return Reader(path).runs()
