#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/device-timing.md: TEMPLATE RESULTS.json... > PAGE.

RESULTS are what bench/device wrote. In the template

  {{machine}}              the machine and how each result was made
  {{summary}}              one line for each bound: its rows taken together
  {{rows PART}}            all rows of one part
  {{ID.FIELD}}             a number of row ID: control, value, figure, spread,
  {{ID.FIELD:FORMAT}}      or one of its figures; FORMAT is Python's
  {{shortfalls}}           whether bounds are missed, in a sentence
  {{#missed ID}}...{{/missed}}  text that stands where row ID misses its bound;
                           ID may end in *

so that no figure of the page is typed by hand. A row that misses its bound and
has no such text is an error: a shortfall is explained, or there is no page.
"""
import json
import math
import os
import re
import sys

SCHEMA = "pprof.bench.device/1"
FIELDS = ("control", "value", "figure", "spread")
MISSED = re.compile(r"\{\{#missed ([a-z0-9_*]+)\}\}\n?(.*?)\{\{/missed\}\}\n?",
                    re.DOTALL)
PLACE = re.compile(r"\{\{([^{}]+)\}\}")


class Problem(Exception):
    """What is wrong with the template or the results, in words."""


def read_results(paths):
    results = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        if result.get("schema") != SCHEMA:
            raise Problem("%s: not of schema %s" % (path, SCHEMA))
        results.append(result)
    return results


def rows_by_id(results):
    rows = {}
    for result in results:
        for row in result["rows"]:
            if row["id"] in rows:
                raise Problem("row %s is in two results" % row["id"])
            rows[row["id"]] = row
    return rows


def is_number(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def show(value):
    """Three significant digits, no exponent; a dash where there is none."""
    if not is_number(value):
        return "–"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = "%.*f" % (digits, value)
    if digits == 0:
        text = "{:,}".format(int(text)).replace(",", " ")
    return text


def show_with_unit(value, unit):
    text = show(value)
    return text if text == "–" or not unit else "%s %s" % (text, unit)


def escape(text):
    text = re.sub(r"\bus\b", "µs", text)
    return (text.replace("|", "\\|").replace("<=", "≤").replace(">=", "≥")
            .replace("<", "&lt;").replace(" x ", " × "))


def verdict_text(verdict):
    return {"met": "met", "not met": "**not met**"}.get(verdict, "")


def table(rows):
    lines = ["| what | control | pprof | figure | A/A | bound | |",
             "|---|--:|--:|--:|--:|---|---|"]
    for row in rows:
        cells = [row["what"],
                 show_with_unit(row["control"], row["unit"]),
                 show_with_unit(row["value"], row["unit"]),
                 show_with_unit(row["figure"], row["figure_unit"]),
                 show(row["spread"]), row["bound"]]
        lines.append("| %s | %s |" % (" | ".join(map(escape, cells)),
                                      verdict_text(row["verdict"])))
    return "\n".join(lines)


def spread_of(values, unit):
    numbers = [value for value in values if is_number(value)]
    if not numbers or min(numbers) == max(numbers):
        return show_with_unit(numbers[0] if numbers else None, unit)
    return "%s to %s" % (show(min(numbers)),
                         show_with_unit(max(numbers), unit))


def summary(rows):
    groups = {}
    for row in rows:
        if row["bound"]:
            groups.setdefault((row["part"], row["bound"]), []).append(row)
    lines = ["| what | bound | measured | A/A | |", "|---|---|--:|--:|---|"]
    for (_, bound), group in groups.items():
        what = os.path.commonprefix([row["what"] for row in group])
        missed = [row for row in group if row["verdict"] == "not met"]
        verdict = verdict_text("not met" if missed else "met")
        if missed and len(missed) < len(group):
            verdict += " in %d of %d" % (len(missed), len(group))
        lines.append("| %s | %s | %s | %s | %s |" % (
            escape(what.strip(" ,")), escape(bound),
            escape(spread_of([row["figure"] for row in group],
                             group[0]["figure_unit"])),
            escape(spread_of([row["spread"] for row in group],
                             group[0]["figure_unit"])), verdict))
    return "\n".join(lines)


def machine(results):
    """One row for each fact; where the results differ, all of its values."""
    facts = {}
    for result in results:
        for key, value in result.items():
            if isinstance(value, str) and key != "schema":
                facts.setdefault(key, [])
                if value not in facts[key]:
                    facts[key].append(value)
    lines = ["| | |", "|---|---|"]
    for key, values in facts.items():
        quote = "`%s`" if key == "command" else "%s"
        lines.append("| %s | %s |" % (
            key, "<br>".join(quote % value for value in values)))
    return "\n".join(lines)


def figure(rows, name):
    name, _, form = name.partition(":")
    row_id, _, field = name.partition(".")
    row = rows.get(row_id)
    if row is None:
        raise Problem("no result has a row %s" % row_id)
    value = row.get(field) if field in FIELDS else row["figures"].get(field)
    if not is_number(value):
        raise Problem("row %s has no number %s" % (row_id, field))
    return format(value, form) if form else show(value)


def matches(pattern, row_id):
    return (row_id.startswith(pattern[:-1]) if pattern.endswith("*") else
            row_id == pattern)


def shortfalls(rows):
    bound = [row for row in rows.values() if row["bound"]]
    missed = sum(row["verdict"] == "not met" for row in bound)
    if not missed:
        return "None: all %d are met.\n" % len(bound)
    return "%d of %d.\n" % (missed, len(bound))


def keep_missed(template, rows):
    """Leaves the explanations of the bounds that were missed."""
    missed = [key for key, row in rows.items() if row["verdict"] == "not met"]
    patterns = [match.group(1) for match in MISSED.finditer(template)]
    for row_id in missed:
        if not any(matches(pattern, row_id) for pattern in patterns):
            raise Problem("row %s misses its bound and is not explained" %
                          row_id)

    def keep(match):
        applies = any(matches(match.group(1), row_id) for row_id in missed)
        return match.group(2) if applies else ""

    return MISSED.sub(keep, template)


def fill(template, results):
    rows = rows_by_id(results)

    def replace(match):
        what = match.group(1)
        if what == "machine":
            return machine(results)
        if what == "summary":
            return summary(rows.values())
        if what == "shortfalls":
            return shortfalls(rows)
        if what.startswith("rows "):
            part = what[len("rows "):]
            found = [row for row in rows.values() if row["part"] == part]
            if not found:
                raise Problem("no result has a part %s" % part)
            return table(found)
        return figure(rows, what)

    return PLACE.sub(replace, keep_missed(template, rows))


def main(arguments):
    if len(arguments) < 2:
        print("usage: device_timing.py TEMPLATE RESULTS.json...",
              file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            template = file.read()
        page = fill(template, read_results(sorted(arguments[1:])))
    except (OSError, ValueError, KeyError, Problem) as error:
        print("device_timing.py: %s" % error, file=sys.stderr)
        return 1
    sys.stdout.buffer.write(page.encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
