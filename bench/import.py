#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reading a trace costs: import.py [OPTIONS] PPROF_REPORT.

Writes a trace laid out as PyTorch's profiler lays one out, and reads it in
turns with Python's json.load and with `PPROF_REPORT summary`, each in a process
of its own; the same packed by gzip, beside libdeflate, which only inflates it. Then a larger one is summed up in an address space of 512 MiB. What
the summary counted must be what was written. With --write FILE it only writes
the trace.
"""
import argparse
import array
import ctypes
import gzip
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RATIO_BOUND = 3.0
LIMIT_MIB = 512
GROUPS_PER_STEP = 200
GROUP_NS = 36000  # more than the longest takes
PID, FORWARD, BACKWARD = 4711, 4711, 4790
BASE_NS = 4441230472057415123

# One group: an operator and what it calls, four deep, and the memory it takes.
# Times are us with three decimals, as all through the file.
OPERATOR = """  {
    "ph": "X", "cat": "cpu_op", "name": "%s", "pid": %d, "tid": %d,
    "ts": %s, "dur": %s,
    "args": {
      "External id": %d,"Record function id": 0, "Sequence number": %d, \
"Concrete Inputs": ["", "", "", "[1, 1]"], "Input type": ["float", "float", \
"float", "ScalarList"], "Input Strides": [%s, %s, [1], []], "Input Dims": \
[%s, %s, [%d], []], "Ev Idx": %d
    }
  },
"""
MEMORY = """  {
    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
    "pid": %d, "tid": %d,
    "ts": %s,
    "args": {
      "Total Reserved": %d, "Total Allocated": %d, "Bytes": %d, "Device Id": 0,\
 "Device Type": 1, "Addr": %d, "finished": false, "Ev Idx": %d
    }
  },
"""
FLOW = """  {
    "ph": "%s", "id": %d, "pid": %d, "tid": %d, "ts": %s,
    "cat": "%s", "name": "%s"%s
  },
"""
STEP = """  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", \
"pid": %d, "tid": %d,
    "ts": %s, "dur": %s,
    "args": {
      "External id": %d,"Record function id": 0, "Ev Idx": %d
    }
  },
"""
RUNTIME = """  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", \
"pid": %d, "tid": %d,
    "ts": %s, "dur": %s,
    "args": {
      "External id": %d,      "cbid": 211, "correlation": %d
    }
  },
"""
KERNEL = """  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7,
    "ts": %s, "dur": %s,
    "args": {
      "External id": %d,      "queued": 0, "device": 0, "context": 1,      \
"stream": 7, "correlation": %d,      "registers per thread": 64,      \
"shared memory": 2304,      "blocks per SM": 7.757576,      \
"warps per SM": 15.515152,      "grid": [%d, 1, 1],      \
"block": [128, 1, 1],      "est. achieved occupancy %%": 24
    }
  },
"""
NAMED = """  {
    "name": "%s", "ph": "M", "ts": %s, "pid": %d, "tid": %d,
    "args": {
      "name": "%s"
    }
  },
"""
HEAD = """  {
    "schemaVersion": 1,
    "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320,
      "computeMajor": 9, "computeMinor": 0, "warpSize": 32, "numSms": 132
    }
    ],
      "record_shapes": 1,
      "profile_memory": 1,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""
TAIL = """  {
    "name": "Record Window End", "ph": "i", "s": "g",
    "pid": "", "tid": "", "ts": %s
  }
  ],
  "traceName": "bench.json"
}"""

OPERATORS = [
    ("conv2d", "convolution", "_convolution", "cudnn_convolution"),
    ("linear", "addmm", "matmul", "mm"),
    ("layer_norm", "native_layer_norm", "empty_like", "empty_strided"),
    ("scaled_dot_product_attention", "_scaled_dot_product_flash_attention",
     "_flash_attention_forward", "empty"),
    ("batch_norm", "_batch_norm_impl_index", "cudnn_batch_norm", "empty"),
    ("cross_entropy_loss", "log_softmax", "_log_softmax", "empty_like"),
    ("max_pool2d", "max_pool2d_with_indices", "resize_", "as_strided"),
    ("dropout", "native_dropout", "bernoulli_", "empty_like"),
]
KERNELS = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::"
    "(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
    "c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}"
    "::operator()() const::{lambda()#%d}, std::array<char*, 2ul> >(int)",
    "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, %d, 1, "
    "false, false, true>(int, int, int, float const*, int, float*, "
    "kernel_conv_params, unsigned long long, int, float, float, int)",
    "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x%d_warpgroupsize1",
    "void cutlass::device_kernel<flash::FlashAttnFwdSm90<%d> >(Params)",
]


def us(ns):
    return "%d.%03d" % (ns // 1000, ns % 1000)


class Trace:
    """Writes one; what it counts is what a reader must find."""

    def __init__(self, file, num_bytes):
        self.file = file
        self.num_bytes = num_bytes
        self.random = random.Random(5)
        self.launches = array.array("q")  # per group: start, thread
        self.num_events = 0
        self.num_ranges = 0
        self.num_kernels = 0
        self.num_memory = 0
        self.index = 0
        self.size = 0

    def put(self, text, num_events):
        self.size += len(text)
        self.num_events += num_events
        self.file.write(text)

    def shape(self):
        rows = 1 << self.random.randrange(4, 12)
        columns = self.random.randrange(1, 65) * 16
        return ("[%d, %d, 56, 56]" % (rows, columns),
                "[%d, 3136, 56, 1]" % (columns * 3136))

    def group(self, tid, start_ns):
        pick = self.random.randrange
        dims, strides = self.shape()
        weight, weight_strides = self.shape()
        names = OPERATORS[pick(len(OPERATORS))]
        times = [400 + pick(3000) for _ in range(9)]
        text, num = [], self.index
        begin, length = start_ns, sum(times)
        for depth, name in enumerate(names):
            prefix = ("autograd::engine::evaluate_function: "
                      if tid == BACKWARD and depth == 0 else "aten::")
            text.append(OPERATOR % (
                prefix + name, PID, tid, us(begin), us(length), num + depth + 1,
                num // 5, strides, weight_strides, dims, weight, 64 << depth,
                num + depth))
            begin += times[depth]
            length -= times[depth] + times[8 - depth]
        size = 512 * (1 + pick(9000))
        text.append(MEMORY % (PID, tid, us(begin),
                              90177536 + (num // 5000 << 21),
                              45346816 + pick(1 << 24) * 512, size,
                              139831407542272 + size * 7, num + 4))
        self.index += 5
        self.num_ranges += 4
        self.num_memory += 1
        self.launches.extend((begin + times[4] // 4, times[4] // 2, tid,
                              num + 4))
        self.put("".join(text), 5)

    def thread(self, tid, num_bytes):
        """Operators of one thread, in the order of their starts."""
        limit, num = self.size + num_bytes, 0
        while self.size < limit:
            start = BASE_NS + num * GROUP_NS
            if tid == FORWARD and num % GROUPS_PER_STEP == 0:
                self.put(STEP % (num // GROUPS_PER_STEP, PID, tid, us(start),
                                 us(GROUPS_PER_STEP * GROUP_NS - 1000),
                                 self.index + 1, self.index), 1)
                self.index += 1
                self.num_ranges += 1
            if num % 8 == 0:
                self.put(FLOW % ("s" if tid == FORWARD else "f", num // 8 + 1,
                                 PID, tid, us(start + 500), "fwdbwd", "fwdbwd",
                                 "" if tid == FORWARD else ', "bp": "e"'), 1)
            self.group(tid, start + 500)
            num += 1

    def device(self):
        """Calls of the driver's library and kernels, with the flows between."""
        free_ns, launches = 0, self.launches
        for i in range(0, len(launches), 4):
            start, length, tid, external = launches[i:i + 4]
            correlation = i // 4 + 1000
            begin = max(free_ns, start + length + 2000)
            free_ns = begin + 800 + self.random.randrange(12000)
            name = KERNELS[i // 4 % len(KERNELS)] % (i // 16 % 16)
            self.put("".join((
                RUNTIME % (PID, tid, us(start), us(length), external,
                           correlation),
                FLOW % ("s", correlation, PID, tid, us(start), "ac2g", "ac2g",
                        ""),
                KERNEL % (name, us(begin), us(free_ns - begin), external,
                          correlation, 1 << i // 4 % 12),
                FLOW % ("f", correlation, 0, 7, us(begin), "ac2g", "ac2g",
                        ', "bp": "e"'))), 4)
            self.num_ranges += 1
            self.num_kernels += 1

    def write(self):
        self.put(HEAD, 0)
        # A third of a group's text is the device's part.
        self.thread(FORWARD, self.num_bytes * 34 // 100)
        self.thread(BACKWARD, self.num_bytes * 34 // 100)
        self.device()
        for kind, pid, tid, name in (("process_name", PID, 0, "python3"),
                                     ("process_labels", PID, 0, "CPU"),
                                     ("process_name", 0, 0, "python3"),
                                     ("process_labels", 0, 0, "GPU 0"),
                                     ("thread_name", PID, FORWARD, "python3"),
                                     ("thread_name", PID, BACKWARD, "autograd"),
                                     ("thread_name", 0, 7, "stream 7")):
            self.put(NAMED % (kind, us(BASE_NS), pid, tid, name), 1)
        self.put(TAIL % us(BASE_NS + 1), 1)


def write_trace(path, megabytes):
    with open(path, "w", encoding="ascii", buffering=1 << 20) as file:
        trace = Trace(file, int(megabytes * 1e6))
        trace.write()
    return trace


def limit_memory():
    limit = LIMIT_MIB << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class Failure(Exception):
    """The failures, in words."""


def run(command, limited=False):
    """Runs it: seconds of CPU, seconds, resident MB, and what it printed."""
    start = time.perf_counter()
    prepare = limit_memory if limited else None
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          preexec_fn=prepare) as child:
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if child.returncode != 0:
        raise Failure("%s: exit status %d" % (command[0], child.returncode))
    return (usage.ru_utime + usage.ru_stime, seconds,
            usage.ru_maxrss * 1024 / 1e6, output)


def load(path):
    """json.load alone: the start of Python and its end do not count."""
    program = ("import json, sys, time\n"
               "with open(sys.argv[1], encoding='utf-8') as file:\n"
               "    wall, cpu = time.perf_counter(), time.process_time()\n"
               "    trace = json.load(file)\n"
               "    print(time.process_time() - cpu,\n"
               "          time.perf_counter() - wall,\n"
               "          len(trace['traceEvents']), flush=True)\n"
               "import os; os._exit(0)\n")
    _, _, resident, output = run([sys.executable, "-c", program, path])
    cpu, wall, num = output.split()
    return float(cpu), float(wall), resident, int(num)


def rows_of(report, view):
    view = report["views"][view]
    names = [column["name"] for column in view["columns"]]
    return [dict(zip(names, row)) for row in view["rows"]]


def count_events(report):
    """Host ranges, kernels and allocations in a report."""
    overview = rows_of(report, "overview")
    return tuple(
        sum(row["calls"] for row in overview if row["part"] == part)
        for part in ("host", "device")) + (
            sum(row["allocation_count"] for row in rows_of(report, "memory")
                if row["name"] is not None and row["type"] == "Allocated"),)


def summary(tool, path, trace, limited=False):
    """The cost of the whole tool, and whether its counts are those written."""
    cpu, wall, resident, output = run([tool, "summary", "--format", "json",
                                       path], limited)
    report = json.loads(output)
    counted = count_events(report)
    expected = trace.num_ranges, trace.num_kernels, trace.num_memory
    if counted != expected or report["trust"]["lost"]:
        raise Failure("ranges, kernels, allocations %s of %s, %d lost"
                      % (counted, expected, report["trust"]["lost"]))
    return cpu, wall, resident


def machine():
    cpu = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    name = os.uname()
    return ("machine: %s, %d CPUs, %s %s, load %.1f"
            % (cpu, os.cpu_count(), name.machine, name.release,
               os.getloadavg()[0]))


def tell_bound(what, value, bound, met):
    print("%s %.2f, %s: %s" % (what, value, bound, "met" if met else "MISSED"))
    return met


def compare(tool, folder, megabytes, repetitions):
    path = os.path.join(folder, "trace.json")
    trace = write_trace(path, megabytes)
    print("trace: %.1f MB, %d events, %.0f bytes each; medians of %d runs\n"
          % (trace.size / 1e6, trace.num_events,
             trace.size / trace.num_events, repetitions))
    loads, again, summaries = [], [], []
    for repetition in range(-1, repetitions):  # -1 warms up
        row = load(path), summary(tool, path, trace), load(path)
        if row[0][3] != trace.num_events:
            raise Failure("json.load: %d of %d events"
                          % (row[0][3], trace.num_events))
        if repetition >= 0:
            loads.append(row[0])
            summaries.append(row[1])
            again.append(row[2])
    print("%-22s %12s %12s %10s" % ("", "events/s", "events/s", "resident"))
    print("%-22s %12s %12s %10s" % ("", "of CPU time", "of time", "MB"))
    for name, rows in (("json.load", loads), ("pprof-report summary",
                                              summaries)):
        print("%-22s %12.0f %12.0f %10.1f" % (
            name, trace.num_events / statistics.median(r[0] for r in rows),
            trace.num_events / statistics.median(r[1] for r in rows),
            statistics.median(r[2] for r in rows)))
    ratios = [(a[0] + c[0]) / 2 / b[0]
              for a, b, c in zip(loads, summaries, again)]
    print("\nA/A %.3f" % statistics.median(c[0] / a[0]
                                           for a, c in zip(loads, again)))
    ratio = statistics.median(ratios)
    put_row("import as PyTorch writes it", trace.size / 1e6 / statistics.median(
        r[0] for r in summaries), "MB/s", -200)
    put_row("import as PyTorch writes it: resident", statistics.median(
        r[2] for r in summaries), "MB", 0)
    put_row("import against json.load", ratio, "times its events", -RATIO_BOUND)
    compare_packed(tool, path, trace, repetitions)
    return tell_bound("events a second against json.load", ratio,
                      "at least %.2f" % RATIO_BOUND, ratio >= RATIO_BOUND)


def put_row(what, figure, unit, bound):
    print("row\t%s\t%.4g\t%s\t%g" % (what, figure, unit, bound))


class Libdeflate:
    """Inflates one member of gzip; None where the library is missing."""

    def __init__(self):
        self.library = ctypes.CDLL("libdeflate.so.0")
        self.library.libdeflate_alloc_decompressor.restype = ctypes.c_void_p
        self.state = ctypes.c_void_p(
            self.library.libdeflate_alloc_decompressor())

    def seconds(self, packed, size):
        out = ctypes.create_string_buffer(size)
        begin = time.process_time()
        status = self.library.libdeflate_gzip_decompress(
            self.state, packed, ctypes.c_size_t(len(packed)), out,
            ctypes.c_size_t(size), None)
        taken = time.process_time() - begin
        if status:
            raise Failure("libdeflate: status %d" % status)
        return taken


def compare_packed(tool, path, trace, repetitions):
    """The same as gzip, in turns with the plain one and libdeflate's time."""
    packed = path + ".gz"
    with open(path, "rb") as file, open(packed, "wb") as out:
        data = gzip.compress(file.read(), 6)
        out.write(data)
    try:
        libdeflate = Libdeflate()
    except OSError as error:
        print("libdeflate: %s" % error)
        libdeflate = None
    rates, ratios = [], []
    for _ in range(repetitions):
        plain = summary(tool, path, trace)[0]
        whole = summary(tool, packed, trace)[0]
        rates.append(trace.size / 1e6 / whole)
        if libdeflate:
            ratios.append(whole / (
                plain + libdeflate.seconds(data, trace.size)))
    put_row("the same as .gz, unpacked size", statistics.median(rates), "MB/s", 0)
    if ratios:
        put_row("the same as .gz", statistics.median(ratios),
                "times the plain one and libdeflate", 1)


def limited(tool, folder, megabytes):
    path = os.path.join(folder, "trace.json")
    need = megabytes * 2.5e6
    free = shutil.disk_usage(folder).free
    if free < need:
        raise Failure("%s: %.1f GB free, %.1f GB needed"
                      % (folder, free / 1e9, need / 1e9))
    trace = write_trace(path, megabytes)
    cpu, wall, resident = summary(tool, path, trace, limited=True)
    print("\n%.2f GB, %d events in an address space of %d MiB: %.1f s of CPU"
          " time, %.1f s, %.0f events/s, %.1f MB resident: met"
          % (trace.size / 1e9, trace.num_events, LIMIT_MIB, cpu, wall,
             trace.num_events / cpu, resident))
    os.unlink(path)


def main():
    parser = argparse.ArgumentParser(
        description="What reading a trace costs, against Python's json.load.")
    parser.add_argument("tool", metavar="PPROF_REPORT", nargs="?")
    parser.add_argument("-r", "--repetitions", type=int, default=5)
    parser.add_argument("--mb", type=float, default=200,
                        help="size of the trace that both read [200]")
    parser.add_argument("--limited-mb", type=float, default=2000,
                        help="size of the one in little memory; 0: none [2000]")
    parser.add_argument("--write", metavar="FILE",
                        help="write a trace of --mb and be done")
    options = parser.parse_args()
    if options.write:
        trace = write_trace(options.write, options.mb)
        print("%s: %d bytes, %d events" % (options.write, trace.size,
                                           trace.num_events))
        return 0
    if not options.tool or options.repetitions < 1:
        parser.print_usage(sys.stderr)
        return 2
    print(machine())
    print("build: %s, Python %s" % (
        subprocess.run([options.tool, "--version"], check=True,
                       capture_output=True, text=True).stdout.strip(),
        sys.version.split()[0]))
    with tempfile.TemporaryDirectory(prefix="import.") as folder:
        # The tool's own temporary files go where ours are.
        os.environ["TMPDIR"] = folder
        try:
            ok = compare(options.tool, folder, options.mb, options.repetitions)
            if options.limited_mb:
                limited(options.tool, folder, options.limited_mb)
        except Failure as failure:
            print("import.py: %s" % failure, file=sys.stderr)
            ok = False
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
