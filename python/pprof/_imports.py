# SPDX-License-Identifier: Apache-2.0
"""Times imports for the ledger. It needs nothing else of the package: site/sitecustomize.py loads it
before the program imports anything.
"""
import functools
import sys
import time
from _thread import _local

NAME = "_pprof_imports"  # in sys.modules: the package may be there twice, this module is not
OWN = ("pprof", "_pprof_hooked")
EARLY_NS, MOST_EARLY = 10_000_000, 64  # imports that nobody recorded, for a later session

early = []  # (package, ns)
begin = end = None  # the ledger's: begin(package) answers what `end` takes, None: nothing records
behind = {}  # the ledger's: what is called with a module once it is loaded

_now = time.perf_counter_ns
_state = _local()  # packages that are being imported


def _timed(exec_module):
    def timed(self, module, name):
        package = name.partition(".")[0]
        packages = _state.__dict__.setdefault("packages", [])
        if package in packages or package in OWN:  # its time includes its parts
            return exec_module(self, module)
        before = _now()
        token = begin(package) if begin is not None else None
        packages.append(package)
        try:
            return exec_module(self, module)
        finally:
            packages.remove(package)
            took = _now() - before
            if token is not None:
                end(token)
            elif not packages and took >= EARLY_NS and len(early) < MOST_EARLY:
                early.append((package, took))

    @functools.wraps(exec_module)
    def load(self, module):
        name = getattr(module, "__name__", "?")
        timed(self, module, name)
        if name in behind:
            behind[name](module)
    return load


def watch():
    """The module of this name that times all imports from now on."""
    if NAME not in sys.modules:
        sys.modules[NAME] = sys.modules[__name__]
        from importlib import machinery
        for loader in (machinery.SourceFileLoader, machinery.SourcelessFileLoader,
                       machinery.ExtensionFileLoader):
            loader.exec_module = _timed(loader.exec_module)
    return sys.modules[NAME]
