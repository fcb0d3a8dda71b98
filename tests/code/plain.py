# SPDX-License-Identifier: Apache-2.0
"""Sentences of documents and messages, their lengths, and words that have a better one."""
import re

# The word not to use, as a regular expression, and the field's word for it.
BETTER = {
    r"tells?|told|telling": "report, print, write",
    r"apart": "separate",
    r"seen": "found, recorded",
    r"held(?! (?:up|by)\b|-l)": "kept, buffered, had",
    r"anew": "again",
    r"heed(s|ed)?": "ignore, use",
    r"wish(es|ed)?": "candidate, request",
    r"doubt(s|ed|ful)?": "uncertain",
    r"hops?": "edge",
    r"whose": "with, of which",
    r"said": "reported, stated",
    r"amongst|whilst|whereof|thereof|hence|thus": "a plain word",
}
FORBIDDEN = re.compile(r"\b(%s)\b" % "|".join(BETTER), re.I)
BLOCK = re.compile(r"^( *)```.*?^\1```$", re.S | re.M)
NO_END = re.compile(r"\b(e\.g|i\.e|vs|etc|ca|No)\.")


def worse(texts):
    """Each word of the list, with the better one."""
    return ["%s: %s" % (found.group(0), next(field for bad, field in BETTER.items()
                                             if re.fullmatch(bad, found.group(0), re.I)))
            for text in texts for found in FORBIDDEN.finditer(plain(text))]


def plain(text):
    """Without code, links, and emphasis: a piece of code is one word."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)\s]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "Code", text)
    return NO_END.sub(r"\1", re.sub(r"[*_]{1,2}(\S[^*_]*)[*_]{1,2}", r"\1", text))


def split(text):
    """The sentences of a paragraph."""
    parts = re.split(r"(?<=[.!?])[\"')]*\s+", plain(text))
    return [part.strip() for part in parts if re.search(r"[A-Za-z]", part)]


def paragraphs(text):
    """Paragraphs, items of lists, and cells of tables of a page in Markdown."""
    text = re.sub(r"<!--.*?-->", "", BLOCK.sub("", text), flags=re.S)
    found, cells = [], []
    for piece in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=[|#])", text):
        is_code = piece.startswith("    ") and not re.match(r"\s*(?:[-*]|\d+\.) ", piece)
        piece = piece.strip()
        if piece.startswith("|"):
            cells += [cell.strip() for cell in re.split(r"(?<!\\)\|", piece.strip("|"))]
        elif piece and not piece.startswith("#") and not is_code:
            found.append(re.sub(r"^(?:[-*]|\d+\.) ", "", " ".join(piece.split())))
    return found, cells


def lengths(sentences):
    return sorted(len(re.findall(r"[^\s]*\w[^\s]*", sentence)) for sentence in sentences)


def quantile(sizes, q):
    return sizes[min(len(sizes) - 1, int(q * len(sizes)))]


def measure(texts):
    """(median, p95) of words a sentence."""
    sizes = lengths(s for text in texts for s in split(text))
    return quantile(sizes, 0.5), quantile(sizes, 0.95)
