#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""production_test.py SERVICE TOOL: what docs/production.md says of each kind of
stop, tried, and the examples that it names, in namespaces made here.

The table is read: a row that is not tried here fails, as one does that says
something else than what comes.
"""
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

SERVICE, TOOL = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]
DOC = "docs/production.md"
EXAMPLES = pathlib.Path("examples/production").resolve()
SH = shutil.which("sh")


def rows():
    """{stop: (in the log, left, run)} as the table has them."""
    with open(DOC) as page:
        found = re.findall(r"^\| `([\w-]+)`:[^|]*\| ([^|]+) \| ([^|]+) \| "
                           r"([^|]+) \|$", page.read(), re.M)
    return {row[0]: row[1:] for row in found}


ROWS = rows()


def may_unshare():
    return os.geteuid() == 0 and subprocess.run(
        ["unshare", "-m", "-p", "-f", "mount", "-t", "tmpfs", "none", "/mnt"],
        stderr=subprocess.DEVNULL).returncode == 0


MAY_UNSHARE = may_unshare()
NEEDS_NAMESPACES = unittest.skipUnless(
    MAY_UNSHARE, "needs root and namespaces of mounts and processes")


class Case(unittest.TestCase):
    """A home with a folder for logs, one in memory, and the commands' names."""

    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        shm = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(shm.cleanup)
        self.home, self.shm = pathlib.Path(home.name), pathlib.Path(shm.name)
        for name in ["logs", "bin"]:
            (self.home / name).mkdir()
        self.made = self.home / "made"
        for name, path in [("service", SERVICE), ("pprof-report", TOOL),
                           ("recover.sh", EXAMPLES / "recover.sh")]:
            os.symlink(path, self.home / "bin" / name)
        self.env = {
            "PATH": "%s:%s" % (self.home / "bin", os.environ["PATH"]),
            "PPROF_OUTPUT": str(self.home / "logs" / "run.pplog"),
            "PPROF_SET": "memory_limit=2MiB;spool=%s" % self.shm,
        }

    def start(self, stop, *before, **changes):
        service = subprocess.Popen(
            [*before, SERVICE, stop, str(self.made)],
            env=dict(self.env, **changes), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.addCleanup(service.stdout.close)
        self.addCleanup(service.kill)
        self.assertEqual(b"ready\n", service.stdout.readline(), stop)
        return service

    def mount(self, size):
        """A memory of so many MiB, in the place of /dev/shm for some."""
        self.shm = self.home / "shm"
        self.shm.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm" % size, "shm",
                        str(self.shm)], check=True)
        self.addCleanup(subprocess.run, ["umount", str(self.shm)])

    def num_made(self):
        return struct.unpack("Q", self.made.read_bytes())[0]

    def num_recorded(self, log):
        out = subprocess.run([TOOL, "check", str(log)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        self.assertEqual(0, out.returncode, out.stdout)
        return int(re.search(r"recorded (\d+)", out.stdout).group(1))

    def logs(self):
        return sorted(path.name for path in (self.home / "logs").iterdir())

    def spools(self):
        return sorted(self.shm.glob("*.spool"))

    def left(self):
        left = [".part"] * any(n.endswith(".part") for n in self.logs())
        return ", ".join(left + ["spool"] * bool(self.spools())) or "nothing"


class StopTest(Case):
    """One test for each row; what ends the service is in STOPS."""

    def expect(self, stop, num=None):
        """That what is there is what the row says, and is made a log by what
        it says."""
        in_log, left, run = ROWS[stop]
        self.assertEqual(left, self.left())
        if run == "recover":
            self.assertNotIn("run.pplog", self.logs())
            for spool in self.spools():
                subprocess.run([TOOL, "recover", str(spool)], check=True,
                               stdout=subprocess.DEVNULL)
        else:
            self.assertEqual("nothing", run)
        self.assertEqual([], self.spools())
        # A daemon has a second log, with its process id.
        logs = self.logs()
        self.assertEqual(["run.pplog"], [
            name for name in logs if not re.fullmatch(r"run\.\d+\.pplog", name)])
        self.assertEqual(2 if stop == "daemon" else 1, len(logs))
        self.assertEqual("all", in_log)
        made = self.num_made() if num is None else num
        self.assertEqual(made, sum(
            self.num_recorded(self.home / "logs" / name) for name in logs))

    def by_itself(self, stop):
        self.start(stop).wait()
        self.expect(stop)

    def by_sigterm(self, stop):
        service = self.start(stop)
        service.terminate()
        service.wait()
        self.expect(stop)

    def by_kill(self, stop):
        service = self.start(stop)
        service.kill()
        service.wait()
        self.expect(stop)

    def by_both(self, stop):
        service = self.start(stop)
        service.terminate()
        service.kill()
        self.assertEqual(-signal.SIGKILL, service.wait())
        self.expect(stop)

    def by_daemon(self, stop):
        service = self.start(stop)
        service.wait()
        # The daemon holds the pipe until it has ended.
        service.stdout.read()
        self.expect(stop)

    def by_oom(self, stop):
        group = memory_group()
        if not group:
            self.skipTest("no cgroup of memory may be made here")
        self.addCleanup(os.rmdir, group)
        service = self.start(stop, SH, "-c", 'echo $$ > %s/cgroup.procs; '
                             'exec "$@"' % group, "sh")
        self.assertEqual(-signal.SIGKILL, service.wait())
        self.expect(stop)

    def by_container(self, stop):
        """As process number 1, which a runtime sends SIGTERM and, when its
        patience ends, SIGKILL."""
        if not MAY_UNSHARE:
            self.skipTest("needs root and namespaces")
        service = self.start(stop, "unshare", "-p", "-f", "--kill-child")
        first = children_of(service.pid)[0]
        os.kill(first, signal.SIGTERM)
        if ROWS[stop][1] != "nothing":
            # It is not handled, so nothing comes of it: it goes on.
            self.assertEqual([first], children_of(service.pid))
            os.kill(first, signal.SIGKILL)
        service.wait()
        self.expect(stop)

    STOPS = {
        "exit": by_itself,
        "return": by_itself,
        "sigterm-exit": by_sigterm,
        "sigterm-flag": by_sigterm,
        "sigterm-wait": by_sigterm,
        "sigterm-default": by_sigterm,
        "sigterm-ignored": by_both,
        "sigkill": by_kill,
        "_exit": by_itself,
        "crash": by_itself,
        "oom": by_oom,
        "exec": by_itself,
        "daemon": by_daemon,
        "container-handled": by_container,
        "container-stop": by_container,
        "eviction": by_container,
        "eviction-killed": by_container,
    }

    def test_every_row_is_tried(self):
        self.assertEqual(set(self.STOPS), set(ROWS))


for name, how in StopTest.STOPS.items():
    setattr(StopTest, "test_" + name.replace("-", "_"),
            lambda self, name=name, how=how: how(self, name))


def children_of(pid):
    path = "/proc/%d/task/%d/children" % (pid, pid)
    if os.path.exists(path):
        with open(path) as children:
            return [int(child) for child in children.read().split()]
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)],
                         stdout=subprocess.PIPE, text=True).stdout
    return [int(child) for child in out.split()]


def memory_group():
    """A group of our own with 64 MiB, None where none may be made."""
    with open("/proc/self/cgroup") as file:
        of = dict(line.strip().split(":")[1:] for line in file)
    for folder, limit in [("/sys/fs/cgroup/memory" + of.get("memory", ""),
                           "memory.limit_in_bytes"),
                          ("/sys/fs/cgroup" + of.get("", ""), "memory.max")]:
        group = "%s/pprof-test-%d" % (folder, os.getpid())
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            with open("%s/%s" % (group, limit), "w") as file:
                file.write(str(64 << 20))
            return group
        except OSError:
            os.rmdir(group)
    return None


@NEEDS_NAMESPACES
class KubernetesTest(Case):
    """Containers of a pod: process numbers of their own, one folder in memory
    for /dev/shm, of the size that the example gives it."""

    def setUp(self):
        super().setUp()
        self.yaml = (EXAMPLES / "kubernetes.yaml").read_text()
        self.mount(self.size())  # the volume
        # Some of the example's, as far as a place here stands for theirs.
        self.env["PPROF_SET"] = self.value("PPROF_SET")
        self.env["PPROF_OUTPUT"] = self.value("PPROF_OUTPUT").replace(
            "/logs", str(self.home / "logs"))

    def value(self, name):
        return re.search(r'name: %s, value: "([^"]*)"' % name,
                         self.yaml).group(1)

    def size(self):
        return int(re.search(r"sizeLimit: (\d+)Mi", self.yaml).group(1))

    def container(self):
        """What begins a container's command."""
        return ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc",
                SH, "-c", 'mount --bind %s /dev/shm && exec "$@"' %
                self.shm, "sh"]

    def sidecar(self):
        command = re.search(r'command: \["(recover.sh)", "(\d+)"\]', self.yaml)
        sidecar = subprocess.Popen(
            [*self.container(), *command.groups()], env=self.env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(sidecar.stdout.close)
        self.addCleanup(sidecar.kill)
        return sidecar

    def service(self, stop="sigkill"):
        return self.start(stop, *self.container())

    def kill(self, container):
        os.kill(children_of(container.pid)[0], signal.SIGKILL)
        container.wait()

    def log(self):
        name, = self.logs()
        return self.home / "logs" / name

    def test_size_is_four_times_a_spool(self):
        limit = int(re.search(r"memory_limit=(\d+)MiB",
                              self.value("PPROF_SET")).group(1))
        self.assertEqual(4 * limit, self.size())

    def test_sidecar_recovers_a_dead_container(self):
        service = self.service()
        self.kill(service)
        self.assertEqual(".part, spool", self.left())
        # The one that Kubernetes starts with, or after it.
        sidecar = self.sidecar()
        self.assertIn(b".pplog", sidecar.stdout.readline())
        self.end(sidecar)
        self.assertEqual([], self.spools())
        self.assertEqual(self.num_made(), self.num_recorded(self.log()))

    def test_sidecar_recovers_a_last_time(self):
        """It lives longer than the service, whose spool it leaves alone."""
        service = self.service()
        sidecar = self.sidecar()
        self.assertIn(b"is alive", sidecar.stdout.readline())
        self.assertEqual(".part, spool", self.left())
        self.kill(service)
        self.end(sidecar)
        self.assertEqual([], self.spools())
        self.assertEqual(self.num_made(), self.num_recorded(self.log()))

    def end(self, sidecar):
        """It has said something, so it is not deaf to SIGTERM any more."""
        os.kill(children_of(sidecar.pid)[0], signal.SIGTERM)
        sidecar.stdout.read()
        sidecar.wait()

    def test_a_restarted_container_keeps_both_logs(self):
        """Both are process number 1 of a host of the same name."""
        for _ in range(2):
            self.kill(self.service())
        sidecar = self.sidecar()
        self.assertIn(b".pplog", sidecar.stdout.readline())
        self.end(sidecar)
        self.assertEqual(2, len(self.logs()), self.logs())
        for log in self.logs():
            self.assertEqual(self.num_made(),
                             self.num_recorded(self.home / "logs" / log))


@NEEDS_NAMESPACES
class SlurmTest(Case):
    """A node of its own: /dev/shm, scratch, and a srun that is none."""

    def node(self, *command, **changes):
        return subprocess.Popen(
            ["unshare", "-m", SH, "-c",
             'mount --bind %s /dev/shm && exec "$@"' % self.shm, "sh",
             *command], env=dict(self.env, **changes),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def setUp(self):
        super().setUp()
        self.mount(64)
        srun = self.home / "bin" / "srun"
        srun.write_text('#!/bin/sh\n'
                        'while [ "${1#-}" != "$1" ]; do shift; done\n"$@"\n')
        srun.chmod(0o755)
        (self.home / "scratch").mkdir()
        self.env.update(SCRATCH=str(self.home / "scratch"), SLURM_JOB_ID="7",
                        SLURM_JOB_NUM_NODES="1")
        del self.env["PPROF_OUTPUT"], self.env["PPROF_SET"]

    def job(self, stop):
        job = self.node("bash", str(EXAMPLES / "job.sbatch"), "service", stop,
                        str(self.made))
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.kill)
        self.assertEqual(b"ready\n", job.stdout.readline())
        return job

    def log(self):
        log, = (self.home / "scratch" / "7").iterdir()
        return log

    def step(self, job):
        """The service's number: the child of srun, which is the job's."""
        srun, = children_of(job.pid)
        return children_of(srun)[0]

    def test_what_is_told_beforehand_finishes(self):
        job = self.job("sigterm-flag")
        os.kill(self.step(job), signal.SIGTERM)
        job.stdout.read()
        self.assertEqual(0, job.wait())
        self.assertEqual(self.num_made(), self.num_recorded(self.log()))

    def test_a_step_that_was_killed_is_recovered_by_the_job(self):
        job = self.job("sigkill")
        os.kill(self.step(job), signal.SIGKILL)
        job.stdout.read()
        self.assertNotEqual(0, job.wait())
        self.assertEqual([], self.spools())
        self.assertEqual(self.num_made(), self.num_recorded(self.log()))

    def test_a_job_that_was_killed_is_recovered_by_the_epilog(self):
        job = self.job("sigkill")
        step = self.step(job)
        srun, = children_of(job.pid)
        for pid in [job.pid, srun, step]:
            os.kill(pid, signal.SIGKILL)
        job.stdout.read()
        job.wait()
        self.assertEqual(1, len(self.spools()))
        epilog = self.node(str(EXAMPLES / "epilog.sh"), SLURM_JOB_USER="root")
        out = epilog.stdout.read()
        epilog.stdout.close()
        self.assertEqual(0, epilog.wait(), out)
        self.assertEqual([], self.spools())
        self.assertEqual(self.num_made(), self.num_recorded(self.log()))


if __name__ == "__main__":
    unittest.main()
