# SPDX-License-Identifier: Apache-2.0
"""A small training loop under torch.profiler: trace.json, rows.json, and KEY.txt for each order.

rows.json has key_averages() as it is, [name, calls, self CPU ns, CPU total ns, CPU memory, self CPU
memory]; shapes.json the same by input shapes, which stand behind the name.
"""
import json

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

KEYS = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "count", "cpu_memory_usage",
        "self_cpu_memory_usage")


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, at):
        return torch.full((32,), float(at)), at % 4


def write_rows(path, averages, name_of):
    rows = [[name_of(row), row.count, round(row.self_cpu_time_total * 1000),
             round(row.cpu_time_total * 1000), row.cpu_memory_usage, row.self_cpu_memory_usage]
            for row in averages]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters())
    loss_of = nn.CrossEntropyLoss()
    loader = iter(torch.utils.data.DataLoader(Data(), batch_size=8, num_workers=1))
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
                 with_stack=False, schedule=schedule(wait=1, warmup=2, active=5, repeat=1)) as run:
        for _ in range(8):
            x, y = next(loader)
            with record_function("forward"):
                with record_function("classify"):
                    loss = loss_of(model(x), y)
            with record_function("backward"):
                loss.backward()
            with record_function("update"):
                optimizer.step()
                optimizer.zero_grad()
            run.step()
    run.export_chrome_trace("trace.json")
    averages = run.key_averages()
    write_rows("rows.json", averages, lambda row: row.key)
    write_rows("shapes.json", run.key_averages(group_by_input_shape=True),
               lambda row: f"{row.key} {row.input_shapes}" if row.input_shapes else row.key)
    for key in KEYS:
        with open(key + ".txt", "w", encoding="utf-8") as file:
            file.write(averages.table(sort_by=key, row_limit=-1))


if __name__ == "__main__":
    main()
