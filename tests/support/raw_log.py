# SPDX-License-Identifier: Apache-2.0
"""Logs as bytes (docs/log-format.md): made by hand, taken to pieces, sealed again."""
import struct
import zlib

HEADER, RUN, FILE_HEADER = 56, 32, 64
MAGIC, FILE_MAGIC = b"\xb1PPB", b"PPROFLOG"
INFO, DEFINITIONS, EVENTS, CHECKPOINT, WINDOW, TOTALS = range(1, 7)
SITE, CATEGORY, LANE, DEVICE, STREAM, ATTRIBUTES = range(1, 7)
NESTED = 1


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


def nest(sites, lane=1):
    """A range of each of `sites`, each around the next: as the innermost ends first,
    (run, payload) with the outermost last, 10 ns around each other."""
    depth = len(sites)
    shape = [b"".join(map(varint, (NESTED, 1, 0, site, at, lane, 0, 0)))
             for at, site in reversed(list(enumerate(sites)))]
    tokens = b"".join(b"\0" + varint(at) for at in range(depth))
    ones = bytes([10]) * (depth - 1)
    columns = [tokens, b"".join(shape), varint(10 * depth), varint(10), ones, ones]
    payload = varint(63) + b"".join(varint(len(column)) for column in columns) + b"".join(columns)
    return (lane, 0, 0, depth, depth, len(payload)), payload


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
