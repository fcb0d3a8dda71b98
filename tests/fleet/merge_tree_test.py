#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pprof-report merge` as a tree, by several processes at once: the bytes of a merge in one go.
TOOL MAKE_RANKS SCRIPT, merge-tree.sh."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOL, MAKE_RANKS, SCRIPT = (os.path.abspath(name) for name in sys.argv[1:4])
RANKS = 11


class MergeTree(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        subprocess.run([MAKE_RANKS, self.folder, str(RANKS), "20", "1"], check=True)
        self.logs = [f"rank-{rank}.pplog" for rank in range(RANKS)]

    def merge(self, groups, level):
        """All groups at once, a process each; the names of what they made."""
        made = [f"level-{level}-{number}.pplog" for number in range(len(groups))]
        running = [subprocess.Popen([TOOL, "merge", *group, "-o", name], cwd=self.folder,
                                    stderr=subprocess.DEVNULL)
                   for group, name in zip(groups, made)]
        self.assertEqual([0] * len(groups), [process.wait() for process in running])
        return made

    def tree(self, logs, width):
        """Nodes of `width` ranks, then two by two."""
        level = width
        while len(logs) > 1:
            logs = self.merge([logs[at:at + width] for at in range(0, len(logs), width)], level)
            width, level = 2, f"{level}x2"
        return self.read(logs[0])

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def test_a_tree_makes_the_same_file(self):
        whole = self.read(self.merge([self.logs], "whole")[0])
        self.assertGreater(len(whole), sum(len(self.read(log)) for log in self.logs) // 2)
        self.assertEqual(whole, self.tree(self.logs, 4))
        self.assertEqual(whole, self.tree(self.logs[::-1], 3))

    def test_a_job_makes_the_same_file(self):
        whole = self.read(self.merge([self.logs], "whole")[0])
        for size in (1, 3, 4, RANKS + 2):
            self.assertEqual(([0] * size, {"all.pplog"}), self.job(size, self.logs)[:2])
            self.assertEqual(whole, self.read("all.pplog"))
            os.unlink(os.path.join(self.folder, "all.pplog"))

    def job(self, size, logs, **variables):
        """(what its processes exit with, what they leave, what they say)"""
        before = set(os.listdir(self.folder))
        running = [subprocess.Popen(
            [SCRIPT, "all.pplog", *logs], cwd=self.folder, stderr=subprocess.PIPE,
            env={"PATH": os.path.dirname(TOOL) + ":" + os.environ["PATH"], "SLURM_JOB_ID": "7",
                 "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(size), **variables})
            for rank in range(size)]
        said = "".join(process.communicate()[1].decode() for process in running)
        return ([process.returncode for process in running],
                set(os.listdir(self.folder)) - before, said)

    def put(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def test_what_another_job_left_is_not_taken(self):
        whole = self.read(self.merge([self.logs], "whole")[0])
        left = self.read(self.logs[0])
        for name in ("all.pplog.of-1", "all.pplog.making-0", "all.pplog.6.0.0.1",
                     "all.pplog.7.0.0.0.next"):
            self.put(name, left)
        self.put("all.pplog.6.0.0.1.done", b"0")
        self.assertEqual(([0, 0], {"all.pplog"}), self.job(2, self.logs)[:2])
        self.assertEqual(whole, self.read("all.pplog"))

    def test_a_job_has_to_have_a_name(self):
        codes, left, said = self.job(2, self.logs, SLURM_JOB_ID="")
        self.assertEqual(([2, 2], set()), (codes, left))
        self.assertIn("set MERGE_TREE_JOB", said)
        self.assertEqual(([0, 0], {"all.pplog"}), self.job(
            2, self.logs, SLURM_JOB_ID="", MERGE_TREE_JOB="mine")[:2])

    def test_a_damaged_log_is_merged_as_far_as_it_can_be_read(self):
        """Process 0 tells of it, whosever log it is."""
        data = bytearray(self.read(self.logs[3]))
        middle = len(data) // 2
        data[middle:middle + 40] = bytes(40)
        self.put(self.logs[3], data)
        done = subprocess.run([TOOL, "merge", *self.logs, "-o", "whole.pplog"], cwd=self.folder,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(4, done.returncode, done.stderr)
        for size in (1, 2, 4, 5):
            self.assertEqual(([4] + [0] * (size - 1), {"all.pplog"}),
                             self.job(size, self.logs)[:2])
            self.assertEqual(self.read("whole.pplog"), self.read("all.pplog"))
            os.unlink(os.path.join(self.folder, "all.pplog"))

    def test_no_one_waits_for_who_failed(self):
        self.put(self.logs[3], b"no log")
        codes, left, said = self.job(4, self.logs)
        self.assertEqual(([3, 0, 3, 3], set()), (codes, left))
        self.assertIn("process 2: nothing is merged, as process 3 ended with 3\n", said)
        self.assertIn("process 0: nothing is merged, as process 2 ended with 3\n", said)
        self.assertEqual(3, self.job(1, self.logs)[0][0])

    def test_what_is_there_is_not_overwritten(self):
        self.put("all.pplog", b"another")
        codes, left, said = self.job(3, self.logs)
        self.assertEqual(([2, 2, 2], set()), (codes, left))
        self.assertIn("merge-tree.sh: all.pplog: exists, it will not be overwritten\n", said)
        self.assertEqual(b"another", self.read("all.pplog"))

    def test_what_a_tree_has_is_all_ranks(self):
        self.tree(self.logs, 4)
        last = max((name for name in os.listdir(self.folder) if name.startswith("level-4")),
                   key=len)
        told = subprocess.run([TOOL, "sql", last, "-f", "csv",
                               "SELECT rank, (SELECT COUNT(*) FROM step s WHERE s.run = r.id)"
                               " FROM run r ORDER BY rank"], cwd=self.folder, check=True,
                              stdout=subprocess.PIPE).stdout.decode().splitlines()
        self.assertEqual([f"{rank},20" for rank in range(RANKS)], told[1:])


unittest.main(argv=sys.argv[:1])
