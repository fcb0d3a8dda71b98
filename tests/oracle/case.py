# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: running pprof-report on a trace.

argv[1] is the program; the rest is unittest's.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from patience import SECONDS  # noqa: E402

PROGRAM = None
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "traces")


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()


def run(*arguments):
    """The finished process, whatever its exit status is."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PPROF_")}
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env, timeout=SECONDS, check=False)


def output(*arguments):
    done = run(*arguments)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def written(self, trace, name="trace.json"):
        trace.write(self.path(name))
        return self.path(name)


class Report:
    """A JSON report: rows of views as dictionaries by column."""

    def __init__(self, path, *arguments):
        self.text = output("summary", path, "-f", "json", *arguments)
        self.json = json.loads(self.text)

    def columns(self, view):
        return [column["name"] for column in self.json["views"][view]["columns"]]

    def rows(self, view):
        return self.json["views"][view]["rows"]

    def find(self, view, *key):
        """The one row that begins with `key`."""
        found = [row for row in self.rows(view) if tuple(row[:len(key)]) == key]
        if len(found) != 1:
            raise AssertionError(f"{view} {key}: {len(found)} rows of {self.rows(view)}")
        return dict(zip(self.columns(view), found[0]))
