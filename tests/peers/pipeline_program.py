# SPDX-License-Identifier: Apache-2.0
"""A pipeline of three exported models on ONNX Runtime, one thread, with pprof's markers, and what this
machine can do: pipeline_program.py FOLDER [REQUESTS]. FOLDER has detector.onnx, mobilenet.onnx and
resnet.onnx, as cost_program.py exports them.

Measures the peaks first: a product of matrices in f32, and a copy of 256 MiB, the best of several, one
thread. Then each request is one of pprof: an image is scaled, boxes are found, the best two are
classified, and embedded. Writes FOLDER/pipeline.pplog; docs/cost.md shows its report."""
import os
import sys
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import onnxruntime as ort

import pprof


def best(work, times):
    work()
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def peaks():
    n = 2048
    a, b = np.ones((n, n), "float32"), np.ones((n, n), "float32")
    flops = 2 * n ** 3 / best(lambda: a @ b, 20)
    x, y = np.ones(1 << 26, "float32"), np.ones(1 << 26, "float32")
    # Each byte is read once and written once.
    return flops, 2 * x.nbytes / best(lambda: np.copyto(y, x), 20)


def session(folder, name):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(os.path.join(folder, name + ".onnx"), options,
                                ["CPUExecutionProvider"])


def scaled(image, size):
    rows = np.arange(size) * image.shape[0] // size
    columns = np.arange(size) * image.shape[1] // size
    return image[rows][:, columns].transpose(2, 0, 1)[None].astype("float32") / 255


def main():
    folder, requests = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    flops, bandwidth = peaks()
    print("peaks: f32=%.1fG,bytes=%.2fG" % (flops / 1e9, bandwidth / 1e9))
    detector, mobilenet, resnet = (session(folder, name)
                                   for name in ("detector", "mobilenet", "resnet"))
    random = np.random.default_rng(1)
    cost = "cost={models: [detector.onnx:detect, mobilenet.onnx:classify, resnet.onnx:embed], " \
        "peaks: [f32=%.1fG, bytes=%.2fG]}" % (flops / 1e9, bandwidth / 1e9)
    os.environ["PPROF_SET"] = cost
    os.environ["PPROF_OUTPUT"] = os.path.join(folder, "pipeline.pplog")
    pprof.start()
    for _ in range(requests):
        image = random.integers(0, 256, (480, 640, 3), "uint8")
        with pprof.range("image"):
            with pprof.range("scale", category="preprocess"):
                small, crop = scaled(image, 320), scaled(image, 224)
            with pprof.range("detect", category="inference"):
                detector.run(None, {detector.get_inputs()[0].name: small})
            for _ in range(2):
                with pprof.range("classify", category="inference"):
                    mobilenet.run(None, {mobilenet.get_inputs()[0].name: crop})
                with pprof.range("embed", category="inference"):
                    resnet.run(None, {resnet.get_inputs()[0].name: crop})
        pprof.step()
    pprof.stop()


main()
