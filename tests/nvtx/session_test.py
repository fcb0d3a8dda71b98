#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that use the SDK and are injected: one session with the markers of both, and the
configuration holds for both."""
import os

from nvtx_case import RANGE, Case, main

MIXED = ["sdk outer", "nvtx middle", "sdk inner", "nvtx inner"]
NUM = 100


class SessionTest(Case):
    """A program that is linked with libpprof.so."""
    program = "sdk"

    def environment(self, **changes):
        """A program that links libpprof.so finds the one that the injection needs."""
        return super().environment(LD_LIBRARY_PATH=os.path.dirname(self.injection), **changes)

    def session(self, scenario, **changes):
        printed = self.run_ok(self.program, scenario, env=self.environment(**changes))
        log = self.log()
        self.assertEqual((log.total("lost"), log.total("unmatched")), (0, 0))
        return printed, log

    def check_mixed(self, log):
        """Both sorts of ranges nest in one stack."""
        self.assertEqual([(event["name"], event["depth"], event["lane_name"])
                          for event in log.events if event["name"] in MIXED],
                         [(name, depth, self.program) for depth, name in enumerate(MIXED)])

    def test_program_starts_first(self):
        printed, log = self.session("sdk_first")
        self.assertEqual(printed, ["start 0", "push 1", "push 3", "pop 3", "pop 1", "stop 0"])
        self.assertEqual((log.count("sdk"), log.count("nvtx")), (NUM, NUM))
        self.check_mixed(log)

    def test_injection_starts_first(self):
        printed, log = self.session("injection_first")
        self.assertEqual((printed[0], printed[-1]), ("start 0", "stop 0"))
        self.assertEqual((log.count("sdk"), log.count("nvtx")), (2 * NUM, 2 * NUM))
        self.check_mixed(log)

    def test_program_never_starts(self):
        _, log = self.session("never_started")
        # Nothing records before the first call of NVTX.
        self.assertEqual((log.count("sdk"), log.count("nvtx")), (NUM, NUM))
        self.check_mixed(log)

    def test_program_only_stops(self):
        printed, log = self.session("only_stop")
        self.assertEqual(printed, ["stop 0"])
        self.assertEqual((log.count("sdk"), log.count("nvtx")), (NUM, NUM))

    def test_program_starts_while_threads_call(self):
        printed, log = self.session("race")
        self.assertEqual(printed, ["start 0", "stop 0"])
        self.assertEqual(log.count("sdk"), NUM)
        self.assertEqual(log.count("nvtx"), 2 * NUM * NUM)

    def test_windows(self):
        """Steps 2 and 3 of 6: what lies in others is excluded, not lost."""
        _, log = self.session("steps",
                              PPROF_SET="capture={skip_first: 2, active: 2, repeat: 1}")
        names = [name for name in log.names(RANGE) if name.startswith(("step ", "before"))]
        self.assertEqual(names, ["step 2", "step 3"])
        self.assertEqual([opens for _, opens, _ in log.windows], [1, 0])


class ExportingProgramTest(SessionTest):
    """A program that has libpprof.a in it and exports its names: the injection uses those."""
    program = "sdk_static"


class HidingProgramTest(Case):
    """A program that has libpprof.a in it and shows nobody: the injection brings its own copy. Two
    sessions, two logs, and neither replaces the other."""

    def check(self, scenario, nvtx, template="%p.pplog"):
        env = self.environment(PPROF_OUTPUT=self.path(template))
        printed = self.run_ok("sdk_hidden", scenario, env=env)
        self.assertIn("stop 0", printed)
        self.assertEqual(self.log_paths(".part"), [])
        logs = self.logs()
        self.assertEqual(sorted((log.count("sdk"), log.count("nvtx")) for log in logs),
                         [(0, nvtx), (NUM, 0)])
        return logs

    def test_program_starts_first(self):
        self.check("sdk_first", 2 * NUM)

    def test_injection_starts_first(self):
        self.check("injection_first", 2 * NUM)

    def test_program_has_ended_before(self):
        self.check("sdk_before", NUM)

    def test_one_name_for_all_processes(self):
        self.check("sdk_first", 2 * NUM, "log.pplog")


class ConfigurationTest(Case):
    def configure(self, text):
        with open(self.path("profile.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.environment(PPROF_CONFIG=self.path("profile.yaml"))

    def categories(self, env):
        self.run_ok("calls", "domains", env=env)
        return [event["category"] for event in self.log().events]

    def test_categories_by_domain(self):
        env = self.configure('nvtx:\n  domains: {alpha: communication, "beta β": my words}\n')
        self.assertEqual(self.categories(env), [
            "Communication", "my words", "Communication", "Communication", "my words",
            "UserDefined", "Communication"])

    def test_categories_by_category(self):
        env = self.configure("nvtx:\n  domains: {alpha: communication}\n"
                             "  categories: {alpha seven: Dataloader}\n")
        self.assertEqual(self.categories(env), [
            "Dataloader", "beta seven", "Communication", "Communication", "UserDefined",
            "UserDefined", "Communication"])

    def test_known_grammars_are_cut(self):
        self.run_ok("calls", "grammars")
        log = self.log()
        self.assertEqual(log.names(), [
            "aten::add", "aten::add", "aten::mul", "AddBackward0", "aten::linear",
            "a, b, seq", "seq = 5", "wait, for it"])

    def test_known_grammars_can_be_kept(self):
        self.run_ok("calls", "grammars", env=self.environment(PPROF_SET="nvtx.cut_names=false"))
        self.assertEqual(self.log().names()[0], "aten::add, seq = 12, op_id = 3")

    def test_configuration_in_force_is_in_the_log(self):
        self.run_ok("calls", "core", env=self.configure("nvtx: {domains: {alpha: operator}}\n"))
        self.assertIn('domains: {"alpha": "operator"}', self.log().info["config"])

    def test_exports(self):
        env = self.configure("exports:\n  - {format: table, path: table.txt}\n"
                             "  - {format: chrome, path: trace.json}\n")
        self.run_ok("calls", "core", env=env)
        with open(self.path("table.txt"), encoding="utf-8") as file:
            self.assertIn("push a", file.read())
        self.assertEqual(self.overview(self.log().path)["seven"], 1)

    def test_wrong_configuration_leaves_the_program_alone(self):
        env = self.configure("nvtx: {domain: {alpha: communication}}\n")
        printed = self.run_ok("calls", "core", env=env)
        self.assertEqual(printed[0], "push -2")
        self.assertEqual(self.log_paths(), [])
        done = self.start("calls", "core", env={**env, "PPROF_LOG_LEVEL": "error"})
        self.assertIn("did you mean 'domains'?", done.stderr)

    def test_output_that_cannot_be_written(self):
        env = self.environment(PPROF_OUTPUT=self.path("missing/log.pplog"))
        self.assertEqual(self.run_ok("calls", "core", env=env)[0], "push -2")


if __name__ == "__main__":
    main()
