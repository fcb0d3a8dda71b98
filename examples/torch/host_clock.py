#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When a host clock around GPU work shows the GPU's time, and when it does not. The same model, in
six surroundings; each stage has a host time (submission) and a device time (events) in the table.
Without a GPU nothing is queued, and the host's clock is right:

    PPROF_OUTPUT=clock.pplog host_clock.py
    pprof-report --view queue,stages clock.pplog
"""
import sys

try:
    import torch
    import pprof
except ImportError as error:
    print("%s\nhost_clock.py needs PyTorch, and PREFIX/lib/python in PYTHONPATH" % error,
          file=sys.stderr)
    sys.exit(3)

CUDA = torch.cuda.is_available()
DEVICE, TYPE = ("cuda", torch.bfloat16) if CUDA else ("cpu", torch.float32)
WIDTH, LAYERS, CALLS = 4096 if CUDA else 128, 12, 100
TINY_WIDTH, TINY_LAYERS = 64, 60
FULL = 1500  # more launches than a queue takes
model_range = pprof.device_range if CUDA else pprof.range


def make_model(width, layers):
    parts = [torch.nn.Linear(width, width) for _ in range(layers)]
    return torch.nn.Sequential(*parts).to(DEVICE, TYPE).eval()


def wait():
    if CUDA:
        torch.cuda.synchronize()


def stage(name, body, calls=CALLS, waits=True):
    """`calls` calls, each on a device that has nothing else to do where `waits`."""
    for _ in range(calls):
        with model_range(name):
            body()
        if waits:
            wait()
    wait()


def main():
    torch.set_num_threads(1)
    model, tiny = make_model(WIDTH, LAYERS), make_model(TINY_WIDTH, TINY_LAYERS)
    data = torch.rand(WIDTH, WIDTH, device=DEVICE, dtype=TYPE)
    small = torch.rand(64, TINY_WIDTH, device=DEVICE, dtype=TYPE)
    one = torch.nn.Linear(WIDTH, WIDTH).to(DEVICE, TYPE)
    with torch.no_grad():
        for body in (lambda: model(data), lambda: tiny(small), lambda: one(data)):
            body()  # loads what it needs
        model(data).cpu()
        wait()
        pprof.stream_name("main")
        pprof.start()
        stage("1 submitted, nobody waits", lambda: model(data))
        stage("2 item() inside", lambda: model(data)[0, 0].item())
        stage("3 copy to the host inside", lambda: model(data)[:8].cpu())
        stage("4 many tiny kernels", lambda: tiny(small))
        stage("5 queue not full", lambda: one(data), FULL // 3, waits=False)
        stage("6 queue full", lambda: one(data), 4 * FULL, waits=False)
        pprof.stop()


if __name__ == "__main__":
    main()
