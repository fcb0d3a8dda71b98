# SPDX-License-Identifier: Apache-2.0
"""Random traces as lists of items, so that a failing one can be made smaller item by item.

An item is a tuple: the method of traces.py to call and its arguments.
"""
import random

from traces import KinetoTrace, PaddleTrace

MAIN, WORKERS = 100, (200, 300)
PADDLE_HOSTS = (
    ("Operator", ("matmul", "relu", "adam", "c_allreduce_sum", "c_broadcast", "GpuMemcpySync")),
    ("OperatorInner", ("matmul compute", "relu compute", "infer_shape")),
    ("UserDefined", ("BufferedReader:MemoryCopy", "GpuMemcpyAsync:CPU->GPU", "load", "memset")),
    ("PythonUserDefined", ("postproc", "augment", "load")),
    ("Communication", ("allgather", "ProcessGroupNCCL::Send")),
    ("Forward", ("Forward", "Layer")), ("Backward", ("Gradient Backward",)),
    ("Optimization", ("Optimization Step",)), ("Dataloader", ("DataLoader",)),
    ("PythonOp", ("paddle.add", "paddle.matmul")),
    ("DygraphKernelLaunch", ("matmul kernel launch", "relu kernel launch")),
)
KINETO_HOSTS = (
    ("cpu_op", ("aten::mm", "aten::add_", "aten::copy_", "c10d::allreduce_",
                "autograd::engine::evaluate_function: MmBackward0")),
    ("user_annotation", ("forward", "postproc", "Optimizer.step#SGD.step", "load memcpy",
                         "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                         "DistributedDataParallel.forward")),
    ("cuda_runtime", ("cudaStreamSynchronize", "cudaEventQuery")),
    ("python_function", ("train.py(3): step", "nn.Module: Linear_0")),
)
KERNELS = ("gemm", "relu_k", "void fill<float>(int, float)", "ncclDevKernel_AllReduce_Sum",
           "ncclAllGather", "k" * 130)


class Shape:
    """What a seed makes of a trace."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.is_paddle = seed % 2 == 0
        self.is_tidy = pick((True, True, True, False))  # ranges nest
        self.unit = 1000 if self.is_paddle else pick((1, 1, 1000))
        if self.is_paddle and not self.is_tidy:
            self.unit = 5000  # what sticks out by a microsecond is taken for inexact
        self.span = pick((20, 100, 1000, 100000)) * self.unit
        self.threads = (MAIN,) + WORKERS[:pick((0, 1, 2))]
        self.num_hosts = pick((3, 10, 40, 120))
        self.devices = pick(((0,), (0,), (0, 1)))
        self.num_steps = pick((0, 1, 2, 13))
        self.num_kernels = pick((0, 5, 30))
        self.num_memory = pick((0, 0, 8))
        self.is_tiny = seed % 23 == 7
        self.has_flops, self.has_items = pick((True, False)), pick((True, False))
        self.has_pairs = not self.is_paddle and self.is_tidy and seed % 5 == 1


def at_random(shape, low, high):
    """A time in [low, high], a multiple of the unit."""
    return low + shape.random.randint(0, (high - low) // shape.unit) * shape.unit


def nested(shape, low, high, num, out):
    """Puts about `num` ranges into [low, high]: in a row, inside each other, touching, equal."""
    while num > 0:
        start = at_random(shape, low, high)
        end = at_random(shape, start, high)
        if shape.random.random() < 0.1:
            start, end = low, high  # equal to the one around it
        if shape.random.random() < 0.1:
            end = start
        inner = shape.random.randint(0, num - 1)
        out.append((start, end))
        nested(shape, start, end, inner, out)
        num -= inner + 1
        low = end


def host_items(shape):
    hosts = PADDLE_HOSTS if shape.is_paddle else KINETO_HOSTS
    items = []
    for tid in shape.threads:
        ranges = []
        if shape.is_tidy:
            nested(shape, 0, shape.span, shape.num_hosts // len(shape.threads), ranges)
        else:
            for _ in range(shape.num_hosts // len(shape.threads)):
                start = at_random(shape, 0, shape.span - shape.unit)
                ranges.append((start, at_random(shape, start + shape.unit, shape.span)))
        for start, end in ranges:
            category, names = shape.random.choice(hosts)
            if shape.random.random() < 0.02 and shape.is_tidy:
                end = start - shape.unit
            is_pair = shape.has_pairs and end > start and category != "python_function"
            kind = "pair" if is_pair else "host"
            item = (kind, shape.random.choice(names), category, start, end, tid)
            if kind == "host" and category in ("Operator", "cpu_op") and shape.has_flops:
                item += (shape.random.choice((64, 1000, 123456789)),)
            items.append(item)
    return items


def open_items(shape):
    """What the end of the trace cut; names of their own, each on a thread of its own."""
    names = (("cpu_op", "aten::open"), ("user_annotation", "open"),
             ("user_annotation", "Optimizer.step#Open.step"),
             ("user_annotation", "enumerate(DataLoader)#_Open.__next__"))
    if shape.is_paddle or shape.random.random() < 0.6:
        return []
    return [("open", name, category, at_random(shape, 0, shape.span), MAIN + 600 + i)
            for i, (category, name) in enumerate(names) if shape.random.random() < 0.7]


def step_items(shape):
    """Steps in a row, now and then with a gap, on a thread of their own."""
    items, at = [], 0
    length = shape.span // max(1, shape.num_steps)
    length -= length % shape.unit
    for number in range(shape.num_steps):
        end = at + length
        if shape.random.random() < 0.2:
            end -= shape.random.randint(0, length // shape.unit - 1) * shape.unit
        amount = shape.random.choice((0, 32, 32, 7)) if number == 11 else 32
        items.append(("step", at, end, number, MAIN + 5, amount if shape.has_items else 0))
        at += length
    return items


def kernel_items(shape):
    items = []
    for _ in range(shape.num_kernels):
        tid = shape.random.choice(shape.threads)
        call = at_random(shape, 0, shape.span)
        lag = shape.random.choice((0, 1, 10, 1000)) * shape.unit
        start = at_random(shape, call + shape.unit, call + shape.unit + lag)
        end = at_random(shape, start, start + shape.span // 4)
        kind = shape.random.choice(("kernel", "kernel", "kernel", "memcpy", "memset", "stray"))
        if kind == "stray":  # of no length where the trace begins it would have no device time
            end = max(end, start + shape.unit)
        items.append(("launched", shape.random.choice(KERNELS), tid, call, start, end, kind,
                      shape.random.choice((7, 13)), shape.random.choice(shape.devices)))
    return items


def annotation_items(shape):
    """What the program named, projected onto a stream: from the first to the last kernel in it."""
    items = []
    for _ in range(0 if shape.is_paddle else shape.random.choice((0, 0, 3))):
        start = at_random(shape, 0, shape.span - shape.unit)
        end = at_random(shape, start + shape.unit, shape.span)
        items.append(("device", shape.random.choice(("forward", "nccl:all_reduce")), start, end, 0,
                      7, shape.random.choice(shape.devices), "gpu_user_annotation"))
    return items


def memory_items(shape):
    items, level, reserved = [], 0, 0
    for time in sorted(at_random(shape, 0, shape.span) for _ in range(shape.num_memory)):
        change = shape.random.choice((64, 100, -32, 512, 0))
        kind = shape.random.choice(("Allocate", "ReservedAllocate"))
        if change < 0:
            kind = "Free" if kind == "Allocate" else "ReservedFree"
        if kind in ("Allocate", "Free"):
            level = max(0, level + change)
        else:
            reserved = max(0, reserved + change)
        items.append(("memory", kind, time, change, level, reserved,
                      shape.random.choice(shape.threads), shape.random.choice(shape.devices)))
    return items


def items_of(seed):
    shape = Shape(seed)
    items = host_items(shape) + step_items(shape) + kernel_items(shape) + memory_items(shape)
    items += annotation_items(shape) + open_items(shape)
    if shape.is_tiny:
        for i in range(3000):
            start = i * shape.unit
            items.append(("host", "tiny", "Operator" if shape.is_paddle else "cpu_op", start,
                          start + shape.random.randint(0, 300), 400))
    if shape.random.random() < 0.5:
        shape.random.shuffle(items)
    return shape.is_paddle, items


def trace_of(is_paddle, items, pid=4242, first_id=1):
    trace = PaddleTrace(pid=pid) if is_paddle else KinetoTrace(pid=pid)
    trace.next_id = first_id
    for method, *arguments in items:
        if method == "launched":
            put_kernel(trace, is_paddle, *arguments)
        elif method == "memory":
            put_memory(trace, is_paddle, *arguments)
        elif method == "host":
            name, category, start, end, tid, *flops = arguments
            trace.host(name, category, start, end, tid, **({"flops": flops[0]} if flops else {}))
        else:
            getattr(trace, method)(*arguments)
    return trace


def put_kernel(trace, is_paddle, name, tid, call, start, end, kind, stream, device):
    unit = 1000 if is_paddle else 1
    number = 0 if kind == "stray" else trace.call(call, call + unit, tid)
    if kind == "stray":  # else the arrow of another one might end in it
        stream = 99
    kind = "kernel" if kind == "stray" else kind
    category = {"kernel": "Kernel", "memcpy": "Memcpy", "memset": "Memset"}[kind]
    if not is_paddle:
        category = {"Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}[category]
    trace.device(name, start, end, number, stream, device, category)


def put_memory(trace, is_paddle, kind, time, change, level, reserved, tid, device):
    if is_paddle:
        change = abs(change) if time % 2000 else change  # some versions give the size
        trace.memory(kind, time, change, level, reserved, tid, f"Place(gpu:{device})")
    else:
        trace.memory(time, change, level, reserved, tid, device)
