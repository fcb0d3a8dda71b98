# SPDX-License-Identifier: Apache-2.0
"""Stands in for the package nvtx where a program's Python lacks it: `pprof-report run` puts it on
a path of its own. Ranges and marks go to pprof; without its library they do nothing. Where the
package is there after all, this becomes it."""
import ctypes
import functools
import importlib.machinery
import importlib.util
import os
import sys

__version__ = "0"
_HERE = os.path.dirname(os.path.abspath(__file__))


def _become_package():
    """Whether the package itself was found behind this file, and could be loaded."""
    path = [folder for folder in sys.path if os.path.abspath(folder or ".") != _HERE]
    own = sys.modules.get(__name__)
    for finder in sys.meta_path:
        is_by_path = finder is importlib.machinery.PathFinder
        try:
            spec = finder.find_spec(__name__, path if is_by_path else None)
            if spec is None or spec.loader is None or spec.origin == __file__:
                continue
            sys.modules[__name__] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return True
        except Exception:  # it is broken: the program goes on with this one
            sys.modules[__name__] = own
    return False


class _Site(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("category", ctypes.c_uint32),
                ("color", ctypes.c_uint32), ("state", ctypes.c_uint64),
                ("reserved", ctypes.c_uint64 * 2)]


class _Range(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64)]


def _library():
    """libpprof, as a library that libpprof_nvtx.so needs; None: it cannot be loaded."""
    try:
        library = ctypes.PyDLL(os.environ.get("NVTX_INJECTION64_PATH") or "libpprof.so.0")
        library.pprof_push_name.argtypes = [ctypes.c_char_p, ctypes.c_uint32]
        library.pprof_push_name.restype = library.pprof_pop.restype = None
        library.pprof_mark.restype = library.pprof_range_end.restype = None
        library.pprof_range_begin.restype = _Range
        library.pprof_range_end.argtypes = [_Range]
        library.pprof_category_register.restype = ctypes.c_uint32
        return library
    except (OSError, AttributeError):
        return None


_c = None if _become_package() else _library()


def _text(message):
    return str("" if message is None else message).encode("utf-8", "replace")


@functools.lru_cache(maxsize=1024)
def _category(category):
    return _c.pprof_category_register(_text(category)) if isinstance(category, str) else 0


def _site(message, category):
    site = _Site(_text(message), _category(category))
    site.reserved[0] = 1  # its name serves this call alone
    return ctypes.byref(site)


def push_range(message=None, color=None, domain=None, category=None, payload=None):
    if _c:
        _c.pprof_push_name(_text(message), _category(category))


def pop_range(domain=None):
    if _c:
        _c.pprof_pop()


def start_range(message=None, color=None, domain=None, category=None, payload=None):
    return (_c.pprof_range_begin(_site(message, category)).id if _c else 0, 0)


def end_range(range_id):
    if _c:
        _c.pprof_range_end(_Range(range_id[0] if isinstance(range_id, tuple) else range_id))


def mark(message=None, color="blue", domain=None, category=None, payload=None):
    if _c:
        _c.pprof_mark(_site(message, category))


def enabled():
    return _c is not None


class annotate:
    """A range around a block, or around each call of a function."""

    def __init__(self, message=None, color=None, domain=None, category=None, payload=None):
        self.name, self.category = message, category

    def __enter__(self):
        push_range(self.name, category=self.category)
        return self

    def __exit__(self, *raised):
        pop_range()
        return False

    def __call__(self, function):
        name = function.__name__ if self.name is None else self.name

        @functools.wraps(function)
        def inner(*arguments, **options):
            push_range(name, category=self.category)
            try:
                return function(*arguments, **options)
            finally:
                pop_range()
        return inner


class EventAttributes:
    def __init__(self, message=None, color=None, category=None, payload=None):
        self.message, self.color, self.category, self.payload = message, color, category, payload


class Domain:
    """All domains are one: the ranges of a thread are one stack."""

    def __init__(self, name=None):
        self.name = name

    def get_registered_string(self, string):
        return string

    def get_category_id(self, name):
        return name

    def get_event_attributes(self, message=None, color=None, category=None, payload=None):
        return EventAttributes(message, color, category, payload)

    def push_range(self, attributes=None):
        push_range(getattr(attributes, "message", attributes),
                   category=getattr(attributes, "category", None))

    def pop_range(self):
        pop_range()

    def start_range(self, attributes=None):
        return start_range(getattr(attributes, "message", attributes),
                           category=getattr(attributes, "category", None))[0]

    def end_range(self, range_id):
        end_range(range_id)

    def mark(self, attributes=None):
        mark(getattr(attributes, "message", attributes),
             category=getattr(attributes, "category", None))


DummyDomain = Domain


@functools.lru_cache(maxsize=None)
def get_domain(name=None):
    return Domain(name)


class Profile:
    """Annotates nothing by itself."""

    def __init__(self, *arguments, **options):
        pass

    def enable(self):
        pass

    def disable(self):
        pass


class _Nothing:
    """What this file does not know of the package: a call, a range and a decorator of no effect."""

    def __call__(self, *arguments, **options):
        is_decorated = len(arguments) == 1 and callable(arguments[0]) and not options
        return arguments[0] if is_decorated else self

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return False

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return _Nothing()


if getattr(sys.modules.get(__name__), "_become_package", None) is _become_package:
    nvtx = colors = utils = sys.modules[__name__]  # as the package's modules
    for _name in "nvtx", "colors", "utils":
        sys.modules["%s.%s" % (__name__, _name)] = nvtx
