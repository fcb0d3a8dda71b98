#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers that mark nothing: server_programs.py fastapi|pool|rag|litserve|ray PORT; their client:
server_programs.py client URL NUMBER; and a batch without any: server_programs.py batching NUMBER."""
import json
import statistics
import sys
import threading
import time

from common import SECONDS

try:
    import litserve
except ImportError:  # of another server's environment
    litserve = None


def computes(seconds):
    """Takes so much of the thread's own processor time."""
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


def serve_app(port, predict):
    import fastapi
    import uvicorn
    app = fastapi.FastAPI()

    @app.get("/health")
    async def health():
        return {}
    app.post("/predict")(predict)
    uvicorn.run(app, port=port, log_level="error")


def fastapi(port):
    def predict():
        time.sleep(0.4)
        return {}
    serve_app(port, predict)


def pool(port):
    """A pool of one, where four ask at a time."""
    import asyncio
    import concurrent.futures
    workers = concurrent.futures.ThreadPoolExecutor(1)

    def score():
        time.sleep(0.1)
        return {}

    async def predict():
        return await asyncio.wrap_future(workers.submit(score))
    serve_app(port, predict)


def small_llama(**more):
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=1024, hidden_size=256, intermediate_size=688, num_hidden_layers=4,
        num_attention_heads=4, bos_token_id=0, eos_token_id=1023, **more)).eval()


def rag(port):
    """Embeds by MiniLM, searches, ranks what it found, and generates. Its reranker is too large."""
    import all_minilm_l6_v2
    import faiss
    import torch
    import transformers
    torch.set_num_threads(1)
    folder = str(all_minilm_l6_v2.extract_model("models"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    embed = transformers.AutoModel.from_pretrained(folder).eval()
    ranks = transformers.BertForSequenceClassification(transformers.BertConfig(
        hidden_size=384, num_attention_heads=12, num_hidden_layers=6, intermediate_size=1536,
        num_labels=1)).eval()
    llama = small_llama()
    index = faiss.IndexFlatIP(384)
    index.add(torch.randn(10000, 384).numpy())
    one_at_a_time = threading.Lock()

    def predict():
        with one_at_a_time, torch.inference_mode():
            question = tokenizer("which stage is slow?", return_tensors="pt")
            vector = embed(**question).last_hidden_state.mean(1)
            _, found = index.search(vector.numpy(), 8)
            pairs = torch.from_numpy(found[0]).reshape(8, 1).repeat(1, 32) % 30000
            best = int(ranks(pairs).logits.argmax())
            llama.generate(torch.tensor([[2 + best, 7, 9]]), max_new_tokens=4, pad_token_id=0)
        return {}
    serve_app(port, predict)


def batching(number):
    """Prints the median of what transformers itself says of its requests, in ns."""
    import torch
    from transformers import ContinuousBatchingConfig, GenerationConfig
    torch.manual_seed(0)
    inputs = [[(7 * i + k) % 1000 + 2 for k in range(8 + i % 5 * 8)] for i in range(number)]
    model = small_llama(attn_implementation="sdpa")
    done = []
    for some in inputs[:1], inputs[1:]:  # recording begins with the first one
        done += model.generate_batch(
            some, generation_config=GenerationConfig(max_new_tokens=12, do_sample=False,
                                                     eos_token_id=-1, pad_token_id=1),
            # Blocks of the cache for a few of them at a time.
            continuous_batching_config=ContinuousBatchingConfig(
                num_blocks=16, max_batch_tokens=256)).values()
    times = [1e9 * (one.lifespan[1] - one.created_time) for one in done]
    print(json.dumps({"number": len(done), "p50": statistics.median_low(times)}))


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
        with httpx.Client(timeout=SECONDS) as session:
            for i in range(int(number) // 4):
                began = time.monotonic_ns()
                session.post(url, json={"x": i}).raise_for_status()
                times.append(time.monotonic_ns() - began)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"number": len(times), "p50": statistics.median_low(times)}))


if __name__ == "__main__":
    if sys.argv[1] == "client":
        client(*sys.argv[2:])
    else:
        {"fastapi": fastapi, "pool": pool, "rag": rag, "batching": batching,
         "litserve": serve_batches, "ray": ray}[sys.argv[1]](int(sys.argv[2]))
