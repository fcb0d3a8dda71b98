#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What makes processes, threads and tasks for programs, run for real: torch's DataLoader,
gunicorn, anyio. frameworks.py LIBPPROF PPROF_REPORT, by a Python that has them.

A program writes a letter into the file `done` for each range that it has ended, so that what
the logs have can be compared with what ran, whoever was killed."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from python_case import Case, main  # noqa: E402  (found by the line above)

COUNTED = """
import os, pprof

def done(file=os.open("done", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)):
    os.write(file, b".")

@pprof.range("load", category="Dataloader")
def load(i):
    return float(i)
"""

LOADER = """
    import pprof, sys, torch
    from torch.utils.data import DataLoader, Dataset
    from counted import done, load

    class Numbers(Dataset):
        def __len__(self):
            return 64
        def __getitem__(self, i):
            value = load(i)
            done()
            return torch.tensor(value)

    if __name__ == "__main__":
        method, persistent, last = sys.argv[1], bool(int(sys.argv[2])), int(sys.argv[3])
        pprof.start()
        loader = DataLoader(Numbers(), 4, num_workers=2, multiprocessing_context=method,
                            persistent_workers=persistent)
        for epoch in range(2):
            for number, batch in enumerate(loader):
                with pprof.range("train"):
                    batch.sum().item()
                if number == last:
                    break
"""

# `start` is where the program calls pprof.start: in each worker, in the arbiter that has the
# application loaded, or nowhere.
APPLICATION = """
import pprof
from counted import done, load
if {start}:
    pprof.start()

def application(environ, start_response):
    load(0)
    done()
    start_response("200 OK", [("Content-Length", "3")])
    return [b"yes"]
"""

SERVER = """
    import os, signal, subprocess, sys, urllib.request

    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "-w", "2", "-b", "127.0.0.1:0", "--no-control-socket",
         "-c", "conf.py", *sys.argv[2:], "app:application"], stderr=open("said", "wb"))
    while not os.path.exists("port"):
        assert server.poll() is None, open("said").read()
    for _ in range(40):
        with urllib.request.urlopen("http://127.0.0.1:" + open("port").read()) as got:
            assert got.read() == b"yes"
    if sys.argv[1] == "KILL":
        for child in subprocess.run(["pgrep", "-P", str(server.pid)], stdout=subprocess.PIPE,
                                    text=True).stdout.split():
            os.kill(int(child), signal.SIGKILL)
    server.terminate()
    assert server.wait() == 0, open("said").read()
"""
CONF = """
import os

def when_ready(server):
    with open("port.new", "w") as file:
        file.write(str(server.LISTENERS[0].sock.getsockname()[1]))
    os.rename("port.new", "port")
"""

TASKS = """
    import anyio, pprof, sys
    from anyio import to_process, to_thread
    from counted import done, load

    async def one(i):
        async with anyio.create_task_group():
            with pprof.range("task"):
                await anyio.sleep(0.001)
                await to_thread.run_sync(load, i)
        done()
        if i < 4:
            await to_process.run_sync(load, i)
            done()

    async def all_of_them():
        pprof.start()
        with pprof.range("main"):
            async with anyio.create_task_group() as group:
                for i in range(10):
                    group.start_soon(one, i)

    if __name__ == "__main__":
        anyio.run(all_of_them, backend=sys.argv[1])
"""


class Frameworks(Case):
    def setUp(self):
        super().setUp()
        self.write("counted.py", COUNTED)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def clear(self):
        for name in os.listdir(self.folder):
            if name != "counted.py" and os.path.isfile(self.path(name)):
                os.remove(self.path(name))

    def check(self, name, parts=0):
        """Each range that ended is there, after what the report of the folder said to run."""
        found = self.recover()
        if parts is not None:
            self.assertEqual(found, parts)
        ended = os.path.getsize(self.path("done"))
        self.assertEqual(self.names(self.logs()).count(name), ended)
        return ended

    def test_data_loader(self):
        for method in "fork", "spawn", "forkserver":
            for persistent in "0", "1":
                for last in "-1", "3":
                    with self.subTest(method=method, persistent=persistent, last=last):
                        self.clear()
                        self.run_ok(LOADER, method, persistent, last)
                        ended = self.check("load", 2 * int(persistent))
                        if last == "-1":
                            self.assertEqual(ended, 128)

    def serve(self, start, end, *options, parts=0, **changes):
        self.clear()
        self.write("app.py", APPLICATION.format(start=start))
        self.write("conf.py", CONF)
        self.run_ok(SERVER, end, *options, **changes)
        self.assertEqual(self.check("load", parts), 40)

    def test_gunicorn(self):
        for options in [], ["--preload"], ["-k", "gthread", "--threads", "4"], \
                ["--max-requests", "7"], ["--preload", "-k", "gthread"]:
            with self.subTest(options=options):
                self.serve(True, "TERM", *options)

    def test_gunicorn_whose_workers_are_killed(self):
        for options in [], ["--preload"]:
            with self.subTest(options=options):
                self.serve(True, "KILL", *options, parts=None)

    def test_gunicorn_of_an_application_that_does_not_start(self):
        for options in [], ["--preload"]:
            with self.subTest(options=options):
                self.serve(False, "TERM", *options, PPROF_ENABLE="1")

    def test_anyio(self):
        for backend in "asyncio", "trio":
            with self.subTest(backend):
                self.clear()
                self.run_ok(TASKS, backend, PPROF_ENABLE="1")
                ended = self.check("load", None)
                self.assertEqual(ended, 14)
                self.assertEqual(self.names(self.logs()).count("task"), 10)


if __name__ == "__main__":
    main()
