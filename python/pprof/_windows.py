# SPDX-License-Identifier: Apache-2.0
"""Capture windows in code: when to record, and what `on_window` gets."""
import ctypes
import json
import operator
import os
import threading
from collections import namedtuple

from ._library import (ErrorText, ScheduleFields, SinkFields, StartOptions, WINDOW_FUNCTION,
                       functions as _c, is_disabled, raise_status)
from ._report import Report


# In the order of the C structure.
Schedule = namedtuple("Schedule", "skip_first wait warmup active repeat skip_first_wait")


def schedule(*, active, wait=0, warmup=0, repeat=0, skip_first=0, skip_first_wait=0):
    """Which steps are recorded, in cycles: after `skip_first` steps, again and again, `wait` steps
    that are not, `warmup` steps that are thrown away, `active` steps that are kept, a window;
    `repeat` times, 0: for ever. As torch's schedule; Paddle's closed, ready and record are `wait`,
    `warmup` and `active`."""
    numbers = [operator.index(number) for number in (skip_first, wait, warmup, active, repeat,
                                                     bool(skip_first_wait))]
    if min(numbers) < 0 or active == 0 or max(numbers) >= 1 << 63:
        raise ValueError("a schedule counts steps from 0, and 'active' from 1")
    return Schedule(*numbers)


def as_schedule(value):
    """A Schedule, or (a, b) for the steps a to b - 1; None."""
    if value is None or isinstance(value, Schedule):
        return value
    if isinstance(value, (tuple, list)) and len(value) == 2:
        first, end = (max(operator.index(number), 0) for number in value)
        if first >= end:
            raise ValueError("no step is in [%d, %d)" % (first, end))
        return schedule(skip_first=max(first - 1, 0), warmup=int(first > 0), active=end - first,
                        repeat=1)
    raise TypeError("schedule is pprof.schedule(...) or (a, b), not %r" % (value,))


def _text(write, report, views):
    """The text that a writer of reports prints. `open_memstream` and `free` are the C library's."""
    c = ctypes.CDLL(None)
    c.open_memstream.restype = ctypes.c_void_p
    c.open_memstream.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    c.fclose.argtypes = c.free.argtypes = [ctypes.c_void_p]
    c.free.restype = None
    text, size = ctypes.c_void_p(), ctypes.c_size_t()
    out = c.open_memstream(ctypes.byref(text), ctypes.byref(size))
    if not out:
        raise MemoryError
    status = write(report, views, out)
    c.fclose(out)
    try:
        raise_status(status, ErrorText())
        return ctypes.string_at(text, size.value).decode("utf-8", "replace")
    finally:
        c.free(text)


def _stages(report):
    view = json.loads(_text(_c.report_write_json, report, b"stages"))["views"]["stages"]
    names = [column["name"] + ("_ns" if column.get("unit") == "ns" else "")
             for column in view["columns"]]
    found = {}
    for row in view["rows"]:
        figures = dict(zip(names, row))
        found.setdefault(figures["name"], figures)  # the host's come first
    return found


class Window:
    """A capture window that is complete."""
    __slots__ = ("index", "log", "tables", "stages")

    def __init__(self, index, log, report):
        self.index, self.log = index, log
        self.tables = Report(_text(_c.report_write_table, report, None) if report else "")
        self.stages = _stages(report) if report else {}

    def __repr__(self):
        return "<pprof window %d, %d stages>" % (self.index, len(self.stages))

    def trace(self, path):
        """Writes the window's Chrome trace, compressed where `path` ends in .gz."""
        if self.log is None:
            raise ValueError("a trace is made of the window's log, and there is none")
        error, sink = ErrorText(), ctypes.POINTER(SinkFields)()
        raise_status(_c.chrome_writer_create(os.fsencode(path), ctypes.byref(sink),
                                             ctypes.byref(error)), error)
        try:
            raise_status(_c.log_read(os.fsencode(self.log), sink, ctypes.byref(error)), error)
        finally:
            sink.contents.destroy(sink)


_here = threading.local()


def is_in_callback():
    """True: a stop would wait for this very thread."""
    return getattr(_here, "is_telling", False)


def forget_callback():
    """In a forked child: the thread of the callback does not exist here."""
    _here.is_telling = False


class InCode:
    """The values that `start` gives to the library, kept until the next start."""

    def __init__(self, schedule_, on_window, window_log):
        self._on_window, self._folder = on_window, None
        self._fields = ScheduleFields(ctypes.sizeof(ScheduleFields), *schedule_) \
            if schedule_ else None
        self._function = WINDOW_FUNCTION(self._tell) if on_window else WINDOW_FUNCTION()
        self._log = None if not window_log else os.fsencode(window_log)
        if on_window and window_log is None and not is_disabled():
            import tempfile  # most programs that mark never need it
            self._folder = tempfile.mkdtemp(prefix="pprof-windows-")
            self._log = os.fsencode(self._folder.replace("%", "%%") + "/window.%w.pplog")

    def options(self, path):
        fields = ctypes.pointer(self._fields) if self._fields else None
        return StartOptions(ctypes.sizeof(StartOptions), path, fields, self._function, None,
                            self._log)

    def _tell(self, _, told):
        """Runs on a thread of the library. Exceptions go to sys.unraisablehook, with traceback, and
        the next window still comes."""
        window, _here.is_telling = told.contents, True
        log = os.fsdecode(window.log) if window.log else None
        try:
            self._on_window(Window(window.index, log, window.report))
        finally:
            _here.is_telling = False
            if self._folder and log:
                os.unlink(log)

    def clear(self):
        if self._folder:
            import shutil
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
