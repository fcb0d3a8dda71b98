# SPDX-License-Identifier: Apache-2.0
"""The version of the package: that of the library it was made for."""
VERSION = "0.2.0"
