// SPDX-License-Identifier: Apache-2.0
//
// Interning names. Readers of the hash table see an entry only after its
// definition was published in the spool.
#include "names.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "guard.h"

#define TABLE_SIZE (2 * PPI_MAX_SITES)

struct ppi_names {
  ppi_spool *spool;
  pthread_mutex_t mutex;
  uint32_t num_sites;
  uint32_t other;  // id of `<other>`, 0 until needed
  uint64_t categories_defined[PPI_MAX_CATEGORIES / 64 + 2];
  uint64_t table[TABLE_SIZE];           // {hash:32, id:32}, 0 = empty
  uint64_t offsets[PPI_MAX_SITES + 2];  // of a site's record, by id
};

// Names of the whole process, numbered in their order. They come from memory of
// their own: a signal handler may have interrupted the heap.
typedef struct name_list {
  ppi_guard guard;
  uint32_t num, max;
  size_t used;
  const char **names;
  char text[65536];
} name_list;

static const char *category_names[PPI_MAX_CATEGORIES];
static name_list registered = {.max = PPI_MAX_CATEGORIES,
                               .names = category_names};
static const char *domain_names[PPI_MAX_DOMAINS];
static name_list domains = {.max = PPI_MAX_DOMAINS, .names = domain_names};

static const char *name_at(const name_list *list, uint32_t index) {
  return index < __atomic_load_n(&list->num, __ATOMIC_ACQUIRE)
             ? list->names[index]
             : NULL;
}

// The number of the name, from 1; 0 when it is new and there is no room.
static uint32_t number_locked(name_list *list, const char *name) {
  for (uint32_t i = 0; i < list->num; i++)
    if (strcmp(list->names[i], name) == 0) return i + 1;
  size_t size = strlen(name) + 1;
  if (list->num == list->max || size > sizeof list->text - list->used) return 0;
  char *copy = list->text + list->used;
  memcpy(copy, name, size);
  list->used += size;
  list->names[list->num] = copy;
  // Pairs with the acquire in name_at.
  __atomic_store_n(&list->num, list->num + 1, __ATOMIC_RELEASE);
  return list->num;
}

static uint32_t number_of(name_list *list, const char *name) {
  if (!ppi_guard_take(&list->guard)) return 0;
  uint32_t number = number_locked(list, name);
  ppi_guard_give(&list->guard);
  return number;
}

static const char *const builtin_categories[] = {
    "UserDefined",   "ProfileStep",  "Dataloader",    "Forward",
    "Backward",      "Optimization", "Communication", "Operator",
    "OperatorInner", "CudaRuntime",  "PythonOp",      "PythonUserDefined",
    "Preprocess",    "Inference",    "Postprocess",   "CpuTask",
    "Memory",        "Kernel",       "Memcpy",        "Memset",
};
#define NUM_BUILTIN (sizeof builtin_categories / sizeof *builtin_categories)

const char *ppi_category_name(uint32_t category) {
  if (category < NUM_BUILTIN) return builtin_categories[category];
  const char *name =
      category >= PPROF_CATEGORY_FIRST_REGISTERED
          ? name_at(&registered, category - PPROF_CATEGORY_FIRST_REGISTERED)
          : NULL;
  return name ? name : "UserDefined";
}

uint32_t pprof_category_register(const char *name) {
  if (!name) return PPROF_CATEGORY_USER_DEFINED;
  for (uint32_t i = 0; i < NUM_BUILTIN; i++)
    if (strcmp(builtin_categories[i], name) == 0) return i;
  uint32_t number = number_of(&registered, name);
  return number ? PPROF_CATEGORY_FIRST_REGISTERED + number - 1
                : PPROF_CATEGORY_USER_DEFINED;
}

uint32_t ppi_category_find(const char *name) {
  for (uint32_t i = 0; i < NUM_BUILTIN; i++)
    if (ppi_same_words(builtin_categories[i], name)) return i;
  return pprof_category_register(name);
}

static char next_letter(const char **at) {
  while (**at == '_' || **at == '-' || **at == ' ') (*at)++;
  char letter = **at;
  if (letter) (*at)++;
  return letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
}

bool ppi_same_words(const char *a, const char *b) {
  for (;;) {
    char x = next_letter(&a);
    if (x != next_letter(&b)) return false;
    if (!x) return true;
  }
}

uint32_t ppi_domain_number(const char *name) {
  return number_of(&domains, name);
}

const char *ppi_domain_name(uint32_t number) {
  const char *name = number ? name_at(&domains, number - 1) : NULL;
  return name ? name : "";
}

void ppi_names_in_forked_child(void) {
  ppi_guard_give(&registered.guard);
  ppi_guard_give(&domains.guard);
}

pprof_status ppi_names_create(ppi_spool *spool, ppi_names **out) {
  // Pages of the tables come into being as names do.
  void *memory = mmap(NULL, sizeof(ppi_names), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return PPROF_STATUS_NO_MEMORY;
  ppi_names *names = memory;
  names->spool = spool;
  pthread_mutex_init(&names->mutex, NULL);
  *out = names;
  return PPROF_STATUS_OK;
}

void ppi_names_destroy(ppi_names *names) {
  if (names) munmap(names, sizeof *names);
}

static uint8_t *area(const ppi_spool *spool) {
  return spool->base + spool->header->names_offset;
}

// Of a name that is too long, as much as fits without half a UTF-8 character.
size_t ppi_names_kept(const char *name) {
  size_t len = strnlen(name, PPI_MAX_NAME + 1);
  if (len <= PPI_MAX_NAME) return len;
  for (len = PPI_MAX_NAME; len > PPI_MAX_NAME - 3; len--)
    if (((unsigned char)name[len] & 0xc0u) != 0x80u) break;
  return len;
}

// Appends one record under the mutex and publishes it by the one release
// store. Answers its offset + 1, or 0 when there is no room.
static uint64_t append(ppi_names *names, const pprof_definition *definition,
                       const char *value) {
  ppi_spool_header *header = names->spool->header;
  size_t name_len = ppi_names_kept(definition->name);
  size_t value_len = value ? PPI_MIN(strlen(value), (size_t)32768) : 0;
  uint64_t offset = header->names_end;
  uint64_t size = sizeof(ppi_definition_record) + name_len + 1 +
                  (value ? value_len + 1 : 0);
  size = (size + 7) & ~7ull;
  if (offset + size > header->names_size) return 0;
  ppi_definition_record *record = (void *)(area(names->spool) + offset);
  record->size = (uint32_t)size;
  record->kind = (uint32_t)definition->kind;
  record->id = definition->id;
  record->parent = definition->parent;
  record->number = definition->number;
  record->color = definition->color;
  record->name_len = (uint32_t)name_len;
  memcpy(record->name, definition->name, name_len);
  record->name[name_len] = 0;
  if (value) {
    memcpy(record->name + name_len + 1, value, value_len);
    record->name[name_len + 1 + value_len] = 0;
  }
  // Pairs with the acquire of whoever walks the area.
  __atomic_store_n(&header->names_end, offset + size, __ATOMIC_RELEASE);
  return offset + 1;
}

static const ppi_definition_record *record_of(const ppi_names *names,
                                              uint32_t id) {
  return (const void *)(area(names->spool) + names->offsets[id]);
}

static bool same(const ppi_definition_record *record, const char *name,
                 size_t name_len, uint32_t category) {
  return record->parent == category && record->name_len == name_len &&
         memcmp(record->name, name, name_len) == 0;
}

const char *ppi_names_text_of(const ppi_names *names, uint32_t id) {
  return id && id <= PPI_MAX_SITES ? record_of(names, id)->name : NULL;
}

static uint64_t load(const char *at, size_t size) {
  uint64_t word = 0;
  memcpy(&word, at, size);
  return word;
}

// Up to eight bytes; no call, whatever their number.
static uint64_t load_rest(const char *at, size_t left) {
  if (left == 8) return load(at, 8);
  if (left >= 4) return load(at, 4) << 32 | load(at + left - 4, 4);
  if (left == 0) return 0;
  return load(at, 1) << 16 | load(at + left / 2, 1) << 8 |
         load(at + left - 1, 1);
}

// Every bit of the factors reaches every bit of the result.
static uint64_t fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

// Of the whole name, sixteen bytes at a time, as in wyhash.
static uint32_t hash_of(const char *name, size_t name_len, uint32_t category) {
  const uint64_t key = 0x9fb21c651e98df25u;
  uint64_t hash = 0x9e3779b97f4a7c15u ^ category;
  size_t left = name_len;
  for (; left > 16; name += 16, left -= 16)
    hash = fold(load(name, 8) ^ key, load(name + 8, 8) ^ hash);
  if (left > 8)
    hash = fold(load(name, 8) ^ key, load(name + left - 8, 8) ^ hash);
  else
    hash = fold(load_rest(name, left) ^ key, hash);
  return (uint32_t)fold(hash, key ^ name_len);
}

// The slot of the name, or the empty one where it belongs.
static uint32_t find(const ppi_names *names, const char *name, size_t name_len,
                     uint32_t category, uint32_t *out_at) {
  uint32_t hash = hash_of(name, name_len, category);
  uint32_t at = hash % TABLE_SIZE;
  for (;; at = (at + 1) % TABLE_SIZE) {
    uint64_t entry = __atomic_load_n(&names->table[at], __ATOMIC_ACQUIRE);
    *out_at = at;
    if (entry == 0) return 0;
    if ((uint32_t)(entry >> 32) != hash) continue;
    uint32_t id = (uint32_t)entry;
    if (same(record_of(names, id), name, name_len, category)) return id;
  }
}

static void define_category(ppi_names *names, uint32_t category) {
  uint64_t *word = &names->categories_defined[category / 64];
  if (*word & 1ull << category % 64) return;
  pprof_definition definition = {PPROF_DEFINITION_CATEGORY,  category, 0, 0, 0,
                                 ppi_category_name(category)};
  if (append(names, &definition, NULL)) *word |= 1ull << category % 64;
}

static uint32_t add_site(ppi_names *names, const pprof_definition *wanted) {
  define_category(names, wanted->parent);
  pprof_definition definition = *wanted;
  definition.id = names->num_sites + 1;
  uint64_t offset = append(names, &definition, NULL);
  if (!offset) return 0;
  names->num_sites++;
  names->offsets[definition.id] = offset - 1;
  return definition.id;
}

static uint32_t other_site(ppi_names *names) {
  __atomic_fetch_add(&names->spool->header->names_overflowed, 1,
                     __ATOMIC_RELAXED);
  return names->other;
}

static uint32_t intern_locked(ppi_names *names, const char *name,
                              uint32_t category, uint32_t color) {
  size_t name_len = ppi_names_kept(name);
  uint32_t at;
  uint32_t id = find(names, name, name_len, category, &at);
  if (id) return id;
  if (!names->other) {
    pprof_definition other = {PPROF_DEFINITION_SITE, 0, 0, 0, 0, "<other>"};
    names->other = add_site(names, &other);
  }
  if (names->num_sites >= PPI_MAX_SITES) return other_site(names);
  pprof_definition wanted = {
      PPROF_DEFINITION_SITE, 0, category, color, 0, name};
  id = add_site(names, &wanted);
  if (!id) return other_site(names);
  uint64_t entry = (uint64_t)hash_of(name, name_len, category) << 32 | id;
  __atomic_store_n(&names->table[at], entry, __ATOMIC_RELEASE);
  return id;
}

uint32_t ppi_names_find(const ppi_names *names, const char *name,
                        size_t name_len, uint32_t category) {
  uint32_t at;
  return find(names, name, name_len, category, &at);
}

uint32_t ppi_names_site(ppi_names *names, const char *name, uint32_t category,
                        uint32_t color) {
  uint32_t at;
  if (!name) name = "<null>";
  // No category at all.
  if (category >= PPROF_CATEGORY_FIRST_REGISTERED + PPI_MAX_CATEGORIES)
    category = PPROF_CATEGORY_USER_DEFINED;
  size_t name_len = ppi_names_kept(name);
  uint32_t id = find(names, name, name_len, category, &at);
  if (id) return id;
  pthread_mutex_lock(&names->mutex);
  id = intern_locked(names, name, category, color);
  pthread_mutex_unlock(&names->mutex);
  return id;
}

bool ppi_names_define(ppi_names *names, const pprof_definition *definition) {
  pthread_mutex_lock(&names->mutex);
  bool done = append(names, definition, NULL) != 0;
  pthread_mutex_unlock(&names->mutex);
  return done;
}

bool ppi_names_text(ppi_names *names, uint32_t kind, const char *key,
                    const char *value) {
  pprof_definition definition = {(pprof_definition_kind)kind, 0, 0, 0, 0, key};
  pthread_mutex_lock(&names->mutex);
  bool done = append(names, &definition, value) != 0;
  pthread_mutex_unlock(&names->mutex);
  return done;
}

const ppi_definition_record *ppi_names_next(const ppi_spool *spool,
                                            uint64_t end, uint64_t *cursor) {
  end = PPI_MIN(end, spool->header->names_size);
  if (end < sizeof(ppi_definition_record) ||
      *cursor > end - sizeof(ppi_definition_record))
    return NULL;
  const ppi_definition_record *record = (const void *)(area(spool) + *cursor);
  if (record->size > end - *cursor || record->size % 8 ||
      record->size <= sizeof *record + (uint64_t)record->name_len ||
      record->name[record->name_len] != 0)
    return NULL;
  *cursor += record->size;
  return record;
}
