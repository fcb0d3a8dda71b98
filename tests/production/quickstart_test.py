#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quickstart_test.py SERVICE TOOL: the commands of the quick starts for containers and
for Slurm, word for word, with what stands here for docker and for srun."""
import os
import re
import signal
import subprocess
import unittest

from production_test import NEEDS_NAMESPACES, SERVICE, SH, TOOL, Case, children_of

PAGE = "docs/quickstart.md"


def blocks(title):
    """The commands of a section."""
    with open(PAGE, encoding="utf-8") as page:
        section = page.read().split("\n## %s\n" % title)[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)


@NEEDS_NAMESPACES
class Container(Case):
    def setUp(self):
        super().setUp()
        self.run, self.read = blocks("A container, Kubernetes")[0].split("IMAGE\n")
        self.mount(int(re.search(r"--shm-size=(\d+)m", self.run).group(1)))
        self.env = {"PATH": self.env["PATH"]}
        for name, value in re.findall(r"-e (\w+)=(\S+)", self.run):
            self.env[name] = value.replace("/logs", str(self.home / "logs"))
        self.assertEqual({"PATH", "PPROF_OUTPUT", "PPROF_SET"}, set(self.env))

    def container(self, stop):
        service = self.start(
            stop, "unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", SH, "-c",
            'mount --bind %s /dev/shm && exec "$@"' % self.shm, "sh")
        return service, children_of(service.pid)[0]

    def test_it_has_four_times_the_limit(self):
        limit = int(re.search(r"memory_limit=(\d+)MiB", self.env["PPROF_SET"]).group(1))
        self.assertLessEqual(4 * limit, int(re.search(r"--shm-size=(\d+)m", self.run).group(1)))

    def test_logs_of_all_that_ended_are_kept(self):
        """Each is process number 1; what was killed the report names."""
        for stop, number in ("sigterm-flag", signal.SIGTERM), ("sigterm-flag", signal.SIGTERM), \
                ("sigkill", signal.SIGKILL):
            service, first = self.container(stop)
            os.kill(first, number)
            service.wait()
        names = self.logs()
        self.assertEqual([".part", "pplog", "pplog"],
                         sorted("pplog" if name.endswith(".pplog") else name[-5:]
                                for name in names), names)
        for name in names:
            self.assertRegex(name, r"^pprof\..*\.1\b")
        done = subprocess.run([SH, "-ec", self.read], cwd=self.home, env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertRegex(done.stdout, r"work +host")
        self.assertIn("`pprof-report recover logs/*.pplog.part`", done.stderr)


class Slurm(Case):
    def write(self, name, text):
        path = self.home / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def test_a_job_and_its_report(self):
        job, read_it = blocks("A Slurm job")[:2]
        (self.home / "logs").rmdir()
        self.write("bin/srun", 'for SLURM_PROCID in 0 1 2 3; do export SLURM_PROCID; "$@"; done\n')
        self.write("train", 'exec %s exit made.$SLURM_PROCID >/dev/null\n' % SERVICE)
        (self.home / "job").write_text(job)
        env = dict(PATH=self.env["PATH"], SLURM_SUBMIT_DIR=str(self.home), SLURM_JOB_ID="7")
        for command in ["job"], ["-ec", read_it]:
            done = subprocess.run([SH, *command], cwd=self.home, env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["7.rank%d.pplog" % rank for rank in range(4)], self.logs())
        self.assertRegex(done.stdout, r"work +host")
        self.assertTrue((self.home / "all.trace.json.gz").exists(), os.listdir(self.home))
        about = subprocess.run([TOOL, "info", "all.pplog"], cwd=self.home, text=True, check=True,
                               stdout=subprocess.PIPE).stdout
        self.assertIn("run 4 of 4", about)


if __name__ == "__main__":
    unittest.main()
