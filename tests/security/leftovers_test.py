#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""leftovers_test.py TOOL CHILD STRANGER: what killed processes left.

Spools of other users, who may have made them to harm whoever looks, are
looked at where they are named, and nowhere else, by root neither. STRANGER is
preloaded and makes another user's of a file.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL, CHILD, STRANGER = map(os.path.abspath, sys.argv[1:4])


class LeftoversTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        os.chdir(home.name)
        self.home = pathlib.Path(home.name)
        self.spools = self.home / "run"
        self.spools.mkdir(0o700)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=str(self.spools),
                        TMPDIR=str(self.spools))
        for name in ["PPROF_CONFIG", "PPROF_OUTPUT", "PPROF_ENABLE"]:
            self.env.pop(name, None)

    def die(self, name, *what):
        """A process that recorded and was killed; the name of its spool."""
        before = set(self.spools.glob("*.spool"))
        settings = "output=%s.pplog;spool=%s;memory_limit=2MiB" % (
            name, self.spools)
        subprocess.run([CHILD, "record", *what, "die"],
                       env=dict(self.env, PPROF_SET=settings),
                       stderr=subprocess.DEVNULL)
        made, = set(self.spools.glob("*.spool")) - before
        return made

    def tool(self, *arguments, codes=(0,)):
        done = subprocess.run([TOOL, *arguments],
                              env=dict(self.env, LD_PRELOAD=STRANGER),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertIn(done.returncode, codes, done.stderr)
        return done.stdout, done.stderr

    def give_away(self, path):
        os.chmod(path, 0o604)

    def test_of_others_are_not_listed(self):
        own, other = self.die("own"), self.die("other")
        self.give_away(other)
        out, _ = self.tool("recover")
        self.assertIn(own.name, out)
        self.assertNotIn(other.name, out)
        self.assertRegex(out, "[0-9] of other users, not looked at\n")
        out, _ = self.tool("recover", "--open-ranges", "-f", "json")
        self.assertIn(own.name, out)
        self.assertNotIn(other.name, out)

    def test_of_others_are_looked_at_by_name(self):
        other = self.die("other")
        self.give_away(other)
        (self.home / "here").mkdir()
        os.chdir("here")
        # Blocks that are in the log already are missing in the spool.
        _, errors = self.tool("recover", str(other), codes=(0, 4))
        self.assertIn("names %s/other.pplog.part" % self.home, errors)
        self.assertEqual(["other.pplog"], os.listdir("."))
        self.assertTrue(other.exists())
        self.assertTrue((self.home / "other.pplog.part").exists())

    def test_a_part_is_read_with_its_spool(self):
        """Ten stages and one more range, none of which is in a block yet."""
        spool = self.die("run")
        part = "run.pplog.part"
        said = ("pprof-report: run.pplog.part: unfinished, read together with "
                "its spool %s\n" % spool)

        def read(*arguments):
            out, errors = self.tool(*arguments, codes=(0, 5))
            self.assertIn(said, errors, arguments)
            self.assertEqual(1, errors.count("unfinished"), errors)
            return out

        self.assertIn("recorded 11\n", read("check", part))
        self.assertIn('"events":11,', read("info", "-f", "json", part))
        self.assertIn("unfinished, read together with its spool",
                      read("info", part))
        self.assertEqual(10, read("trace", "-o", "-", part).count('"stage"'))
        table = read("summary", "--strict", "--view", "userdefined", "-f",
                     "csv", part)
        self.assertIn("stage,UserDefined,10,", table)
        read("merge", "-o", "merged.pplog", part)
        out, _ = self.tool("check", "merged.pplog")
        self.assertIn("recorded 11\n", out)
        read("compare", "--force", part, "merged.pplog")
        self.assertTrue(spool.exists())
        self.assertEqual({part, "merged.pplog", "run"}, set(os.listdir(".")))
        self.tool("recover", part)
        self.assertEqual({"run.pplog", "merged.pplog", "run"},
                         set(os.listdir(".")))
        left = [path for path in self.spools.rglob("*") if not path.is_dir()]
        self.assertEqual([], left)

    def test_a_part_without_its_first_block_is_read_with_its_spool(self):
        """As one that was killed before its log had a block leaves it; what
        is cut off here was in no record, and may be told as missing."""
        for size in [0, 64]:
            name = "size%d" % size
            part = name + ".pplog.part"
            spool = self.die(name)
            self.die("another")
            os.truncate(part, size)
            out, errors = self.tool("check", part, codes=(0, 4, 5))
            self.assertIn("recorded 11\n", out)
            self.assertIn("together with its spool %s\n" % spool, errors)
            self.tool("recover", part, codes=(0, 4))
            out, _ = self.tool("check", name + ".pplog", codes=(0, 4, 5))
            self.assertIn("recorded 11\n", out)
            self.assertFalse(os.path.exists(part))
            self.assertFalse(spool.exists())

    def test_a_part_without_its_first_block_takes_no_spool_of_others(self):
        for size in [0, 64]:
            part = "size%d.pplog.part" % size
            spool = self.die("size%d" % size)
            self.give_away(spool)
            os.truncate(part, size)
            _, errors = self.tool("recover", part, codes=(3 if size else 0,))
            self.assertEqual(size > 0, "recover its spool" in errors)
            self.assertEqual(size > 0, os.path.exists(part))
            self.assertTrue(spool.exists())
            self.assertFalse(os.path.exists("size%d.pplog" % size))

    def test_a_part_without_its_spool_is_read_alone(self):
        self.die("run").unlink()
        out, errors = self.tool("check", "run.pplog.part")
        self.assertIn("unfinished", out)
        self.assertNotIn("together", errors)

    def record(self, *what):
        settings = "output='%%p.pplog';spool=%s;memory_limit=2MiB" % self.spools
        subprocess.run([CHILD, "record", *what],
                       env=dict(self.env, PPROF_SET=settings),
                       stderr=subprocess.DEVNULL)

    def test_logs_left_unfinished_beside_others_are_named(self):
        """As a pool leaves its workers'; whole ones, and those read, are not."""
        self.record("killed-child", "killed-child", "child", "stop")
        whole = sorted(map(str, pathlib.Path().glob("*.pplog")))
        parts = sorted(map(str, pathlib.Path().glob("*.part")))
        self.assertEqual([2, 2], [len(whole), len(parts)])
        said = ("pprof-report: not read: %s, left unfinished at the same time; "
                "`pprof-report recover *.pplog.part` makes a log of each\n")
        for verb in [["summary"], ["merge", "-o", "merged.pplog"],
                     ["trace", "-o", "t.json"], ["compare", "--force"]]:
            _, errors = self.tool(*verb, *whole, codes=(0, 5))
            self.assertIn(said % ", ".join(parts), errors, verb)
            self.assertEqual(1, errors.count("not read"), verb)
        _, errors = self.tool("summary", *whole, parts[0])
        self.assertIn(said % parts[1], errors)
        _, errors = self.tool("summary", *whole, *parts)
        self.assertNotIn("not read", errors)
        # The command that it names.
        self.tool("recover", *parts)
        _, errors = self.tool("summary", *whole)
        self.assertEqual("", errors)

    def test_of_a_folder_all_are_named(self):
        """Whenever they were left, and where there is nothing else."""
        self.record("killed-child", "leave")
        parts = sorted(map(str, pathlib.Path().glob("*.part")))
        for path in parts:
            os.utime(path, (1000000000, 1000000000))
        _, errors = self.tool("summary", ".", codes=(3,))
        self.assertEqual(
            "pprof-report: .: no log (*.pplog) is in it, but %d unfinished; `pprof-report recover "
            "./*.pplog.part` makes logs of what was killed\n" % len(parts), errors)
        self.record("stop")
        _, errors = self.tool("summary", ".")
        self.assertEqual(
            "pprof-report: not read: %s, left unfinished; `pprof-report recover ./*.pplog.part` "
            "makes a log of each\n" % ", ".join("./" + path for path in parts), errors)

    def test_logs_of_another_time_are_not_named(self):
        self.record("killed-child", "leave")
        for path in pathlib.Path().glob("*.part"):
            os.utime(path, (1000000000, 1000000000))
        self.record("stop")
        _, errors = self.tool("summary", *map(str, self.home.glob("*.pplog")))
        self.assertEqual("", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
