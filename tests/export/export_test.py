#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verb itself: which formats there are, where the file goes, what is said of what is left
out."""
import os
import stat

import export_case


class Export(export_case.Case):

    def formats(self):
        lines = self.export("--list")[0].decode().splitlines()[1:]
        self.assertLessEqual(max(map(len, lines)), 100)
        return [line.split()[0] for line in lines if line[0] != " "]

    def files(self):
        """Those formats that are one file, and need nothing that Debian has not."""
        return [name for name in self.formats() if name != "parquet"]

    def fails(self, code, words, *options):
        done = self.call("export", *options)
        self.assertEqual(code, done.returncode)
        self.assertIn(words, done.stderr.decode())
        self.assertEqual(b"", done.stdout)

    def test_each_format_has_a_row_in_the_document(self):
        with open("docs/page.md", encoding="utf-8") as file:
            formats = file.read().split("\n## Formats")[1]
        rows = [line.split("|") for line in formats.splitlines() if line.startswith("| `")]
        named = {row[1].strip(" `"): [cell.strip() for cell in row[2:-1]] for row in rows}
        self.assertIn("folded", named)
        self.assertEqual(sorted(self.formats()), sorted(named))
        for name, cells in named.items():
            self.assertEqual(4, len(cells), name)
            self.assertNotIn("", cells, name)

    def test_usage(self):
        self.fails(2, "there is no format 'foldd' (did you mean 'folded'?)", "foldd", "rich.pplog")
        self.fails(2, "there is no format 'xyzzy'; see pprof-report export --list", "xyzzy",
                   "rich.pplog")
        self.fails(2, "'export' needs FORMAT LOG...", "folded")
        self.fails(2, "needs a name: --output FILE", "folded", "rich.pplog", "other.pplog")

    def test_name_and_mode(self):
        for name in self.files():
            folder = self.path("named." + name)
            os.mkdir(folder)
            os.link(self.path("rich.pplog"), os.path.join(folder, "run.pplog"))
            self.export(name, os.path.join(folder, "run.pplog"))
            made = [found for found in os.listdir(folder) if found != "run.pplog"]
            self.assertEqual(1, len(made), made)
            self.assertTrue(made[0].startswith("run."), made)
            mask = os.umask(0)
            os.umask(mask)
            mode = stat.S_IMODE(os.stat(os.path.join(folder, made[0])).st_mode)
            self.assertEqual(0o666 & ~mask, mode, name)

    def test_a_file_that_is_there_stays(self):
        path = self.path("mine")
        with open(path, "w") as file:
            file.write("mine")
        for name in self.files():
            self.fails(2, "mine: exists; --force overwrites it", name, "rich.pplog", "-o", "mine")
            self.fails(3, "no_log", name, "no_log.pplog", "-o", "mine", "--force")
            with open(path) as file:
                self.assertEqual("mine", file.read())
        self.assertFalse(os.path.exists(path + ".part"))
        self.fails(2, "is an input", "folded", "rich.pplog", "-o", "rich.pplog", "--force")
        self.export("folded", "rich.pplog", "-o", "mine", "--force")
        with open(path) as file:
            self.assertIn("serve;infer", file.read())

    def test_parquet_is_a_folder_that_duckdb_writes(self):
        self.fails(2, "parquet is a folder: --output FOLDER", "parquet", "rich.pplog", "-o", "-")
        libraries = {"/no/such/file": "/no/such/file: cannot open", "libm.so.6": "no DuckDB"}
        for library, words in libraries.items():
            os.environ["PPROF_DUCKDB"] = library
            self.addCleanup(os.environ.pop, "PPROF_DUCKDB", None)
            self.fails(2, words, "parquet", "rich.pplog", "-o", "fleet")
            self.assertFalse(os.path.exists(self.path("fleet")))

    def test_cannot_write(self):
        for name in self.files():
            self.fails(2, "gone", name, "rich.pplog", "-o", "gone/x")
        if os.path.exists("/dev/full"):
            self.fails(2, "/dev/full: cannot write", "folded", "rich.pplog", "-o", "/dev/full")

    def test_a_run_counts_once(self):
        once, _ = self.export("folded", "rich.pplog", "-o", "-")
        twice, said = self.export("folded", "rich.pplog", "./rich.pplog", "-o", "-")
        self.assertEqual(once, twice)
        self.assertIn("counts once", said)

    def test_what_is_left_out_is_said(self):
        _, said = self.export("folded", "rich.pplog", "-o", "-")
        self.assertEqual(
            "pprof-report: folded has no place for: 1 marks, 2 counter values, "
            "3 ranges that end anywhere, as steps do, 4 submissions of device ranges, "
            "1 device ranges without a time, 2 requests of ranges, 1 amounts of work, "
            "1 uses of the CPU, 1 attributes of ranges\n", said)

    def test_damaged(self):
        with open(self.path("rich.pplog"), "rb") as file:
            whole = file.read()
        with open(self.path("half.pplog"), "wb") as file:
            file.write(whole[:len(whole) // 2])
        for name in self.files():
            done = self.call("export", name, "half.pplog", "-o", "half." + name)
            self.assertIn(done.returncode, (3, 4), name)
            self.assertEqual(done.returncode == 4, os.path.exists(self.path("half." + name)))


export_case.main()
