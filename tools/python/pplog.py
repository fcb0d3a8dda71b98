#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a pprof log (docs/log-format.md) with the standard library only.

read(path) yields for each run ("info", [(key, value)]), ("define", kind, id, parent, color, number,
name), ("batch", run, events), ("checkpoint", time, events), ("window", index, opens, time), at last
("totals", items, notes, damage), items None if there are none; tests/tools/log_dump.py prints it.
"""
import re
import struct
import zlib

INFO, DEFINITIONS, EVENTS, CHECKPOINT, WINDOW, TOTALS = range(1, 7)
MORE, CONTINUES = 1, 2
BLOCK_MAGIC, BLOCK, RUN = b"\xb1PPB", struct.Struct("<4sIBBHIIIIIQQQ"), struct.Struct("<IIQQII")
MAX_RAW, MAX_RUNS, MASK, ALL_LANES = 65536, 1024, (1 << 64) - 1, 0xFFFFFFFF
FILE_MAGIC, MAGICS = b"PPROFLOG", re.compile(rb"\xb1PPB|PPROFLOG")
NESTED, DEVICE, NEW_FLOWS, WORK, VALUE, ATTRIBUTES, CPU, STREAM, NUMBERS = (
    1, 2, 8, 16, 32, 64, 128, 256, 512)
(TOKENS, SHAPES, GAP, DURATION, LEAD, TRAIL, START, SPAN, DEVICE_START, DEVICE_SPAN, DEVICE_ERROR,
 FLOWS, WORKS, VALUES, ATTRIBUTE_IDS, CPU_USES, NAME_NUMBERS, NUM_COLUMNS) = range(18)


class Damaged(Exception):
    """These bytes are not what they should be."""


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def varint(self):
        value = shift = 0
        while self.at < len(self.data) and shift < 70:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                if value > MASK:
                    break
                return value
            shift += 7
        raise Damaged("varint")

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def take(self, size):
        if size > self.left():
            raise Damaged("bytes missing")
        self.at += size
        return self.data[self.at - size:self.at]

    def text(self):
        return self.take(self.varint()).split(b"\0")[0]

    def bits(self):  # a double's, byte-reversed
        return int.from_bytes(self.varint().to_bytes(8, "little"), "big")


def decode_run(data, num_events):
    """The events of one run, as dictionaries."""
    head = Cursor(data)
    mask = head.varint()
    sizes = [head.varint() if mask >> i & 1 else 0 for i in range(NUM_COLUMNS)]
    column = [Cursor(head.take(size)) for size in sizes]
    if mask >> NUM_COLUMNS or head.left():
        raise Damaged("columns")
    shapes, guesses, before, last, levels = [], {}, (0, 0), 0, []
    nested_end = start = device_end = device_error = flow = value = attributes = 0
    work, numbers, flows, events = [0] * 4, [0] * 4, [], []
    ends, device_ends = [0] * 64, [0] * 64  # of the last with STREAM
    tokens = column[TOKENS]
    hits, missed = (tokens.varint(), tokens.left() > 0) if tokens.left() else (0, False)
    for _ in range(num_events):
        place = (before[0] * 37 + before[1]) % 1024
        if hits:
            hits -= 1
            token = guesses.get(place, len(shapes))
        else:
            token = tokens.varint() if missed else len(shapes) + 1
            if token == len(shapes):
                shapes.append([column[SHAPES].varint() for _ in range(8)])
            hits = tokens.varint() if tokens.left() else 0
            missed = tokens.left() > 0
        if token >= len(shapes) or (shapes[token][0] & NESTED and (
                shapes[token][0] & STREAM or shapes[token][4] >= 1024)):
            raise Damaged("token")
        guesses[place], before = token, (before[1], token + 1)
        form, kind, flags, site, depth, lane, stream, window = shapes[token]
        if form & NESTED:
            children = levels[depth + 1] if depth + 1 < len(levels) else None
            if children:
                start = children[0] - column[LEAD].varint() & MASK
                end = children[1] + column[TRAIL].varint() & MASK
            else:
                start = nested_end + column[GAP].varint() & MASK
                end = start + column[DURATION].varint() & MASK
            levels = (levels + [None] * (depth + 1))[:depth + 1]
            levels[depth] = (levels[depth][0] if levels[depth] else start, end)
            nested_end = end
        else:
            if form & STREAM:
                start = max(ends[stream % 64], 0 if stream else nested_end) or start
            start = start + column[START].signed() & MASK
            end = start + column[SPAN].signed() & MASK
            if form & STREAM:
                ends[stream % 64] = end
        device = (0, 0, 0)
        if form & DEVICE:
            begin = (form & STREAM and device_ends[stream % 64]) or device_end
            begin = begin + column[DEVICE_START].signed() & MASK
            device_end = begin + column[DEVICE_SPAN].signed() & MASK
            if form & STREAM:
                device_ends[stream % 64] = device_end
            device_error = device_error + column[DEVICE_ERROR].signed() & MASK
            device = (begin, device_end, device_error)
        if form & NEW_FLOWS:
            flows = [flow := flow + column[FLOWS].signed() & MASK
                     for _ in range(column[FLOWS].varint())]
        if form & WORK:
            work = [old ^ column[WORKS].bits() for old in work]
        if form & VALUE:
            value ^= column[VALUES].bits()
        if form & ATTRIBUTES:
            attributes += column[ATTRIBUTE_IDS].signed()
            if not 0 <= attributes <= ALL_LANES:
                raise Damaged("attributes")
        if form & CPU:  # known, user, sys, inner, switches 2, faults 2, run queue
            known = column[CPU_USES].varint()
            if known not in (0, 1, 3):
                raise Damaged("cpu")
            uses = [column[CPU_USES].varint() for _ in range((0, 7, 0, 8)[known])]
            uses = [known] + uses + [0] * (8 - len(uses))
        if form & NUMBERS:  # how many and how full, then differences by place
            full_name, num = divmod(column[NAME_NUMBERS].varint(), 8)
            if num > 4 or full_name > 2:
                raise Damaged("numbers")
            for i in range(num):
                numbers[i] = numbers[i] + column[NAME_NUMBERS].signed() & MASK
        events.append(dict(
            kind=kind, site=site, lane=lane, stream=stream, depth=depth, flags=flags, window=window,
            start=start, end=end, device=device, value=value if form & VALUE else 0,
            work=work if form & WORK else None, flows=flows if form & (4 | NEW_FLOWS) else [],
            attributes=attributes if form & ATTRIBUTES else 0, cpu=uses if form & CPU else None,
            numbers=numbers[:num] if form & NUMBERS else None,
            full_name=full_name if form & NUMBERS else 0))
    if hits or missed or any(cursor.left() for cursor in column):
        raise Damaged("bytes left over")
    return events


class Block:
    """A block at `at`; ok is False when only its payload is damaged."""

    def __init__(self, data, at):
        if at + BLOCK.size > len(data):
            raise Damaged("cut")
        (magic, self.crc, self.type, self.codec, self.flags, num_runs, self.raw_len, stored_len,
         payload_crc, self.num_events, self.number, _, self.time) = BLOCK.unpack_from(data, at)
        runs_end = at + BLOCK.size + num_runs * RUN.size
        self.end = runs_end + stored_len
        if (magic != BLOCK_MAGIC or num_runs > MAX_RUNS or max(self.raw_len, stored_len) > MAX_RAW
                or self.end > len(data) or zlib.crc32(data[at + 8:runs_end]) != self.crc):
            raise Damaged("block header")
        self.runs = [RUN.unpack_from(data, at + BLOCK.size + i * RUN.size) for i in range(num_runs)]
        self.stored = data[runs_end:self.end]
        self.ok = zlib.crc32(self.stored) == payload_crc

    def payload(self):
        try:
            inflate = zlib.decompressobj().decompress
            raw = inflate(self.stored, self.raw_len + 1) if self.codec == 1 else self.stored
        except zlib.error as error:
            raise Damaged("zlib") from error
        if len(raw) != self.raw_len or self.codec > 1:
            raise Damaged("payload")
        return raw

    def decode(self):
        raw, at = self.payload(), 0
        if sum(run[5] for run in self.runs) != len(raw):
            raise Damaged("runs")
        for run in self.runs:
            yield run, decode_run(raw[at:at + run[5]], run[4])
            at += run[5]


def place_at(data, at):
    """The Block at `at`, FILE_MAGIC where a run's header stands, else None."""
    try:
        return Block(data, at)
    except Damaged:
        header = data[at:at + 64]
        whole = (header[:8] == FILE_MAGIC and len(header) == 64 and header[12:16] == b"\4\3\2\1"
                 and zlib.crc32(header[:60]) == struct.unpack("<I", header[60:])[0])
        return FILE_MAGIC if whole else None


def blocks(data, damage):
    """The uuid of each run and every block of it not seen before; `damage` counts what is none."""
    if data[:8] != FILE_MAGIC and not isinstance(place_at(data, 64), Block):
        raise ValueError("not a pprof log")
    at, begins = 0, True
    while begins or at < len(data):
        if begins:
            uuid, whole = b"", place_at(data, at) == FILE_MAGIC
            if whole:
                if struct.unpack("<H", data[at + 8:at + 10])[0] > 1:
                    raise ValueError("written by a newer version")
                uuid, at = data[at + 16:at + 48].rstrip(b"\0"), at + 64
            expected, first, last, complete, begins = 0, None, None, False, False
            yield uuid
        start, block = at, place_at(data, at)
        while block is None and at < len(data):
            found = MAGICS.search(data, at + 1)
            at = found.start() if found else len(data)
            block = place_at(data, at)
        damage["bytes"] += at - start
        if block is None:
            return
        begins = block == FILE_MAGIC
        if not begins and expected:  # a block of another run, whose header is gone
            older = block.number < expected
            begins = (complete or older if at > start else
                      older and block.crc != last if complete else
                      block.number == 0 and block.type == INFO and block.crc != first)
        if begins:
            continue
        damage["bytes"] += 0 if block.ok else block.end - at
        at = block.end
        if block.number >= expected:
            damage["missing"] += block.number - expected
            expected = block.number + 1
            first, last = block.crc if block.number == 0 else first, block.crc
            complete = block.ok and block.type == TOTALS and not block.flags & MORE
            yield block


def read_piece(block, state):
    if block.type == CHECKPOINT:
        state += [event for _, events in block.decode() for event in events]
        return
    cursor = Cursor(block.payload())
    while cursor.left() and block.type == INFO:
        key, value = cursor.text(), cursor.text()
        if state and state[-1][0] == key:  # the value goes on
            value = state.pop()[1] + value
        state.append((key, value))
    while cursor.left():
        (items, notes, keys), tag = state, cursor.varint()
        if tag == 1:
            keys.append(cursor.text().decode())
        elif tag == 2:
            lane, key, value = cursor.varint() - 1 & ALL_LANES, cursor.varint(), cursor.varint()
            items.append((lane, keys[key], value))
        else:
            notes.append((cursor.text(), cursor.text()))


def read_run(uuid, found, damage):
    """What one run holds; returns the uuid of the next one, None after the last."""
    totals, begun, state, going_on, following = None, False, 0, 0, None
    info = [(b"uuid", uuid)] if uuid else []
    for block in found:
        if isinstance(block, bytes):
            following = block
            break
        if not block.ok or not INFO <= block.type <= TOTALS or (block.type == INFO and begun):
            continue
        if not begun and block.type != INFO:
            begun = True
            yield "info", info
        try:
            if block.type in (INFO, TOTALS, CHECKPOINT):
                goes_on, going_on = going_on == (block.type, block.number), 0
                if not block.flags & CONTINUES:
                    state = [] if block.type != TOTALS else ([], [], [])
                elif not goes_on:
                    continue
                read_piece(block, state)
                info = state or info if block.type == INFO else info
                if info and info[-1][0] == b"compressor":  # of the log, not the run
                    info = info[:-1]
                if block.flags & MORE:
                    going_on = (block.type, block.number + 1)
                elif block.type == CHECKPOINT:
                    yield "checkpoint", block.time, state
                elif block.type == TOTALS:
                    totals = state
            elif block.type == DEFINITIONS:
                cursor = Cursor(block.payload())
                while cursor.left():
                    yield "define", *[cursor.varint() for _ in range(5)], cursor.text()
            elif block.type == EVENTS:
                yield from (("batch", run, events) for run, events in block.decode())
            else:
                cursor = Cursor(block.payload())
                yield "window", cursor.varint(), cursor.varint(), cursor.varint()
        except Damaged:
            damage["bytes"] += 1
    if not begun:
        yield "info", info
    items, notes, _ = totals or (None, [], [])
    yield "totals", items, notes, damage
    return following


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    damage = dict(bytes=0, missing=0)
    found = blocks(data, damage)
    uuid = next(found)
    while uuid is not None:
        uuid = yield from read_run(uuid, found, damage)
