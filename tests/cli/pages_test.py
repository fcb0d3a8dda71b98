#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages for man and completions say what `--help` says: pages_test.py PAGES TOOL.

man's own words and those of the help are compared; the completions run in the shells that are
here."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PAGES, TOOL = (os.path.abspath(name) for name in sys.argv[1:3])


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          check=True, **options).stdout


def plain(roff):
    """The words of a page."""
    lines = [re.sub(r"^\.\w+ ?", "", line) for line in roff.splitlines()]
    text = re.sub(r"\\f[BRI]|\\&", "", "\n".join(lines))
    return text.replace("\\-", "-").replace("\\e", "\\").split()


def part(page, title):
    return page.split(".SH %s\n" % title, 1)[1].split("\n.SH ", 1)[0]


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        run(PAGES, TOOL, cls.folder)
        listed = re.findall(r"^[A-Z].*:\n((?:  .*\n)+)", run(TOOL, "--help"), re.MULTILINE)
        cls.verbs = {line.split()[0]: " ".join(line.split()[1:])
                     for line in "".join(listed).splitlines()}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def read(self, *names):
        with open(os.path.join(self.folder, *names), encoding="utf-8") as file:
            return file.read()


class Pages(Made):
    def test_a_page_for_each_verb(self):
        self.assertIn("search-batch", self.verbs)
        self.assertEqual(
            sorted(os.listdir(os.path.join(self.folder, "man/man1"))),
            sorted(["pprof-report.1"] + ["pprof-report-%s.1" % verb for verb in self.verbs]))

    def test_options_and_exit_status_are_those_of_the_help(self):
        for verb in [None, *self.verbs]:
            name = "pprof-report" + ("-" + verb if verb else "") + ".1"
            page = self.read("man/man1", name)
            text = run(TOOL, "help", "-v", *([verb] if verb else []))
            options = text.split("\nOptions:\n", 1)[1].split("\nExit status", 1)[0]
            self.assertEqual(plain(part(page, "OPTIONS")), options.split(), name)
            codes = text.split("that applies:\n", 1)[1]
            self.assertEqual(plain(part(page, "EXIT STATUS"))[4:], codes.split(), name)

    def test_help_of_a_verb_is_one_screen_with_an_example(self):
        for verb in self.verbs:
            text = run(TOOL, verb, "--help")
            self.assertLessEqual(text.count("\n"), 40, verb)
            self.assertLessEqual(max(map(len, text.splitlines())), 80, verb)
            self.assertRegex(text, "\nExample:\n  pprof-report .*%s" % ("" if verb == "summary" else verb))
            options = text.split("\nOptions:\n", 1)[1].split("\n  also", 1)[0]
            # What cannot be left out is explained, not only named.
            for name in re.findall(r"--\w+", text.partition("\n")[0]):
                self.assertIn("  %s " % name, options, verb)

    def test_details_are_those_of_the_help(self):
        for verb in self.verbs:
            page = self.read("man/man1", "pprof-report-%s.1" % verb)
            head = run(TOOL, "help", "-v", verb).split("\nOptions:\n", 1)[0].split("\n\n", 1)
            usage = head[0].replace("usage: ", "")
            self.assertEqual(plain(part(page, "SYNOPSIS")), usage.split())
            summary, _, details = head[1].partition("\n")
            self.assertEqual(plain(part(page, "NAME"))[2:], summary.split())
            if details:
                self.assertEqual(plain(part(page, "DESCRIPTION")), details.split())

    def test_keys_are_those_of_the_help(self):
        page = self.read("man/man5/pprof.yaml.5")
        self.assertEqual(plain(part(page, "KEYS")), run(TOOL, "help", "pprof.yaml").split())
        self.assertIn(".TP\n\\fBmemory_limit\\fR: size", page)

    def test_man_has_nothing_to_say(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        for folder in ("man1", "man5"):
            for name in os.listdir(os.path.join(self.folder, "man", folder)):
                path = os.path.join(self.folder, "man", folder, name)
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", path],
                                      stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)


# What is typed, and what of it is offered, or some of that.
OFFERED = [
    (["su"], {"summary"}),
    (["re"], {"recover"}),
    (["help", "tri"], {"trigger"}),
    (["summary", "--form"], {"--format"}),
    (["--thread"], {"--thread-sep"}),
    (["check", "--thread"], set()),
    (["info", "--format", ""], {"table", "json"}),
    (["info", "-f", "j"], {"json"}),
    (["x.pplog", "compare", "--metric", "p9"], {"p90", "p99"}),
    (["run", "--view", "over"], {"overview"}),
]


class Completions(Made):
    def bash(self, typed):
        script = os.path.join(self.folder, "bash-completion/completions/pprof-report")
        return set(run("bash", "--norc", "-c", """
            source "$1"; shift
            COMP_WORDS=(pprof-report "$@"); COMP_CWORD=$#
            _pprof_report; printf '%s\\n' "${COMPREPLY[@]}" """, "bash", script,
                       *typed).split())

    def fish(self, typed):
        script = os.path.join(self.folder, "fish/vendor_completions.d/pprof-report.fish")
        said = run("fish", "--no-config", "-c", 'source "%s"; complete -C "pprof-report %s"' %
                   (script, " ".join(typed)), cwd=self.folder,
                   env=dict(os.environ, HOME=self.folder))
        return {line.split("\t")[0] for line in said.splitlines()}

    def test_bash(self):
        for typed, offered in OFFERED:
            self.assertEqual(self.bash(typed), offered, typed)
        self.assertEqual(self.bash([""]), set(self.verbs))
        self.assertEqual(self.bash(["info", "--format", "=", "t"]), {"table"})
        self.assertEqual(self.bash(["info", "-o", ""]), set())

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("no fish")
        for typed, offered in OFFERED:
            self.assertEqual(self.fish(typed), offered, typed)

    def test_zsh(self):
        """Its completion hands each option with its values to zsh's own functions."""
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        script = os.path.join(self.folder, "zsh/site-functions/_pprof-report")
        said = run("zsh", "-f", "-c", """
            _arguments() { printf '%s\\n' "$@"; return 0 }
            words=(pprof-report info ''); CURRENT=3
            source "$1" """, "zsh", script).splitlines()
        self.assertIn("(-f --format)--format=[how to print it]:format:(table json)", said)
        self.assertIn("(-f --format)-f+[how to print it]:format:(table json)", said)
        self.assertNotIn("--keep[leave the spool where it is]", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
