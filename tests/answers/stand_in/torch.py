# SPDX-License-Identifier: Apache-2.0
"""Plays torch, which is gigabytes, for the programs of examples/torch: it takes every call and
computes nothing, so that their marks, options and commands are tested."""
import sys
import unittest.mock

torch = unittest.mock.MagicMock(name="torch")
torch.cuda.is_available.return_value = False
torch.nn.Module = object
sys.modules[__name__] = torch
