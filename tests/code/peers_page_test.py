#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/peers/results.md is where the results of `./dev peers` are kept: what is written of what was read is
the page. In the tree's root."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join("tests", "peers"))
import peer_page

HEAD = "# Title\n\n| peer | ... |\n|---|---|\n"
ROWS = ("| a | 1.0 | 2026-01-02 | all | 5 | 2 | 3 |\n"
        "| b | 1.0, 2.0 | 2026-01-03 | `x \\| y`: 8 orders, 4 units | 7 | 7 | 0 |\n")
DIFFERENCES = peer_page.DIFFERENCES + "\n**a**, all:\n\n- 2: why, as it is\n- 1: so: 3\n"


def result(peer, **figures):
    return {"peer": peer, "version": "3", "date": "2026-02-01", "compared": "all", "cells": 1,
            "equal": 1, "explained": {}, **figures}


class PeersPageTest(unittest.TestCase):
    def test_reads_what_it_writes(self):
        read = peer_page.read(HEAD + ROWS + DIFFERENCES)
        self.assertEqual([(each["peer"], each["cells"], each["equal"]) for each in read],
                         [("a", 5, 2), ("b", 7, 7)])
        self.assertEqual(read[0]["explained"], {"why, as it is": 2, "so: 3": 1})
        self.assertEqual(peer_page.write(read, HEAD), HEAD + ROWS + DIFFERENCES)

    def test_keeps_each_row_of_the_page(self):
        with open(os.path.join("tests", "peers", "results.md"), encoding="utf-8") as file:
            text = file.read()
        head = text[:text.index("|---|") + len("|---|---|---|---|---|---|---|\n")]
        self.assertEqual(peer_page.write(peer_page.read(text), head), text)

    def test_keeps_others_rows(self):
        old = [result("a"), result("a", compared="more"), result("b"), result("gone")]
        both = peer_page.merged(old, [result("a", version="4")], ["b", "a"])
        self.assertEqual([(each["peer"], each["version"]) for each in both],
                         [("b", "3"), ("a", "4")])


if __name__ == "__main__":
    unittest.main()
