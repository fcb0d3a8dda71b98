#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""symbols_test.py LIBRARY...: what the shared libraries ask of the system.

Calls that read a setuid program's environment, reach a network, run programs,
end the process or write past a buffer are not among what they import.
"""
import subprocess
import sys
import unittest

LIBRARIES = sys.argv[1:]
ENVIRONMENT = {"getenv", "__getenv"}
# Not sendmsg: the control socket, of the local kind, passes a descriptor by it.
NETWORK = {"getaddrinfo", "gethostbyname", "gethostbyname_r", "inet_addr",
           "inet_aton", "inet_pton", "res_query", "sendto", "recvfrom",
           "recvmsg", "if_nametoindex"}
PROGRAMS = {"system", "popen", "fork", "vfork", "clone", "posix_spawn",
            "posix_spawnp", "execl", "execlp", "execv", "execve", "execvp",
            "execvpe", "fexecve"}
# Not __assert_fail: libyaml, which may be linked into it, asserts that it was
# given pointers.
ENDS = {"exit", "_exit", "_Exit", "quick_exit", "abort"}
UNBOUNDED = {"gets", "sprintf", "vsprintf", "stpcpy", "scanf", "mktemp",
             "tmpnam", "tempnam", "tmpfile"}


def imports(library):
    text = subprocess.run(["nm", "-D", "--undefined-only", library],
                          check=True, stdout=subprocess.PIPE).stdout.decode()
    return {line.split()[-1].split("@")[0] for line in text.splitlines()}


class SymbolsTest(unittest.TestCase):
    def test_imports(self):
        for library in LIBRARIES:
            found = imports(library)
            self.assertGreater(len(found), 10, library)
            for group in [ENVIRONMENT, NETWORK, PROGRAMS, ENDS, UNBOUNDED]:
                self.assertEqual(set(), found & group, library)

    def test_the_environment_is_read_safely(self):
        self.assertIn("secure_getenv", imports(LIBRARIES[0]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
