#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""walls_test.py WALLS FILE...: who uses what of whom.

A unit is a .c with its .h. It uses another one where it has a name that the other alone defines: a
function, a type, a macro, a constant, data. WALLS says which folders a folder may use; no units may
use each other in a circle.
"""
import collections
import os
import re
import sys
import unittest

WALLS, FILES = sys.argv[1], [path for path in sys.argv[2:] if path.endswith((".c", ".cc", ".h"))]
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
FUNCTION = re.compile(r'^(?!static(?! inline)|typedef|return|else|extern ")'
                      r"[A-Za-z_][\w \t\*\n\(\),]*?\b(\w+)\((?:[^;{}]|\{0\})*?\)\s*\{", re.M)
TYPE = re.compile(r"\btypedef\b[^;{]*(?:\{(?:[^{}]|\{[^{}]*\})*\})?[^;]*?\(?\*?\b(\w+)\)?"
                  r"(?:\([^;]*\))?(?:\[[^\]]*\])?\s*(?:__attribute__\(\([^;]*\)\))?;")
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
ENUM = re.compile(r"\benum\b[^;{]*\{([^}]*)\}", re.S)
CONSTANT = re.compile(r"(?:^|,)\s*(\w+)")
PROTOTYPE = re.compile(r"^(?!typedef|static|#)[A-Za-z_][\w \t\*]*?\b(\w+)\([^;{}]*\)"
                       r"(?:\s*__attribute__\(\(.*?\)\))?;", re.M)
OPAQUE = re.compile(r"^struct (\w+);$", re.M)
DATA = re.compile(r"^extern\b[^;(]*?\b(\w+)(?:\[[^\]]*\])?\s*;", re.M)


def code(text):
    """The text without comments and strings, line by line."""
    return NOT_CODE.sub(lambda found: "\n" * found.group().count("\n") or '""', text)


def defined(text, is_header):
    names = set(FUNCTION.findall(text))
    if is_header:
        for pattern in (TYPE, TAG, MACRO, DATA):
            names |= set(pattern.findall(text))
        for body in ENUM.findall(text):
            names |= set(CONSTANT.findall(body))
    return {name for name in names if name.lower().startswith(("ppi_", "pprof_"))}


def uses_of(sources):
    """{unit: {other: "path:line name"}} of {path: text}."""
    owners = collections.defaultdict(set)
    texts = {path: code(text) for path, text in sources.items()}
    for path, text in texts.items():
        for name in defined(text, path.endswith(".h")):
            owners[name].add(path.rsplit(".", 1)[0])
    owner = {name: units.copy().pop() for name, units in owners.items() if len(units) == 1}
    uses = collections.defaultdict(dict)
    for path, text in texts.items():
        unit = path.rsplit(".", 1)[0]
        opaque = set(OPAQUE.findall(text))
        for number, line in enumerate(text.split("\n"), 1):
            for name in [] if line.lstrip().startswith("#include") else WORD.findall(line):
                other = unit if name in opaque else owner.get(name, unit)
                if other != unit:
                    uses[unit].setdefault(other, f"{path}:{number} {name}")
    return uses


def circles(uses):
    """Groups of units each of which reaches all others of it (Tarjan, without recursion)."""
    index, low, stack, found = {}, {}, [], []
    for start in sorted(uses):
        work = [(start, iter(sorted(uses[start])))] if start not in index else []
        if work:
            index[start] = low[start] = len(index)
            stack.append(start)
        while work:
            unit, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(sorted(uses.get(other, ())))))
                    break
                if other in stack:
                    low[unit] = min(low[unit], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[unit])
                if low[unit] == index[unit]:
                    at = stack.index(unit)
                    found.append(sorted(stack[at:]))
                    del stack[at:]
    return [group for group in found if len(group) > 1]


class Walls:
    """FOLDER: FOLDERS it may use, and what those may."""

    def __init__(self, text):
        self.may = {}
        for line in text.split("\n"):
            line = line.split("#")[0].strip()
            if line:
                folder, others = line.split(":")
                self.may[folder] = others.split()

    def reach(self, folder):
        seen, todo = set(), [folder]
        while todo:
            for other in self.may.get(todo.pop(), []):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    def against(self, uses):
        """{(unit, other): where} of what no wall has a door for."""
        found = {}
        for unit, others in uses.items():
            if "/include/" in unit:
                continue  # it declares what others define
            folder = os.path.dirname(unit)
            may = self.reach(folder) | {folder}
            for other, where in others.items():
                if os.path.dirname(other) not in may and "/include/" not in other:
                    found[unit, other] = where
        return found


class WallsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sources = {}
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                sources[path] = file.read()
        cls.uses = uses_of(sources)
        cls.headers = {path: code(text) for path, text in sources.items() if path.endswith(".h")}
        with open(WALLS, encoding="utf-8") as file:
            cls.walls = Walls(file.read())

    def test_folders(self):
        self.assertGreater(len(self.uses), 200)
        folders = {os.path.dirname(unit) for unit in self.uses if "/include/" not in unit}
        self.assertEqual(folders - set(self.walls.may), set(), "folders that walls.txt omits")
        for folder in self.walls.may:
            self.assertNotIn(folder, self.walls.reach(folder), "a circle of folders")
        found = self.walls.against(self.uses)
        self.assertEqual(found, {}, "uses that walls.txt has no door for")

    def test_units(self):
        inside = {unit: others for unit, others in self.uses.items() if "/include/" not in unit}
        for group in circles(inside):
            lines = [f"{unit} -> {other}: {inside[unit][other]}" for unit in group
                     for other in inside[unit] if other in group]
            self.fail("a circle:\n" + "\n".join(lines))

    def test_declared_once(self):
        """Two comments on a function differ."""
        places = collections.defaultdict(list)
        for path, text in self.headers.items():
            for found in PROTOTYPE.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                places[found.group(1)].append(f"{path}:{line}")
        self.assertGreater(len(places), 500)
        twice = {name: where for name, where in places.items() if len(where) > 1}
        self.assertEqual(twice, {}, "a function in two places")

    def test_finds(self):
        """What the two above would tell."""
        sources = {"low/a.h": "typedef struct ppi_a {\n int x;\n} ppi_a;\nvoid ppi_a_do(void);\n",
                   "low/a.c": '#include "ppi_c.h"\nvoid ppi_a_do(void) {\n  ppi_c();  // ppi_d()\n}',
                   "high/c.c": "#define PPI_C 1\nint ppi_c(void) {\n  ppi_a a = {PPI_C};\n}\n"}
        uses = uses_of(sources)
        self.assertEqual(uses["low/a"], {"high/c": "low/a.c:3 ppi_c"})
        self.assertEqual(uses["high/c"], {"low/a": "high/c.c:3 ppi_a"})
        self.assertEqual(circles(uses), [["high/c", "low/a"]])
        self.assertEqual(Walls("low:\nhigh: low").against(uses),
                         {("low/a", "high/c"): "low/a.c:3 ppi_c"})
        self.assertEqual(circles({"a": {"b": ""}, "b": {"c": ""}, "c": {}}), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
