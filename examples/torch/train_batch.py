#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Some training steps of a given batch, marked with NVTX alone. What batch fits this GPU:

    pprof-report search-batch --stage "train step" --from 16 -- train_batch.py {batch}
"""
import sys

import torch

WIDTH, LAYERS, TOKENS, STEPS = 1024, 10, 32768, 6


def make_model():
    parts = []
    for _ in range(LAYERS):
        parts += [torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()]
    return torch.nn.Sequential(*parts).to("cuda", torch.bfloat16)


def main():
    batch = int(sys.argv[1])
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        with torch.cuda.nvtx.range("train step"):
            rows = torch.rand(batch, TOKENS, WIDTH, device="cuda", dtype=torch.bfloat16)
            optimizer.zero_grad()
            loss = model(rows).mean()
            loss.backward()
            optimizer.step()
            loss = loss.item()  # waits, so that a step is the whole of its work
    print("batch %d: loss %.4f" % (batch, loss))


if __name__ == "__main__":
    main()
