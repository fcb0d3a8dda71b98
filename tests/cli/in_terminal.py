#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""in_terminal.py WIDTH CMD [ARG...]: prints what CMD writes into a terminal of that width."""
import fcntl
import os
import pty
import struct
import sys
import termios

child, screen = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 24, int(sys.argv[1]), 0, 0))
    os.execvpe(sys.argv[2], sys.argv[2:], dict(os.environ, TERM="dumb"))
written = b""
try:
    while piece := os.read(screen, 65536):
        written += piece
except OSError:  # the terminal is gone with its last program
    pass
sys.stdout.buffer.write(written.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
