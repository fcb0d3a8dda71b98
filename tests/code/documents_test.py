#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links of the documents lead somewhere, to headings too, and README.zh-CN.md is README.md in
another language: the same headings, code, links, tables and lists. In the tree's root."""
import glob
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join("tests", "code"))
import plain

PAGES, LINES = 26, 250
MEDIAN, P95 = 14, 28  # words a sentence
OUTSIDE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md",
           "python/README.md"]

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^( *)```.*?^\1```$", re.S | re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def anchors(text):
    """As GitHub makes them."""
    found = set()
    for title in re.findall(r"^#+ (.*)$", BLOCK.sub("", text), re.M):
        words = LINK.sub(lambda link: link.group(0)[1:].split("]")[0], title)
        base = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        name, n = base, 0
        while name in found:
            n += 1
            name = "%s-%d" % (base, n)
        found.add(name)
    return found


def shape(text):
    """What a translation keeps, line for line."""
    plain = BLOCK.sub("", text)
    return {
        "headings": [len(marks) for marks in re.findall(r"^(#+) ", plain, re.M)],
        "code": [block.group(0) for block in BLOCK.finditer(text)],
        "links": sorted(link for link in LINK.findall(plain) if not link.startswith("README")),
        "rows": [row.count("|") for row in re.findall(r"^\|.*$", plain, re.M)],
        "items": len(re.findall(r"^- ", plain, re.M)),
    }


class Documents(unittest.TestCase):
    maxDiff = None

    def test_links(self):
        documents = glob.glob("*.md") + glob.glob("docs/**/*.md", recursive=True)
        documents.append("bench/README.md")
        self.assertGreater(len(documents), 30)
        dead, num = [], 0
        for document in documents:
            dead += ["%s: %s is called %s" % (document, path, name) for name, path in
                     re.findall(r"\[([\w./-]+\.md)\]\(([^)#\s]+)", read(document))
                     if os.path.basename(path) != os.path.basename(name)]
            for link in LINK.findall(BLOCK.sub("", read(document))):
                if "://" in link or link.startswith("mailto:"):
                    continue
                num += 1
                path, _, anchor = link.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(document), path or
                                                     os.path.basename(document)))
                if not os.path.exists(path):
                    dead.append("%s: %s" % (document, link))
                elif anchor and path.endswith(".md") and anchor not in anchors(read(path)):
                    dead.append("%s: %s has no such heading" % (document, link))
        self.assertGreater(num, 200)
        self.assertEqual(dead, [])

    def test_every_document_is_linked(self):
        """From README.md, or from what it links."""
        reached, todo = set(), ["README.md"]
        while todo:
            document = todo.pop()
            if document in reached or not os.path.exists(document):
                continue
            reached.add(document)
            for link in LINK.findall(read(document)):
                path = link.partition("#")[0]
                if path.endswith(".md") and "://" not in path:
                    todo.append(os.path.normpath(os.path.join(os.path.dirname(document), path)))
        self.assertEqual(set(glob.glob("docs/**/*.md", recursive=True)) - reached, set())

    def test_number_and_length_of_pages(self):
        pages = glob.glob("docs/**/*.md", recursive=True)
        self.assertLessEqual(len(pages), PAGES)
        long = {page: read(page).count("\n") for page in pages if read(page).count("\n") > LINES}
        self.assertEqual(long, {})

    def test_plain_words(self):
        """Sentences are short, on each page, and no word stands where the field has a better one."""
        words, all_own, long = [], [], {}
        for page in OUTSIDE + sorted(glob.glob("docs/**/*.md", recursive=True)):
            own, cells = plain.paragraphs(read(page))
            words += [f"{page}: {word}" for word in plain.worse(own + cells)]
            all_own += own
            for what, texts in (("text", own), ("tables", cells)):
                if texts and plain.measure(texts)[1] > P95:
                    long[page, what] = plain.measure(texts)[1]
        self.assertEqual(words, [])
        self.assertEqual(long, {})
        self.assertLessEqual(plain.measure(all_own)[0], MEDIAN)

    def test_plain_words_of_help(self):
        """What the tool prints of itself, as its golden files have it."""
        files = glob.glob("tests/cli/cases/help*.stdout")
        self.assertGreater(len(files), 3)
        lines = [line for file in files for line in read(file).splitlines()]
        self.assertEqual(plain.worse(lines), [])

    def test_plain_words_are_found(self):
        self.assertEqual(plain.worse(["It is told apart, `told`."]),
                         ["told: report, print, write", "apart: separate"])
        self.assertEqual(plain.measure(["One two. Three four five, see e.g. this; six seven."]),
                         (8, 8))
        self.assertEqual(plain.paragraphs("- An item.\n\n    code\n\n| a | b\\|c |\n"),
                         (["An item."], ["a", "b\\|c"]))

    def test_translation(self):
        original, translated = shape(read("README.md")), shape(read("README.zh-CN.md"))
        self.assertGreater(len(original["code"]), 8)
        for what, expected in original.items():
            self.assertEqual(translated[what], expected, what)


if __name__ == "__main__":
    unittest.main()
