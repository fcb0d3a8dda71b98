# SPDX-License-Identifier: Apache-2.0
"""Searches for the largest batch that a command survives: TOOL FOLDER STAGES NUMBERS COMMAND...
`pprof-report search-batch` runs this file and prints the lines that it writes, words with tabs between
them. It needs the standard library alone."""
import collections
import fnmatch
import html
import json
import math
import os
import select
import signal
import subprocess
import sys
import threading
import time

# Words of runtimes that are out of memory, in lower case.
PHRASES = (b"out of memory", b"out_of_memory", b"outofmemory", b"bad_alloc", b"resource_exhausted",
           b"cannot allocate memory", b"memoryerror")
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 5
KNEE = 0.9
MOST_TIMES = 1 << 20

# `batches`, `span_ns` (of the longest run), `p50_ns` and `p99_ns` come from the logs, without the first
# batch of each run, unless it is the only one. runs 0: they are unknown.
Try = collections.namedtuple(
    "Try", "batch survived says_no_memory result wall_ns runs batches span_ns p50_ns p99_ns",
    defaults=(False, False, "ok", 0, 0, 0, 0, 0, 0))


def say(text):
    sys.stderr.write("pprof-report: %s\n" % text)
    sys.stderr.flush()


# ---- what the tries say together ----

def throughput(one):
    """Items a second; 0: not known."""
    return one.batches * one.batch * 1e9 / one.span_ns if one.runs and one.span_ns else 0


def stopped_early(before, last, least):
    """A command makes a fixed number of batches or a fixed number of items, and the good tries in
    `before` show which. One with fewer stopped early; one batch is allowed for rounding."""
    if last.runs and last.batches + last.runs < least:
        return True
    known = [one for one in before if one.survived and one.runs]
    if not known or not last.runs:
        return not last.runs and bool(known or least)
    items = known[0].batches * known[0].batch
    too_few = last.batches < known[0].batches
    too_few_items = last.batches + 1 < items // last.batch
    same_batches = all(one.batches == known[0].batches for one in known)
    same_items = all(abs(one.batches - items // one.batch) <= 1 for one in known)
    if same_batches and same_items:
        return too_few and too_few_items
    return same_batches and too_few or same_items and too_few_items


def judge(before, one, latency_ns, least):
    """The try, which a reason may have made a failure."""
    if not one.survived:
        return one
    if stopped_early(before, one, least):
        why = "stopped early" + ", out of memory" * one.says_no_memory
    elif latency_ns and one.p99_ns > latency_ns:
        why = "too slow"
    else:
        return one
    return one._replace(survived=False, result=why)


def curve(tries):
    """The largest batch, the fastest, and the smallest with most of the fastest's items a second."""
    good = [one for one in tries if one.survived]
    if not good:
        return None, None, None
    fastest = max(good, key=throughput)
    most = throughput(fastest)
    enough = [one for one in good if throughput(one) >= most * KNEE]
    by_batch = {"key": lambda one: one.batch}
    largest = max(good, **by_batch)
    return (largest, fastest, min(enough, **by_batch)) if most else (largest, None, None)


def limit_s(first, batch):
    """Ten times the first try's time, for as many items, and at least a minute."""
    return max(60, 10 * first.wall_ns / 1e9 * max(1, batch / first.batch))


class Search:
    """Which batch to try next: doubles, then halves the distance to the smallest failure."""

    def __init__(self, first, last, sequential=False):
        self._first, self._last, self._sequential = first, last, sequential
        self.survived = self.failed = 0

    def next(self):
        """0: the search is over."""
        low, high = self.survived, self.failed
        if low == 0:
            return 0 if high else self._first
        if high:
            return 0 if high - low <= 1 or self._sequential else (low + high) // 2
        if low >= self._last:
            return 0
        return low + 1 if self._sequential else min(2 * low, self._last)

    def tell(self, batch, survived):
        if survived:
            self.survived = batch
        else:
            self.failed = batch


# ---- a try ----

class Signals:
    """Notes a signal that ends the search, and passes one that was sent to us alone on to the command.
    One from the terminal reaches it by itself."""

    def __init__(self):
        self.asked, self._child, self._sent = 0, None, 0
        self._lock = threading.Lock()
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self):
        while True:
            info = signal.sigwaitinfo(ENDINGS)
            with self._lock:
                self.asked = info.si_signo
                self._sent = info.si_signo if info.si_code <= 0 else 0
                self._pass_on()

    def _pass_on(self):
        if self._child and self._sent:
            self._child.send_signal(self._sent)

    def follow(self, child):
        """The command runs; None: no more. A signal may have come before its number was known."""
        with self._lock:
            self._child = child
            self._pass_on()

    def release(self):
        """In the command, before it runs."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


class Messages:
    """Passes the command's messages on and watches them. Processes that it left may keep them open."""

    def __init__(self):
        self._out, self.into = os.pipe()
        self._stop, self._stopped = os.pipe()
        self.says_no_memory = False
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self):
        tail = b""
        while True:
            ready = select.select([self._out, self._stop], [], [])[0]
            text = os.read(self._out, 4096) if self._out in ready else b""
            if not text:
                return
            tail = tail[-32:] + text.lower()
            self.says_no_memory |= any(phrase in tail for phrase in PHRASES)
            while text:
                text = text[os.write(2, text):]

    def close(self):
        for end in (self.into, self._stopped):
            os.close(end)
        self._thread.join()
        for end in (self._out, self._stop):
            os.close(end)


def kernel_kills():
    """The number of kills by the kernel for want of memory in this cgroup."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path, encoding="ascii") as file:
                return sum(int(line.split()[1]) for line in file if line.startswith("oom_kill "))
        except OSError:
            pass
    return 0


def tell_all(pid, number):
    """Signals a process and its descendants; without their parent they could not be found."""
    try:
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, thread), encoding="ascii") as file:
                for child in file.read().split():
                    tell_all(int(child), number)
    except OSError:
        pass
    try:
        os.kill(pid, number)
    except OSError:
        pass


def wait(child, limit):
    """Whether the time limit ended it."""
    try:
        child.wait(limit or None)
        return False
    except subprocess.TimeoutExpired:
        tell_all(child.pid, signal.SIGTERM)
    try:
        child.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        tell_all(child.pid, signal.SIGKILL)
        child.wait()
    return True


def describe(code, no_memory):
    if code == 0:
        return "killed, out of memory" if no_memory else "ok"
    kind = "signal %d" % (code - 128) if 128 < code <= 128 + 64 else "exit %d" % code
    return kind + ", out of memory" * no_memory


def run(batch, argv, environment, limit, signals):
    """The try without what its logs say. OSError: it cannot be started."""
    kills, start, messages = kernel_kills(), time.monotonic_ns(), Messages()
    try:
        child = subprocess.Popen(  # stdout is for results
            argv, env=environment, stdout=2, stderr=messages.into, preexec_fn=signals.release)
        signals.follow(child)
        timed_out = wait(child, limit)
    finally:
        signals.follow(None)
        messages.close()
    wall_ns, killed = time.monotonic_ns() - start, kernel_kills() > kills
    code = 128 - child.returncode if child.returncode < 0 else child.returncode
    if code == 128 + signal.SIGINT:
        signals.asked = signal.SIGINT
    survived = code == 0 and not killed
    result = describe(code, killed or messages.says_no_memory and code != 0)
    if timed_out:
        result = "timed out after %.3g s" % limit
    elif signals.asked and survived:
        result = "interrupted"
    return Try(batch, survived and not timed_out and not signals.asked, messages.says_no_memory,
               result, wall_ns)


# ---- its logs ----

def is_stage(event, stages):
    name = event["args"].get("labels", event["name"])
    if not stages:
        return event["cat"] == "ProfileStep"
    return any(name == stage or fnmatch.fnmatchcase(name, stage) for stage in stages.split(","))


def ranges(tool, path, stages):
    """The end and the duration of each batch of a log, in nanoseconds."""
    with subprocess.Popen([tool, "trace", "-o", "-", path], stdout=subprocess.PIPE) as reader:
        for line in reader.stdout:
            if not line.startswith(b'{"ph":"X"'):
                continue
            event = json.loads(line.decode("utf-8", "replace").rstrip().rstrip(","))
            not_whole = {"clipped", "abandoned", "on_stream", "device_error_ns"} & event["args"].keys()
            if is_stage(event, stages) and not not_whole:
                length = round(event["dur"] * 1000)
                yield round(event["ts"] * 1000) + length, length


def at_rank(times, percent):
    return times[-(-len(times) * percent // 100) - 1] if times else 0


def measure(one, tool, paths, stages):
    """Between the ends of the first and the last batch all but one are done, in any order."""
    times, batches, spans = [], 0, []
    for path in paths:
        found = sorted(ranges(tool, path, stages))
        if not found:
            continue
        counted = found[1:] or found
        spans.append(found[-1][0] - found[0][0] if len(found) > 1 else found[0][1])
        batches += len(counted)
        times += [length for _, length in counted][:MOST_TIMES - len(times)]
    times.sort()
    return one._replace(runs=len(spans), batches=batches, span_ns=max(spans, default=0),
                        p50_ns=at_rank(times, 50), p99_ns=at_rank(times, 99))


# ---- the search ----

def try_batch(options, batch, tries, signals):
    prefix = "batch-%d." % batch
    folder = options["folder"]
    environment = dict(os.environ, PPROF_OUTPUT="%s/%s%%h.%%p.%%t.pplog" % (
        folder.replace("%", "%%"), prefix))
    limit = options["limit_ns"] / 1e9
    if options["limit_ns"] < 0:
        limit = limit_s(tries[0], batch) if tries else 0
    argv = [word.replace("{batch}", str(batch)) for word in options["command"]]
    one = run(batch, argv, environment, limit, signals)
    # A killed process leaves a spool with the end of its log.
    subprocess.run([options["tool"], "recover", folder], check=False)
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))
             if name.startswith(prefix)]
    if one.survived:
        one = measure(one, options["tool"], paths, options["stage"])
    if not options["keeps_logs"]:
        for path in paths:
            os.unlink(path)
    return judge(tries, one, options["latency_ns"], options["least"])


def search_all(options, signals):
    """The tries, and the search."""
    search, tries = Search(options["from"], options["to"], options["sequential"]), []
    while not signals.asked:
        batch = search.next()
        if batch == 0:
            break
        tries.append(try_batch(options, batch, tries, signals))
        say("batch %d: %s" % (batch, tries[-1].result))
        search.tell(batch, tries[-1].survived)
    return tries, search


# ---- the answer ----

def rate_text(one):
    return "%.2f items/s = (%d batches x %d) / %.3f s" % (
        throughput(one), one.batches, one.batch, one.span_ns / 1e9)


def answer(options, tries, failed, asked):
    """The answer in words."""
    largest, fastest, knee = curve(tries)
    if not largest:
        yield "No batch: with %d already %s" % (options["from"], tries[0].result)
        return
    yield "Largest batch%s%s: %d%s" % (
        " before the interrupt" if asked else "",
        " with a p99 of at most %.3f ms" % (options["latency_ns"] / 1e6)
        if options["latency_ns"] else "",
        largest.batch, "" if failed or asked else ", where --to ends the search")
    if not largest.runs:
        yield "Throughput unknown: no log of it has %s (see --stage)" % (
            "matching ranges" if options["stage"] else "steps")
        return
    yield "Throughput: " + rate_text(largest)
    if fastest and fastest is not largest:
        yield "Fastest batch: %d, with %s" % (fastest.batch, rate_text(fastest))
    if knee is not fastest:
        yield "Knee: %d, with %.0f%% of the items/s of %d; larger ones bring little" % (
            knee.batch, 100 * throughput(knee) / throughput(fastest), fastest.batch)


def bars(tries):
    _, fastest, knee = curve(tries)
    if not fastest or len(tries) < 2:
        return
    yield "Items/s by batch:"
    for one in tries:
        rate = throughput(one)
        if rate:
            length = math.ceil(40 * rate / throughput(fastest))
            yield "%8d %-40s %.2f%s" % (one.batch, "#" * min(length, 40), rate,
                                        "  knee" * (one is knee))


def head(options, tries):
    """Of the JSON, without the braces."""
    largest, fastest, knee = curve(tries)
    named = {"command": [os.fsencode(word).decode("utf-8", "replace")
                         for word in options["command"]]}
    for name, one in (("largest", largest), ("fastest", fastest), ("knee", knee)):
        named[name] = one.batch if one else None
    named["throughput"] = throughput(largest) or None if largest else None
    return json.dumps(named, separators=(",", ":"))[1:-1]


def row(one):
    """A cell for each column: the kind and the value."""
    rate = throughput(one)
    logs = ("n%d" % one.span_ns, "d%r" % rate if rate else "", "n%d" % one.p50_ns,
            "n%d" % one.p99_ns, "i%d" % one.runs) if one.runs else ("",) * 5
    return ("i%d" % one.batch, "t" + one.result, "n%d" % one.wall_ns,
            "i%d" % one.batches if one.runs else "", *logs)


# ---- the page ----

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BELOW, ROOM = 720, 360, 90, 30, 30, 60, 30


def page(command, tries):
    """SVG in a page. Sizes double from mark to mark; tries that failed stand on the axis."""
    _, fastest, knee = curve(tries)
    most = throughput(fastest) if fastest else 1
    doublings = math.log2(tries[-1].batch / tries[0].batch) or 1

    def x_of(one):
        return LEFT + round(math.log2(one.batch / tries[0].batch) / doublings * (WIDTH - LEFT - RIGHT))

    def y_of(rate):
        return HEIGHT - BELOW - round(rate / most * (HEIGHT - TOP - BELOW))

    def text(x, y, words, more=' text-anchor="middle"'):
        return '<text x="%d" y="%d"%s>%s</text>' % (x, y, more, words)

    yield ('<!doctype html>\n<html lang="en"><meta charset="utf-8">\n<title>Items/s by batch</title>\n'
           "<style>body{font:14px sans-serif;margin:2em}svg{font-size:12px}"
           "td,th{padding:2px 12px;text-align:right}</style>\n<h1>Items/s by batch</h1>\n"
           "<p><code>%s </code></p>\n"
           '<svg viewBox="0 0 %d %d" width="%d" role="img" aria-label="Items a second by batch">' % (
               html.escape(" ".join(command), False), WIDTH, HEIGHT, WIDTH))
    yield '<path d="M%d %d V%d H%d" fill="none" stroke="#555"/>' % (
        LEFT, TOP, HEIGHT - BELOW, WIDTH - RIGHT)
    for value in (most * i / 4 for i in range(5)):
        yield '<path d="M%d %d H%d" stroke="#ddd"/>' % (LEFT, y_of(value), WIDTH - RIGHT) + text(
            LEFT - 8, y_of(value) + 4, "%.*f" % (2 if most < 100 else 0, value),
            ' text-anchor="end"')
    yield text((LEFT + WIDTH) // 2, HEIGHT - 8, "batch, doubling") + text(
        LEFT - 60, 18, "items/s", "")
    points = [(x_of(one), y_of(throughput(one))) for one in tries if throughput(one)
              and one.survived]
    yield '<path fill="none" stroke="#1b6ca8" d="M%s"/>' % "L".join("%d %d " % at for at in points)
    last = -ROOM
    for one in tries:
        rate, x = throughput(one) if one.survived else 0, x_of(one)
        color = "#d95f02" if one is knee else "#1b6ca8" if one.survived else "#b00020"
        yield '<circle cx="%d" cy="%d" r="5" fill="%s"><title>%d: %s, %.2f items/s</title></circle>' % (
            x, y_of(rate), color, one.batch, html.escape(one.result, False), rate)
        if one is knee:
            yield text(x, y_of(rate) - 10, "knee", ' fill="%s" text-anchor="middle"' % color)
        if x - last >= ROOM:  # the label before it leaves room
            last = x
            yield text(x, HEIGHT - BELOW + 18, one.batch)
    yield "</svg>\n<table><tr><th>Batch<th>Result<th>Items/s<th>P99 (ms)"
    for one in tries:
        yield "<tr><td>%d<td>%s<td>" % (one.batch, html.escape(one.result, False)) + (
            "%.2f<td>%.3f" % (throughput(one), one.p99_ns / 1e6) if one.runs else "<td>")
    yield "</table>\n</html>"


def put(*words):
    sys.stdout.write("\t".join(word.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
                               for word in words) + "\n")


def main():
    numbers = ("from", "to", "least", "limit_ns", "latency_ns", "sequential", "keeps_logs")
    options = dict(zip(("tool", "folder", "stage"), sys.argv[1:4]), command=sys.argv[5:],
                   **dict(zip(numbers, map(int, sys.argv[4].split()))))
    signals = Signals()
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        tries, search = search_all(options, signals)
    except OSError as error:
        say("%s: cannot be run: %s" % (error.filename, error.strerror))
        return 2
    if signals.asked:
        say("interrupted")
    code = 128 + signals.asked if signals.asked else 0 if search.survived else 1
    if tries:
        tries.sort()
        put("head", head(options, tries))
        for kind, lines in (("note", answer(options, tries, search.failed, signals.asked)),
                            ("bar", bars(tries)), ("page", page(options["command"], tries))):
            for line in lines:
                put(kind, line)
        for one in tries:
            put("row", *row(one))
    return code


if __name__ == "__main__":
    sys.exit(main())
