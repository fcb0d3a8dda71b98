#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""foreign_text_test.py FILE...: who prints texts of others.

Names, keys and notes of logs and traces, paths and hosts may hold what acts on a terminal. They are
printed by ppi_page_visible and what stands beside it in file/text.h, or by ppi_tool_say, and by
nothing else: what is printed as it is comes from our own tables, which are listed here.
"""
import re
import sys
import unittest

FILES = sys.argv[1:]
# Escapes itself, or prints help, pages for man and completions: no text of others.
LEFT_OUT = ("exporters/src/file/text.c", "tools/cli/man_page.c", "tools/cli/completions.c",
            "tools/cli/usage.c")
RAW = re.compile(r"\b(ppi_page_format|ppi_page_text|ppi_page_strong|f?printf|f?puts)\(")
FIRST = {"ppi_page_format": 1, "ppi_page_text": 1, "ppi_page_strong": 1, "fprintf": 1,
         "printf": 0, "fputs": 0, "puts": 0}
FOREIGN = re.compile(r"(?:\b(?:key|value|name|text|host|uuid|command|rank|pid|path|config|folder"
                     r"|category_name|category|thread|device|process|line|label)"
                     r"|\b(?:short_name|ppi_tool_name_of|pprof_run_info_text"
                     r"|pprof_definition_name|ppi_tool_run_info_text|getenv|secure_getenv)"
                     r"\(.*\))$", re.S)
# Expression: what it is of. "*" in the file's place: anywhere.
OURS = {
    "*": {"column->name", "kind->name", "kind->columns[i].name", "view->kind->name",
          "(*view)->name", "(*format)->name", "units[i].name", "shown[i].name", "sums[i].name"},
    "exporters/src/html/pack.c": {"text"},
    "exporters/src/live/live_metrics.c": {"name"},
    "exporters/src/print/table.c": {"name", "view->rows[row].line"},  # of a column
    "exporters/src/view/answer_text.c": {"name"},
    "exporters/src/view/tree_text.c": {"cell->text"},
    "exporters/src/view/view_perf.c": {"cell->text", "rows[SPEED][CELL_unit].text"},
    "tools/fleet/fleet.c": {"folder", "name", "ppi_fleet_views[i].name", "ppi_fleet_views[i].text"},
    "tools/launch/preset.c": {"preset->text"},
    "tools/verb/answer.c": {"text"},  # a number
    "tools/verb/verb_cost.c": {"name"},  # for Python, which answers
    "tools/verb/verb_check.c": {"self->path", "sink->path"},  # visible since it is set
    # What is put together here is escaped behind, or is no page: a command, SQL, a path.
    "exporters/src/chrome/chrome_write.c": {"launch->text", "name", "totals->notes[i].key",
                                            "totals->notes[i].value"},
    "exporters/src/view/fit.c": {"name"},
    "tools/export/parquet.c": {"folder", "path", "out->folder", "run->uuid", "view->name",
                               "view->text"},
    "tools/export/perfetto_tracks.c": {"from->text"},
    "tools/export/speedscope.c": {
        "at->host", "at->pid", "at->rank", "row->text",
        "ppi_export_names_at(&out->base.names, PPROF_DEFINITION_DEVICE, row->parent) ->text"},
    "tools/verb/costs.c": {"item->text"},
    "exporters/src/view/answer_line.c": {"text"},
    "tools/launch/python.c": {"text"},
    "tools/verb/verb_search_batch.c": {"text"},
}


def arguments(text, at):
    """Those of the call whose parenthesis ends before `at`."""
    found, depth, begin, quote = [], 0, at, ""
    while True:
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}" and depth:
            depth -= 1
        elif char in ",)" and not depth:
            found.append(" ".join(text[begin:at].split()))
            begin = at + 1
            if char == ")":
                return found
        at += 1


def texts(call, given):
    """The arguments that the call prints as texts."""
    given = given[FIRST[call]:]
    if not call.endswith(("format", "printf")):
        return given
    form, place = re.sub(r'" ?PRI\w+ ?"?', "d", given[0]), 1
    found = []
    for spec in re.findall(r"%[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?[hlzjt]*(\w|%)", form):
        place += spec[:2].count("*")
        found += given[place:place + 1] if spec[2] == "s" else []
        place += spec[2] != "%"
    return found


def foreign(text):
    """What calls print as it is and a table of others may hold."""
    for call in RAW.finditer(text):
        for one in texts(call.group(1), arguments(text, call.end())):
            choices = re.split(r" [?:] ", one)
            for choice in choices[len(choices) > 1:]:
                if FOREIGN.search(choice):
                    yield choice


class ForeignTextTest(unittest.TestCase):
    def test_one_function_prints_it(self):
        sources = [path for path in FILES if path.endswith(".c")
                   and re.search(r"(^|/)(tools|exporters/src)/", path)]
        self.assertGreater(len(sources), 100)
        for path in sources:
            name = re.search(r"(tools|exporters/src)/.*", path).group(0)
            if name in LEFT_OUT:
                continue
            with open(path, encoding="utf-8") as file:
                found = set(foreign(file.read()))
            self.assertEqual(found - OURS["*"], OURS.get(name, set()), name)

    def test_such_calls_are_found(self):
        self.assertEqual(list(foreign('ppi_page_format(out, "%s (x)", info->texts[i].key);')),
                         ["info->texts[i].key"])
        self.assertEqual(list(foreign('printf("%s\\n", getenv("HOME"));')), ['getenv("HOME")'])
        self.assertEqual(list(foreign('ppi_page_text(page, name ? name : "none");')), ["name"])
        self.assertEqual(list(foreign('ppi_page_visible(out, note->key);')), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
