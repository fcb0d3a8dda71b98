# SPDX-License-Identifier: Apache-2.0
"""pprof, the pipeline profiler: its markers for Python. docs/python.md explains them.

    import pprof
    pprof.start()
    with pprof.range("decode", category="Preprocess"):
        ...
    with pprof.device_range("model1"):  # timed on the device, nobody waits
        ...
    pprof.step(items=32)
    pprof.stop()  # or at exit
"""
import os as _os

from . import _thread_names
from ._cost import cost
from ._library import Error, is_disabled as _is_disabled, library_path
from ._markers import (DeviceRange as device_range, Range as range, begin, count, enabled, flow,
                       mark, name_object, step, stream_name, strict, thread_name, work)
from ._read import read
from ._report import report
from ._requests import Request as request, flow_context, serve, token
from ._session import start, stop
from ._windows import schedule
from ._version import VERSION as __version__

# All but range: `from pprof import *` must not hide Python's own.
__all__ = ["Error", "__version__", "begin", "cost", "count", "device_range", "enabled", "flow",
           "flow_context", "library_path", "mark", "name_object", "read", "report", "request", "schedule",
           "serve", "start", "step", "stop", "stream_name", "strict", "thread_name", "token",
           "work"]

if not _is_disabled():
    _thread_names.install()
if _os.environ.get("PPROF_LEDGER", "0") not in ("", "0"):
    from . import _ledger
    _ledger.install()
