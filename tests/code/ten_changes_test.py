#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ten_changes_test.py: what CONTRIBUTING.md says of changes that are made in one place.

Each path of the section is there, and each word in capitals, `PPI_...`, in a file that its change
names; and the changes are ten.

code/ten_changes has a real change of seven kinds, each with its test, its document and its line
in the changelog: the number of files is what such a change costs. What each hunk finds must be in
its file: `patch -p1 <tests/code/ten_changes/NAME.patch` tries one. The same holds for the changes
of mutations.txt."""
import glob
import os
import re
import sys
import unittest

sys.path.append("tests/mutations")
import run

# The most files that a change of each kind touches.
MOST_FILES = {"column": 4, "finding": 5, "view": 5, "yaml_key": 5, "export": 5, "import": 8,
              "verb": 8}
HEADING = "## Ten changes, one place each"


def section(text):
    return text.split(HEADING, 1)[1].split("\n## ", 1)[0]


def changes(text):
    """(name, words in backticks) of each item."""
    items = re.split(r"\n- ", section(text))[1:]
    return [(item.split(":", 1)[0], re.findall(r"`([^`]+)`", item)) for item in items]


def is_path(word):
    return "/" in word and "NAME" not in word and "*" not in word


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def missing(words):
    """What of an item's words is not there."""
    paths = [word for word in words if is_path(word)]
    texts = [read(path) for path in paths if os.path.isfile(path)]
    lost = [path for path in paths if not os.path.exists(path)]
    named = [word for word in words if re.fullmatch(r"(PPI|ppi)_\w+", word)]
    return lost + [word for word in named if not any(word in text for text in texts)]


class TenChangesTest(unittest.TestCase):
    def setUp(self):
        self.found = changes(read("CONTRIBUTING.md"))

    def test_there_are_ten(self):
        self.assertEqual([name for name, _ in self.found], [
            "A column in a view", "A device backend", "A field of a log's block", "A YAML key",
            "A format of a report", "A verb of `pprof-report`", "A dialect of an imported trace",
            "A type of NVTX payloads", "What a quantile is", "The collector's period and other defaults of a session"])

    def test_their_places_are_there(self):
        for name, words in self.found:
            self.assertTrue([word for word in words if is_path(word)], name)
            self.assertEqual(missing(words), [], name)

    def test_others_are_found(self):
        self.assertEqual(missing(["sdk/no.c", "CONTRIBUTING.md"]), ["sdk/no.c"])
        self.assertEqual(missing(["sdk/src/base/rank.h", "ppi_rank_of", "PPI_NOT_THERE"]),
                         ["PPI_NOT_THERE"])


def touched(patch):
    """(what was there, what is new) of a patch's paths."""
    old = re.findall(r"^--- a/(.*)$", patch, re.M)
    new = re.findall(r"^--- /dev/null\n\+\+\+ b/(.*)$", patch, re.M)
    return old, new


def hunks(patch):
    """(path, what is there before) of each hunk, but those of new files."""
    for file in re.split(r"^--- ", patch, flags=re.M)[1:]:
        path = file.split("\n", 1)[0]
        for hunk in re.split(r"^@@.*\n", file, flags=re.M)[1:]:
            hunk = re.split(r"^diff ", hunk, flags=re.M)[0]
            old = [line[1:] for line in hunk.splitlines() if not line.startswith("+")]
            if path != "/dev/null":
                yield path[len("a/"):], "\n".join(old)


class PatchesTest(unittest.TestCase):
    def setUp(self):
        self.texts = {os.path.basename(path)[:-len(".patch")]: read(path)
                      for path in glob.glob("tests/code/ten_changes/*.patch")}
        self.patches = {name: touched(text) for name, text in self.texts.items()}

    def test_they_touch_few_files(self):
        self.assertEqual(sorted(MOST_FILES), sorted(self.patches))
        for name, (old, new) in self.patches.items():
            self.assertLessEqual(len(old) + len(new), MOST_FILES[name], name)

    def test_contributing_has_their_numbers(self):
        row = "| %s |\n" % " | ".join(
            str(sum(map(len, self.patches[name]))) for name in MOST_FILES)
        self.assertIn(row, section(read("CONTRIBUTING.md")))

    def test_they_are_whole(self):
        for name, (old, new) in self.patches.items():
            paths = old + new
            self.assertIn("CHANGELOG.md", paths, name)
            for folder in ("docs/", "tests/"):
                self.assertTrue([path for path in paths if path.startswith(folder)], name)

    def test_their_files_are_there(self):
        for name, (old, _) in self.patches.items():
            self.assertEqual([path for path in old if not os.path.exists(path)], [], name)

    def test_they_apply(self):
        for name, text in self.texts.items():
            self.assertEqual([hunk for hunk in hunks(text) if hunk[1] not in read(hunk[0])], [],
                             name)

    def test_files_are_counted(self):
        patch = ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
                 "diff --git a/y b/y\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+c\n")
        self.assertEqual(touched(patch), (["x"], ["y"]))
        self.assertEqual(list(hunks(patch)), [("x", "a")])


class MutationsTest(unittest.TestCase):
    def test_each_applies_at_one_place(self):
        mutations = run.mutations()
        self.assertEqual(len(mutations), 30)
        for name, (path, _, old, new) in mutations.items():
            self.assertEqual(read(path).count(old), 1, name)
            self.assertNotEqual(old, new, name)


if __name__ == "__main__":
    unittest.main()
