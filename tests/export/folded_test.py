#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folded stacks: own times by path, as tests/export/make_run.c has them."""
import export_case

# serve 8 + 10 ms, less prepare 2 and infer 6 + 6 in it; infer 20 ms on the other thread.
EXPECTED = {
    "serve": 4,
    'serve;pre:pare "<x>"': 2,
    "serve;infer": 12,
    "infer": 20,
    "[device];serve;infer;gemm": 6,
    "[device];serve;infer;Memcpy HtoD": 3,
}


def read(text):
    found = {}
    for line in text.decode().splitlines():
        path, value = line.rsplit(" ", 1)
        assert path not in found
        found[path] = int(value)
    return found


class Folded(export_case.Case):

    def test_own_times(self):
        text, _ = self.export("folded", "rich.pplog", "-o", "-")
        self.assertEqual({path: export_case.ms(n) for path, n in EXPECTED.items()}, read(text))

    def test_runs_add_up(self):
        text, _ = self.export("folded", "rich.pplog", "other.pplog", "-o", "-")
        self.assertEqual({path: export_case.ms(2 * n) for path, n in EXPECTED.items()},
                         read(text))


if __name__ == "__main__":
    export_case.main()
