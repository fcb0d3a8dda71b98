#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Some training steps of a given batch, marked with NVTX alone. What batch fits this GPU:

    pprof-report search-batch --stage "train step" --from 16 -- train_batch.py {batch}

PyTorch has NVTX with CUDA only. Without a GPU the marks are pprof's own, and 256 MiB stand for the
GPU's memory.
"""
import resource
import sys

import torch

CUDA = torch.cuda.is_available()
DEVICE, TYPE = ("cuda", torch.bfloat16) if CUDA else ("cpu", torch.float32)
WIDTH, LAYERS, TOKENS, STEPS = (1024, 10, 32768, 6) if CUDA else (64, 10, 1024, 6)

MEMORY = 256 << 20  # without a GPU


def make_model():
    parts = []
    for _ in range(LAYERS):
        parts += [torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()]
    return torch.nn.Sequential(*parts).to(DEVICE, TYPE)


def marks():
    """What marks a range; and where the memory would not end, its end."""
    if CUDA:
        return torch.cuda.nvtx.range
    import pprof
    pprof.start()
    torch.set_num_threads(1)
    with open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    return pprof.range


def main():
    batch, marked = int(sys.argv[1]), marks()
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        with marked("train step"):
            rows = torch.rand(batch, TOKENS, WIDTH, device=DEVICE, dtype=TYPE)
            optimizer.zero_grad()
            loss = model(rows).mean()
            loss.backward()
            optimizer.step()
            loss = loss.item()  # waits, so that a step is the whole of its work
    print("batch %d: loss %.4f" % (batch, loss))


if __name__ == "__main__":
    main()
