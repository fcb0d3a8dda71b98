#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_test.py TOOL MAKE_PAGE_LOG [TEST...]: the page of `pprof-report html` in a browser without a network.

Its figures are those of -f json, names act on nothing, keys reach everything."""
import base64
import html as html_module
import itertools
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
LONG = os.environ.get("PPROF_TEST_LONG")
HOSTILE = 200 if LONG else 12
MANY = 10_000_000 if LONG else 400_000


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
    subprocess.run([TOOL, "html", "--force", log], check=True, stderr=subprocess.DEVNULL)
    return log[:-len(".pplog")] + ".html"


def html_of_trace(name, events):
    trace = os.path.join(Shared.folder.name, name + ".json")
    pathlib.Path(trace).write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    subprocess.run([TOOL, "html", trace], check=True, stderr=subprocess.DEVNULL)
    return trace + ".html"


def report_of(log, *options):
    return json.loads(subprocess.check_output([TOOL, *options, "-f", "json", log]))


def report(*options):
    return report_of(Shared.log, *options)


def axe():
    with zipfile.ZipFile(AXE) as wheel:  # `./dev test` fetches it
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
        self.assertEqual("Next: " + want["next"], page.js(
            "document.querySelector('p.next').textContent"))
        shown = page.js("[...document.querySelectorAll('[data-finding]')]"
                        ".map(e => [e.dataset.finding, e.dataset.kind, e.textContent])")
        findings = [finding for finding in want["findings"] if finding["number"]]
        self.assertEqual([[f["id"], f["kind"]] for f in findings], [one[:2] for one in shown])
        for finding, (_, _, text) in zip(findings, shown):
            self.assertTrue(text.startswith(f"{finding['number']} {finding['id']} "), text)
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

    def test_small_ones_are_as_many_as_in_the_text(self):
        log = make("parts", 50)
        page = self.open(html(log))
        text = subprocess.run([TOOL, log], check=True, stdout=subprocess.PIPE).stdout.decode()
        self.assertIn("\n4 below 1 % ", text)
        self.assertIn("4 below 1 %", page.js("document.querySelector('#time .more').textContent"))
        hidden = ("[...document.querySelectorAll('#time tbody tr')].filter("
                  "e => !e.checkVisibility()).length")
        self.assertEqual(4 + 8, page.js(hidden))
        page.js("document.querySelector('#time .more').click()")
        self.assertEqual(0, page.js(hidden))

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


def cells(view, **named):
    """Rows of a view as dictionaries, those that have these values."""
    heads = [column["name"] for column in view["columns"]]
    rows = [dict(zip(heads, row)) for row in view["rows"]]
    return [row for row in rows if all(row[key] == value for key, value in named.items())]


BANDS = ["time", "timeline", "requests", "spread", "device", "queue", "slows", "inside", "tables"]


class PicturesTest(PageCase):
    def test_each_band_asks_its_question(self):
        page = self.open()
        heads = page.js("[...document.querySelectorAll('section.band')].map(e => "
                        "[e.id, e.querySelector('h2').textContent])")
        self.assertEqual([name for name in BANDS if name != "slows"], [name for name, _ in heads])
        self.assertTrue(all(text for _, text in heads))
        self.assertEqual(["slows"], page.js(
            "[...document.querySelectorAll('#missing .missing')].map(e => e.id)"))
        self.sound(page)

    def test_requests_are_those_of_the_view(self):
        whole, = cells(report("--view", "requests")["views"]["requests"], name="(request)")
        requests = self.open().js("document.body.timeline.picture"
                                  ".requests.map(r => [r.what, r.length])")
        self.assertEqual([["p50", whole["p50"]], ["max", whole["max"]]], requests)

    def test_moments_of_a_strip_add_up_as_the_report_has_them(self):
        found = self.open().js(
            "document.body.timeline.picture.requests.map(r => {"
            "const sum = {queue: r.queue, hop: r.hop};"
            "for (const c of r.cells) sum[c.name] = (sum[c.name] || 0) + c.own + c.contended;"
            "return sum; })")
        drawn = self.open().js(
            "[...document.querySelectorAll('[data-request]')].map(r => r.moments.reduce("
            "(sum, m) => { const key = !m.part ? 'hop' : m.part.kind === 'wait' ? 'queue' "
            ": m.part.name; sum[key] = (sum[key] || 0) + m.to - m.from; return sum; }, {}))")
        self.assertEqual(2, len(drawn))
        for want, got in zip(found, drawn):
            self.assertEqual({name: ns for name, ns in want.items() if ns}, got)

    def test_distributions_have_every_call(self):
        stages = report("--view", "stages")["views"]["stages"]
        spreads = self.open().js(
            "document.body.timeline.picture.spreads.map(s => "
            "[s.name, s.timed, s.all.reduce((n, c) => n + c[1], 0), "
            "s.steady.reduce((n, c) => n + c[1], 0)])")
        for row in cells(stages):
            self.assertIn([row["name"], row["timed"], row["calls"], row["steady_calls"]], spreads)

    def test_idle_is_by_reason(self):
        device, = [d for d in report()["identity"]["devices"] if d["busy_ns"]]
        widths = self.open().js(
            "[...document.querySelectorAll('#device .part')].map(e => "
            "[e.classList[1], parseFloat(e.style.width)])")
        for reason, width in widths:
            self.assertAlmostEqual(100 * device[reason] / device["wall_ns"], width, places=3)
        self.assertEqual([key for key in ("busy_ns", "not_submitted_ns", "queued_ns",
                                          "unresolved_ns", "no_more_work_ns") if device[key]],
                         [reason for reason, _ in widths])

    def test_states_over_time_add_up_to_the_identity(self):
        device, = [d for d in report()["identity"]["devices"] if d["busy_ns"]]
        page = self.open()
        shown = page.js(
            "Object.fromEntries(document.body.timeline.series.filter(s => s.state).map(s => "
            "[s.state, s.sum * document.body.timeline.picture.moment]))")
        wanted = [key for key in ("busy_ns", "not_submitted_ns", "queued_ns",
                                  "unresolved_ns", "no_more_work_ns") if device[key]]
        self.assertEqual(set(wanted), set(shown))
        self.assertGreater(len(wanted), 2)
        for key in wanted:
            self.assertAlmostEqual(device[key], shown[key], delta=0.001 * device["wall_ns"],
                                   msg=key)
        self.assertEqual(wanted, page.js("[...document.querySelectorAll('#device [data-state]')]"
                                       ".map(e => e.dataset.state)"))

    def test_longest_path_has_what_the_report_has(self):
        found = self.open().js(
            "(() => { const picture = document.body.timeline.picture;"
            "return picture.requests.map(r => [r.path.map(([stage, device, from, to]) => "
            "[picture.stages[stage][0], device, from, to]), r.cells.filter(c => c.critical)"
            ".map(c => [c.name, c.device, c.critical])]); })()")
        self.assertEqual(2, len(found))
        for path, cells_of in found:
            sums, end = {}, 0
            for name, device, start, to in path:
                self.assertGreaterEqual(start, end)
                sums[name, device] = sums.get((name, device), 0) + to - start
                end = to
            self.assertEqual({(name, device): ns for name, device, ns in cells_of}, sums)

    def test_sums_over_time_are_the_device_s_work(self):
        queue = report()["views"]["queue"]
        busy = self.open().js(
            "Object.fromEntries(document.body.timeline.series.filter(s => s.kind === 'busy')"
            ".map(s => [s.name, s.sum * document.body.timeline.picture.moment]))")
        for row in cells(queue):
            self.assertAlmostEqual(row["device_total"], busy[row["name"]],
                                   delta=0.01 * row["device_total"])
        self.assertEqual(4, len(busy))

    def test_many_ranges_make_a_small_file(self):
        path = html(make("many", MANY))
        self.assertLess(os.path.getsize(path), 1_000_000)
        page = self.open(path)
        self.sound(page)
        shown = page.js(
            "document.body.timeline.rows.reduce((n, row) => n + row.tracks.reduce((m, t) => m + "
            "t.items.length + (t.bins ? t.bins.levels[0].num.reduce((a, b) => a + b, 0) : 0), 0),"
            "0)")
        # One event in eleven is a device range, and in two rows.
        self.assertEqual(MANY + (MANY - 10) // 11 + 1, shown)

    def test_what_is_left_out_is_counted(self):
        letters = [chr(97 + at) for at in range(20)]
        page = self.open(html_of_trace("places", [
            {"ph": "X", "name": a + b + c, "pid": 1, "tid": 1, "ts": at, "dur": 1}
            for at, (a, b, c) in enumerate(itertools.product(letters, repeat=3))]))
        self.assertEqual(
            ["The greatest 4 096 of 8 000 rows. All: pprof-report --tree LOG"],
            page.js("[...document.querySelectorAll('#inside [data-left-out]')]"
                    ".map(e => e.textContent)"))
        self.sound(page)

    def test_steps_have_no_requests(self):
        made = [event for start in range(0, 4000, 100) for event in (
            ("user_annotation", "ProfilerStep#1", "X", 1, start, 90),
            ("cpu_op", "aten::mm", "X", 1, start + 5, 40),
            ("cpu_op", "MmBackward0", "X", 2, start + 50, 30),
            ("fwdbwd", "fwdbwd", "s", 1, start + 6, 0),
            ("fwdbwd", "fwdbwd", "f", 2, start + 51, 0))]
        events = [dict(zip(("cat", "name", "ph", "tid", "ts", "dur"), event), pid=1, bp="e",
                       id=event[4] // 100) for event in made]
        page = self.open(html_of_trace("steps", events))
        self.assertEqual([0, 0], page.js(
            "[document.body.timeline.picture.requests.length, document.body.timeline.series"
            ".filter(s => s.kind === 'requests').length]"))
        self.sound(page)

    def test_code_is_small(self):
        text = pathlib.Path(Shared.page).read_text()
        style = text.split("<style>")[1].split("</style>")[0]
        script = text.split("<script>")[1].split("</script>")[0]
        self.assertLess(len(style) + len(script), 200_000)

    def test_every_picture_is_painted(self):
        for name, width in (("wide", 1280), ("phone", 390)):
            page = self.open(width=width)
            height = page.js("document.body.scrollHeight")
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=False)
            page.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            small = base64.b64decode(Shared.browser.shrunk(page.picture(), 6))
            golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden",
                                  name + ".png")
            if os.environ.get("SET_EXACT_OUTPUT"):
                os.makedirs(os.path.dirname(golden), exist_ok=True)
                pathlib.Path(golden).write_bytes(small)
            outputs = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
            if outputs:
                pathlib.Path(outputs, name + ".png").write_bytes(small)
            far = Shared.browser.difference(small, pathlib.Path(golden).read_bytes())
            self.assertLess(far, 0.02, name)


class CompareTest(PageCase):
    def compared(self, *logs):
        path = os.path.join(Shared.folder.name, f"compare{len(logs)}.html")
        command = [TOOL, "compare", "--force", "--fail-on", "none"] if len(logs) == 2 else [
            TOOL, "compare", "--force"]
        done = subprocess.run([*command, "--html", path, "-f", "json", *logs], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return self.open(path), json.loads(done.stdout)

    def test_two_are_a_forest(self):
        page, compare = self.compared(make("requests", 200), make("requests", 220))
        rows = cells(compare)
        shown = page.js("[...document.querySelectorAll('tr[data-compare]')].map(r => "
                        "[r.dataset.compare, r.children[1].className.split(' ').pop(), "
                        "r.children[4].title, r.children[5].title, r.children[6].title])")
        self.assertEqual([[row["name"], row["verdict"], page_text(row["a"]), page_text(row["b"]),
                           "" if row["detectable"] is None else page_text(row["detectable"])]
                          for row in rows], shown)
        self.assertGreater(len(rows), 5)
        # A change of 0 is in the middle; the interval is to the scale of its ends.
        spans = page.js(
            "[...document.querySelectorAll('tr[data-compare]')].map(r => { const i = "
            "r.querySelector('.interval'); return i && [parseFloat(i.style.left), "
            "parseFloat(i.style.width)]; })")
        told = [(row, span) for row, span in zip(rows, spans) if row["change"] is not None]
        widest = max(abs(row[key]) for row in rows for key in (
            "change_low", "change_high", "detectable", "threshold") if row[key] is not None)
        most = min(200, max(5, widest) * 1.08)
        for row, (left, _) in told:
            self.assertAlmostEqual(50 + 50 * row["change_low"] / most, left, places=3)
        self.assertTrue(told)
        self.sound(page)

    def test_samples_are_all_in_the_distributions(self):
        page, compare = self.compared(make("requests", 200), make("requests", 220))
        spreads = page.js("JSON.parse(document.getElementById('spreads').textContent).map(s => "
                          "[s.input, s.name, s.all.reduce((n, c) => n + c[1], 0)])")
        for row in cells(compare):
            self.assertIn([0, row["name"], row["samples_a"]], spreads)
            self.assertIn([1, row["name"], row["samples_b"]], spreads)

    def test_more_are_ranked(self):
        page, compare = self.compared(make("requests", 200), make("requests", 220), Shared.log)
        shown = page.js("[...document.querySelectorAll('table.ranking tbody tr')].map(r => "
                        "[r.children[0].textContent, r.children[2].title])")
        self.assertEqual([[row["input"], page_text(row["time"])] for row in cells(compare)], shown)
        self.sound(page)

    def test_names_are_text(self):
        page, _ = self.compared(make("hostile", 1), make("hostile", 1))
        self.sound(page)
        self.assertEqual(0, page.js("document.querySelectorAll('main img, main script').length"))


class TimelineTest(PageCase):
    def span(self, page):
        return page.js("document.body.timeline.to - document.body.timeline.from")

    def test_opens_at_the_slowest_request(self):
        whole, = cells(report("--view", "requests")["views"]["requests"], name="(request)")
        page = self.open()
        self.assertAlmostEqual(1.16 * whole["max"], self.span(page), delta=2)

    def rows(self, page):
        return page.js("document.body.timeline.rows.map(r => [r.row.name, r.isFolded])")

    def test_what_ends_anywhere_is_folded_by_name(self):
        page = self.open(html(make("service", 1500)))
        rows = self.rows(page)
        self.assertEqual(["in the queue", "request"], [name for name, folded in rows if folded])
        # First the thread that had most of the longest paths.
        self.assertEqual((1, False), (page.js("document.body.timeline.rows[0].order"), rows[0][1]))
        # Requests come 300 at a time.
        most = page.js("document.body.timeline.rows.find(r => r.isFolded).most")
        self.assertTrue(200 < most <= 300, most)
        x, y = page.js(
            "(() => { const t = document.body.timeline; t.canvas.scrollIntoView();"
            "const box = t.canvas.getBoundingClientRect(); return [box.left + 20, box.top + "
            "t.tops[t.rows.findIndex(r => r.isFolded)] - t.scroll + 8]; })()")
        page.mouse("mousePressed", x, y, button="left", clickCount=1)
        page.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.assertEqual(["request"], [name for name, folded in self.rows(page) if folded])
        self.sound(page)

    def test_no_row_runs_into_the_axis(self):
        page = self.open(html(make("service", 1500)))
        axis = ("(() => { const t = document.body.timeline; t.paint(); return t.drawing.context"
                ".getImageData(0, 0, t.canvas.width, 18).data.join(); })()")
        page.js("document.body.timeline.foldAll()")
        before = page.js(axis)
        page.js("new Promise(done => { const t = document.body.timeline; t.box.scrollTop = 133;"
                "requestAnimationFrame(() => requestAnimationFrame(done)); })")
        self.assertEqual(133, page.js("document.body.timeline.scroll"))
        self.assertEqual(before, page.js(axis))

    def test_keys_zoom_pan_and_search(self):
        page = self.open()
        page.js("document.querySelector('canvas.timeline').focus()")
        before = self.span(page)
        page.key("w", "KeyW")
        self.assertAlmostEqual(0.7 * before, self.span(page), delta=1)
        at = page.js("document.body.timeline.from")
        page.key("d", "KeyD")
        self.assertGreater(page.js("document.body.timeline.from"), at)
        page.key("/", "Slash")
        self.assertEqual("search", page.js("document.activeElement.type"))
        for letter in "post":
            page.key(letter)
        page.key("Enter")
        self.assertIn("1 of 60: post", page.js("document.body.timeline.said.textContent"))
        page.key("n", "KeyN")
        self.assertIn("2 of 60: post", page.js("document.body.timeline.said.textContent"))
        page.key("Escape")
        self.assertEqual("", page.js("document.body.timeline.said.textContent"))
        self.sound(page)

    def test_the_pointer_says_what_it_is_on(self):
        page = self.open()
        x, y = page.js(
            "(() => { const t = document.body.timeline; document.getElementById('timeline')"
            ".scrollIntoView(); const row = t.rows.findIndex(r => "
            "r.row.kind === 'stream'); const item = t.rows[row].tracks[0].items.find(i => "
            "i.from > t.from && i.event.name === 'detect'); const box = t.canvas."
            "getBoundingClientRect(); return [box.left + t.drawing.x((item.from + item.to) / 2), "
            "box.top + t.tops[row] - t.scroll + 8]; })()")
        page.mouse("mouseMoved", x, y)
        text = page.js("document.querySelector('.tip').textContent")
        self.assertIn("detect", text)
        self.assertIn("on the device", text)
        self.assertIn("60 calls: p50", text)
        self.assertIn("of its calls", text)

    def test_a_selection_is_summed(self):
        page = self.open()
        rows = page.js(
            "(() => { const t = document.body.timeline; t.selection = [t.picture.start, "
            "t.picture.end]; t.sum(); return [...t.panel.querySelectorAll('tbody tr')].map(r => "
            "[...r.children].slice(0, 3).map(c => c.textContent)); })()")
        stages = report("--view", "stages")["views"]["stages"]
        for row in cells(stages):
            self.assertIn([row["name"], row["timed"], str(row["calls"])], rows)

    def test_the_address_holds_the_stretch(self):
        page = self.open(fragment="#from=30000000&to=40000000")
        self.assertEqual([30000000, 40000000], page.js(
            "[document.body.timeline.from, document.body.timeline.to]"))


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
    def test_axe_finds_nothing(self):
        """Memory freed outside of every range has a row without a name."""
        event = {"pid": 1, "tid": 1, "cat": "cpu_op", "name": "one", "ph": "X", "ts": 100, "dur": 50}
        free = dict(event, cat="cpu_instant_event", name="[memory]", ph="i", s="t", ts=200, args={
            "Bytes": -4096, "Device Type": 0, "Device Id": -1, "Total Allocated": 4096})
        freed = html_of_trace("freed", [event, free])
        for path, dark in ((Shared.page, False), (Shared.page, True), (freed, False)):
            page = self.open(path, dark=dark)
            page.js("document.querySelectorAll('details').forEach(d => {d.open = true; d.fill?.()})")
            page.js(axe() + ";0")
            self.assertEqual([], page.js("axe.run().then(r => r.violations.map(v => v.id + ': ' + "
                                         "v.nodes.map(n => n.html).slice(0, 3).join(' | ')))"))

    def test_keys_pin_a_stage(self):
        page = self.open()
        page.js("document.querySelector('#time button.stage').focus()")
        name = page.js("document.activeElement.textContent")
        page.key("Enter")
        self.assertEqual(name, page.js(
            "new URLSearchParams(location.hash.slice(1)).get('stage')"))
        self.assertEqual("true", page.js("document.activeElement.getAttribute('aria-pressed')"))

    def test_the_theme_that_is_there_is_not_offered(self):
        for dark, offered in ((False, "dark"), (True, "light")):
            self.assertEqual(offered, self.open(dark=dark).js(
                "document.querySelector('button.theme').textContent"))

    def test_works_in_the_frame_of_a_notebook(self):
        path = os.path.join(Shared.folder.name, "notebook.html")
        text = html_module.escape(pathlib.Path(Shared.page).read_text())
        pathlib.Path(path).write_text("<!doctype html><body data-drawn=1><iframe width=1200 "
                                      f"height=780 srcdoc=\"{text}\"></iframe>")
        page = self.open(path)
        page.js("new Promise(done => { const look = () => frames[0].document.body?.dataset.drawn"
                " ? done() : setTimeout(look, 10); look(); })")
        self.assertEqual(["decode"], page.js(
            "(() => { const inner = frames[0].document; inner.querySelector("
            "'#time [data-row=decode] button').click(); inner.querySelector('.tools button')"
            ".click(); return [...new Set([...inner.querySelectorAll('.is-lit')]"
            ".map(e => e.dataset.stage))]; })()"))
        self.assertEqual("dark", page.js("frames[0].document.documentElement.dataset.theme"))
        self.assertEqual([], page.wrong)

    def test_tables_are_copied_as_markdown(self):
        page = self.open()
        page.js("Object.defineProperty(navigator, 'clipboard', {value: {writeText: text => "
                "{ window.copied = text; return Promise.resolve(); }}})")
        page.js("document.querySelector('#time button.copy').click()")
        lines = page.js("window.copied").splitlines()
        answer = report()["views"]["answer"]["rows"]
        self.assertEqual(2 + len(answer), len(lines))
        self.assertEqual("| stage | where | avg (ms) | share | p50 (ms) | max (ms) |",
                         lines[0].replace("\\", ""))
        self.assertIn("decode", lines[2 + [row[0] for row in answer].index("decode")])
        page.js("document.querySelector('.tools button:last-child').click()")
        self.assertTrue(page.js("window.copied").startswith("## "))

    def test_the_address_holds_the_view(self):
        page = self.open(fragment="#stage=decode&theme=dark")
        self.assertEqual("dark", page.js("document.documentElement.dataset.theme"))
        self.assertEqual(["decode"], page.js(
            "[...new Set([...document.querySelectorAll('.is-lit')].map(e => e.dataset.stage))]"))

    def test_a_bare_log_says_what_is_missing(self):
        page = self.open(html(make("bare", 1)))
        self.sound(page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
