#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bazel's compile actions as compile_commands.json: `bazel aquery` on stdin.

Commands run in the tree's root, where clangd and clang-tidy find the sources;
what Bazel alone understands is left out.
"""
import json
import os
import sys


def entry(arguments):
    """One compiler call, or None where it compiles nothing of the tree's."""
    if "-c" not in arguments:
        return None
    source = arguments[arguments.index("-c") + 1]
    kept = [
        argument for argument in arguments
        if not argument.startswith(("-frandom-seed=", "-fno-canonical-system"))
    ]
    return {"directory": os.getcwd(), "file": source, "arguments": kept}


def main():
    entries = {}
    for action in json.load(sys.stdin).get("actions", []):
        found = entry(action.get("arguments", []))
        # A source that two targets compile is there once.
        if found and os.path.exists(found["file"]):
            entries.setdefault(found["file"], found)
    json.dump([entries[file] for file in sorted(entries)], sys.stdout, indent=1)
    return 0 if entries else 1


sys.exit(main())
