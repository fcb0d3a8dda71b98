# SPDX-License-Identifier: Apache-2.0
"""Makes traces in the layouts of Paddle's and PyTorch's profilers. Times are nanoseconds."""
import gzip
import json
import re

PYTHON = ("ProfileStep", "Forward", "Backward", "Dataloader", "Optimization", "PythonOp",
          "PythonUserDefined")
MS = 1000000
HEAD = {"schemaVersion": "1.0.2", "displayTimeUnit": "ms", "span_indx": "0"}


class PaddleTrace:
    """Starts are whole microseconds, as Paddle writes them."""

    def __init__(self, base=1700000000 * 10**9, pid=4242):
        self.base, self.pid, self.events, self.next_id = base, pid, [], 1
        self.extra = {}
        self.devices = []

    def put(self, name, category, row, start, end, **args):
        length = end - start
        shown = f"{length / 1e6:.3f} ms" if length > MS else f"{length / 1e3:.3f} us"
        pid, tid = row
        args = {"start_time": f"{start / 1e3:.3f} us", "end_time": f"{end / 1e3:.3f} us", **args}
        self.events.append({
            "name": f"{name}[{shown}]", "pid": pid, "tid": tid, "ts": (self.base + start) // 1000,
            "dur": length / 1000, "ph": "X", "cat": category, "cname": "thread_state_runnable",
            "args": args})

    def host(self, name, category, start, end, tid=100, **args):
        side = "Python" if category in PYTHON else "C++"
        self.put(name, category, (self.pid, f"{tid}({side})"), start, end, **args)

    def step(self, start, end, number=0, tid=100, items=0):
        args = {"items": items} if items else {}
        self.host(f"ProfileStep#{number}", "ProfileStep", start, end, tid, **args)

    def call(self, start, end, tid=100, name="cudaLaunchKernel"):
        """A runtime call; answers its correlation id."""
        number, self.next_id = self.next_id, self.next_id + 1
        self.host(name, "CudaRuntime", start, end, tid, **{"correlation id": number})
        self.flow("s", number, self.pid, f"{tid}(C++)", (start + end) // 2)
        return number

    def flow(self, phase, number, pid, tid, at):
        event = {"name": "launch", "id": number, "pid": pid, "tid": tid,
                 "ts": (self.base + at) // 1000, "ph": phase, "cat": "async"}
        if phase == "f":
            event["bp"] = "e"
        self.events.append(event)

    def device(self, name, start, end, number, stream=7, device=0, category="Kernel"):
        args = {"stream": stream, "correlation id": number}
        if category != "Memcpy":
            args["device"] = device
        if device not in self.devices:
            self.devices.append(device)
        self.put(name, category, (device, stream), start, end, **args)
        self.flow("f", number, device, stream, (start + end) // 2)

    def launch(self, name, at, start, end, tid=100, **place):
        """A kernel and the call of one microsecond that launched it."""
        self.device(name, start, end, self.call(at, at + 1000, tid), **place)

    def memory(self, kind, at, change, allocated, reserved, tid=100, place="Place(gpu:0)"):
        self.events.append({
            "name": "[memory]", "pid": self.pid, "tid": f"{tid}(C++)",
            "ts": (self.base + at) // 1000, "ph": "i", "cat": kind,
            "args": {"place": place, "addr": "4096", "increase_bytes": change,
                     "current_allocated": allocated, "current_reserved": reserved,
                     "peak_allocated": allocated, "peak_reserved": reserved}})

    def metadata(self):
        named = [("process_name", self.pid, 0, f"Process {self.pid} (CPU)")]
        for tid in sorted({e["tid"] for e in self.events if isinstance(e["tid"], str)}):
            number, side = tid[:-1].split("(")
            named.append(("thread_name", self.pid, tid, f"thread {number}:{number}({side})"))
        for device in self.devices:
            named.append(("process_name", device, 0, f"Deivce {device} (GPU)"))
        for device, stream in sorted({(e["pid"], e["tid"]) for e in self.events
                                      if not isinstance(e["tid"], str)}):
            named.append(("thread_name", device, stream, f"stream {stream}"))
        return [{"name": what, "pid": pid, "tid": tid, "ph": "M", "args": {"name": name}}
                for what, pid, tid, name in named]

    def write(self, path):
        head = dict(HEAD)
        if self.devices:
            head["deviceProperties"] = [{"id": device, "name": "Test GPU", "smCount": 4}
                                        for device in self.devices]
        write_trace(path, {**head, "traceEvents": self.events + self.metadata() + [{}],
                           "ExtraInfo": self.extra})


class KinetoTrace:
    """Times are exact to the nanosecond, as three decimals of a microsecond."""

    def __init__(self, base=4441230616864271, pid=812):
        self.base, self.pid, self.events, self.next_id = base, pid, [], 1
        self.pairs = []

    def put(self, name, category, row, start, end, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": row[0],
                            "tid": row[1], "ts": microseconds(self.base + start),
                            "dur": microseconds(end - start), "args": args})

    def host(self, name, category, start, end, tid=100, **args):
        self.put(name, category, (self.pid, tid), start, end, **args)

    def pair(self, name, category, start, end, tid):
        """A range as a begin and an end; it holds others of its thread wholly or not at all."""
        self.pairs.append((start, -end, name, category, tid))

    def open(self, name, category, start, tid):
        """One that is not ended; nothing else is on its thread."""
        self.events.append({**self.end_of(tid, start), "ph": "B", "cat": category, "name": name})

    def step(self, start, end, number=0, tid=100, items=0):
        args = {"items": items} if items else {}
        self.host(f"ProfilerStep#{number}", "user_annotation", start, end, tid, **args)

    def call(self, start, end, tid=100, name="cudaLaunchKernel"):
        number, self.next_id = self.next_id, self.next_id + 1
        self.host(name, "cuda_runtime", start, end, tid, cbid=211, correlation=number)
        self.flow("s", number, self.pid, tid, start)
        return number

    def flow(self, phase, number, pid, tid, at):
        event = {"ph": phase, "id": number, "pid": pid, "tid": tid,
                 "ts": microseconds(self.base + at), "cat": "ac2g", "name": "ac2g"}
        if phase == "f":
            event["bp"] = "e"
        self.events.append(event)

    def device(self, name, start, end, number, stream=7, device=0, category="kernel"):
        args = {"device": device, "context": 1, "stream": stream}
        if number:
            args["correlation"] = number
            self.flow("f", number, device, stream, start)
        self.put(name, category, (device, stream), start, end, **args)

    def memory(self, at, change, allocated, reserved, tid=100, device=0):
        self.events.append({
            "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": self.pid,
            "tid": tid, "ts": microseconds(self.base + at),
            "args": {"Total Reserved": reserved, "Total Allocated": allocated, "Bytes": change,
                     "Device Id": device, "Device Type": 1, "Addr": 4096}})

    def metadata(self):
        rows = [(self.pid, "python3", "CPU")]
        rows += [(device, "python3", f"GPU {device}") for device in range(8)]  # used or not
        events = []
        for pid, name, label in rows:
            for what, args in (("process_name", {"name": name}),
                               ("process_labels", {"labels": label})):
                events.append({"name": what, "ph": "M", "ts": microseconds(self.base),
                               "pid": pid, "tid": 0, "args": args})
        for pid, tid in sorted({(e["pid"], e["tid"]) for e in self.events + self.ends()}):
            name = f"thread {tid} (python3)" if pid == self.pid else f"stream {tid} "
            events.append({"name": "thread_name", "ph": "M", "ts": microseconds(self.base),
                           "pid": pid, "tid": tid, "args": {"name": name}})
        return events

    def write(self, path):
        head = {"schemaVersion": 1, "deviceProperties": [
            {"id": device, "name": "Test GPU"} for device in range(8)],
            "displayTimeUnit": "ms", "baseTimeNanoseconds": 1700000000 * 10**9}
        write_trace(path, {**head, "traceEvents": self.ends() + self.events + self.metadata(),
                           "traceName": "trace.json"})

    def ends(self):
        """Begins and ends of `pairs`, each thread's in their order."""
        events = []
        for tid in sorted({pair[4] for pair in self.pairs}):
            stack = []
            for start, minus_end, name, category, _ in sorted(
                    (p for p in self.pairs if p[4] == tid), key=lambda p: p[:2]):
                while stack and stack[-1] <= start:
                    events.append(self.end_of(tid, stack.pop()))
                stack.append(-minus_end)
                events.append({**self.end_of(tid, start), "ph": "B", "cat": category,
                               "name": name})
            while stack:
                events.append(self.end_of(tid, stack.pop()))
        return events

    def end_of(self, tid, at):
        return {"ph": "E", "pid": self.pid, "tid": tid, "ts": microseconds(self.base + at)}


def microseconds(ns):
    """An exact number of three decimals; write_trace takes the quotes off."""
    sign, ns = ("-" if ns < 0 else ""), abs(ns)
    return f"={sign}{ns // 1000}.{ns % 1000:03}"


def write_trace(path, trace):
    """One event a line."""
    events = trace.pop("traceEvents")
    lines = ",\n".join(json.dumps(event) for event in events)
    rest = ["%s: %s" % (json.dumps(key), json.dumps(value)) for key, value in trace.items()]
    text = "{\n" + ",\n".join(rest + [f'"traceEvents": [\n{lines}\n]']) + "\n}\n"
    text = re.sub(r'"=(-?[0-9.]+)"', r"\1", text)
    if path.endswith(".gz"):
        with gzip.GzipFile(path, "wb", mtime=0) as file:
            file.write(text.encode())
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
