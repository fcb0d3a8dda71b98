#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a release consists of, and needs, as SPDX 2.3: VERSION SECONDS CHECKSUM_FILE.

Nothing of others is in the archive; what is built from it may hold zlib, libyaml, protobuf-c and Boost's headers
(`./dev install`, the wheel), or ask the system for them (CMake, Debian's packages)."""
import datetime
import json
import sys

# Name, licence, relation to pprof, and purpose.
NEEDS = [
    ("zlib", "Zlib", "DEPENDENCY_OF", "compressed traces and blocks"),
    ("libyaml", "MIT", "DEPENDENCY_OF", "configurations"),
    ("boost-json", "BSL-1.0", "BUILD_DEPENDENCY_OF", "traces of others, in pprof-report"),
    ("protobuf-c", "BSD-2-Clause", "DEPENDENCY_OF", "ONNX models, in pprof-report"),
    ("opencl-headers", "Apache-2.0", "BUILD_DEPENDENCY_OF", "the backend for OpenCL"),
]


def package(name, version, license_id, comment):
    return {"SPDXID": "SPDXRef-" + name, "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": license_id, "licenseDeclared": license_id,
            "copyrightText": "NOASSERTION", "comment": comment}


def relation(one, kind, other):
    return {"spdxElementId": "SPDXRef-" + one, "relationshipType": kind,
            "relatedSpdxElement": "SPDXRef-" + other}


def document(version, seconds, checksum, archive):
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    own = package("pprof", version, "Apache-2.0", "the sources")
    own["packageFileName"] = archive
    own["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": "pprof-" + version,
        "documentNamespace": "https://spdx.org/spdxdocs/pprof-%s-%s" % (version, checksum),
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: tools/sbom.py"]},
        "packages": [own] + [package(name, "NOASSERTION", license_id, use)
                             for name, license_id, _, use in NEEDS],
        "relationships": [relation("DOCUMENT", "DESCRIBES", "pprof")] +
                         [relation(name, kind, "pprof") for name, _, kind, _ in NEEDS],
    }


def main():
    version, seconds, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        checksum, archive = file.read().split()
    print(json.dumps(document(version, int(seconds), checksum, archive), indent=2))


main()
