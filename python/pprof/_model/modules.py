# SPDX-License-Identifier: Apache-2.0
"""Finds the module of a node in the names that exporters write."""
import re

_SCOPES = "pkg.torch.onnx.name_scopes"


def below(outer, inner):
    return outer + "/" + inner if outer and inner else outer or inner


def _split(name):
    """PyTorch has each level's whole name: in "layer1/layer1.0/conv" the second one begins with the
    first."""
    out, last = [], ""
    for part in name.split("/"):
        own = part[len(last) + 1:] if last and part.startswith(last + ".") else part
        out += [one for one in own.split(".") if one]
        last = part
    return "/".join(out)


def of_node(node, weights):
    """Its path, "layer1/0/conv1": of what PyTorch says in its properties; else of its name without
    the last part, split at "/" and "."; else of the name of its weights (None: none). "" is the
    model itself."""
    for pair in node.metadata_props:
        if pair.key == _SCOPES:
            # The last but one of "['', 'layer1', 'layer1.0.conv1', 'conv2d']".
            return _split(["", "", *re.findall("'([^']*)'", pair.value)][-2])
    if "/" in node.name:
        # What is fused has the names of all parts.
        return _split(node.name.rpartition("/")[0].partition(";")[0])
    if "." in node.name:
        return _split(node.name.rpartition(".")[0])
    if not weights:
        return ""
    return _split(weights.rpartition("/" if "/" in weights else ".")[0])
