# SPDX-License-Identifier: Apache-2.0
"""Which of many cases a short run tries: another part each day, as long_run.h."""
import os
import time

LONG = os.environ.get("PPROF_TEST_LONG", "0") not in ("", "0")


def day():
    """Its number, or what PPROF_TEST_SEED says. A log has the option that repeats it."""
    found = int(os.environ.get("PPROF_TEST_SEED") or time.time() // 86400)
    print(f"sample of the day: --test_env=PPROF_TEST_SEED={found}", flush=True)
    return found


def of(cases, parts):
    """Each `parts`th of the cases; all in the long version."""
    return list(cases) if LONG else list(cases)[day() % parts::parts]
