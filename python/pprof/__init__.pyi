# SPDX-License-Identifier: Apache-2.0
# The types of what programs call; docs/python.md says what it does.
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import (Any, Dict, Final, List, Literal, NamedTuple, Optional, SupportsFloat,
                    SupportsIndex, Tuple, TypeVar, Union)

__all__ = ["Error", "__version__", "begin", "cost", "count", "device_range", "enabled", "flow",
           "library_path", "mark", "read", "report", "request", "schedule", "serve", "start", "step",
           "stop", "stream_name", "strict", "thread_name", "work"]

__version__: Final[str]

_Function = TypeVar("_Function", bound=Callable[..., Any])
# A name of its own makes a category of its own; these have tables of theirs.
_Category = Union[
    Literal["UserDefined", "ProfileStep", "Dataloader", "Forward", "Backward", "Optimization",
            "Communication", "Operator", "OperatorInner", "CudaRuntime", "PythonOp",
            "PythonUserDefined", "Preprocess", "Inference", "Postprocess", "CpuTask", "Memory",
            "Kernel", "Memcpy", "Memset"], str]
_Stream = Any  # torch's, cupy's, what has __cuda_stream__, or a handle

class Error(Exception):
    status: int
    def __init__(self, message: object, status: int = 0) -> None: ...

class _Opened:
    def flow(self, number: SupportsIndex) -> None: ...
    def work(self, *, flops: SupportsFloat = 0, items: SupportsFloat = 0,
             bytes: SupportsFloat = 0, params: SupportsFloat = 0,
             tokens: SupportsFloat = 0) -> None: ...
    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None: ...

class range(_Opened):
    def __init__(self, name: object, category: Optional[_Category] = None) -> None: ...
    def __call__(self, function: _Function) -> _Function: ...
    def __enter__(self) -> range: ...

class device_range(_Opened):
    def __init__(self, name: object, stream: _Stream = None,
                 category: Optional[_Category] = None) -> None: ...
    def __call__(self, function: _Function) -> _Function: ...
    def __enter__(self) -> device_range: ...

class _Begun(_Opened):
    def end(self) -> None: ...
    def __enter__(self) -> _Begun: ...

def begin(name: object, category: Optional[_Category] = None) -> _Begun: ...
class request:
    def __init__(self, number: SupportsIndex, name: object, category: Optional[_Category] = None,
                 tokens: SupportsIndex = 0) -> None: ...
    def token(self, tokens: SupportsIndex = 1) -> None: ...
    def end(self) -> None: ...
    def __enter__(self) -> request: ...
    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None: ...

def serve(requests: Iterable[request]) -> None: ...
def flow(number: SupportsIndex) -> None: ...
def work(*, flops: SupportsFloat = 0, items: SupportsFloat = 0, bytes: SupportsFloat = 0,
         params: SupportsFloat = 0, tokens: SupportsFloat = 0) -> None: ...
def mark(name: object, category: Optional[_Category] = None) -> None: ...
def count(name: object, value: SupportsFloat, category: Optional[_Category] = None) -> None: ...
def step(items: SupportsIndex = 0) -> None: ...
def thread_name(name: object) -> None: ...
def enabled() -> bool: ...
def strict(on: bool = True) -> None: ...
def stream_name(name: object, stream: _Stream = None) -> None: ...
class _Schedule(NamedTuple):
    skip_first: int
    wait: int
    warmup: int
    active: int
    repeat: int
    skip_first_wait: int

class _Window:
    index: int
    log: Optional[str]
    tables: Report
    stages: Dict[str, Dict[str, Any]]
    def trace(self, path: Union[str, bytes, os.PathLike[str]]) -> None: ...

def schedule(*, active: SupportsIndex, wait: SupportsIndex = 0, warmup: SupportsIndex = 0,
             repeat: SupportsIndex = 0, skip_first: SupportsIndex = 0,
             skip_first_wait: SupportsIndex = 0) -> _Schedule: ...
def start(config: Union[None, str, bytes, os.PathLike[str], Dict[str, Any]] = None, *,
          fork: Literal["follow", "off"] = "follow", kernels: bool = False,
          schedule: Union[None, _Schedule, Tuple[int, int]] = None,
          on_window: Optional[Callable[[_Window], object]] = None,
          window_log: Union[None, Literal[False], str, bytes, os.PathLike[str]] = None
          ) -> None: ...
def stop() -> Optional[str]: ...
def library_path() -> Optional[str]: ...

class Report(str): ...

class _Cost:
    parameters: int
    parameter_bytes: int
    macs: int
    flops: int
    elementwise_flops: int
    input_bytes: int
    weight_bytes: int
    output_bytes: int
    nodes: int
    at_least: List[str]
    rows: List[Dict[str, Any]]
    notes: List[str]
    table: Report

def cost(model: Any, *args: Any, **kwargs: Any) -> _Cost: ...

def report(log: Union[None, str, bytes, os.PathLike[str]] = None,
           *options: str,
           html: Union[None, str, os.PathLike[str]] = None) -> Report: ...

class _Tables(Dict[str, Dict[str, Any]]):  # columns: buffers, or lists of texts
    damage: Optional[str]

def read(log: Union[None, str, bytes, os.PathLike[str]] = None) -> _Tables: ...
