#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One model under a mode of torch.compile; a log for each mode, and `compare` ranks them:

    for mode in eager default reduce-overhead max-autotune; do
      PPROF_OUTPUT=$mode.pplog compile_modes.py --mode $mode
    done
    pprof-report compare --warmup 5 --stage call,forward *.pplog

Nothing is taken from the compiler's cache, so that the first call is what a first start costs."""
import argparse
import os
import sys

os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
try:
    import torch
    import pprof
except ImportError as error:
    print("%s\ncompile_modes.py needs PyTorch, and PREFIX/lib/python in PYTHONPATH" % error,
          file=sys.stderr)
    sys.exit(3)

MODES = ("eager", "default", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
CUDA = torch.cuda.is_available()
DEVICE, TYPE = ("cuda", torch.bfloat16) if CUDA else ("cpu", torch.float32)
WIDTH, BLOCKS = (1024, 12) if CUDA else (128, 4)
model_range = pprof.device_range if CUDA else pprof.range


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, rows):
        return rows + self.down(torch.nn.functional.gelu(self.up(self.norm(rows))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mode", choices=MODES, default="eager")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=256, help="of the input")
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    model = torch.nn.Sequential(*[Block() for _ in range(BLOCKS)])
    model = model.to(DEVICE, TYPE).eval()
    rows = torch.rand(args.rows, WIDTH, device=DEVICE, dtype=TYPE)
    forward = model if args.mode == "eager" else torch.compile(model, mode=args.mode)
    pprof.stream_name("main")
    pprof.start()
    with torch.no_grad():
        for _ in range(args.calls):
            with pprof.range("call"):
                with model_range("forward"):
                    forward(rows)
                with pprof.range("wait"):
                    if CUDA:
                        torch.cuda.current_stream().synchronize()
            pprof.step(items=args.rows)
    pprof.stop()


if __name__ == "__main__":
    main()
