# SPDX-License-Identifier: Apache-2.0
"""Launchers, Open MPI and Slurm on this machine: the processes of a job merge its logs as a tree,
beside a merge in one go."""
import contextlib
import glob
import os
import re
import shutil
import socket
import subprocess
import time

import common
import peer_fleet

SCRIPT = os.path.join(common.HERE, "..", "..", "examples", "production", "merge-tree.sh")
RANKS = 48
PROCESSES = (1, 2, 5, 8, 64)
# A cluster of one node, by its owner alone, without authentication.
SLURM = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName={host} NodeAddr=127.0.0.1 CPUs=64
PartitionName=all Nodes=ALL Default=YES
"""


def need(program, package):
    if not shutil.which(program):
        raise RuntimeError(f"no {program}: Debian's {package} has it")


def digest(path):
    return subprocess.run(["sha256sum", path], stdout=subprocess.PIPE,
                          check=True).stdout.split()[0].decode()


def version(launcher, environment):
    said = subprocess.run([launcher, "--version"], env=environment, stdout=subprocess.PIPE,
                          check=True)
    return re.search(r"[\d.]+\d", said.stdout.decode())[0]


def compare_trees(peer, launcher, *options, **variables):
    folder = peer_fleet.make(peer, "logs", "make_ranks", str(RANKS), "50", "1")
    logs = sorted(glob.glob(os.path.join(folder, "*.pplog")))
    peer.report("merge", "--force", *logs, "-o", "whole.pplog")
    row = common.Row(f"merge-tree.sh under {launcher}, beside a merge in one go: the bytes, and"
                     " what is left beside the file")
    environment = {**os.environ, **variables,
                   "PATH": os.path.dirname(peer.tool) + ":" + os.environ["PATH"]}
    for number in PROCESSES:
        out = peer.path("tree")
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)
        subprocess.run([launcher, *options, "-n", str(number), SCRIPT,
                        os.path.join(out, "all.pplog"), *logs], env=environment, check=True,
                       cwd=peer.folder, stderr=subprocess.DEVNULL, timeout=common.SECONDS)
        row.cell(f"{number} processes: files", ["all.pplog"], os.listdir(out))
        row.cell(f"{number} processes: bytes", digest(peer.path("whole.pplog")),
                 digest(os.path.join(out, "all.pplog")))
    return [(version(launcher, environment), row)]


def compare_mpirun(peer):
    """From 32 processes of a node on, Open MPI 4.1 starts them by threads, and then may miss the end
    of a short one and wait for ever: 4 of 5 runs of `sh -c 'sleep 1'` on 64 did. Without threads
    none of 5 did."""
    need("mpirun", "openmpi-bin")
    return compare_trees(peer, "mpirun", "--oversubscribe", "--mca", "odls_base_num_threads", "0",
                         OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def cluster(folder):
    """The name of its configuration, once its node is idle."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("state", "spool"):
        os.makedirs(os.path.join(folder, name))
    path = os.path.join(folder, "slurm.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SLURM.format(folder=folder, host=socket.gethostname().split(".")[0],
                                user=os.environ.get("USER", "root"), port=free_port(),
                                node_port=free_port()))
    environment = {**os.environ, "SLURM_CONF": path}
    log = open(os.path.join(folder, "log"), "wb")
    with log, contextlib.ExitStack() as running:
        for daemon in ("slurmctld", "slurmd"):
            process = running.enter_context(subprocess.Popen([daemon, "-D"], env=environment,
                                                             stdout=log, stderr=log))
            running.callback(process.terminate)
        end = time.monotonic() + 60
        while b"idle" not in subprocess.run(["sinfo", "-h"], env=environment, check=False,
                                            stdout=subprocess.PIPE, stderr=log).stdout:
            if time.monotonic() > end:
                raise RuntimeError(f"Slurm's node is not idle: {log.name}")
            time.sleep(0.5)
        yield path


def compare_slurm(peer):
    need("slurmctld", "slurm-wlm")
    with cluster(peer.path("slurm")) as path:
        return compare_trees(peer, "srun", SLURM_CONF=path)


PEERS = {"mpirun": ([], compare_mpirun), "slurm": ([], compare_slurm)}
