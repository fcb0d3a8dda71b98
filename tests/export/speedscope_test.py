#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speedscope's JSON: what its file format asks for, and the ranges of tests/export/make_run.c."""
import json

import export_case


def read(text):
    """{profile: [(name, start, end, depth)]}, in the order of begins; every profile is what
    speedscope takes: ends in the order of time, each of the innermost open frame."""
    data = json.loads(text)
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    names = [frame["name"] for frame in data["shared"]["frames"]]
    found = {}
    for profile in data["profiles"]:
        assert profile["type"] == "evented" and profile["unit"] == "nanoseconds"
        ranges, opened, at = [], [], profile["startValue"]
        for event in profile["events"]:
            assert event["at"] >= at
            at = event["at"]
            if event["type"] == "O":
                opened.append(len(ranges))
                ranges.append([names[event["frame"]], at, None, len(opened) - 1])
            else:
                last = ranges[opened.pop()]
                assert last[0] == names[event["frame"]]
                last[2] = at
        assert not opened and at <= profile["endValue"]
        assert profile["name"] not in found
        found[profile["name"]] = [tuple(item) for item in ranges]
    return data, found


def ranges(*items):
    return [(name, export_case.ms(start), export_case.ms(end), depth)
            for name, start, end, depth in items]


EXPECTED = {
    "process, ends anywhere": ranges(("ProfileStep", 0, 10, 0), ("ProfileStep", 10, 30, 0)),
    "main (100)": ranges(("serve", 0, 8, 0), ('pre;pare "<x>"', 0, 2, 1), ("infer", 2, 8, 1),
                         ("serve", 10, 20, 0), ("infer", 12, 18, 1)),
    "main (100), ends anywhere": ranges(("fetch", 1, 9, 0)),
    "worker (101)": ranges(("infer", 5, 25, 0)),
    # The copy began while a kernel ran.
    "gpu:0 / compute": ranges(("gemm", 4, 7, 0), ("gemm", 14, 17, 0)),
    "gpu:0 / compute #2": ranges(("Memcpy HtoD", 16, 19, 0)),
}


class Speedscope(export_case.Case):

    def test_ranges(self):
        text, _ = self.export("speedscope", "rich.pplog", "-o", "-")
        data, found = read(text)
        self.assertEqual("serve --port 80", data["name"])
        self.assertEqual(EXPECTED, found)

    def test_runs_have_one_axis(self):
        """The other one began a second later; named last or first."""
        for inputs in (["rich.pplog", "other.pplog"], ["other.pplog", "rich.pplog"]):
            text, _ = self.export("speedscope", *inputs, "-o", "-")
            expected = {"node1 100, rank 0: " + name: items for name, items in EXPECTED.items()}
            for name, items in EXPECTED.items():
                expected["node2 200, rank 1: " + name] = [
                    (what, start + export_case.ms(1000), end + export_case.ms(1000), depth)
                    for what, start, end, depth in items
                ]
            self.assertEqual(expected, read(text)[1])


if __name__ == "__main__":
    export_case.main()
