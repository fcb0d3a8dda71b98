#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hardening_test.py MODE FILE...: how libraries and programs were built.

Read-only relocations, bound at the start; no memory that is written and run; at
an address of the loader's choice; stack protector; and where MODE is `opt`,
checked string functions, which only an optimised build can have.
"""
import re
import subprocess
import sys
import unittest

MODE, FILES = sys.argv[1], sys.argv[2:]


def read(*arguments):
    return subprocess.run(arguments, check=True,
                          stdout=subprocess.PIPE).stdout.decode()


class HardeningTest(unittest.TestCase):
    def each(self, *options):
        for name in FILES:
            yield name, read("readelf", "-W", *options, name)

    def test_relocations_are_read_only_and_bound(self):
        for name, text in self.each("-l"):
            self.assertIn("GNU_RELRO", text, name)
        for name, text in self.each("-d"):
            self.assertRegex(text, r"BIND_NOW|FLAGS.*NOW", name)

    def test_no_memory_is_written_and_run(self):
        for name, text in self.each("-l"):
            stack = re.search(r"GNU_STACK.*", text)
            self.assertIsNotNone(stack, name)
            self.assertNotIn("E", stack.group().split("0x")[-2], name)
            for line in re.findall(r"^ +LOAD.*", text, re.M):
                self.assertNotIn("RWE", line, name)

    def test_position_is_independent(self):
        for name, text in self.each("-h"):
            self.assertRegex(text, r"Type: +DYN", name)
        for name, text in self.each("-d"):
            self.assertNotIn("TEXTREL", text, name)

    def test_no_run_path_leads_elsewhere(self):
        for name, text in self.each("-d"):
            for path in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", text):
                self.assertEqual("$ORIGIN", path, name)

    def test_stack_is_protected(self):
        for name, text in self.each("--dyn-syms"):
            self.assertIn("__stack_chk_fail", text, name)

    def test_strings_are_checked(self):
        for name, text in self.each("--dyn-syms"):
            checked = re.findall(r"__\w+_chk\b", text)
            self.assertEqual(MODE == "opt", bool(checked), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
