#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py PEERS TOOL [REPETITIONS]: runs the program `peers` under a recording session of LTTng and
counts in each one's output that it holds every event. TOOL is pprof-report. Exits 1 when one is
missing."""
import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

SESSION = "pprof-bench"
# Two events for each pair; ours has one range for each pair of two kinds.
LTTNG_EVENTS, OUR_RANGES = 2, 2


def out(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"peers.py: {' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def cpu_seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def print_rates(tool, log, traces, counts):
    """Reading: of the events that were counted, each by its own program."""
    theirs = counts["LTTng-UST"][0] / cpu_seconds(
        "babeltrace2", traces, "--component=counter:sink.utils.counter")
    ours = counts["pprof"][0] / cpu_seconds(tool, "--no-sums", "--jobs", "1", log)
    print(f"row\tbabeltrace2 counts its trace\t{theirs / 1e6:.3g}\tmillion events/s\t0")
    print(f"row\tpprof-report reports its log\t{ours / 1e6:.3g}\tmillion ranges/s\t0")


@contextlib.contextmanager
def daemon():
    """LTTng's, ours unless one runs already."""
    running = subprocess.run(["lttng", "--no-sessiond", "list"], capture_output=True,
                             check=False).returncode == 0
    if running:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        pid_file = os.path.join(folder, "pid")
        out("lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile", pid_file)
        try:
            yield
        finally:
            with open(pid_file, encoding="ascii") as file:
                os.kill(int(file.read()), 15)


@contextlib.contextmanager
def recording(folder):
    out("lttng", "create", SESSION, "--output", folder)
    try:
        out("lttng", "enable-channel", "--session", SESSION, "--userspace", "--num-subbuf", "8",
            "--subbuf-size", "4M", "bench")
        out("lttng", "enable-event", "--session", SESSION, "--userspace", "--channel", "bench",
            "pprof_bench:*")
        out("lttng", "start", SESSION)
        yield
    finally:
        out("lttng", "destroy", SESSION)


def count_lttng(folder):
    counted = out("babeltrace2", folder, "--component=counter:sink.utils.counter")
    return int(re.findall(r"(\d+) Event messages", counted)[-1])  # it counts aloud


def count_ours(tool, log):
    return json.loads(out(tool, "info", "--format", "json", log))["logs"][0]["events"]


def main():
    if not shutil.which("lttng") or not shutil.which("babeltrace2"):
        sys.exit("peers.py: needs lttng-tools and babeltrace2")
    peers, tool, *repetitions = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, daemon():
        log, traces = os.path.join(folder, "peers.pplog"), os.path.join(folder, "lttng")
        with recording(traces):
            printed = out(peers, log, *repetitions)
        pairs = int(re.search(r"^pairs\t(\d+)$", printed, re.MULTILINE).group(1))
        counts = {"LTTng-UST": (count_lttng(traces), pairs * LTTNG_EVENTS),
                  "pprof": (count_ours(tool, log), pairs * OUR_RANGES)}
        print(printed, end="")
        print_rates(tool, log, traces, counts)
    for name, (counted, expected) in counts.items():
        print(f"{name}: {counted} of {expected} events are in its output")
    sys.exit(any(counted != expected for counted, expected in counts.values()))


if __name__ == "__main__":
    main()
