#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pprof-report on OpenTelemetry's spans and on Dynamo's request trace: times of requests.

Expected times follow from docs/serving.md's definitions; ms throughout."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from patience import SECONDS  # noqa: E402

REPORT = os.path.abspath(sys.argv.pop(1))
T = 1795692038000


def value(of):
    kind = {int: "intValue", float: "doubleValue", str: "stringValue"}[type(of)]
    return {kind: str(of) if isinstance(of, int) else of}


def attributes(of):
    return [{"key": key, "value": value(one)} for key, one in of.items()]


def span(name, trace, number, start, length, **more):
    return {"traceId": f"{trace:032x}", "spanId": f"{number:016x}", "name": name, "kind": 2,
            "startTimeUnixNano": str((T + start) * 1000000),
            "endTimeUnixNano": str((T + start + length) * 1000000),
            "attributes": attributes(more)}


def served(trace, start, length, queue, prefill, decode, first, tokens):
    one = span("llm_request", trace, trace, start, length)
    one["attributes"] = attributes({
        "gen_ai.request.id": f"cmpl-{trace}",
        "gen_ai.usage.prompt_tokens": 128,
        "gen_ai.usage.completion_tokens": tokens,
        "gen_ai.latency.e2e": length / 1e3,
        "gen_ai.latency.time_in_queue": queue / 1e3,
        "gen_ai.latency.time_in_model_prefill": prefill / 1e3,
        "gen_ai.latency.time_in_model_decode": decode / 1e3,
        "gen_ai.latency.time_to_first_token": first / 1e3})
    return one


def spans(service, *of):
    return {"resourceSpans": [{
        "resource": {"attributes": attributes({"service.name": service})},
        "scopeSpans": [{"scope": {"name": "s", "attributes": attributes({"service.name": "no"})},
                        "spans": list(of)}]}]}


def dynamo(kind, at, **more):
    return {"schema": "dynamo.request.trace.v1", "event_type": kind, "event_time_unix_ms": T + at,
            "agent_context": {"session_id": "s1"}, **more}


class Spans(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, data, name="spans.json"):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return path

    def call(self, *arguments):
        return subprocess.run([REPORT, *arguments], text=True, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_on(self, data, *options, name="spans.json"):
        return self.call(*options, self.write(data, name))

    def report(self, data, **more):
        done = self.run_on(data, "-f", "json", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def view(self, report, name):
        view = report["views"][name]
        names = [column["name"] for column in view["columns"]]
        return [dict(zip(names, row)) for row in view["rows"]]

    def times(self, report, name):
        return {row["measure"]: row["avg"] / 1e6
                for row in self.view(report, "serving") if row["name"] == name}

    def test_phases_of_one(self):
        report = self.report(json.dumps(spans("vllm", served(1, 0, 100, 10, 30, 60, 40, 31))))
        self.assertEqual(self.times(report, "llm_request"),
                         {"end to end": 100, "queue": 10, "prefill": 30, "TTFT": 40,
                          "decode": 60, "TPOT": 2})
        row = self.view(report, "serving")[0]
        self.assertEqual((row["tokens_in"], row["tokens_out"]), (128, 31))

    def test_other_runs_meanwhile(self):
        """Spans on the time axis of a trace that has no requests."""
        steps = ((0, 25), (35, 65), (80, 130))
        engine = {"baseTimeNanoseconds": T * 1000000, "traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "step", "pid": 1, "tid": 1, "ts": start * 1000,
             "dur": (end - start) * 1000} for start, end in steps] + [
                 {"ph": "X", "cat": "cpu_op", "name": "inside", "pid": 1, "tid": 1, "ts": 36000,
                  "dur": 1000}]}
        files = (self.write(json.dumps(spans("vllm", served(1, 0, 100, 10, 30, 60, 40, 31)))),
                 self.write(json.dumps(engine), "engine.json"))
        done = self.call("sql", "-f", "csv", *files,
                         "SELECT name, other_name, calls, ns, ROUND(share, 4) AS part, same_host"
                         " FROM meanwhile WHERE name <> 'llm_request' ORDER BY ns")
        self.assertEqual(done.stdout.split()[1:], [
            "queue,step,1,10000000,1.0,", "prefill,step,2,20000000,0.6667,",
            "decode,step,2,45000000,0.75,"], done.stderr)

    def test_first_token_from_the_schedule(self):
        report = self.report(json.dumps(spans("vllm", served(1, 0, 200, 50, 50, 100, 50, 101))))
        times = self.times(report, "llm_request")
        self.assertEqual((times["TTFT"], times["queue"], times["TPOT"]), (100, 50, 1))
        self.assertIn("of 1 the first token was counted from when it was scheduled",
                      json.dumps(report["trust"]))

    def test_nothing_is_invented_of_a_first_token_alone(self):
        """How the time to it divides is unknown, beside requests that say it, too."""
        some = []
        for trace in range(1, 6):
            one = span("chat", trace, trace, 1000 * trace, 800)
            one["attributes"] = attributes({"gen_ai.usage.completion_tokens": 21,
                                            "gen_ai.latency.time_to_first_token": 0.2})
            some.append(one)
        for more in ([], [served(9, 0, 100, 10, 30, 60, 40, 31)]):
            data = json.dumps(spans("vllm", *more, *some))
            report = self.report(data)
            self.assertEqual(self.times(report, "chat"),
                             {"end to end": 800, "TTFT": 200, "decode": 600, "TPOT": 30})
            row = self.view(report, "serving")[0]
            self.assertEqual({key: row[key] for key in (
                "waiting", "running", "slow_queue", "slow_prefill", "slow_decode",
                "slow_prefill_in", "slow_to_first_token", "slow_to_last_token", "slow_rest")},
                             {"waiting": None, "running": None, "slow_queue": None,
                              "slow_prefill": None, "slow_decode": None, "slow_prefill_in": None,
                              "slow_to_first_token": 25, "slow_to_last_token": 75,
                              "slow_rest": 0})
            text = self.run_on(data).stdout
            self.assertIn("5 requests do not say when they were scheduled", text)
            if more:
                continue
            stages = {row["name"]: row["time_avg"] / 1e6 for row in self.view(report, "answer")}
            self.assertEqual(stages, {"to the first token": 200, "decode": 600, "total": 800})
            self.assertNotIn("queueing", json.dumps(report["findings"]))
            for word in ("queue ", "prefill 0", "beside prefills"):
                self.assertNotIn(word, text.split("Queue: from")[0])

    def test_gaps_between_tokens_are_unknown(self):
        """That prefills of others lie in them, too."""
        row = self.view(self.report(json.dumps(spans("vllm", *(
            served(trace, 10 * trace, 100, 10, 30, 60, 40, 31) for trace in (1, 2, 3))))),
                        "serving")[0]
        self.assertEqual([row[key] for key in (
            "slow_queue", "slow_prefill", "slow_to_first_token", "slow_decode",
            "slow_prefill_in", "slow_to_last_token", "slow_rest")],
                         [10, 30, None, None, None, 60, 0])

    def test_what_is_before_the_queue(self):
        """300 ms to the first token: 187 before the queue of 13, and 100 of prefill."""
        for queue, before, told in ((13, 187, {"queue": 13}), (200, 0, {"queue": 200}),
                                    (None, 200, {})):
            one = served(1, 0, 800, queue or 0, 100, 500, 300, 21)
            if queue is None:
                one["attributes"] = [each for each in one["attributes"]
                                     if "queue" not in each["key"]]
            report = self.report(json.dumps(spans("vllm", one)))
            head = {"before the queue": before} if before else {}
            self.assertEqual(self.times(report, "llm_request"),
                             {"end to end": 800, **head, **told, "prefill": 100, "TTFT": 300,
                              "decode": 500, "TPOT": 25}, queue)
            stages = {row["name"]: row["time_avg"] / 1e6 for row in self.view(report, "answer")}
            if queue is None:
                head = {"before the prefill": 200}
            self.assertEqual(stages, {**head, **told, "prefill": 100, "decode": 500,
                                      "total": 800}, queue)

    def test_goodput_takes_the_mean_gap(self):
        data = json.dumps(spans("vllm", served(1, 0, 100, 10, 30, 60, 40, 31)))
        for slo, good in (("itl=2ms", 1), ("itl=1ms", 0)):
            done = self.run_on(data, "-f", "json", "--slo", slo)
            self.assertEqual(self.view(json.loads(done.stdout), "serving")[0]["good"], good)

    def test_names_of_the_conventions(self):
        of = {"gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 5,
              "gen_ai.response.time_to_first_chunk": 0.06}
        one = dict(span("chat m", 1, 1, 0, 100), attributes=attributes(of))
        report = self.report(json.dumps(spans("client", one)))
        self.assertEqual(self.times(report, "chat m"),
                         {"end to end": 100, "TTFT": 60, "decode": 40, "TPOT": 10})

    def test_a_trace_is_one_request_of_the_answer(self):
        lines = [spans("gateway", span("tokenize", 1, 9, -20, 20)),
                 spans("vllm", served(1, 0, 100, 10, 30, 60, 40, 31))]
        report = self.report("\n".join(json.dumps(line) for line in lines))
        stages = {row["name"]: row["time_avg"] / 1e6 for row in self.view(report, "answer")
                  if row["name"] in ("tokenize", "queue", "prefill", "decode")}
        self.assertEqual(stages, {"tokenize": 20, "queue": 10, "prefill": 30, "decode": 60})

    def test_phases_are_ranges_of_their_own_length(self):
        done = self.run_on(json.dumps(spans("vllm", served(1, 0, 100, 10, 30, 60, 40, 31))),
                           "-f", "json", "--view", "userdefined")
        lengths = {row["name"]: row["cpu_total"] / 1e6
                   for row in self.view(json.loads(done.stdout), "userdefined")}
        self.assertEqual(lengths, {"queue": 10, "prefill": 30, "decode": 60})

    def test_calls_beside_each_other_in_one_trace(self):
        two = [served(1, 0, 100, 10, 30, 60, 40, 31), served(1, 50, 100, 20, 30, 50, 50, 51)]
        two[1]["spanId"] = "2" * 16
        times = self.times(self.report(json.dumps(spans("vllm", *two))), "llm_request")
        self.assertEqual((times["queue"], times["TTFT"], times["decode"]), (15, 45, 55))

    def test_dynamo(self):
        lines = []
        for i in range(3):
            lines.append(dynamo("request_end", 500 * i + 400, request={
                "request_id": f"r{i}", "model": "m", "input_tokens": 100, "output_tokens": 11,
                "request_received_ms": T + 500 * i, "prefill_wait_time_ms": 20.0,
                "prefill_time_ms": 80.0, "ttft_ms": 100.0, "total_time_ms": 400.0,
                "avg_itl_ms": 30.0, "kv_hit_rate": 0.5, "queue_depth": i}))
            lines.append(dynamo("tool_end", 500 * i + 480, tool={
                "tool_call_id": "t", "tool_class": "search", "duration_ms": 50.0}))
        text = "\n".join(json.dumps(line) for line in lines)
        for data in (text, gzip.compress(text.encode())):
            report = self.report(data)
            self.assertEqual(self.times(report, "m"),
                             {"end to end": 400, "queue": 20, "prefill": 80, "TTFT": 100,
                              "decode": 300, "TPOT": 30})
            stages = {row["name"]: row["time_avg"] / 1e6 for row in self.view(report, "answer")
                      if row["name"] == "tool search"}
            self.assertEqual(stages, {"tool search": 50})

    def test_a_line_of_dynamo_in_an_envelope(self):
        line = dynamo("request_end", 90, request={"request_id": "r", "request_received_ms": T,
                                                  "output_tokens": 3})
        report = self.report(json.dumps({"timestamp": 12, "event": line}))
        self.assertEqual(self.times(report, "request")["end to end"], 90)

    def test_what_a_line_of_dynamo_need_not_have(self):
        for request, end_to_end in (
                ({"request_received_ms": T, "output_tokens": 3}, 90),
                ({"total_time_ms": 70.0, "output_tokens": 3}, 70)):
            line = dynamo("request_end", 90, request=dict(request, request_id="r"))
            self.assertEqual(self.times(self.report(json.dumps(line)), "request")["end to end"],
                             end_to_end)

    def test_spans_without_usable_times_are_counted(self):
        good = [span("good", 1, number, number, 5) for number in range(3, 6)]
        bad = []
        for key, time in (("startTimeUnixNano", None), ("endTimeUnixNano", None),
                          ("startTimeUnixNano", "0"), ("endTimeUnixNano", "0"),
                          ("startTimeUnixNano", "12"), ("startTimeUnixNano", "soon"),
                          ("endTimeUnixNano", str((T - 5) * 1000000)),
                          ("endTimeUnixNano", {"low": 5})):
            one = span("bad", 1, 1, 0, 1)
            one.update({key: time})
            if time is None:
                del one[key]
            bad.append(one)
        for some in ([], good[:1], good):
            for i, one in enumerate(bad):
                data = json.dumps(spans("s", one, *some))
                say = f"1 of {len(some) + 1} spans have no usable time"
                done = self.run_on(data)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(say, " ".join(done.stdout.split()), i)
                self.assertIn("1 lost", done.stdout)
                self.assertNotIn("no window opened", done.stdout)
                self.assertEqual(self.run_on(data, "--strict").returncode, 1, i)
                report = self.report(data)
                self.assertEqual(report["trust"]["lost"], 1)
                self.assertEqual(report["trust"]["recorded"], len(some))

    def test_spans_of_another_clock(self):
        """A clock since the boot, or of other units, beside the day's: not one axis."""
        good = [span("good", 1, number, number, 5) for number in (1, 2)]
        late = dict(good[0], startTimeUnixNano="5000", endTimeUnixNano="9000")
        coarse = dict(good[0], startTimeUnixNano=str(T), endTimeUnixNano=str(T + 1))
        for several in ([late, *good], [*good, late], [late, coarse, *good], [*good, coarse, late]):
            report = self.report(json.dumps(spans("s", *several)))
            self.assertIn(f"{len(several) - 2} of {len(several)} spans have no usable time",
                          json.dumps(report["trust"]))
            self.assertEqual((report["trust"]["recorded"], report["trust"]["lost"]),
                             (2, len(several) - 2))
        alone = self.report(json.dumps(spans("s", *[dict(
            late, endTimeUnixNano=str(6000 + i), startTimeUnixNano=str(5000 + i))
                                                  for i in range(5000)])))
        self.assertEqual((alone["trust"]["recorded"], alone["trust"]["lost"]), (5000, 0))

    def test_times_are_whole_numbers_in_any_form(self):
        """JavaScript's Long is two halves, signed ones; some write numbers, or floats."""
        start, end = (T + 7) * 1000000, (T + 7 + 2000) * 1000000

        def halves(time, sign):
            low = time & 0xffffffff
            return {"low": low - (1 << 32) if sign and low >> 31 else low, "high": time >> 32,
                    "unsigned": True}
        for form in (int, str, float, lambda t: f"{t:.18e}", lambda t: halves(t, True),
                     lambda t: halves(t, False), lambda t: [t // 10**9, t % 10**9],
                     lambda t: {key: halves(t, True)[key] for key in ("high", "low")}):
            one = dict(span("main", 1, 1, 0, 1), startTimeUnixNano=form(start),
                       endTimeUnixNano=form(end))
            report = self.report(json.dumps(spans("s", one)))
            self.assertEqual(report["trust"]["lost"], 0, one)
            total, = (row["time_avg"] for row in self.view(report, "answer")
                      if row["name"] == "total")
            self.assertLessEqual(abs(total - 2000e6), 512, one)

    def test_older_names_of_the_lists(self):
        one = spans("s", span("main", 1, 1, 0, 5))
        inner = one["resourceSpans"][0].pop("scopeSpans")
        one["resourceSpans"][0]["instrumentationLibrarySpans"] = inner
        for data in (one, {"batches": one["resourceSpans"]}, {"batches": spans(
                "s", span("main", 1, 1, 0, 5))["resourceSpans"]}):
            self.assertEqual([row["time_avg"] for row in self.view(
                self.report(json.dumps(data)), "answer") if row["name"] == "total"], [5e6])

    def test_bad_files(self):
        good = json.dumps(spans("vllm", served(1, 0, 100, 10, 30, 60, 40, 31)))
        for data, say in (
                (good + "\n" + good[:200], "it ends too early (byte "),
                (good + "\n{\"resourceSpans\": oops}", "(byte "),
                ("{\"resourceSpans\":" + "[" * 3000, "(byte "),
                (gzip.compress(good.encode())[:-20], "(byte ")):
            done = self.run_on(data)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(say, done.stderr)
        # What stood before the damage is there.
        done = self.run_on(good + "\n" + good[:200], "-f", "json", "--view", "serving")
        self.assertIn("llm_request", done.stdout)

    def test_hostile_names(self):
        name = "</script><b>\x1b[31m\u202e" + "n" * 5000
        one = span(name, 1, 1, 0, 5)
        one["attributes"] = attributes({"k" * 100000: "v", "gen_ai.usage.output_tokens": "1e999",
                                        "gen_ai.latency.time_to_first_token": -1.0})
        done = self.run_on(json.dumps(spans("s\x00t", one)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stdout)


if __name__ == "__main__":
    unittest.main()
