#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bazel's compile actions as compile_commands.json: `bazel aquery` on stdin.

Commands run in the tree's root, where clangd and clang-tidy find the sources;
what Bazel alone understands is left out.
"""
import json
import os
import re
import sys


def sources(path):
    """The file itself, or those that tools/unity.py made it of."""
    if not os.path.exists(path):
        return []
    if not path.startswith("bazel-out/"):
        return [path]
    with open(path, encoding="utf-8") as file:
        return re.findall(r'^#line 1 "(.*)"$', file.read(), re.M)


def entries_of(arguments):
    """One compiler call for each of its sources that is the tree's."""
    if "-c" not in arguments:
        return
    made = arguments[arguments.index("-c") + 1]
    kept = [
        argument for argument in arguments
        if not argument.startswith(("-frandom-seed=", "-fno-canonical-system"))
    ]
    for source in sources(made):
        yield {"directory": os.getcwd(), "file": source,
               "arguments": [source if argument == made else argument
                             for argument in kept]}


def main():
    entries = {}
    for action in json.load(sys.stdin).get("actions", []):
        for found in entries_of(action.get("arguments", [])):
            # A source that two targets compile is listed once.
            entries.setdefault(found["file"], found)
    json.dump([entries[file] for file in sorted(entries)], sys.stdout, indent=1)
    return 0 if entries else 1


sys.exit(main())
