# SPDX-License-Identifier: Apache-2.0
"""oracle.py TRACE... prints the views of traces as JSON; see views.py for what they are."""
import json
import sys

import reader
from views import Views, cut

TORCH_KEYS = {"count": 2, "self_cpu_time_total": 3, "cpu_time_total": 5, "cpu_time": 7,
              "self_cuda_time_total": 8, "cuda_time_total": 10, "cuda_time": 11,
              "cpu_memory_usage": 13, "self_cpu_memory_usage": 14, "cuda_memory_usage": 15,
              "self_cuda_memory_usage": 16}
NSYS_KEYS = {"total": 1, "instances": 2, "avg": 3, "med": 4, "min": 5, "max": 6, "std": 7}


class Oracle:
    def __init__(self, paths):
        self.all = Views([run for path in paths for run in reader.read(path)])

    def views(self, thread_sep=False, op_detail=False, distributed="explicit", sort=None, top=0):
        """All views of the default style, by name."""
        of = self.all
        views = {
            "device": of.device(), "overview": of.overview(), "model": of.model(),
            "distributed": of.paddle_distributed() if distributed == "paddle"
                           else of.distributed(),
            "operator": of.operator(thread_sep, op_detail, sort), "kernel": of.kernel(sort),
            "memory_manipulation": of.memory_manipulation(sort),
            "userdefined": of.userdefined(thread_sep, sort), "memory": of.memory(),
            "perf": of.perf(),
        }
        views["operator"] = cut(views["operator"], top, lambda row: (row[2], row[1] is not None))
        views["kernel"] = cut(views["kernel"], top, lambda row: (None, False))
        views["userdefined"] = cut(views["userdefined"], top, lambda row: (row[13], False))
        views["memory_manipulation"] = cut(views["memory_manipulation"], top,
                                           lambda row: (row[3] is None, False))
        views["memory"] = cut(views["memory"], top, lambda row: (row[1:3], row[0] is None))
        return views

    def torch(self, sort="self_cpu_time_total"):
        return {"torch": self.all.torch(TORCH_KEYS[sort])}

    def nsys(self, sort="total"):
        return {"nvtx_sum": self.all.nvtx_sum(NSYS_KEYS[sort])}


if __name__ == "__main__":
    print(json.dumps(Oracle(sys.argv[1:]).views(), indent=1, default=float))
