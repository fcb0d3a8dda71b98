// SPDX-License-Identifier: Apache-2.0
//
// Keeps domains, registered strings and named categories. A name has one
// object, however many units of the program ask for it. Lookups take no lock;
// additions take one that refuses signal handlers.
#include "objects.h"

#include <string.h>
#include <sys/mman.h>

#include "settings.h"

#define NUM_STRINGS PPI_NVTX_NUM_STRINGS
#define NUM_STRING_SLOTS (2 * NUM_STRINGS)
#define NUM_SITES (1u << 19)
#define NUM_CATEGORIES 4096u
#define TEXT_SIZE ((size_t)64 << 20)

typedef struct named_category {
  uint32_t used;  // atomic; the rest does not change but `name`
  uint32_t domain, id;
  const char *name;   // atomic
  uint64_t category;  // epoch << 32 | category; atomic
} named_category;

// Address space for all objects that programs may ever register; memory comes
// with use. The strings come first, see ppi_nvtx_strings.
typedef struct store {
  ppi_nvtx_string strings[NUM_STRINGS];
  uint32_t string_slots[NUM_STRING_SLOTS];  // index + 1; atomic
  ppi_nvtx_site sites[NUM_SITES];
  char text[TEXT_SIZE];
} store;

ppi_nvtx_domain ppi_nvtx_domains[PPI_NVTX_NUM_DOMAINS]
    __attribute__((aligned(64)));
_Static_assert(sizeof(ppi_nvtx_domain) == 64, "handles differ by alignment");

uintptr_t ppi_nvtx_strings;

static struct {
  ppi_guard guard;
  store *store;  // atomic
  uint32_t num_strings, num_sites;
  size_t text_used;
  named_category categories[NUM_CATEGORIES];
} objects;

void ppi_nvtx_objects_in_forked_child(void) {
  ppi_guard_give(&objects.guard);
}

// Under the guard.
static store *get_store(void) {
  store *known = __atomic_load_n(&objects.store, __ATOMIC_ACQUIRE);
  if (known) return known;
  void *memory = mmap(NULL, sizeof(store), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  __atomic_store_n(&objects.store, memory, __ATOMIC_RELEASE);
  __atomic_store_n(&ppi_nvtx_strings, (uintptr_t)memory, __ATOMIC_RELEASE);
  return memory;
}

static const char *copy_locked(const char *text, size_t len) {
  store *in = get_store();
  if (!in || len + 1 > TEXT_SIZE - objects.text_used) return NULL;
  char *copy = in->text + objects.text_used;
  memcpy(copy, text, len);
  objects.text_used += len + 1;
  return copy;
}

const char *ppi_nvtx_copy(const char *text, size_t len) {
  if (!ppi_guard_take(&objects.guard)) return NULL;
  const char *copy = copy_locked(text, len);
  ppi_guard_give(&objects.guard);
  return copy;
}

// Once for each domain: a thread with its handle needs no acquire.
static bool make_domain(ppi_nvtx_domain *domain, uint32_t number,
                        const char *name) {
  if (!ppi_guard_take(&objects.guard)) return false;
  bool made = domain->number != 0;
  if (!made && (domain->name = copy_locked(name, strlen(name)))) {
    made = true;
    // Pairs with the acquire here and in ppi_nvtx_domain_of.
    __atomic_store_n(&domain->number, number, __ATOMIC_RELEASE);
  }
  ppi_guard_give(&objects.guard);
  return made;
}

ppi_nvtx_domain *ppi_nvtx_domain_create(const char *name, bool *out_first) {
  uint32_t number = pprof_inject_domain_(name);
  if (number == 0 || number >= PPI_NVTX_NUM_DOMAINS) return NULL;
  ppi_nvtx_domain *domain = &ppi_nvtx_domains[number];
  if (!__atomic_load_n(&domain->number, __ATOMIC_ACQUIRE) &&
      !make_domain(domain, number, name))
    return NULL;
  *out_first = __atomic_fetch_add(&domain->users, 1, __ATOMIC_RELAXED) <= 0;
  __atomic_store_n(&domain->category, PPI_NVTX_RESOLVE, __ATOMIC_RELAXED);
  return domain;
}

static uint32_t hash_of(const ppi_nvtx_domain *domain, const char *text,
                        size_t len) {
  uint64_t hash = 0xcbf29ce484222325u ^ domain->number;
  for (size_t i = 0; i < len; i++)
    hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
  return (uint32_t)(hash ^ hash >> 32) % NUM_STRING_SLOTS;
}

static ppi_nvtx_string *find_string(store *in, const ppi_nvtx_domain *domain,
                                    const char *text, size_t len,
                                    uint32_t *out_at) {
  uint32_t at = hash_of(domain, text, len);
  for (;; at = (at + 1) % NUM_STRING_SLOTS) {
    uint32_t index = in->string_slots[at];
    *out_at = at;
    if (index == 0) return NULL;
    ppi_nvtx_string *string = &in->strings[index - 1];
    if (string->domain == domain && strncmp(string->text, text, len) == 0 &&
        string->text[len] == 0)
      return string;
  }
}

static ppi_nvtx_string *register_locked(ppi_nvtx_domain *domain,
                                        const char *text) {
  store *in = get_store();
  uint32_t at;
  if (!in) return NULL;
  size_t len = pprof_inject_name_len_(text);
  ppi_nvtx_string *known = find_string(in, domain, text, len, &at);
  if (known) return known;
  if (objects.num_strings == NUM_STRINGS) return NULL;
  const char *copy = copy_locked(text, len);
  if (!copy) return NULL;
  ppi_nvtx_string *string = &in->strings[objects.num_strings];
  string->domain = domain;
  // Pairs with the acquire in ppi_nvtx_string_of.
  __atomic_store_n(&string->text, copy, __ATOMIC_RELEASE);
  in->string_slots[at] = ++objects.num_strings;
  return string;
}

ppi_nvtx_string *ppi_nvtx_string_register(ppi_nvtx_domain *domain,
                                          const char *text) {
  if (!ppi_guard_take(&objects.guard)) return NULL;
  ppi_nvtx_string *string = register_locked(domain, text);
  ppi_guard_give(&objects.guard);
  return string;
}

static ppi_nvtx_site *find_site(const ppi_nvtx_string *string, uint64_t style) {
  ppi_nvtx_site *at = __atomic_load_n(&string->sites, __ATOMIC_ACQUIRE);
  for (; at; at = at->next)
    if (ppi_nvtx_site_style(at) == style) return at;
  return NULL;
}

static ppi_nvtx_site *add_site(ppi_nvtx_string *string, uint64_t style) {
  ppi_nvtx_site *known = find_site(string, style);
  if (known || objects.num_sites == NUM_SITES) return known;
  ppi_nvtx_site *added = &objects.store->sites[objects.num_sites++];
  added->site = (pprof_site){string->text,
                             (uint32_t)style,
                             (uint32_t)(style >> 32),
                             0,
                             {PPROF_SITE_NVTX_, (uintptr_t)&added->numbers}};
  added->next = string->sites;
  __atomic_store_n(&string->sites, added, __ATOMIC_RELEASE);
  return added;
}

pprof_site *ppi_nvtx_string_find(ppi_nvtx_string *string, uint64_t style) {
  ppi_nvtx_site *found = find_site(string, style);
  if (!found && ppi_guard_take(&objects.guard)) {
    found = add_site(string, style);
    ppi_guard_give(&objects.guard);
  }
  return found ? &found->site : NULL;
}

static named_category *find_category(uint32_t domain, uint32_t id) {
  uint32_t at = (id * 0x9e3779b9u ^ domain * 0x85ebca6bu) % NUM_CATEGORIES;
  for (uint32_t i = 0; i < NUM_CATEGORIES; i++) {
    named_category *found = &objects.categories[(at + i) % NUM_CATEGORIES];
    if (!__atomic_load_n(&found->used, __ATOMIC_ACQUIRE)) return found;
    if (found->domain == domain && found->id == id) return found;
  }
  return NULL;
}

static void name_locked(uint32_t domain, uint32_t id, const char *name) {
  named_category *found = find_category(domain, id);
  size_t len = strnlen(name, 255);
  if (!found) return;
  const char *known = found->used ? found->name : NULL;
  if (known && strcmp(known, name) == 0) return;
  const char *copy = copy_locked(name, len);
  if (!copy) return;
  __atomic_store_n(&found->name, copy, __ATOMIC_RELAXED);
  __atomic_store_n(&found->category, 0, __ATOMIC_RELEASE);
  found->domain = domain;
  found->id = id;
  __atomic_store_n(&found->used, 1, __ATOMIC_RELEASE);
}

void ppi_nvtx_category_name(ppi_nvtx_domain *domain, uint32_t id,
                            const char *name) {
  if (!ppi_guard_take(&objects.guard)) return;
  name_locked(domain->number, id, name);
  __atomic_store_n(&domain->recent[id % 4], 0, __ATOMIC_RELEASE);
  ppi_guard_give(&objects.guard);
}

static void look_at_settings(void) {
  if (PPI_NVTX_SETTING(device))
    __atomic_fetch_or(&ppi_nvtx_extras, PPI_NVTX_TIMED, __ATOMIC_RELAXED);
  else
    __atomic_fetch_and(&ppi_nvtx_extras, ~(uint32_t)PPI_NVTX_TIMED,
                       __ATOMIC_RELAXED);
}

static uint32_t resolve_named(named_category *named, const char *domain,
                              uint32_t epoch) {
  uint64_t known = __atomic_load_n(&named->category, __ATOMIC_RELAXED);
  if (known >> 32 == epoch) return (uint32_t)known;
  uint32_t found = pprof_inject_category_(
      domain, __atomic_load_n(&named->name, __ATOMIC_ACQUIRE));
  __atomic_store_n(&named->category, (uint64_t)epoch << 32 | found,
                   __ATOMIC_RELAXED);
  return found;
}

// A session's settings are read when its first epoch is met.
uint32_t ppi_nvtx_category_resolve(ppi_nvtx_domain *domain, uint32_t id,
                                   uint32_t epoch) {
  uint64_t known = __atomic_load_n(&domain->category, __ATOMIC_RELAXED) - 1;
  bool destroyed =
      domain->number && __atomic_load_n(&domain->users, __ATOMIC_RELAXED) <= 0;
  if (known >> 32 != epoch) {
    look_at_settings();
    known = (uint64_t)epoch << 32 | pprof_inject_category_(domain->name, NULL);
    __atomic_store_n(&domain->category,
                     destroyed ? PPI_NVTX_RESOLVE : known + 1,
                     __ATOMIC_RELAXED);
  }
  if (destroyed) pprof_inject_bad_();  // its events are kept all the same
  uint32_t category = (uint32_t)known;
  named_category *named = id ? find_category(domain->number, id) : NULL;
  if (named && __atomic_load_n(&named->used, __ATOMIC_ACQUIRE))
    category = resolve_named(named, domain->name, epoch);
  if (id && category <= 0xffff)
    __atomic_store_n(&domain->recent[id % 4],
                     (uint64_t)id << 32 | category << 16 | (uint16_t)epoch,
                     __ATOMIC_RELAXED);
  return category;
}
