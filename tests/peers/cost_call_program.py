# SPDX-License-Identifier: Apache-2.0
"""pprof.cost of real modules, called as they are called: inputs in lists, dictionaries, tuples and
keywords. Prints a line of JSON: {name: [MACs by FlopCounterMode, by pprof.cost, parameters, ours]}."""
import json
import warnings

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import pprof


class Nested(nn.Module):
    """Takes [image, {"text": (tokens, mask)}] and the keyword `scale`."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.embedding = nn.Embedding(100, 16)
        self.head = nn.Linear(24, 10)

    def forward(self, inputs, scale=None, extra=()):
        image, (tokens, mask) = inputs[0], inputs[1]["text"]
        seen = self.conv(image).mean((2, 3))
        read = (self.embedding(tokens) * mask.unsqueeze(-1)).sum(1)
        out = self.head(torch.cat([seen, read], 1))
        for one in extra:
            out = out + one["bias"]
        return out if scale is None else out * scale["by"]


class Chain(nn.Module):
    """Takes a dictionary of lists, and hands a dictionary back."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(3))

    def forward(self, batch):
        return {"out": [layer(x) for layer, x in zip(self.layers, batch["parts"])]}


def calls():
    image, tokens, mask = torch.randn(2, 3, 16, 16), torch.randint(0, 100, (2, 7)), torch.ones(2, 7)
    yield "list, dictionary, tuple", Nested(), ([image, {"text": (tokens, mask)}],), {}
    yield "keywords that nest", Nested(), ([image, {"text": (tokens, mask)}],), {
        "scale": {"by": torch.tensor(2.0)}, "extra": [{"bias": torch.ones(10)}]}
    yield "all by keyword", Nested(), (), {"inputs": [image, {"text": (tokens, mask)}]}
    yield "dictionary of lists", Chain(), ({"parts": [torch.randn(4, 32) for _ in range(3)]},), {}


def counted(model, args, kwargs):
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        model(*args, **kwargs)
    return counter.get_total_flops() // 2


def main():
    warnings.simplefilter("ignore")
    out = {}
    for name, model, args, kwargs in calls():
        model.eval()
        cost = pprof.cost(model, *args, **kwargs)
        out[name] = [counted(model, args, kwargs), cost.macs,
                     sum(p.numel() for p in model.parameters()), cost.parameters]
    print("RESULT", json.dumps(out))


main()
