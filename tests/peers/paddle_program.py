# SPDX-License-Identifier: Apache-2.0
"""A small model under PaddlePaddle's profiler: its trace, and its tables as it prints them.

paddle_program.py [STEPS]: leaves trace.json of so many steps, 10, and, for each order, unit and
thread_sep, KEY.UNIT.SEP.txt.
"""
import contextlib
import itertools
import sys

import numpy as np
import paddle
from paddle import profiler


class Data(paddle.io.Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, at):
        return np.full((32,), at, "float32"), np.array([at % 4], "int64")


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Linear(32, 64)
        self.norm = paddle.nn.BatchNorm1D(64)
        self.last = paddle.nn.Linear(64, 4)

    def forward(self, x):
        with profiler.RecordEvent("stage first"):
            x = paddle.nn.functional.relu(self.norm(self.first(x)))
        with profiler.RecordEvent("stage last"):
            return self.last(x)


def train(profile, steps):
    net = Net()
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    loss_of = paddle.nn.CrossEntropyLoss()
    loader = paddle.io.DataLoader(Data(), batch_size=8, num_workers=0)
    with profile:
        for x, y in itertools.islice(loader, steps):
            loss = loss_of(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            with profiler.RecordEvent("memcpy of mine"):
                np.array(loss)
            profile.step(num_samples=8)


def tables(profile):
    for key, unit, apart in itertools.product(profiler.SortedKeys, ("s", "ms", "us", "ns"),
                                              (False, True)):
        with open(f"{key.name}.{unit}.{int(apart)}.txt", "w", encoding="utf-8") as file:
            with contextlib.redirect_stdout(file):
                profile.summary(sorted_by=key, op_detail=True, thread_sep=apart, time_unit=unit)


paddle.seed(0)
recorded = int(sys.argv[1]) if len(sys.argv) > 1 else 10
done = profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], scheduler=(3, 3 + recorded),
                         profile_memory=True,
                         on_trace_ready=lambda this: this.export("trace.json", "json"))
train(done, 6 + recorded)
tables(done)
