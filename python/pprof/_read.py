# SPDX-License-Identifier: Apache-2.0
"""Reads a log into tables of buffers, by a sink that the library calls on this thread.

Fields of events go into columns by one copy of bytes for each batch, which is borrowed. Ids become
rows of the tables that explain them.
"""
import ctypes
import os
import warnings
from array import array
from itertools import compress, repeat

from ._library import (CpuUse, ErrorText, EventFields, SINK_BATCH, SINK_CALL,
                       SINK_WINDOW, SinkFields, WorkAmount, functions as _c, raise_status)
from ._report import _last_log

_CORRUPT = 6  # the readable part was delivered
_SITE, _CATEGORY, _LANE, _DEVICE, _STREAM, _ATTRIBUTE = range(1, 7)
_ALL_LANES = 0xffffffff
_ASYNC = 32
_CPU_TIMES = 1

_POINT = {"id": "Q", "run": "I", "lane": "I", "site": "I", "at_ns": "Q"}
_WORK = {"items": "d", "bytes": "d", "flops": "d", "params": "d"}
_CPU = {"user_ns": "Q", "sys_ns": "Q", "run_queue_ns": "Q", "voluntary_switches": "Q",
        "involuntary_switches": "Q", "minor_faults": "Q", "major_faults": "Q"}
# Each table's columns with the type codes of `array`; "": texts, a list.
_TABLES = {
    "run": {"id": "I", "uuid": "", "host": "", "pid": "", "rank": "", "command": "",
            "version": "", "base_ns": "Q"},
    "site": {"id": "I", "run": "I", "name": "", "category": "", "color": "I"},
    "lane": {"id": "I", "run": "I", "number": "I", "tid": "Q", "name": ""},
    "device": {"id": "I", "run": "I", "number": "Q", "name": ""},
    "stream": {"id": "I", "run": "I", "device": "I", "number": "Q", "name": ""},
    "attribute": {"id": "I", "run": "I", "json": ""},
    "host_range": {"id": "Q", "run": "I", "lane": "I", "site": "I", "depth": "I", "start_ns": "Q",
                   "end_ns": "Q", "step": "d", "is_loose": "B", "flags": "I", "capture": "I",
                   **_WORK, "attribute": "I", **_CPU},
    "device_range": {"id": "Q", "run": "I", "lane": "I", "site": "I", "stream": "I", "depth": "I",
                     "submit_ns": "Q", "submitted_ns": "Q", "start_ns": "Q", "end_ns": "Q",
                     "error_ns": "Q", "flags": "I", "capture": "I", **_WORK, "attribute": "I"},
    "mark": {**_POINT, "capture": "I", "attribute": "I"},
    "counter": {**_POINT, "value": "d", "change_bytes": "d", "capture": "I"},
    "flow": {"run": "I", "flow": "Q", "host_range": "Q", "device_range": "Q"},
    "capture": {"run": "I", "number": "I", "start_ns": "Q", "end_ns": "Q"},
    "total": {"run": "I", "name": "", "value": "Q"},
}
# The table of each kind of event, and fields with another column name.
_KINDS = {
    1: ("host_range", {"step": "value", "capture": "window"}),
    2: ("device_range", {"submit_ns": "start_ns", "submitted_ns": "end_ns",
                         "start_ns": "device_start_ns", "end_ns": "device_end_ns",
                         "error_ns": "device_error_ns", "capture": "window"}),
    3: ("mark", {"at_ns": "start_ns", "capture": "window"}),
    4: ("counter", {"at_ns": "start_ns", "capture": "window"}),
}
_FIELDS = {name: (getattr(EventFields, name).offset, kind._type_, ctypes.sizeof(kind))
           for name, kind in EventFields._fields_}
_IDS = {"lane": ("lane", _LANE), "site": ("site", _SITE), "stream": ("stream", _STREAM),
        "attribute": ("attributes", _ATTRIBUTE)}
# The keys of the JSON report's `trust`.
_TOTALS = ("recorded", "lost", "excluded", "unmatched", "begun_before", "abandoned", "clipped",
           "late", "invalid", "device_lost", "flows_lost", "no_device_time", "names_overflowed",
           "device_times_clamped", "clock_error_ns", "own_cost_ns_per_marker_x1000",
           "own_cost_total_ns", "crash_safe", "cpu_process_ns", "cpu_elapsed_ns",
           "cpu_system_busy_ticks", "cpu_system_idle_ticks", "ended_without_stop")


class Tables(dict):
    """Tables by name, each a dictionary of columns by name."""
    damage = None  # what of the log could not be read, in the library's words


def _text(value):
    return (value or b"").decode("utf-8", "replace")


class _Rows(dict):
    """The row, from 1, of each id of one kind in a run; an undefined id gets a row at its first
    use."""

    def __init__(self, run, defined, zero_is_none):
        super().__init__({0: 0} if zero_is_none else {})
        self.run, self.defined = run, defined

    def __missing__(self, number):
        self.defined.append({"run": self.run, "id": number, "parent": 0, "name": None,
                             "number": 0, "color": 0})
        self[number] = len(self.defined)
        return self[number]


class _Events:
    """The events of one kind in a batch, as columns; the batch's bytes stay where they are."""

    def __init__(self, batch, kinds, kind):
        self.num, self._step = kinds.count(kind), batch.stride
        self._bytes = _bytes_of(batch)
        self._chosen = None if self.num == len(kinds) else [of == kind for of in kinds]

    def column(self, field):
        offset, code, width = _FIELDS[field]
        column = self._bytes.cast(code)[offset // width::self._step // width]
        return column if self._chosen is None else array(code, compress(column, self._chosen))


def _bytes_of(batch):
    size = batch.num_events * batch.stride
    return memoryview((ctypes.c_ubyte * size).from_address(batch.events)).cast("B")


class _Reader:
    """The sink. An exception in it ends the reading and is raised again afterwards."""

    def __init__(self):
        self.tables = Tables((name, {column: array(code) if code else []
                                     for column, code in columns.items()})
                             for name, columns in _TABLES.items())
        self.raised = None
        self._run = 0
        self._defined = {kind: [] for kind in range(_SITE, _ATTRIBUTE + 1)}
        self._rows = {}
        guarded = self._guarded
        self._calls = SinkFields(
            ctypes.sizeof(SinkFields), SINK_CALL(guarded(self._begin)),
            SINK_CALL(guarded(self._define)), SINK_BATCH(guarded(self._take)), SINK_CALL(),
            SINK_WINDOW(guarded(self._window)), SINK_CALL(guarded(self._finish)))

    def read(self, path):
        error = ErrorText()
        status = _c.log_read(os.fsencode(path), ctypes.byref(self._calls), ctypes.byref(error))
        if self.raised is not None:
            raise self.raised
        if status == _CORRUPT:
            self.tables.damage = _text(error.text)
        else:
            raise_status(status, error)
        self._name()
        return self.tables

    def _guarded(self, take):
        def taken(_, *told):
            try:
                take(*told)
                return 0
            except BaseException as raised:  # pylint: disable=broad-except
                self.raised = raised
                return 2  # INVALID: the reading ends
        return taken

    def _add(self, table, *values):
        for column, value in zip(self.tables[table].values(), values):
            column.append(value)

    # ---- what stands beside the events ----

    def _begin(self, info):
        self._run += 1
        self._rows = {kind: _Rows(self._run, defined, kind in (_STREAM, _ATTRIBUTE))
                      for kind, defined in self._defined.items()}
        told = [_text(_c.run_info_text(info, key)) for key in
                (b"uuid", b"host", b"pid", b"rank", b"command", b"version")]
        base = _c.run_info_text(info, b"time_base_realtime_ns")
        self._add("run", self._run, *told, int(base or 0))

    def _define(self, definition):
        kind = _c.definition_get_kind(definition)
        if kind not in self._defined:
            return  # of a newer version
        rows, parent = self._rows[kind], _c.definition_parent(definition)
        if kind in (_SITE, _STREAM):
            parent = self._rows[_CATEGORY if kind == _SITE else _DEVICE][parent]
        now = {"id": _c.definition_id(definition), "parent": parent,
               "name": _text(_c.definition_name(definition)),
               "number": _c.definition_number(definition),
               "color": _c.definition_color(definition)}
        known = self._defined[kind][rows[now["id"]] - 1]
        # The words of pprof_definition_kind say when an id is another thing from there on.
        what = {_LANE: ("number",), _SITE: ("parent", "name"), _ATTRIBUTE: ("name",)}.get(kind, ())
        if known["name"] is not None and any(known[key] != now[key] for key in what):
            del rows[now["id"]]
            known = self._defined[kind][rows[now["id"]] - 1]
        known.update(now)

    def _window(self, number, opens, time_ns):
        if opens:
            self._add("capture", self._run, number, time_ns, 0)
            return
        table = self.tables["capture"]
        open_ = (row for row in reversed(range(len(table["run"])))
                 if (table["run"][row], table["number"][row]) == (self._run, number))
        for row in open_:
            table["end_ns"][row] = time_ns
            break

    def _finish(self, totals):
        for name in _TOTALS:
            value = _c.totals_value(totals, _ALL_LANES, name.encode())
            if value:
                self._add("total", self._run, name, value)

    def _name(self):
        """Names are taken at the end: definitions have their last names then."""
        defined = self._defined
        for row in (row for rows in defined.values() for row in rows):
            row["name"] = row["name"] or ""
        for at, row in enumerate(defined[_SITE], 1):
            category = defined[_CATEGORY][row["parent"] - 1]["name"] if row["parent"] else ""
            self._add("site", at, row["run"], row["name"], category, row["color"])
        for at, row in enumerate(defined[_LANE], 1):
            self._add("lane", at, row["run"], row["id"], row["number"], row["name"])
        for at, row in enumerate(defined[_DEVICE], 1):
            self._add("device", at, row["run"], row["number"], row["name"])
        for at, row in enumerate(defined[_STREAM], 1):
            self._add("stream", at, row["run"], row["parent"], row["number"], row["name"])
        for at, row in enumerate(defined[_ATTRIBUTE], 1):
            self._add("attribute", at, row["run"], row["name"])

    # ---- events ----

    def _take(self, told):
        batch = told.contents
        if not batch.num_events:
            return
        kinds = _bytes_of(batch)[_FIELDS["kind"][0]::batch.stride].tobytes()
        for kind in set(kinds) & set(_KINDS):
            self._append(kind, _Events(batch, kinds, kind), batch.lane)

    def _append(self, kind, events, lane):
        name, renamed = _KINDS[kind]
        table = self.tables[name]
        before = len(table["id"])
        table["id"].extend(range(before + 1, before + events.num + 1))
        table["run"].extend(repeat(self._run, events.num))
        for column, buffer in table.items():
            field = renamed.get(column, column)
            if column in _IDS:
                field, of = _IDS[column]
                buffer.extend(map(self._rows[of].__getitem__, events.column(field)))
            elif field in _FIELDS:
                buffer.frombytes(events.column(field).tobytes())
        if "is_loose" in table:
            table["is_loose"].extend(began != lane or flags & _ASYNC != 0 for began, flags in
                                     zip(events.column("lane"), events.column("flags")))
        for field, rare, read_ in _RARE:
            self._add_rare(table, events.column(field), rare, read_)
        if name in self.tables["flow"]:
            self._add_flows(events, name, before + 1)

    @staticmethod
    def _add_rare(table, pointers, rare, read_):
        """Adds data that few events have: a pointer, and columns for its contents."""
        columns = [(table[column], name) for column, name in rare.items() if column in table]
        for buffer, _ in columns:
            buffer.frombytes(bytes(buffer.itemsize * len(pointers)))
        if not columns or not any(pointers):
            return
        for at, pointer in enumerate(pointers, -len(pointers)):
            told = read_(pointer) if pointer else None
            for buffer, name in columns if told else ():
                buffer[at] = getattr(told, name)

    def _add_flows(self, events, name, row):
        counts, table = events.column("num_flows"), self.tables["flow"]
        if not any(counts):
            return
        rows = [number for number, count in enumerate(counts, row) for _ in range(count)]
        for count, pointer in zip(counts, events.column("flows")):
            if count:
                table["flow"].extend((ctypes.c_uint64 * count).from_address(pointer))
        table["run"].extend(repeat(self._run, len(rows)))
        for of in "host_range", "device_range":
            table[of].extend(rows if of == name else repeat(0, len(rows)))


def _cpu(pointer):
    use = CpuUse.from_address(pointer)
    return use if use.known & _CPU_TIMES else None


# Fields that are pointers, the columns of what is behind them, and how it is read.
_RARE = (("work", {**{name: name for name in _WORK}, "change_bytes": "bytes"},
          WorkAmount.from_address),
         ("cpu", {name: name for name in _CPU}, _cpu))


def read(log=None):
    """The tables of a log, or of its unfinished .part, by name: dictionaries of columns, which are
    buffers that NumPy takes without a copy, texts being lists. docs/python.md says more. None: the
    log of the session that `stop` has ended last in this process.

    Of a damaged log what is readable: `damage` of the result says what is not, and so does a
    RuntimeWarning. Raises Error in the library's words."""
    if not _c.where:
        raise_status(4, ErrorText(b"a log is read by the library, which PPROF_ENABLE=0 leaves out"))
    tables = _Reader().read(_last_log() if log is None else log)
    if tables.damage:
        warnings.warn(tables.damage, RuntimeWarning, stacklevel=2)
    return tables
