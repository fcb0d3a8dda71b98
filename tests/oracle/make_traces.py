#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_traces.py FOLDER writes paddle_scenario_s.json, scenario S as Paddle's profiler has it."""
import os
import sys

from traces import MS, PaddleTrace


def scenario_s():
    """Two steps of 50 ms on one GPU; two threads of native code and Python are one OS thread."""
    trace = PaddleTrace()
    for number, o in enumerate((0, 50)):
        def host(name, category, start, end):
            trace.host(name, category, int((o + start) * MS), int((o + end) * MS))

        def launch(name, call, start, end, **place):
            number = trace.call(int((o + call[0]) * MS), int((o + call[1]) * MS),
                                name=place.pop("by", "cudaLaunchKernel"))
            trace.device(name, (o + start) * MS, (o + end) * MS, number, **place)

        host(f"ProfileStep#{number}", "ProfileStep", 0, 50)
        host("DataLoader", "Dataloader", 0, 5)
        host("Forward", "Forward", 5, 20)
        host("Gradient Backward", "Backward", 20, 35)
        host("Optimization Step", "Optimization", 35, 42)
        host("matmul", "Operator", 6, 12)
        host("matmul compute", "OperatorInner", 7, 11)
        launch("gemm_k", (8, 9), 10, 22)
        host("relu", "Operator", 13, 17)
        launch("relu_k", (14, 15), 22, 26)
        host("matmul_grad", "Operator", 21, 31)
        launch("gemm_bw", (22, 23), 26, 40)
        host("c_allreduce_sum", "Operator", 31, 34)
        launch("ncclAllReduce", (32, 33), 34, 44, stream=13)
        host("adam", "Operator", 36, 41)
        launch("adam_k", (37, 38), 44, 47)
        host("GpuMemcpyAsync:CPU->GPU", "UserDefined", 41, 42)
        launch("MEMCPY_HtoD", (41, 41.5), 43, 45, stream=14, category="Memcpy",
               by="cudaMemcpyAsync")
        host("postproc", "PythonUserDefined", 43, 47)
    trace.memory("Allocate", 6 * MS, 100, 750, 512)
    trace.memory("ReservedAllocate", 42 * MS + MS // 2, 1024, 750, 1024)
    trace.memory("Allocate", 56 * MS, 50, 800, 1024)
    trace.memory("Free", 57 * MS, -30, 770, 1024)
    trace.extra = {"System Cpu Utilization": "0.225000", "Process Cpu Utilization": "1.310000"}
    return trace


if __name__ == "__main__":
    scenario_s().write(os.path.join(sys.argv[1], "paddle_scenario_s.json"))
