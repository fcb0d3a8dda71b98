# SPDX-License-Identifier: Apache-2.0
"""Open MPI: the processes of a job merge its logs as a tree, beside a merge in one go."""
import glob
import os
import re
import shutil
import subprocess

import common
import peer_fleet

SCRIPT = os.path.join(common.HERE, "..", "..", "examples", "production", "merge-tree.sh")
RANKS = 48
PROCESSES = (1, 2, 5, 8, 64)


def digest(path):
    return subprocess.run(["sha256sum", path], stdout=subprocess.PIPE,
                          check=True).stdout.split()[0].decode()


def compare(peer):
    if not shutil.which("mpirun"):
        raise RuntimeError("no mpirun: Debian's openmpi-bin has it")
    folder = peer_fleet.make(peer, "logs", "make_ranks", str(RANKS), "50", "1")
    logs = sorted(glob.glob(os.path.join(folder, "*.pplog")))
    peer.report("merge", "--force", *logs, "-o", "whole.pplog")
    row = common.Row("merge-tree.sh under mpirun, beside a merge in one go: the bytes, and what is"
                     " left beside the file")
    environment = {**os.environ, "PATH": os.path.dirname(peer.tool) + ":" + os.environ["PATH"],
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for number in PROCESSES:
        out = peer.path("tree")
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)
        subprocess.run(["mpirun", "--oversubscribe", "-n", str(number), SCRIPT,
                        os.path.join(out, "all.pplog"), *logs], env=environment, check=True,
                       cwd=peer.folder, stderr=subprocess.DEVNULL, timeout=common.SECONDS)
        row.cell(f"{number} processes: files", ["all.pplog"], os.listdir(out))
        row.cell(f"{number} processes: bytes", digest(peer.path("whole.pplog")),
                 digest(os.path.join(out, "all.pplog")))
    said = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, check=True)
    return [(re.search(r"[\d.]+[\d]", said.stdout.decode())[0], row)]
