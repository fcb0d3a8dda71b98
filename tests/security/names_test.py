#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names_test.py TOOL: names, texts and paths made to act on a terminal or in a
page, through every verb, view, style and format.

What comes out, errors included, has no control character but line ends, no
bidi mark, nothing but UTF-8; JSON is valid and cannot end a script; a name has
a line of its own in every line-based format.
"""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unicodedata
import unittest

sys.path.insert(0, os.path.abspath(os.path.join("tests", "support")))
import raw_log  # noqa: E402
from page_parts import part  # noqa: E402

TOOL = os.path.abspath(sys.argv[1])
EVIL = [
    "\x1b[31mred\x1b[0m\x1b]0;title\x07", "\x9b31mc1\x85",
    "a\nb\rc\td\x0b\x00e",
    "quote\"'`\\\\\"", "</script><script>alert(1)</script>", "<!--",
    "\u202egnp.exe\u202c", "\u2066isolate\u2069", "zero\u200bwidth\ufeff",
    "tag\U000e0041\U000e007f", "line\u2028sep\u2029", "\x7f\x08\x08del",
    "a,b;\"c\"", "|pipe|", "%s%n%x", "=cmd|' /C calc'!A0",
    "../../etc/passwd", "-rf", "",
]
STYLES = {"paddle": ["overview,model,distributed,operator,kernel,device,memory,"
                     "memory_manipulation,userdefined", None],
          "torch": [None], "nsys": [None]}
FORMATS = ["table", "csv", "json", "markdown"]


def events():
    found = []
    for number, name in enumerate(EVIL):
        at = 100 * number
        common = {"pid": 1, "tid": 2, "name": name}
        found += [
            dict(common, ph="X", cat="cpu_op", ts=at, dur=50,
                 args={"External id": number + 1, name: name}),
            dict(common, ph="X", cat="cuda_runtime", ts=at + 1, dur=2,
                 args={"correlation": number + 1}),
            dict(common, ph="X", cat="kernel", pid=0, tid=7, ts=at + 5, dur=9,
                 args={"correlation": number + 1, "stream": 7, "device": 0}),
            dict(common, ph="X", cat=name, tid=number + 10, ts=at, dur=3),
            dict(common, ph="X", cat="user_annotation", ts=at + 60, dur=3),
            dict(common, ph="C", ts=at + 61, args={name: 1}),
            dict(common, ph="i", ts=at + 62, s="t"),
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": number + 10,
             "args": {"name": name}},
        ]
    found.append({"ph": "M", "name": "process_name", "pid": 1,
                  "args": {"name": "".join(EVIL)}})
    return found


def acts(text):
    return [c for c in text if c != "\n" and
            (unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp"))]


class NamesTest(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)
        os.chdir(self.home.name)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.home.name)
        trace = {"traceEvents": events(), "deviceProperties":
                 [{"id": 0, "name": EVIL[0] + EVIL[6]}], EVIL[0]: EVIL[4],
                 "schemaVersion": 1}
        self.trace = "\x1b[2J\u202e<evil>.json"
        pathlib.Path(self.trace).write_text(json.dumps(trace))
        self.log = "\x1b[2J\u202e<evil>.pplog"
        self.run_tool("import", self.trace, "-o", self.log)

    def run_tool(self, *arguments, good=True):
        done = subprocess.run([TOOL, *arguments], env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        what = ascii(arguments)
        for stream in [done.stdout, done.stderr]:
            self.look(stream, what)
        if good:
            self.assertEqual(0, done.returncode, what + ascii(done.stderr))
        else:
            self.assertNotEqual(0, done.returncode, what)
            self.assertTrue(done.stderr, what)
        return done.stdout.decode()

    def look(self, data, what):
        self.assertEqual([], acts(data.decode("utf-8")), what)

    def look_at_json(self, text, what):
        json.loads(text)
        self.assertNotIn("</", text, what)
        self.assertNotIn("<!", text, what)

    def test_summary(self):
        for style, views in STYLES.items():
            for view in views:
                for form in FORMATS:
                    more = ["--view", view] if view else []
                    text = self.run_tool("--style", style, "-f", form, *more,
                                         self.log)
                    if form == "json":
                        self.look_at_json(text, style)

    def test_views_that_must_be_named(self):
        for view in ["stages", "requests", "queue", "interference", "messages",
                     "perf", "launches"]:
            for form in FORMATS:
                done = subprocess.run([TOOL, "--view", view, "-f", form,
                                       self.log], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=self.env)
                self.look(done.stdout + done.stderr, view)

    def test_summary_with_more(self):
        for options in [["--thread-sep"], ["--op-detail"], ["--top", "3"],
                        ["--tree"], ["--flat"], ["--kernel-tree"],
                        ["--by", "thread"], ["--verbose"]]:
            for form in FORMATS:
                self.run_tool(*options, "-f", form, self.log)
        self.run_tool("--compact", "-f", "json", self.log)

    # A range may be named "".
    def test_no_name_is_said_to_be_none(self):
        made = [{"ph": "X", "name": "", "pid": 1, "tid": 1, "ts": 0, "dur": 9},
                {"ph": "X", "name": "", "pid": 1, "tid": 1, "ts": 2, "dur": 3}]
        pathlib.Path("empty.json").write_text(json.dumps(made))
        self.run_tool("import", "empty.json", "-o", "empty.pplog")
        for options in [
                [], ["--tree"], ["--flat"], ["--kernel-tree"], ["--tree", "-f", "json"],
                ["--by", "thread"], ["--style", "paddle", "--op-detail"],
                ["--style", "torch"], ["--style", "nsys"], ["-f", "csv"],
                ["-f", "json"], ["-f", "markdown"], ["--view", "stages"],
                ["trace", "-o", "-"], ["html", "-o", "-"],
                ["export", "folded", "-o", "-"], ["export", "otlp", "-o", "-"],
                ["export", "speedscope", "-o", "-"],
                ["sql"]]:
            if options[:1] == ["export"]:
                options = [*options[:2], "empty.pplog", *options[2:]]
            elif options[:1] == ["sql"]:
                options = ["sql", "empty.pplog", "SELECT name FROM site"]
            else:
                options = [*options, "empty.pplog"]
            text = self.run_tool(*options)
            if options[0] == "html":
                text = part(text, "report").decode()
            self.assertIn("(no name)", text, options)

    def csv_names(self, *options):
        """Names of Overhead, all others being numbers, of UserDefined."""
        text = self.run_tool("-f", "csv", "--view", "userdefined", *options,
                             "formula.json")
        # As a spreadsheet may split it where a comma is for decimals.
        for delimiter in ",;":
            for row in csv.reader(io.StringIO(text), delimiter=delimiter):
                yield row

    def test_no_cell_is_a_formula(self):
        names = ["=1+1", "+1", "-352", "@SUM(A1)", "\t=1", "\r=1", " =1",
                 "a;=1", "a,=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201"]
        made = [{"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": 10 * at,
                 "dur": 5} for at, name in enumerate(names)]
        pathlib.Path("formula.json").write_text(json.dumps(made))
        found = set()
        for row in self.csv_names():
            for cell in row:
                found.add(cell)
                self.assertNotIn(cell[:1], tuple("=+-@\t\r\uff1d\uff0b\uff0d"
                                                 "\uff20"), row)
        for name in names[:4] + names[9:]:
            self.assertIn("'" + name, found)
        for name in names[6:9]:
            self.assertIn(name, found)
        raw = {cell for row in self.csv_names("--raw") for cell in row}
        for name in names[:4] + names[6:]:
            self.assertIn(name, raw)

    # Numbers are no names: one below zero stays one.
    def test_numbers_stay_numbers(self):
        made = [{"ph": "X", "name": "step", "cat": "ProfileStep", "pid": 1,
                 "tid": 9, "ts": 0, "dur": 10}]
        made += [{"ph": "X", "name": name, "cat": cat, "pid": 1, "tid": tid,
                  "ts": 0, "dur": 10}
                 for tid, (name, cat) in enumerate(
                     [("f", "Forward"), ("b", "Backward")])]
        pathlib.Path("others.json").write_text(json.dumps(made))
        text = self.run_tool("-f", "csv", "--view", "model", "others.json")
        rows = {row[0]: row for row in csv.reader(io.StringIO(text))}
        self.assertEqual("-10000", rows["Others"][2])
        self.assertEqual(-100, float(rows["Others"][6]))

    def test_trace(self):
        text = self.run_tool("trace", self.log, "-o", "-")
        self.look_at_json(text, "trace")
        again = self.run_tool("trace", self.trace, "-o", "-")
        self.look_at_json(again, "trace of a trace")

    # What a log says of its run is anybody's, keys included.
    def test_info_of_a_log_made_by_hand(self):
        blocks = [(raw_log.INFO, raw_log.texts(
            [("uuid", "0" * 32)] + [(name + "k", name) for name in EVIL])),
            (raw_log.TOTALS, b"".join(
                b"\3" + raw_log.texts([(name[:9] + "n", name)]) for name in EVIL))]
        pathlib.Path("hand.pplog").write_bytes(raw_log.file_header() + b"".join(
            raw_log.block(kind, at, payload)
            for at, (kind, payload) in enumerate(blocks)))
        self.assertIn("\\x1B[31mred", self.run_tool("info", "hand.pplog"))
        self.look_at_json(self.run_tool("info", "-f", "json", "hand.pplog"),
                          "info")
        self.run_tool("check", "hand.pplog")
        for form in FORMATS:
            self.run_tool("-f", form, "hand.pplog")

    def test_info_and_check(self):
        self.run_tool("info", self.log)
        self.look_at_json(self.run_tool("info", "-f", "json", self.log), "info")
        self.run_tool("check", self.log)

    def test_compare(self):
        for form in FORMATS:
            done = subprocess.run(
                [TOOL, "compare", "--force", "-f", form, self.log, self.log],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)
            self.look(done.stdout + done.stderr, form)
            if form == "json" and done.stdout:
                self.look_at_json(done.stdout.decode(), "compare")

    # Of more than two inputs notes have the paths.
    def test_compare_of_three(self):
        paths = []
        for number in range(3):
            data = raw_log.log(
                (raw_log.DEFINITIONS, raw_log.definition(raw_log.SITE, 1, 13,
                                                         name="a")),
                uuid=b"%032d" % number, more=[("host", EVIL[number])])
            paths.append("\x1b[3%dm.pplog" % number)
            pathlib.Path(paths[-1]).write_bytes(data)
        done = subprocess.run([TOOL, "compare", "--force", *paths],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.env)
        self.look(done.stdout + done.stderr, "compare")
        self.assertIn(b"differ in host", done.stderr)

    def test_whatif(self):
        for form in FORMATS:
            text = self.run_tool("whatif", "-f", form, self.log)
            if form == "json":
                self.look_at_json(text, "whatif")

    def test_merge(self):
        self.run_tool("merge", self.log, "-o", "merged.pplog")
        self.run_tool("merge", self.log, "missing\x1b[2J", "-o", "x",
                      good=False)

    def test_errors(self):
        evil = "".join(EVIL).replace("\x00", "")
        path = evil.replace("/", "_")[:100]
        pathlib.Path(path).write_text("no log")
        broken = "\x1b[31mcut.json"
        pathlib.Path(broken).write_text('{"traceEvents":[{"ph":"\x1b[31m')
        config = "\x1b[31m.yaml"
        pathlib.Path(config).write_text('"\\e[31m\\u202e": "\\e[31m"\n')
        value = "value.yaml"
        pathlib.Path(value).write_text(
            'flight_recorder: {rules: ["stage \\e[31m > \\u202e"]}\n')
        for arguments in [
                [path], ["info", path], ["check", path], ["recover", path],
                ["import", path], ["import", broken], ["trace", path],
                ["compare", path, path], ["merge", path, "-o", "y"],
                ["config", "validate", config], ["config", "validate", value],
                ["--view", evil, self.log], ["--sort", evil, self.log],
                ["--" + evil, self.log], [evil], ["-f", evil, self.log],
                ["--top", evil, self.log], ["-o", path + "/x", self.log],
                ["help", evil], ["trigger", "--pid", evil],
                ["run", "--", "./" + path], ["config", evil],
                ["search-batch", "--from", evil, "--", "true"],
                ["info", "--live", evil]]:
            self.run_tool(*arguments, good=False)

    def test_damaged_log(self):
        data = bytearray(pathlib.Path(self.log).read_bytes())
        data[len(data) // 2] ^= 0xFF
        pathlib.Path(self.log + "x").write_bytes(data)
        for verb in ["summary", "info", "check", "trace"]:
            done = subprocess.run([TOOL, verb, self.log + "x"], env=self.env,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            self.look(done.stdout + done.stderr, verb)

    def test_uuid_of_a_header(self):
        data = bytearray(pathlib.Path(self.log).read_bytes())
        for number in range(2):
            copy = bytearray(data)
            copy[16:48] = b"\x1b[31m" + bytes([0x30 + number]) * 27
            pathlib.Path("h%d.pplog" % number).write_bytes(copy)
        for verb in ["info", "check"]:
            done = subprocess.run([TOOL, verb, "h0.pplog", "h1.pplog"],
                                  env=self.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            self.look(done.stdout + done.stderr, verb)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
