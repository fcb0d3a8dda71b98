#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the answers of a report are what one finds by hand, on a GPU: the slowdown of two matrix
loops on two streams, each alone and then both at once, and the utilisation (MFU) of a product of
known size. By hand is torch.cuda.Event around the same calls, in the same run.

It needs PyTorch, a GPU, and pprof-report (--report). Exit status: 0 within the bounds (slowdown 3 %,
MFU 2 %), 1 not, 3 something is missing."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
try:
    import torch
except ImportError:
    print("answers.py needs PyTorch: https://pytorch.org", file=sys.stderr)
    sys.exit(3)
import pprof  # noqa: E402  (found by the line above)

PEAK = 989.4e12  # dense bf16 of an H200 by its data sheet
CALLS = 30  # of a loop: no more launches than the driver queues
SLOWDOWN_BOUND, MFU_BOUND = 0.03, 0.02


class Loop:
    """One call is `chain` products of square matrices, on a stream of its own."""

    def __init__(self, name, size, chain, kind):
        self.name, self.chain, self.size = name, chain, size
        self.stream = torch.cuda.Stream()
        self.left = torch.randn(size, size, device="cuda", dtype=kind)
        self.right = torch.randn(size, size, device="cuda", dtype=kind)
        self.out = torch.empty_like(self.left)

    def run(self):
        for _ in range(self.chain):
            torch.mm(self.left, self.right, out=self.out)

    def flops(self):
        return 2 * self.size ** 3 * self.chain

    def call(self, spans, name=None):
        """Marked by both: the events by hand lie outside pprof's."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(self.stream):
            begin.record(self.stream)
            with pprof.device_range(name or self.name, self.stream) as marked:
                self.run()
                marked.work(flops=self.flops())
            end.record(self.stream)
        spans.append((begin, end))


def times_of(spans, base):
    torch.cuda.synchronize()
    return [(base.elapsed_time(begin), base.elapsed_time(end)) for begin, end in spans]


def alone(loop):
    spans = []
    for _ in range(CALLS):
        loop.call(spans)
    torch.cuda.synchronize()
    return spans


def together(loops):
    spans = [[] for _ in loops]
    for _ in range(CALLS):
        for loop, its in zip(loops, spans):
            loop.call(its)
    torch.cuda.synchronize()
    return spans


def lengths(times):
    return [end - begin for begin, end in times]


def covered(times, others):
    """Calls that lie within the time in which the other loop ran."""
    first, last = others[0][0], others[-1][1]
    return [(begin, end) for begin, end in times if begin >= first and end <= last]


def by_hand(loops):
    base = torch.cuda.Event(enable_timing=True)
    base.record()
    torch.cuda.synchronize()
    own = [times_of(alone(loop), base) for loop in loops]
    both = [times_of(spans, base) for spans in together(loops)]
    found = {}
    for at, loop in enumerate(loops):
        beside = lengths(covered(both[at], both[1 - at]))
        found[loop.name] = statistics.mean(beside) / statistics.mean(lengths(own[at]))
    return found


def product_by_hand(loop):
    base = torch.cuda.Event(enable_timing=True)
    base.record()
    torch.cuda.synchronize()
    times = lengths(times_of(alone(loop), base))
    return 100 * loop.flops() * len(times) / (sum(times) / 1e3) / PEAK


def report_of(tool, log):
    command = [tool, "-f", "json", "--view", "interference,stages", "--peak", f"bf16={PEAK:.0f}",
               log]
    views = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["views"]
    return {name: [dict(zip([column["name"] for column in view["columns"]], row))
                   for row in view["rows"]] for name, view in views.items()}


def compare(what, found, hand, bound):
    off = found / hand - 1
    good = abs(off) <= bound
    print(f"{what:32s} {found:10.3f} {hand:10.3f} {100 * off:+8.2f} %   "
          f"{'' if good else 'beyond '}{100 * bound:.0f} %")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", default="pprof-report")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("answers.py needs a GPU", file=sys.stderr)
        return 3
    loops = [Loop("large", 4096, 8, torch.bfloat16), Loop("small", 1024, 10, torch.float32)]
    product = Loop("product", 8192, 1, torch.bfloat16)
    for loop in loops + [product]:
        for _ in range(5):
            loop.run()
    torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "answers.pplog")
        pprof.start({"output": log})
        for loop in loops + [product]:  # the first ranges of a stream come before its events
            for _ in range(5):
                loop.call([], "warm up")
            torch.cuda.synchronize()
        time.sleep(0.5)
        slowdowns = by_hand(loops)
        mfu = product_by_hand(product)
        pprof.stop()
        views = report_of(arguments.report, log)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(f"{'':32s} {'report':>10s} {'by hand':>10s} {'':>10s}   bound")
    rows = [row for row in views["interference"] if row["slowdown"] is not None]
    good = len(rows) == len(loops)
    for row in rows:
        good &= compare(f"{row['name']} beside {row['other']}", row["slowdown"],
                        slowdowns[row["name"]], SLOWDOWN_BOUND)
    for row in views["stages"]:
        if row["name"] == "product":
            good &= compare("MFU of the product", row["mfu"], mfu, MFU_BOUND)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
