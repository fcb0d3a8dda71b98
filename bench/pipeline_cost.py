#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a whole program: CPU time of the example pipeline, every thread of the SDK
included, under several configurations against the same program switched off.

All ways take turns in each round, in an order that rotates; a figure is the median over the rounds
of the ratio to that round's first run that is switched off. A second run that is switched off gives
the spread that the machine has by itself: the middle half of its ratios stands beside every
figure."""
import argparse
import os
import platform
import statistics
import sys
import tempfile

OFF = "off"
WAYS = {
    OFF: None,
    "off again": None,
    "no window open": "capture: {on_demand: true}\n",
    "markers of stages only": "include: [request]\n",
    "flight recorder": "log: false\nflight_recorder: {rules: ['request > 1h']}\n",
    "everything": "",
}

BOUNDS = {"everything": 1.005}


def cpu_seconds(command, folder, config):
    """User and system time of one run of `command`, its threads included."""
    environment = dict(os.environ, PPROF_OUTPUT=os.path.join(folder, "log.pplog"))
    environment.pop("PPROF_CONFIG", None)
    if config is None:
        environment["PPROF_ENABLE"] = "0"
    else:
        environment["PPROF_ENABLE"] = "1"
        environment["PPROF_CONFIG"] = os.path.join(folder, "profile.yaml")
        with open(environment["PPROF_CONFIG"], "w", encoding="utf-8") as out:
            out.write(config)
    process = os.posix_spawnp(
        command[0], command, environment,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(process, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}: ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def measure(command, rounds, names):
    seconds = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                seconds[name].append(cpu_seconds(command, folder, WAYS[name]))
    return seconds


def middle_half(values):
    low, _, high = statistics.quantiles(values, n=4)
    return low, high


def print_table(seconds):
    print(f"{'':24s} {'CPU s':>8s} {'ratio':>8s}   middle half")
    for name, values in seconds.items():
        if name == OFF:
            print(f"{name:24s} {statistics.median(values):8.3f}")
            continue
        ratios = [value / base for value, base in zip(values, seconds[OFF])]
        low, high = middle_half(ratios)
        print(f"{name:24s} {statistics.median(values):8.3f} {statistics.median(ratios):8.4f}"
              f"   {low:.4f} to {high:.4f}")
        bound = BOUNDS.get(name, 0)
        print(f"row\tCPU time of the pipeline, {name}\t{statistics.median(ratios):.4f}\tx off"
              f"\t{bound}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="the example, built with -c opt")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--requests", default="60")
    parser.add_argument("--ways", default=",".join(WAYS), help="some of: %(default)s")
    arguments = parser.parse_args()
    names = [name for name in WAYS if name in arguments.ways.split(",")]
    if arguments.rounds < 2 or OFF not in names:
        parser.error("--rounds must be 2 or more, and --ways contain 'off'")
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, load {load}, {arguments.rounds} rounds of"
          f" {arguments.requests} requests on the cpu backend")
    print_table(measure([os.path.abspath(arguments.pipeline), "--device", "cpu", "--requests",
                         arguments.requests], arguments.rounds, names))


if __name__ == "__main__":
    main()
