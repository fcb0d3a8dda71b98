# SPDX-License-Identifier: Apache-2.0
"""Exports each architecture of cost_models.py, and what others count of it: cost_program.py FOLDER.

Writes FOLDER/NUMBER.onnx and FOLDER/theirs.json: {name: {tool: [MACs or FLOPs as it says, parameters]}}."""
import contextlib
import inspect
import io
import json
import os
import sys
import warnings

import onnx
import torch
from onnx import TensorProto, helper
from torch.utils.flop_counter import FlopCounterMode

import cost_models


def flop_counter(model, inputs):
    counter = FlopCounterMode(display=False)
    # oneDNN's LSTM is one operator that it does not know; PyTorch's own is matrices.
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False), counter:
        model(*inputs)
    return counter.get_total_flops()


def fvcore(model, inputs):
    return sum(fvcore_operators(model, inputs).values())


def fvcore_operators(model, inputs):
    from fvcore.nn import FlopCountAnalysis
    analysis = FlopCountAnalysis(model, inputs)
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    return analysis.by_operator()


def thop(model, inputs):
    from thop import profile
    return profile(model, inputs, verbose=False)[0]


def ptflops(model, inputs):
    from ptflops import get_model_complexity_info
    names = list(inspect.signature(model.forward).parameters)
    return get_model_complexity_info(model, (1,),
                                     input_constructor=lambda _: dict(zip(names, inputs)),
                                     as_strings=False, print_per_layer_stat=False,
                                     backend="pytorch", verbose=False)[0]


def deepspeed(model, inputs):
    from deepspeed.profiling.flops_profiler import get_model_profile
    return get_model_profile(model, args=list(inputs), print_profile=False, as_string=False,
                             warm_up=0)[1]


# What fvcore counts beside products.
NORMS = ("batch_norm", "layer_norm", "adaptive_avg_pool2d")
TOOLS = {"FlopCounterMode": flop_counter, "fvcore": fvcore, "thop": thop, "ptflops": ptflops,
         "DeepSpeed": deepspeed}


def counted(name, model, inputs):
    """A number, or the name of what it died of."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return float(TOOLS[name](model, inputs) or 0)
    except Exception as error:  # what a tool cannot count is a result, too
        print(name, repr(error)[:300], file=sys.stderr)
        return type(error).__name__


def fill(model):
    """Values that differ: the exporter stores tensors that are equal, such as fresh biases, once."""
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.02)
        for name, buffer in model.named_buffers():
            if "running" in name:
                buffer.copy_(torch.rand_like(buffer) + 0.5)


def folded(model):
    """A convolution and its normalisation become a convolution with a bias: of two numbers a channel
    one is left."""
    return sum(module.num_features for module in model.modules()
               if isinstance(module, torch.nn.BatchNorm2d))


def add_nms(path):
    model = onnx.load(path)
    boxes, scores = (output.name for output in model.graph.output)
    most = helper.make_tensor("most", TensorProto.INT64, [1], [100])
    model.graph.initializer.append(most)
    model.graph.node.append(helper.make_node("NonMaxSuppression", [boxes, scores, "most"],
                                             ["selected"], "nms"))
    model.graph.output.append(helper.make_tensor_value_info("selected", TensorProto.INT64, [None, 3]))
    onnx.save(model, path)


def main():
    folder = sys.argv[1]
    warnings.simplefilter("ignore")
    theirs = {}
    wanted = sys.argv[2:]
    for number, (name, model, inputs) in enumerate(cost_models.models()):
        if wanted and name not in wanted:
            continue
        model.eval()
        fill(model)
        path = os.path.join(folder, "%d.onnx" % number)
        torch.onnx.export(model, inputs, path, dynamo=True, external_data=True, verbose=False)
        if "NMS" in name:
            add_nms(path)
        theirs[name] = {tool: counted(tool, model, inputs) for tool in TOOLS}
        theirs[name]["parameters"] = sum(p.numel() for p in {id(p): p for p in model.parameters()}
                                         .values())
        theirs[name]["folded"] = folded(model)
        theirs[name]["fvcore norms"] = float(sum(
            flops for operator, flops in fvcore_operators(model, inputs).items() if operator in NORMS))
        theirs[name]["buffers"] = sum(b.numel() for b in model.buffers())
        print(name, theirs[name], file=sys.stderr)
    with open(os.path.join(folder, "theirs.json"), "w", encoding="utf-8") as file:
        json.dump(theirs, file, indent=1)


main()
