#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What children record of what their parent has asked for, and what they leave alone."""
from python_case import RANGE, Case, main

# A child of os.fork, or of multiprocessing, that serves requests and has no range of its own.
REQUESTS = """
    import multiprocessing, pprof, sys

    def work():
        with pprof.request(7, "chat") as request:
            pprof.serve([request])
            request.token(5)

    if __name__ == "__main__":
        pprof.start({"output": sys.argv[1] + ".pplog"})
        child = multiprocessing.get_context(sys.argv[1]).Process(target=work)
        child.start()
        child.join()
        assert child.exitcode == 0
"""


class Children(Case):
    def test_requests_alone(self):
        for method in "fork", "spawn", "forkserver":
            with self.subTest(method):
                self.run_ok(REQUESTS, method, PPROF_OUTPUT=None)
                logs = self.logs(method + "*.pplog")
                self.assertEqual(sorted(log.select("name", kind=RANGE) for log in logs),
                                 [[], ["chat"]])


if __name__ == "__main__":
    main()
