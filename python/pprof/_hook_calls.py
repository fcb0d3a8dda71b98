# SPDX-License-Identifier: Apache-2.0
"""Replaces functions for hooks.py: markers with fields of the arguments in their names, and the
adapters that a row names by `by=`."""
import contextvars
import functools
import importlib
import inspect
import itertools
import os
import re
import threading
import types

from . import _markers
from ._markers import Range, _Decorator, _byref, _c, _site
from ._session import measure_markers

_push, _pop, _range_begin, _range_end = (_c.scope_push_, _c.scope_pop_, _c.range_begin,
                                         _c.range_end)
_flow, _range_flow = _c.flow, _c.range_flow
measure_markers()  # the session may begin with a marker, without a start
_FIELD = re.compile(r"\{(#?)([^{}#.]+)((?:\.[^{}.]+)*)\}")
_numbers = itertools.count(1)
_request = contextvars.ContextVar("pprof_request", default=0)  # of this task or thread
_loop = contextvars.ContextVar("pprof_loop", default=None)  # [name of this request's next turns]


# ---- names ----

def _getter(match, names):
    """The function of the arguments that gives a field. LookupError: there is none."""
    counts, first, rest = match[1], match[2], match[3].split(".")[1:]
    place = int(first) if first.isdigit() else names.index(first) if first in names else None
    if place is None:
        raise LookupError(first)

    def get(args, kwargs):
        try:
            value = kwargs[first] if first in kwargs else args[place]
            for name in rest:
                value = value[name] if isinstance(value, dict) else getattr(value, name)
            return len(value) if counts else value
        except Exception:
            return "?"
    return get


def _namer(text, function):
    """A function of (args, kwargs) that makes the name; None: it has no fields."""
    fields = list(_FIELD.finditer(text))
    if not fields:
        return None
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # one of C
        names = []
    getters = [_getter(field, names) for field in fields]
    pattern = _FIELD.sub("%s", text.replace("%", "%%"))
    return lambda args, kwargs: pattern % tuple([get(args, kwargs) for get in getters])


# ---- calls ----

class _Opened:
    """A range that may end anywhere and serves the request of its task."""
    __slots__ = ("_number",)

    def __init__(self, site, request=0):
        self._number = _range_begin(site)
        request = request or _request.get()
        if request:
            _range_flow(self._number, request)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        _range_end(self._number)


class _Hooked(_Decorator):
    """Decorates as a Range does, with names from the arguments."""
    __slots__ = ("_name", "_category", "_namer", "_begins")

    def __init__(self, name, category, function, begins=False):
        self._name, self._category = name, category
        self._namer, self._begins = _namer(name, function), begins

    def _site_of(self, args, kwargs):
        if self._begins:
            _turn()
        namer = self._namer
        return _site(namer(args, kwargs) if namer else self._name, self._category)

    def _another(self, args=(), kwargs=None):
        return _Opened(self._site_of(args, kwargs))

    def _wrap_function(self, function):
        site_of, name, category = self._site_of, self._name, self._category
        is_plain = not self._namer and not self._begins

        @functools.wraps(function)
        def call(*args, **kwargs):
            if not _markers._epoch.value:
                return function(*args, **kwargs)
            token = _byref(_push(_site(name, category) if is_plain else site_of(args, kwargs)))
            request = _request.get()
            if request:
                _flow(request)
            try:
                return function(*args, **kwargs)
            finally:
                _pop(token)
        return call


_turned = False


def _turn():
    """Begins a step when a row's function is called; the step before has ended."""
    global _turned
    if _turned:
        _markers.step()
    _turned = True


def marked(function, rule):
    """The function with the rule's range around each call."""
    return _Hooked(rule.name, rule.category, function, "step" in rule.words)(function)


def outermost(function, rule, behind=None):
    """As `marked`, but only for the outermost of nested calls on a thread; all are plain
    functions. `behind` is called after each of them."""
    inner, local = marked(function, rule), threading.local()

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not _markers._epoch.value or getattr(local, "is_inside", False):
            return function(*args, **kwargs)
        local.is_inside = True
        try:
            return inner(*args, **kwargs)
        finally:
            local.is_inside = False
            if behind is not None:
                behind()
    return call


def once(function, remove):
    """Calls `remove` before the first call."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        if remove is not None:
            remove()
        return function(*args, **kwargs)
    return call


@functools.lru_cache(maxsize=None)
def _passing(names, positional, positional_only, keywords, flags, is_coroutine):
    """Code that passes parameters like these to the constant "replaced"."""
    takes, rest = list(names[:positional]), list(names[positional + keywords:])
    passes = takes[:]
    if positional_only:
        takes.insert(positional_only, "/")
    if flags & inspect.CO_VARARGS:
        takes.append("*" + rest.pop(0))
        passes.append(takes[-1])
    elif keywords:
        takes.append("*")
    for name in names[positional:positional + keywords]:
        takes.append(name)
        passes.append("%s=%s" % (name, name))
    if flags & inspect.CO_VARKEYWORDS:
        takes.append("**" + rest.pop(0))
        passes.append(takes[-1])
    made = {}
    exec("%sdef call(%s):\n _pprof = 'replaced'\n return (%s _pprof(%s))" % (
        "async " if is_coroutine else "", ", ".join(takes),
        "await" if is_coroutine else "yield from", ", ".join(passes)), made)
    return made["call"].__code__


def code_like(function, call):
    """Code for a coroutine function or a generator: it passes its arguments to `call`, and takes
    those of `function`, so that wrong ones fail at once and not where it is awaited."""
    code = function.__code__
    positional, keywords = code.co_argcount, code.co_kwonlyargcount
    made = _passing(code.co_varnames[:positional + keywords + 2], positional,
                    code.co_posonlyargcount, keywords, code.co_flags & (
                        inspect.CO_VARARGS | inspect.CO_VARKEYWORDS),
                    inspect.iscoroutinefunction(function))
    return made.replace(
        co_name=code.co_name, co_filename=code.co_filename,
        co_consts=tuple(call if one == "replaced" else one for one in made.co_consts))


def _like(function, call):
    """The coroutine function `call` with the parameters of `function`."""
    made = types.FunctionType(code_like(function, call), {}, function.__name__,
                              function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(made, function)


def wrap(function, rule):
    """The replacement of `function` by `rule`. LookupError, ImportError, AttributeError, TypeError:
    it cannot be made."""
    rows = getattr(function, "__pprof_rows__", ())
    if rule.name in rows:  # by the environment's hooks and by the program's
        return function
    module, _, name = (rule.by or "").rpartition(":")
    if module:
        adapter = getattr(importlib.import_module(module, __package__), name)
    else:
        adapter = _ADAPTERS[name or ("top" if "top" in rule.words else "")]
    wrapper = adapter(function, rule)
    if isinstance(function, types.FunctionType) and inspect.iscoroutinefunction(wrapper):
        wrapper = _like(function, wrapper)
    wrapper.__pprof_rows__ = (*rows, rule.name)
    return wrapper


def in_turns(turn, resumed):
    """A generator that runs each turn of a generator or coroutine by turn(function, argument)."""
    function, argument = resumed.send, None
    while True:
        try:
            item = turn(function, argument)
        except StopIteration as end:
            return end.value
        try:
            function, argument = resumed.send, (yield item)
        except GeneratorExit:
            resumed.close()
            raise
        except BaseException as error:
            function, argument = resumed.throw, error


_on_loop = types.coroutine(in_turns)


def _in_range(names, request):
    """Calls functions in a range that serves a request; `names` has its name by then."""
    def call(function, argument):
        token = _byref(_push(_site(names[0], None)))
        _flow(request)
        try:
            return function(argument)
        finally:
            _pop(token)
    return call


# ---- adapters ----

def _torch_module(function, rule):
    """Marks modules that call modules; a compiler that traces them must not find a marker."""
    import torch
    outer = outermost(function, rule, _markers.each_step)

    @functools.wraps(function)
    def call(*args, **kwargs):
        if torch.compiler.is_dynamo_compiling():
            return function(*args, **kwargs)
        return outer(*args, **kwargs)
    return call


def _torch_optimizer(function, rule):
    """`function` makes the `step` of each class of optimizers."""
    @functools.wraps(function)
    def hook(step):
        return marked(function(step), rule)
    return hook


def _number_of(headers):
    """The number of a W3C traceparent, else one that is unique among processes."""
    for name, value in headers:
        if name == b"traceparent":
            return _c.flow_traceparent(value) or _next_number()
    return _next_number()


def _next_number():
    return os.getpid() << 32 | next(_numbers) & 0xffffffff


def _scope_of(args):
    for arg in args:
        scope = arg if isinstance(arg, dict) else getattr(arg, "scope", None)
        if isinstance(scope, dict) and "type" in scope:
            return scope
    return {}


def _asgi(function, rule):
    """Marks a server's or an application's call for each connection; each HTTP one is a request,
    and has a range for each time that it holds the event loop's thread."""
    @functools.wraps(function)
    async def call(*args, **kwargs):
        scope = _scope_of(args) if _markers._epoch.value and not _request.get() else {}
        if scope.get("type") != "http":
            return await function(*args, **kwargs)
        number = _number_of(scope.get("headers", ()))
        token = _request.set(number)
        try:
            name = "%s %s" % (rule.name, scope.get("method", ""))
            names = ["loop: " + name]
            _loop.set(names)
            with _Opened(_site(name, rule.category), number):
                return await _on_loop(_in_range(names, number),
                                      function(*args, **kwargs).__await__())
        finally:
            _request.reset(token)
    return call


def _asgi_route(function, rule):
    """Marks the endpoint; the request's later turns on the event loop have its name."""
    inner, name_of = marked(function, rule), _namer(rule.name, function)

    @functools.wraps(function)
    async def call(*args, **kwargs):
        names = _loop.get()
        if names and _markers._epoch.value:
            names[0] = "loop: " + name_of(args, kwargs)
        return await inner(*args, **kwargs)
    return call


def _pool_submit(function, rule):
    """Marks a pool's `submit`: the wait in the queue and the task serve the request of the
    submitting task."""
    @functools.wraps(function)
    def submit(self, task, /, *args, **kwargs):
        if not _markers._epoch.value:
            return function(self, task, *args, **kwargs)
        name = getattr(task, "__qualname__", type(task).__name__)
        context, queued = contextvars.copy_context(), _Opened(_site("pool: queued", None))
        marker = Range("pool: " + name, rule.category)

        def run():
            queued.__exit__(None, None, None)
            with marker:
                request = context.get(_request, 0)
                if request:
                    _flow(request)
                return _with_request(request, task, args, kwargs)
        try:
            future = function(self, run)
        except BaseException:  # the pool takes no more
            queued.__exit__(None, None, None)
            raise
        future.add_done_callback(
            lambda done: done.cancelled() and queued.__exit__(None, None, None))
        return future
    return submit


def _with_request(request, task, args, kwargs):
    token = _request.set(request)
    try:
        return task(*args, **kwargs)
    finally:
        _request.reset(token)


_ADAPTERS = {"": marked, "top": outermost, "asgi": _asgi, "route": _asgi_route,
             "pool": _pool_submit, "torch_module": _torch_module,
             "torch_optimizer": _torch_optimizer}
