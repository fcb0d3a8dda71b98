#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""By hand: what others' own readers say of the exports of a log. real_readers.py TOOL LOG FOLDER.

Perfetto's schema, of its Python package, into a virtual environment in FOLDER: every packet, and
fields that it does not know. Google's pprof of Go (Debian: golang-go): its table."""
import os
import shutil
import subprocess
import sys
import venv

PERFETTO = """
import sys, zlib
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

def unknown(message):
    found = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type:
            many = hasattr(value, "__len__") and not hasattr(value, "ListFields")
            found += sum(unknown(item) for item in (value if many else [value]))
    return found

packed, trace = Trace(), Trace()
with open(sys.argv[1], "rb") as file:
    packed.ParseFromString(file.read())
for packet in packed.packet:
    trace.MergeFromString(zlib.decompress(packet.compressed_packets))
print("perfetto: %d packets, %d of them events, %d unknown fields" % (
    len(trace.packet), sum(packet.HasField("track_event") for packet in trace.packet),
    unknown(trace)))
sys.exit(unknown(trace) > 0 or not trace.packet)
"""


def main():
    tool, log, folder = (os.path.abspath(name) for name in sys.argv[1:4])
    os.makedirs(folder, exist_ok=True)
    for name, ending in (("perfetto", "x.pftrace"), ("profile", "x.pb.gz")):
        subprocess.run([tool, "export", name, log, "--force", "-o", os.path.join(folder, ending)],
                       check=True)
    python = os.path.join(folder, "venv/bin/python")
    if not os.path.exists(python):
        venv.create(os.path.join(folder, "venv"), with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "perfetto", "protobuf"], check=True)
    subprocess.run([python, "-c", PERFETTO, os.path.join(folder, "x.pftrace")], check=True)
    go = shutil.which("go") or "/usr/lib/go-1.19/bin/go"
    subprocess.run([go, "tool", "pprof", "-top", os.path.join(folder, "x.pb.gz")], check=True)


main()
