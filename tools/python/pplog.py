#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a pprof log (docs/log-format.md) with the standard library only.

read(path) yields ("info", [(key, value)]), ("define", kind, id, parent, color, number, name),
("batch", run, events), ("checkpoint", time, events), ("window", index, opens, time), at last
("totals", items, notes, damage), items None if there are none; tests/tools/log_dump.py prints it.
"""
import struct
import zlib

INFO, DEFINITIONS, EVENTS, CHECKPOINT, WINDOW, TOTALS = range(1, 7)
MORE, CONTINUES = 1, 2
BLOCK_MAGIC, BLOCK, RUN = b"\xb1PPB", struct.Struct("<4sIBBHIIIIIQQQ"), struct.Struct("<IIQQII")
MAX_RAW, MAX_RUNS, MASK, ALL_LANES = 65536, 1024, (1 << 64) - 1, 0xFFFFFFFF
NESTED, DEVICE, NEW_FLOWS, WORK, VALUE = 1, 2, 8, 16, 32
(TOKENS, SHAPES, GAP, DURATION, LEAD, TRAIL, START, SPAN, DEVICE_START, DEVICE_SPAN, DEVICE_ERROR,
 FLOWS, WORKS, VALUES) = range(14)


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
    sizes = [head.varint() if mask >> i & 1 else 0 for i in range(14)]
    column = [Cursor(head.take(size)) for size in sizes]
    if mask >> 14 or head.left():
        raise Damaged("columns")
    shapes, guesses, before, last, levels = [], {}, (0, 0), 0, []
    nested_end = start = device_end = device_error = flow = value = 0
    work, flows, events = [0] * 4, [], []
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
        if token >= len(shapes) or (shapes[token][0] & NESTED and shapes[token][4] >= 1024):
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
            start = start + column[START].signed() & MASK
            end = start + column[SPAN].signed() & MASK
        device = (0, 0, 0)
        if form & DEVICE:
            begin = device_end + column[DEVICE_START].signed() & MASK
            device_end = begin + column[DEVICE_SPAN].signed() & MASK
            device_error = device_error + column[DEVICE_ERROR].signed() & MASK
            device = (begin, device_end, device_error)
        if form & NEW_FLOWS:
            flows = [flow := flow + column[FLOWS].signed() & MASK
                     for _ in range(column[FLOWS].varint())]
        if form & WORK:
            work = [old ^ column[WORKS].bits() for old in work]
        if form & VALUE:
            value ^= column[VALUES].bits()
        events.append(dict(
            kind=kind, site=site, lane=lane, stream=stream, depth=depth, flags=flags, window=window,
            start=start, end=end, device=device, value=value if form & VALUE else 0,
            work=work if form & WORK else None, flows=flows if form & (4 | NEW_FLOWS) else []))
    if hits or missed or any(cursor.left() for cursor in column):
        raise Damaged("bytes left over")
    return events


class Block:
    """A block at `at`; ok is False when only its payload is damaged."""

    def __init__(self, data, at):
        if at + BLOCK.size > len(data):
            raise Damaged("cut")
        (magic, crc, self.type, self.codec, self.flags, num_runs, self.raw_len, stored_len,
         payload_crc, self.num_events, self.number, _, self.time) = BLOCK.unpack_from(data, at)
        runs_end = at + BLOCK.size + num_runs * RUN.size
        self.end = runs_end + stored_len
        if (magic != BLOCK_MAGIC or num_runs > MAX_RUNS or max(self.raw_len, stored_len) > MAX_RAW
                or self.end > len(data) or zlib.crc32(data[at + 8:runs_end]) != crc):
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


def blocks(data, damage):
    """Every block not seen before; what is no block is counted in `damage`."""
    header, at, expected = data[:64], 64, 0
    if data[:8] != b"PPROFLOG":  # a damaged header costs itself, if a block follows
        try:
            Block(data, 64)
        except Damaged as error:
            raise ValueError("not a pprof log") from error
    if len(header) < 64 or zlib.crc32(header[:60]) != struct.unpack("<I", header[60:])[0]:
        at = 0
    elif struct.unpack("<H", header[8:10])[0] > 1:
        raise ValueError("written by a newer version")
    while at < len(data):
        try:
            block = Block(data, at)
        except Damaged:
            found = data.find(BLOCK_MAGIC, at + 1)
            found = found if found >= 0 else len(data)
            damage["bytes"], at = damage["bytes"] + found - at, found
            continue
        damage["bytes"] += 0 if block.ok else block.end - at
        at = block.end
        if block.number >= expected:
            damage["missing"] += block.number - expected
            expected = block.number + 1
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


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    damage, totals, begun, info, state, going_on = dict(bytes=0, missing=0), None, False, [], 0, 0
    for block in blocks(data, damage):
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
                info = state if block.type == INFO else info
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
