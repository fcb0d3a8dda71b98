#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages and comments of the sources have short sentences of plain words, and each source opens
with what it does: FILE..."""
import itertools
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join("tests", "code"))
import plain

WORDS = 20  # a sentence; of comments 95 of 100
LEAST = 4  # fewer are no sentence
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|#include[^\n]*|"((?:\\.|[^"\\])*)"'
                   r"|'(?:\\.|[^'\\])*'|\s+|PRI\w+|\w+|.", re.S)
OPENING = re.compile(r"// SPDX[^\n]*\n//\n// \S")
# Of another language, or a file's own layout.
CODE = re.compile(r"\b(SELECT|CREATE|JOIN|WHERE|local|case|compdef)\b|sed -E|</?\w+[ >]|PPROF_\w+:"
                  r"|pprof-report \w+ .*   ")
# Keys in strings: of JSON that is read, and of a trace's slices, where each instruction counts.
KEY = re.compile(r'\\"[\w $]+\\":')
KEYS_OF = ("exporters/src/chrome/chrome_write.c", "tools/import/convert.c", "tools/verb/verb_cost.c")
# A lock is held, and a column of requests is called so.
FINE = ("held", "hop")


def literals(source):
    """The strings of C, those beside each other as one."""
    found, current = [], None
    for token in TOKEN.finditer(source):
        text = token.group(0)
        if text.startswith('"'):
            current = (current or "") + token.group(1)
        elif text.startswith("PRI") and current is not None:
            current += "N"
        elif not text.isspace() and not text.startswith(("//", "/*")):
            if current is not None:
                found.append(current)
            current = None
    return found


def comments(source):
    """The comments of C, lines below each other as one."""
    found, current = [], []
    for token in TOKEN.finditer(source):
        text = token.group(0)
        if text.startswith(("//", "/*")):
            current.append(text.strip("/* \n"))
        elif not text.isspace() or text.count("\n") > 1:
            found.append(" ".join(current))
            current = []
    found = [re.sub(r"^SPDX-\S+ \S+ *", "", text) for text in found + [" ".join(current)]]
    return list(filter(None, found))


def sentences(path, least):
    with open(path, encoding="utf-8") as file:
        for text in literals(file.read()):
            text = text.replace("\\n", " ").replace('\\"', '"')
            if len(re.findall(r"[A-Za-z]{2,}", text)) >= least and not CODE.search(text):
                yield from plain.split(text)


class MessagesTest(unittest.TestCase):
    maxDiff = None

    def test_strings_are_found(self):
        self.assertEqual(literals('f("a %" PRIu64  // "no"\n  " b", "c"); #include "d"\n'),
                         ["a %N b", "c"])

    def test_sentences_are_short(self):
        long = ["%s: %s" % (path, sentence) for path in FILES
                for sentence in sentences(path, LEAST) if plain.lengths([sentence])[0] > WORDS]
        self.assertEqual(long, [])

    def test_words_are_plain(self):
        words = ["%s: %s" % (path, word) for path in FILES for sentence in sentences(path, 1)
                 for word in plain.worse([sentence])
                 if word.partition(":")[0].lower() not in FINE]
        self.assertEqual(words, [])

    def test_comments_are_plain(self):
        self.assertEqual(comments("// SPDX-License-Identifier: A\n//\n// One\n// two.\n"
                                  "int a;  // three\nf(\"// no\");\n\n/* four */"),
                         ["One two.", "three", "four"])
        words, texts = [], []
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                own = comments(file.read())
            texts += own
            words += ["%s: %s" % (path, word) for word in plain.worse(own)
                      if word.partition(":")[0].lower() not in FINE]
        self.assertEqual(words, [])
        self.assertLessEqual(plain.measure(texts)[1], WORDS)

    def test_json_has_one_writer(self):
        others = []
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                has_key = any(map(KEY.search, literals(file.read())))
            if has_key and path.startswith(("exporters/", "tools/")) and path not in KEYS_OF:
                others.append(path)
        self.assertEqual(others, [], "file/json_put.h writes JSON")

    def test_sources_open_with_a_sentence(self):
        without = []
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                head = "".join(itertools.islice(file, 3))
            if not path.endswith(".h") and not OPENING.match(head):
                without.append(path)
        self.assertEqual(without, [])


FILES = [path for path in sys.argv[1:] if path.endswith((".c", ".cc", ".h"))]
unittest.main(argv=sys.argv[:1])
