# SPDX-License-Identifier: Apache-2.0
"""Records the interpreter's own time: garbage collections and imports as ranges, callbacks that
block an event loop, and torch's recompiles and allocator retries as counters.

Installed where PPROF_LEDGER is set, as `pprof-report run` does. It records while a session runs
and starts none. docs/production.md says what becomes of it.
"""
import atexit
import functools
import gc
import sys
import threading
import time

from . import _imports, _markers
from ._library import functions as _c, is_disabled

GARBAGE, IMPORT, LOOP = "Garbage", "Import", "EventLoop"  # categories
LOOPS = "asyncio.events"
HELD_NS = 10_000_000  # a longer callback blocks its loop
EVERY_NS = 1_000_000_000  # torch's counters

_now = time.perf_counter_ns
_imports = _imports.watch()
_state = threading.local()  # tokens of collections
_next_ns = 0


def _records():
    """True: a session records. The epoch alone may be that of a process that sleeps until its first
    marker: the ledger must not wake it."""
    if not _c.epoch.value or not _c.session_current():
        return False
    while _imports.early:
        name, ns = _imports.early.pop(0)
        _markers.count("import:" + name, ns / 1e6, category=IMPORT)
    return True


# ---- collections ----

def _collected(phase, info):
    """A function for gc.callbacks; it runs on the collecting thread, inside its current range."""
    tokens = _state.__dict__.setdefault("tokens", [])
    if phase == "start":
        site = _records() and _markers._site("gc generation %d" % info["generation"], GARBAGE)
        tokens.append(_markers._byref(_markers._scope_push(site)) if site else None)
    elif tokens:
        token = tokens.pop()
        if token is not None:
            _c.work(_markers._amount(0, info["collected"], 0, 0, 0))
            _markers._scope_pop(token)


# ---- imports ----

def _import_begins(package):
    if not _records():
        return None
    return _markers._byref(_markers._scope_push(_markers._site("import " + package, IMPORT)))


def _watch_imports():
    _imports.begin, _imports.end = _import_begins, _markers._scope_pop
    _imports.behind.update(_WATCHES)


# ---- event loops ----

def _name_of(callback):
    """The task's coroutine, or the function."""
    if callback is None:  # cancelled by itself
        return "a callback"
    task = getattr(callback, "__self__", None)
    coroutine = getattr(task, "get_coro", None)
    if coroutine is not None:
        callback = coroutine()
    while isinstance(callback, functools.partial):
        callback = callback.func
    return (getattr(callback, "__qualname__", None) or type(callback).__name__).replace(
        "<locals>.", "")


def _ended(callback, took):
    if took >= HELD_NS and _records():
        _markers.count("loop:" + _name_of(callback), took / 1e6, category=LOOP)


def _watch_loops(events):
    run = events.Handle._run

    def timed(self, run=run, now=_now):
        before = now()
        run(self)  # its loop handles what a callback raises
        took = now() - before
        if took >= HELD_NS:
            _ended(self._callback, took)
    events.Handle._run = timed


def _timed(callback, now=_now):
    def run(*args):
        before = now()
        try:
            callback(*args)  # its loop handles what a callback raises
        finally:
            if now() - before >= HELD_NS:
                _ended(callback, now() - before)
    return run


def _watch_uvloop(uvloop):
    """Its handles are C: the callbacks that the loop takes are replaced."""
    def taking(method):
        @functools.wraps(method)
        def call(self, callback, *args, **kwargs):
            return method(self, _timed(callback), *args, **kwargs)
        return call

    def taking_late(method):
        @functools.wraps(method)
        def call(self, when, callback, *args, **kwargs):
            return method(self, when, _timed(callback), *args, **kwargs)
        return call
    for name, replace in (("call_soon", taking), ("call_soon_threadsafe", taking),
                          ("call_later", taking_late), ("call_at", taking_late)):
        setattr(uvloop.Loop, name, replace(getattr(uvloop.Loop, name)))


_WATCHES = {LOOPS: _watch_loops, "uvloop": _watch_uvloop}


# ---- torch ----

def _torch_counters(torch):
    dynamo = sys.modules.get("torch._dynamo.utils")
    if dynamo is not None:
        stats = dynamo.counters["stats"]
        _markers.count("torch.compiled_graphs", stats["unique_graphs"], category="Torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is not None and cuda.is_initialized():
        retries = cuda.memory_stats().get("num_alloc_retries", 0)
        _markers.count("torch.alloc_retries", retries, category="Torch")


def per_step():
    """pprof.step calls this once a step. It asks torch once a second, if the program has loaded
    it."""
    global _next_ns
    torch = sys.modules.get("torch")
    now = _now()
    if torch is None or now < _next_ns or not _records():
        return
    _next_ns = now + EVERY_NS
    try:
        _torch_counters(torch)
    except Exception:  # the internals of another version
        pass


def install():
    """Watches from now on. Calls after the first do nothing."""
    # The package may be there twice: the program's own, and that of hooks.
    if getattr(sys, "_pprof_ledger", False) or is_disabled():
        return
    sys._pprof_ledger = True
    gc.callbacks.append(_collected)
    _watch_imports()
    for name, watch in _WATCHES.items():
        if name in sys.modules:
            watch(sys.modules[name])
    _markers._each_step = per_step
    atexit.register(_records)  # imports before a session that collects nothing
