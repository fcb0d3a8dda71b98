# SPDX-License-Identifier: Apache-2.0
"""What `cat` and name of an event mean: the tables of docs/import.md, as regular expressions."""
import re

from model import STEP

OWN = ("UserDefined", STEP, "Dataloader", "Forward", "Backward", "Optimization", "Communication",
       "Operator", "OperatorInner", "CudaRuntime", "PythonOp", "PythonUserDefined", "Preprocess",
       "Inference", "Postprocess", "CpuTask", "Memory", "Kernel", "Memcpy", "Memset")
CATS = {
    "cpu_op": "Operator", "user_annotation": "PythonUserDefined", "python_function": "PythonOp",
    "cuda_runtime": "CudaRuntime", "cuda_driver": "CudaRuntime", "cudaruntime": "CudaRuntime",
    "mluruntime": "CudaRuntime", "runtime": "CudaRuntime",
    "gpu_memcpy": "Memcpy", "gpu_memset": "Memset",
    "gpu_user_annotation": "GpuUserAnnotation", "gpuuserannotation": "GpuUserAnnotation",
    "cuda_sync": "CudaSync",
    "overhead": "Overhead", "dygraphkernellaunch": "DygraphKernelLaunch",
    "statickernellaunch": "StaticKernelLaunch",
    **{name.lower(): name for name in OWN},
}
PYTORCH_OWNERS = ("cpu_op", "user_annotation")
ANNOTATIONS = {
    "forward": "Forward", "backward": "Backward", "dataloader": "Dataloader",
    "data_loader": "Dataloader", "preprocess": "Preprocess", "inference": "Inference",
    "postprocess": "Postprocess", "optimization": "Optimization",
    **{name: "Optimization" for name in ("optimizer", "optimizer_step", "optimizer step",
                                         "optimizer.step")},
}
ANYWHERE = re.compile(r"all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|c_broadcast|c_reduce_|"
                      r"send_v2|recv_v2|partial_send|partial_recv|p_send|p_recv", re.I)
RPC = re.compile(r"(?<![a-z])rpc(?![a-z])", re.I)
BROADCAST = re.compile(r"broadcast\Z", re.I)
TORCH_COLLECTIVE = re.compile(r"c10d::|record_param_comms|_c10d_functional::|nccl:")
KERNEL_OF_COLLECTIVES = re.compile(r"nccl|rccl|xccl", re.I)
DURATION = re.compile(r"\[-?[0-9.]+ ?(ns|us|ms|s)\]\Z")


def clean_name(name):
    name = DURATION.sub("", name)
    name = re.sub(r"\AProfilerStep#\d+\Z", "ProfilerStep*", name)
    return re.sub(r"\AProfileStep#\d+\Z", "ProfileStep", name)


def of_onnx_runtime(cat, name):
    if cat == "node" and name.endswith("_kernel_time"):
        return "Operator"
    if cat == "node" and name.endswith(("_fence_before", "_fence_after")):
        return "OperatorInner"
    return "Inference" if name.startswith("model_run") else "UserDefined"


def classify(cat, name):
    """The category, and whether it is marked as communication."""
    cat = cat.lower()
    if cat in ("session", "node", "api"):
        return of_onnx_runtime(cat, name), False
    category = CATS.get(cat)
    if category is None:
        return ("CudaRuntime" if re.search("_(runtime|driver)$", cat) else "UserDefined"), False
    communicates = False
    if category in ("Operator", "OperatorInner"):
        if name.startswith("autograd::engine::evaluate_function: "):
            category = "Backward"
        communicates = bool(TORCH_COLLECTIVE.match(name) or ANYWHERE.search(name) or
                            RPC.search(name) or BROADCAST.match(name))
    elif cat == "user_annotation":
        category = ANNOTATIONS.get(name.lower(), category)
        if name.startswith(("nccl:", "gloo:")):
            category = "Communication"
    if cat in PYTORCH_OWNERS:
        for start, meant in (("enumerate(DataLoader)#", "Dataloader"),
                             ("Optimizer.step#", "Optimization"), ("ProfilerStep", STEP)):
            if name.startswith(start):
                category = meant
    if category == "Kernel":
        communicates = bool(KERNEL_OF_COLLECTIVES.search(name))
    return category, communicates
