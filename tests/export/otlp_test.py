#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry's spans as JSON: what a collector asks for, and the ranges of
tests/export/make_run.c."""
import json
import re

import export_case

BASE = 1700000000000000000


def read(text):
    """[(resource, span)], attributes as a dictionary; every line is a request to a collector, ids
    are hexadecimal and one of a kind, each parent is in its trace and around its child."""
    found, ids = [], {}
    for line in text.decode().splitlines():
        request = json.loads(line)
        for resource in request["resourceSpans"]:
            of = values(resource["resource"]["attributes"])
            for scope in resource["scopeSpans"]:
                assert scope["scope"]["name"] == "pprof"
                for span in scope["spans"]:
                    assert re.fullmatch("[0-9a-f]{32}", span["traceId"])
                    assert re.fullmatch("[0-9a-f]{16}", span["spanId"])
                    assert int(span["spanId"], 16) and span["spanId"] not in ids
                    span["start"] = int(span["startTimeUnixNano"]) - BASE
                    span["end"] = int(span["endTimeUnixNano"]) - BASE
                    assert span["start"] <= span["end"]
                    span["attributes"] = values(span["attributes"])
                    ids[span["spanId"]] = span
                    found.append((of, span))
    for _, span in found:
        if "parentSpanId" in span:
            parent = ids[span["parentSpanId"]]
            assert parent["traceId"] == span["traceId"]
            assert parent["start"] <= span["start"] and span["end"] <= parent["end"]
    return found, ids


def values(attributes):
    found = {}
    for item in attributes:
        (kind, value), = item["value"].items()
        assert item["key"] not in found
        found[item["key"]] = int(value) if kind == "intValue" else value
    return found


class Otlp(export_case.Case):

    def spans(self, *inputs):
        text, self.said = self.export("otlp", *inputs, "-o", "-")
        return read(text)

    def test_ranges(self):
        found, ids = self.spans("rich.pplog")
        rows = []
        for _, span in found:
            parent = ids.get(span.get("parentSpanId"))
            at = span["attributes"]
            rows.append((span["name"], span["start"] // 1000000, span["end"] // 1000000,
                         parent["name"] if parent else None,
                         at.get("thread.name", at.get("pprof.device")), at["pprof.category"]))
        self.assertEqual(sorted(rows, key=str), sorted([
            ('pre;pare "<x>"', 0, 2, "serve", "main", "UserDefined"),
            ("infer", 2, 8, "serve", "main", "Inference"),
            ("serve", 0, 8, None, "main", "UserDefined"),
            ("infer", 12, 18, "serve", "main", "Inference"),
            ("serve", 10, 20, None, "main", "UserDefined"),
            ("infer", 5, 25, None, "worker", "Inference"),
            ("fetch", 1, 9, None, "main", "UserDefined"),
            ("ProfileStep", 0, 10, None, "process", "ProfileStep"),
            ("ProfileStep", 10, 30, None, "process", "ProfileStep"),
            ("gemm", 4, 7, None, "gpu:0", "Kernel"),
            ("gemm", 14, 17, None, "gpu:0", "Kernel"),
            ("Memcpy HtoD", 16, 19, None, "gpu:0", "Memcpy")], key=str))

    def test_who_it_is(self):
        found, _ = self.spans("rich.pplog")
        self.assertEqual(found[0][0], {
            "service.name": "serve --port 80", "host.name": "node1", "process.pid": 100,
            "service.instance.id": "0123456789abcdef0123456789abcdef", "pprof.rank": "0"})

    def test_what_serves_a_request_links_to_its_trace(self):
        found, _ = self.spans("rich.pplog")
        linked = [span for _, span in found if "links" in span]
        self.assertEqual(sorted(span["name"] for span in linked), ["infer", "serve"])
        self.assertEqual(1, len({json.dumps(span["links"]) for span in linked}))
        self.assertTrue(linked[0]["links"][0]["traceId"].endswith("%016x" % 77))
        self.assertEqual(4, [span for span in linked if span["name"] == "serve"][0]
                         ["attributes"]["pprof.items"])

    def test_runs(self):
        """Each has its own ids; a request of both is one trace."""
        found, _ = self.spans("rich.pplog", "other.pplog")
        self.assertEqual(24, len(found))
        self.assertEqual({"node1", "node2"}, {of["host.name"] for of, _ in found})
        self.assertEqual(1, len({json.dumps(span["links"]) for _, span in found
                                 if "links" in span}))

    def test_what_it_has_no_place_for(self):
        self.spans("rich.pplog")
        self.assertIn("otlp has no place for: 1 marks, 2 counter values", self.said)

    def test_read_again(self):
        text, _ = self.export("otlp", "rich.pplog", "-o", "-")
        with open(self.path("again.json"), "wb") as file:
            file.write(text)
        done = self.call("-f", "json", "--view", "userdefined", "again.json")
        self.assertEqual(0, done.returncode, done.stderr)
        view = json.loads(done.stdout)["views"]["userdefined"]
        names = [column["name"] for column in view["columns"]]
        rows = {row[names.index("name")]: row for row in view["rows"]}
        self.assertEqual(3, rows["infer"][names.index("calls")])


if __name__ == "__main__":
    export_case.main()
