# SPDX-License-Identifier: Apache-2.0
"""What the tests of exports share: the tool, and logs that tests/export/make_run.c writes."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL, MAKE_RUN = (os.path.abspath(name) for name in sys.argv[1:3])
REST = [os.path.abspath(name) for name in sys.argv[3:]]


def ms(number):
    return number * 1000000


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        subprocess.run([MAKE_RUN, cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *options):
        return subprocess.run([TOOL, *options], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def export(self, *options):
        """(what it wrote to standard output, what it said); it must succeed."""
        done = self.call("export", *options)
        said = done.stderr.decode()
        self.assertEqual(0, done.returncode, said)
        return done.stdout, said

    def texts_of_threads(self, name):
        """A log of threads 1, "worker", "w2" and 2^50, from a trace whose ids are texts, too."""
        with open(self.path(name + ".json"), "w", encoding="utf-8") as file:
            json.dump([{"ph": "X", "name": "work", "ts": 10 * i, "dur": 1, "pid": 1, "tid": tid}
                       for i, tid in enumerate((1, "worker", "w2", 1 << 50))], file)
        done = self.call("import", name + ".json", "-o", name + ".pplog")
        self.assertEqual(0, done.returncode, done.stderr)
        return name + ".pplog"


def main():
    unittest.main(argv=sys.argv[:1])
