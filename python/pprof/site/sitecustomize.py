# SPDX-License-Identifier: Apache-2.0
"""Installs the hooks that PPROF_HOOKS lists, then runs the sitecustomize that this one hides."""
import importlib.machinery
import importlib.util
import os
import sys


def _load(name):
    """A file of the package under a name of its own: the program's own pprof, or another package of
    that name, stays its own."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = importlib.util.spec_from_file_location("_pprof_hooked." + name,
                                                  os.path.join(package, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _install():
    hooks = _load("hooks")
    hooks.install_listed()
    if os.environ.get("PPROF_LEDGER", "0") not in ("", "0"):
        _load("_imports").watch()
        sys.meta_path.insert(0, _Ledger(hooks))


class _Ledger:
    """Loads the package, and with it the ledger, for a program that marks by NVTX alone."""

    def __init__(self, hooks):
        self._hooks = hooks

    def find_spec(self, name, path=None, target=None):
        if name == "nvtx":
            sys.meta_path.remove(self)
            try:
                self._hooks._package()
            except Exception as error:  # the program runs without
                sys.stderr.write("pprof: the ledger is left out: %s\n" % error)


def _run_hidden():
    here = os.path.dirname(os.path.abspath(__file__))
    path = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


if os.environ.get("PPROF_HOOKS"):
    try:
        _install()
    except Exception as error:  # the program runs without
        sys.stderr.write("pprof: the hooks are left out: %s\n" % error)
_run_hidden()
