#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service of two models, for the questions of docs/cookbook.md:

    decode (CPU) -> upload -> detect (GPU) -> boxes -> crop (CPU) -> classify (GPU) -> answer

One request in 32 shows a crowd: its classifier has much more to do. Without a GPU the CPU does all,
of smaller models.

    PPROF_OUTPUT=base.pplog service.py               # one thread does all in turn
    PPROF_OUTPUT=ahead.pplog service.py --workers 3  # others decode ahead of it
    PPROF_OUTPUT=busy.pplog service.py --neighbour   # another job on the same GPU now and then
    PPROF_OUTPUT=half.pplog service.py --height 540  # decoding has half as much to do
"""
import argparse
import contextlib
import queue
import sys
import threading
import time

try:
    import torch
    import pprof
except ImportError as error:
    print("%s\nservice.py needs PyTorch, and PREFIX/lib/python in PYTHONPATH" % error,
          file=sys.stderr)
    sys.exit(3)

CUDA = torch.cuda.is_available()
DEVICE, TYPE = ("cuda", torch.bfloat16) if CUDA else ("cpu", torch.float32)
WIDTH, FRAMES = (4096, 4) if CUDA else (256, 1)  # frames a request
DETECTOR_LAYERS, CLASSIFIER_LAYERS = 12, 4
WINDOWS, CROPS, CROWD = (4096, 512, 16384) if CUDA else (256, 64, 2048)
CROWD_EVERY = 32
model_range = pprof.device_range if CUDA else pprof.range


def make_model(layers, outputs):
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts, torch.nn.Linear(WIDTH, outputs)).to(DEVICE, TYPE).eval()


def flops(rows, layers):
    return 2 * rows * WIDTH * WIDTH * layers


class Service:
    def __init__(self, height):
        torch.manual_seed(1)
        self.raw = torch.rand(FRAMES, 3, height, 1920)
        self.detector = make_model(DETECTOR_LAYERS, 16)
        self.classifier = make_model(CLASSIFIER_LAYERS, 16)
        self.windows = torch.rand(WINDOWS, WIDTH, device=DEVICE, dtype=TYPE)
        self.crops = torch.rand(CROWD, WIDTH, device=DEVICE, dtype=TYPE)

    def decode(self, request):
        """On whatever thread; answers the request and its small frames."""
        with pprof.range("decode", category="Dataloader") as stage:
            stage.flow(request)
            stage.work(items=FRAMES)
            return request, torch.nn.functional.interpolate(self.raw, (224, 224), mode="area")

    def serve(self, request, frames):
        with pprof.range("upload", category="Preprocess") as stage:
            stage.flow(request)
            pixels = frames.to(DEVICE, TYPE)
        with model_range("detect", category="Inference") as stage:
            stage.flow(request)
            stage.work(items=FRAMES, flops=flops(WINDOWS, DETECTOR_LAYERS))
            self.windows[:FRAMES, :224] = pixels.mean((1, 2))
            scores = self.detector(self.windows)
        with pprof.range("boxes", category="Postprocess") as stage:
            stage.flow(request)
            best = scores[:, 0].float().cpu()  # waits for the detector
        with pprof.range("crop", category="Preprocess") as stage:
            stage.flow(request)
            torch.sort(best)
            rows = CROWD if request % CROWD_EVERY == 0 else CROPS
        with model_range("classify", category="Inference") as stage:
            stage.flow(request)
            stage.work(items=FRAMES, flops=flops(rows, CLASSIFIER_LAYERS))
            classes = self.classifier(self.crops[:rows])
        with pprof.range("answer", category="Postprocess") as stage:
            stage.flow(request)
            return int(classes[:, 0].argmax())


def decoded(service, requests, workers):
    """The requests with their frames, decoded here or by `workers` threads, four at most ahead."""
    if not workers:
        for request in range(1, requests + 1):
            yield service.decode(request)
        return
    todo, done = queue.SimpleQueue(), queue.Queue(maxsize=4)
    for request in range(1, requests + 1):
        todo.put(request)

    def work():
        while True:
            try:
                request = todo.get_nowait()
            except queue.Empty:
                return
            done.put(service.decode(request))

    threads = [threading.Thread(target=work, name="decoder") for _ in range(workers)]
    for thread in threads:
        thread.start()
    for _ in range(requests):
        yield done.get()
    for thread in threads:
        thread.join()


def be_a_neighbour(stop):
    """Some 20 ms of work on a stream of its own, four times a second."""
    stream = torch.cuda.Stream() if CUDA else None
    with torch.cuda.stream(stream) if CUDA else contextlib.nullcontext(), torch.no_grad():
        matrix = torch.rand(WIDTH, WIDTH, device=DEVICE, dtype=TYPE)
        while not stop.wait(0.25):
            for _ in range(25):
                with model_range("reindex", category="Inference"):
                    for _ in range(4):
                        torch.mm(matrix, matrix)
            if CUDA:
                stream.synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="decode on N threads")
    parser.add_argument("--neighbour", action="store_true", help="another job on the GPU")
    parser.add_argument("--height", type=int, default=1080, help="of a frame: what decoding takes")
    args = parser.parse_args()
    torch.set_num_threads(1)
    service, stop = Service(args.height), threading.Event()
    pprof.stream_name("main")  # its events are ready before the first range
    pprof.start()
    neighbour = threading.Thread(target=be_a_neighbour, args=(stop,))
    if args.neighbour:
        neighbour.start()
    start = time.perf_counter()
    with torch.no_grad():
        for request, frames in decoded(service, args.requests, args.workers):
            service.serve(request, frames)
            pprof.step(items=FRAMES)
    seconds = time.perf_counter() - start
    stop.set()
    if args.neighbour:
        neighbour.join()
    pprof.stop()
    print("%d requests, %.1f frames/s" % (args.requests, args.requests * FRAMES / seconds))


if __name__ == "__main__":
    main()
