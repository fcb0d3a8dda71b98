# SPDX-License-Identifier: Apache-2.0
"""Ranges, marks and counters.

A `with` in a plain function is pushed and popped on its thread. The frame of a coroutine or a
generator may be suspended while others of the thread run: there a `with` is a range that may end
anywhere. The frame of the `with` decides between the two.
"""
import contextlib
import contextvars
import ctypes
import functools
import inspect
import operator
import sys
import time
import warnings

from ._library import NAMED, ONCE, Site, WorkAmount, functions as _c

NAMES = 16384  # kept for the life of the process, a quarter of what a session holds
MET = 4096  # names are remembered to have been met once, until there are so many
CATEGORIES = ("UserDefined", "ProfileStep", "Dataloader", "Forward", "Backward", "Optimization",
              "Communication", "Operator", "OperatorInner", "CudaRuntime", "PythonOp",
              "PythonUserDefined", "Preprocess", "Inference", "Postprocess", "CpuTask", "Memory",
              "Kernel", "Memcpy", "Memset", "Wait", "Idle")
MOST_FLOW = (1 << 64) - 1
MOST_ITEMS = (1 << 63) - 1  # of a step
# What of a frame's code says that it may rest, and another go on in its place.
_RESTS = (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE |
          inspect.CO_ASYNC_GENERATOR)

# `_epoch.value` is 0 while nothing records. It is looked up at each marker, because a forked child
# puts something else in its place (_session.py).
_epoch = _c.epoch
_scope_push, _scope_pop = _c.scope_push_, _c.scope_pop_
_range_begin, _range_end = _c.range_begin, _c.range_end
_device_begin, _device_end = _c.device_range_begin, _c.device_range_end
_mark, _count, _step = _c.mark, _c.count, _c.step
_cuda_device = _c.cuda_device
_byref, _get_frame = ctypes.byref, sys._getframe

_sites = {}  # name, or (name, category): a reference to its site
_met = set()  # keys as in _sites, of names that have been met once
_resting = {}  # id of a frame that may rest: the ranges that are open in it, innermost last
_strict = False
_each_step = None  # the ledger's, before a step ends
_warned = set()  # arguments that a refused number was warned of for


def strict(on=True):
    """From now on an invalid number raises TypeError or ValueError, whether a session records or
    not: for tests. Otherwise it is counted, with one warning for each argument."""
    global _strict
    _strict = bool(on)


def _refuse(argument, error):
    """Counts and warns instead of raising: profiling must not end a program. In C the caller counts
    the loss."""
    if _strict:
        raise error from None
    if not _epoch.value or argument in _warned:
        return
    _warned.add(argument)
    frame, level = _get_frame(1), 2
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn("pprof: %s; it is left out and counted, as are others, of which nothing is said"
                  % error, RuntimeWarning, stacklevel=level)


def _words_of(value):
    """str(value), which never fails."""
    try:
        return str(value)
    except Exception:
        return "<%s>" % type(value).__name__


def _text(value):
    return _words_of(value).encode("utf-8", "replace").partition(b"\0")[0]


def _words(name):
    return name.lower().translate({ord(letter): None for letter in " -_"})


_BY_WORDS = {_words(name): name for name in CATEGORIES}


@functools.lru_cache(maxsize=1024)
def _category_number(name):
    return _c.category_register(_text(_BY_WORDS.get(_words(name), name)))


def _stays(key):
    """True: the name was used before, and is expected again."""
    if len(_sites) >= NAMES:
        return False
    if key in _met:
        return True
    if len(_met) >= MET:
        _met.clear()
    _met.add(key)
    return False


def _make_site(name, category):
    """Markers do not use a site after they return. A site for a rare name therefore serves one
    call, and the name has its place in the session only while it is used."""
    number = 0 if category is None else _category_number(_words_of(category))
    key = name if category is None else (name, category)
    site = Site(_text(name), number)
    try:
        if _stays(key):
            site.reserved[0] = NAMED
            return _sites.setdefault(key, _byref(site))
    except Exception:  # no key for a dictionary
        pass
    site.reserved[0] = ONCE
    return _byref(site)


def _site(name, category):
    try:
        return _sites[name if category is None else (name, category)]
    except Exception:
        return _make_site(name, category)


# The requests that a range which may rest serves: ranges of its task, and of tasks that it begins,
# serve them, too, until that range ends.
_requests = contextvars.ContextVar("pprof_requests", default=())
_requests_before = {}  # by the number of such a range

_STACK_ENTER = contextlib.ExitStack.enter_context.__code__
_MANAGER_ENTER = contextlib._GeneratorContextManager.__enter__.__code__


def _rests(frame):
    """True: the frame with this `with` may be suspended. An ExitStack's frame is its caller's, and
    so is that of a generator as context manager, which goes on when the caller's block ends."""
    while frame is not None:
        code, caller = frame.f_code, frame.f_back
        if code is _STACK_ENTER:
            frame = caller
        elif (code.co_flags & inspect.CO_GENERATOR and caller is not None and
              caller.f_code is _MANAGER_ENTER):
            frame = caller.f_back
        else:
            return code.co_flags & _RESTS
    return 0


def _find(opened, frame):
    """The entry of `opened` made by `frame`, else the latest: enter and exit can be called from
    different places, and one object can be open several times. An empty entry if another thread has
    just taken the latest."""
    for entry in reversed(opened[:]):
        if entry[0] is frame or entry[0] == id(frame):
            return entry
    try:
        return opened[-1]
    except IndexError:
        return None, None


def _take(opened, frame):
    entry = _find(opened, frame)
    try:
        opened.remove(entry)
        return entry
    except ValueError:
        return None, None


def _integer(name, value, least, most):
    """The int of `value`, also of NumPy's; None: refused. ctypes would take one out of range modulo
    the size of its type."""
    try:
        number = operator.index(value)
    except Exception:
        return _refuse(name, TypeError("%s is an integer, not %s" % (name, type(value).__name__)))
    if not least <= number <= most:
        return _refuse(name, ValueError("%s is from %d to %d, not %s"
                                        % (name, least, most, _short(number))))
    return number


def _short(number):
    """Python refuses to print integers of thousands of digits."""
    return str(number) if -10**40 < number < 10**40 else "one of %d bits" % number.bit_length()


def _real(name, value):
    """The float of `value`, but not of texts, which float() takes. None: refused."""
    try:
        return ctypes.c_double(value).value
    except OverflowError:
        return _refuse(name, ValueError("%s is too large for a float" % name))
    except Exception:
        return _refuse(name, TypeError("%s is a number, not %s" % (name, type(value).__name__)))


class _Decorator:
    """Makes a marker a decorator of functions, coroutines and generators of both kinds. Each call
    is a range of its own, from the first step of the body to its end."""
    __slots__ = ()

    def __call__(self, function):
        if not callable(function):
            raise TypeError("a range decorates a function, not %r" % (function,))
        if inspect.isclass(function):
            raise TypeError("classes cannot be decorated with a range, only functions and methods: "
                            "%r is a class" % (function,))
        for applies, wrap in ((inspect.iscoroutinefunction, _wrap_coroutine),
                              (inspect.isasyncgenfunction, _wrap_async_generator),
                              (inspect.isgeneratorfunction, _wrap_generator)):
            if applies(function):
                return wrap(function, self._another)
        return self._wrap_function(function)

    def _wrap_function(self, function):
        another = self._another

        @functools.wraps(function)
        def call(*args, **kwargs):
            if not _epoch.value:
                return function(*args, **kwargs)
            with another(args, kwargs):
                return function(*args, **kwargs)
        return call


def _wrap_coroutine(function, another):
    @functools.wraps(function)
    async def call(*args, **kwargs):
        if not _epoch.value:
            return await function(*args, **kwargs)
        with another(args, kwargs):
            return await function(*args, **kwargs)
    return call


def _wrap_generator(function, another):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if not _epoch.value:
            return (yield from function(*args, **kwargs))
        with another(args, kwargs):
            return (yield from function(*args, **kwargs))
    return call


def _wrap_async_generator(function, another):
    @functools.wraps(function)
    async def call(*args, **kwargs):
        with another(args, kwargs):
            inner = function(*args, **kwargs)
            step = inner.__anext__
            while True:
                try:
                    item = await step()
                except StopAsyncIteration:
                    return
                try:
                    step = functools.partial(inner.asend, (yield item))
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:
                    step = functools.partial(inner.athrow, error)
    return call


class Range(_Decorator):
    """`with pprof.range(name):`, or as a decorator. It may be entered again, inside itself, in
    several threads and tasks at once; exceptions end it and pass."""
    __slots__ = ("_name", "_category", "_open")

    def __init__(self, name, category=None):
        self._name = name
        self._category = category
        # (frame, token) of pushed ranges, (id of frame, number) of those that may rest: what is
        # open in a frame that rests must not keep it alive.
        self._open = []

    def _another(self, args=(), kwargs=None):
        return Range(self._name, self._category)

    def __enter__(self):
        if _epoch.value:
            category = self._category
            try:
                site = _sites[self._name if category is None else (self._name, category)]
            except Exception:  # not there, or no key
                site = _make_site(self._name, category)
            frame = _get_frame(1)
            code = frame.f_code
            if (code.co_flags & _RESTS or code is _STACK_ENTER) and _rests(frame):
                self._begin(id(frame), site)
            else:
                self._open.append((frame, _byref(_scope_push(site))))
                if _requests_before:
                    _inherit(0)
        return self

    def __exit__(self, kind, value, trace):
        opened = self._open
        if opened:
            frame = _get_frame(1)
            try:
                entry = opened[-1]
            except IndexError:  # another thread had no entry of its own
                return
            if entry[0] is frame:
                opened.remove(entry)  # no pop: another thread may have added one
                _scope_pop(entry[1])
            else:
                self._leave(frame)

    def _leave(self, frame):
        key, token = _take(self._open, frame)
        if token.__class__ is int:
            self._end(key, token)
        elif token is not None:
            _scope_pop(token)

    def _begin(self, key, site):
        number = _range_begin(site)
        if number:
            self._open.append((key, number))
            _resting.setdefault(key, []).append(number)
            if _requests_before:
                _inherit(number)

    def _end(self, key, number):
        _range_end(number)
        before = _requests_before.pop(number, None)
        if before is not None:
            _requests.set(before)
        numbers = _resting.get(key, ())
        if number in numbers:
            numbers.remove(number)
        if not numbers:
            _resting.pop(key, None)

    def flow(self, number):
        """As pprof.flow, for this range: in plain code while it is the innermost."""
        opened = self._open
        if opened and _epoch.value:
            _give_task_flow(_find(opened, _get_frame(1))[1], number)
        elif _strict:
            _flow_number(number)

    def work(self, *, flops=0, items=0, bytes=0, params=0, tokens=0):
        """As pprof.work, for this range: in plain code while it is the innermost."""
        opened = self._open
        if opened and _epoch.value:
            _give_work(_find(opened, _get_frame(1))[1],
                       _amount(flops, items, bytes, params, tokens))
        elif _strict:
            _amount(flops, items, bytes, params, tokens)

    def _wrap_function(self, function):
        name, category = self._name, self._category

        @functools.wraps(function)
        def call(*args, **kwargs):
            if not _epoch.value:
                return function(*args, **kwargs)
            token = _byref(_scope_push(_site(name, category)))
            try:
                return function(*args, **kwargs)
            finally:
                _scope_pop(token)
        return call


class _Recording:
    """Replaces the epoch while a session records."""
    value = 1


_NAMES_OF_RANGE = ("_epoch", "_scope_push", "_scope_pop", "_sites", "_byref", "_get_frame",
                   "_RESTS", "_STACK_ENTER", "_requests_before")


def wrapper_ns():
    """Python's part of a marker's cost in ns: the least of some runs of a range with library calls
    that do nothing. Its methods have names of their own, so other threads are not affected."""
    names = {name: globals()[name] for name in _NAMES_OF_RANGE}
    site = _byref(Site(b"", 0))
    names.update(_epoch=_Recording, _scope_push=_c.no_push, _scope_pop=_c.no_pop, _sites={"": site})
    enter, leave = (type(method)(method.__code__, names)
                    for method in (Range.__enter__, Range.__exit__))
    measured = type("Measured", (Range,), {"__slots__": (), "__enter__": enter, "__exit__": leave})
    now, least = time.perf_counter_ns, None
    for _ in range(15):
        before = now()
        for _ in range(64):
            with measured(""):
                pass
        took = now() - before
        before = now()
        for _ in range(64):
            pass
        took -= now() - before
        least = took if least is None else min(least, took)
    return max(least, 0) / 128


def _number_in(opened, frame):
    range_and_stream = _find(opened, frame)[1]
    return range_and_stream[0] if range_and_stream else 0


class DeviceRange(_Decorator):
    """`with pprof.device_range(name, stream):` times what is submitted to the stream meanwhile, on
    the device. It is no frame of a thread, so all of Range holds, wherever it stands."""
    __slots__ = ("_name", "_category", "_stream", "_open")

    def __init__(self, name, stream=None, category=None):
        self._name = name
        self._category = category
        self._stream = stream if stream is None else _known_stream(stream)
        self._open = []  # (id of the frame, (number of the range, handle of the stream))

    def _another(self, args=(), kwargs=None):
        another = DeviceRange(self._name, None, self._category)
        another._stream = self._stream
        return another

    def __enter__(self):
        if _epoch.value:
            device, handle = _device_and_handle(self._stream)
            number = _device_begin(device, handle, _site(self._name, self._category))
            if number:
                self._open.append((id(_get_frame(1)), (number, handle)))
        return self

    def __exit__(self, kind, value, trace):
        if self._open:
            _, range_and_stream = _take(self._open, _get_frame(1))
            if range_and_stream is not None:
                _device_end(*range_and_stream)

    def flow(self, number):
        """As pprof.flow, for this range."""
        opened = self._open
        if opened and _epoch.value:
            _give_flow(_number_in(opened, _get_frame(1)), number)
        elif _strict:
            _flow_number(number)

    def work(self, *, flops=0, items=0, bytes=0, params=0, tokens=0):
        """As pprof.work, for this range."""
        opened = self._open
        if opened and _epoch.value:
            _give_work(_number_in(opened, _get_frame(1)),
                       _amount(flops, items, bytes, params, tokens))
        elif _strict:
            _amount(flops, items, bytes, params, tokens)


class Begun:
    """A range that ends with `end`, on any thread; at the latest when nothing refers to it."""
    __slots__ = ("_number",)

    def __init__(self, number):
        self._number = number

    def end(self):
        """Ends the range. Calls after the first do nothing."""
        number, self._number = self._number, 0
        if number:
            _range_end(number)

    def flow(self, number):
        """As pprof.flow, for this range."""
        if self._number:
            _give_flow(self._number, number)
        elif _strict:
            _flow_number(number)

    def work(self, *, flops=0, items=0, bytes=0, params=0, tokens=0):
        """As pprof.work, for this range."""
        if self._number:
            _give_work(self._number, _amount(flops, items, bytes, params, tokens))
        elif _strict:
            _amount(flops, items, bytes, params, tokens)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.end()

    def __del__(self, _end=_range_end):  # globals may be gone at the interpreter's end
        if self._number:
            _end(self._number)


def begin(name, category=None):
    """Begins a range; `.end()` of the result ends it, on any thread."""
    return Begun(_range_begin(_site(name, category)) if _epoch.value else 0)


_WORK_SIZE, _INFINITY = ctypes.sizeof(WorkAmount), float("inf")


def _amount(flops, items, bytes, params, tokens):
    """The amount as C takes it; None: refused."""
    if tokens:
        if items:
            return _refuse("tokens", TypeError("tokens are items: state one of them"))
        items = tokens
    try:
        work = WorkAmount(_WORK_SIZE, items, bytes, flops, params)
        # A field of the structure takes longer to read than an argument to be found 0.
        if not (items and not 0 <= work.items < _INFINITY or
                bytes and not 0 <= work.bytes < _INFINITY or
                flops and not 0 <= work.flops < _INFINITY or
                params and not 0 <= work.params < _INFINITY):
            return _byref(work)
    except Exception:  # said below
        pass
    return _refuse_amounts({"tokens" if tokens else "items": items, "bytes": bytes, "flops": flops,
                            "params": params})


def _refuse_amounts(amounts):
    for name, amount in amounts.items():
        number = _real(name, amount)
        if number is not None and not 0 <= number < _INFINITY:
            _refuse(name, ValueError("%s is finite and not negative, not %r" % (name, number)))


def _flow_number(number):
    """A flow number; 0, which C counts as lost: refused."""
    if number.__class__ is int and 0 < number <= MOST_FLOW:
        return number
    return _integer("number", number, 1, MOST_FLOW) or 0


def _inherit(target):
    """`target`, or the innermost range for 0, serves the requests of its task."""
    for number in _requests.get():
        if target:
            _c.range_flow(target, number)
        else:
            _c.flow(number)


def _give_flow(target, number):
    number = _flow_number(number)
    if target.__class__ is int and target:
        _c.range_flow(target, number)
    else:
        _c.flow(number)


def _give_task_flow(target, number):
    """As _give_flow, for a range that may rest, or one that is pushed."""
    if target.__class__ is int and target:
        requests = _requests.get()
        if target not in _requests_before:
            _requests_before[target], requests = requests, ()
        _requests.set(requests + (_flow_number(number),))
    _give_flow(target, number)


def _give_work(target, amount):
    if amount is None:
        _c.flow(0)
    elif target.__class__ is int and target:
        _c.range_work(target, amount)
    else:
        _c.work(amount)


def _resting_range(frame):
    """The innermost range of the coroutine or generator of `frame`, or of one that awaits it; 0:
    none."""
    while frame is not None and frame.f_code.co_flags & _RESTS:
        numbers = _resting.get(id(frame))
        if numbers:
            return numbers[-1]
        frame = frame.f_back
    return 0


def flow(number):
    """The innermost range serves the request `number`, from 1 to 2**64 - 1. So do the ranges in it,
    and those of tasks that begin in it."""
    if _epoch.value:
        _give_task_flow(_resting_range(_get_frame(1)), number)
    elif _strict:
        _flow_number(number)


def work(*, flops=0, items=0, bytes=0, params=0, tokens=0):
    """The innermost range does this amount of work, for rates: finite numbers, none negative.
    Tokens are items."""
    if _epoch.value:
        _give_work(_resting_range(_get_frame(1)), _amount(flops, items, bytes, params, tokens))
    elif _strict:
        _amount(flops, items, bytes, params, tokens)


def mark(name, category=None):
    """Records a point in time."""
    if _epoch.value:
        _mark(_site(name, category))


def count(name, value, category=None):
    """Records that the counter `name` has this value now."""
    if _epoch.value:
        site = _site(name, category)
        try:
            _count(site, value)
        except ctypes.ArgumentError:
            number = _real("value", value)
            if number is None:
                _c.flow(0)
            else:
                _count(site, number)
    elif _strict:
        _real("value", value)


def each_step():
    """Calls the ledger, where there is one; hooks do so without a step, too."""
    if _each_step is not None:
        _each_step()


def step(items=0):
    """Ends a step of the process, in which `items` items were completed, and begins the next."""
    # The epoch wakes a child. Where it is 0 the items are of no step, but a window may open.
    recording = _epoch.value
    if items.__class__ is not int or not 0 <= items <= MOST_ITEMS:
        number = _integer("items", items, 0, MOST_ITEMS)
        if number is None and recording:
            _c.flow(0)
        items = number or 0
    each_step()
    _step(items)


def thread_name(name):
    """Names the calling thread's row of the timeline."""
    _c.thread_name(_text(name))


def name_object(thing, name):
    """Names an object that threads wait for, where `waits` is recorded: a lock of threading, of a
    condition or of a queue, or an address."""
    for inner in ("mutex", "_lock"):  # of a queue; of a condition
        thing = getattr(thing, inner, thing)
    if not isinstance(thing, int):
        # Up to Python 3.12 it begins with the address of what it waits for.
        if not type(thing).__name__.lower().endswith("lock") or sys.version_info >= (3, 13):
            return
        thing = ctypes.c_size_t.from_address(id(thing) + object.__basicsize__).value
    _c.name_object(thing, _text(name))


def enabled():
    """Whether markers record now: a session runs, and its capture window is open."""
    return _epoch.value != 0


# Streams.

_cuda_devices = {}  # index: the library's device


def _cuda_device_at(index):
    device = _cuda_devices.get(index)
    if device is None:
        device = _cuda_devices[index] = _c.device_get(_c.backend_cuda(), index)
    return device


def _known_stream(stream):
    """(device index, or None for the current device; handle) of a program's stream. Handle 1 is a
    second name of the legacy default stream."""
    index, handle = None, None
    if isinstance(stream, int) and not isinstance(stream, bool):
        handle = stream
    elif isinstance(getattr(stream, "cuda_stream", None), int):  # torch
        index, handle = getattr(stream, "device_index", None), stream.cuda_stream
    elif isinstance(getattr(stream, "ptr", None), int) and hasattr(stream, "wait_event"):  # cupy
        index, handle = getattr(stream, "device_id", None), stream.ptr
    elif hasattr(stream, "__cuda_stream__"):  # version of the protocol, handle
        handle = int(stream.__cuda_stream__()[1])
    if handle is None or not 0 <= handle < 1 << 64:
        raise TypeError("a stream is None, a stream of torch or cupy, or its handle as an integer, "
                        "not %r" % (stream,))
    return index if isinstance(index, int) and index >= 0 else None, 0 if handle == 1 else handle


def _torch_handle(torch):
    """The handle of torch's current stream on the current device, without starting CUDA. The first
    way takes a tenth of the time of the second, documented one."""
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return 0
    try:
        return torch._C._cuda_getCurrentRawStream(torch._C._cuda_getDevice())
    except AttributeError:
        return cuda.current_stream().cuda_stream


def _device_and_handle(stream):
    if stream is not None:
        index, handle = stream
        return _cuda_device() if index is None else _cuda_device_at(index), handle
    device = _cuda_device()  # none: no context is current, and the range has a host side only
    torch = sys.modules.get("torch")
    if torch is None:
        return device or _cuda_device_at(0), 0
    try:
        return device, _torch_handle(torch) if device else 0
    except Exception:  # torch's own words come when the program asks it for the stream
        return None, 0


def stream_name(name, stream=None):
    """Names the row of a stream. Before the start it also prepares the events of its device."""
    device, handle = _device_and_handle(stream if stream is None else _known_stream(stream))
    _c.stream_name(device, handle, _text(name))
