#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the real frameworks, compares what they say with what we say, and writes tests/peers/results.md.

run_peers.py PPROF_REPORT LIBRARY OUT [NAME...]: each peer has a folder in OUT with a Python of its
own. Ends with 1 if a cell differs that nobody has explained, with a line for each.
"""
import datetime
import os
import signal
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
import common
import peer_lists
import peer_page

ROOT = os.path.join(common.HERE, "..", "..")
PAGE = os.path.join(common.HERE, "results.md")


def prepare(name, packages, out):
    """The Python of a peer's virtual environment, made and filled where it is not there. What stands
    behind "then" is installed once the rest is there."""
    folder = os.path.join(out, "python", name)
    python = os.path.join(folder, "bin", "python")
    stamp = os.path.join(folder, "packages")
    wanted = "\n".join(packages)
    if os.path.exists(stamp) and open(stamp, encoding="utf-8").read() == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    for group in " ".join(packages).split(" then "):
        if group:
            subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                            *group.split()], check=True, env={**os.environ, "DS_BUILD_OPS": "0"})
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)
    return python


def run(name, entry, tool, library, out):
    """A peer's results as they are kept: version, what, counts, reasons."""
    folder = os.path.join(out, "work", name)
    os.makedirs(folder, exist_ok=True)
    python = prepare(entry.python or name, entry.packages, out)
    peer = common.Peer(name, python, tool, folder, library)
    return [{"peer": name, "version": version, "compared": row.compared, "cells": row.cells,
             "equal": row.equal, "explained": row.explained, "unexplained": row.unexplained,
             "date": datetime.date.today().isoformat()} for version, row in entry.compare(peer)]


def kept(results):
    """Puts this run's results into the page, beside those of peers that it did not run."""
    with open(PAGE, encoding="utf-8") as file:
        old = peer_page.read(file.read())
    text = peer_page.write(peer_page.merged(old, results, list(peer_lists.PEERS)),
                           peer_page.head())
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    # A shell's background jobs ignore Ctrl-C, which ends the servers.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tool, library, out = (os.path.abspath(path) for path in sys.argv[1:4])
    names = sys.argv[4:] or list(peer_lists.PEERS)
    unknown = [name for name in names if name not in peer_lists.PEERS]
    if unknown:
        sys.exit(f"no such peer: {' '.join(unknown)}; there are {' '.join(peer_lists.PEERS)}")
    results, failed = [], []
    for name in names:
        started = time.monotonic()
        try:
            results += run(name, peer_lists.PEERS[name], tool, library, out)
        except Exception:  # one that does not run must not keep the others from it
            traceback.print_exc()
            failed.append(name)
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    kept(results)
    for result in results:
        print("{peer} {version}: {compared}: {equal} of {cells} equal, {explained} explained, "
              "{unexplained} not".format(**{**result,
                                            "explained": sum(result["explained"].values()),
                                            "unexplained": len(result["unexplained"])}))
        for line in result["unexplained"][:20]:
            print("   ", line)
    bad = len(failed) + sum(bool(result["unexplained"]) for result in results)
    print(f"{len(results) + len(failed) - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
