# SPDX-License-Identifier: Apache-2.0
"""What torch.profiler records of Python's stack, NAME.json and NAME.rows.N.json for each N entries.

training: nested ranges, modules, a function with a backward of its own. threads: two threads that
train at once. compiled: torch.compile on the CPU. async: a range that ends on another thread.
links.json has the autograd arrows of `training`: [name, id].
"""
import json
import threading

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch_program import write_rows

DEPTHS = {"training": (0, 1, 5), "threads": (2,), "compiled": (3,), "async": (1,)}


class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(32, 64), nn.Linear(64, 4)

    def forward(self, x):
        return self.last(Double.apply(torch.relu(self.first(x))))


def train(model, steps, on_step=lambda: None):
    optimizer = torch.optim.Adam(model.parameters())
    for at in range(steps):
        x, y = torch.randn(8, 32), torch.arange(8) % 4
        with record_function("forward"):
            with record_function("classify"):
                loss = nn.functional.cross_entropy(model(x), y)
        with record_function("backward"):
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        on_step()


def run_training(run):
    train(Model(), 3, run.step)


def run_threads(run):
    threads = [threading.Thread(target=train, args=(Model(), 3)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_compiled(run):
    with torch.no_grad():
        for _ in range(3):
            compiled(torch.ones(8, 32))


def run_async(run):
    future = torch.futures.Future()
    with record_function("asynchronous") as range_:
        done = range_._call_end_callbacks_on_future(future)
    other = threading.Thread(target=lambda: future.set_result(torch.ones(3)))
    other.start()
    other.join()
    done.wait()


def key_of(row):
    return f"{row.key} @ {';'.join(row.stack)}" if row.stack else row.key


def record(name, body):
    config = torch._C._profiler._ExperimentalConfig(verbose=True,
                                                    profile_all_threads=name == "threads")
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
                 with_stack=True, with_modules=True, experimental_config=config) as run:
        body(run)
    run.export_chrome_trace(name + ".json")
    for depth in DEPTHS[name]:
        write_rows(f"{name}.rows.{depth}.json", run.key_averages(group_by_stack_n=depth), key_of)
    return run


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train(Model(), 1)  # what the first one does once is of no interest
    compiled = torch.compile(Model())
    with torch.no_grad():
        compiled(torch.ones(8, 32))
    training = record("training", run_training)
    with open("links.json", "w", encoding="utf-8") as file:
        json.dump([[event.name, event.flow_id] for event in training.events() if event.flow_id], file)
    record("threads", run_threads)
    record("compiled", run_compiled)
    record("async", run_async)
