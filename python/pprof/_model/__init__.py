# SPDX-License-Identifier: Apache-2.0
"""What an ONNX model computes, node by node: `pprof-report cost` runs this as a program."""
