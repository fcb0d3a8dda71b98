#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a log of the example pipeline takes, and what of it takes how much: payloads of each kind of
block, and the bytes before them. Everything is recorded, or the choice of `--config FILE`. `--log`
analyses another log instead."""
import argparse
import collections
import os
import struct
import subprocess
import sys
import tempfile

BOUND = 6  # bytes an event

KINDS = ("?", "info", "definitions", "events", "checkpoints", "windows", "totals", "contents")
EVENTS = 3
FILE_HEADER, LANE_RUN = 64, 32
# Magic, type, number of lane runs, length as stored, number of events, greatest end.
BLOCK = struct.Struct("<4s4xB3xI4xI4xI8x8xQ")  # docs/log-format.md


def run_pipeline(command, config, folder):
    log = os.path.join(folder, "size.pplog")
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PPROF_")}
    if config:
        environment["PPROF_CONFIG"] = os.path.abspath(config)
    environment.update(PPROF_OUTPUT=log, PPROF_ENABLE="1")
    done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL,
                          check=False)
    if done.returncode:
        sys.exit(f"log_size.py: {' '.join(command)}: ended with {done.returncode}")
    return log


def take_slow(data):
    """By kind of block: number, bytes of headers, of lane runs, of payloads; events; last end."""
    parts = collections.defaultdict(lambda: [0, 0, 0, 0])
    at, num_events, last = FILE_HEADER, 0, 0
    while at < len(data):
        magic, kind, num_runs, stored, events, end = BLOCK.unpack_from(data, at)
        if magic != b"\xb1PPB":
            sys.exit("log_size.py: this is no whole log of one run")
        sizes = [1, BLOCK.size, num_runs * LANE_RUN, stored]
        parts[kind] = [old + new for old, new in zip(parts[kind], sizes)]
        at += sum(sizes[1:])
        if kind == EVENTS:
            num_events += events
            last = max(last, end)
    return parts, num_events, last / 1e9


def print_parts(parts, events, size):
    print(f"{'bytes an event':14s} {'blocks':>8s} {'headers':>9s} {'lane runs':>9s}"
          f" {'payloads':>9s} {'all':>9s}")
    for kind, (blocks, *sizes) in sorted(parts.items()):
        cells = [f"{part / events:9.3f}" for part in (*sizes, sum(sizes))]
        print(f"{KINDS[min(kind, len(KINDS) - 1)]:14s} {blocks:8d} {' '.join(cells)}")
    print(f"{'the file':14s} {'':38s} {size / events:9.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(".", maxsplit=1)[0])
    parser.add_argument("pipeline", nargs="?", help="the example")
    parser.add_argument("--requests", default="400")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--config")
    parser.add_argument("--log")
    arguments = parser.parse_args()
    if not arguments.log and not arguments.pipeline:
        parser.error("the pipeline is missing")
    with tempfile.TemporaryDirectory() as folder:
        log = arguments.log or run_pipeline(
            [os.path.abspath(arguments.pipeline), "--device", arguments.device, "--requests",
             arguments.requests], arguments.config, folder)
        with open(log, "rb") as file:
            data = file.read()
    parts, events, seconds = take_slow(data)
    print(f"{events} events in {seconds:.1f} s, {events / seconds:.0f} a second\n")
    print_parts(parts, events, len(data))
    what = "a log" if arguments.log else f"log of the pipeline, {arguments.requests} requests"
    print(f"\nrow\t{what}\t{len(data) / events:.3f}\tbytes an event\t{BOUND}")


if __name__ == "__main__":
    main()
