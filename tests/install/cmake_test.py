#!/usr/bin/env python3
"""CMake's build: it compiles what Bazel compiles, installs where it is told to, also moved and
into a folder of several architectures, and programs find it there or take it in as a part.

CMAKE_SOURCES FILE...: those that Bazel compiles; the tree is the current folder."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = os.getcwd()
SOURCES = sys.argv[1:]
# Debian's compilers look in a folder of their architecture, others in lib.
LIBRARIES = os.path.join("lib", subprocess.run(
    ["cc", "-print-multiarch"], stdout=subprocess.PIPE, text=True).stdout.strip()).rstrip("/")
USER = """\
cmake_minimum_required(VERSION 3.18)
project(user C)
%s
add_executable(user %s/tests/install/outside.c)
target_link_libraries(user pprof::%s)
"""


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise AssertionError("%s: %d\n%s" % (" ".join(command), done.returncode, done.stdout))
    return done.stdout


def configure(source, build, *options):
    run("cmake", "-S", source, "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        "-DCMAKE_BUILD_TYPE=Debug", *options)


def build(folder, *targets):
    run("cmake", "--build", folder, "-j2", *(["--target", *targets] if targets else []))


class CMake(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        cls.build = os.path.join(cls.folder, "build")
        cls.prefix = os.path.join(cls.folder, "moved here")
        configure(TREE, cls.build, "-DCMAKE_INSTALL_LIBDIR=" + LIBRARIES,
                  "-DCMAKE_INSTALL_PREFIX=/usr", "-DCMAKE_C_FLAGS=-Werror",
                  "-DCMAKE_CXX_FLAGS=-Werror")
        build(cls.build)
        root = os.path.join(cls.folder, "root")
        run("cmake", "--install", cls.build, env=dict(os.environ, DESTDIR=root))
        shutil.move(os.path.join(root, "usr"), cls.prefix)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def user(self, name, finds, target, *options):
        """A program of its own project; its log's stages are in the report."""
        source, built = (os.path.join(self.folder, name + end) for end in ("", "-build"))
        os.mkdir(source)
        with open(os.path.join(source, "CMakeLists.txt"), "w") as file:
            file.write(USER % (finds, TREE, target))
        configure(source, built, *options)
        build(built, "user")
        log = os.path.join(built, "user.pplog")
        run(os.path.join(built, "user"), log, cwd=built)
        tool = os.path.join(self.prefix, "bin/pprof-report")
        self.assertIn("outside_c", run(tool, "summary", "--strict", log))
        return run("ldd", os.path.join(built, "user"))

    def test_compiles_what_bazel_compiles(self):
        with open(os.path.join(self.build, "compile_commands.json")) as file:
            ours = {os.path.relpath(os.path.realpath(entry["file"]), os.path.realpath(TREE))
                    for entry in json.load(file) if not entry["file"].startswith(self.build)}
        theirs = {os.path.relpath(os.path.realpath(name), os.path.realpath(TREE))
                  for name in SOURCES if name.endswith((".c", ".cc"))}
        self.assertGreater(len(theirs), 200)
        self.assertEqual(ours - theirs, set())
        self.assertEqual(theirs - ours, set())

    def test_found_shared(self):
        needs = self.user("shared", "find_package(pprof 0.2 CONFIG REQUIRED)", "pprof",
                          "-DCMAKE_PREFIX_PATH=" + self.prefix)
        self.assertIn(os.path.join(self.prefix, LIBRARIES, "libpprof.so.0"), needs)

    def test_found_static(self):
        needs = self.user("static", "find_package(pprof CONFIG REQUIRED)", "pprof_static",
                          "-Dpprof_DIR=" + os.path.join(self.prefix, LIBRARIES, "cmake/pprof"))
        self.assertNotIn("libpprof", needs)

    def test_another_major_version_is_refused(self):
        with self.assertRaisesRegex(AssertionError, "version"):
            self.user("newer", "find_package(pprof 1.0 CONFIG REQUIRED)", "pprof",
                      "-Dpprof_DIR=" + os.path.join(self.prefix, LIBRARIES, "cmake/pprof"))

    def test_part_of_a_program(self):
        """Of a program that needs the archive alone nothing else is built."""
        self.user("part", "add_subdirectory(%s pprof)" % TREE, "pprof_static")
        built = os.listdir(os.path.join(self.folder, "part-build/pprof"))
        self.assertIn("libpprof.a", built)
        self.assertFalse([name for name in built if ".so" in name or name == "pprof-report"])

    def test_pkg_config_from_where_it_lies(self):
        flags = run("pkg-config", "--cflags", "--libs", "pprof",
                    env=dict(os.environ, PKG_CONFIG_PATH=os.path.join(
                        self.prefix, LIBRARIES, "pkgconfig"))).replace("\\ ", " ")
        self.assertNotIn("/usr", flags)
        for word in flags.replace(" -", "\n-").split("\n"):
            if word[:2] in ("-I", "-L"):
                self.assertTrue(os.path.isdir(word[2:].strip()), word)

    def test_pages_and_completions_are_installed(self):
        for name in ("man/man1/pprof-report.1", "man/man1/pprof-report-search-batch.1",
                     "man/man5/pprof.yaml.5", "zsh/site-functions/_pprof-report",
                     "bash-completion/completions/pprof-report",
                     "fish/vendor_completions.d/pprof-report.fish"):
            self.assertGreater(os.path.getsize(os.path.join(self.prefix, "share", name)), 500)

    def test_the_tool_finds_the_injection(self):
        tool = os.path.join(self.prefix, "bin/pprof-report")
        said = run(tool, "run", "--logs", os.path.join(self.folder, "logs"), "-o", "/dev/null",
                   "sh", "-c", 'echo "$NVTX_INJECTION64_PATH"')
        self.assertIn(os.path.join(self.prefix, LIBRARIES, "libpprof_nvtx.so"), said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
