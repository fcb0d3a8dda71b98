# SPDX-License-Identifier: Apache-2.0
"""Requests that are served, and the tokens that they get."""
import time

from . import _markers
from ._library import RequestHandle
from ._markers import MOST_FLOW, _c, _flow_number, _integer, _real, _refuse, _site

_begin, _end, _token, _serve, _input = (_c.request_begin, _c.request_end, _c.token, _c.serve_since,
                                        _c.request_input)
_waited = _c.request_waited
_MOST_CONTEXT = (1 << 128) - 1
_NONE = RequestHandle(0, 0)


def _count(name, number):
    """The number of tokens; 0: refused, and counted."""
    if number.__class__ is int and 0 <= number <= MOST_FLOW:
        return number
    known = _integer(name, number, 0, MOST_FLOW)
    if known is None:
        _c.flow(0)
    return known or 0


def _since(what, time_s):
    """ns from a time of time.monotonic() to now; 0 where it is refused, which is counted."""
    seconds = _real(what, time_s)
    if seconds is not None and not -MOST_FLOW < seconds < MOST_FLOW:
        seconds = _refuse(what, ValueError("%s is a time of time.monotonic(), not %s"
                                           % (what, seconds)))
    if seconds is None:
        _c.flow(0)
        return 0
    return max(0, time.monotonic_ns() - int(seconds * 1e9))


class Request:
    """A request from its arrival on: now, or `arrived`, a time in the past that time.monotonic()
    gave. It ends where `end` is called, on any thread, or with the
    block of `with`; at the latest when nothing refers to it any more."""
    # `_number`: of one that came while nothing was recorded; its tokens may be.
    __slots__ = ("_handle", "_number")

    def __init__(self, number, name="request", category=None, tokens=0, arrived=None):
        self._handle, self._number = _NONE, number
        if _markers._epoch.value:
            self._number = 0
            self._handle = _begin(_flow_number(number), _site(name, category))
            if arrived is not None:
                _waited(self._handle, _since("arrived", arrived))
            if tokens:
                _input(self._handle, _count("tokens", tokens))

    def token(self, tokens=1):
        """The request has got so many tokens more, now."""
        if self._handle.id:
            _token(self._handle, _count("tokens", tokens))
        elif self._number:
            token(self._number, tokens)

    def end(self):
        """Ends the request. Calls after the first do nothing."""
        handle, self._handle, self._number = self._handle, _NONE, 0
        if handle.range:
            _end(handle)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.end()

    def __del__(self, _end=_end):  # globals may be gone at the interpreter's end
        if self._handle.range:
            _end(self._handle)


def _handle_of(request):
    """The handle of a request here, or of the number of one elsewhere; an invalid one is
    counted."""
    if isinstance(request, Request):
        return _handle_of(request._number) if request._number else request._handle
    number = _flow_number(request)
    if not number:
        _c.flow(0)
    return RequestHandle(number, 0)


def _handles(requests):
    try:
        requests = list(requests)
    except Exception:
        return _refuse("requests", TypeError("requests are a list of them, or of their numbers"))
    return [_handle_of(request) for request in requests]


def serve(requests, since=None):
    """The innermost range serves these requests, any number of them: those of `request`, and by
    their numbers those of other processes. They were scheduled now, or at `since`, a time in the
    past that time.monotonic() gave."""
    if _markers._epoch.value:
        handles = _handles(requests)
        if handles is None:
            _c.flow(0)
        else:
            _serve((RequestHandle * len(handles))(*handles), len(handles),
                   0 if since is None else _since("since", since))
    elif _markers._strict:
        _handles(requests)


def token(request, tokens=1):
    """A request, named by its number if of another process, has got so many more tokens now."""
    if _markers._epoch.value:
        handle = _handle_of(request)
        if handle.id:
            _token(handle, _count("tokens", tokens))
    elif _markers._strict:
        _handle_of(request)


def flow_context(context=None):
    """The number of a request that has a context of 128 bits, the same in all processes and on all
    hosts: a W3C traceparent, as str or bytes, a trace id as an int, or, with None, the traceparent
    of the environment. 0: there is none, or it is not well-formed."""
    if context is None or isinstance(context, (str, bytes)):
        return _c.flow_traceparent(context.encode("utf-8", "replace") if isinstance(context, str)
                                   else context)
    number = _integer("context", context, 0, _MOST_CONTEXT)
    return _c.flow_context(number >> 64, number & MOST_FLOW) if number else 0
