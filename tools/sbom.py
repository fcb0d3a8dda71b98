#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a release consists of, and needs, as SPDX 2.3: VERSION SECONDS CHECKSUM_FILE [NAME=VERSION...].

Nothing of others is in the archive: it needs the libraries below, in any version. The wheel and the
static pprof-report contain the named ones, in these versions."""
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
# Only binaries contain them.
RUNTIMES = [
    ("libcxx", "Apache-2.0 WITH LLVM-exception", "", "C++, as Zig brings it"),
    ("musl", "MIT", "", "the C library, as Zig brings it"),
]


def package(name, version, license_id, comment):
    return {"SPDXID": "SPDXRef-" + name, "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": license_id, "licenseDeclared": license_id,
            "copyrightText": "NOASSERTION", "comment": comment}


def relation(one, kind, other):
    return {"spdxElementId": "SPDXRef-" + one, "relationshipType": kind,
            "relatedSpdxElement": "SPDXRef-" + other}


def document(version, seconds, checksum, archive, linked):
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    others = NEEDS if not linked else [part for part in NEEDS + RUNTIMES if part[0] in linked]
    own = package("pprof", version, "Apache-2.0", "the binaries" if linked else "the sources")
    own["packageFileName"] = archive
    own["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": "pprof-" + version,
        "documentNamespace": "https://spdx.org/spdxdocs/pprof-%s-%s" % (version, checksum),
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: tools/sbom.py"]},
        "packages": [own] + [package(name, linked.get(name, "NOASSERTION"), license_id, use)
                             for name, license_id, _, use in others],
        "relationships": [relation("DOCUMENT", "DESCRIBES", "pprof")] +
                         [relation("pprof", "STATIC_LINK", name) if linked else
                          relation(name, kind, "pprof") for name, _, kind, _ in others],
    }


def main():
    version, seconds, path = sys.argv[1:4]
    linked = dict(word.split("=", 1) for word in sys.argv[4:])
    with open(path, encoding="utf-8") as file:
        checksum, archive = file.read().split()
    print(json.dumps(document(version, int(seconds), checksum, archive, linked), indent=2))


main()
