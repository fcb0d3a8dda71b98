# SPDX-License-Identifier: Apache-2.0
"""Small programs under profilers that sample, and the kernel's tracer: sampler_programs.py NAME."""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time

from common import SECONDS

BUSY = """
import time
def leaf(end):
    while time.time() < end:
        sum(range(1000))
def branch(end):
    leaf(end)
def root():
    for at in range(4):
        branch(time.time() + 0.1)
        leaf(time.time() + 0.1)
root()
"""


def quietly(*command, **options):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=SECONDS, **options)


def perf():
    """cpu-clock, which needs no counter of the processor."""
    quietly("perf", "record", "-e", "cpu-clock", "-F", "49", "-g", "-o", "perf.data",
            "/usr/bin/python3", "-S", "-c", BUSY)
    quietly("perf", "data", "convert", "--force", "--to-json", "perf.json", "-i", "perf.data")
    with open("perf.txt", "w", encoding="utf-8") as file:
        subprocess.run(["perf", "script", "-i", "perf.data"], check=True, stdout=file,
                       stderr=subprocess.DEVNULL)


def pyspy():
    tool = os.path.join(os.path.dirname(sys.executable), "py-spy")
    for form, name in (("speedscope", "speedscope.json"), ("chrometrace", "trace.json")):
        quietly(tool, "record", "-f", form, "-r", "50", "-o", name, "--", "python3", "-S", "-c",
                BUSY)


@contextlib.contextmanager
def instance():
    """The kernel's tracer in buffers of our own, so that nobody's settings change."""
    root = "/sys/kernel/tracing"
    if not os.path.exists(os.path.join(root, "instances")):
        quietly("mount", "-t", "tracefs", "tracefs", root)
    path = os.path.join(root, "instances", f"pprof-{os.getpid()}")
    os.mkdir(path)
    try:
        yield path
    finally:
        os.rmdir(path)


def ftrace():
    """Ranges as Android's programs mark them, which Perfetto knows, and when this process ran."""
    process = os.getpid()
    with instance() as path:
        for name, value in (("set_event_pid", process), ("events/sched/sched_switch/enable", 1)):
            with open(os.path.join(path, name), "w", encoding="utf-8") as file:
                file.write(str(value))
        marker = os.open(os.path.join(path, "trace_marker"), os.O_WRONLY)
        for at in range(5):
            for name in ("request", "decode", None, "detect", None, None):
                os.write(marker, f"B|{process}|{name}".encode() if name else
                         f"E|{process}".encode())
            os.write(marker, f"C|{process}|queue|{at}".encode())
            quietly("true")  # it waits for that, so another process runs
        os.close(marker)
        shutil.copyfile(os.path.join(path, "trace"), "ftrace.txt")


class Marionette:
    """Firefox's remote control: lengths and arrays of JSON."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.file, self.number = self.socket.makefile("rb"), 0
        self.read()

    def read(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.file.read(1)
            if not byte:
                raise RuntimeError("Firefox has closed its remote control")
            length += byte
        return json.loads(self.file.read(int(length[:-1])))

    def ask(self, what, arguments):
        self.number += 1
        text = json.dumps([0, self.number, what, arguments])
        self.socket.sendall(f"{len(text)}:{text}".encode())
        return self.read()


def firefox():
    """A profile from its start to its end, which it writes when it quits."""
    shutil.rmtree("profile", ignore_errors=True)
    os.makedirs("profile")
    with open("profile/user.js", "w", encoding="utf-8") as file:
        file.write('user_pref("marionette.port", 0);\n')  # any that is free
    environment = {**os.environ, "HOME": os.path.abspath("profile"), "MOZ_PROFILER_STARTUP": "1",
                   "MOZ_PROFILER_SHUTDOWN": os.path.abspath("firefox.json"),
                   "MOZ_PROFILER_STARTUP_INTERVAL": "100",
                   "MOZ_PROFILER_STARTUP_FILTERS": "GeckoMain"}
    started = subprocess.Popen(
        ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile",
         os.path.abspath("profile"), "about:blank"], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port, end = "profile/MarionetteActivePort", time.monotonic() + SECONDS
        while not os.path.exists(port) or not os.path.getsize(port):
            if started.poll() is not None or time.monotonic() > end:
                raise RuntimeError("Firefox has ended, or opens no remote control")
            time.sleep(0.1)
        with open(port, encoding="utf-8") as file:
            control = Marionette(int(file.read()))
        control.ask("WebDriver:NewSession", {})
        control.ask("WebDriver:Navigate", {"url": "data:text/html,<h1>page</h1>"})
        control.ask("Marionette:Quit", {"flags": ["eAttemptQuit"]})
        started.wait(SECONDS)
    finally:
        started.kill()
        started.wait()


globals()[sys.argv[1]]()
