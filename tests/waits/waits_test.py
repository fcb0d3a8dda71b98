#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""waits_test.py TOOL PLANTED LIBRARY READER PPROF: the programs of planted.cc and planted.py under `run --waits`.

Each has waits that are known, and a counter-case that looks alike and has none of them.
"""
import collections
import ctypes.util
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL, PLANTED, LIBRARY, READER, PPROF = map(os.path.abspath, sys.argv[1:6])
PYTHON = os.path.join(os.path.dirname(PLANTED), "waits", "planted.py")
sys.path[:0] = [os.path.dirname(READER), os.path.join("tests", "support")]
import pplog  # noqa: E402
from patience import SECONDS  # noqa: E402

SITE, CATEGORY, LANE = 1, 2, 3
MUTEX, RWLOCK, CONDITION, SEMAPHORE, JOIN, BARRIER, FUTEX, INTERPRETER = range(1, 9)
TIMED_OUT = 256
ALLOCATORS = ("jemalloc", "tcmalloc_minimal")
Wait = collections.namedtuple("Wait", "start end kind timed_out lane within")

# program: (what is waited for longest, its kind, the range in which most of that time's waits
# are ended or held, share of the time that must have it), then a counter-case and the least
# factor by which its waits for the same object are shorter.
PLANTED_WAITS = {
    "convoy": ("cache", MUTEX, "refill", 0.5, "no_convoy", 2),
    "writers": ("table", RWLOCK, "write table", 0.5, "readers", 10),
    "two_locks": ("second", MUTEX, "part", 0.9, "own_locks", 10),
    "bounded_queue": ("queue, not full", CONDITION, None, 0.9, "roomy_queue", 10),
    "two_connections": ("connections", SEMAPHORE, "connection", 0.9, "six_connections", 10),
    "late_thread": ("layer", BARRIER, "compute", 0.5, "nobody_meets", 10),
    "small_pool": ("done, not empty", CONDITION, "task", 0.5, "asked_pool", 10),
    "async_wait": ("the end of a thread at std::thread::join", JOIN, None, 0, "async_done", 2),
    "lost_wake_up": ("ready", CONDITION, None, 0, "kept_wake_up", 10),
    "slow_producer": ("a Python lock", SEMAPHORE, "produce", 0.5, "filled_queue", 2),
    "executor": ("a Python lock", SEMAPHORE, "task", 0.5, "asked_executor", 1.5),
    "gil": ("the interpreter's lock", INTERPRETER, "tokenize", 0.5, "no_gil", 2),
    "inversion": ("state", MUTEX, "background", 0.9, "no_inversion", 10),
}


# Those of planted.py are Python's.
with open(os.path.join(os.path.dirname(PYTHON), "planted.cc"), encoding="utf-8") as source:
    PROGRAMS = set(re.findall(r'^    {"(\w+)", ', source.read(), re.M))


def read_log(path):
    """{object: [Wait]} of a log, and its other ranges as (lane, start, end, depth, name)."""
    sites, categories, lanes = {}, {}, {}
    waits, ranges = collections.defaultdict(list), []
    for item in pplog.read(path):
        if item[0] == "define":
            _, kind, number, parent, _, tid, name = item
            if kind == SITE:
                sites[number] = (name.decode(), parent)
            elif kind == CATEGORY:
                categories[number] = name.decode()
            elif kind == LANE:
                lanes[tid] = number
        for event in item[2] if item[0] == "batch" else []:
            name, category = sites[event["site"]]
            if categories[category] == "Wait":
                _, by, within, how = event["numbers"]
                assert name.startswith("wait for "), name
                waits[name[len("wait for "):]].append(
                    Wait(event["start"], event["end"], how % TIMED_OUT, how >= TIMED_OUT,
                         lanes.get(by) if by else None, sites[within][0] if within else None))
            elif event["kind"] == 1:
                ranges.append((event["lane"], event["start"], event["end"], event["depth"], name))
    return waits, ranges


def innermost(ranges, lane, start, end):
    """{name: ns} of what a thread is in."""
    times, inside = collections.Counter(), []
    for its_lane, begin, until, depth, name in ranges:
        if its_lane == lane and begin < end and until > start:
            inside.append((max(begin, start), min(until, end), depth, name))
    borders = sorted({start, end} | {at for one in inside for at in one[:2]})
    for begin, until in zip(borders, borders[1:]):
        around = [one for one in inside if one[0] <= begin and one[1] >= until]
        if around:
            times[max(around, key=lambda one: one[2])[3]] += until - begin
    return times


def holders(waits, ranges):
    """{name: ns}: from one end of a wait to the next, the thread that ended it was in these ranges; and
    how long somebody waited."""
    times, total, before = collections.Counter(), 0, 0
    waits = sorted((wait for wait in waits if wait.lane is not None), key=lambda wait: wait.end)
    for i, wait in enumerate(waits):
        start = max(before, min(other.start for other in waits[i:]))
        times += innermost(ranges, wait.lane, start, wait.end)
        total += wait.end - start
        before = wait.end
    return times, total


class WaitsTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith("PPROF") and name != "LD_PRELOAD"}
        self.env["XDG_RUNTIME_DIR"] = home.name
        self.env["PPROF_LIBRARY"] = PPROF
        self.env["PYTHONPATH"] = os.path.abspath("python")

    def start(self, program, *options):
        """The process, and the path of the folder of its logs."""
        logs = os.path.join(self.home, program)
        command = [PLANTED] if program in PROGRAMS else [sys.executable, PYTHON]
        return subprocess.Popen([TOOL, "run", *options, "--library", LIBRARY, "--logs", logs,
                                 *command, program], env=self.env, cwd=self.home,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), logs

    def record(self, program, *options):
        """The path of the folder of its logs."""
        run, logs = self.start(program, *options)
        with run:
            _, said = run.communicate(timeout=SECONDS)
        self.assertEqual(0, run.returncode, said)
        return logs

    def stuck(self, run, text, *options):
        """The command's process once `stuck` says `text` of it, and all that it says."""
        said, ends = "", time.monotonic() + 60
        while text not in said:
            self.assertLess(time.monotonic(), ends, said)
            with open("/proc/%d/task/%d/children" % (run.pid, run.pid), encoding="ascii") as file:
                child = (file.read().split() or [None])[0]
            if child:
                done = subprocess.run([TOOL, "stuck", *options, child], env=self.env,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      timeout=SECONDS, check=False)
                said = " ".join(done.stdout.split())
        return int(child), said

    def log(self, program):
        self.record(program, "--waits")
        return read_log(self.path(program))

    def path(self, program):
        path, = glob.glob(os.path.join(self.home, program, "*.pplog"))
        return path

    def names_who_waits(self, run, program, words, first):
        child, said = self.stuck(run, words[0], "--least", "1ms")
        for text in words:
            self.assertIn(text, said)
        self.assertEqual(program == "deadlock", "Deadlock" in said)
        live = subprocess.run([TOOL, "top", "--once", "--every", "100ms", str(child)],
                              env=self.env, stdout=subprocess.PIPE, text=True, timeout=SECONDS,
                              check=True).stdout
        self.assertIn(first, live)

    def test_a_hang_names_who_waits_for_whom(self):
        circle = ("'worker 0' waits for 'right', held by thread 'worker 1'",
                  "'worker 1' waits for 'left', held by thread 'worker 0'")
        for program, words in [
                ("deadlock", ("Deadlock: thread ", *circle)),
                ("long_holder", (circle[0] + " in 'long work' for ",))]:
            with self.subTest(program):
                run, logs = self.start(program, "--waits")
                with run:
                    try:
                        self.names_who_waits(run, program, words, circle[0])
                    finally:
                        subprocess.run(["pkill", "-KILL", "-P", str(run.pid)], check=True)
                    run.communicate(timeout=SECONDS)
                waits, _ = read_log(os.path.join(logs, os.listdir(logs)[0]))
                self.assertIn("right", waits)

    def test_what_a_time_ends_is_ended_by_nobody(self):
        waits, _ = self.log("lost_wake_up")
        self.assertEqual(20, len(waits["ready"]))
        for wait in waits["ready"]:
            self.assertTrue(wait.timed_out)
            self.assertIsNone(wait.lane)

    def test_a_cancelled_wait_ends(self):
        waits, ranges = self.log("cancel")
        self.assertEqual(1, len(waits["never"]))
        self.assertIn("cancelled", {name for *_, name in ranges})

    def test_nothing_is_preloaded_without_being_asked_for(self):
        logs = self.record("convoy")
        waits, ranges = read_log(os.path.join(logs, os.listdir(logs)[0]))
        self.assertEqual({}, waits)
        self.assertGreater(len(ranges), 1600)

    def test_a_forked_child_waits_for_what_its_parent_held(self):
        for program, num in [("fork_held", 1), ("fork_free", 0)]:
            with self.subTest(program):
                logs = self.record(program, "--waits")
                names = sorted(name for name in os.listdir(logs) if name.endswith(".pplog"))
                self.assertEqual(2, len(names))
                found = [read_log(os.path.join(logs, name)) for name in names]
                child, = [one for one in found if "child" in {name for *_, name in one[1]}]
                self.assertEqual(num, len(child[0]["held over fork"]))

    def test_allocators_handlers_and_forks_wait(self):
        allocators = [""] + [name for name in map(ctypes.util.find_library, ALLOCATORS) if name]
        for allocator in allocators:
            with self.subTest(allocator):
                self.env["LD_PRELOAD"] = allocator
                logs = self.record("hostile", "--waits")
                del self.env["LD_PRELOAD"]
                works = 0
                for log in glob.glob(logs + "/*.pplog"):
                    said = json.loads(self.tool("-f", "json", log))
                    self.assertEqual(0, said["trust"]["lost"])
                    works += sum(name == "work" for *_, name in read_log(log)[1])
                self.assertEqual(4 * 200, works)
                shutil.rmtree(logs)

    def test_a_program_that_runs_is_switched_off_and_on(self):
        config = os.path.join(self.home, "waits.yaml")

        def switch(value):
            with open(config + ".next", "w", encoding="utf-8") as file:
                file.write("waits: %s\n" % value)
            os.replace(config + ".next", config)

        switch("on")
        run, _ = self.start("endless_turns", "-c", config)
        with run:
            try:
                self.sees_waits(run, True)
                switch("off")
                self.sees_waits(run, False)
                switch("on")
                self.sees_waits(run, True)
            finally:
                subprocess.run(["pkill", "-KILL", "-P", str(run.pid)], check=True)
            run.communicate(timeout=SECONDS)

    def sees_waits(self, run, wanted):
        """Until three looks in a row see it so."""
        agrees, ends = 0, time.monotonic() + 60
        while agrees < 3:
            self.assertLess(time.monotonic(), ends)
            with open("/proc/%d/task/%d/children" % (run.pid, run.pid), encoding="ascii") as file:
                child = (file.read().split() or [None])[0]
            if not child:
                continue
            seen = subprocess.run([TOOL, "info", "--live", child], env=self.env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS,
                                  check=False).stdout
            agrees = agrees + 1 if "round" in seen and ("wait for" in seen) == wanted else 0

    def test_sanitized_programs_wait(self):
        compiler = shutil.which("g++")
        with open(PPROF, "rb") as file:
            if not compiler or re.search(b"__[at]san_init", file.read()):
                self.skipTest("no g++, or the library is sanitized itself")
        source = os.path.join(os.path.dirname(PYTHON), "planted.cc")
        folder, library = os.path.split(os.path.realpath(PPROF))
        self.env["TSAN_OPTIONS"] = "ignore_noninstrumented_modules=1"
        # gcc's sanitizers do not hold their allocators' locks around fork().
        self.env["NO_FORKS"] = "1"
        for sanitizer in ["address", "thread"]:
            with self.subTest(sanitizer):
                program = os.path.join(self.home, sanitizer)
                subprocess.run([compiler, "-std=c++17", "-fsanitize=" + sanitizer, "-Isdk/include",
                                "-Iconfig/include", "-Iexporters/include", source, "-o", program,
                                "-L", folder, "-l:" + library, "-Wl,-rpath," + folder,
                                "-lpthread", "-ldl"], check=True)
                logs = program + ".logs"
                done = subprocess.run([TOOL, "run", "--waits", "--library", LIBRARY, "--logs", logs,
                                       program, "hostile"], env=self.env, cwd=self.home,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS,
                                      text=True, check=False)
                self.assertEqual(0, done.returncode, done.stdout)
                found = [read_log(log) for log in glob.glob(logs + "/*.pplog")]
                self.assertEqual(4 * 200, sum(name == "work" for _, ranges in found
                                              for *_, name in ranges))
                self.assertTrue(any(waits for waits, _ in found))

    def test_sql_and_traces_have_who_ended_a_wait(self):
        logs = self.record("two_locks", "--waits")
        log, = glob.glob(logs + "/*.pplog")
        waits, _ = read_log(log)
        rows = json.loads(self.tool("sql", "-f", "json", log, "SELECT object, kind, stage,"
                                    " by_stage, COUNT(*) AS num FROM wait WHERE by_tid > 0 AND"
                                    " object IN ('first', 'second') GROUP BY 1, 2, 3, 4"))["rows"]
        self.assertEqual({("mutex", "round")}, {tuple(row[1:3]) for row in rows})
        for thing in ["first", "second"]:
            self.assertEqual(sum(wait.lane is not None for wait in waits[thing]),
                             sum(row[4] for row in rows if row[0] == thing))
        self.tool("trace", log, "-o", "trace.json")
        with open(os.path.join(self.home, "trace.json"), encoding="utf-8") as file:
            trace = json.load(file)["traceEvents"]
        for phase in "sf":
            self.assertEqual(sum(wait.lane is not None for some in waits.values() for wait in some),
                             sum(event["ph"] == phase and event.get("cat") == "wake"
                                 for event in trace))

        count = "SELECT COUNT(*), SUM(by_tid > 0) FROM wait"
        self.assertEqual(self.tool("sql", "-f", "json", log, count),
                         self.tool("sql", "-f", "json", "trace.json", count))

    def test_what_comes_from_outside_is_idle_where_asked_for(self):
        config = os.path.join(self.home, "io.yaml")
        for value, is_there in [("on", False), ("{io: on}", True)]:
            with open(config, "w", encoding="utf-8") as file:
                file.write("waits: %s\n" % value)
            log, = glob.glob(self.record("pipe", "-c", config) + "/*.pplog")
            rows = json.loads(self.tool("sql", "-f", "json", log, "SELECT COUNT(*) FROM site s JOIN"
                                        " host_range r ON r.site = s.id WHERE s.category = 'Idle'"
                                        " AND s.name = 'wait for read'"))["rows"]
            self.assertEqual(is_there, rows[0][0] > 0)
            shutil.rmtree(os.path.join(self.home, "pipe"))

    def tool(self, *arguments):
        return subprocess.run([TOOL, *arguments], env=self.env, cwd=self.home, timeout=SECONDS,
                              stdout=subprocess.PIPE, check=True).stdout

    def enders(self, log, thing):
        """{range: ns} of the answer's rows for waits for `thing`, by who had it or ended them."""
        times = collections.Counter()
        report = json.loads(self.tool("-f", "json", log))["views"]["answer"]
        columns = [column["name"] for column in report["columns"]]
        for row in (dict(zip(columns, row)) for row in report["rows"]):
            found = re.fullmatch("wait for %s(?:, (?:held|ended) by (.*))?" % thing, row["name"])
            if found:
                times[found[1]] += row["total"]
        return times

    def limit(self, program):
        """Of a run in which the machine did not stand still, which is the answer then."""
        for _ in range(5):
            shutil.rmtree(os.path.join(self.home, program), ignore_errors=True)
            logs = self.record(program, "--waits")
            said = self.tool("-f", "json", *glob.glob(logs + "/*.pplog"))
            limit = json.loads(said)["limit"] or {}
            if limit.get("names"):
                break
        return limit

    def test_the_answer_names_the_lock_and_its_holder(self):
        for program, names, counter in [
                ("convoy", ["refill", "cache"], "no_convoy"),
                ("writers", ["write table", "table"], "readers"),
                ("two_locks", ["part", "second"], "own_locks"),
                ("inversion", ["background", "state"], "no_inversion"),
                ("gil", ["tokenize", "the interpreter's lock"], "no_gil")]:
            with self.subTest(program):
                limit = self.limit(program)
                self.assertEqual(("lock", names), (limit["verdict"], limit["names"]), limit)
                self.assertNotEqual("lock", self.limit(counter).get("verdict"))

    def test_the_answer_names_what_ends_waits(self):
        for program, name in [("small_pool", "task"), ("async_wait", "task"),
                              ("coroutines", "task"), ("executor", "task"),
                              ("bounded_queue", "consume")]:
            with self.subTest(program):
                limit = self.limit(program)
                self.assertEqual(name, limit["names"][0], limit)
        loop, = glob.glob(self.record("busy_loop", "--waits") + "/*.pplog")
        self.assertTrue(json.loads(self.tool("-f", "json", loop))["answer"].startswith("handle "))
        log, = glob.glob(os.path.join(self.home, "async_wait", "*.pplog"))
        join = read_log(log)[0]["the end of a thread at std::thread::join"]
        self.assertGreater(sum(wait.lane is not None for wait in join), 7)

    def test_what_ends_a_wait_wins_over_numbers_of_requests(self):
        for program, differs in [("other_thread", True), ("same_thread", False)]:
            with self.subTest(program):
                limit = self.limit(program)
                self.assertGreater(limit["hand_overs"], 20, limit)
                self.assertEqual(differs, 2 * limit["hand_overs_differ"] > limit["hand_overs"])
                if differs:
                    self.assertEqual("refresh", limit["names"][0], limit)
                    held, = [row for row in limit["blame"] if row["kind"] == "held up by"]
                    self.assertEqual("refresh", held["name"])

    def test_what_goes_past_the_c_library_is_named(self):
        for program, is_there in [("openmp", True), ("no_openmp", False)]:
            log, = glob.glob(self.record(program, "--waits") + "/*.pplog")
            self.assertEqual(is_there, b"not recorded: libgomp.so.1" in self.tool(log))

    def test_planted_waits_are_named(self):
        for program, (thing, kind, where, share, counter, factor) in PLANTED_WAITS.items():
            with self.subTest(program):
                waits, ranges = self.log(program)
                sums = {name: sum(wait.end - wait.start for wait in some)
                        for name, some in waits.items()}
                self.assertEqual({kind}, {wait.kind for wait in waits[thing]})
                self.assertEqual(thing, max((name for name in sums
                                             if kind == JOIN or waits[name][0].kind != JOIN),
                                            key=sums.get), sums)
                if where:
                    held, total = holders(waits[thing], ranges)
                    self.assertGreaterEqual(held[where], share * total, (held, total))
                if where and kind != BARRIER:  # the last one is where the others wait
                    rows = self.enders(self.path(program), thing)
                    self.assertEqual(where, max(rows, key=rows.get), rows)
                others, _ = self.log(counter)
                shorter = sum(wait.end - wait.start for wait in others.get(thing, []))
                self.assertLess(shorter * factor, sums[thing])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
