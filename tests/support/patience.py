# SPDX-License-Identifier: Apache-2.0
"""How long tests wait for a program before they call it hung; patience.h says the same."""
SECONDS = 300
