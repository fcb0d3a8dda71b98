// SPDX-License-Identifier: Apache-2.0
//
// OpenMP's libraries and Go call the system by instructions of their own.
#include "waits/unseen.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

typedef struct found {
  char names[96];
  size_t len;
} found;

static int look(struct dl_phdr_info *module, size_t size, void *user) {
  found *to = user;
  const char *name = NULL;
  (void)size;
  if (is_openmp(module->dlpi_name))
    name = strrchr(module->dlpi_name, '/') + 1;
  else if (is_go(module))
    name = "Go";
  if (name && to->len < sizeof to->names)
    to->len += (size_t)snprintf(to->names + to->len, sizeof to->names - to->len,
                                "%s%.40s", to->len ? ", " : "", name);
  return 0;
}

// Only Python without its lock exports that.
static bool is_free_threaded(void) {
  return dlsym(RTLD_DEFAULT, "_Py_DecRefShared") != NULL;
}

bool ppi_waits_unseen(char *out, size_t size) {
  found of = {"", 0};
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
