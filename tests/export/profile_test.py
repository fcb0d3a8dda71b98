#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profile for `go tool pprof`, by the field numbers of google/pprof's profile.proto. Where
Go is installed its own reader is asked, too."""
import gzip
import os
import shutil
import subprocess

import export_case
from export_case import ms
from wire import every, one, packed

# Stack, calls, own host time, own device time.
EXPECTED = {
    ("ProfileStep",): (2, 0, 0),
    ("fetch",): (1, 0, 0),
    ("infer",): (1, ms(20), 0),
    ("serve",): (2, ms(4), 0),
    ("serve", 'pre;pare "<x>"'): (1, ms(2), 0),
    ("serve", "infer"): (2, ms(12), 0),
    ("serve", "infer", "gemm"): (2, 0, ms(6)),
    ("serve", "infer", "Memcpy HtoD"): (1, 0, ms(3)),
    # Submitted outside of `infer`, and without a time.
    ("serve", "gemm"): (1, 0, 0),
}


def read(data):
    """(types, {stack: values}, functions), the root first."""
    profile = gzip.decompress(data)
    texts = [value.decode() for value in every(profile, 6)]
    assert texts[0] == ""
    functions = {one(item, 1): item for item in every(profile, 5)}
    places = {}
    for item in every(profile, 4):
        (line,) = every(item, 4)
        places[one(item, 1)] = texts[one(functions[one(line, 1)], 2)]
    samples = {}
    for sample in every(profile, 2):
        stack = tuple(places[place] for place in reversed(packed(sample, 1)))
        assert stack not in samples
        samples[stack] = tuple(packed(sample, 2))
    types = [(texts[one(item, 1)], texts[one(item, 2)]) for item in every(profile, 1)]
    assert texts[one(profile, 14)] == "host"
    return types, samples, profile


class Profile(export_case.Case):

    def test_samples(self):
        data, _ = self.export("profile", "rich.pplog", "-o", "-")
        types, samples, profile = read(data)
        self.assertEqual([("calls", "count"), ("host", "nanoseconds"), ("device", "nanoseconds")],
                         types)
        self.assertEqual(EXPECTED, samples)
        self.assertEqual(1700000000000000000, one(profile, 9))
        self.assertEqual(ms(30), one(profile, 10))

    def test_runs_add_up(self):
        data, _ = self.export("profile", "rich.pplog", "other.pplog", "-o", "-")
        self.assertEqual({stack: tuple(2 * value for value in values)
                          for stack, values in EXPECTED.items()}, read(data)[1])

    def test_go(self):
        go = shutil.which("go") or "/usr/lib/go-1.19/bin/go"
        if not os.path.exists(go):
            self.skipTest("Go is not installed (Debian: golang-go)")
        self.export("profile", "rich.pplog", "-o", "go.pb.gz")
        done = subprocess.run([go, "tool", "pprof", "-top", "go.pb.gz"], cwd=self.folder,
                              env={**os.environ, "HOME": self.folder}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        rows = {line.split()[5]: line.split()[0] for line in done.stdout.decode().splitlines()
                if line.count("%") == 3 and "flat%" not in line and "nodes" not in line}
        self.assertEqual("32ms", rows["infer"])
        self.assertEqual("4ms", rows["serve"])


if __name__ == "__main__":
    export_case.main()
