#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What libabigail says of the library itself beside its dump, libpprof.abi; run in the tree's root.

abi_test looks at what headers say; this at what the library has, with symbol versions, as those
who package it do. Names are only added: with SET_EXACT_OUTPUT=1 the dump is written anew.
Without abidw (Debian: abigail-tools) nothing is compared."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

GOLDEN = "tests/golden/libpprof.abi"
FOLDERS = ["sdk/src", "sdk/backends", "exporters/src", "config/src"]
LAYERS = ["sdk/include", "exporters/include", "config/include"]
DUMP = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
        "--no-parameter-names", "--type-id-style", "hash", "--exported-interfaces-only"]

# What the C library's types look like is not ours to say.
NOT_OURS = "[suppress_type]\n  name = _IO_FILE\n"


def is_needed(path):
    """Whether a source defines an exported name, or one that the linker wants to see: the others
    take long, and nobody sees them."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return re.search(r"^PPROF_API|^(?:[a-z]\w*[ *]+)+pprof_\w+\(|^[A-Z_]+\(.*pprof_"
                     r"|^(?!extern)\w.*\bppi_(clock_state|recorder_in_force|epoch_\w+|thread_self)\b",
                     text, re.M)


def build(path):
    sources = [name for folder in FOLDERS
               for name in glob.glob(folder + "/**/*.c", recursive=True) if is_needed(name)]
    return subprocess.call(
        ["gcc", "-std=c11", "-D_GNU_SOURCE", "-g", "-O0", "-fPIC", "-shared", "-w",
         "-fvisibility=hidden", *("-I" + layer for layer in LAYERS),
         *("-iquote" + folder for folder in FOLDERS), "-o", path, *sorted(sources),
         "-Wl,--version-script=sdk/libpprof.lds", "-Wl,-soname,libpprof.so.0",
         "-lyaml", "-lz", "-lm", "-lpthread", "-ldl", "-lrt"])


def main():
    if not shutil.which("abidw"):
        print("no abidw: nothing is compared")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        library, dump = os.path.join(folder, "libpprof.so.0"), os.path.join(folder, "dump")
        if build(library):
            return 1
        subprocess.run(["abidw", *DUMP, "--drop-private-types",
                        *(word for layer in LAYERS for word in ("--headers-dir", layer)),
                        "--out-file", dump, library], check=True)
        if os.environ.get("SET_EXACT_OUTPUT"):
            shutil.copyfile(dump, GOLDEN)
        with open(os.path.join(folder, "not-ours"), "w", encoding="utf-8") as file:
            file.write(NOT_OURS)
        done = subprocess.run(["abidiff", "--no-architecture", "--suppressions", file.name,
                               GOLDEN, dump], check=False)
    if done.returncode:
        print("FAILED: abidiff exits with %d; SET_EXACT_OUTPUT=1 writes the dump, where all "
              "above is an addition" % done.returncode)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
