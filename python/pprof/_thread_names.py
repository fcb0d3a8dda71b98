# SPDX-License-Identifier: Apache-2.0
"""Gives the system the names of Python's threads, as Python itself does from 3.14 on."""
import ctypes
import functools
import os
import re
import sys
import threading

_PR_SET_NAME = 15
_MOST = 15  # bytes of a thread's name


def _short(name):
    """The number at the end of a longer name stays: it distinguishes the threads of a pool."""
    name = name.encode("utf-8", "replace")
    if len(name) <= _MOST:
        return name
    end = re.search(rb"[-_. #(]?\d[-_. #():\d]*$|$", name).group()[3 - _MOST:]
    return name[:_MOST - len(end)].decode("utf-8", "ignore").encode() + end


def install():
    """From now on, and for the threads that run already."""
    set_id = getattr(threading.Thread, "_set_native_id", None)
    if sys.version_info >= (3, 14) or set_id is None or hasattr(set_id, "__wrapped__"):
        return
    try:
        rename = ctypes.PyDLL(None).prctl
    except AttributeError:
        return

    @functools.wraps(set_id)
    def set_id_and_name(self):
        """Called by each thread that begins; also for others' threads, which keep their names."""
        set_id(self)
        if self.native_id != os.getpid() and not isinstance(self, threading._DummyThread):
            rename(_PR_SET_NAME, _short(self.name))

    threading.Thread._set_native_id = set_id_and_name
    _name_running()


def _name_running():
    """Only those that still have the process's name: the program may have named others."""
    for thread in threading.enumerate():
        try:
            with open("/proc/self/comm", "rb") as process, open(
                    "/proc/self/task/%d/comm" % thread.native_id, "r+b", buffering=0) as own:
                if thread.native_id != os.getpid() and own.read() == process.read():
                    own.write(_short(thread.name))
        except (OSError, TypeError):  # it has ended, or not begun
            pass
