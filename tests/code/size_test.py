#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file is too long but those that users include, no function of the tests is, and no folder of
the product has too many files: FILE..."""
import collections
import os
import re
import sys
import unittest

FILE_LIMIT = 600
FUNCTION_LIMIT = 60
FOLDER_LIMIT = 40

# What has braces at the left margin and is no function.
NO_FUNCTION = re.compile(
    r"(namespace|struct|class|enum|union|extern|typedef|const|static const|"
    r"constexpr|static constexpr)\b")


def functions(lines):
    """(first line, number of lines) of each function at the left margin."""
    begin = None
    for number, line in enumerate(lines):
        if begin is not None:
            if line.startswith("}"):
                yield lines[begin], number - begin + 1
                begin = None
        elif re.match(r"\S.*\{$", line) and not NO_FUNCTION.match(line):
            begin = number


def too_long(path):
    """What of this file is longer than it may be, with its lines."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    is_public = path.startswith("sdk/include/")
    found = [(path, len(lines))] if len(lines) > FILE_LIMIT and not is_public else []
    if path.startswith("tests/") and path.endswith((".c", ".cc", ".cu", ".h")):
        found += [(f"{path}: {first}", length)
                  for first, length in functions(lines)
                  if length > FUNCTION_LIMIT]
    return found


class SizeTest(unittest.TestCase):

    def test_function_is_found(self):
        lines = ["int f(void) {"] + ["  g();"] * 3 + ["}", "struct s {", "};"]
        self.assertEqual(list(functions(lines)), [("int f(void) {", 5)])

    def test_nothing_is_too_long(self):
        self.assertTrue(FILES)
        self.assertEqual([], [long for path in FILES
                              for long in too_long(path)])

    def test_no_folder_is_too_full(self):
        sizes = collections.Counter(os.path.dirname(path) for path in FILES
                                    if not path.startswith("tests/"))
        self.assertGreater(len(sizes), 50)
        self.assertEqual({}, {folder: num for folder, num in sizes.items() if num > FOLDER_LIMIT})


FILES = sys.argv[1:]
unittest.main(argv=sys.argv[:1])
