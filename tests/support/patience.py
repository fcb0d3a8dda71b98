# SPDX-License-Identifier: Apache-2.0
"""How long tests wait for a program before they call it hung; patience.h has the same number."""
SECONDS = 300
