# SPDX-License-Identifier: Apache-2.0
"""Our exports as the messages that their owners' packages have: messages_program.py TRACE OTLP.

Prints {packets, events, unknown} of Perfetto's trace, of which `unknown` are fields that its schema
has not, and {requests, spans} of OpenTelemetry's, where such a field is an error.
"""
import base64
import json
import sys
import zlib

from google.protobuf.json_format import ParseDict
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace


def num_unknown(message):
    found = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type:
            many = hasattr(value, "__len__") and not hasattr(value, "ListFields")
            found += sum(num_unknown(item) for item in (value if many else [value]))
    return found


def perfetto(path):
    packed, trace = Trace(), Trace()
    with open(path, "rb") as file:
        packed.ParseFromString(file.read())
    for packet in packed.packet:
        trace.MergeFromString(zlib.decompress(packet.compressed_packets))
    return {"packets": len(trace.packet), "unknown": num_unknown(trace),
            "events": sum(packet.HasField("track_event") for packet in trace.packet)}


def in_base64(value):
    """Its JSON has hexadecimal ids, where protobuf's own has base64."""
    if isinstance(value, list):
        return [in_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: base64.b64encode(bytes.fromhex(item)).decode()
            if key in ("traceId", "spanId", "parentSpanId") else in_base64(item)
            for key, item in value.items()}


def otlp(path):
    with open(path, encoding="utf-8") as file:
        requests = [ParseDict(in_base64(json.loads(line)), ExportTraceServiceRequest())
                    for line in file]
    return {"requests": len(requests),
            "spans": sum(len(scope.spans) for request in requests
                         for resource in request.resource_spans for scope in resource.scope_spans)}


print(json.dumps({"perfetto": perfetto(sys.argv[1]), "otlp": otlp(sys.argv[2])}))
