#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_corpus.py TOOL LOG...: writes corpora for the fuzz targets from real
outputs: the logs given, traces and rules of tests/data, and pprof-report's own.

Blocks of logs are stored without compression, so that a fuzzer's changes reach
what is in them. Inputs of spools are lists of patches; see spool_fuzz.cc.
"""
import gzip
import json
import pathlib
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent / "support"))
import raw_log  # noqa: E402

DATA = ROOT.parent / "data"
LONGEST = 12 * 1024

KINDS = (
    '{"schemaVersion":1,"baseTimeNanoseconds":12,"traceEvents":[\n'
    '{"ph":"X","cat":"cpu_op","name":"a\\u00e9\\n","pid":1,"tid":2,'
    '"ts":1.5,"dur":20,"args":{"External id":5,"Input Dims":[[1,2],[]]}},\n'
    '{"ph":"X","cat":"cuda_runtime","name":"l","pid":1,"tid":2,"ts":2,'
    '"dur":1,"args":{"correlation":7}},\n'
    '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":4e0,'
    '"dur":"2","args":{"correlation":7,"stream":7,"device":0}},\n'
    '{"ph":"B","name":"b","pid":1,"tid":3,"ts":1},\n'
    '{"ph":"E","pid":1,"tid":3,"ts":3},\n'
    '{"ph":"b","name":"q","cat":"c","id":"0x1","pid":1,"tid":3,"ts":1},\n'
    '{"ph":"e","name":"q","cat":"c","id":"0x1","pid":1,"tid":3,"ts":2},\n'
    '{"ph":"s","name":"f","cat":"c","id":3,"pid":1,"tid":2,"ts":3},\n'
    '{"ph":"C","name":"n","pid":1,"tid":3,"ts":2,"args":{"v":1.25}},\n'
    '{"ph":"i","name":"[memory]","pid":1,"tid":2,"ts":3,"args":{"Bytes":5,'
    '"Total Allocated":9,"Device Type":1,"Device Id":0}},\n'
    '{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"m"}}\n'
    '],"ExtraInfo":{"Process Cpu Utilization":"0.5"}}')

REQUESTS = ["trigger\n", "trigger steps=3\n", "trigger seconds=2.5\n",
            "trigger seconds=0.000000001 output=/tmp/a b.pplog\n",
            "trigger steps=1000000000000 output=/x\n", "trigger steps=0\n",
            "trigger steps=1 seconds=1\n", "stop\n", "trigger output=x\n",
            "trigger  steps=99999999999999999999\n", "trigger a=\x1b[2J\n"]

NAMES = ["decode", "*\ndecode", "de*e\ndecode", "?\n\u6a21", "</script>",
         '"quoted", \\', "\x1b[31mred\x1b[0m", "\u202egnp.exe",
         "a\u200bb\U000e0041", "|md| `x` *y* [z](w)", "=1+1", "\x7f\x01",
         "*a*b*c*d*e*f*g*h\n" + "aXbXcXdXeXfXgX" * 4]


def write(folder, name, data):
    path = ROOT / "corpus" / folder
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_bytes(data[:LONGEST])


def make_logs(tool, paths):
    with tempfile.TemporaryDirectory() as folder:
        for trace in ["torch_graph.json.gz", "paddle_scenario_s.json"]:
            log = pathlib.Path(folder) / (trace.split(".")[0] + ".pplog")
            subprocess.run([tool, "import", DATA / "traces" / trace, "-o", log],
                           check=True, stderr=subprocess.DEVNULL)
            paths.append(log)
        for number, path in enumerate(paths):
            log = path.read_bytes()
            raw = raw_log.stored_raw(log)
            choice = bytes([(number * 37) & 0xFF])
            write("log", path.stem + "_zlib", b"\0" + choice + log)
            write("log", path.stem + "_raw", b"\1" + choice + raw)
            write("log", path.stem + "_stages", b"\1\x40" + raw)
            write("log", path.stem + "_json", b"\1\x02" + raw)
            write("log", path.stem + "_sections", b"\3\0" + raw)


def make_traces(tool, log):
    for path in sorted((DATA / "traces").glob("*.json*")):
        if "rows" in path.name:
            continue
        text = path.read_bytes()
        if path.suffix == ".gz":
            text = gzip.decompress(text)
        write("import", path.name.split(".")[0], b"\x02" + text)
    small = gzip.compress(b'{"traceEvents":[{"ph":"X","name":"a","pid":1,'
                          b'"tid":2,"ts":1,"dur":2}]}', mtime=0)
    write("import", "gzip", b"\0" + small)
    for number in range(4):
        write("import", "kinds%d" % number,
              bytes([number * 0x55]) + KINDS.encode())
    own = subprocess.run([tool, "trace", log, "-o", "-"], check=True,
                         stdout=subprocess.PIPE).stdout
    write("import", "own", b"\x01" + own)


def value_of_nsys(value):
    """As nsys_fuzz.cc reads it."""
    if value is None:
        return b"\0"
    if isinstance(value, str):
        text = value.encode()[:63]
        return b"\4" + bytes([len(text)]) + text
    if isinstance(value, float):
        return b"\3" + struct.pack("<d", value)
    return bytes([1, value]) if 0 <= value < 256 else b"\2" + struct.pack("<q", value)


def make_nsys(tool, trace):
    """A file of nsys's schema as rows, and small as it is."""
    text = (ROOT / "nsys_fuzz.cc").read_text().replace('"\n    "', "")
    tables = [table.replace('\\"', '"')
              for table in re.findall(r'^    "(\w+\(.*\))",$', text, re.M)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "nsys.sqlite"
        subprocess.run([tool, "export", "sqlite", "--schema", "nsys", trace, "-o", path],
                       check=True, stderr=subprocess.DEVNULL)
        with sqlite3.connect(path, isolation_level=None) as db:
            rows = []
            for number, table in enumerate(tables):
                name, columns = table[:-1].split("(")
                rows += [bytes([number]) + b"".join(map(value_of_nsys, row)) for row in
                         db.execute(f"SELECT {columns} FROM {name} LIMIT 12")]
                db.execute(f"DELETE FROM {name} WHERE rowid NOT IN"
                           f" (SELECT rowid FROM {name} LIMIT 4)")
            db.execute("PRAGMA page_size = 512")
            db.execute("VACUUM")
        db.close()
        for choice in 0, 0x42, 0x81:
            write("nsys", "rows%02x" % choice, bytes([choice, 1, 0xff]) + b"".join(rows))
        write("nsys", "few_tables", b"\x02\1\0" + b"".join(rows[:16]))
        write("nsys", "file", b"\x02\0" + path.read_bytes())
    end, start = (1 << 63) - 1, -(1 << 63) + 1
    write("nsys", "extremes", bytes([2, 1, 0xff]) + b"".join(
        bytes([table]) + b"".join(map(value_of_nsys, row)) for table, row in (
            (0, (1, "\u202ea\x1b[31m")), (0, (2, None)), (1, (start, end, 59, 1, "b", -1, None, 0)),
            (1, (5, None, 60, None, None, end, 1, None)), (1, (9, 1, 33, 1, "c", 0, None, 0)),
            (3, (end, start, -1, end, start, end, 1)), (2, (1.5, "x", "y", "z", 1)),
            (5, (1, 2, 3, 4, 5, 6, -7)), (6, (start, 1, "<script>")), (6, (end, 1, "p")),
            (8, (end,)))))


def make_texts():
    for folder in ["good", "bad"]:
        for path in sorted((DATA / "yaml" / folder).glob("*.yaml")):
            write("yaml", folder + "_" + path.stem, path.read_bytes())
        lines = (DATA / "rules" / (folder + ".txt")).read_text().splitlines()
        for number, line in enumerate(lines):
            rule = line.split("\t")[-1]
            write("rule", "%s%02d" % (folder, number), rule.encode())
    for path in sorted((ROOT.parent.parent / "examples/config").glob("*.yaml")):
        write("yaml", "example_" + path.stem, path.read_bytes())
    write("yaml", "mark", "cap\ufeffveon_demand: false}\n".encode())
    write("yaml", "bidi", b'output: "\\u202egolpp\\x7f"\n')
    for number, line in enumerate(REQUESTS):
        write("control", "request%02d" % number, line.encode())
    for number, name in enumerate(NAMES):
        write("text", "name%02d" % number, name.encode())
    write("text", "bytes", b"\xff\xc0\xaf|\xed\xa0\x80|\xe2\x82")


def number(value):
    return bytes([value]) if value < 250 else b"\xff" + struct.pack("<Q", value)


def entry(kind, flags=0, detail=0, offset=0, name=2):
    return (struct.pack("<BH", kind, flags) + number(detail) + number(offset)
            + bytes([name]))


def schema(form, ident, entries, pack=0, size=0):
    return bytes([form, ident, pack, size, len(entries)]) + b"".join(entries)


def payload(name, schemas, blobs, data, pointers=()):
    write("payload", name, bytes([len(schemas)]) + b"".join(schemas)
          + bytes([len(blobs)])
          + b"".join(struct.pack("<BH", *blob) for blob in blobs)
          + bytes([len(pointers)])
          + b"".join(struct.pack("<HH", *pair) for pair in pointers) + data)


# Types: 5 int, 12 uint8, 18 uint64, 20 double, 22 size, 25 char8, 75 text, 76
# UTF-8, 100 selector. Flags: 2 pointer, 16 fixed array, 32 to zero, 48 length.
def make_attacks():
    """What once crashed readers, or took much of them."""
    site, lane = raw_log.SITE, raw_log.LANE
    main_lane = raw_log.definition(lane, 1, number=99, name="main")

    def log(*definitions, events=raw_log.nest([1, 2, 1])):
        made = b"".join(raw_log.definition(*one) for one in definitions) + main_lane
        return raw_log.log((raw_log.DEFINITIONS, made), *raw_log.events(events))
    named = (site, 1, 13, 0, 0, ""), (site, 2, 13, 0, 0, "a")
    request = [(at, 9, {"flows": [1], "site": at, "flags": 4096 if at == 1 else 0})
               for at in (1, 7)]
    for name, data in (
            ("later_kinds", log((7, 1, 0, 0, 0, "x"), (0, 1), (1 << 31, 5), *named)),
            ("no_name", log(*named)),
            ("undefined_sites", log(*named, events=request)),
            ("far_ids", log(*[(kind, (1 << 18) - 1, (1 << 18) - 1, 0, 1 << 62, "x")
                              for kind in range(1, 7)], *named)),
            ("deep", log(*named, events=raw_log.nest([1, 2] * 600))),
            ("overlaps", log(*named, events=[(at, at + 900, {}) for at in range(900)])),
            ("loose_overlaps", log(*named, events=[(at, at + 900, {"flags": 32})
                                                   for at in range(900)]))):
        write("log", name, b"\1\2" + data)
        write("log", name + "_stages", b"\1\x40" + data)
    for name, phases in ("begins", "B" * 300), ("loose_begins", "b" * 300), ("ends", "BE" * 150):
        write("import", name, b"\2" + json.dumps([
            {"ph": phase, "name": "a", "cat": "c", "id": 1, "ts": at}
            for at, phase in enumerate(phases)], separators=(",", ":")).encode())


def make_payloads():
    eight = struct.pack("<QQ", 7, 1 << 20)
    for kind in (1, 5, 12, 16, 18, 20, 21, 22, 23, 27, 33, 45, 50, 68, 75, 77,
                 78, 80):
        payload("predefined%02d" % kind, [], [(kind, 16)], eight)
    payload("nccl", [bytes([4, 139, 0, 4, 3, 0, 1, 2]),
                     schema(0, 133, [entry(18), entry(22, name=3),
                                     entry(139, name=4)])],
            [(133, 24)], eight + b"\2" + bytes(7))
    payload("nested", [schema(0, 128, [entry(12), entry(16)]),
                       schema(0, 129, [entry(14), entry(128, 16, 2),
                                       entry(12)])],
            [(129, 24)], bytes(range(24)))
    payload("lengths", [schema(1, 192, [entry(12), entry(12, 48, 0),
                                        entry(75, 32), entry(12)])],
            [(192, 9)], b"\3abcname\0\7")
    payload("packed", [schema(0, 130, [entry(12), entry(18, name=0xC2)], 1)],
            [(130, 9)], bytes(range(9)))
    payload("union", [schema(2, 128, [entry(16), entry(19)]),
                      schema(0, 129, [entry(16), entry(128, 0, 0),
                                      entry(16, 0, 0, 8)])],
            [(129, 12)], struct.pack("<IfI", 1, 2.5, 3))
    payload("pointer", [schema(0, 128, [entry(16, 2 | 16, 2), entry(12)])],
            [(128, 16), (126, 8)], bytes(16) + eight, [(0, 16), (8, 2)])
    payload("forever", [schema(0, 128, [entry(12)]
                               + [entry(128, 0, 0, 1)] * 20)],
            [(128, 64)], bytes([1]) * 64)
    payload("overflow", [schema(0, 128, [entry(18, 16, (1 << 61) + 1),
                                         entry(18, 0, 0, (1 << 64) - 4)])],
            [(128, 16)], eight)
    payload("texts", [schema(0, 128, [entry(76, 0, 4), entry(25, 16, 4),
                                      entry(78, 16, 2)], size=16)],
            [(128, 16), (75, 5)], b"ab\0dwxyz" + bytes(8) + b"hello")


def patch(region, offset, data):
    head = struct.pack("<BI", region, offset)[:4]
    return head + bytes([len(data) - 1]) + data


def make_spools():
    big = b"\xff" * 8
    for verb in range(3):
        first = bytes([verb])
        write("spool", "whole%d" % verb, first)
        for region in range(8):
            data = first + patch(region, 8, big) + patch(region, 64, b"\0" * 16)
            write("spool", "region%d_%d" % (region, verb), data)
        write("spool", "several%d" % verb, first + b"".join(
            patch(region, 16 * region + 128, struct.pack("<Q", 1 << 5 * region))
            for region in range(8)))


def main():
    tool = sys.argv[1]
    logs = [pathlib.Path(name) for name in sys.argv[2:]]
    logs.append(DATA / "logs" / "v1.pplog")
    make_traces(tool, logs[0])
    make_logs(tool, logs)
    make_texts()
    make_spools()
    make_payloads()
    make_attacks()
    make_nsys(tool, DATA / "traces" / "torch_graph.json.gz")


if __name__ == "__main__":
    main()
