#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py TOOL WORKER COUNT [--minutes M] [--processes N] [--seed S] [--out F]

Services as production has them, together on one memory file system: threads
and names that come and go, rotation and limits, crashes and restarts at random.
Each process is in a cgroup of its own; all share a /dev/shm of 64 MiB. At the
end what each process counted itself is compared with what its logs hold and
tell, and nobody may have been killed by memory.

Without arguments behind the programs it is a test: 20 seconds, or 20 minutes
with PPROF_TEST_LONG.
"""
import argparse
import glob
import json
import os
import random
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

MIB = 1 << 20
CGROUP_BYTES = 96 * MIB
TMPFS_BYTES = 64 * MIB
ENDS = ["kill", "abort", "_exit", "segv", "exit", "stop"]
COUNTS = struct.Struct("=QQQQQ200s")
# What a process may grow by after its first quarter, in a soak that is long
# enough for one to tell: the heap's own steps.
FLAT_BYTES = 2 * MIB
FLAT_SECONDS = 900

# One log, in segments; the same with a limit; what is left of it, in time.
LAYOUTS = [
    "rotate.size=1MiB",
    "rotate.size=256KiB;disk_limit=2MiB",
    "rotate.size=256KiB;rotate.keep=4",
    "",
]


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(0)


def in_namespace():
    """Again in a mount namespace, where /dev/shm is our own."""
    if os.environ.get("PPROF_SOAK_INSIDE"):
        return
    environment = dict(os.environ, PPROF_SOAK_INSIDE="1")
    inside = ["unshare", "-m" if os.geteuid() == 0 else "-Urm"]
    if subprocess.run(inside + ["true"], stderr=subprocess.DEVNULL).returncode:
        skip("no mount namespace may be made here")
    os.execvpe(inside[0], inside + [sys.executable] + sys.argv, environment)


class Cgroups:
    """A memory cgroup of CGROUP_BYTES for each process, version 1 or 2."""

    def __init__(self):
        self.base, self.limit, self.made = None, None, []
        for line in open("/proc/self/cgroup"):
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if "memory" in controllers.split(","):
                self.base = "/sys/fs/cgroup/memory" + path
                self.limit = "memory.limit_in_bytes"
            elif not controllers and not self.base:
                self.base, self.limit = "/sys/fs/cgroup" + path, "memory.max"

    def make(self, name):
        folder = "%s/pprof-soak-%d-%s" % (self.base, os.getpid(), name)
        try:
            os.mkdir(folder)
            with open(os.path.join(folder, self.limit), "w") as file:
                file.write(str(CGROUP_BYTES))
        except OSError as error:
            skip("no cgroup with a limit of memory: %s" % error)
        self.made.append(folder)
        return folder

    def kills(self):
        """How often the kernel ended a process of ours for memory."""
        num = 0
        for folder in self.made:
            for name in ["memory.oom_control", "memory.events"]:
                path = os.path.join(folder, name)
                for line in open(path) if os.path.exists(path) else []:
                    key, _, value = line.partition(" ")
                    num += int(value) if key == "oom_kill" else 0
        return num

    def peak(self):
        """The most that any of them held, with its share of the tmpfs."""
        names = ["memory.max_usage_in_bytes", "memory.peak"]
        paths = [os.path.join(f, n) for f in self.made for n in names]
        return max([int(open(p).read()) for p in paths if os.path.exists(p)],
                   default=0)

    def remove(self):
        for folder in self.made:
            try:
                os.rmdir(folder)
            except OSError:
                pass


class Run:
    """One life of a service."""

    def __init__(self, slot, number):
        self.slot, self.number = slot, number
        self.path = os.path.join(slot.folder, "counts.%d" % number)
        self.end, self.code, self.samples = None, None, []

    def counts(self):
        with open(self.path, "rb") as file:
            fields = COUNTS.unpack(file.read(COUNTS.size))
        return dict(zip(["begun", "done", "threads", "names", "stopped",
                         "why"], fields))


class Slot(threading.Thread):
    """A service that is started again when it has ended."""

    def __init__(self, soak, number):
        super().__init__()
        self.soak, self.number, self.runs = soak, number, []
        self.layout = LAYOUTS[number % len(LAYOUTS)]
        # The first ones live as long as the soak does.
        self.crashes = number >= len(LAYOUTS) or soak.processes < 4
        self.folder = os.path.join(soak.home, "service%d" % number)
        os.mkdir(self.folder)
        self.cgroup = soak.cgroups.make(str(number))
        self.random = random.Random("%d %d" % (soak.seed, number))
        self.process = None

    def environment(self):
        # A busy machine may keep the collector away for seconds.
        settings = [s for s in [self.layout, "memory_limit=8MiB",
                                "stop_wait=60s"] if s]
        environment = dict(os.environ, PPROF_SET=";".join(settings),
                           PPROF_OUTPUT=os.path.join(self.folder, "s.pplog"))
        for name in ["PPROF_CONFIG", "PPROF_RECLAIM"]:
            environment.pop(name, None)
        return environment

    def enter(self):
        with open(os.path.join(self.cgroup, "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))

    def live(self, seconds, end):
        run = Run(self, len(self.runs))
        run.end = end
        self.runs.append(run)
        with open(os.path.join(self.folder, "stderr"), "a") as said:
            self.process = subprocess.Popen(
                [self.soak.worker, run.path, str(int(seconds * 1000)), end,
                 str(self.random.randrange(1 << 20))],
                env=self.environment(), stderr=said, preexec_fn=self.enter)
            run.code = self.process.wait()

    def run(self):
        while True:
            left = self.soak.until - time.monotonic()
            if left < 1:
                return
            if not self.crashes:
                self.live(left, "stop")
                return
            life = min(left, self.random.expovariate(1 / self.soak.life) + 0.5)
            self.live(life, self.random.choice(ENDS))


def status_of(pid):
    """Bytes that are the process's own, its descriptors, its threads."""
    values = {}
    for line in open("/proc/%d/status" % pid):
        key, _, value = line.partition(":")
        values[key] = value.split()[0] if value.split() else ""
    return (int(values.get("RssAnon", 0)) * 1024,
            len(os.listdir("/proc/%d/fd" % pid)), int(values["Threads"]))


class Soak:
    def __init__(self, options, home):
        self.tool, self.worker, self.count = map(
            os.path.abspath, [options.tool, options.worker, options.count])
        self.home, self.seed = home, options.seed
        self.processes = options.processes
        self.seconds = options.minutes * 60
        self.life = max(2, self.seconds / 60)
        self.cgroups = Cgroups()
        self.problems, self.shm = [], []
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % TMPFS_BYTES,
                        "none", "/dev/shm"], check=True)
        self.until = time.monotonic() + self.seconds
        self.slots = [Slot(self, n) for n in range(self.processes)]

    def say(self, problem):
        self.problems.append(problem)
        print("PROBLEM: " + problem, flush=True)

    def sample(self):
        stat = os.statvfs("/dev/shm")
        self.shm.append((stat.f_blocks - stat.f_bfree) * stat.f_frsize)
        for slot in self.slots:
            if not slot.runs or slot.process is None:
                continue
            try:
                slot.runs[-1].samples.append(status_of(slot.process.pid))
            except (OSError, KeyError, ValueError):
                pass  # It has ended.

    def go(self):
        for slot in self.slots:
            slot.start()
        while any(slot.is_alive() for slot in self.slots):
            self.sample()
            time.sleep(min(5, self.seconds / 40))
        for slot in self.slots:
            slot.join()

    def recover(self):
        """What the last ones left. Answers how many spools there were."""
        left = glob.glob("/dev/shm/pprof-*.spool")
        for spool in left:
            done = subprocess.run([self.tool, "recover", spool],
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                self.say("recover %s: %s" % (spool, done.stdout.strip()))
        return len(left)

    def read(self, slot):
        """By run: what its logs hold and tell."""
        logs = sorted(glob.glob(os.path.join(slot.folder, "*.pplog")))
        parts = glob.glob(os.path.join(slot.folder, "*.part"))
        if parts:
            self.say("service %d: %d parts have no spool" % (
                slot.number, len(parts)))
        done = subprocess.run([self.count, *logs], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            self.say("service %d: %s" % (slot.number, done.stderr.strip()))
        found = {}
        for line in done.stdout.splitlines():
            log = json.loads(line)
            run = os.path.basename(log["command"].split()[1])
            sums = found.setdefault(run, {})
            for key in ["found", "lost", "excluded", "names_overflowed"]:
                sums[key] = sums.get(key, 0) + log[key]
            # Of the first segment that is there.
            sums.setdefault("removed", log["removed"])
        return found

    def check_run(self, run, told):
        counts = run.counts()
        where = "service %d, run %d (%s, %s)" % (
            run.slot.number, run.number, run.end, run.slot.layout)
        planned = {"kill": -signal.SIGKILL, "abort": -signal.SIGABRT,
                   "segv": -signal.SIGSEGV}.get(run.end, 0)
        if run.code != planned:
            self.say("%s ended with %s" % (where, run.code))
        if run.end == "stop" and counts["stopped"] != 1:
            self.say("%s: stop answered %d %s" % (
                where, counts["stopped"] - 1, counts["why"].rstrip(b"\0")))
        if told is None:
            told = {}
        total = sum(told.get(k, 0) for k in
                    ["found", "lost", "excluded", "removed"])
        if not counts["done"] <= total <= counts["begun"]:
            self.say("%s: %s make %d, not %d to %d" % (
                where, told, total, counts["done"], counts["begun"]))
        if told.get("names_overflowed"):
            self.say("%s: %d names had no room" % (
                where, told["names_overflowed"]))
        return counts, told

    def check_flat(self, run):
        """Memory and descriptors of one that lived for long."""
        samples = run.samples
        if run.slot.crashes or self.seconds < FLAT_SECONDS:
            return
        quarter = samples[len(samples) // 4:]
        begin, end = quarter[:len(quarter) // 4], quarter[-len(quarter) // 4:]
        for what, index, room in [("memory", 0, FLAT_BYTES),
                                  ("descriptors", 1, 0)]:
            before = statistics.median(s[index] for s in begin)
            after = statistics.median(s[index] for s in end)
            print("service %d: %s %d, then %d" % (
                run.slot.number, what, before, after))
            if after > before + room:
                self.say("service %d: %s rose from %d to %d" % (
                    run.slot.number, what, before, after))

    def check(self):
        totals = {}
        kills = self.cgroups.kills()
        if kills:
            self.say("%d processes were killed by memory" % kills)
        spools = self.recover()
        for slot in self.slots:
            told = self.read(slot)
            for run in slot.runs:
                counts, of_run = self.check_run(
                    run, told.get("counts.%d" % run.number))
                self.check_flat(run)
                for key in ["begun", "threads", "names"]:
                    totals[key] = totals.get(key, 0) + counts[key]
                for key, value in of_run.items():
                    totals[key] = totals.get(key, 0) + value
        runs = [run for slot in self.slots for run in slot.runs]
        totals.update(
            minutes=self.seconds / 60, processes=self.processes,
            runs=len(runs), seed=self.seed,
            ends={end: sum(run.end == end for run in runs) for end in ENDS},
            killed_by_memory=kills, spools_left=spools,
            shm_peak=max(self.shm), cgroup_peak=self.cgroups.peak(),
            problems=len(self.problems))
        return totals


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("worker")
    parser.add_argument("count")
    is_long = os.environ.get("PPROF_TEST_LONG", "0") not in ["", "0"]
    parser.add_argument("--minutes", type=float,
                        default=20 if is_long else 1 / 3)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int,
                        default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--out", help="a file for the figures, as JSON")
    options = parser.parse_args()
    in_namespace()
    with tempfile.TemporaryDirectory() as home:
        soak = Soak(options, home)
        try:
            soak.go()
            totals = soak.check()
        finally:
            soak.cgroups.remove()
    print(json.dumps(totals, indent=1))
    if options.out:
        with open(options.out, "w") as file:
            json.dump(totals, file, indent=1)
    sys.exit(1 if soak.problems else 0)


if __name__ == "__main__":
    main()
