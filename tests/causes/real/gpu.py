#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu.py train|models [NAME=VALUE]...: a training loop of PyTorch with NVTX around its stages, or
requests through three models with a thread and a stream each. It prints as pipeline.c does.

train: data (ms of the host), copy (MB of pageable memory a round), batch, size, layers, items
(numbers read back in forward), free (times that the memory is emptied), tensors (of the optimizer,
one by one), save (MB each tenth round), ranks, augment (ms of the last rank, else 1).
models: embed, rerank and generate (layers), tokens, batch, size.
"""
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

import torch

DEFAULTS = {"data": 1, "copy": 0, "batch": 4096, "size": 2048, "layers": 6, "items": 0, "free": 0,
            "tensors": 0, "save": 0, "ranks": 1, "augment": 0, "rounds": 100,
            "embed": 6, "rerank": 8, "generate": 12, "tokens": 8}
COLD = 10  # rounds that are not counted
mark = torch.cuda.nvtx.range


def compute(ms):
    end = time.perf_counter() + ms / 1000
    while time.perf_counter() < end:
        pass


def network(layers, size):
    parts = [part for _ in range(layers)
             for part in (torch.nn.Linear(size, size, bias=False), torch.nn.ReLU())]
    return torch.nn.Sequential(*parts).to("cuda", torch.bfloat16)


def print_figures(ends, spans):
    spans = sorted(spans)
    print((len(ends) - 1) / (ends[-1] - ends[0]), 1000 * sum(spans) / len(spans),
          1000 * spans[len(spans) * 99 // 100], 0, flush=True)


class Training:
    def __init__(self, given):
        self.given, self.model = given, network(given["layers"], given["size"])
        extra = [torch.nn.Parameter(torch.zeros(16, device="cuda"))
                 for _ in range(given["tensors"])]
        for one in extra:
            one.grad = torch.ones_like(one)
        self.optimizer = torch.optim.Adam([*self.model.parameters(), *extra], lr=1e-4,
                                          foreach=False)
        self.big = torch.ones(given["copy"] * 250000 or 1)
        self.saved = torch.ones(given["save"] * 250000 or 1)
        self.rank = int(os.environ.get("RANK", 0))

    def forward(self, rows):
        rows = self.model(rows)
        number = torch.ones((), device="cuda")
        for _ in range(self.given["items"]):
            number = number * 1.0001
            number.item()
        return rows.float().mean()

    def free(self):
        """As programs do that are short of memory: all of it is taken again next round."""
        for _ in range(self.given["free"]):
            kept = [torch.empty(1 << 24, device="cuda") for _ in range(4)]
            del kept
            torch.cuda.empty_cache()

    def step(self, number):
        given = self.given
        with mark("data"):
            compute(given["data"])
            rows = torch.ones(given["batch"], given["size"], device="cuda", dtype=torch.bfloat16)
        if given["copy"]:
            with mark("copy"):
                self.big.to("cuda")
        if given["augment"]:
            with mark("augment"):
                compute(given["augment"] if self.rank == given["ranks"] - 1 else 1)
        with mark("forward"):
            loss = self.forward(rows)
        with mark("backward"):
            loss.backward()
        if given["ranks"] > 1:
            with mark("all_reduce"):
                for one in self.model.parameters():
                    torch.distributed.all_reduce(one.grad)
        with mark("optimizer"):
            self.optimizer.step()
            self.model.zero_grad()
        self.free()
        with mark("loss"):
            loss.item()
        if given["save"] and number % 10 == 9:
            with mark("save"), tempfile.TemporaryFile() as file:
                torch.save(self.saved, file)


def train(given):
    if given["ranks"] > 1:
        torch.cuda.set_device(int(os.environ["RANK"]))
        torch.distributed.init_process_group("nccl")
    training, ends = Training(given), []
    for number in range(COLD + given["rounds"]):
        training.step(number)
        if number >= COLD - 1:
            ends.append(time.perf_counter())
    if training.rank == 0:
        print_figures(ends, [end - begin for begin, end in zip(ends, ends[1:])])
    if given["ranks"] > 1:
        torch.distributed.destroy_process_group()


def all_ranks():
    """A process for each, this program again."""
    env = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511",
           "WORLD_SIZE": "2"}
    made = [subprocess.Popen([sys.executable, *sys.argv], env={**env, "RANK": str(rank)})
            for rank in range(2)]
    sys.exit(max(process.wait() for process in made))


def models(given):
    import pprof
    names = ("embed", "rerank", "generate")
    inboxes = {name: queue.Queue(4) for name in names}
    ends, spans, done = [], [], threading.Event()

    @torch.no_grad()
    def life(name, following):
        pprof.thread_name(name)
        model, stream = network(given[name], given["size"]), torch.cuda.Stream()
        rows = torch.ones(given["batch"], given["size"], device="cuda", dtype=torch.bfloat16)
        torch.cuda.synchronize()
        while True:
            number, begin = inboxes[name].get()
            with pprof.range(name), torch.cuda.stream(stream):
                pprof.flow(number)
                for _ in range(given["tokens"] if name == "generate" else 1):
                    float(model(rows)[0, 0])
            if following:
                inboxes[following].put((number, begin))
                continue
            ends.append(time.perf_counter())
            spans.append(ends[-1] - begin)
            if len(ends) == given["rounds"]:
                done.set()
    for name, following in zip(names, (*names[1:], None)):
        threading.Thread(target=life, args=(name, following), daemon=True).start()
    for number in range(given["rounds"]):
        inboxes["embed"].put((number + 1, time.perf_counter()))
    done.wait()
    print_figures(ends, spans)


def main():
    given = {**DEFAULTS, **{name: int(value) for name, _, value in
                            (one.partition("=") for one in sys.argv[2:])}}
    if sys.argv[1] == "models":
        models(given)
    elif given["ranks"] > 1 and "RANK" not in os.environ:
        all_ranks()
    else:
        train(given)


if __name__ == "__main__":
    main()
