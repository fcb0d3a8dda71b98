# SPDX-License-Identifier: Apache-2.0
"""A training loop under Paddle's profiler and our markers at once, range by range.

Leaves twin.json and UNIT.txt of Paddle's, twin.pplog of ours; empty.json and empty.pplog of the same
pairs of ranges around as little as there is. Prints a line of JSON: steps_ns, how long each call of
both profilers' step() took.
"""
import contextlib
import glob
import json
import os
import time

import numpy as np
import paddle
from paddle import profiler
from paddle.nn import functional as F

import pprof

STEPS, EMPTY = 10, 300
LOADER = "_DataLoaderIterSingleProcess"


class Data(paddle.io.Dataset):
    def __len__(self):
        return 8 * EMPTY

    def __getitem__(self, at):
        return np.full((32,), at, "float32"), np.array([at % 4], "int64")


@contextlib.contextmanager
def stage(name):
    with pprof.range(name, "PythonUserDefined"), profiler.RecordEvent(name):
        yield


def operator(name, function, *arguments):
    """Ours alone: Paddle has a range of each operator."""
    with pprof.range(name + " dygraph", "Operator"):
        return function(*arguments)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Linear(32, 64)
        self.last = paddle.nn.Linear(64, 4)

    def linear(self, layer, x):
        return operator("add", paddle.add, operator("matmul", paddle.matmul, x, layer.weight),
                        layer.bias)

    def forward(self, x):
        with stage("stage first"):
            x = operator("relu", F.relu, self.linear(self.first, x))
        with stage("stage last"):
            return self.linear(self.last, x)


class Nothing(paddle.nn.Layer):
    def forward(self, x):
        return x


class Both:
    """Both profilers, over the same steps."""

    def __init__(self, name, steps):
        for left in glob.glob(name + "*.pplog*"):
            os.remove(left)
        # Ours begins with the step that follows Paddle's start.
        pprof.start({"output": name + ".pplog",
                     "capture": {"skip_first": 1, "active": steps, "repeat": 1}})
        self.paddle = profiler.Profiler(
            targets=[profiler.ProfilerTarget.CPU], scheduler=(0, steps),
            on_trace_ready=lambda this: this.export(name + ".json", "json"))
        self.took = []
        self.paddle.start()
        pprof.step()

    def step(self):
        started = time.perf_counter_ns()
        self.paddle.step()
        pprof.step()
        self.took.append(time.perf_counter_ns() - started)

    def stop(self):
        """The last step ends in ours first: Paddle stops within its own."""
        pprof.step()
        self.paddle.step()
        self.paddle.stop()
        pprof.stop()


def train_once(batches, net, loss_of, optimizer):
    with pprof.range(LOADER, "Dataloader"):
        x, y = next(batches)
    # What Paddle takes for communication.
    x, _ = operator("broadcast_tensors", paddle.broadcast_tensors, [x, x])
    with pprof.range(type(net).__name__, "Forward"):
        out = net(x)
    with pprof.range(type(loss_of).__name__, "Forward"):
        loss = loss_of(out, y)
    with pprof.range("Gradient Backward", "Backward"):
        loss.backward()
    with pprof.range("Optimization Step", "Optimization"):
        optimizer.step()
    optimizer.clear_grad()
    with stage("memcpy of mine"):
        np.array(loss)


def train(batches):
    net = Net()
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    both = Both("twin", STEPS)
    for at in range(STEPS):
        if at:
            both.step()
        train_once(batches, net, paddle.nn.CrossEntropyLoss(), optimizer)
    both.stop()
    for unit in ("ns", "ms"):
        with open(unit + ".txt", "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
            both.paddle.summary(op_detail=False, time_unit=unit)
    return both.took


def do_nothing(batches):
    """What the pairs of ranges differ by, whatever is in them."""
    one = paddle.ones([1])
    weight = paddle.create_parameter([1], "float32")
    optimizer = paddle.optimizer.SGD(0.1, [weight])
    nothing = Nothing()
    both = Both("empty", 1)
    for _ in range(EMPTY):
        with pprof.range(LOADER, "Dataloader"):
            next(batches)
        with pprof.range("Nothing", "Forward"):
            nothing(one)
        loss = operator("multiply", paddle.multiply, weight, one)
        with pprof.range("Gradient Backward", "Backward"):
            loss.backward()
        with pprof.range("Optimization Step", "Optimization"):
            optimizer.step()
        with stage("empty"):
            pass
    both.stop()


paddle.seed(0)
loader = paddle.io.DataLoader(Data(), batch_size=8, num_workers=0)
do_nothing(iter(loader))
print(json.dumps({"steps_ns": train(iter(loader))}))
