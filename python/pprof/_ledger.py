# SPDX-License-Identifier: Apache-2.0
"""Records the interpreter's own time: garbage collections and imports as ranges, callbacks that
block an event loop, and torch's recompiles and allocator retries as counters.

Installed where PPROF_LEDGER is set, as `pprof-report run` does. It records while a session runs
and starts none. docs/production.md says what becomes of it.
"""
import functools
import gc
import sys
import threading
import time

from . import _markers
from ._library import functions as _c, is_disabled

GARBAGE, IMPORT, LOOP = "Garbage", "Import", "EventLoop"  # categories
LOOPS = "asyncio.events"
HELD_NS = 10_000_000  # a longer callback blocks its loop
EARLY_NS, MOST_EARLY = 10_000_000, 64  # imports before a session that are kept for it
EVERY_NS = 1_000_000_000  # torch's counters

_now = time.perf_counter_ns
_state = threading.local()  # tokens of collections, packages that are being imported
_early = []  # (package, ns)
_next_ns = 0


def _records():
    """True: a session records. The epoch alone may be that of a process that sleeps until its first
    marker: the ledger must not wake it."""
    if not _c.epoch.value or not _c.session_current():
        return False
    while _early:
        name, ns = _early.pop(0)
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

def _timed_import(exec_module):
    own = __package__.partition(".")[0]

    def timed(self, module):
        package = getattr(module, "__name__", "?").partition(".")[0]
        packages = _state.__dict__.setdefault("packages", [])
        if package in packages or package == own:  # its time includes its parts
            return exec_module(self, module)
        token, before = None, _now()
        if _records():
            site = _markers._site("import " + package, IMPORT)
            token = _markers._byref(_markers._scope_push(site))
        packages.append(package)
        try:
            return exec_module(self, module)
        finally:
            packages.remove(package)
            took = _now() - before
            if token is not None:
                _markers._scope_pop(token)
            elif not packages and took >= EARLY_NS and len(_early) < MOST_EARLY:
                _early.append((package, took))

    @functools.wraps(exec_module)
    def load(self, module):
        timed(self, module)
        if getattr(module, "__name__", None) == LOOPS:
            _watch_loops(module)
    return load


def _watch_imports():
    from importlib import machinery
    loaders = (machinery.SourceFileLoader, machinery.SourcelessFileLoader,
               machinery.ExtensionFileLoader)
    for loader in loaders:
        loader.exec_module = _timed_import(loader.exec_module)


# ---- event loops ----

def _name_of(handle):
    """The task's coroutine, or the function."""
    callback = handle._callback
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


def _watch_loops(events):
    run = events.Handle._run

    def timed(self, run=run, now=_now):
        before = now()
        run(self)  # its loop handles what a callback raises
        took = now() - before
        if took >= HELD_NS and _records():
            _markers.count("loop:" + _name_of(self), took / 1e6, category=LOOP)
    events.Handle._run = timed


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
    if LOOPS in sys.modules:
        _watch_loops(sys.modules[LOOPS])
    _markers._each_step = per_step
