#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_parts.py PAGE PART: a part of a page of `html`, as it was before it was packed."""
import base64
import re
import sys
import zlib


def part(page, name):
    """Of the page's text."""
    text = re.search(f'id="{name}">(.*?)</script>', page, re.DOTALL).group(1)
    return text.encode() if "{" in text else zlib.decompress(base64.b64decode(text))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.buffer.write(part(file.read(), sys.argv[2]))
