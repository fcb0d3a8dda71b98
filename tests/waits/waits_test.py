#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""waits_test.py TOOL PLANTED LIBRARY READER PPROF [--table NUM [BUSY [PROGRAM...]]]: the programs of
planted.cc and planted.py under `run --waits`.

Each has waits that are known, and a counter-case that looks alike and has none of them. --table runs each
NUM times, beside BUSY loops that are always busy, and prints how often it was named rightly.
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
TIMED_OUT, LOWER = 256, 512
ALLOCATORS = ("jemalloc", "tcmalloc_minimal")
Wait = collections.namedtuple("Wait", "start end kind timed_out lane within in_range")
Planted = collections.namedtuple("Planted", "thing kind where counter verdict names")

# What ranges wait for longest, its kind, the range that ends or has it most of that time; the
# counter-case, in which ranges hardly wait for it; the answer's verdict and first names.
PLANTED_WAITS = {
    "convoy": Planted("cache", MUTEX, "refill", "no_convoy", "lock", ["refill", "cache"]),
    "writers": Planted("table", RWLOCK, "write table", "readers", "lock", ["write table", "table"]),
    "timed_writers": Planted("table", RWLOCK, "write table", "timed_readers", "lock",
                             ["write table", "table"]),
    "two_locks": Planted("second", MUTEX, "part", "own_locks", "lock", ["part", "second"]),
    "slow_maker": Planted("box, not empty", CONDITION, None, "slow_users", None, ["make"]),
    "lost_wake_up": Planted("ready", CONDITION, None, "kept_wake_up", None, []),
    "bounded_queue": Planted("queue, not full", CONDITION, None, "roomy_queue", None, ["consume"]),
    "two_connections": Planted("connections", SEMAPHORE, "connection", "six_connections", "lock",
                               ["connection", "connections"]),
    "late_thread": Planted("layer", BARRIER, None, "nobody_meets", None, ["compute"]),
    "small_pool": Planted("done, not empty", CONDITION, "task", "asked_pool", None, ["task"]),
    "async_wait": Planted("the end of a thread at std::thread::join", JOIN, "task", "async_done", None,
                          ["task"]),
    "gil": Planted("the interpreter's lock", INTERPRETER, "tokenize", "no_gil", "lock",
                   ["tokenize", "the interpreter's lock"]),
    "turns": Planted("table", SEMAPHORE, "left", "no_turns", "lock", ["left", "table"]),
    "slow_producer": Planted("a Python lock", SEMAPHORE, "produce", "filled_queue", None, []),
    "condition_pool": Planted("a Python lock", SEMAPHORE, "use connection", "roomy_pool", "lock",
                              ["use connection"]),
    "executor": Planted("a Python lock", SEMAPHORE, "task", "asked_executor", None, ["task"]),
    "inversion": Planted("state", MUTEX, "background", "no_inversion", "lock",
                         ["background", "state"]),
}


# Programs that never end: what `stuck` says, and an object of the log.
CIRCLE = ("'worker 0' waits for 'right', held by thread 'worker 1'",
          "'worker 1' waits for 'left', held by thread 'worker 0'")
HANGS = {
    "deadlock": (("Deadlock: thread ", *CIRCLE), "right"),
    "long_holder": ((CIRCLE[0] + " in 'long work' for ",), "right"),
    "join_under_lock": (("Deadlock: thread ", "'main' waits for the end of thread 'reaper'",
                         "'reaper' waits for 'registry', held by thread 'main'"), "registry"),
    "long_join": (("'main' waits for the end of thread 'reaper' in 'long work' for ",),
                  "the end of a thread at std::thread::join"),
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
                lanes[tid] = name.decode()
        for event in item[2] if item[0] == "batch" else []:
            name, category = sites[event["site"]]
            if categories[category] == "Wait":
                _, by, within, how = event["numbers"]
                assert name.startswith("wait for "), name
                waits[name[len("wait for "):]].append(
                    Wait(event["start"], event["end"], how % TIMED_OUT, bool(how & TIMED_OUT),
                         lanes.get(by) if by else None, sites[within][0] if within else None,
                         event["depth"] > 0))
            elif event["kind"] == 1:
                ranges.append((event["lane"], event["start"], event["end"], event["depth"], name))
    return waits, ranges


def in_ranges(waits):
    return sum(wait.end - wait.start for wait in waits if wait.in_range)


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
        said, ends = "", time.monotonic() + SECONDS
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

    def names_who_waits(self, run, words):
        child, said = self.stuck(run, words[0], "--least", "1ms")
        for text in words:
            self.assertIn(text, said)
        self.assertEqual(len(words) > 1, "Deadlock" in said)
        live = subprocess.run([TOOL, "top", "--once", "--every", "100ms", str(child)],
                              env=self.env, stdout=subprocess.PIPE, text=True, timeout=SECONDS,
                              check=True).stdout
        for text in words:
            self.assertIn(text, live)

    def hangs(self, program):
        """That `stuck` and `top` name who waits for whom."""
        words, thing = HANGS[program]
        run, logs = self.start(program, "--waits")
        with run:
            try:
                self.names_who_waits(run, words)
            finally:
                subprocess.run(["pkill", "-KILL", "-P", str(run.pid)], check=True)
            run.communicate(timeout=SECONDS)
        waits, _ = read_log(os.path.join(logs, os.listdir(logs)[0]))
        self.assertIn(thing, waits)

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

    def forks(self, program):
        """That a child waits for what its parent's other thread held at the fork."""
        logs = self.record(program, "--waits")
        names = sorted(name for name in os.listdir(logs) if name.endswith(".pplog"))
        self.assertEqual(2, len(names))
        found = [read_log(os.path.join(logs, name)) for name in names]
        child, = [one for one in found if "child" in {name for *_, name in one[1]}]
        self.assertEqual(program == "fork_held", "held over fork" in child[0])

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
        agrees, ends = 0, time.monotonic() + SECONDS
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
            rows = json.loads(self.tool("sql", "-f", "json", log, "SELECT DISTINCT s.name FROM site s"
                                        " JOIN host_range r ON r.site = s.id"
                                        " WHERE s.category = 'Idle'"))["rows"]
            calls = {"wait for " + call for call in ("read", "recv", "accept4")}
            self.assertEqual(calls if is_there else set(), calls & {row[0] for row in rows})
            shutil.rmtree(os.path.join(self.home, "pipe"))

    def tool(self, *arguments):
        return subprocess.run([TOOL, *arguments], env=self.env, cwd=self.home, timeout=SECONDS,
                              stdout=subprocess.PIPE, check=True).stdout

    def rows(self, program, thing, view="tree", option="--tree"):
        """{range: ns} of a view's rows for waits for `thing`, by who had it or ended them."""
        times = collections.Counter()
        report = json.loads(self.tool("-f", "json", option, self.path(program)))["views"][view]
        columns = [column["name"] for column in report["columns"]]
        for row in (dict(zip(columns, row)) for row in report["rows"]):
            found = re.fullmatch("wait for %s(?:, (?:held|ended) by (.*))?" % thing, row["name"])
            if found:
                times[found[1]] += row["total"]
        return times

    def limit(self, program):
        return json.loads(self.tool("-f", "json", self.path(program)))["limit"] or {"names": []}

    def waits(self, program):
        """That the log and the answer name what its ranges wait for, and who ends that."""
        want = PLANTED_WAITS[program]
        waits, _ = self.log(program)
        sums = {name: in_ranges(some) for name, some in waits.items()}
        self.assertEqual({want.kind}, {wait.kind for wait in waits[want.thing]})
        self.assertEqual(want.thing, max(sums, key=sums.get), sums)
        if want.where:
            rows = self.rows(program, want.thing)
            rows.pop(None, None)  # CPython waits 5 ms for its lock, and again
            self.assertEqual(want.where, max(rows, key=rows.get), rows)
        limit = self.limit(program)
        self.assertEqual(want.names, limit["names"][:len(want.names)], limit)
        if want.verdict:
            self.assertEqual(want.verdict, limit["verdict"], limit)
            lock, = [one for one in limit["servers"] if one["kind"] == "lock"]
            self.assertEqual((want.thing, want.where), (lock["name"], lock["stages"][0]["name"]))
        self.assertEqual(program == "inversion", b"Priority inversion" in self.tool(self.path(program)))

    def does_not_wait(self, program):
        """That its ranges lose less than a quarter of their time to such waits, and no lock is named."""
        want, = [one for one in PLANTED_WAITS.values() if one.counter == program]
        waits, ranges = self.log(program)
        all_ns = sum(end - start for _, start, end, depth, _ in ranges if depth == 0)
        self.assertLess(4 * in_ranges(waits.get(want.thing, [])), all_ns)
        self.assertNotEqual("lock", self.limit(program).get("verdict"))

    def test_the_answer_has_rows_by_holder(self):
        self.record("convoy", "--waits")
        self.assertIn("refill", self.rows("convoy", "cache", "answer", "--view=answer"))

    def runs_tasks(self, program):
        """That the answer of a loop names its executor's work, or else its own."""
        self.record(program, "--waits")
        if program == "coroutines":
            self.assertEqual("task", self.limit(program)["names"][0], self.limit(program))
        else:
            said = json.loads(self.tool("-f", "json", self.path(program)))
            self.assertTrue(said["answer"].startswith("handle "), said["answer"])

    def hands_over(self, program):
        """That what ends a wait wins over numbers of requests."""
        self.record(program, "--waits")
        limit, differs = self.limit(program), program == "other_thread"
        self.assertGreater(limit["hand_overs"], 20, limit)
        self.assertEqual(differs, 2 * limit["hand_overs_differ"] > limit["hand_overs"])
        # Late wake-ups make requests come unevenly on a busy machine.
        if differs and limit["verdict"] != "bursts":
            self.assertEqual("refresh", limit["names"][0], limit)
            held, = [row for row in limit["blame"] if row["kind"] == "held up by"]
            self.assertEqual("refresh", held["name"])

    def goes_past(self, program):
        """That what goes past the C library is named."""
        self.record(program, "--waits")
        self.assertEqual(program == "openmp", b"libgomp.so.1" in self.tool(self.path(program)))

    def test_a_program_past_the_c_library_is_named(self):
        for program, is_past in [("own_futex", True), ("executor", False)]:
            self.record(program, "--waits")
            said = b"what calls the system by itself is not recorded: "
            self.assertEqual(is_past, said in self.tool(self.path(program)))

    def cases(self):
        """[program, what it must do, counter-case, what that must do]."""
        return [(name, self.waits, want.counter, self.does_not_wait)
                for name, want in PLANTED_WAITS.items()] + [
                    (name, must, counter, must) for name, must, counter in [
                        ("coroutines", self.runs_tasks, "busy_loop"),
                        ("other_thread", self.hands_over, "same_thread"),
                        ("openmp", self.goes_past, "no_openmp"),
                        ("deadlock", self.hangs, "long_holder"),
                        ("join_under_lock", self.hangs, "long_join"),
                        ("fork_held", self.forks, "fork_free")]]

    def test_planted_waits_are_named(self):
        for program, must, counter, must_counter in self.cases():
            with self.subTest(program):
                must(program)
            with self.subTest(counter):
                must_counter(counter)


def right(test, must, program, num):
    """How often it does what it must, as text; what it did instead goes to stderr."""
    times = 0
    for _ in range(num):
        try:
            must(program)
            times += 1
        except Exception as why:  # pylint: disable=broad-except
            print(program, type(why).__name__, str(why)[:900], file=sys.stderr, flush=True)
        shutil.rmtree(os.path.join(test.home, program), ignore_errors=True)
    return "%d of %d" % (times, num)


def table(num, busy="0", *programs):
    test = WaitsTest("test_planted_waits_are_named")
    test.setUp()
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(int(busy))]
    print("| program | right | counter-case | right |\n|---|---|---|---|")
    try:
        for program, must, counter, must_counter in test.cases():
            if programs and program not in programs:
                continue
            print("| %s | %s | %s | %s |" % (program, right(test, must, program, int(num)), counter,
                                             right(test, must_counter, counter, int(num))), flush=True)
    finally:
        for loop in loops:
            loop.kill()
        test.doCleanups()


if __name__ == "__main__" and sys.argv[6:7] == ["--table"]:
    table(*sys.argv[7:])
elif __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
