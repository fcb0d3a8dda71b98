#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers that mark nothing: server_programs.py fastapi|litserve|ray PORT; and their client:
server_programs.py client URL NUMBER."""
import json
import statistics
import sys
import threading
import time

try:
    import litserve
except ImportError:  # of another server's environment
    litserve = None


def computes(seconds):
    """Takes so much of the thread's own processor time."""
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


def fastapi(port):
    import fastapi as package
    import uvicorn
    app = package.FastAPI()

    @app.get("/health")
    async def health():
        return {}

    @app.post("/predict")
    def predict():
        time.sleep(0.4)
        return {}
    uvicorn.run(app, port=port, log_level="error")


if litserve is not None:
    class Api(litserve.LitAPI):
        """Spawned workers import it."""
        def setup(self, device):
            pass

        def decode_request(self, request):
            computes(0.04)  # a slow tokenizer, for each request of a batch
            return request["x"]

        def batch(self, inputs):
            return inputs

        def predict(self, batch):
            time.sleep(0.008)
            return batch

        def unbatch(self, output):
            return output

        def encode_response(self, output):
            return {"y": output}


def serve_batches(port):
    server = litserve.LitServer(Api(max_batch_size=4, batch_timeout=0.005), accelerator="cpu",
                                workers_per_device=1)
    server.run(port=port, num_api_servers=1, generate_client_file=False, log_level="error")


def ray(port):
    import asyncio
    import ray as package
    from ray import serve

    @serve.deployment
    class Tokenize:
        async def __call__(self, x):
            computes(0.04)
            return x

    @serve.deployment
    class Rank:
        async def __call__(self, x):
            await asyncio.sleep(0.02)
            return x

    @serve.deployment
    class Front:
        def __init__(self, tokenize, rank):
            self.tokenize, self.rank = tokenize, rank

        async def __call__(self, request):
            if request.url.path == "/health":
                return {}
            x = (await request.json())["x"]
            return {"y": await self.rank.remote(await self.tokenize.remote(x))}

    package.init(num_cpus=4, include_dashboard=False, object_store_memory=200 << 20)
    serve.start(http_options={"port": port})
    serve.run(Front.bind(Tokenize.bind(), Rank.bind()))
    try:
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        serve.shutdown()


def client(url, number):
    """Four at a time; prints how long the middle one took, in ns."""
    import httpx
    for _ in range(3000):
        try:
            if httpx.get(url.rsplit("/", 1)[0] + "/health", timeout=1).status_code == 200:
                break
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    times = []

    def ask():
        with httpx.Client(timeout=60) as session:
            for i in range(int(number) // 4):
                began = time.monotonic_ns()
                session.post(url, json={"x": i}).raise_for_status()
                times.append(time.monotonic_ns() - began)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"number": len(times), "p50": statistics.median(times)}))


if __name__ == "__main__":
    if sys.argv[1] == "client":
        client(*sys.argv[2:])
    else:
        {"fastapi": fastapi, "litserve": serve_batches, "ray": ray}[sys.argv[1]](int(sys.argv[2]))
