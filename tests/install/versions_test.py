#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One version everywhere, and what a release is said to consist of: versions_test.py BASE_H
VERSION_PY CHANGELOG DEBIAN_CHANGELOG SBOM."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BASE_H, VERSION_PY, CHANGELOG, DEBIAN, SBOM = (os.path.abspath(name) for name in sys.argv[1:6])


def first(path, pattern):
    with open(path, encoding="utf-8") as file:
        found = re.search(pattern, file.read(), re.MULTILINE)
    return found and found.group(1)


VERSION = first(BASE_H, r'^#define PPI_VERSION "(.*)"$')


class Versions(unittest.TestCase):
    def test_one_version(self):
        self.assertRegex(VERSION, r"^\d+\.\d+\.\d+$")
        self.assertEqual(first(VERSION_PY, r'^VERSION = "(.*)"$'), VERSION)
        self.assertEqual(first(DEBIAN, r"\Approf \((.*)-\d+\)"), VERSION)

    def test_the_last_release_is_this_version_or_one_before(self):
        released = first(CHANGELOG, r"^## \[(\d.*?)\]")
        if released:
            self.assertLessEqual([int(part) for part in released.split(".")],
                                 [int(part) for part in VERSION.split(".")])

    def sbom(self, *linked):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sum")
            with open(path, "w", encoding="utf-8") as file:
                file.write("00ff  pprof-1.2.3.tar.gz\n")
            return json.loads(subprocess.run([SBOM, "1.2.3", "86400", path, *linked], check=True,
                                             stdout=subprocess.PIPE, text=True).stdout)

    def test_binaries_name_what_is_linked(self):
        found = self.sbom("zlib=1.2.13", "musl=of Zig 0.15.2")
        self.assertEqual([(package["name"], package["versionInfo"]) for package in found["packages"]],
                         [("pprof", "1.2.3"), ("zlib", "1.2.13"), ("musl", "of Zig 0.15.2")])
        self.assertEqual([(relation["relationshipType"], relation["relatedSpdxElement"])
                          for relation in found["relationships"]],
                         [("DESCRIBES", "SPDXRef-pprof"), ("STATIC_LINK", "SPDXRef-zlib"),
                          ("STATIC_LINK", "SPDXRef-musl")])

    def test_parts_are_listed_with_the_checksum(self):
        said = self.sbom()
        own = said["packages"][0]
        self.assertEqual((own["name"], own["versionInfo"], own["packageFileName"]),
                         ("pprof", "1.2.3", "pprof-1.2.3.tar.gz"))
        self.assertEqual(own["checksums"], [{"algorithm": "SHA256", "checksumValue": "00ff"}])
        self.assertEqual(said["creationInfo"]["created"], "1970-01-02T00:00:00Z")
        ids = {package["SPDXID"] for package in said["packages"]} | {"SPDXRef-DOCUMENT"}
        for relation in said["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, ids)
        self.assertIn("SPDXRef-zlib", ids)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
