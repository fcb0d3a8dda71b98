# SPDX-License-Identifier: Apache-2.0
"""Marks the functions of a program's own files, for a program that marks nothing.

A function stays the object that it is, and only its code is replaced: others may have copied or
pickled it. It is marked once a call of it has ended, so `main` and the functions of workers, which
run all the time, are not. A short function, and one that calls itself, get their code back.
"""
import functools
import inspect
import threading
import time
import types

from . import _markers
from ._hook_calls import _flow, _pop, _push, _request, in_turns, marked
from ._markers import _byref, _site

JUDGED, SHORT_NS = 100, 50_000  # each time after so many calls: most are shorter

_now = time.perf_counter_ns


def _plain(*args, **kwargs):
    call = "replaced"
    return call(*args, **kwargs)


def _generator(*args, **kwargs):
    call = "replaced"
    return (yield from call(*args, **kwargs))


async def _coroutine(*args, **kwargs):
    call = "replaced"
    return await call(*args, **kwargs)


class _Call(functools.partial):
    """The constant in a function's code that calls what it was."""

    def __reduce__(self):  # where a function is copied by its code
        return functools.partial, (self.own,)


class _Function:
    """A function with calls that are ranges, while it is worth it."""

    def __init__(self, function, name, category):
        self._function, self._code, self._site = function, function.__code__, (name, category)
        self._inside, self._has_ended = set(), False
        self._calls = self._short = 0  # since it was judged
        self.own = own = types.FunctionType(self._code, function.__globals__, function.__name__,
                                            function.__defaults__)
        own.__kwdefaults__ = function.__kwdefaults__

    def replace(self):
        own, turn = self.own, self._turn
        if inspect.iscoroutinefunction(own):
            rule = types.SimpleNamespace(name=self._site[0], category=self._site[1], words=())
            kind, call = _coroutine, _Call(marked(own, rule))
        elif inspect.isgeneratorfunction(own):
            kind, call = _generator, _Call(lambda *args, **kwargs: in_turns(
                turn, own(*args, **kwargs)))
        else:
            kind, call = _plain, _Call(turn, own)
        call.own = own
        code = kind.__code__
        self._function.__code__ = code.replace(
            co_name=self._code.co_name, co_filename=self._code.co_filename,
            co_consts=tuple(call if one == "replaced" else one for one in code.co_consts))
        self._function.__wrapped__ = own
        return self

    def restore(self):
        self._function.__code__ = self._code
        self._function.__dict__.pop("__wrapped__", None)

    def _turn(self, function, *args, **kwargs):
        thread = threading.get_ident()
        if thread in self._inside:
            self.restore()
            return function(*args, **kwargs)
        self._inside.add(thread)
        began, token = _now(), None
        if self._has_ended and _markers._epoch.value:
            token = _byref(_push(_site(*self._site)))
            request = _request.get()
            if request:
                _flow(request)
        try:
            return function(*args, **kwargs)
        finally:
            if token is not None:
                _pop(token)
            self._inside.discard(thread)
            self._has_ended = True
            self._calls += 1
            self._short += _now() - began < SHORT_NS
            if self._calls >= JUDGED:
                if 2 * self._short > self._calls:
                    self.restore()
                self._calls = self._short = 0


def _functions_of(module):
    """Functions and methods that this module defines; no closure, since its code needs its own."""
    for value in list(vars(module).values()):
        is_class = isinstance(value, type) and value.__module__ == module.__name__
        for one in list(vars(value).values()) if is_class else (value,):
            function = getattr(one, "__func__", one)
            if (isinstance(function, types.FunctionType) and function.__closure__ is None
                    and function.__module__ == module.__name__ and function.__name__.isidentifier()
                    and not function.__name__.startswith("__")
                    and not hasattr(function, "__wrapped__")
                    and not inspect.isasyncgenfunction(function)):
                yield function


def mark_all(module, category):
    """Marks the functions of a module; what it returns can be restored."""
    prefix = "" if module.__name__.startswith("__") else module.__name__.rpartition(".")[2] + "."
    return [_Function(function, prefix + function.__qualname__, category).replace()
            for function in _functions_of(module)]
