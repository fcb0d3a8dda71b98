#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [NAME...]: whether CI's tests catch each change of mutations.txt.

Each change is made to what is committed, in a tree of its own. The test that its
row names runs first, then the steps of .ci/run that test, until one fails. What is known stays in out/mutations/NAME,
with what Bazel printed beside it, and is left out the next time: remove the file to
try it again. The last line is `N passed, N failed`; a mutation that no test catches
fails.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = os.path.join(ROOT, "tests", "mutations", "mutations.txt")
OUT = os.path.join(ROOT, "out", "mutations")
TREE = os.path.join(OUT, "tree")

# As .ci/run: configuration and tags. Most is caught by the first.
STEPS = (
    ("asan_ubsan", "-no-sanitizer,-no-asan_ubsan"),
    ("ci", "no-sanitizer,no-asan_ubsan"),
    ("tsan", "-no-sanitizer,-no-tsan"),
)


def mutations():
    """{name: (file, test, old text, new text)}, in the file's order."""
    found = {}
    with open(LIST, encoding="utf-8") as file:
        text = re.sub(r"^#.*\n", "", file.read(), flags=re.M)
    for block in text.strip().split("\n\n"):
        head, *lines = block.split("\n")
        name, path, test = head.split()
        sides = ["".join(line[2:] + "\n" for line in lines if line[0] == side)
                 for side in "-+"]
        found[name] = (path, test, *sides)
    return found


def git(*arguments, cwd=ROOT):
    subprocess.run(["git", *arguments], cwd=cwd, check=True)


def make_tree():
    if not os.path.exists(TREE):
        os.makedirs(OUT, exist_ok=True)
        git("worktree", "add", "--quiet", "--detach", TREE)
    git("checkout", "--quiet", "--force", "--detach",
        subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True,
                       stdout=subprocess.PIPE, text=True).stdout.strip(), cwd=TREE)
    own = os.path.join(ROOT, ".bazelrc.user")
    if os.path.exists(own):
        with open(own, encoding="utf-8") as source, \
             open(os.path.join(TREE, ".bazelrc.user"), "w", encoding="utf-8") as out:
            out.write(source.read())


def apply(path, old, new):
    path = os.path.join(TREE, path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(old) != 1:
        sys.exit(f"{path}: not once there: {old}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def failed_tests(log, config, *arguments):
    """The tests that fail, as one text; empty: none."""
    done = subprocess.run(
        ["bazel", "test", "--noshow_progress", "--config=ci", f"--config={config}",
         "--build_tests_only", "--notest_keep_going", "--test_output=errors",
         "--test_summary=short", *arguments],
        cwd=TREE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False)
    with open(log, "w", encoding="utf-8") as out:
        out.write(done.stdout)
    failed = re.findall(r"^(//\S+) +(?:FAILED|TIMEOUT).*", done.stdout, re.M)
    if done.returncode and not failed:
        sys.exit(f"{config} did not build; see {log}")
    return ", ".join(failed)


def caught_by(log, test):
    """Which test fails first, with its configuration; None: nothing fails."""
    failed = failed_tests(log, "ci", *test.split(","))
    if failed:
        return f"ci: {failed}"
    for config, tags in STEPS:
        failed = failed_tests(log, config, f"--test_tag_filters={tags}", "//...")
        if failed:
            return f"{config}: {failed}"
    return None


def main(names):
    known = mutations()
    make_tree()
    failed = 0
    for name in names or known:
        result = os.path.join(OUT, name)
        if not os.path.exists(result):
            path, test, old, new = known[name]
            apply(path, old, new)
            caught = caught_by(f"{result}.log", test)
            git("checkout", "--quiet", "--force", "--", ".", cwd=TREE)
            with open(result, "w", encoding="utf-8") as out:
                out.write(f"caught by {caught}\n" if caught else "not caught\n")
        with open(result, encoding="utf-8") as file:
            verdict = file.read().strip()
        failed += verdict == "not caught"
        print(f"{name}: {verdict}", flush=True)
    subprocess.run(["bazel", "shutdown"], cwd=TREE, stdin=subprocess.DEVNULL,
                   check=False)
    print(f"{len(names or known) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
