#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""measure_frames.py PAGE [SLOW_MS]: how long a page takes to open, and its pictures a second while
a drag and a wheel pan and zoom its timeline. SLOW_MS makes each painting that much longer: a check
of the measurement."""
import os
import sys

import browser

EVENTS = 300
# The browser sends an event to the page only with its next picture. A picture counts if the
# timeline was painted in it, and the time between two is that of their frames.
WATCH = """(slow => {
  const {timeline} = document.body;
  const paint = timeline.paint;
  window.painted = [];
  timeline.paint = () => {
    const began = performance.now();
    paint.call(timeline);
    while (performance.now() - began < slow) continue;
    painted.push(document.timeline.currentTime);
  };
})"""
OPENED = """(() => {
  const [load] = performance.getEntriesByType("navigation");
  const paints = performance.getEntriesByType("paint").map(one => one.startTime);
  return [load.loadEventEnd, Math.min(performance.now(), ...paints), performance.now()];
})()"""


def drag(page, x, y, width):
    page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    for at in range(EVENTS):
        # To and fro: the picture differs each time.
        part = abs((at / 50) % 2 - 1)
        page.mouse("mouseMoved", x + width * (part - 0.5), y, button="left", buttons=1)
    page.mouse("mouseReleased", x, y, button="left", clickCount=1)


def wheel(page, x, y, _):
    for at in range(EVENTS):
        page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-40 if at // 30 % 2 else 40)


def task_s(page):
    """What the page's thread worked so far, painting and drawing."""
    return next(one["value"] for one in page.call("Performance.getMetrics")["metrics"]
                if one["name"] == "TaskDuration")


def frames(page, act):
    box = page.js("(() => { const node = document.querySelector('canvas.timeline');"
                  " node.scrollIntoView({block: 'center'});"
                  " const box = node.getBoundingClientRect();"
                  " return [box.left, box.top, box.width, box.height]; })()")
    page.js("painted.length = 0")
    before = task_s(page)
    act(page, box[0] + box[2] * 0.6, box[1] + box[3] * 0.5, box[2] * 0.3)
    busy = 1000 * (task_s(page) - before)
    painted = page.js("painted")
    between = sorted(b - a for a, b in zip(painted, painted[1:]) if b > a)
    return (1000 * len(between) / sum(between), between[len(between) // 2],
            between[len(between) * 99 // 100], busy / len(painted))


def main(path, slow="0"):
    chromium = browser.Browser()
    page = chromium.open(os.path.abspath(path))
    opened = page.js(OPENED)
    print(f"{os.path.getsize(path) / 1e6:.2f} MB; ms to loaded, first picture, all drawn:",
          *(f"{ms:.0f}" for ms in opened))
    page.call("Performance.enable")
    page.js(f"{WATCH}({float(slow)})")
    for act in (drag, wheel):
        rate, median, late, busy = frames(page, act)
        print(f"{act.__name__}: {rate:.1f} pictures a second; between two, median {median:.1f} ms, "
              f"p99 {late:.1f} ms; the page works {busy:.1f} ms for each")
    page.close()
    chromium.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
