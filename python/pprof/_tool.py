# SPDX-License-Identifier: Apache-2.0
"""pprof-report of a wheel that brings it: the program itself, with these arguments."""
import os
import sys


def main():
    """Becomes the program; returns only to say why it cannot."""
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "bin", "pprof-report")
    os.environ["PPROF_PYTHON"] = sys.executable  # what is written in Python runs by this one
    try:
        os.execv(path, ["pprof-report"] + sys.argv[1:])
    except OSError as error:
        return ("pprof-report: %s: %s. This package was made without it; tools/wheel.sh makes one "
                "with it" % (path, error.strerror))


if __name__ == "__main__":
    sys.exit(main())
