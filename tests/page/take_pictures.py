#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""take_pictures.py FOLDER PAGE NAME[=ELEMENT]...: pictures of a page, NAME.png each: its first
screen, or an element of it, in 255 colours, so that they are small. A NAME that has "phone" or
"dark" in it is as wide as a phone, or dark."""
import base64
import collections
import os
import struct
import sys
import zlib

import browser

DESK, PHONE, COLOURS = (1280, 800), (390, 844), 255
PIXELS = """
    const image = await load(pictures[0]);
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const data = context.getImageData(0, 0, image.width, image.height).data;
    let text = '';
    for (let at = 0; at < data.length; at += 30000)
      text += String.fromCharCode(...data.subarray(at, at + 30000));
    return [image.width, image.height, btoa(text)];"""


def nearest(palette, colour):
    return min(range(len(palette)),
               key=lambda at: sum((a - b) ** 2 for a, b in zip(palette[at], colour)))


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def indexed(chromium, png):
    """The picture with its most frequent colours alone. Five bits of each are kept: the shades of
    letters would take all places, and stages that are small lose their colour."""
    width, height, text = chromium.on_canvas(PIXELS, png)
    data = bytes(byte & 0xf8 | byte >> 5 for byte in base64.b64decode(text))
    pixels = [data[at:at + 3] for at in range(0, len(data), 4)]
    found = collections.Counter(pixels)
    palette = [colour for colour, _ in found.most_common(COLOURS)]
    place = {colour: at for at, colour in enumerate(palette)}
    for colour in found:
        if colour not in place:
            place[colour] = nearest(palette, colour)
    rows = bytearray()
    for y in range(height):
        rows += b"\0" + bytes(place[pixel] for pixel in pixels[y * width:(y + 1) * width])
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"".join(palette)) + chunk(b"IDAT", zlib.compress(bytes(rows), 9)) +
            chunk(b"IEND", b""))


def main(folder, path, *wanted):
    chromium = browser.Browser()
    for one in wanted:
        name, _, element = one.partition("=")
        size = PHONE if "phone" in name else DESK
        page = chromium.open(os.path.abspath(path), *size, dark="dark" in name)
        clip = None
        if element:
            left, top, width, height = page.js(
                f"(() => {{ const box = document.querySelector('{element}').getBoundingClientRect();"
                "return [box.left, box.top + scrollY, box.width, box.height]; })()")
            clip = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
        with open(os.path.join(folder, name + ".png"), "wb") as file:
            file.write(indexed(chromium, page.picture(full=bool(clip), clip=clip)))
        page.close()
    chromium.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
