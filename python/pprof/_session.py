# SPDX-License-Identifier: Apache-2.0
"""Starting and stopping, in this process and in those that multiprocessing makes of it."""
import atexit
import ctypes
import fcntl
import json
import os
import re
import sys
import threading

from . import _markers
from ._library import Error, ErrorText, functions as _c, is_disabled, raise_status
from ._windows import InCode, Schedule, as_schedule, is_in_callback

# Tells children that do not share this memory (spawn, forkserver) what their parent records.
_VARIABLE = "PPROF_PYTHON_FOLLOW"
# Files that only one process may write; a child writes a log of its own.
_NOT_THE_CHILDS = ("exports", "log", "output", "report")
_OUTPUT = re.compile(r"""^(?!\s*#).*?["']?\boutput["']?\s*:\s*["']?([^"',}\n]+)""", re.M)

# A signal's handler may mark, or stop, on a thread that holds it.
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./%+~-]*")
_lock = threading.RLock()
_followed = None  # what children record, while they are to: what _call_start takes
_exit_is_watched = False
_in_code = None  # what the library calls, for as long as it may
_BUSY = 3  # PPROF_STATUS_BUSY


def _yaml(value):
    """In the short form of YAML, which is JSON but for its quotes: `5ms` is a duration without."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (_yaml(key), _yaml(item))
                                  for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(_yaml, value))
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _as_config(config):
    """(path, None), (None, text), or (None, None) for none."""
    if config is None:
        return None, None
    if isinstance(config, dict):
        return None, "".join("%s: %s\n" % (_yaml(key), _yaml(item))
                             for key, item in config.items())
    if isinstance(config, str) and ("\n" in config or ": " in config or config.startswith("{")):
        return None, config
    return os.fsdecode(config), None


def _above_standard(fd):
    """Where 0 to 2 are closed, what the program prints must not meet a file of ours."""
    if fd > 2:
        return fd
    above = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(fd)
    return above


def _with_kernels(path, text, code):
    before = os.environ.get("PPROF_SET")
    os.environ["PPROF_SET"] = (before + ";" if before else "") + "devices.kernels=true"
    try:
        _call_start(path, text, False, code)
    finally:
        if before is None:
            del os.environ["PPROF_SET"]
        else:
            os.environ["PPROF_SET"] = before


def _call_start(path, text, kernels, code):
    """`path` or `text` may be None, or both."""
    if kernels:
        _with_kernels(path, text, code)
        return
    error = ErrorText()
    if text is None:
        options = code.options(None if path is None else os.fsencode(path))
        status = _c.start_alone_with_(ctypes.byref(options), ctypes.byref(error))
        raise_status(status, error)
        return
    memory = _above_standard(os.memfd_create("pprof", os.MFD_CLOEXEC))
    try:
        with open(memory, "wb", closefd=False) as file:
            file.write(text.encode("utf-8", "replace"))
        path = "/proc/self/fd/%d" % memory
        options = code.options(path.encode())
        status = _c.start_alone_with_(ctypes.byref(options), ctypes.byref(error))
    finally:
        os.close(memory)
    raise_status(status, error, (path, "config"))


def _not_in_callback():
    if is_in_callback():
        raise Error("a window is being reported", _BUSY)


def start(config=None, *, fork="follow", kernels=False, schedule=None, on_window=None,
          window_log=None):
    """Starts a session, as the configuration says: a path, YAML as a text or a dictionary; None:
    PPROF_CONFIG, else the defaults. With fork="off" processes that multiprocessing, or os.fork,
    makes of this one record nothing by themselves. With `kernels` each kernel and copy of CUDA is
    recorded, too (docs/kernels.md), as by `devices: {kernels: true}`.

    `schedule` says which steps are recorded, instead of the configuration's `capture`:
    pprof.schedule(...), or (a, b) for the steps a to b - 1. `on_window` is called with each window
    once it is complete, on a thread of its own; what it raises is told by sys.unraisablehook. Each
    window has a log of its own: at `window_log`, a path with %w for its number; None: for as long
    as `on_window` runs; False: none.

    Raises Error in the library's words; nothing was started then."""
    global _followed, _exit_is_watched, _in_code
    if fork not in ("follow", "off"):
        raise ValueError("fork is 'follow' or 'off', not %r" % (fork,))
    if on_window is not None and not callable(on_window):
        raise TypeError("on_window is a function, not %r" % (on_window,))
    path, text = _as_config(config)
    steps = as_schedule(schedule)
    _not_in_callback()
    with _lock:
        _markers._epoch = _c.epoch
        code = InCode(steps, on_window, window_log)
        try:
            _call_start(path, text, kernels, code)
        except BaseException:
            code.clear()
            raise
        _in_code = code
        if is_disabled():
            return
        if not _exit_is_watched:
            atexit.register(stop)
            _exit_is_watched = True
        _watch_exit_of_child()
        _follow((None if path is None else os.path.abspath(path), text, bool(kernels), steps)
                if fork == "follow" else None)


def stop():
    """Stops what `start` has started and finishes its files. With nothing started it does nothing.
    The result says that the log has another name than was asked for, where one was there already;
    else it is None.

    Raises Error when a file could not be finished; the session is stopped all the same."""
    _not_in_callback()
    with _lock:
        _follow(None)
        error = ErrorText()
        try:
            raise_status(_c.stop(ctypes.byref(error)), error)
        finally:
            if _in_code:
                _in_code.clear()
        return error.text.decode("utf-8", "replace") or None


def _follow(what):
    global _followed
    _followed = what
    if what is None:
        os.environ.pop(_VARIABLE, None)
        return
    words = json.dumps([os.getpid(), *what])
    if len(words) < 100000:  # a variable's limit is 128 KiB
        os.environ[_VARIABLE] = words


def _watch_exit_of_child():
    """A child of multiprocessing ends by os._exit, after its own finalizers."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None and _is_worker():
        util.Finalize(None, stop, exitpriority=-1000)


def _is_worker():
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _is_loading_worker():
    """A spawned worker imports the program before it knows that it is one."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and getattr(process.current_process(), "_inheriting", False)


class _Waking:
    """Stands for the epoch in a child that has not recorded yet: its first marker starts the
    child's session. Until then nothing is spent on it."""
    __slots__ = ("_parent", "_config", "_forked")

    def __init__(self, parent, config, forked):
        self._parent, self._config, self._forked = parent, config, forked

    @property
    def value(self):
        with _lock:
            if not self._forked and _is_loading_worker():
                return 0
            if _markers._epoch is self:
                _markers._epoch = _c.epoch
                # A program that was started otherwise inherits the variable, too.
                if self._parent != os.getpid() and (self._forked or _is_worker()):
                    _start_child(self._config)
        return _c.epoch.value


def _setting_name(part):
    return part.partition("=")[0].strip()


def _own_output(path, text, *_):
    """The parent's template of its log's name, with the process in it; None: the default."""
    wanted = os.environ.get("PPROF_OUTPUT")
    for part in os.environ.get("PPROF_SET", "").split(";"):
        if _setting_name(part) == "output":
            wanted = part.partition("=")[2].strip().strip("\"'")
    if not wanted:
        path = path or os.environ.get("PPROF_CONFIG")
        if text is None and path:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        found = _OUTPUT.search(text or "")
        wanted = found and found.group(1).partition(" #")[0].strip()
    if not wanted or "%p" in wanted:
        return wanted
    stem, suffix = os.path.splitext(wanted)
    return stem + ".%p" + suffix


def _start_child(config):
    """Records on as the parent did, into a log of its own. What fails here is told where
    PPROF_LOG_LEVEL asks for it, and the program goes on."""
    global _followed, _exit_is_watched, _in_code
    before = {name: os.environ.get(name) for name in ("PPROF_SET", "PPROF_OUTPUT")}
    try:
        output = _own_output(*config)
        parts = [part for part in (before["PPROF_SET"] or "").split(";")
                 if _setting_name(part) not in _NOT_THE_CHILDS]
        os.environ["PPROF_SET"] = ";".join(parts + ["exports=[]", "log=true", "report=none"])
        if output:
            os.environ["PPROF_OUTPUT"] = output
        path, text, kernels, steps = config
        _in_code = InCode(steps and Schedule(*steps), None, None)
        _call_start(path, text, kernels, _in_code)
    except Exception:
        return
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    _followed = config
    if not _exit_is_watched:
        atexit.register(stop)
        _exit_is_watched = True
    _watch_exit_of_child()


def _told_to_follow():
    try:
        parent, path, text, kernels, steps = json.loads(os.environ[_VARIABLE])
        return int(parent), path, text, kernels, steps
    except (KeyError, ValueError, TypeError):
        return None


def _in_forked_child():
    global _lock, _in_code
    _lock = threading.RLock()
    _in_code = None  # its folder is the parent's
    _markers._resting.clear()
    if _followed is not None:
        _markers._epoch = _Waking(os.getppid(), _followed, True)


def _follow_parent():
    told = _told_to_follow()
    if told:
        _markers._epoch = _Waking(told[0], told[1:], False)


if not is_disabled():
    os.register_at_fork(after_in_child=_in_forked_child)
    _follow_parent()
