# SPDX-License-Identifier: Apache-2.0
"""Requests that are served, and the tokens that they get."""
from . import _markers
from ._library import RequestHandle
from ._markers import MOST_FLOW, _c, _flow_number, _integer, _site

_begin, _end, _token, _serve, _input = (_c.request_begin, _c.request_end, _c.token, _c.serve,
                                        _c.request_input)
_NONE = RequestHandle(0, 0)


def _count(name, number):
    """How many tokens; 0 where the number is refused, which is counted."""
    if number.__class__ is int and 0 <= number <= MOST_FLOW:
        return number
    known = _integer(name, number, 0, MOST_FLOW)
    if known is None:
        _c.flow(0)
    return known or 0


class Request:
    """A request from its arrival on. It ends where `end` is called, on any thread, or with the
    block of `with`; at the latest when nothing refers to it any more."""
    __slots__ = ("_handle",)

    def __init__(self, number, name, category=None, tokens=0):
        self._handle = _NONE
        if _markers._epoch.value:
            self._handle = _begin(_flow_number(number), _site(name, category))
            if tokens:
                _input(self._handle, _count("tokens", tokens))

    def token(self, tokens=1):
        """The request has got so many tokens more, now."""
        if self._handle.id:
            _token(self._handle, _count("tokens", tokens))

    def end(self):
        """Ends the request. Calls after the first do nothing."""
        handle, self._handle = self._handle, _NONE
        if handle.range:
            _end(handle)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.end()

    def __del__(self, _end=_end):  # globals may be gone at the interpreter's end
        if self._handle.range:
            _end(self._handle)


def _handles(requests):
    try:
        return [request._handle for request in requests]
    except Exception:
        return _markers._refuse("requests", TypeError("requests are those of pprof.request"))


def serve(requests):
    """The innermost range serves these requests, any number of them."""
    if _markers._epoch.value:
        handles = _handles(requests)
        if handles is None:
            _c.flow(0)
        else:
            _serve((RequestHandle * len(handles))(*handles), len(handles))
    elif _markers._strict:
        _handles(requests)
