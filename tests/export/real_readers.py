#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""By hand: what others' own readers say of the exports of a log. real_readers.py TOOL LOG FOLDER.

Perfetto's schema, of its Python package, into a virtual environment in FOLDER: every packet, and
fields that it does not know. OpenTelemetry's messages, of its Python package: no field that they
have not. Google's pprof of Go (Debian: golang-go): its table."""
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

# Its JSON has hexadecimal ids, where protobuf's own has base64.
OTLP = """
import base64, json, sys
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

def in_base64(value):
    if isinstance(value, list):
        return [in_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: base64.b64encode(bytes.fromhex(item)).decode()
            if key in ("traceId", "spanId", "parentSpanId") else in_base64(item)
            for key, item in value.items()}

lines = spans = 0
with open(sys.argv[1]) as file:
    for line in file:
        request = ParseDict(in_base64(json.loads(line)), ExportTraceServiceRequest())
        lines += 1
        spans += sum(len(scope.spans) for resource in request.resource_spans
                     for scope in resource.scope_spans)
print("otlp: %d requests, %d spans" % (lines, spans))
sys.exit(not spans)
"""


def main():
    tool, log, folder = (os.path.abspath(name) for name in sys.argv[1:4])
    os.makedirs(folder, exist_ok=True)
    for name, ending in (("perfetto", "x.pftrace"), ("profile", "x.pb.gz"), ("otlp", "x.json")):
        subprocess.run([tool, "export", name, log, "--force", "-o", os.path.join(folder, ending)],
                       check=True)
    python = os.path.join(folder, "venv/bin/python")
    if not os.path.exists(python):
        venv.create(os.path.join(folder, "venv"), with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "perfetto", "protobuf",
                    "opentelemetry-proto"], check=True)
    subprocess.run([python, "-c", PERFETTO, os.path.join(folder, "x.pftrace")], check=True)
    subprocess.run([python, "-c", OTLP, os.path.join(folder, "x.json")], check=True)
    go = shutil.which("go") or "/usr/lib/go-1.19/bin/go"
    subprocess.run([go, "tool", "pprof", "-top", os.path.join(folder, "x.pb.gz")], check=True)


main()
