// SPDX-License-Identifier: Apache-2.0
//
// Finds runtimes that call the system by instructions of their own.
#include "waits/unseen.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

// OpenMP's libraries and Go call the system by instructions of their own.
static bool is_openmp(const char *path) {
  static const char *const names[] = {"/libgomp.so", "/libomp.so",
                                      "/libiomp5.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strstr(path, names[i])) return true;
  return false;
}

// Go's linker leaves a note of its own, called "Go".
static bool is_go(const struct dl_phdr_info *module) {
  for (size_t i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &module->dlpi_phdr[i];
    const ElfW(Nhdr) *note = (const void *)(module->dlpi_addr + part->p_vaddr);
    if (part->p_type == PT_NOTE && part->p_memsz >= sizeof *note + 4 &&
        note->n_namesz == 4 && memcmp(note + 1, "Go\0\0", 4) == 0)
      return true;
  }
  return false;
}

// Whether code has the number of futex, and the call's instruction behind it: a
// program that calls the system past the C library.
static bool has_own_futex(const char *code, size_t size) {
#if defined(__x86_64__)
  static const char number[] = {(char)0xb8, (char)0xca, 0, 0, 0};
  static const char call[] = {0x0f, 0x05};
#elif defined(__aarch64__)
  static const char number[] = {0x48, 0x0c, (char)0x80, (char)0xd2};
  static const char call[] = {0x01, 0, 0, (char)0xd4};
#else
  static const char number[] = {0, 0}, call[] = {0};
  return false;
#endif
  enum { BEHIND = 64 };
  const char *end = code + size, *at = code + 1;
  if (size < sizeof number) return false;
  // By the number's second byte, which code seldom has: memmem takes ten times
  // as long.
  while ((at = memchr(at, number[1], (size_t)(end - at)))) {
    const char *from = at++ - 1;
    if ((size_t)(end - from) < sizeof number ||
        memcmp(from, number, sizeof number) != 0)
      continue;
    at = from + sizeof number;
    if (memmem(at, PPI_MIN((size_t)(end - at), (size_t)BEHIND), call,
               sizeof call))
      return true;
  }
  return false;
}

static bool has_own_call(const struct dl_phdr_info *module) {
  enum { MOST_SIZE = 16 << 20 };
  for (size_t i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &module->dlpi_phdr[i];
    const char *code = (const char *)(module->dlpi_addr + part->p_vaddr);
    if (part->p_type == PT_LOAD && part->p_flags & PF_X &&
        part->p_flags & PF_R &&
        has_own_futex(code, PPI_MIN(part->p_filesz, (size_t)MOST_SIZE)))
      return true;
  }
  return false;
}

// Of the program itself alone: libraries are many, and large. Once: it stays as
// long as the process, and its forked children have the answer.
static bool is_past_library(const struct dl_phdr_info *module) {
  static enum { UNKNOWN, NO, YES } answer;  // one collector per process
  if (*module->dlpi_name) return false;
  if (answer == UNKNOWN) answer = has_own_call(module) ? YES : NO;
  return answer == YES;
}

typedef struct runtimes {
  char names[96];
  size_t len;
} runtimes;

static int look(struct dl_phdr_info *module, size_t size, void *user) {
  runtimes *to = user;
  const char *name = NULL;
  (void)size;
  if (is_openmp(module->dlpi_name))
    name = strrchr(module->dlpi_name, '/') + 1;
  else if (is_go(module))
    name = "Go";
  else if (is_past_library(module))
    name = program_invocation_short_name;
  if (name && to->len < sizeof to->names)
    to->len += (size_t)snprintf(to->names + to->len, sizeof to->names - to->len,
                                "%s%.40s", to->len ? ", " : "", name);
  return 0;
}

// Only a Python without its lock exports that.
static bool is_free_threaded(void) {
  return dlsym(RTLD_DEFAULT, "_Py_DecRefShared") != NULL;
}

bool ppi_waits_unseen(char *out, size_t size) {
  runtimes of = {"", 0};
  size_t len = 0;
  dl_iterate_phdr(look, &of);
  *out = 0;
  if (of.len)
    len = (size_t)snprintf(
        out, size, "what calls the system by itself is not recorded: %s",
        of.names);
  if (is_free_threaded())
    len += (size_t)snprintf(out + len, size - len,
                            "%sthis Python has no interpreter's lock",
                            len ? "; " : "");
  return len > 0;
}
