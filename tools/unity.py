#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unity.py FILE...: one C++ source of several tests, on the standard output.

The includes at the head of each come first, once. What follows keeps its file's
name and lines for messages and stacks. The unnamed namespace of NOUN_test.cc
becomes NOUN_test's own, so that two files may use one name. A macro ends with
its file.
"""
import os
import re
import sys

INCLUDE = re.compile(r"\s*#\s*include\s+([<\"].*[>\"])")
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)")


def split(text):
    """(includes of the head, the text without these, line by line)."""
    includes, rest = [], []
    in_head = True
    for line in text.split("\n"):
        found = INCLUDE.match(line) if in_head else None
        if found:
            includes.append(found.group(1))
        elif line.strip() and not line.startswith("//"):
            in_head = False
        rest.append("" if found else line)
    return includes, rest


def wrapped(path):
    """(includes, lines) of one test."""
    with open(path, encoding="utf-8") as file:
        includes, lines = split(file.read())
    name = os.path.basename(path).rsplit(".", 1)[0]
    if lines.count("namespace {") != 1 or lines.count("}  // namespace") != 1:
        sys.exit(f"{path}: needs one unnamed namespace, or a binary of its own")
    begin, end = lines.index("namespace {"), lines.index("}  // namespace")
    lines[begin] = f"namespace {name} {{ namespace {{"
    lines[end] = "} }"
    macros = [found.group(1) for found in map(DEFINE.match, lines) if found]
    return includes, [f'#line 1 "{path}"'] + lines + [
        f"#undef {macro}" for macro in macros]


def main(paths):
    tests = [wrapped(path) for path in paths]
    includes = dict.fromkeys(name for test in tests for name in test[0])
    print("\n".join(f"#include {name}" for name in includes))
    for _, lines in tests:
        print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
