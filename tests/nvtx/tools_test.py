#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Another tool beside ours: a chained one sees what it would see alone, and costs us nothing."""
import os

from nvtx_case import PATHS, Case, main

PARTS = ["core", "domains", "values", "resources", "thread_resource", "locks", "payloads",
         "payload_calls", "counters"]


class ToolsTest(Case):
    def recorded(self, env, parts):
        """The lines that the recorder wrote."""
        path = self.path("recorded.txt")
        printed = self.run_ok("calls", *parts, env={**env, "RECORDER_FILE": path})
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            os.remove(path)
        return printed, lines

    def chained(self, tool, parts=PARTS, **changes):
        printed, lines = self.recorded(self.environment(PPROF_NVTX_CHAIN=tool, **changes), parts)
        log = self.log()
        os.remove(log.path)
        return printed, lines, log.tuples("kind", "name", "category", "lane_name", "depth")

    def alone(self, parts=PARTS):
        """Without any other tool."""
        printed = self.run_ok("calls", *parts)
        log = self.log()
        os.remove(log.path)
        return printed, log.tuples("kind", "name", "category", "lane_name", "depth")

    def test_chained_tool_sees_every_call(self):
        for part in PARTS:
            with self.subTest(part):
                _, expected = self.recorded(
                    self.environment(NVTX_INJECTION64_PATH=PATHS["recorder"]), [part])
                printed, lines, events = self.chained(PATHS["recorder"], [part])
                self.assertGreater(len(lines), 2)
                self.assertEqual(lines, expected)
                self.assertEqual((printed, events), self.alone([part]))

    def test_chained_tool_sees_every_unit(self):
        path = self.path("recorded.txt")
        env = self.environment(PPROF_NVTX_CHAIN=PATHS["recorder"], RECORDER_FILE=path)
        self.run_ok("units", "shared_domain", PATHS["unit_alpha"], PATHS["unit_gamma"], env=env)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "init")
        pushes = [line.split("'")[1] for line in lines if line.startswith("DomainRangePushEx")]
        self.assertEqual(pushes, ["program range", "alpha range", "gamma range"])
        # One unit destroys its domain, and another goes on using it.
        self.assertIn("DomainCreateA 'shared' is 1", lines)
        self.assertFalse([line for line in lines if "domain -" in line])

    def test_chained_tool_that_refuses(self):
        printed, lines, events = self.chained(PATHS["recorder"], RECORDER_INIT="0")
        self.assertEqual(set(lines) - {"extension 2", "extension 4"}, {"init"})
        self.assertEqual((printed, events), self.alone())

    def test_chained_tool_without_extensions(self):
        printed, lines, events = self.chained(PATHS["recorder_plain"])
        self.assertIn("RangePushA 'push a'", lines)
        self.assertEqual((printed, events), self.alone())

    def test_chain_that_is_no_tool(self):
        self.assertEqual(self.chained(PATHS["unit_alpha"])[0::2], self.alone())

    def test_chain_that_does_not_exist(self):
        self.assertEqual(self.chained(self.path("missing.so"))[0::2], self.alone())

    def test_chain_to_ourselves(self):
        self.assertEqual(self.chained(self.injection)[0::2], self.alone())

    def test_chain_to_a_copy_of_ourselves(self):
        self.assertEqual(self.chained(self.install("other"))[0::2], self.alone())

    def test_variable_already_set_is_left_alone(self):
        path = self.path("recorded.txt")
        env = self.environment(NVTX_INJECTION64_PATH=PATHS["recorder"], PPROF_NVTX="1",
                               RECORDER_FILE=path, LD_LIBRARY_PATH=os.path.dirname(self.injection))
        self.run_ok("sdk", "sdk_first", env=env)
        with open(path, encoding="utf-8") as file:
            self.assertIn("RangePushA 'nvtx'", file.read())
        log = self.log()
        self.assertEqual((log.count("nvtx"), log.count("sdk")), (0, 100))

    def test_program_attaches_itself(self):
        env = self.environment(NVTX_INJECTION64_PATH=None, PPROF_NVTX="1",
                               LD_LIBRARY_PATH=os.path.dirname(self.injection))
        self.run_ok("sdk", "sdk_first", env=env)
        log = self.log()
        self.assertEqual((log.count("nvtx"), log.count("sdk")), (100, 100))


if __name__ == "__main__":
    main()
