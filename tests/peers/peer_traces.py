# SPDX-License-Identifier: Apache-2.0
"""Traces in Chrome's format that frameworks and tools write: calls and total of each name."""
import subprocess

import common

PROGRAM = "generic_programs.py"
NODE = "_kernel_time"
# xprof makes the trace viewer's JSON of what version 2 writes.
TENSORFLOW = ["tensorflow-cpu==2.21.0", "xprof==2.24.2"]


def sums(package, trace="trace.json", **hooks):
    """Compares what a framework's trace has; `package` says which version it is."""
    def compare(peer):
        peer.run(PROGRAM, peer.name)
        row = common.compare_sums(peer, trace, "calls and total of each name", **hooks)
        return [(peer.version(package), row)]
    return compare


def sums_of_program(*command):
    """The same of a program of Debian's, whose version it prints."""
    def compare(peer):
        peer.run(PROGRAM, peer.name)
        said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
        version = next(word for word in said.split() if word[0].isdigit())
        return [(version, common.compare_sums(peer, "trace.json", "calls and total of each name"))]
    return compare


def operator_of(event):
    """ONNX Runtime's nodes by the operator that they are, as our tables have them."""
    name, operator = event.get("name"), event.get("args", {}).get("op_name")
    return operator if operator and name.endswith(NODE) else name


PEERS = {
    "onnxruntime": (["onnxruntime==1.32.0", "onnx", "numpy"],
                    sums("onnxruntime", name_of=operator_of), None),
    "tensorflow": (TENSORFLOW, sums("tensorflow-cpu"), None),
    "tensorflow1": (TENSORFLOW, sums("tensorflow-cpu"), "tensorflow"),
    "jax": (["jax==0.10.2"], sums("jax", "trace.json.gz"), None),
    "viztracer": (["viztracer==1.1.1"], sums("viztracer"), None),
    "clang": ([], sums_of_program("clang++", "--version"), None),
    "chromium": ([], sums_of_program("chromium", "--version"), None),
    "ray": (["ray==2.60.0"], sums("ray"), None),
}
