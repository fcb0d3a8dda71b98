#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example in the public headers' comments compiles: HEADER...

What follows `// Example:`, set in by three blanks, is the body of a function;
one that begins with `static` or `struct` is a file's. In C11 and C++17 (a .hpp
in C++17 alone), with PPROF_DISABLE and without, without one warning.
"""
import os
import re
import subprocess
import sys
import tempfile

# What the examples speak of without showing it.
PRELUDE = """
#include <pprof/cuda.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern const char *layer_name;
extern cudaStream_t stream, other_stream;
extern void *queue;
extern pprof_device *gpu;
extern pprof_session *session;
extern pprof_sink *sink;
extern pprof_report *report;
extern const pprof_batch *batch;
extern pthread_mutex_t cache_mutex;
void decode_frame(void), resize_frame(void), answer_request(void);
void train(void), launch(cudaStream_t), enqueue(void *), run_sort(void *);
bool forward(void), next_batch(void);
void put_into_queue(uint64_t);
uint64_t take_from_queue(void);
extern const char *prompt;
uint64_t num_tokens_of(const char *);
void wait_in_queue(void), decode_one(void);
"""

HPP_PRELUDE = """
#include <pprof/pprof.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
struct Frame { std::uint64_t request; double size() const; };
struct Layer { std::string name() const; };
struct Queue { template <typename Job> void push(Job &&) {} };
extern Queue jobs;
extern Frame frame;
extern Layer layer;
extern pprof_device *gpu;
extern void *stream, *other_stream;
extern pprof_sink *sink;
extern std::mutex cache_mutex;
extern const std::string prompt;
void decode(), enqueue(void *), serve();
"""

MODES = [[], ["-DPPROF_DISABLE"]]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
INCLUDES = ["-Isdk/include", "-Iexporters/include", "-Iconfig/include"]


def examples(path):
    """(line number, lines of code) of each."""
    code = None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if line == "// Example:":
                code = (number, [])
            elif code and line.startswith("//   "):
                code[1].append(line[len("//   "):])
            elif code:
                yield code
                code = None


def program(code):
    text = "\n".join(code) + "\n"
    if not code[0].startswith(("static ", "struct ")):
        text = "void example(void);\nvoid example(void) {\n" + text + "}\n"
    return "#line 1\n" + text


def compilers(path):
    if path.endswith(".hpp"):
        return [(HPP_PRELUDE, ["g++", "-x", "c++", "-std=c++17"])]
    return [
        (PRELUDE, ["gcc", "-x", "c", "-std=c11"]),
        (PRELUDE, ["g++", "-x", "c++", "-std=c++17"]),
    ]


def compiles(where, code, prelude, command):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as source:
        source.write(prelude + program(code))
        source.flush()
        done = subprocess.run(
            command + WARNINGS + INCLUDES +
            ["-Wno-unused-function", "-Wno-missing-field-initializers"] +
            [source.name], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"FAILED: {where}: {' '.join(command)}")
        print(re.sub(re.escape(source.name), "example", done.stderr))
    return done.returncode == 0


def main():
    num, failed = 0, 0
    for path in sys.argv[1:]:
        for line, code in examples(path):
            num += 1
            where = f"{os.path.basename(path)}:{line}"
            if not code:
                print(f"FAILED: {where} is empty")
                failed += 1
            for prelude, command in compilers(path) if code else []:
                for mode in MODES:
                    failed += not compiles(where, code, prelude, command + mode)
    print(f"{num} examples, {failed} failed")
    return 0 if num and not failed else 1


sys.exit(main())
