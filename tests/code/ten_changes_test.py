#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ten_changes_test.py: what CONTRIBUTING.md says of changes that are made in one place.

Each path of the section is there, and each word in capitals, `PPI_...`, in a file that its change
names; and the changes are ten."""
import os
import re
import unittest

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
            "A type of NVTX payloads", "What a quantile is", "The collector's period, and what else a session does by default"])

    def test_their_places_are_there(self):
        for name, words in self.found:
            self.assertTrue([word for word in words if is_path(word)], name)
            self.assertEqual(missing(words), [], name)

    def test_others_are_found(self):
        self.assertEqual(missing(["sdk/no.c", "CONTRIBUTING.md"]), ["sdk/no.c"])
        self.assertEqual(missing(["sdk/src/base/rank.h", "ppi_rank_of", "PPI_NOT_THERE"]),
                         ["PPI_NOT_THERE"])


if __name__ == "__main__":
    unittest.main()
