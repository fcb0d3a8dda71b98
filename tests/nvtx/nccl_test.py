#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NCCL's own annotations, without a GPU, where the machine has the library."""
import glob
import os

from nvtx_case import RANGE, Case, main


def find_library():
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    for folder in f"{home}/lib", f"{home}/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib64":
        for path in sorted(glob.glob(f"{folder}/libnccl.so.2")):
            return path
    return None


class NcclTest(Case):
    def test_messages(self):
        library = find_library()
        if not library:
            self.skipTest("this machine has no NCCL")
        printed = self.run_ok("nccl", library)
        self.assertEqual(printed[1:], ["init 1", "reduce 1", "broadcast 1"])
        log = self.log()
        ranges = {event["name"]: event for event in log.events if event["kind"] == RANGE}
        for name in "ncclCommInitRank", "ncclAllReduce", "ncclBroadcast":
            self.assertEqual(ranges[name]["category"], "Communication")
            self.assertEqual(ranges[name]["lane_name"], "nccl [NCCL]")
        # 1000 floats and 50 doubles.
        self.assertEqual(ranges["ncclAllReduce"]["bytes"], 4000)
        self.assertEqual(ranges["ncclBroadcast"]["bytes"], 400)
        self.assertEqual(self.overview(log.path)["Communication"], 3)


if __name__ == "__main__":
    main()
