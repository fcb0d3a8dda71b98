# SPDX-License-Identifier: Apache-2.0
"""Protobuf's wire format, read without any schema: field numbers stand where they are asked."""
import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def fields(data):
    """[(number, value)] in order; of what has a length bytes, of fixed ones bytes too."""
    found, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            length = {1: 8, 5: 4}[kind]
            value, at = data[at:at + length], at + length
        assert at <= len(data)
        found.append((key >> 3, value))
    return found


def every(data, number):
    return [value for key, value in fields(data) if key == number]


def one(data, number, default=None):
    found = every(data, number)
    assert len(found) < 2
    return found[0] if found else default


def text(data, number, default=None):
    found = one(data, number)
    return default if found is None else found.decode()


def real(data, number):
    found = one(data, number)
    return None if found is None else struct.unpack("<d", found)[0]


def fixed(data, number):
    return [struct.unpack("<Q", value)[0] for value in every(data, number)]


def packed(data, number):
    """Varints of a field, in one piece or in several."""
    found = []
    for value in every(data, number):
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            item, at = varint(value, at)
            found.append(item)
    return found
