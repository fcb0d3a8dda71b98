# SPDX-License-Identifier: Apache-2.0
"""Marks the functions of a program's own files, for a program that marks nothing.

A function stays the object that it is, and only its code is replaced: others may have copied or
pickled it. Until a call of it has ended, its ranges take no part in nesting: it may run all the time,
and must not hide a loop's stages. `main`, and what a thread begins with, is not marked until then. A
short function, and one that calls itself, get their code back.
"""
import functools
import inspect
import os
import sys
import threading
import time
import types

from . import _markers
from ._hook_calls import _flow, _Opened, _pop, _push, _request, code_like, in_turns, marked
from ._markers import _byref, _site

JUDGED, SHORT_NS = 100, 50_000  # each time after so many calls: most are shorter
_PYTHON = os.path.join(os.path.dirname(os.__file__), "")
_STAGES = ("__call__", "__getitem__", "__iter__", "__next__")  # of models, data sets and loaders

_now = time.perf_counter_ns


def _plain(*args, **kwargs):
    call = "replaced"
    return call(*args, **kwargs)


class _Call(functools.partial):
    """The constant in a function's code that calls what it was."""

    def __reduce__(self):  # where a function is copied by its code
        return functools.partial, (self.own,)


def _is_whole(code, caller):
    """Whether this is all that a program or a thread does; Python's own code calls a worker."""
    return (code.co_name == "main" or caller is None
            or caller.co_filename.startswith(_PYTHON))


def _calls_whole():
    frame = sys._getframe(2)
    return _is_whole(frame.f_code, frame.f_back and frame.f_back.f_code)


class _Function:
    """A function with calls that are ranges, while it is worth it."""

    def __init__(self, function, name, category):
        self._function, self._code, self.site = function, function.__code__, (name, category)
        self._inside, self.has_ended = set(), False
        self._calls = self._short = 0  # since it was judged
        self._is_wrapper = hasattr(function, "__wrapped__")
        self.own = own = types.FunctionType(self._code, function.__globals__, function.__name__,
                                            function.__defaults__, function.__closure__)
        own.__kwdefaults__ = function.__kwdefaults__

    def replace(self):
        own, turn = self.own, self._turn
        if inspect.iscoroutinefunction(own):
            rule = types.SimpleNamespace(name=self.site[0], category=self.site[1], words=())
            call = _Call(marked(own, rule))
        elif inspect.isgeneratorfunction(own):
            call = _Call(lambda *args, **kwargs: in_turns(turn, own(*args, **kwargs)))
        else:
            call = _Call(turn, own)
        call.own = own
        self._function.__code__ = self._code_that_calls(call).replace(
            co_freevars=self._code.co_freevars)  # unused, but as many as its closure has
        if not self._is_wrapper:
            self._function.__wrapped__ = own
        return self

    def _code_that_calls(self, call):
        own, plain = self.own, _plain.__code__
        if inspect.iscoroutinefunction(own) or inspect.isgeneratorfunction(own):
            return code_like(own, call)
        return plain.replace(
            co_name=self._code.co_name, co_filename=self._code.co_filename,
            co_consts=tuple(call if one == "replaced" else one for one in plain.co_consts))

    def restore(self):
        self._function.__code__ = self._code
        if not self._is_wrapper:
            self._function.__dict__.pop("__wrapped__", None)

    def _turn(self, function, *args, **kwargs):
        thread = threading.get_ident()
        if thread in self._inside:
            self.restore()
            return function(*args, **kwargs)
        self._inside.add(thread)
        began, token, first = _now(), None, None
        if self.has_ended and _markers._epoch.value:
            token = _byref(_push(_site(*self.site)))
            request = _request.get()
            if request:
                _flow(request)
        elif _markers._epoch.value and not _calls_whole():
            first = _Opened(_site(*self.site))
        try:
            return function(*args, **kwargs)
        finally:
            if token is not None:
                _pop(token)
            if first is not None:
                first.__exit__(None, None, None)
            self._inside.discard(thread)
            self.has_ended = True
            self._calls += 1
            self._short += _now() - began < SHORT_NS
            if self._calls >= JUDGED:
                if 2 * self._short > self._calls:
                    self.restore()
                self._calls = self._short = 0


def _is_marked(function):
    return any(isinstance(one, functools.partial) for one in function.__code__.co_consts)


def _functions_of(module):
    """(name, function) of the functions and methods that this module defines. Of aliases the first
    one counts."""
    for key, value in list(vars(module).items()):
        is_class = isinstance(value, type) and value.__module__ == module.__name__
        for name, one in list(vars(value).items()) if is_class else ((key, value),):
            function = getattr(one, "__func__", one)
            if (isinstance(function, types.FunctionType)
                    and function.__module__ == module.__name__
                    and (not name.startswith("__") or name in _STAGES)
                    and not _is_marked(function)
                    and not inspect.isasyncgenfunction(function)):
                yield value.__qualname__ + "." + name if is_class else name, function


def mark_all(module, category, known=()):
    """Marks the functions of a module beside the `known`; what it returns can be restored."""
    known = {one.own.__code__ for one in known}
    prefix = "" if module.__name__.startswith("__") else module.__name__.rpartition(".")[2] + "."
    return [_Function(function, prefix + name, category).replace()
            for name, function in _functions_of(module) if function.__code__ not in known]


def _stack(thread):
    frame, codes = sys._current_frames().get(thread), []
    while frame:
        codes.append(frame.f_code)
        frame = frame.f_back
    return codes[::-1]


def follow(thread, functions):
    """Marks the innermost call of these that this thread is in since before they were marked. Its
    end is looked for, within a twentieth of its time."""
    functions = {function.own.__code__: function for function in functions}
    stack = _stack(thread)
    place = max((i for i, code in enumerate(stack) if code in functions), default=-1)
    if place < 1 or not _markers._epoch.value or _is_whole(stack[place], stack[place - 1]):
        return
    began, function = _now(), functions[stack[place]]
    with _Opened(_site(*function.site)):
        while _stack(thread)[place:place + 1] == [stack[place]]:
            time.sleep(min(0.001 + (_now() - began) / 20e9, 1))
    function.has_ended = True
