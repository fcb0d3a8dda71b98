#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""marked_test.py TOOL MAKE_PAGE_LOG [TEST...]: what stands out in the page's timeline."""
import base64
import json
import pathlib
import re
import sys
import unittest
import zlib

from page_test import PageCase, html, html_of_trace, make, report_of, setUpModule, tearDownModule

__all__ = ["setUpModule", "tearDownModule"]  # unittest calls them


class TraceTest(PageCase):
    def test_colours_stand_out_in_the_dark(self):
        page = self.open(html_of_trace("colours", [
            {"name": chr(97 + at // 8) + chr(97 + at % 8) + "_of", "ph": "X", "pid": 1, "tid": 1,
             "ts": 10 * at, "dur": 9}
            for at in range(60)]))
        bars = page.js("[...document.querySelectorAll('table.time .bar:not(.waits)')].map("
                       "b => getComputedStyle(b).backgroundColor)")
        self.assertGreater(len(bars), 40)
        for bar in bars:
            self.assertGreaterEqual(max(map(int, re.findall(r"\d+", bar)[:3])), 135, bar)
        self.assertEqual(["whole run"], page.js(
            "[...document.querySelectorAll('.bar-of-tools button')].map(b => b.textContent)"))

    def test_the_mini_map_of_a_host_shows_its_threads(self):
        calls = [("outer", 1, 0, 1000), ("inner", 1, 250, 250), ("other", 2, 0, 1000)]
        page = self.open(html_of_trace("host", [
            {"name": name, "ph": "X", "pid": 1, "tid": tid, "ts": ts, "dur": dur}
            for name, tid, ts, dur in calls]))
        # Two ranges are open at 0.1 and 0.7 ms, three at 0.4.
        self.assertEqual([[False, False, True], [True, True, True]], page.js(
            "(t => [5, 15].map(y => [0.1, 0.7, 0.4].map(part => t.map.getContext('2d')"
            ".getImageData(t.drawing.labels + (t.drawing.width - t.drawing.labels) * part, y, 1, 1)"
            ".data[0] < 225)))(document.body.timeline)"))

    def test_long_names_fit_a_phone_with_their_ends(self):
        family = "evaluate_function_of_the_automatic_differentiation_"
        names = [family + end for end in ("forward_of_one", "backward_of_it")]
        page = self.open(html_of_trace("long", [
            {"name": name, "ph": "X", "cat": "kernel", "pid": 0, "tid": 3, "ts": 100 * at, "dur": 90,
             "args": {"device": 0, "stream": 3}}
            for at, name in enumerate(20 * names)]), width=390, height=844)
        self.assertLessEqual(page.js("document.documentElement.scrollWidth"), 390)
        ends = page.js("[...document.querySelectorAll('#device .key .tail')].filter("
                       "e => e.getBoundingClientRect().right <= 390).map(e => e.textContent)")
        self.assertEqual(["backward_of_it", "forward_of_one"], sorted(ends))


class MarkedTest(PageCase):
    """What make_page_log plants: see make_machine and make_troubled there."""
    BANDS = [["power-cap", 0, 0, 500, 1000], ["heat", 0, 0, 1200, 1300],
             ["quota", 0, 0, 1400, 1500], ["stood-still", 0, 0, 1700, 1800]]

    # The colours of a line of points.
    LINE = ("(y => { const t = document.body.timeline; const data = t.drawing.context.getImageData("
            "0, y, t.drawing.width, 1).data; return Array.from({length: t.drawing.width}, "
            "(_, x) => data.slice(4 * x, 4 * x + 4).join()); })")

    def troubled(self):
        return self.open(html(make("troubled", 2000)))

    def test_bands_are_those_of_the_findings(self):
        log = make("troubled", 2000)
        text = pathlib.Path(html(log)).read_text()
        packed = text.split('id="picture">')[1].split("</script>")[0]
        picture = json.loads(zlib.decompress(base64.b64decode(packed)))
        bands = [[*band[:3], *(ns / 1e6 for ns in band[3:])] for band in picture["bands"]]
        self.assertEqual(self.BANDS, bands)
        self.assertEqual(0, picture["bands_left_out"])
        sums = [[cause, num, ns / 1e6] for cause, _, num, ns in picture["causes"]]
        self.assertEqual([["power-cap", 1, 500], ["heat", 1, 100], ["quota", 1, 50],
                          ["stood-still", 1, 40]], sums)
        found = {one["id"]: one["values"] for one in report_of(log)["findings"]}
        for cause, _, ms in sums[:2]:
            self.assertEqual(ms * 1e6, next(value["value"] for value in found[cause]
                                            if value["name"] == "time"))

    def test_bands_are_painted_and_named(self):
        page = self.troubled()
        legend = page.js("document.querySelector('.legend').textContent")
        for text in ("power cap of gpu:0: 500 ms in 1", "quota: 50.0 ms in 1"):
            self.assertIn(text, legend)
        at = ("(ms => { const t = document.body.timeline; return t.itemAt("
              "t.drawing.x(t.picture.start + ms * 1e6), 18 + 2 + 8); })")
        self.assertEqual("power cap of gpu:0", page.js(
            f"document.body.timeline.words({at}(700))[0]"))
        self.assertIsNone(page.js(f"{at}(400)"))
        # Behind the rows, between two of them.
        colours = page.js(
            "(() => { const t = document.body.timeline; t.paint(); const line = "
            f"{self.LINE}(t.tops[1] - 4); return [400, 700].map(ms => "
            "line[Math.floor(t.drawing.x(t.picture.start + ms * 1e6))]); })()")
        self.assertEqual("255,255,255,255", colours[0])
        self.assertNotEqual(*colours)
        page.js("document.querySelector('[data-cause=quota]').click()")
        self.assertEqual([1300, 1600], page.js(
            "(t => [(t.from - t.picture.start) / 1e6, (t.to - t.picture.start) / 1e6])"
            "(document.body.timeline)"))
        self.sound(page)

    def test_a_wait_is_hatched_and_leads_to_its_end(self):
        page = self.troubled()
        x, y = page.js(
            "(() => { const t = document.body.timeline; t.show(t.picture.start + 7e6, "
            "t.picture.start + 9e6); t.paint(); t.canvas.scrollIntoView(); const box = "
            "t.canvas.getBoundingClientRect(); const row = t.rows.findIndex(r => r.row.name === "
            "'worker 1'); return [box.left + t.drawing.x(t.picture.start + 7.5e6), box.top + "
            "t.tops[row] + 17 + 8]; })()")
        page.mouse("mouseMoved", x, y)
        self.assertIn("ended by worker 2 in resize",
                      page.js("document.querySelector('.tip').textContent"))
        hatched = page.js(f"new Set({self.LINE}(document.body.timeline.tops[0] + 17 + 14)"
                          f".slice({int(x)}, {int(x) + 12})).size")
        self.assertGreater(hatched, 1)
        page.mouse("mousePressed", x, y, button="left", clickCount=1)
        page.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.assertEqual(["resize", 7, 7.599], page.js(
            "(t => [t.chosen.event.name, (t.chosen.from - t.picture.start) / 1e6, "
            "(t.chosen.to - t.picture.start) / 1e6])(document.body.timeline)"))
        self.assertGreater(page.js("(t => t.placeOf(t.chosen.event, Boolean(t.chosen.onDevice)))"
                                   "(document.body.timeline)"), 18)
        said = page.js("document.body.timeline.said.textContent")
        self.assertIn("worker 2 ended `wait for lock` after 550 us", said)
        self.sound(page)

    def test_what_limits_is_marked(self):
        marked = ("document.body.timeline.rows.filter(r => r.limits).map(r => r.row.name)")
        page = self.troubled()
        self.assertEqual(["worker 2"], page.js(marked))
        self.assertIn("◆ limits the run", page.js("document.querySelector('.legend').textContent"))
        log = make("service", 900)
        page = self.open(html(log))
        self.assertEqual(["classify"], report_of(log)["limit"]["names"])
        self.assertEqual({"post", "worker 1", "worker 2", "t5", "t6", "t7"}, set(page.js(marked)))
        self.assertEqual(["classify"], page.js("[...document.querySelectorAll('tr.limits')]"
                                               ".map(r => r.dataset.server)"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
