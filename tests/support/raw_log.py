# SPDX-License-Identifier: Apache-2.0
"""Logs as bytes (docs/log-format.md): made by hand, taken to pieces, sealed again."""
import struct
import zlib

HEADER, RUN, FILE_HEADER = 56, 32, 64
MAGIC, FILE_MAGIC = b"\xb1PPB", b"PPROFLOG"
INFO, DEFINITIONS, EVENTS, CHECKPOINT, WINDOW, TOTALS = range(1, 7)
SITE, CATEGORY, LANE, DEVICE, STREAM, ATTRIBUTES = range(1, 7)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(len(value)) + value


def texts(pairs):
    return b"".join(text(key) + text(value) for key, value in pairs)


def definition(kind, ident, parent=0, color=0, number=0, name=""):
    return b"".join(map(varint, (kind, ident, parent, color, number))) + text(name)


def file_header(uuid=b"0123456789abcdef" * 2):
    head = FILE_MAGIC + struct.pack("<HHI", 1, 0, 0x01020304) + uuid + bytes(12)
    return head + struct.pack("<I", zlib.crc32(head))


def block(kind, number, payload, runs=(), first=0, last=0):
    """`runs`: (lane, window, first number, end number, events, bytes) each."""
    table = b"".join(struct.pack("<IIQQII", *run) for run in runs)
    head = struct.pack("<BBHIIIIIQQQ", kind, 0, 0, len(runs), len(payload), len(payload),
                       zlib.crc32(payload), sum(run[4] for run in runs), number, first, last)
    return MAGIC + struct.pack("<I", zlib.crc32(head + table)) + head + table + payload


def signed(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def stretch(events, first, lane):
    """(payload, run) of (start, end, {site, kind, flags, depth, stream, device, flows}) each."""
    shapes, columns = {}, {at: bytearray() for at in (0, 1, 6, 7, 8, 9, 10, 11)}
    start = device_end = flow = 0
    for begin, end, what in events:
        device, flows = what.get("device"), what.get("flows")
        shape = b"".join(map(varint, (
            (2 if device else 0) | (8 if flows else 0), what.get("kind", 2 if device else 1),
            what.get("flags", 0), what.get("site", 1), what.get("depth", 0), lane,
            what.get("stream", 1 if device else 0), 0)))
        if shape not in shapes:
            columns[1] += shape
        columns[0] += b"\0" + varint(shapes.setdefault(shape, len(shapes)))
        columns[6] += signed(begin - start)
        columns[7] += signed(end - begin)
        start = begin
        if device:
            columns[8] += signed(device[0] - device_end)
            columns[9] += signed(device[1] - device[0])
            columns[10] += b"\0"
            device_end = device[1]
        if flows:
            columns[11] += varint(len(flows))
            for one in flows:
                columns[11] += signed(one - flow)
                flow = one
    used = {at: column for at, column in columns.items() if column}
    payload = varint(sum(1 << at for at in used)) + b"".join(
        varint(len(column)) for column in used.values()) + b"".join(used.values())
    num = len(events)
    return payload, (lane, 0, first, first + num, num, len(payload))


def events(all_events, lane=1, most=1500):
    """Blocks for `log`: inner ranges come before the ranges around them."""
    for first in range(0, len(all_events), most):
        payload, run = stretch(all_events[first:first + most], first, lane)
        yield EVENTS, payload, [run]


def nest(sites):
    """The events of a range of each of `sites`, each around the next."""
    deep = len(sites)
    return [(at, 2 * deep - at, {"site": sites[at], "depth": at}) for at in reversed(range(deep))]


def log(*blocks, uuid=b"0123456789abcdef" * 2, more=()):
    """From (kind, payload[, runs]) each, with info and totals of a run around them."""
    info = texts([("uuid", uuid), ("pid", "7"),
                  ("time_base_realtime_ns", "1700000000000000000"), *more])
    recorded = {}
    for run in (run for one in blocks if one[0] == EVENTS for run in one[2]):
        recorded[run[0] + 1] = recorded.get(run[0] + 1, 0) + run[4]
    recorded[0] = sum(recorded.values())
    totals = b"\1" + text("recorded") + b"".join(
        bytes([2]) + varint(lane) + b"\0" + varint(num) for lane, num in recorded.items())
    all_blocks = [(INFO, info), *blocks, (TOTALS, totals)]
    return file_header(uuid) + b"".join(block(one[0], at, *one[1:])
                                    for at, one in enumerate(all_blocks))


def blocks_of(data):
    """(offset, offset of the payload, its length, type) of each block."""
    at, found = FILE_HEADER, []
    while data[at:at + 4] == MAGIC:
        (runs,) = struct.unpack_from("<I", data, at + 12)
        (stored,) = struct.unpack_from("<I", data, at + 20)
        payload = at + HEADER + runs * RUN
        found.append((at, payload, stored, data[at + 8]))
        at = payload + stored
        at += FILE_HEADER if data[at:at + 8] == FILE_MAGIC else 0
    return found


def stored_raw(data):
    """The same log with every payload as it was before compression."""
    out, at = bytearray(data[:FILE_HEADER]), FILE_HEADER
    for begin, payload, stored, _ in blocks_of(data):
        out += data[at:begin]
        header, raw = bytearray(data[begin:payload]), data[payload:payload + stored]
        at = payload + stored
        if header[9] == 1:
            raw = zlib.decompress(raw)
            header[9] = 0
        struct.pack_into("<I", header, 20, len(raw))
        out += seal(header, raw)
    return bytes(out + data[at:])


def seal(header, payload):
    """A block with the checksums that it should have."""
    header = bytearray(header)
    struct.pack_into("<I", header, 24, zlib.crc32(payload))
    struct.pack_into("<I", header, 4, zlib.crc32(header[8:]))
    return bytes(header) + bytes(payload)


def changed(data, at, value, sealed):
    """`data` with another byte at `at`, in the payload of a block."""
    out = bytearray(data)
    out[at] = value
    for begin, payload, stored, _ in blocks_of(data) if sealed else ():
        if payload <= at < payload + stored:
            out[begin:payload + stored] = seal(out[begin:payload], out[payload:payload + stored])
    return bytes(out)

