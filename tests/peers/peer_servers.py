# SPDX-License-Identifier: Apache-2.0
"""Servers that mark nothing, by hooks: what the answer names, and requests beside their client's."""
import json
import os
import shutil
import signal
import socket
import subprocess

import common

PROGRAM = "server_programs.py"
NUMBER = 100  # requests


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def serve(peer, server, *hooks):
    """(what the client measured, the report of the server's run, which Ctrl-C ends)."""
    port = free_port()
    output = peer.path("report.json")
    nvtx = os.path.join(os.path.dirname(peer.library), "sdk", "nvtx", "libpprof_nvtx.so")
    shutil.rmtree(peer.path("logs"), ignore_errors=True)
    command = [peer.tool, "run", "--library", nvtx, "-f", "json", "-o", output, "--force",
               "--logs", "logs"]
    for name in hooks:
        command += ["--hooks", name]
    program = os.path.join(common.HERE, PROGRAM)
    with subprocess.Popen([*command, "--", peer.python, program, server, str(port)],
                          cwd=peer.folder, stderr=subprocess.PIPE, text=True) as tool:
        try:
            client = json.loads(peer.run(PROGRAM, "client", f"http://127.0.0.1:{port}/predict",
                                         str(NUMBER)))
        finally:
            tool.send_signal(signal.SIGINT)
        said = tool.stderr.read()
    with open(output, encoding="utf-8") as file:
        return client, json.load(file), said


def row_of(rows, name):
    return next(row for row in rows if row["name"] == name)


def compare_server(peer, package, server, hooks, stage, limit):
    """`stage`: of a request; `limit`: a name that the answer has, which a server plants."""
    client, report, said = serve(peer, server, *hooks)
    row = common.Row(f"{NUMBER} requests of {server}, unchanged, by hooks: their number and their "
                     "median within 2 % beside the client's, what limits, nothing lost")
    logs = [os.path.join("logs", log) for log in os.listdir(peer.path("logs"))]
    row.cell("requests", client["number"],
             row_of(peer.rows("stages", "--view", "stages", *logs), stage)["calls"])
    ratio = row_of(peer.rows("answer", *logs), stage)["p50"] / client["p50"]
    row.cell(f"median by the client's: {ratio:.3f}", True, 0.98 <= ratio <= 1.02)
    row.cell(f"answer: {report.get('answer')}", True, limit in report["answer"])
    row.cell(f"said: {said}", True, "Traceback" not in said)
    return [(peer.version(package), row)]


PEERS = {
    "fastapi": (["fastapi", "uvicorn", "httpx"], lambda peer: compare_server(
        peer, "fastapi", "fastapi", (), "POST /predict", "POST /predict")),
    "litserve": (["litserve", "httpx"], lambda peer: compare_server(
        peer, "litserve", "litserve", ("litserve", "asgi"), "POST /predict",
        "decode")),
}
