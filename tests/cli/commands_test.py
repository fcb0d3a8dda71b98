#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that documents show have verbs and options that the tool knows, `./dev` knows its
commands, and each YAML block is a valid configuration: commands_test.py TOOL DEV PAGE..."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

TOOL, DEV = (os.path.abspath(name) for name in sys.argv[1:3])
PAGES = [path for path in sys.argv[3:] if path.endswith(".md")]
BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.S | re.M)
INLINE = re.compile(r"`(pprof-report [^`]+|\./dev [^`]+)`")
OF_VERB = re.compile(r"`([a-z-]+ --[^`]+)`")  # the program's name is left out
# `[OPTION...]` and `...` stand for words.
PLACE = re.compile(r"[A-Z.]+|\[.*|.*\.\.\.|<.*")


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          check=True).stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def words(line):
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # a quote that goes on below
        return line.split()


def commands(text, verbs):
    """The commands of a page, each as its words from the program on."""
    lines = INLINE.findall(text)
    lines += ["pprof-report " + line for line in OF_VERB.findall(text) if line.split()[0] in verbs]
    for _, language, block in BLOCK.findall(text):
        if language in ("sh", "text", ""):
            lines += block.replace("\\\n", " ").split("\n")
    for line in lines:
        for part in re.split(r"\|(?!\|)|&&|;|\$\(|<\(", line):
            found = words(part)
            for at, word in enumerate(found):
                if word in ("pprof-report", "./dev"):
                    yield found[at:]
                    break


def options(found):
    """Options of the tool's own: a command to run has others."""
    for word in found:
        if word == "--" or word in ("&", ">", "2>"):
            return
        if re.fullmatch(r"--?[a-z][a-z-]*(=.*)?|-[a-zA-Z]", word):
            yield word.split("=")[0]


class Commands(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        listed = re.findall(r"^  ([a-z-]+) +\S", run(TOOL, "--help").split("\nRecord", 1)[1], re.M)
        cls.verbs = {verb: set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", run(TOOL, "help", verb)))
                     for verb in listed}
        cls.dev = set(re.findall(r"^  (\w+)", run(DEV, "help"), re.M))

    def test_verbs_and_options_are_known(self):
        unknown, num = [], 0
        for page in PAGES:
            for found in commands(read(page), self.verbs):
                num += 1
                if found[0] == "./dev":
                    unknown += ["%s: %s" % (page, " ".join(found)) for word in found[1:2]
                                if word not in self.dev and not PLACE.fullmatch(word)]
                    continue
                verb = found[1] if len(found) > 1 and found[1] in self.verbs else "summary"
                unknown += ["%s: %s: %s" % (page, option, " ".join(found))
                            for option in options(found[1:])
                            if option not in self.verbs[verb] | {"--help", "--version", "-h", "-V"}]
        self.assertEqual(unknown, [])
        self.assertGreater(num, 250)

    def test_configurations_are_valid(self):
        bad, num = [], 0
        for page in PAGES:
            for _, language, block in BLOCK.findall(read(page)):
                if language != "yaml" or block.startswith("expect:"):
                    continue
                num += 1
                with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                    file.write(block)
                    file.flush()
                    said = subprocess.run([TOOL, "config", "validate", file.name], text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                if said.returncode:
                    bad.append("%s: %s\n%s" % (page, said.stdout, block))
        self.assertEqual(bad, [])
        self.assertGreater(num, 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
