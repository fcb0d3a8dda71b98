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
        self.env = dict(os.environ, XDG_RUNTIME_DIR=str(self.spools))
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

    def tool(self, *arguments, code=0):
        done = subprocess.run([TOOL, *arguments],
                              env=dict(self.env, LD_PRELOAD=STRANGER),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(code, done.returncode, done.stderr)
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
        out, _ = self.tool("recover", "--open", "-f", "json")
        self.assertIn(own.name, out)
        self.assertNotIn(other.name, out)

    def test_of_others_are_looked_at_by_name(self):
        other = self.die("other")
        self.give_away(other)
        (self.home / "here").mkdir()
        os.chdir("here")
        _, errors = self.tool("recover", str(other))
        self.assertIn("names %s/other.pplog.part" % self.home, errors)
        self.assertEqual(["other.pplog"], os.listdir("."))
        self.assertTrue(other.exists())
        self.assertTrue((self.home / "other.pplog.part").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
