#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pprof-report top` in a terminal, which is tmux: top_test.py TOOL RUN_CHILD.

Each wait ends when the screen shows what it waits for; a hang ends with the test's time."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL, RUN_CHILD = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Top(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith("PPROF_")}
        self.env.update(XDG_RUNTIME_DIR=self.folder, TERM="xterm-256color", LC_ALL="C.UTF-8")
        self.addCleanup(self.tmux, "kill-server", check=False)

    def tmux(self, *words, check=True):
        return subprocess.run(["tmux", "-S", os.path.join(self.folder, "tmux"), "-f", "/dev/null",
                               *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=self.env, check=check, text=True).stdout

    def program(self, *words):
        child = subprocess.Popen([RUN_CHILD, *words], cwd=self.folder, stdin=subprocess.PIPE,
                                 env=dict(self.env, PPROF_SET="output=run.pplog"))
        self.addCleanup(child.wait)
        self.addCleanup(child.stdin.close)
        while not os.path.exists(os.path.join(self.folder, "ready")):
            pass
        return child

    def watch(self, *words):
        self.tmux("new-session", "-d", "-x", "100", "-y", "24",
                  " ".join([TOOL, "top", "--every", "200ms", *words]) + "; echo left $?; cat")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def wait_for(self, *texts, like=""):
        """A screen may be half drawn: what is asked of it is waited for together."""
        while True:
            screen = self.screen()
            if all(text in screen for text in texts) and re.search(like, screen, re.M):
                return screen

    def test_keys_and_sizes(self):
        child = self.program("start", "touch=ready", "steps-until=enough", "stop")
        self.watch(str(child.pid))
        screen = self.wait_for("%d  recording" % child.pid, "stage ", "again ", "by time")
        self.assertIn("RATE/S", screen)
        self.tmux("send-keys", "s")
        self.wait_for("by rate")
        self.tmux("send-keys", "/", "sta", "Enter")
        self.wait_for("names with 'sta'", like=r"\A(?![^\0]*^again)")
        self.tmux("send-keys", "/", "Enter")
        self.wait_for("again ")
        self.tmux("send-keys", "+")
        self.wait_for("last 11 s")
        self.tmux("send-keys", "p")
        self.wait_for("PAUSED")
        self.tmux("send-keys", "p")
        self.tmux("resize-window", "-x", "60", "-y", "12")
        self.tmux("send-keys", "-")
        screen = self.wait_for("last 10 s", "stage ",
                               like=r"^STAGE(?!.* MAX)(?=.* BUSY%)(?=.* P99)(?=.* SINCE)")
        self.assertLessEqual(max(map(len, screen.splitlines())), 60)
        self.tmux("send-keys", "q")
        self.wait_for("left 0")
        open(os.path.join(self.folder, "enough"), "w", encoding="utf-8").close()
        self.assertEqual(child.wait(), 0)

    def test_a_hang_names_itself_and_an_end_is_seen(self):
        """First in the list, with its thread, though nothing of it is counted any more."""
        child = self.program("start", "begin=outer", "touch=ready", "steps-until=one",
                             "begin=held", "end", "begin=held", "cat", "stop")
        self.watch(str(child.pid))
        self.wait_for("stage ")
        open(os.path.join(self.folder, "one"), "w", encoding="utf-8").close()
        self.wait_for("!  run_", like=r"^STAGE.*\nheld ")
        child.stdin.close()
        self.assertEqual(child.wait(), 0)
        self.wait_for("left 0")


if __name__ == "__main__":
    unittest.main()
