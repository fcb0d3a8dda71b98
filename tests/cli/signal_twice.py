# SPDX-License-Identifier: Apache-2.0
"""Signals `run` while its command runs and again behind the command's end.

signal_twice.py COMMAND...: COMMAND's program waits for a SIGTERM that it asks
its parent for (run_child's interrupt-parent). The pipe that the tables go to
is full from the start, so the tool cannot be done when the second one comes.
"""
import fcntl
import os
import signal
import subprocess
import sys


def fill(pipe):
    os.set_blocking(pipe, False)
    filled = 0
    try:
        while True:
            filled += os.write(pipe, b"." * 512)
    except BlockingIOError:
        os.set_blocking(pipe, True)
        return filled


def main():
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    filled = fill(writes)
    tool = subprocess.Popen(sys.argv[1:], stderr=writes,
                            stdout=subprocess.PIPE)
    os.close(writes)
    assert tool.stdout.readline() == b"terminated\n"
    children = f"/proc/{tool.pid}/task/{tool.pid}/children"
    while open(children).read():
        pass
    tool.send_signal(signal.SIGTERM)
    with open(reads, "rb") as pipe:
        text = pipe.read()[filled:].decode()
    print("exit", tool.wait())
    for line in ("once more to leave", "stage", "1 log in"):
        print(line if line in text else "no " + line)


main()
