# SPDX-License-Identifier: Apache-2.0
"""Finds libpprof, checks its version, and prepares its functions.

Markers go through PyDLL, which keeps the interpreter's lock: they never wait, and to release
the lock would cost more than they do. Calls that may wait (start, stop, opening a device) go
through CDLL.
"""
import ctypes
import os

from ._version import VERSION

SONAME = "libpprof.so.0"
OFF = ("0", "false", "off", "no")


class Error(Exception):
    """A call that the library refused: its message, and its number in `status`."""

    def __init__(self, message, status=0):
        super().__init__(message)
        self.status = status


ONCE, NAMED = 1, 3  # PPROF_SITE_ONCE_, PPROF_SITE_NAMED_


class Site(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("category", ctypes.c_uint32),
                ("color", ctypes.c_uint32), ("state", ctypes.c_uint64),
                ("reserved", ctypes.c_uint64 * 2)]


class ScopeToken(ctypes.Structure):
    _fields_ = [("lane", ctypes.c_void_p), ("epoch", ctypes.c_uint32),
                ("depth", ctypes.c_uint32)]


class RequestHandle(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64), ("range", ctypes.c_uint64)]


class WorkAmount(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("items", ctypes.c_double), ("bytes", ctypes.c_double),
                ("flops", ctypes.c_double), ("params", ctypes.c_double)]


class ErrorText(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 256)]


class ScheduleFields(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("skip_first", ctypes.c_uint64),
                ("wait", ctypes.c_uint64), ("warmup", ctypes.c_uint64),
                ("active", ctypes.c_uint64), ("repeat", ctypes.c_uint64),
                ("skip_first_wait", ctypes.c_uint64)]


class WindowFields(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("index", ctypes.c_uint32),
                ("report", ctypes.c_void_p), ("log", ctypes.c_char_p)]


WINDOW_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(WindowFields))


class StartOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("config_path", ctypes.c_char_p),
                ("schedule", ctypes.POINTER(ScheduleFields)), ("on_window", WINDOW_FUNCTION),
                ("user", ctypes.c_void_p), ("window_log", ctypes.c_char_p)]


class EventFields(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in (
            "start_ns", "end_ns", "device_start_ns", "device_end_ns", "device_error_ns", "flows",
            "num_flows", "work")), ("value", ctypes.c_double),
        *((name, ctypes.c_uint32) for name in (
            "site", "lane", "stream", "depth", "kind", "flags", "window", "attributes")),
        ("cpu", ctypes.c_uint64)]


class CpuUse(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("known", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)] + [(name, ctypes.c_uint64) for name in (
                    "user_ns", "sys_ns", "inner_ns", "run_queue_ns", "voluntary_switches",
                    "involuntary_switches", "minor_faults", "major_faults")]


class BatchFields(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("stride", ctypes.c_size_t),
                ("events", ctypes.c_void_p), ("num_events", ctypes.c_size_t),
                ("first_seq", ctypes.c_uint64), ("end_seq", ctypes.c_uint64),
                ("lane", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


SINK_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
SINK_BATCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(BatchFields))
SINK_WINDOW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_bool,
                               ctypes.c_uint64)


class SinkFields(ctypes.Structure):
    """pprof_sink. Python calls destroy and sets the other fields, unless they are NULL."""
    _fields_ = [("size", ctypes.c_size_t), ("begin", SINK_CALL), ("define", SINK_CALL),
                ("events", SINK_BATCH), ("checkpoint", SINK_CALL), ("window", SINK_WINDOW),
                ("finish", SINK_CALL), ("kept", ctypes.c_void_p),
                ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("ready", ctypes.c_void_p),
                ("name", ctypes.c_char_p)]


class Nothing:
    """The epoch of a package without a library."""
    __slots__ = ()
    value = 0


def _opened(name, mode=os.RTLD_NOW):
    try:
        return ctypes.PyDLL(name, mode=mode)
    except OSError as error:
        return str(error)


def _in_process():
    """The library that this process has already, as it must not have two: the program's own, or
    that of NVTX injection."""
    program = ctypes.PyDLL(None)
    try:
        ctypes.c_uint32.in_dll(program, "pprof_epoch_")
        return program
    except ValueError:
        found = _opened(SONAME, os.RTLD_NOW | os.RTLD_NOLOAD)
        return None if isinstance(found, str) else found


def _beside_package():
    package = os.path.dirname(os.path.realpath(__file__))
    lib = os.path.dirname(os.path.dirname(package))  # of PREFIX/lib/python/pprof
    own = os.path.join(package, "lib")  # of a wheel that brings it
    return [os.path.join(folder, SONAME) for folder in (own, package, lib)]


def _candidates():
    wanted = os.environ.get("PPROF_LIBRARY")
    if wanted:
        return [wanted]
    return [path for path in _beside_package() if os.path.exists(path)] + [SONAME]


def _find():
    library = _in_process()
    if library is not None:
        return library, "in this process"
    tried = []
    for path in _candidates():
        library = _opened(path)
        if not isinstance(library, str):
            return library, path
        tried.append(library)
    folders = ", ".join(os.path.dirname(path) for path in _beside_package())
    looked = ("" if os.environ.get("PPROF_LIBRARY")
              else " (looked in %s, then as the loader does)" % folders)
    raise ImportError(
        "pprof needs its library, %s, and cannot load it%s: %s. Set PPROF_LIBRARY to its path, or "
        "PPROF_ENABLE=0 to run without." % (SONAME, looked, "; ".join(tried)))


def _numbers(version):
    return tuple(int(part) for part in version.split("-")[0].split("."))


def _check(version, where):
    """Refuses a package of another major version, or newer than the library."""
    try:
        has, needs = _numbers(version), _numbers(VERSION)
        fits = has[0] == needs[0] and has >= needs
    except ValueError:
        fits = False
    if not fits:
        raise ImportError("pprof %s cannot use the library %s: it is version %s"
                          % (VERSION, where, version))


_POINTER, _ID, _TEXT = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p
# name: (result, arguments). Arguments None: what is passed is a pointer of ctypes already, and
# checking it again would cost as much as the call.
_MARKERS = {
    "pprof_scope_push_": (ScopeToken, None),
    "pprof_scope_pop_": (None, None),
    "pprof_range_begin": (_ID, None),
    "pprof_range_end": (None, [_ID]),
    "pprof_range_flow": (None, [_ID, _ID]),
    "pprof_range_work": (None, [_ID, _POINTER]),
    "pprof_request_begin": (RequestHandle, [_ID, _POINTER]),
    "pprof_request_input": (None, [RequestHandle, _ID]),
    "pprof_request_waited": (None, [RequestHandle, _ID]),
    "pprof_request_end": (None, [RequestHandle]),
    "pprof_flow_context": (_ID, [_ID, _ID]),
    "pprof_flow_traceparent": (_ID, [_TEXT]),
    "pprof_serve_since": (None, [_POINTER, ctypes.c_size_t, _ID]),
    "pprof_token": (None, [RequestHandle, _ID]),
    "pprof_mark": (None, None),
    "pprof_mark_wrapped_": (None, [_ID]),
    "pprof_count": (None, [_POINTER, ctypes.c_double]),
    "pprof_flow": (None, [_ID]),
    "pprof_work": (None, None),
    "pprof_step": (None, [_ID]),
    "pprof_thread_name": (None, [_TEXT]),
    "pprof_name_object": (None, [_POINTER, _TEXT]),
    "pprof_category_register": (ctypes.c_uint32, [_TEXT]),
    "pprof_session_current": (_POINTER, []),
    "pprof_cuda_device": (_POINTER, []),
    "pprof_device_range_begin": (_ID, [_POINTER, _POINTER, _POINTER]),
    "pprof_device_range_end": (None, [_ID, _POINTER]),
    # What a sink asks, too.
    "pprof_run_info_text": (_TEXT, [_POINTER, _TEXT]),
    "pprof_definition_get_kind": (ctypes.c_int, [_POINTER]),
    "pprof_definition_id": (ctypes.c_uint32, [_POINTER]),
    "pprof_definition_name": (_TEXT, [_POINTER]),
    "pprof_definition_parent": (ctypes.c_uint32, [_POINTER]),
    "pprof_definition_color": (ctypes.c_uint32, [_POINTER]),
    "pprof_definition_number": (_ID, [_POINTER]),
    "pprof_totals_value": (_ID, [_POINTER, ctypes.c_uint32, _TEXT]),
}
_WAITING = {
    "pprof_start_alone_text_": (ctypes.c_int, [_POINTER, _TEXT, _POINTER]),
    "pprof_stop": (ctypes.c_int, [_POINTER]),
    "pprof_report_write_table": (ctypes.c_int, [_POINTER, _TEXT, _POINTER]),
    "pprof_report_write_json": (ctypes.c_int, [_POINTER, _TEXT, _POINTER]),
    "pprof_chrome_writer_create": (ctypes.c_int, [_TEXT, _POINTER, _POINTER]),
    "pprof_log_read": (ctypes.c_int, [_TEXT, _POINTER, _POINTER]),
    "pprof_last_log_": (None, [_TEXT, ctypes.c_size_t]),
    "pprof_backend_cuda": (_POINTER, []),
    "pprof_device_get": (_POINTER, [_POINTER, ctypes.c_int]),
    "pprof_stream_name": (None, [_POINTER, _POINTER, _TEXT]),
}


class Functions:
    """The C functions by their names without `pprof_`, prepared once."""

    def __init__(self, library, where):
        self.where = where
        try:
            version = library["pprof_version"]
            version.restype = _TEXT
            _check(version().decode(), where)
            # Two calls that do nothing, as the markers are made: to measure what Python takes.
            self.no_push, self.no_pop = library["pprof_version"], library["pprof_version"]
            self.no_push.restype, self.no_pop.restype = ScopeToken, None
            self.epoch = ctypes.c_uint32.in_dll(library, "pprof_epoch_")
            self._prepare(library, _MARKERS)
            self._prepare(ctypes.CDLL(None, handle=library._handle), _WAITING)
        except (AttributeError, ValueError) as error:
            raise ImportError("pprof %s cannot use the library %s: %s"
                              % (VERSION, where, error)) from None

    def _prepare(self, library, functions):
        for name, (result, arguments) in functions.items():
            function = library[name]
            function.restype = result
            if arguments is not None:
                function.argtypes = arguments
            setattr(self, name[len("pprof_"):], function)


class NoFunctions:
    """Replaces the functions with PPROF_ENABLE=0. Its epoch is always 0, so markers call
    nothing."""
    where, epoch = None, Nothing()

    def __getattr__(self, name):
        return lambda *arguments: 0


def is_disabled():
    return os.environ.get("PPROF_ENABLE", "").strip() in OFF


functions = NoFunctions() if is_disabled() else Functions(*_find())


def library_path():
    """The path of the library; None: PPROF_ENABLE=0 left it out."""
    return functions.where


def raise_status(status, error):
    """Raises the error of a call, with the message of the library."""
    if status:
        raise Error(error.text.decode("utf-8", "replace") or "status %d" % status, status)
