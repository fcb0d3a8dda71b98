# SPDX-License-Identifier: Apache-2.0
"""Two models with a CPU task between them, annotated with torch.cuda.nvtx.

Nothing here knows of a profiler but NVIDIA's own annotations:

    python nvtx_pipeline.py                      # as it is
    pprof-report run -- python nvtx_pipeline.py  # profiled, unchanged
"""
import argparse
import contextlib

import torch


def make_detector(width):
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, width, 3, padding=1), torch.nn.ReLU(),
        torch.nn.Conv2d(width, width, 3, padding=1), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(8), torch.nn.Flatten(),
        torch.nn.Linear(64 * width, 256))


def make_classifier(depth):
    layers = []
    for _ in range(depth):
        layers += [torch.nn.Linear(256, 256), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(256, 10))


@contextlib.contextmanager
def stage(name):
    torch.cuda.nvtx.range_push(name)
    try:
        yield
    finally:
        torch.cuda.nvtx.range_pop()


def cpu_task(features):
    """Ranks the features of each image on the CPU, as a tracker would."""
    host = features.cpu()
    order = torch.argsort(host, dim=1)
    return host.gather(1, order).to(features.device)


def pipeline(detector, classifier, images):
    with stage("detect"):
        features = detector(images)
    with stage("track"):
        features = cpu_task(features)
    with stage("classify"):
        return classifier(features)


def run_plain(detector, classifier, device, args):
    for i in range(args.iterations):
        with stage("request"):
            with stage("load"):
                images = torch.rand(args.batch, 3, 64, 64, device=device)
            scores = pipeline(detector, classifier, images)
            with stage("answer"):
                best = scores.argmax(dim=1).cpu()
    return int(best[0])


def run_emit_nvtx(detector, classifier, device, args):
    """Every operator becomes a range, forward and backward, with its shapes."""
    optimizer = torch.optim.SGD(classifier.parameters(), lr=1e-3)
    with torch.autograd.profiler.emit_nvtx(record_shapes=True):
        for _ in range(args.train_steps):
            with stage("train step"):
                features = torch.rand(args.batch, 256, device=device)
                labels = torch.zeros(args.batch, dtype=torch.long,
                                     device=device)
                loss = torch.nn.functional.cross_entropy(classifier(features),
                                                         labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return float(loss)


def run_graph(detector, classifier, device, args):
    """The same two models captured into one CUDA graph and replayed."""
    images = torch.rand(args.batch, 3, 64, 64, device=device)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            classifier(detector(images))
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with stage("capture"), torch.cuda.graph(graph):
        with stage("detect (captured)"):
            features = detector(images)
        with stage("classify (captured)"):
            scores = classifier(features)
    for _ in range(args.iterations):
        with stage("graph replay"):
            graph.replay()
    torch.cuda.synchronize()
    reference = classifier(detector(images))
    return torch.allclose(scores, reference, rtol=1e-2, atol=1e-2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--train-steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(1)
    device = torch.device("cuda")
    detector = make_detector(64).to(device).eval()
    classifier = make_classifier(16).to(device)
    with torch.no_grad():
        with stage("warm up"):
            pipeline(detector, classifier,
                     torch.rand(args.batch, 3, 64, 64, device=device))
        print("best class of the last batch:",
              run_plain(detector, classifier, device, args))
        print("graph agrees with eager:",
              run_graph(detector, classifier, device, args))
    print("loss: %.4f" % run_emit_nvtx(detector, classifier, device, args))
    torch.cuda.nvtx.mark("done")


if __name__ == "__main__":
    main()
