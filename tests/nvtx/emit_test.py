#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NVTX out: a tool sees what a program marks, our own injection does not see it a second time."""
import os
import re
import struct

from nvtx_case import COUNTER, MARK, PATHS, RANGE, Case, main

EVENT = re.compile(r"Domain(\w+) domain (\d+) (?:string (\d+)|'(.*)') category (\d+)"
                   r" color (\d) (\S+) payload (\d) (\S+)$")


class Call:
    """What a tool was told of one event."""

    def __init__(self, match, strings, categories):
        kind, domain, string, text, category, color_type, color, payload_type, payload = match
        self.kind = {"RangePushEx": "push", "RangeStartEx": "start", "MarkEx": "mark"}[kind]
        self.domain, self.name = domain, strings[string] if string else text
        self.category = categories[category]
        self.color = int(color, 16) if color_type == "1" else None
        self.payload = None
        if payload_type == "1":
            self.payload = int(payload, 16)
        if payload_type == "3":
            self.payload = struct.unpack("<d", struct.pack("<Q", int(payload, 16)))[0]

    def __str__(self):
        payload = "" if self.payload is None else f" {self.payload}"
        return f"{self.kind} {self.name}{payload}"


class Told:
    """The recorder's lines, with names in the place of handles; ids of ranges count from 1."""

    def __init__(self, lines):
        self.lines, self.events, self.words, self.domains = lines, [], [], []
        strings, categories = {}, {}
        for line in lines:
            if match := re.match(r"DomainRegisterStringA domain \d+ '(.*)' is (\d+)$", line):
                strings[match[2]] = match[1]
            elif match := re.match(r"DomainNameCategoryA domain \d+ (\d+) '(.*)'$", line):
                assert match[1] not in categories, line
                categories[match[1]] = match[2]
            elif match := re.match(r"DomainCreateA '(.*)' is (\d+)$", line):
                self.domains.append(match.groups())
            elif match := EVENT.match(line):
                self.events.append(Call(match.groups(), strings, categories))
                self.words.append(str(self.events[-1]))
            elif match := re.match(r"DomainRangeEnd domain \d+ (\d+)$", line):
                self.words.append(f"end {int(match[1]) - 1000}")
            elif line.startswith("DomainRangePop "):
                self.words.append("pop")
            else:
                assert line == "init", line

    def number(self, word):
        return sum(words.split()[0] == word for words in self.words)

    def named(self, name):
        return [event for event in self.events if event.name == name]


class ToldCase(Case):
    def environment(self, **changes):
        """A program that links libpprof.so finds the one that the injection needs."""
        return super().environment(**{"LD_LIBRARY_PATH": os.path.dirname(self.injection),
                                      "RECORDER_FILE": self.path("told.txt"), **changes})


class EmitTest(ToldCase):
    """A program that is linked with libpprof.so."""
    program = "emit"

    def told(self, *scenarios, emit="true", **changes):
        changes.setdefault("NVTX_INJECTION64_PATH", PATHS["recorder"])
        env = self.environment(PPROF_SET="nvtx.emit=" + emit, **changes)
        self.assertEqual(self.run_ok(self.program, *scenarios, env=env), [])
        path = self.path("told.txt")
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            os.remove(path)
        return Told(lines)

    def check_balance(self, told):
        self.assertEqual(told.number("push"), told.number("pop"))
        self.assertEqual(told.number("start"), told.number("end"))

    def test_nested_ranges(self):
        told = self.told("nested")
        self.assertEqual(told.domains, [("pprof", "1")])
        self.assertEqual({event.domain for event in told.events}, {"1"})
        self.assertEqual(told.words, ["push outer", "push inner 7", "push named 7", "push named 7",
                                      "pop", "pop", "pop", "pop", "push scope", "push inner",
                                      "pop", "pop", "mark point"])
        self.assertEqual([event.category for event in told.events],
                         ["Forward", "Preprocess", "my own", "my own", "UserDefined",
                          "Preprocess", "UserDefined"])
        self.assertEqual([event.color for event in told.named("inner")], [0xff102030] * 2)
        self.assertIsNone(told.named("outer")[0].color)
        # Each text once.
        self.assertEqual(sum("RegisterString" in line for line in told.lines), 5)

    def test_what_is_recorded_is_what_it_was(self):
        self.told("nested")
        log = self.log()
        os.remove(log.path)
        self.told("nested", emit="false")
        keys = ("name", "category", "color", "depth", "flags", "kind")
        self.assertEqual(log.tuples(*keys), self.log().tuples(*keys))
        self.assertEqual(log.totals["recorded"], self.log().totals["recorded"])

    def test_cross_thread_ranges(self):
        told = self.told("cross_thread")
        self.assertEqual(told.words, ["start wander", "start wander", "push outer",
                                      "start inner 9", "pop", "end 2", "end 1", "push outer",
                                      "start wander 5", "end 4", "pop", "end 3"])

    def test_marks_and_counters(self):
        told = self.told("points")
        self.assertEqual(told.words, ["mark point", "mark point 2.5", "push outer",
                                      "mark inner 3", "pop"])
        self.assertEqual(sorted(self.log().names(kind) for kind in (MARK, COUNTER)),
                         [["point"], ["point", "inner"]])

    def test_device_ranges(self):
        told = self.told("devices")
        self.assertEqual(told.words, ["start outer", "start inner", "end 1", "start wander",
                                      "end 2", "end 3", "start device scope", "end 4"])

    def test_steps(self):
        told = self.told("steps")
        self.assertEqual([words for words in told.words if words[0] != "p"],
                         ["start ProfileStep 1", "end 1", "start ProfileStep 2", "end 2",
                          "start ProfileStep 3", "end 3", "start ProfileStep 4", "end 4"])
        self.check_balance(told)

    def test_windows(self):
        """A range that an edge cuts ends there for the tool, too."""
        self.assertEqual(self.windows("steps").words,
                         ["start ProfileStep 1", "push work", "end 1", "pop",
                          "start ProfileStep 3", "push work", "end 2", "pop"])
        self.assertEqual(self.windows("pushed_steps").words,
                         ["start ProfileStep 1", "push outer", "end 1", "pop",
                          "start ProfileStep 3", "push outer", "end 2", "pop"])

    def test_windows_and_threads(self):
        """On a thread that is not there to end it at the edge, with its next marker."""
        self.assertEqual(self.windows("edges").words,
                         ["start ProfileStep 1", "push outer", "start wander", "push scope",
                          "end 1", "end 2", "pop", "pop", "start ProfileStep 3",
                          "push inner", "pop", "end 3"])

    def windows(self, scenario):
        """Steps 1, 3, 5, ... are recorded."""
        with open(self.path("windows.yaml"), "w", encoding="utf-8") as file:
            file.write("capture: {wait: 1, active: 1}\n")
        return self.told(scenario, PPROF_CONFIG=self.path("windows.yaml"))

    def test_deeper_than_a_stack(self):
        told = self.told("deep")
        self.assertEqual(told.number("push"), 512)
        self.check_balance(told)

    def test_what_is_lost_is_not_told(self):
        told, log = self.told("crowded"), self.log()
        self.assertGreater(log.total("lost"), 0)
        for name in ("wander", "inner", "point"):
            self.assertEqual(len(told.named(name)), log.count(name), name)
        # Step 0 is recorded and not told.
        self.assertEqual(len(told.named("ProfileStep")), log.count("ProfileStep") - 1)
        self.check_balance(told)

    def test_threads_that_leave_ranges_open(self):
        told = self.told("abandoned")
        self.assertEqual(told.words, ["push outer", "push inner", "pop", "pop", "push outer",
                                      "pop"])

    def test_another_session(self):
        told = self.told("restart")
        self.assertEqual(told.words, ["push outer", "pop", "mark point", "push inner", "pop"])
        self.assertEqual(told.lines.count("init"), 1)

    def test_forked_child(self):
        """It goes on from its first marker, and once more when it starts itself."""
        told = self.told("forked")
        self.assertEqual(told.words, ["push outer", "pop", "push point", "pop", "push inner", "pop",
                                      "pop"])

    def test_forked_child_that_is_switched_off(self):
        told = self.told("forked", emit="true;fork=off")
        self.assertEqual(told.named("point"), [])
        self.assertEqual(told.words, ["push outer", "pop", "push inner", "pop", "pop"])

    def test_session_without_configuration(self):
        self.assertEqual(self.told("plain_session").named("wander"), [])

    def test_off(self):
        self.assertEqual(self.told("nested", "cross_thread", emit="false").lines, [])

    def test_no_tool(self):
        self.told("nested", NVTX_INJECTION64_PATH=None)
        self.assertEqual(self.log().names(RANGE)[:2], ["outer", "inner"])

    def test_tool_that_is_not_there(self):
        self.told("nested", NVTX_INJECTION64_PATH=self.path("missing.so"))
        self.assertEqual(self.log().count("outer"), 1)

    def test_library_that_is_no_tool(self):
        self.told("nested", NVTX_INJECTION64_PATH=PATHS["unit_alpha"])
        self.assertEqual(self.log().count("outer"), 1)

    def test_tool_that_declines(self):
        self.assertEqual(self.told("nested", RECORDER_INIT="0").lines, ["init"])
        self.assertEqual(self.log().count("outer"), 1)

    def check_not_twice(self):
        log = self.log()
        self.assertEqual(log.count("outer"), 1)
        self.assertEqual({event["lane_name"] for event in log.events}, {self.program})
        self.assertEqual((log.total("lost"), log.total("invalid")), (0, 0))

    def test_own_injection(self):
        self.assertEqual(self.told("nested", NVTX_INJECTION64_PATH=self.injection).lines, [])
        self.check_not_twice()

    def test_own_injection_asked_for(self):
        self.told("nested", NVTX_INJECTION64_PATH=None, PPROF_NVTX="1")
        self.check_not_twice()

    def test_copy_of_own_injection(self):
        self.told("nested", NVTX_INJECTION64_PATH=self.install("other"))
        self.check_not_twice()

    def test_tool_behind_own_injection(self):
        told = self.told("nested", NVTX_INJECTION64_PATH=self.injection,
                         PPROF_NVTX_CHAIN=PATHS["recorder"])
        self.assertEqual(told.words[:3], ["push outer", "push inner 7", "push named 7"])
        self.check_balance(told)
        self.check_not_twice()


class InjectedProgramTest(ToldCase):
    """A program that calls NVTX itself, under our injection with a tool behind it."""

    def test_calls_of_the_program_come_once(self):
        env = self.environment(PPROF_SET="nvtx.emit=true", PPROF_NVTX_CHAIN=PATHS["recorder"])
        self.run_ok("sdk", "sdk_first", env=env)
        with open(self.path("told.txt"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        # 100 while the session runs, 100 after it.
        self.assertEqual(lines.count("RangePushA 'nvtx'"), 200)
        self.assertEqual(lines.count("RangePushA 'nvtx middle'"), 1)
        self.assertEqual({line.split("'")[1] for line in lines if "RegisterString" in line},
                         {"sdk", "sdk outer", "sdk inner"})
        self.assertEqual(sum(line.startswith("DomainRangePushEx") for line in lines), 102)
        self.assertEqual(sum(line.startswith("DomainRangePop") for line in lines), 102)
        log = self.log()
        self.assertEqual((log.count("nvtx"), log.count("sdk")), (100, 100))


class StaticEmitTest(EmitTest):
    """A program that has the SDK inside: injection has a copy of its own."""
    program = "emit_static"


if __name__ == "__main__":
    main()
