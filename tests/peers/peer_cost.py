# SPDX-License-Identifier: Apache-2.0
"""What `pprof-report cost` counts of ten exported architectures beside FlopCounterMode, fvcore, thop,
ptflops and DeepSpeed; the table goes into docs/cost.md."""
import json
import os
import re

import common

# DeepSpeed is built with the PyTorch that is there.
PACKAGES = ["torch==2.13.0", "numpy", "onnx", "onnxscript", "fvcore", "thop", "ptflops", "transformers",
            "then", "--no-build-isolation", "deepspeed"]
PAGE = os.path.join(common.HERE, "..", "..", "docs", "cost.md")
OTHERS = ("FlopCounterMode", "fvcore", "thop", "ptflops", "DeepSpeed")
NEAR = 0.005  # of what both count
TABLES = "parameters of the file: tables and first states that the exporter makes of constants"
NO_LSTM = "fvcore has no LSTM"


def compare(peer):
    peer.run("cost_program.py", peer.folder)
    with open(peer.path("theirs.json"), encoding="utf-8") as file:
        theirs = json.load(file)
    row = common.Row("MACs of ten exported architectures, within 0.5 % of half of its FLOPs; parameters, "
                     "with normalisations folded; fvcore without its normalisations")
    lines = []
    for number, (name, figures) in enumerate(theirs.items()):
        told = json.loads(peer.report("cost", "-f", "json", "%d.onnx" % number))
        macs = told["totals"]["macs"]
        half = figures["FlopCounterMode"] / 2
        row.cell(name + ": MACs", half, half if abs(macs - half) <= NEAR * half else macs)
        row.cell(name + ": parameters", figures["parameters"] - figures["folded"],
                 told["totals"]["parameters"], TABLES)
        row.cell(name + ": fvcore", figures["fvcore"] - figures["fvcore norms"], macs,
                 NO_LSTM if name == "LSTM" else None)
        lines.append(line(name, told["totals"], figures))
    write_table(lines)
    return [(peer.version("torch"), row), (peer.version("torch"), compare_calls(peer))]


def compare_calls(peer):
    """pprof.cost of modules whose inputs nest, beside the counter in the same call."""
    row = common.Row("pprof.cost: modules with lists, dictionaries, keywords: MACs, parameters")
    said = peer.run("cost_call_program.py")
    for name, figures in json.loads(said[said.index("RESULT ") + len("RESULT "):]).items():
        theirs, ours, parameters, our_parameters = figures
        row.cell(name + ": MACs", theirs, ours)
        row.cell(name + ": parameters", parameters, our_parameters)
    return row


def giga(value):
    return "%.3f" % (value / 1e9) if isinstance(value, (int, float)) and value else "-"


def line(name, totals, figures):
    halves = [figures[OTHERS[0]] / 2] + [figures[other] for other in OTHERS[1:]]
    cells = [name, "%.2f" % (figures["parameters"] / 1e6), "%.2f" % (totals["parameters"] / 1e6),
             giga(totals["macs"]), *map(giga, halves)]
    return "| " + " | ".join(cells) + " |"


def write_table(lines):
    head = ["| architecture | parameters, M: module | file | MACs, G: ours | FlopCounterMode / 2 | fvcore "
            "| thop | ptflops | DeepSpeed |", "|---" * 9 + "|"]
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    table = "\n".join(head + lines)
    text = re.sub(r"(<!-- ten architectures -->\n).*?(<!-- end -->)",
                  lambda found: found.group(1) + table + "\n" + found.group(2), text, flags=re.S)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)
