// SPDX-License-Identifier: Apache-2.0
//
// OpenMP's libraries and Go call the system by instructions of their own.
#include "waits/unseen.h"

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

static int look(struct dl_phdr_info *module, size_t size, void *user) {
  const char **found = user;
  (void)size;
  if (is_openmp(module->dlpi_name))
    *found = strrchr(module->dlpi_name, '/') + 1;
  else if (is_go(module))
    *found = "Go";
  return *found != NULL;
}

const char *ppi_waits_unseen_note(void) {
  static char text[160];
  const char *found = NULL;
  dl_iterate_phdr(look, &found);
  if (!found) return NULL;
  snprintf(text, sizeof text,
           "%.60s calls the system by itself: its waits are not recorded",
           found);
  return text;
}
