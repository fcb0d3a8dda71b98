# SPDX-License-Identifier: Apache-2.0
"""Starting and stopping, in this process and in those that multiprocessing makes of it."""
import atexit
import contextlib
import ctypes
import json
import os
import sys
import threading
import warnings

from . import _markers
from ._config import as_config, as_settings, leads_into_proc, of_child, settings
from ._library import Error, ErrorText, functions as _c, is_disabled, raise_status
from .hooks import set_role
from ._windows import InCode, Schedule, as_schedule, forget_callback, is_in_callback

# Gives children without this memory (spawn, forkserver) the recording of their parent.
_VARIABLE = "PPROF_PYTHON_FOLLOW"

# A signal's handler may mark, or stop, on a thread that holds it.
_lock = threading.RLock()
_followed = None  # what children record, while they are to: _as_started, then kernels and steps
_exit_is_watched = False
_in_code = None  # callbacks, kept while the library may call them
_is_measured = False  # Python's part of a marker's cost
_BUSY = 3  # PPROF_STATUS_BUSY


@contextlib.contextmanager
def _variable(name, value):
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _call_start(path, text, kernels, code):
    """`path` or `text` may be None, or both."""
    if kernels:
        with _variable("PPROF_SET", as_settings({"devices.kernels": "true", **settings()})):
            _call_start(path, text, False, code)
        return
    error = ErrorText()
    options = code.options(None if path is None else os.fsencode(path))
    status = _c.start_alone_text_(
        ctypes.byref(options), None if text is None else text.encode("utf-8", "replace"),
        ctypes.byref(error))
    raise_status(status, error)


def measure_markers():
    """Gives the library Python's part of a marker's cost, once in a process, before the start."""
    global _is_measured
    if not _is_measured and not is_disabled():
        _c.mark_wrapped_(int(_markers.wrapper_ns() * 1000))
        _is_measured = True


def _not_in_callback():
    if is_in_callback():
        raise Error("a window is being reported", _BUSY)


def _as_started(path, text):
    """The folder, the file and the text, which children need in any folder."""
    path = path or (os.environ.get("PPROF_CONFIG") if text is None else None)
    try:
        folder = os.getcwd()
    except OSError:  # gone; the file was found without
        folder = ""
    if path and leads_into_proc(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            path, text = None, file.read()
    return folder, os.path.join(folder, path) if path else None, text


def start(config=None, *, fork="follow", kernels=False, schedule=None, on_window=None,
          window_log=None):
    """Starts a session, as the configuration says: a path, YAML as a text or a dictionary; None:
    PPROF_CONFIG, else the defaults. With fork="off" processes that multiprocessing, or os.fork,
    makes of this one record nothing by themselves. With `kernels` each kernel and copy of CUDA is
    recorded, too (docs/devices.md), as by `devices: {kernels: true}`.

    `schedule` says which steps are recorded, instead of the configuration's `capture`:
    pprof.schedule(...), or (a, b) for the steps a to b - 1. `on_window` is called with each window
    once it is complete, on a thread of its own; its exceptions go to sys.unraisablehook. Each
    window has a log of its own: at `window_log`, a path with %w for its number; None: for as long
    as `on_window` runs; False: none.

    Raises Error in the library's words; nothing was started then."""
    global _followed, _exit_is_watched, _in_code
    if fork not in ("follow", "off"):
        raise ValueError("fork is 'follow' or 'off', not %r" % (fork,))
    if on_window is not None and not callable(on_window):
        raise TypeError("on_window is a function, not %r" % (on_window,))
    path, text = as_config(config)
    steps = as_schedule(schedule)
    _not_in_callback()
    with _lock:
        measure_markers()
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
        _follow(_as_started(path, text) + (bool(kernels), steps) if fork == "follow" else None)


def stop():
    """Stops what `start` has started and finishes its files. With nothing started it does nothing.
    The result says that the log has another name than was asked for, where one was there already;
    else it is None.

    Raises Error when a file could not be finished; the session is stopped all the same."""
    _not_in_callback()
    with _lock:
        _follow(None)
        _markers._epoch = _c.epoch  # a child that has marked nothing does not wake any more
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
    """True: a spawned worker imports the program before it knows that it is one."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and getattr(process.current_process(), "_inheriting", False)


class _Waking:
    """Replaces the epoch in a child that has not recorded yet: its first marker starts its session.
    Until then a marker costs nothing more."""
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


def _start_child(config):
    """Continues the parent's recording in files of the child. On failure the program goes on
    without."""
    global _followed, _exit_is_watched, _in_code
    folder, path, text, kernels, steps = config
    if _is_worker():
        set_role((getattr(sys, "argv", None) or [""])[0],
                 sys.modules["multiprocessing.process"].current_process().name)
    try:
        with _variable("PPROF_SET", of_child(folder, path, text)):
            measure_markers()
            _in_code = InCode(steps and Schedule(*steps), None, None)
            _call_start(path, text, kernels, _in_code)
    except Exception as error:
        if getattr(error, "status", None) != _BUSY:  # by C, which records the markers
            warnings.warn("pprof: process %d is not recorded: %s" % (os.getpid(), error),
                          RuntimeWarning, stacklevel=4)
        return
    _followed = config
    if not _exit_is_watched:
        atexit.register(stop)
        _exit_is_watched = True
    _watch_exit_of_child()


def _told_to_follow():
    try:
        parent, folder, path, text, kernels, steps = json.loads(os.environ[_VARIABLE])
        return int(parent), folder, path, text, kernels, steps
    except (KeyError, ValueError, TypeError):
        return None


def _in_forked_child():
    global _lock, _in_code
    _lock = threading.RLock()
    _in_code = None  # its folder is the parent's
    forget_callback()
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
