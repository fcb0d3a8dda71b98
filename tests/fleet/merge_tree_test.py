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
        before = set(os.listdir(self.folder))
        for size in (1, 3, 4, RANKS + 2):
            running = [subprocess.Popen(
                [SCRIPT, "all.pplog", *self.logs], cwd=self.folder, stderr=subprocess.DEVNULL,
                env={"PATH": os.path.dirname(TOOL) + ":" + os.environ["PATH"],
                     "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(size)})
                for rank in range(size)]
            self.assertEqual([0] * size, [process.wait() for process in running])
            self.assertEqual({"all.pplog"}, set(os.listdir(self.folder)) - before)
            self.assertEqual(whole, self.read("all.pplog"))
            os.unlink(os.path.join(self.folder, "all.pplog"))

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
