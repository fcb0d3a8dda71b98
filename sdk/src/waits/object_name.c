// SPDX-License-Identifier: Apache-2.0
//
// Names an object by _dl_find_object (glibc 2.35), which takes no lock, and by
// the exported symbols of a module. Elsewhere an object is named by its kind.
#include "waits/object_name.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>

// As in dlfcn.h of glibc 2.35, which an older one lacks.
typedef struct found_module {
  unsigned long long flags;
  void *start, *end;
  struct link_map *map;
  void *frames;
  unsigned long long reserved[7];
} found_module;
typedef int (*find_function)(void *address, found_module *out);

static find_function find_object;

// Where CPython waits for the lock of an interpreter, once that is known: those
// of sub-interpreters (3.12) are not in its runtime's own memory.
static const void *interpreter_waits_at;

// To find a name takes long in a module of many symbols: once for each place.
#define NUM_PLACES 1024u  // 2 to the 10th
static struct {
  uintptr_t caller;
  char name[80];
} places[NUM_PLACES];

static const char *const kinds[PPI_NUM_WAIT_KINDS] = {
    [PPI_WAIT_MUTEX] = "a mutex",
    [PPI_WAIT_RWLOCK] = "a read-write lock",
    [PPI_WAIT_CONDITION] = "a condition",
    [PPI_WAIT_SEMAPHORE] = "a semaphore",
    [PPI_WAIT_JOIN] = "the end of a thread",
    [PPI_WAIT_BARRIER] = "a barrier",
    [PPI_WAIT_FUTEX] = "an atomic",
};

void ppi_object_names_begin(void) {
  void *symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
  memcpy(&find_object, &symbol, sizeof symbol);
}

// ---- a module's exported symbols ----

typedef struct symbols {
  const ElfW(Sym) * all;
  const char *texts;
  const uint32_t *hash;
} symbols;

// Chains stand behind the buckets, in the order of the symbols; the last of one
// has its low bit set.
static uint32_t num_of(const uint32_t *hash) {
  uint32_t num = hash[0], first = hash[1], last = 0;
  const uint32_t *buckets = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / 4);
  for (uint32_t i = 0; i < num; i++)
    if (buckets[i] > last) last = buckets[i];
  if (last < first) return first;
  while (!(buckets[num + last - first] & 1)) last++;
  return last + 1;
}

static symbols symbols_of(const struct link_map *map) {
  symbols found = {NULL, NULL, NULL};
  for (const ElfW(Dyn) *at = map->l_ld; at && at->d_tag != DT_NULL; at++) {
    const void *value = (const void *)at->d_un.d_ptr;
    if (at->d_tag == DT_SYMTAB) found.all = value;
    if (at->d_tag == DT_STRTAB) found.texts = value;
    if (at->d_tag == DT_GNU_HASH) found.hash = value;
  }
  return found;
}

static const char *symbol_at(const struct link_map *map, uintptr_t address) {
  symbols found = symbols_of(map);
  if (!found.all || !found.texts || !found.hash) return NULL;
  for (uint32_t i = num_of(found.hash); i-- > 0;) {
    const ElfW(Sym) *symbol = &found.all[i];
    uintptr_t start = map->l_addr + symbol->st_value;
    if (symbol->st_shndx != SHN_UNDEF && address >= start &&
        address - start < symbol->st_size)
      return found.texts + symbol->st_name;
  }
  return NULL;
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// The program's own module has no name there.
static const char *module_name(const struct link_map *map) {
  return map->l_name && map->l_name[0] ? base_of(map->l_name)
                                       : program_invocation_short_name;
}

// ---- names ----

// A nested C++ name of plain parts, `_ZNSt6thread4joinEv`, as its text. Others
// stay unchanged, because full demangling allocates.
static void write_symbol(const char *symbol, char *out, size_t size) {
  const char *at = symbol;
  size_t len = 0;
  bool is_nested = strncmp(at, "_ZN", 3) == 0;
  at += is_nested ? 3 + (at[3] == 'K') : 0;
  if (is_nested && strncmp(at, "St", 2) == 0) {
    len = (size_t)snprintf(out, size, "std");
    at += 2;
  }
  while (is_nested && *at >= '1' && *at <= '9') {
    char *part;
    size_t num = strtoul(at, &part, 10);
    if (strnlen(part, num) < num || len + num + 3 > size) break;
    len += (size_t)snprintf(out + len, size - len, "%s%.*s", len ? "::" : "",
                            (int)num, part);
    at = part + num;
  }
  if (!is_nested || *at != 'E') snprintf(out, size, "%s", symbol);
}

static void write_place(uintptr_t caller, char *out, size_t size) {
  found_module module;
  out[0] = 0;
  if (!find_object || find_object((void *)caller, &module) != 0) return;
  const char *symbol = symbol_at(module.map, caller);
  if (symbol && strncmp(symbol, "PyThread_acquire_lock", 21) == 0)
    snprintf(out, size, PPI_WAIT_PYTHON_NAME);
  else if (symbol)
    write_symbol(symbol, out, size);
  else
    snprintf(out, size, "%s+0x%lx", module_name(module.map),
             (unsigned long)(caller - module.map->l_addr));
}

static const char *place_name(uintptr_t caller) {
  size_t i = (uint64_t)caller * UINT64_C(0x9e3779b97f4a7c15) >> 54;
  if (places[i].caller != caller) {
    places[i].caller = caller;
    write_place(caller, places[i].name, sizeof places[i].name);
  }
  return places[i].name;
}

bool ppi_object_describe(uintptr_t address, ppi_wait_kind kind,
                         const void *caller, char *out, size_t size) {
  found_module module;
  // A wait for input from outside has its call's name at its address.
  if (kind == PPI_WAIT_IDLE) {
    snprintf(out, size, "%s", (const char *)address);
    return false;
  }
  const char *symbol = NULL;
  if (find_object && kind != PPI_WAIT_JOIN &&
      find_object((void *)address, &module) == 0)
    symbol = symbol_at(module.map, address);
  if (symbol && strcmp(symbol, "_PyRuntime") == 0) {
    interpreter_waits_at = caller;
    snprintf(out, size, PPI_WAIT_INTERPRETER_NAME);
    return true;
  }
  if (caller && caller == interpreter_waits_at) {
    snprintf(out, size, "a sub-interpreter's lock");
    return true;
  }
  const char *place = symbol ? "" : place_name((uintptr_t)caller);
  if (symbol)
    write_symbol(symbol, out, size);
  else if (strcmp(place, PPI_WAIT_PYTHON_NAME) == 0)
    snprintf(out, size, "%s", place);
  else
    snprintf(out, size, "%s%s%s", kinds[kind], *place ? " at " : "", place);
  return false;
}
