#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies what a site of the documents needs: site.py FOLDER, in the tree's root.

README.md, the pages of docs, and each file that a link of a page leads to, under the
same paths, so that links hold. mkdocs makes the site of them (`./dev docs`)."""
import os
import re
import shutil
import sys

LINK = re.compile(r"\]\(([^)\s#]+)")


def main():
    folder = sys.argv[1]
    done, todo = set(), ["README.md"]
    while todo:
        path = todo.pop()
        if path in done or not os.path.isfile(path):
            continue
        done.add(path)
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)
        if path.endswith(".md"):
            with open(path, encoding="utf-8") as file:
                links = [link for link in LINK.findall(file.read()) if "://" not in link]
            todo += [os.path.normpath(os.path.join(os.path.dirname(path), link)) for link in links]


main()
