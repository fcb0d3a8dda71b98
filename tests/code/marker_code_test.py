#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiler makes of markers: nothing with PPROF_DISABLE, and a load,
a test and a branch for each while no session runs. In the tree's root."""

import os
import re
import subprocess
import tempfile
import unittest


def disassemble(source, compiler):
    """Answers the instructions of each function of a source, as texts."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.o")
        subprocess.run(
            [compiler, "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror",
             "-fno-pie", "-Isdk/include", "-c", "-o", out,
             "tests/code/" + source], check=True)
        text = subprocess.run(
            ["objdump", "-d", "-r", "--no-show-raw-insn", out], check=True,
            capture_output=True, text=True).stdout
    functions = {}
    for name, body in re.findall(r"<(\w+)>:\n((?:.+\n)+)", text):
        lines = [line.split("\t", 1)[-1] for line in body.splitlines()]
        functions[name] = [re.sub(r"\s+", " ", line).strip() for line in lines]
    return functions


def without_places(lines, name):
    """The same for two functions that differ in where they lie."""
    return [re.sub(r"\b[0-9a-f]+ <%s\+(0x[0-9a-f]+)>" % name, r"\1", line)
            for line in lines if "nop" not in line and "R_X86_64" not in line
            and "call" not in line and line != "xchg %ax,%ax"]


class MarkerCode(unittest.TestCase):
    def test_disabled_markers_are_no_instructions(self):
        functions = disassemble("unmarked.c", "gcc")
        marked = without_places(functions["with_markers"], "with_markers")
        bare = without_places(functions["without_markers"], "without_markers")
        self.assertGreater(len(bare), 8)
        # In any order: what was dropped may have moved what was not.
        self.assertEqual(sorted(bare), sorted(marked))

    def test_markers_that_are_off_load_test_and_leave(self):
        functions = disassemble("switched_off.c", "gcc")
        for name in "scope", "push", "pop", "mark", "count", "flow":
            lines = functions["one_" + name]
            lines = [line for line in lines if "R_X86_64" not in line]
            self.assertRegex(lines[0], r"^mov 0x0\(%rip\),%eax", name)
            self.assertRegex(lines[1], r"^test %eax,%eax", name)
            target = re.match(r"^(je|jne) (\w+)", lines[2])
            self.assertIsNotNone(target, lines[2])
            if target.group(1) == "jne":
                self.assertEqual("ret", lines[3], name)


if __name__ == "__main__":
    unittest.main()
