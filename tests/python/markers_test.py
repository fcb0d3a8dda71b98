#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Markers in plain code: nesting, names, categories, decorators, work, flows, misuse."""
import os

from python_case import ABANDONED, ASYNC, COUNTER, MARK, RANGE, Case, main


class Markers(Case):
    def test_ranges_nest(self):
        log = self.log_of("""
            import pprof
            pprof.start()
            with pprof.range("request") as request:
                assert isinstance(request, pprof.range)
                with pprof.range("decode", category="Preprocess"):
                    pprof.mark("here")
                with pprof.range("detect", "cpu_task"):
                    pprof.count("boxes", 7)
            pprof.stop()
        """)
        self.assertEqual(log.select("name", "category", "depth", "kind"),
                         [("request", "UserDefined", 0, RANGE),
                          ("decode", "Preprocess", 1, RANGE), ("here", "UserDefined", 2, MARK),
                          ("detect", "CpuTask", 1, RANGE), ("boxes", "UserDefined", 2, COUNTER)])
        self.assertEqual(log.named("boxes")["value"], 7)
        self.assertFalse([flags for flags in log.select("flags") if flags & (ABANDONED | ASYNC)])

    def test_requests_and_tokens(self):
        log = self.log_of("""
            import pprof
            pprof.start()
            chat = pprof.request(4711, "chat", tokens=5)
            with pprof.range("decode"):
                pprof.serve([chat])
                chat.token()
                chat.token(3)
            chat.end()
            chat.end()
            chat.token()
            with pprof.request(8, "chat", "Inference") as other:
                assert isinstance(other, pprof.request)
            pprof.stop()
        """)
        REQUEST = 4096
        self.assertEqual([(event["name"], event["kind"], event["flags"], event["flows"],
                           event["work"][0]) for event in log.events
                          if event["flags"] & REQUEST],
                         [("chat", RANGE, ASYNC | REQUEST, [4711], 5),
                          ("served", MARK, REQUEST, [4711], 0),
                          ("token", MARK, REQUEST, [4711], 1),
                          ("token", MARK, REQUEST, [4711], 3),
                          ("chat", RANGE, ASYNC | REQUEST, [8], 0)])

    def test_request_that_began_before_is_served_by_its_number(self):
        log = self.log_of("""
            import pprof
            before, ended = pprof.request(4711), pprof.request(4712)
            pprof.start()
            ended.end()
            pprof.serve([before, ended])
            before.token(3)
            ended.token()
            before.end()
            before.token()
            pprof.stop()
        """)
        self.assertEqual([(event["name"], event["flows"], event["work"][0])
                          for event in log.events],
                         [("served", [4711], 0), ("token", [4711], 3)])

    def test_requests_of_another_process_are_numbers(self):
        log = self.log_of("""
            import pprof, time
            pprof.start()
            began = time.monotonic()
            while time.monotonic_ns() < began * 1e9 + 2e6:
                pass
            with pprof.range("decode"):
                pprof.serve([4711, pprof.request(12, arrived=began)])
                pprof.serve([4711], since=began)
                pprof.token(4711, 3)
            pprof.stop()
        """)
        late = log.named("request")
        self.assertGreaterEqual(log.named("decode")["start"] - late["start"], 1_900_000)
        self.assertEqual([(event["name"], event["flows"], event["work"][0])
                          for event in log.events if event["name"] in ("served", "token")],
                         [("served", [4711], 0), ("served", [12], 0), ("served", [4711], 0),
                          ("token", [4711], 3)])
        self.assertEqual([event["value"] >= 1_900_000 for event in log.events
                          if event["name"] == "served"], [False, False, True])

    def test_contexts_have_one_number(self):
        parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        printed = self.run_ok("""
            import os, pprof
            parent = "%s"
            print(pprof.flow_context(), pprof.flow_context(""), pprof.flow_context(0),
                  pprof.flow_context(1 << 64) == 0xdce423fc82c0d5b8)
            os.environ["TRACEPARENT"] = parent
            print({pprof.flow_context(each) == 0xcd98bc78c6e30ad1 for each in (
                None, parent, parent.encode(), 0x4bf92f3577b34da6a3ce929d0e0e4736)})
            pprof.strict()
            for wrong in 1 << 128, 1.5:
                try:
                    pprof.flow_context(wrong)
                except (TypeError, ValueError) as error:
                    print(error)
        """ % parent)
        self.assertEqual(printed.splitlines(), [
            "0 0 0 True", "{True}",
            "context is from 0 to 340282366920938463463374607431768211455, not 34028236692093846346"
            "3374607431768211456", "context is an integer, not float"])

    def test_the_report_has_the_stages(self):
        log = self.log_of("""
            import pprof
            pprof.start()
            for i in range(3):
                with pprof.range("detect"):
                    pass
                pprof.step(4)
        """)
        views, trust = self.report(log)
        self.assertEqual([(row["name"], row["calls"]) for row in views["userdefined"]],
                         [("detect", 3)])
        self.assertEqual(trust["lost"], 0)
        steps = [event for event in log.events if event["category"] == "ProfileStep"]
        self.assertEqual([event["work"][0] for event in steps], [4, 4, 4, 0])

    def test_names_that_come_again_fold_as_well(self):
        for names in ('{"fold": "all"}', '{"shapes": ["step {i} of {n}"]}'):
            log = self.log_of("""
                import pprof, sys
                pprof.start({"names": %s, "output": "%s.pplog"})
                for again in range(2):
                    for i in range(200):
                        with pprof.range(f"step {i} of 200"):
                            pass
                    pprof.count("free 0", 1)
                    pprof.count("free 1", 2)
                pprof.stop()
            """ % (names, len(names)))
            views, _ = self.report(log)
            self.assertEqual([(row["name"], row["calls"]) for row in views["userdefined"]],
                             [("step {} of {}", 400)])
            os.remove(log.path)

    def test_exceptions_end_ranges_and_pass(self):
        log = self.log_of("""
            import pprof
            pprof.start()
            with pprof.range("outer"):
                try:
                    with pprof.range("failing"):
                        raise KeyError("x")
                except KeyError:
                    pass
                with pprof.range("after"):
                    pass
        """)
        self.assertEqual(log.select("name", "depth"),
                         [("outer", 0), ("failing", 1), ("after", 1)])

    def test_one_object_many_times(self):
        log = self.log_of("""
            import pprof
            pprof.start()
            again = pprof.range("again")
            def descend(n):
                with again:
                    if n:
                        descend(n - 1)
            descend(3)
            with again, again:
                pass
        """)
        self.assertEqual(log.select("depth"), [0, 1, 2, 3, 0, 1])

    def test_decorated_functions(self):
        log = self.log_of("""
            import pprof
            pprof.start()
            @pprof.range("square", category="CpuTask")
            def square(x, *, plus=0):
                "It says so."
                if x < 0:
                    raise ValueError
                return x * x + plus
            assert square(3, plus=1) == 10
            assert (square.__name__, square.__doc__) == ("square", "It says so.")
            try:
                square(-1)
            except ValueError:
                pass
            class Model:
                @pprof.range("method")
                def call(self):
                    return square(2)
                @staticmethod
                @pprof.range("static")
                def make():
                    return 1
            assert Model().call() == 4 and Model.make() == 1
            try:
                pprof.range("x")(5)
                raise SystemExit("not refused")
            except TypeError:
                pass
        """)
        self.assertEqual(log.select("name", "depth", "category"), [
            ("square", 0, "CpuTask"), ("square", 0, "CpuTask"), ("method", 0, "UserDefined"),
            ("square", 1, "CpuTask"), ("static", 0, "UserDefined")])

    def test_work_and_flows(self):
        log = self.log_of("""
            import pprof
            pprof.start()
            with pprof.range("outer") as outer:
                pprof.flow(7)
                pprof.work(items=3, bytes=10)
                outer.work(flops=1e9, params=5.5)
                with pprof.range("inner"):
                    pprof.work(tokens=128)
            with pprof.range("other") as other:
                other.flow(8)
                other.flow(9)
        """)
        self.assertEqual(log.named("outer")["work"], [3, 10, 1e9, 5.5])
        self.assertEqual(log.named("inner")["work"], [128, 0, 0, 0])
        self.assertEqual([log.named(name)["flows"] for name in ("outer", "inner", "other")],
                         [[7], [7], [8, 9]])

    def test_numbers_of_all_kinds(self):
        """NumPy's have these methods and are no int."""
        log = self.log_of("""
            import pprof
            class Integer:
                def __init__(self, value): self.value = value
                def __index__(self): return self.value
            class Real(Integer):
                def __float__(self): return float(self.value)
                __index__ = None
            pprof.start()
            with pprof.range("limits") as limits, pprof.begin("begun") as begun:
                pprof.flow(1)
                limits.flow(2**64 - 1)
                pprof.flow(Integer(5))
                begun.flow(Integer(6))
                pprof.work(items=Integer(3), bytes=0.0, flops=Real(2.5), params=1e308)
                begun.work(items=1e308, bytes=1e308, tokens=None)
            with pprof.device_range("device") as device:
                device.flow(Integer(7))
                device.work(tokens=Integer(8))
            pprof.count("integer", Integer(9))
            pprof.count("real", Real(1.5))
            pprof.count("below", -2)
            pprof.step(Integer(4))
            pprof.step(2**63 - 1)
            pprof.stop()
            pprof.step(Integer(4))
        """)
        limits, begun, device = map(log.named, ("limits", "begun", "device"))
        self.assertEqual((limits["flows"], limits["work"]), ([1, 2**64 - 1, 5], [3, 0, 2.5, 1e308]))
        self.assertEqual((begun["flows"], begun["work"]), ([6], [1e308, 1e308, 0, 0]))
        self.assertEqual((device["flows"], device["work"][0]), ([7], 8))
        self.assertEqual([log.named(name)["value"] for name in ("integer", "real", "below")],
                         [9, 1.5, -2])
        steps = [event for event in log.events if event["category"] == "ProfileStep"]
        self.assertEqual([step["work"][0] for step in steps], [4, 2.0**63, 0])

    def test_numbers_that_do_not_fit(self):
        """pprof.strict() makes them raise, in words that name the argument, whether something
        records or not; what they were said of is recorded without them."""
        log = self.log_of("""
            import pprof
            def refused(kind, words, call, *args, **kwargs):
                try:
                    call(*args, **kwargs)
                except Exception as error:
                    assert type(error) is kind and words in str(error), repr(error)
                else:
                    raise SystemExit("%r: %r %r was not refused" % (call, args, kwargs))
            def refuse():
                with pprof.range("plain") as plain, pprof.begin("begun") as begun:
                    with pprof.device_range("device") as device:
                        for flow in pprof.flow, plain.flow, begun.flow, device.flow:
                            for number in 0, -1, 2**64, 2**64 + 5:
                                refused(ValueError, "number is from 1 to 18446744073709551615, "
                                        "not %d" % number, flow, number)
                            refused(ValueError, "not one of 33220 bits", flow, 10**10000)
                            for number in "5", 5.0, None:
                                refused(TypeError, "number is an integer, not "
                                        + type(number).__name__, flow, number)
                        for work in pprof.work, plain.work, begun.work, device.work:
                            refused(TypeError, "state one of them", work, tokens=1, items=1)
                            for name in "items", "bytes", "flops", "params", "tokens":
                                for amount in -5, -1e-9, float("inf"), float("nan"):
                                    refused(ValueError, name + " is finite and not negative", work,
                                            **{name: amount})
                                refused(ValueError, name + " is too large", work,
                                        **{name: 10**400})
                                for amount in "5", [5]:
                                    refused(TypeError, name + " is a number, not "
                                            + type(amount).__name__, work, **{name: amount})
                for value in "5", None, [5]:
                    refused(TypeError, "value is a number, not " + type(value).__name__,
                            pprof.count, "counter", value)
                refused(ValueError, "value is too large", pprof.count, "counter", 10**400)
                for items in -1, 2**63, 2**64:
                    refused(ValueError, "items is from 0 to 9223372036854775807, not %d" % items,
                            pprof.step, items)
                for items in "5", 5.0, None:
                    refused(TypeError, "items is an integer, not " + type(items).__name__,
                            pprof.step, items)
            pprof.strict()
            refuse()
            pprof.start()
            refuse()
            pprof.stop()
        """)
        self.assertEqual(sorted(log.select("name", steps=True)), ["begun", "device", "plain"])
        self.assertEqual([event for event in log.events if event["flows"] or any(event["work"])],
                         [])

    def test_requests_that_do_not_fit_end_no_program(self):
        """As numbers of other markers; the caller is told, not the package."""
        printed = self.run_ok("""
            import warnings
            import pprof
            def odd():
                pprof.request("5", "none").end()
                chat = pprof.request(7, "chat", tokens=-1)
                chat.token(1.5)
                pprof.serve(chat); pprof.serve([None]); pprof.serve(None); pprof.token(0)
                pprof.request(7, "chat", arrived="now").end()
                pprof.request(7, "chat", arrived=float("nan")).end()
                pprof.serve([7], since="now")
                chat.end()
            pprof.start()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                odd()
            assert [str(warning.message).split()[1] for warning in caught] == [
                "number", "tokens", "requests", "arrived", "since"], [str(w.message) for w in caught]
            assert {warning.filename for warning in caught} == {__file__}, caught
            pprof.stop()
            pprof.strict()
            try:
                pprof.serve([None])
            except TypeError as error:
                print(error)
        """)
        self.assertEqual(printed, "number is an integer, not NoneType\n")
        self.assert_clean(self.logs()[0], flows_lost=10)

    def test_numbers_that_do_not_fit_end_no_program(self):
        """Without, they are left out, counted, and warned of once for each argument."""
        self.run_ok("""
            import sys, warnings
            import pprof
            class Odd:
                def __str__(self): raise RuntimeError("no name")
                def __hash__(self): raise RuntimeError("no key")
                def __float__(self): raise RuntimeError("no number")
                def __index__(self): raise RuntimeError("no integer")
            def odd():
                with pprof.range("plain") as plain, pprof.begin("begun") as begun:
                    plain.flow(0); begun.flow("5"); pprof.flow(Odd())
                    plain.work(items=-1); begun.work(items="5"); pprof.work(items=Odd())
                    pprof.work(tokens=1, items=1)
                    pprof.flow(7); pprof.work(bytes=3)
                pprof.count("counter", Odd())
                pprof.step(-1); pprof.step("5"); pprof.step(Odd())
                with pprof.range(Odd(), category=Odd()):
                    pprof.mark(Odd())
            def warned(call):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    call()
                return caught
            assert warned(odd) == []
            pprof.start()
            caught = warned(odd)
            assert [str(warning.message).split()[1] for warning in caught] == [
                "number", "items", "tokens", "value"], [str(w.message) for w in caught]
            assert {warning.filename for warning in caught} == {__file__}, caught
            assert warned(odd) == []
            pprof.stop()
            assert warned(odd) == []
        """)
        log, = self.logs()
        # Eleven each time, of which those behind the ranges are of none.
        self.assert_clean(log, flows_lost=22)
        self.assertEqual(log.select("name"), ["plain", "begun", "<Odd>", "<Odd>"] * 2)
        self.assertEqual(log.select("category", kind=RANGE)[2], "<Odd>")
        self.assertEqual(len(log.select("name", steps=True)), 8 + 7)
        plain = [event for event in log.events if event["name"] == "plain"][0]
        self.assertEqual((plain["flows"], plain["work"]), ([7], [0, 3, 0, 0]))

    def test_classes_are_not_decorated(self):
        """A function in its place would be no class any more; also while nothing records."""
        self.run_ok("""
            import pprof
            for make in pprof.range, pprof.device_range:
                try:
                    @make("x")
                    class Model:
                        pass
                except TypeError as error:
                    assert "classes cannot be decorated" in str(error), error
                    assert "Model" in str(error), error
                else:
                    raise SystemExit("not refused")
        """)

    def test_names_of_all_kinds(self):
        log = self.log_of("""
            import pprof
            pprof.start()
            for name in ("gr\\u00fc\\u00dfe", "a\\0b", "", 5, None, ["no", "key"], "\\ud800",
                         "x" * 2000):
                with pprof.range(name):
                    pass
            with pprof.range("own", category="My stage"):
                pass
            with pprof.range("number", category=7):
                pass
        """)
        names = log.select("name")
        self.assertEqual(names[:7], ["gr\u00fc\u00dfe", "a", "", "5", "None", "['no', 'key']", "?"])
        self.assertTrue(names[7].startswith("x" * 200))
        self.assertEqual(log.select("name", "category")[8:], [("own", "My stage"), ("number", "7")])

    def test_names_without_end(self):
        """Those that find no place in the package go on to be the session's own matter."""
        log = self.log_of("""
            import pprof
            from pprof import _markers
            _markers.NAMES = 10
            pprof.start()
            for _ in range(3):
                for i in range(30):
                    with pprof.range("name %d" % i):
                        pass
            assert len(_markers._sites) == 10, _markers._sites
        """)
        self.assertEqual(log.select("name"), ["name %d" % i for i in range(30)] * 3)

    def test_names_that_come_and_go(self):
        """More than a session holds: those that are used no more make room."""
        log = self.log_of("""
            import ctypes, os
            import pprof
            from pprof import _markers
            library = ctypes.CDLL(os.environ["PPROF_LIBRARY"])
            current, flush = library.pprof_session_current, library.pprof_session_flush
            current.restype, flush.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
            pprof.start()
            for i in range(100000):
                with pprof.range("job %d" % i):
                    pass
                if i % 1000 == 0:
                    with pprof.range("steady"):
                        pass
                    pprof.mark("steady mark")
                    pprof.begin("job %d" % i, "My stage").end()
                    flush(current())
            assert set(_markers._sites) == {"steady", "steady mark"}, len(_markers._sites)
        """, PPROF_SET="memory_limit=16MiB")
        self.assert_clean(log)
        want = []
        for i in range(100000):
            want += ["job %d" % i]
            if i % 1000 == 0:
                want += ["steady", "steady mark", "job %d" % i]
        found = log.select("name")
        self.assertEqual(len(found), len(want))
        wrong = [pair for pair in zip(found, want) if pair[0] != pair[1]]
        self.assertEqual(wrong[:10], [])

    def test_off_and_on_inside_ranges(self):
        """What was entered while nothing recorded ends nothing; what a stop has cut, neither."""
        self.run_ok("""
            import pprof
            with pprof.range("before"):
                assert not pprof.enabled()
                pprof.start({"output": "1.pplog"})
                assert pprof.enabled()
                with pprof.range("first"):
                    pass
            with pprof.range("cut"):
                pprof.stop()
                with pprof.range("between"):
                    pprof.mark("x"); pprof.count("y", 1); pprof.flow(1); pprof.work(items=1)
                    pprof.step()
                pprof.start({"output": "2.pplog"})
            with pprof.range("second"):
                pass
            pprof.stop()
        """, PPROF_OUTPUT=None)
        first, second = self.logs()
        self.assertEqual((first.select("name"), second.select("name")),
                         (["first", "cut"], ["second"]))
        self.assert_clean(first)
        self.assert_clean(second)

    def test_capture_windows(self):
        log = self.log_of("""
            import pprof
            pprof.start({"capture": {"skip_first": 1, "wait": 1, "warmup": 0, "active": 1,
                                     "repeat": 1}})
            for i in range(4):
                with pprof.range("step %d" % i):
                    pass
                pprof.step()
            pprof.stop()
        """)
        self.assertEqual(log.select("name"), ["step 2"])

    def test_enter_and_exit_by_hand(self):
        """A range that is left open ends with the one around it; one too many does nothing."""
        self.run_ok("""
            import pprof
            pprof.start()
            class Stage:
                def __init__(self, name):
                    self.range = pprof.range(name)
                def __enter__(self):
                    self.range.__enter__()
                def __exit__(self, *error):
                    self.range.__exit__(*error)
            with Stage("by hand"):
                with pprof.range("inside"):
                    pass
            with pprof.range("around"):
                forgotten = pprof.range("forgotten")
                forgotten.__enter__()
            twice = pprof.range("twice")
            twice.__enter__()
            twice.__exit__(None, None, None)
            twice.__exit__(None, None, None)
            pprof.range("never").__exit__(None, None, None)
        """)
        log, = self.logs()
        self.assert_clean(log, abandoned=1)
        self.assertEqual(log.select("name", "depth"), [("by hand", 0), ("inside", 1), ("around", 0),
                                                       ("forgotten", 1), ("twice", 0)])
        self.assertTrue(log.named("forgotten")["flags"] & ABANDONED)

    def test_begun_ranges_end_once(self):
        log = self.log_of("""
            import gc, pprof
            early = pprof.begin("early")
            pprof.start()
            early.end()
            handle = pprof.begin("begun", category="Inference")
            handle.work(items=2)
            handle.flow(5)
            handle.end()
            handle.end()
            handle.work(items=1)
            with pprof.begin("block"):
                pass
            pprof.begin("dropped")
            cycle = [pprof.begin("collected")]
            cycle.append(cycle)
            del cycle
            gc.collect()
            pprof.stop()
            handle = pprof.begin("off")
        """)
        self.assertEqual(log.select("name"), ["begun", "block", "dropped", "collected"])
        begun = log.named("begun")
        self.assertEqual((begun["work"][0], begun["flows"], begun["category"]),
                         (2, [5], "Inference"))


if __name__ == "__main__":
    main()
