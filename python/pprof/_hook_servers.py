# SPDX-License-Identifier: Apache-2.0
"""Adapters of servers, which data files name with `by=._hook_servers:...`. They make requests,
tokens and counters from arguments and results. Without an attribute, as in some versions, the
markers that need it are left out."""
import functools
import hashlib
import inspect
import time

from . import _markers
from ._hook_calls import _Hooked, _Opened, _request, marked
from ._markers import count
from ._requests import Request, flow_context, serve, token

_open = {}  # (class, the server's own id): its Request


def _number_of(name):
    """The number of a server's own id, the same in each of its processes."""
    data = str(name).encode("utf-8", "replace")
    return flow_context(int.from_bytes(hashlib.blake2b(data, digest_size=16).digest(), "big"))


def _request_of(kind, name):
    return _open.get((kind, name)) or _number_of(name)


def _begin(kind, name, tokens, arrived=None):
    """Begins a request; `arrived` is by time.time()."""
    if (kind, name) in _open:
        return
    if arrived is not None:
        arrived = time.monotonic() - (time.time() - arrived)
    _open[kind, name] = Request(_number_of(name), kind, "Inference", tokens, arrived)


def _end(kind, name):
    request = _open.pop((kind, name), None)
    if request is not None:
        request.end()


def _with(before=None, after=None, is_timed=False):
    """An adapter that calls these with the arguments, `after` with the result first, outside of the
    row's range; a row named `-` has none. With `is_timed` the result is a pair: the begin of the
    call, and its result."""
    def adapter(function, rule):
        inner = function if rule.name == "-" else marked(function, rule)

        @functools.wraps(function)
        def call(*args, **kwargs):
            if not _markers._epoch.value:
                return function(*args, **kwargs)
            if before is not None:
                _try(before, *args)
            began = time.monotonic() if is_timed else 0
            result = inner(*args, **kwargs)
            if after is not None:
                _try(after, (began, result) if is_timed else result, *args)
            return result
        return call
    return adapter


def _try(function, *args):
    """Ignores what fails: the server goes on."""
    try:
        function(*args)
    except Exception:
        pass


# ---- vLLM ----
# The API server counts tokens as they arrive there, the engine as it makes them.

_SERVER, _ENGINE = "server: request", "engine: request"


def _engine_adds(_, scheduler, request, *_rest):
    if (_SERVER, request.request_id) not in _open:  # one process has both
        _begin(_ENGINE, request.request_id, request.num_prompt_tokens)


def _scheduled(call, scheduler, *_rest):
    began, output = call  # vLLM takes the time there, too
    serve([_request_of(_ENGINE, name) for name in output.num_scheduled_tokens], began)
    count("requests running", len(scheduler.running))
    count("requests waiting", len(scheduler.waiting))
    count("KV cache use, %", 100 * scheduler.kv_cache_manager.usage)


def _updated(outputs, *_rest):
    for of_client in outputs.values():
        for one in of_client.outputs:
            request = _open.get((_ENGINE, one.request_id))
            if request is not None and one.new_token_ids:
                request.token(len(one.new_token_ids))
            if one.finish_reason is not None:
                _end(_ENGINE, one.request_id)


def _finished(requests, *_rest):
    for request in requests:
        _end(_ENGINE, request.request_id)


def _server_adds(_, processor, request, *_rest):
    _begin(_SERVER, request.request_id, len(request.prompt_token_ids or ()), request.arrival_time)


def _server_takes(processor, outputs, *_rest):
    for one in outputs:
        request = _open.get((_SERVER, one.request_id))
        if request is not None and one.new_token_ids:
            request.token(len(one.new_token_ids))


def _server_took(_, processor, outputs, *_rest):
    for one in outputs:
        if one.finish_reason is not None:
            _end(_SERVER, one.request_id)


def _server_aborted(names, *_rest):
    for name in names:
        _end(_SERVER, name)


vllm_add = _with(after=_engine_adds)
vllm_schedule = _with(after=_scheduled, is_timed=True)
vllm_update = _with(after=_updated)
vllm_finish = _with(after=_finished)
vllm_server_add = _with(after=_server_adds)
vllm_server_outputs = _with(_server_takes, _server_took)
vllm_server_abort = _with(after=_server_aborted)


# ---- continuous batching of transformers ----

_BATCHED = "request"


def _batch_waits(_, scheduler, state):
    _begin(_BATCHED, state.request_id, len(state.initial_tokens),
           time.time() - (time.perf_counter() - state.created_time))


def _batch_prepared(is_any, processor):
    if is_any:
        serve([_request_of(_BATCHED, future.state.request_id)
               for future in processor.inputs_and_outputs.requests_in_batch])
        count("requests running", len(processor.scheduler.active_requests))
        count("requests waiting", len(processor.scheduler.waiting_requests))


def _batch_token(_, state, *_rest):
    token(_request_of(_BATCHED, state.request_id))


def _batch_done(_, scheduler, name):
    _end(_BATCHED, name)


transformers_wait = _with(after=_batch_waits)
transformers_prepare = _with(after=_batch_prepared)
transformers_token = _with(after=_batch_token)
transformers_finish = _with(after=_batch_done)


# ---- Ray Serve ----

def ray_request(function, rule):
    """Marks the request of a proxy, router or replica; its id is the first argument or in it."""
    row = _Hooked(rule.name, rule.category, function)

    def opened(args, kwargs):
        first = args[1] if len(args) > 1 else kwargs.get("request_id")
        number = _number_of(getattr(first, "request_id", first))
        return number, _Opened(row._site_of(args, kwargs), number)

    async def answer(args, kwargs):
        number, marker = opened(args, kwargs)
        token_of = _request.set(number)
        try:
            with marker:
                return await function(*args, **kwargs)
        finally:
            _request.reset(token_of)

    async def answers(args, kwargs):
        with opened(args, kwargs)[1]:
            async for item in function(*args, **kwargs):
                yield item

    made = answers if inspect.isasyncgenfunction(function) else answer

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not _markers._epoch.value:
            return function(*args, **kwargs)
        return made(args, kwargs)
    return call
