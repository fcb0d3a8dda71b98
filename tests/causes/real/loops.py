#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""loops.py CAUSE: nine training loops as PyTorch's users write them, each with one planted cause:
compute, launch, item, pageable, loader, empty_cache, optimizer, checkpoint, ranks (by torchrun).

NVTX ranges are around the stages, but for MARK=0. PLANT=0 leaves the cause of empty_cache and
optimizer out. STEPS is the number of iterations. It prints the time of one.
"""
import contextlib
import os
import sys
import tempfile
import time

import torch
from torch import nn

STEPS = int(os.environ.get("STEPS", "120"))
PLANT = os.environ.get("PLANT", "1") == "1"
RANK = int(os.environ.get("RANK", "0"))
DEVICE = torch.device("cuda", RANK)
MARKED = os.environ.get("MARK", "1") == "1"


def mark(name):
    return torch.cuda.nvtx.range(name) if MARKED else contextlib.nullcontext()


class Pictures(torch.utils.data.Dataset):
    """Each takes so many ms to decode."""
    def __init__(self, ms):
        self.ms = ms

    def __len__(self):
        return 100000

    def __getitem__(self, at):
        end = time.perf_counter() + self.ms / 1000
        while time.perf_counter() < end:
            pass
        return torch.rand(3, 64, 64), at % 10


class Cells(nn.Module):
    """A recurrent net, cell by cell: thousands of small kernels."""
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(32, 64), nn.Linear(64, 10)

    def forward(self, rows):
        state = (torch.zeros(rows.shape[0], 64, device=rows.device),) * 2
        for at in range(rows.shape[1]):
            state = self.cell(rows[:, at], state)
        return self.out(state[0])


def convolutions(width, blocks):
    layers = [nn.Conv2d(3, width, 3, 2, 1)]
    for _ in range(blocks):
        layers += [nn.Conv2d(width, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(width, 10)).to(DEVICE)


def always(rows):
    """The same batch, with labels beside it."""
    labels = torch.zeros(rows.shape[0], dtype=torch.long, device=rows.device)
    while True:
        yield rows, labels


def pictures(number, side):
    return always(torch.rand(number, 3, side, side, device=DEVICE))


def descent(model):
    return torch.optim.SGD(model.parameters(), 1e-3)


def loop(model, batches, optimizer=None, after=None, measure=nn.functional.cross_entropy,
         later=True):
    """`after` is called behind each iteration; `later`: copies may return before they are done."""
    optimizer, begin = optimizer or descent(model), 0
    for number in range(STEPS):
        if number == STEPS // 4:
            torch.cuda.synchronize()
            begin = time.perf_counter()
        with mark("data"):
            rows, labels = next(batches)
        with mark("to_gpu"):
            rows = rows.to(DEVICE, non_blocking=later)
            labels = labels.to(DEVICE, non_blocking=later)
        with mark("forward"):
            loss = measure(model(rows), labels)
        with mark("backward"):
            loss.backward()
        with mark("optimizer"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        if after:
            after(number, loss)
    torch.cuda.synchronize()
    if not RANK:
        seconds = (time.perf_counter() - begin) / (STEPS - STEPS // 4)
        print(f"{1000 * seconds:.2f} ms a step", file=sys.stderr, flush=True)


def compute():
    loop(convolutions(512, 6), pictures(64, 64))


def launch():
    model = Cells().to(DEVICE)
    loop(model, always(torch.rand(16, 150, 32, device=DEVICE)),
         torch.optim.Adam(model.parameters(), 1e-3))


def item():
    def measure(rows, labels):
        losses = nn.functional.cross_entropy(rows, labels, reduction="none")
        sum(one.item() for one in losses)  # a line of a log for each picture
        return losses.mean()
    loop(convolutions(64, 4), pictures(128, 32), measure=measure)


def pageable():
    loop(convolutions(16, 1), always(torch.rand(512, 3, 256, 256)), later=False)


def loader():
    loop(convolutions(64, 4), iter(torch.utils.data.DataLoader(
        Pictures(2), batch_size=32, num_workers=2, pin_memory=True)))


def empty_cache():
    def give_back(_number, _loss):
        if PLANT:
            some = [torch.empty(16 << 20, device=DEVICE) for _ in range(20)]
            del some
            torch.cuda.empty_cache()
    loop(convolutions(128, 8), pictures(64, 64), after=give_back)


def optimizer():
    """The model is a graph; 2100 tensors are updated one by one."""
    model = nn.Sequential(*(nn.Linear(32, 32) for _ in range(300))).to(DEVICE)
    rows = torch.rand(8192, 32, device=DEVICE)
    graph, own = torch.cuda.make_graphed_callables(model, (rows,)), list(model.parameters())
    more = [nn.Parameter(torch.zeros(8, device=DEVICE)) for _ in range(1500)]
    for one in more:
        one.grad = torch.ones_like(one)
    updates = torch.optim.AdamW([*own, *more], 1e-4, foreach=not PLANT)

    def zero_grad(**_more):
        for one in own:
            one.grad = None
    updates.zero_grad = zero_grad
    loop(graph, always(rows), updates)


def checkpoint():
    model = convolutions(256, 60)
    updates = torch.optim.AdamW(model.parameters(), 1e-4)

    def save(number, _loss):
        if number % 5 == 4:
            with mark("checkpoint"), tempfile.TemporaryFile() as file:
                torch.save({"model": model.state_dict(), "updates": updates.state_dict()}, file)
    loop(model, pictures(8, 32), updates, save)


def ranks():
    torch.distributed.init_process_group("nccl")
    model = nn.parallel.DistributedDataParallel(convolutions(64, 6), device_ids=[RANK])
    batches = torch.utils.data.DataLoader(Pictures(6 if RANK else 0.5), batch_size=8)
    loop(model, iter(batches), after=lambda _number, loss: loss.item())
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    torch.cuda.set_device(DEVICE)
    {one.__name__: one for one in (compute, launch, item, pageable, loader, empty_cache, optimizer,
                                   checkpoint, ranks)}[sys.argv[1]]()
