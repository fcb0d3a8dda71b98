#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a whole program: CPU time of the example pipeline, every thread of the SDK
included, under several configurations against the same program switched off.

All runs do the same work, on one CPU. Each way runs twice between two runs that are switched off
(off, way, way, off), so that what drifts cancels; ways take turns. A figure is the median of these
differences, with the interval that it has by resampling them (bootstrap, 95 %). The runs that are
switched off, compared with each other in the same manner, are the row `off again`: what the machine
shows where there is nothing. A figure within that interval is noise.

One figure needs no comparison: the CPU time of the SDK's own threads, as the kernel counts it,
against that of the whole process."""
import argparse
import glob
import os
import platform
import random
import statistics
import sys
import tempfile
import time

OFF, AGAIN = "off", "off again"
WAYS = {
    "no window open": "capture: {on_demand: true}\n",
    "markers of stages only": "include: [request]\n",
    "flight recorder": "log: false\nflight_recorder: {rules: ['request > 1h']}\n",
    "everything": "",
}

BOUNDS = {"everything": 0.5}  # %
RESAMPLED = 4000


def environment_of(config, folder):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PPROF_")}
    if config is None:
        return dict(environment, PPROF_ENABLE="0")
    path = os.path.join(folder, "profile.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(config)
    return dict(environment, PPROF_ENABLE="1", PPROF_CONFIG=path,
                PPROF_OUTPUT=os.path.join(folder, "log.pplog"))


def spawn(command, folder, config):
    for log in glob.glob(os.path.join(folder, "*.pplog")):
        os.unlink(log)  # a log that is there keeps its name
    return os.posix_spawnp(
        command[0], command, environment_of(config, folder),
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])


def seconds_of(command, status, usage):
    """User and system time of a run of `command` that has ended, its threads included."""
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}: ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def cpu_seconds(command, folder, config):
    _, status, usage = os.wait4(spawn(command, folder, config), 0)
    return seconds_of(command, status, usage)


def read_own_threads(process, seconds):
    """Notes in `seconds` the CPU time so far of each thread of the SDK's. Workers of the cpu
    backend do the program's work."""
    tasks = f"/proc/{process}/task"
    try:
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/comm", encoding="utf-8") as file:
                name = file.read().strip()
            if not name.startswith("pprof-") or name == "pprof-cpu":
                continue
            with open(f"{tasks}/{task}/schedstat", encoding="utf-8") as file:
                seconds[task] = int(file.read().split()[0]) / 1e9
    except OSError:
        pass  # a thread, or the process, has just ended


def own_percent(command, config):
    """CPU time of the SDK's own threads in one run, in percent of the process's. A read
    comes every 5 ms, so the last 5 ms or less of each thread are missing."""
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        process = spawn(command, folder, config)
        while True:
            ended, status, usage = os.wait4(process, os.WNOHANG)
            if ended:
                break
            read_own_threads(process, seconds)
            time.sleep(0.005)
        return 100 * sum(seconds.values()) / seconds_of(command, status, usage)


def measure(command, rounds, names):
    """The runs that are switched off, in order, and of each way its pairs of runs, each with the
    place of the run before it."""
    pairs = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        cpu_seconds(command, folder, None)  # what is slow once
        offs = [cpu_seconds(command, folder, None)]
        for turn in range(rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                ways = [cpu_seconds(command, folder, WAYS[name]) for _ in range(2)]
                pairs[name].append((len(offs) - 1, ways))
                offs.append(cpu_seconds(command, folder, None))
    return offs, pairs


def percent(inner, outer):
    return 100 * (sum(inner) / sum(outer) - 1)


def differences(offs, pairs):
    return [percent(ways, offs[at:at + 2]) for at, ways in pairs]


def differences_of_nothing(offs):
    """The same of four runs in a row, all of them switched off; the last begins the next four."""
    fours = [offs[i:i + 4] for i in range(0, len(offs) - 3, 3)]
    return [percent(four[1:3], four[::3]) for four in fours]


def interval(values):
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(values, k=len(values)))
                     for _ in range(RESAMPLED))
    return medians[RESAMPLED // 40], medians[-RESAMPLED // 40]


def print_way(name, seconds, values):
    median = statistics.median(values)
    low, high = interval(values)
    print(f"{name:24s} {statistics.median(seconds):8.3f} {median:+8.2f} %"
          f"   {low:+.2f} to {high:+.2f} %")
    return median, low, high


def print_table(offs, pairs):
    print(f"{'':24s} {'CPU s':>8s} {'more':>10s}   95 % of resampled medians")
    print(f"{OFF:24s} {statistics.median(offs):8.3f}")
    _, low, high = print_way(AGAIN, offs, differences_of_nothing(offs))
    rows = [(f"{AGAIN}, half its interval", (high - low) / 2, 0)]
    for name, own in pairs.items():
        seconds = [run for _, ways in own for run in ways]
        median, low, high = print_way(name, seconds, differences(offs, own))
        rows.append((name, median, BOUNDS.get(name, 0)))
        rows.append((f"{name}, half its interval", (high - low) / 2, 0))
    for what, figure, bound in rows:
        print(f"row\tperturbation of the pipeline, {what}\t{figure:.3f}\t% CPU\t{bound}")


def print_own(command, names):
    print("\nthe SDK's own threads, % of the process's CPU time, medians of 5 runs")
    for name in names:
        median = statistics.median(own_percent(command, WAYS[name]) for _ in range(5))
        print(f"{name:24s} {median:8.3f} %")
        print(f"row\tthe SDK's own threads in the pipeline, {name}\t{median:.3f}\t% CPU\t"
              f"{BOUNDS.get(name, 0)}")


def print_start(pipeline, rounds):
    """What a recording costs however long it is: CPU time of one request, recorded and not."""
    command = [os.path.abspath(pipeline), "--device", "cpu", "--requests", "1"]
    offs, pairs = measure(command, rounds, ["everything"])
    more = statistics.median(1000 * (statistics.mean(ways) - statistics.mean(offs[at:at + 2]))
                             for at, ways in pairs["everything"])
    print(f"\nstart, stop and one request: {more:.2f} ms more, median of {rounds} rounds")
    print(f"row\tperturbation of the pipeline, start and stop\t{more:.3f}\tms CPU\t0")


def stay_on_one_cpu(number):
    """This process and what it starts; threads then do not meet on one core's two halves."""
    allowed = sorted(os.sched_getaffinity(0))
    cpu = allowed[-1] if number is None else number
    os.sched_setaffinity(0, {cpu})
    return cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="the example, built with -c opt")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--requests", default="60")
    parser.add_argument("--ways", default=",".join(WAYS), help="some of: %(default)s")
    parser.add_argument("--cpu", type=int, help="the CPU to run on [the last one]")
    arguments = parser.parse_args()
    names = [name for name in WAYS if name in arguments.ways.split(",")]
    if arguments.rounds * len(names) < 12:
        parser.error("--rounds and --ways must make 12 pairs or more")
    cpu = stay_on_one_cpu(arguments.cpu)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, on CPU {cpu}, load {load},"
          f" {arguments.rounds} rounds of {arguments.requests} requests on the cpu backend",
          flush=True)
    command = [os.path.abspath(arguments.pipeline), "--device", "cpu", "--requests",
               arguments.requests]
    print_table(*measure(command, arguments.rounds, names))
    print_own(command, names)
    print_start(arguments.pipeline, arguments.rounds)


if __name__ == "__main__":
    main()
