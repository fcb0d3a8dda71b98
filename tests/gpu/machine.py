#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The machine's samples, findings and energy on a GPU, with torch: kernels of known duty, a power
cap, a burner in another process, and what sampling costs.

    tests/gpu/machine.py DIR [SCENARIO...]

DIR has pprof-report and libpprof.so, built with -c opt. Prints what it measured and exits 1 where
something is not as it should be. Scenarios: duty, cap, burner, cost, quiet; the last needs no GPU.
"""
import concurrent.futures
import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TREE, "tools", "python"))
import pplog  # noqa: E402  (found by the line above)

SIZE = 8192
OF_MACHINE = ("power-cap", "heat", "quota", "shared-device", "stood-still", "neighbours", "steal",
              "swapping")
failures = []


def check(holds, what):
    print("%s  %s" % ("ok  " if holds else "FAIL", what), flush=True)
    if not holds:
        failures.append(what)


# ---- programs that are measured; each runs in a process of its own ----

def matrices(torch):
    return [torch.randn(SIZE, SIZE, dtype=torch.bfloat16, device="cuda") for _ in range(2)]


def product_seconds(torch, a, b):
    for _ in range(5):
        torch.matmul(a, b)
    torch.cuda.synchronize()
    before = time.perf_counter()
    for _ in range(20):
        torch.matmul(a, b)
    torch.cuda.synchronize()
    return (time.perf_counter() - before) / 20


def counter_joules():
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    device, mj = ctypes.c_void_p(), ctypes.c_ulonglong()
    nvml.nvmlInit_v2()
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
    nvml.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(mj))
    return mj.value / 1e3


def duty():
    """10, 50 and 100 % of each fifth of a second, then 5 s of nothing."""
    import pprof
    import torch
    a, b = matrices(torch)
    took = product_seconds(torch, a, b)
    period = 0.2
    pprof.start()
    before = counter_joules()
    for percent, seconds in ((10, 80), (50, 15), (100, 15)):
        num = max(1, round(period * percent / 100 / took))
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            begin = time.perf_counter()
            with pprof.device_range("duty %d" % percent):
                for _ in range(num):
                    torch.matmul(a, b)
            torch.cuda.synchronize()
            left = period - (time.perf_counter() - begin)
            if percent < 100 and left > 0:
                time.sleep(left)
    time.sleep(5)
    print(json.dumps({"joules": counter_joules() - before}))
    pprof.stop()


def cap():
    """Products back to back for 20 s, small ones in between."""
    import pprof
    import torch
    a, b = matrices(torch)
    small = a[:1024, :1024].contiguous()
    pprof.start()
    end = time.perf_counter() + 20
    while time.perf_counter() < end:
        with pprof.device_range("large"):
            for _ in range(4):
                torch.matmul(a, b)
        with pprof.device_range("small"):
            torch.matmul(small, small)
        torch.cuda.synchronize()
    pprof.stop()


def burner():
    """Small products for 24 s; another process fills the device from 8 to 16 s."""
    import pprof
    import torch
    small = torch.randn(2048, 2048, dtype=torch.bfloat16, device="cuda")
    torch.matmul(small, small)
    torch.cuda.synchronize()
    pprof.start()
    begin, other = time.perf_counter(), None
    while time.perf_counter() < begin + 24:
        if other is None and time.perf_counter() > begin + 8:
            other = subprocess.Popen([sys.executable, __file__, "--child", "burn"])
        with pprof.device_range("infer"):
            torch.matmul(small, small)
        torch.cuda.synchronize()
        time.sleep(0.004)
    pprof.stop()
    other.wait()


def burn():
    import torch
    a, b = matrices(torch)
    end = time.perf_counter() + 8
    while time.perf_counter() < end:
        for _ in range(8):
            torch.matmul(a, b)
        torch.cuda.synchronize()


NVML_CALLS = (("PowerUsage", 1), ("ClockInfo", 2), ("CurrentClocksEventReasons", 1),
              ("EnforcedPowerLimit", 1), ("Temperature", 2), ("UtilizationRates", 1),
              ("MemoryInfo", 1), ("ComputeRunningProcesses_v3", 3), ("TotalEnergyConsumption", 1))


def nvml_costs():
    """Microseconds of a processor that the first and a later answer to each call take."""
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    device, out = ctypes.c_void_p(), (ctypes.c_char * 4096)()
    nvml.nvmlInit_v2()
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
    costs = {}
    for name, arguments in NVML_CALLS:
        call, number = getattr(nvml, "nvmlDeviceGet" + name), ctypes.c_uint(64)
        more = {1: (out,), 2: (1 if name == "ClockInfo" else 0, out),
                3: (ctypes.byref(number), out)}[arguments]
        times = []
        for _ in range(11):
            before = time.thread_time_ns()
            call(device, *more)
            times.append((time.thread_time_ns() - before) / 1e3)
        costs[name] = (times[0], sorted(times[1:])[5])
    return costs


def ticks():
    """Of all processors: busy, and stolen; and what this process has used, all in seconds."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return ((user + nice + system + irq + softirq) / 100, steal / 100, sum(os.times()[:2]))


def quiet():
    """Two seconds of short calls, and what the program itself notices of the machine: processors
    that others took, the longest delay of a call, and steal."""
    import pprof
    pprof.start()
    begin, late, before = time.perf_counter(), 0, ticks()
    for _ in range(100):
        called = time.perf_counter()
        with pprof.range("call"):
            time.sleep(0.02)
        late = max(late, time.perf_counter() - called - 0.02)
    busy, steal, own = (after - first for after, first in zip(ticks(), before))
    took = time.perf_counter() - begin
    pprof.stop()
    print(json.dumps({"neighbours": (busy - own) / took / os.cpu_count(), "stood-still": late,
                      "steal": steal / took}))


def cost():
    """Half a minute of nothing, and what each thread of the library took of it, in tenths."""
    import pprof
    import torch
    torch.zeros(1, device="cuda")
    pprof.start()
    time.sleep(5)  # loading NVML is no part of it
    looks = [threads()]
    for _ in range(10):
        time.sleep(3)
        looks.append(threads())
    pprof.stop()
    took = {name: [(after[name] - before.get(name, 0)) / 3e7
                   for before, after in zip(looks, looks[1:])]
            for name in looks[-1] if name.startswith("pprof")}
    print(json.dumps(dict(took, nvml_us=nvml_costs())))


def threads():
    found = {}
    for thread in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % thread, encoding="ascii") as comm, \
                open("/proc/self/task/%s/schedstat" % thread, encoding="ascii") as stat:
            found[comm.read().strip()] = int(stat.read().split()[0])
    return found


# ---- what is said of them ----

class Run:
    def __init__(self, folder, where, name, log=None):
        self.folder = folder
        self.report = os.path.join(folder, "pprof-report")
        self.log = os.path.join(where, (log or name) + ".pplog")
        paths = [os.path.join(TREE, "python"), os.environ.get("PYTHONPATH", "")]
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths)),
                   PYTHONDONTWRITEBYTECODE="1", PPROF_OUTPUT=self.log,
                   PPROF_LIBRARY=os.path.join(folder, "libpprof.so"), PPROF_SET="machine=on")
        done = subprocess.run([sys.executable, __file__, "--child", name], env=env, check=True,
                              stdout=subprocess.PIPE, text=True)
        lines = done.stdout.strip().splitlines()
        self.printed = json.loads(lines[-1]) if lines else {}
        done = subprocess.run([self.report, "-f", "json", self.log], check=True,
                              stdout=subprocess.PIPE, text=True)
        self.made = json.loads(done.stdout)

    def finding(self, name):
        return next((finding for finding in self.made["findings"] if finding["id"] == name), None)

    def energy(self):
        view = self.made["views"]["energy"]
        names = [column["name"] for column in view["columns"]]
        rows = [dict(zip(names, row)) for row in view["rows"]]
        return {row["name"]: row for row in rows if row["device"] == "gpu:0"}

    def values(self, counter):
        sites, found = {}, []
        for what, *rest in pplog.read(self.log):
            if what == "define" and rest[0] == 1:
                sites[rest[1]] = rest[5].decode()
            elif what == "batch":
                found += [struct.unpack("<d", struct.pack("<Q", event["value"]))[0]
                          for event in rest[1] if sites[event["site"]] == counter]
        return found

    def say(self):
        for finding in self.made["findings"]:
            print("      %s: %s" % (finding["id"], finding["text"]))
        subprocess.run([self.report, "--view", "energy", self.log], check=False)


def judge_duty(run):
    rows = run.energy()
    total = rows["(total)"]["energy"]
    parts = sum(row["energy"] or 0 for name, row in rows.items() if name != "(total)")
    check(abs(parts - total) < 0.001 * total, "rows add up: %.0f of %.0f J" % (parts, total))
    own = run.printed["joules"]
    check(abs(total - own) < 0.02 * own, "the counter read beside it: %.0f J" % own)
    shares = [rows["duty %d" % percent]["energy"] for percent in (10, 50, 100)]
    watts = [share and share / seconds for share, seconds in zip(shares, (80, 15, 15))]
    check(all(watts) and watts[0] < watts[1] < watts[2], "W by duty: %s" % watts)


def judge_cap(run):
    reasons = [int(value) for value in run.values("gpu:0.event_reasons")]
    clocks = run.values("gpu:0.sm_mhz")
    power = run.values("gpu:0.power_w")
    print("      SM clock %.0f to %.0f MHz, power up to %.0f of %.0f W, reasons %s" %
          (min(clocks), max(clocks), max(power), run.values("gpu:0.power_limit_w")[-1],
           sorted(set(map(hex, reasons)))))
    capped = any(reason & 4 for reason in reasons)
    finding = run.finding("power-cap")
    check(capped == (finding is not None), "power cap: %s" % (finding and finding["text"]))


def judge_burner(run):
    others = run.values("gpu:0.other_processes")
    finding = run.finding("shared-device")
    print("      other processes, as they were sampled: %s" % others)
    if others and max(others) < 1:
        check(min(others) < 0 and finding is None, "processes cannot be seen here: unknown")
    else:
        check(finding is not None, "another process: %s" % (finding and finding["text"]))


def judge_cost(run):
    for name, costs in run.printed.pop("nvml_us").items():
        print("      %-28s first %8.0f us, then %6.0f us" % (name, *costs))
    for name, parts in run.printed.items():
        print("      %-16s %.4f %% of a core: %s" % (name, sum(parts) / len(parts),
                                                    " ".join("%.3f" % part for part in parts)))
    sampling = run.printed["pprof-machine"]
    check(sum(sampling) / len(sampling) < 0.1, "sampling takes less than 0.1 % of a core")


# From here on the program itself noticed the trouble: a part of the processors, seconds,
# processors. Of 50 ms without a processor a call sleeps through 20.
NOTICED = {"neighbours": 0.1, "stood-still": 0.03, "steal": 0.01}


def judge_quiet(first):
    """200 runs, eight at a time, name nothing of the machine but what they noticed themselves."""
    with tempfile.TemporaryDirectory() as where, concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda i: Run(first.folder, where, "quiet", "quiet%d" % i),
                             range(200)))
    named = [(run.printed.get(finding["id"], 0), finding) for run in runs
             for finding in run.made["findings"] if finding["id"] in OF_MACHINE]
    wrong = [(noticed, finding) for noticed, finding in named
             if noticed < NOTICED.get(finding["id"], 1)]
    for noticed, finding in wrong:
        print("      noticed %.3f: %s" % (noticed, finding["text"]))
    for name, least in NOTICED.items():
        print("      %s: noticed by %d runs, named in %d" %
              (name, sum(run.printed[name] >= least for run in runs),
               sum(finding["id"] == name for _, finding in named)))
    check(not wrong, "200 runs: %d findings, %d of them of nothing" % (len(named), len(wrong)))


def main():
    if sys.argv[1] == "--child":
        globals()[sys.argv[2]]()
        return 0
    folder = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as where:
        for name in sys.argv[2:] or ("duty", "cap", "burner", "cost", "quiet"):
            print("== %s" % name, flush=True)
            run = Run(folder, where, name)
            run.say()
            globals()["judge_" + name](run)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
