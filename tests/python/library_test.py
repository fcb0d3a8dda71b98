#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the package finds its library, and what it says of one that is missing or does not fit."""
import os
import shutil
import subprocess

from python_case import LIBRARY, PACKAGE, Case, main

SONAME = "libpprof.so.0"
# In C, so that a library is what the test says it is.
OTHER = 'const char *pprof_version(void) { return "%s"; }\nunsigned pprof_epoch_;\n'


class Library(Case):
    def fails(self, source="import pprof", **changes):
        done = self.start(source, **changes)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr.strip().splitlines()[-1]

    def make(self, version, name):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("no C compiler")
        with open(self.path("other.c"), "w", encoding="utf-8") as file:
            file.write(OTHER % version)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", self.path(name), self.path("other.c")],
                       check=True)
        return self.path(name)

    def test_versions_agree(self):
        printed = self.run_ok("""
            import ctypes, os, pprof
            library = ctypes.CDLL(os.environ["PPROF_LIBRARY"])
            library.pprof_version.restype = ctypes.c_char_p
            assert pprof.__version__ == library.pprof_version().decode(), pprof.__version__
            print(pprof.library_path())
        """)
        self.assertEqual(printed.strip(), LIBRARY)

    def test_missing(self):
        words = self.fails(PPROF_LIBRARY="/nowhere/libpprof.so")
        self.assertRegex(words, "^ImportError: .*/nowhere/libpprof.so.*PPROF_LIBRARY.*PPROF_ENABLE")
        copy = self.path("prefix", "lib", "python")
        shutil.copytree(PACKAGE, copy)
        words = self.fails(PPROF_LIBRARY=None, PYTHONPATH=copy)
        self.assertRegex(words, "^ImportError: pprof needs its library, " + SONAME)
        self.assertIn(os.path.join(copy, "pprof"), words)
        self.assertIn(self.path("prefix", "lib"), words)

    def test_not_a_library(self):
        words = self.fails(PPROF_LIBRARY=os.path.abspath(__file__))
        self.assertRegex(words, "^ImportError: .*library_test")

    def test_disabled_needs_none(self):
        self.run_ok("""
            import asyncio, pprof
            pprof.start("missing.yaml")
            with pprof.range("x", category="y") as x:
                x.work(items=1); x.flow(3)
            @pprof.range("f")
            def f(): return 1
            @pprof.device_range("g", 0)
            async def g(): return 2
            assert f() == 1 and asyncio.run(g()) == 2
            pprof.mark("m"); pprof.count("c", 1); pprof.flow(1); pprof.work(tokens=3); pprof.step(1)
            pprof.thread_name("t"); pprof.stream_name("s")
            with pprof.device_range("d"), pprof.begin("b") as b:
                b.work(items=1)
            assert pprof.enabled() is False and pprof.library_path() is None
            try:
                pprof.device_range("d", stream="s")
                raise SystemExit("not refused")
            except TypeError:
                pass
            pprof.stop()
        """, PPROF_LIBRARY="/nowhere/libpprof.so", PPROF_ENABLE="0")
        self.assertEqual(os.listdir(self.folder), ["program.py"])

    def test_beside_the_package(self):
        """As installed: PREFIX/lib/libpprof.so.0 and PREFIX/lib/python/pprof; or in it."""
        copy = self.path("prefix", "lib", "python")
        shutil.copytree(PACKAGE, copy)
        for place in (self.path("prefix", "lib", SONAME), os.path.join(copy, "pprof", SONAME)):
            shutil.copy(LIBRARY, place)
            printed = self.run_ok("import pprof; print(pprof.library_path())", PPROF_LIBRARY=None,
                                  PYTHONPATH=copy)
            self.assertEqual(printed.strip(), place)

    def test_where_the_loader_looks(self):
        os.mkdir(self.path("lib"))
        shutil.copy(LIBRARY, self.path("lib", SONAME))
        printed = self.run_ok("import pprof; print(pprof.library_path())", PPROF_LIBRARY=None,
                              LD_LIBRARY_PATH=self.path("lib"))
        self.assertEqual(printed.strip(), SONAME)

    def test_one_that_is_loaded_is_the_one(self):
        """A process has one session: the package joins the library that others brought."""
        os.mkdir(self.path("lib"))
        copy = shutil.copy(LIBRARY, self.path("lib", SONAME))
        log = self.log_of("""
            import ctypes, os, sys
            theirs = ctypes.CDLL(sys.argv[1], mode=int(sys.argv[2]))
            assert theirs.pprof_start(None, None) == 0
            import pprof
            assert pprof.library_path() == "in this process" and pprof.enabled()
            with pprof.range("joined"):
                pass
            assert theirs.pprof_stop(None) == 0
            assert not pprof.enabled()
        """, copy, str(os.RTLD_LOCAL))
        self.assertEqual(log.select("name"), ["joined"])
        self.run_ok("""
            import ctypes, sys
            theirs = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
            import pprof
            assert pprof.library_path() == "in this process"
        """, copy)

    def test_versions_that_do_not_fit(self):
        for version in ("1.0.0", "0.0.9", "unknown"):
            words = self.fails(PPROF_LIBRARY=self.make(version, "other-%s.so" % version))
            self.assertRegex(words, "^ImportError: .* cannot use the library .*: it is version %s$"
                             % version)

    def test_a_library_without_the_functions(self):
        words = self.fails(PPROF_LIBRARY=self.make("0.2.0", "empty.so"))
        self.assertRegex(words, "^ImportError: .*cannot use the library .*pprof_scope_push_")
        words = self.fails(PPROF_LIBRARY="libc.so.6")
        self.assertRegex(words, "^ImportError: .*cannot use the library libc.so.6: .*pprof_version")


if __name__ == "__main__":
    main()
