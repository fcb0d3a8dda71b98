#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_test.py TOOL MAKE_PAGE_LOG: the page of `pprof-report html` in a browser without a network.

Its figures are those of -f json, names act on nothing, keys reach everything."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

import browser

TOOL, MAKE_LOG = (os.path.abspath(path) for path in sys.argv[1:3])
AXE = os.path.expanduser("~/.cache/pprof/axe_playwright_python-0.1.8-py3-none-any.whl")
HOSTILE = 200 if os.environ.get("PPROF_TEST_LONG") else 12


class Shared:
    """One browser, and one log, for all tests."""
    browser = folder = log = page = None


def setUpModule():
    Shared.folder = tempfile.TemporaryDirectory()
    Shared.browser = browser.Browser()
    Shared.log = make("requests", 60)
    Shared.page = html(Shared.log)


def tearDownModule():
    Shared.browser.close()
    Shared.folder.cleanup()


def make(kind, number):
    path = os.path.join(Shared.folder.name, f"{kind}{number}.pplog")
    subprocess.run([MAKE_LOG, kind, path, str(number)], check=True)
    return path


def html(log):
    subprocess.run([TOOL, "html", log], check=True, stderr=subprocess.DEVNULL)
    return log[:-len(".pplog")] + ".html"


def report(*options):
    done = subprocess.run([TOOL, *options, "-f", "json", Shared.log], check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def axe():
    if not os.path.exists(AXE):
        raise AssertionError(f"no {AXE}: `./dev test` fetches it")
    with zipfile.ZipFile(AXE) as wheel:
        return wheel.read("axe_playwright_python/axe.min.js").decode()


class PageCase(unittest.TestCase):
    def open(self, path=None, **options):
        page = Shared.browser.open(path or Shared.page, **options)
        self.addCleanup(page.close)
        return page

    def sound(self, page):
        """Nothing went wrong in it, and it asked for nothing but itself."""
        self.assertEqual([], page.wrong)
        self.assertEqual({page.address.split("#")[0]}, set(page.asked))


class FirstScreenTest(PageCase):
    def test_answer_and_findings(self):
        page, want = self.open(), report()
        self.assertEqual(want["answer"], page.js(
            "document.querySelector('p.answer').textContent"))
        shown = page.js("[...document.querySelectorAll('[data-finding]')]"
                        ".map(e => [e.dataset.finding, e.dataset.kind, e.textContent])")
        self.assertEqual([(f["id"], f["kind"]) for f in want["findings"]],
                         [(id, kind) for id, kind, _ in shown])
        for finding, (_, _, text) in zip(want["findings"], shown):
            self.assertIn(finding["text"], text)
            self.assertIn(finding["next"], text)
        self.sound(page)

    def test_is_answered_without_scrolling(self):
        page = self.open()
        bottom = page.js("[...document.querySelectorAll('.answer, #time thead')]"
                         ".map(e => e.getBoundingClientRect().bottom)")
        self.assertLess(max(bottom), 800)
        wide = page.js("document.documentElement.scrollWidth")
        self.assertLessEqual(wide, 1280)

    def test_fits_a_phone(self):
        page = self.open(width=390, height=844)
        self.assertLessEqual(page.js("document.documentElement.scrollWidth"), 390)
        self.sound(page)

    def test_shares_are_those_of_the_report(self):
        page, answer = self.open(), report()["views"]["answer"]
        names = [column["name"] for column in answer["columns"]]
        want = [(row[names.index("name")], row[names.index("time_avg")]) for row in answer["rows"]]
        shown = page.js("[...document.querySelectorAll('#time [data-row]')].map(e => "
                        "[e.dataset.row, e.querySelector('[data-column=time_avg]').title])")
        self.assertEqual([(name, f"{value}") for name, value in want],
                         [(name, title.rsplit(": ", 1)[1]) for name, title in shown])

    def test_trust_line(self):
        shown = self.open().js("document.getElementById('trust').textContent")
        text = subprocess.run([TOOL, Shared.log], check=True, stdout=subprocess.PIPE).stdout.decode()
        self.assertIn(shown.strip(), " ".join(text.split()))


class TablesTest(PageCase):
    def test_every_cell_is_that_of_json(self):
        page = self.open()
        shown = page.js(
            "(() => { const all = {}; for (const view of document.querySelectorAll('[data-view]'))"
            "{ if (view.fill) view.fill(); all[view.dataset.view] = [...view.querySelectorAll("
            "'tbody tr')].map(row => [...row.querySelectorAll('[data-cell]')].map("
            "cell => cell.dataset.cell)); } return all; })()")
        wanted = {}
        for options in ([], ["--view", "stages,requests"], ["--tree"]):
            wanted.update(report(*options)["views"])
        self.assertEqual(sorted(wanted), sorted(shown))
        cells = 0
        for name, view in wanted.items():
            used = [at for at, _ in enumerate(view["columns"])
                    if any(row[at] is not None for row in view["rows"])]
            rows = [[row[at] for at in used] for row in view["rows"]]
            self.assertEqual(len(rows), len(shown[name]), name)
            for want, got in zip(rows, shown[name]):
                self.assertEqual([None if text == "" else text for text in got],
                                 [None if value in (None, "") else page_text(value)
                                  for value in want], name)
                cells += len(want)
        self.assertGreater(cells, 500)
        self.sound(page)

    def test_heads_sort(self):
        page = self.open()
        page.js("document.querySelectorAll('[data-view]').forEach(v => { if (v.fill) {"
                "v.open = true; v.fill(); } })")
        times = page.js(
            "(() => { const view = document.querySelector('[data-view=stages]');"
            "const heads = [...view.querySelectorAll('button.sort')];"
            "const at = heads.findIndex(h => h.textContent.startsWith('max'));"
            "heads[at].click(); return [...view.querySelectorAll('tbody tr')].map("
            "row => Number(row.children[at].firstChild.dataset.cell)); })()")
        self.assertEqual(sorted(times, reverse=True), times)
        self.assertGreater(len(times), 3)


def page_text(value):
    """As JavaScript prints a number."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else repr(value)


class SafeTest(PageCase):
    def test_names_are_text(self):
        for number in range(HOSTILE):
            page = Shared.browser.open(html(make("hostile", number)))
            self.sound(page)
            self.assertFalse(page.js("document.title.includes('owned')"))
            self.assertEqual(0, page.js(
                "document.querySelectorAll('main img, main b b, main script, main iframe').length"))
            page.close()

    def test_policy_forbids_what_it_says(self):
        page = self.open()
        page.js("fetch('https://example.org/').catch(() => 0)")
        page.js("(() => { const s = document.createElement('script');"
                "s.textContent = 'document.title=1'; document.body.append(s); })()")
        self.assertNotEqual("1", page.js("document.title"))
        self.assertIn("EvalError", page.js("eval('1')", fails=True))
        self.assertTrue([text for text in page.wrong if "Content Security Policy" in text])

    def test_policy_is_strict(self):
        text = pathlib.Path(Shared.page).read_text()
        self.assertIn("default-src 'none'", text)
        self.assertNotIn("unsafe", text.split("</head>")[0].split("<style>")[0])


class ReachTest(PageCase):
    def test_axe_finds_nothing_serious(self):
        for dark in (False, True):
            page = self.open(dark=dark)
            page.js("document.querySelectorAll('details').forEach(d => { d.open = true;"
                    "if (d.fill) d.fill(); })")
            page.js(axe() + ";0")
            found = page.js("axe.run().then(r => r.violations.filter(v => "
                            "['serious', 'critical'].includes(v.impact)).map(v => "
                            "v.id + ': ' + v.nodes.map(n => n.html).slice(0, 3).join(' | ')))")
            self.assertEqual([], found)

    def test_keys_pin_a_stage(self):
        page = self.open()
        page.js("document.querySelector('#time button.stage').focus()")
        name = page.js("document.activeElement.textContent")
        page.key("Enter")
        self.assertEqual(name, page.js(
            "new URLSearchParams(location.hash.slice(1)).get('stage')"))
        self.assertEqual("true", page.js("document.activeElement.getAttribute('aria-pressed')"))

    def test_the_address_holds_the_view(self):
        page = self.open(fragment="#stage=decode&theme=dark")
        self.assertEqual("dark", page.js("document.documentElement.dataset.theme"))
        self.assertEqual(["decode"], page.js(
            "[...new Set([...document.querySelectorAll('.is-lit')].map(e => e.dataset.stage))]"))

    def test_a_bare_log_says_what_is_missing(self):
        page = self.open(html(make("bare", 1)))
        self.sound(page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
