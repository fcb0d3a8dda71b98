# SPDX-License-Identifier: Apache-2.0
"""Judges whether an answer names a true cause of a case."""
import re

# Words that name causes in no range, unless the answer calls them not recorded.
HIDDEN_WORDS = {"pause": r"stands? still", "timer": r"timer|fill a batch", "tick": r"timer",
                "rate": r"rate limit", "back off": r"back.?off",
                "processors": r"[Pp]rocessors are", "interpreter": r"interpreter"}
UNKNOWN = "not recorded"
NO_CAUSE = ("balanced", "keeps_up", "none")


def known_names(case):
    """All that an answer may name, the longest first."""
    names = set(case["shown"]) | set(case["alias"]) | set(case["gains"])
    return sorted(names - {"request"} - set(case["hidden"]), key=lambda name: (-len(name), name))


def mentioned(case, text):
    """The names in a text, in their order."""
    pattern = "|".join(re.escape(name) for name in known_names(case))
    found = re.findall(rf"(?<![\w:])(?:{pattern})(?!\w|:\w)", text or "")
    return list(dict.fromkeys(found))


def targets(case, names):
    """The times behind names; a name that has none is a target that brings nothing."""
    found = []
    for name in names:
        if name in case["gains"]:
            found.append(name)
        else:
            found += [name, *case["alias"].get(name, [])] if name in case["shown"] else \
                case["alias"].get(name, [])
    return set(found)


def first_sentence(text):
    return re.split(r"(?<=[a-z%)])\. ", text or "")[0]


def without_a_model(case, answer):
    """The claim of the report's sentence, for a product that has no `limit`."""
    sentence = first_sentence(answer)
    names = mentioned(case, sentence)
    if not names:
        claim = "none"
    elif re.search(r"is the limit|in line before|sets the pace", sentence):
        claim = "limit"
    else:
        claim = "part"
    return {"claim": claim, "verdict": "", "names": names, "sentence": answer, "next": ""}


def names_hidden(case, limit):
    """Whether the answer names a cause in no range, and the cause is right."""
    text = f"{limit.get('verdict')} {limit.get('sentence')}"
    hidden = [name for name in case["hidden"] if name in case["right"]]
    return UNKNOWN not in text and any(
        re.search(words, text) for name in hidden for kind, words in HIDDEN_WORDS.items()
        if kind in name)


def outcome(case, limit, findings):
    """{result: right | unrecorded | silent | wrong, false: whether its advice brings nothing,
    three: whether one of the first three findings is right, claim}. Unrecorded: the answer calls
    something not recorded, and the cause is in no range."""
    named = targets(case, limit["names"][:2])
    right, worth = set(case["right"]), set(case["worth"])
    claim = limit["claim"]
    if case["healthy"]:
        good = claim in NO_CAUSE or claim == "part" and (not worth or bool(named & worth))
    else:
        good = names_hidden(case, limit)
    good = good or claim in ("limit", "part", "balanced") and bool(named & right)
    good = good and bool(re.search(case.get("advice", ""), limit.get("next") or ""))
    if good:
        result = "right"
    elif claim == "unrecorded" and right & set(case["hidden"]):
        result = "unrecorded"
    elif claim in NO_CAUSE:
        result = "silent"
    else:
        result = "wrong"
    texts = [f"{one['text']} {one.get('next', '')}" for one in findings[:3]]
    three = result in ("right", "unrecorded") or any(
        targets(case, mentioned(case, text)) & right for text in texts)
    return {"result": result, "claim": claim, "healthy": case["healthy"], "three": three,
            "false": int(not good and claim in ("limit", "part") and not named & worth)}


def answer_of(case, report):
    """(limit, findings) of the report as JSON has it."""
    limit = report.get("limit") or without_a_model(case, report.get("answer"))
    return limit, report.get("findings", [])
