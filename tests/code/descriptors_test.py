#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""descriptors_test.py FILE...: who makes descriptors.

A program's standard descriptors may be closed: what takes their numbers is printed to. So the
library makes descriptors in one file, above them, and whatever else makes some (a library's call, a
driver) stands between ppi_fd_stand_in and ppi_fd_stand_down. Not looked for: dlopen, whose files
are closed when it answers; sdk/nvtx loads the next tool by it, whose files are its own.
"""
import re
import sys
import unittest

FILES = sys.argv[1:]
MAKER = "sdk/src/base/descriptor.c"
CALLS = ("open open64 openat openat2 open_by_handle_at creat creat64 socket socketpair eventfd "
         "memfd_create memfd_secret pipe pipe2 dup dup2 dup3 accept accept4 epoll_create "
         "epoll_create1 timerfd_create signalfd inotify_init inotify_init1 fanotify_init "
         "userfaultfd pidfd_open pidfd_getfd perf_event_open fopen fopen64 freopen fdopen opendir "
         "fdopendir tmpfile mkstemp mkostemp mkstemps mkostemps shm_open mq_open posix_openpt "
         "getpt popen gzopen gzdopen openlog syslog getaddrinfo getpwuid getpwuid_r getpwnam "
         "getpwnam_r recvmsg scandir nftw ftw fts_open glob localtime localtime_r tzset "
         "iconv_open setlocale newlocale").split()
CALL = re.compile(r"(?<![\w.>])(%s)\(" % "|".join(CALLS))
BY_NUMBER = re.compile(r"\bSYS_(%s)\b|\bF_DUPFD" % "|".join(CALLS))
STRINGS = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)
BETWEEN = re.compile(r"ppi_fd_stand_in\(\).*?ppi_fd_stand_down\(", re.S)


def makers(text):
    """Calls outside of strings and comments, and of what stands between stand-ins."""
    text = BETWEEN.sub("", STRINGS.sub('""', text))
    return [found.group(0) for found in [*CALL.finditer(text), *BY_NUMBER.finditer(text)]]


class DescriptorsTest(unittest.TestCase):
    def test_one_file_makes_them(self):
        self.assertGreater(len(FILES), 200)
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                found = makers(file.read())
            if path.endswith(MAKER):
                self.assertIn("SYS_openat", found)
            else:
                self.assertEqual(found, [], path)

    def test_others_are_found(self):
        self.assertEqual(makers("int fd = open(path, 0);"), ["open("])
        self.assertEqual(makers("syscall(SYS_memfd_create, 0);"), ["SYS_memfd_create"])
        self.assertEqual(makers("fcntl(1, F_DUPFD_CLOEXEC, 3);"), ["F_DUPFD"])
        self.assertEqual(makers('backend->open(0); x.dup(1); ppi_fd_open("open("); // open(\n'), [])
        inside = "unsigned s = ppi_fd_stand_in();\nnum = scandir(x);\nppi_fd_stand_down(s);"
        self.assertEqual(makers(inside + "\npipe2(ends, 0);"), ["pipe2("])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
