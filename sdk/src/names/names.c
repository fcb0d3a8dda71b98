// SPDX-License-Identifier: Apache-2.0
//
// Interns names. Readers of the hash table see an entry only after its
// definition was published in the spool.
#include <sys/mman.h>

#include "base/guard.h"
#include "names/name_hash.h"
#include "names/names.h"
#include "names/names_impl.h"

#define OTHER_NAME "<other>"
#define MOST_VALUE ((size_t)32768)

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
    "Wait",          "Idle",
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

// Leak checkers do not search mappings for memory of a process that ends
// without a stop.
static ppi_site_filter *volatile filter_in_use __attribute__((used));

pprof_status ppi_names_create(ppi_spool *spool, ppi_names **out) {
  // The tables' pages are made as names are added.
  void *memory = mmap(NULL, sizeof(ppi_names), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return PPROF_STATUS_NO_MEMORY;
  ppi_names *names = memory;
  names->spool = spool;
  names->ids_then = PPI_MAX_SITES;
  names->bytes_then = spool->header->names_size;
  names->shapes = ppi_shapes_create(PPI_MAX_SITES);
  pthread_mutex_init(&names->mutex, NULL);
  *out = names;
  return PPROF_STATUS_OK;
}

void ppi_names_destroy(ppi_names *names) {
  if (!names) return;
  if (filter_in_use == names->filter) filter_in_use = NULL;
  ppi_site_filter_clear(&names->filter);
  if (names->clear) munmap(names->clear, names->clear_size);
  ppi_shapes_destroy(names->shapes);
  munmap(names, sizeof *names);
}

// As much room as the area has.
static bool keep_clear(ppi_names *names) {
  uint64_t size = names->spool->header->names_size;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  names->clear = memory;
  names->clear_size = size;
  return true;
}

pprof_status ppi_names_choose(ppi_names *names, const ppi_choice *choice) {
  pthread_mutex_lock(&names->mutex);
  bool done = (!choice->hash_names || names->clear || keep_clear(names)) &&
              ppi_site_filter_choose(&names->filter, choice);
  filter_in_use = names->filter;
  pthread_mutex_unlock(&names->mutex);
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

void ppi_names_watch(ppi_names *names, const char *name) {
  pthread_mutex_lock(&names->mutex);
  ppi_site_filter_watch(&names->filter, name);
  filter_in_use = names->filter;
  pthread_mutex_unlock(&names->mutex);
}

// As much of a too long name as fits without half a UTF-8 character.
size_t ppi_names_kept(const char *name) {
  size_t len = strnlen(name, PPI_MAX_NAME + 1);
  if (len <= PPI_MAX_NAME) return len;
  for (len = PPI_MAX_NAME; len > PPI_MAX_NAME - 3; len--)
    if (((unsigned char)name[len] & 0xc0u) != 0x80u) break;
  return len;
}

// Names from people; our own names and those of hardware reveal nothing of the
// program.
static bool is_given(const pprof_definition *definition) {
  switch ((uint32_t)definition->kind) {
    case PPROF_DEFINITION_SITE:
      return strcmp(definition->name, "ProfileStep") != 0 &&
             strcmp(definition->name, OTHER_NAME) != 0;
    case PPROF_DEFINITION_CATEGORY:
      return definition->id >= PPROF_CATEGORY_FIRST_REGISTERED;
    case PPROF_DEFINITION_LANE:
      return definition->id != 0 && definition->parent == 0;
    case PPROF_DEFINITION_STREAM:
      return definition->name[0] != 0;
    default:
      return false;
  }
}

const char *ppi_names_shown(const ppi_names *names,
                            const pprof_definition *definition,
                            char hash[PPI_NAME_HASH]) {
  const ppi_site_filter *filter =
      __atomic_load_n(&names->filter, __ATOMIC_ACQUIRE);
  bool is_category = definition->kind == PPROF_DEFINITION_CATEGORY;
  if (!names->clear || !is_given(definition) ||
      ppi_choice_is_machine(is_category ? definition->id
                                        : definition->parent) ||
      ppi_choice_shows(filter->choice, definition->name))
    return definition->name;
  ppi_name_hash(definition->name, hash);
  return hash;
}

static void write_record(ppi_definition_record *record,
                         const pprof_definition *definition, const char *name,
                         const char *value) {
  size_t name_len = ppi_names_kept(name);
  size_t value_len = value ? PPI_MIN(strlen(value), MOST_VALUE) : 0;
  record->id = definition->id;
  record->parent = definition->parent;
  record->number = definition->number;
  record->color = definition->color;
  record->name_len = (uint32_t)name_len;
  record->fold = record->reserved = 0;
  memcpy(record->name, name, name_len);
  record->name[name_len] = 0;
  if (!value) return;
  memcpy(record->name + name_len + 1, value, value_len);
  record->name[name_len + 1 + value_len] = 0;
}

// Stores a site's name in the program at the place of its record in the area.
static void keep_given(ppi_names *names, const pprof_definition *definition,
                       uint64_t place) {
  names->places[definition->id] = place;
  if (!names->clear) return;
  size_t len = ppi_names_kept(definition->name);
  memcpy(names->clear + place, definition->name, len);
  names->clear[place + len] = 0;
}

// The size for the longer one of a site's two names.
static uint64_t size_of(const pprof_definition *definition, const char *shown,
                        const char *value) {
  size_t len = ppi_names_kept(shown);
  if (definition->kind == PPROF_DEFINITION_SITE)
    len = PPI_MAX(len, ppi_names_kept(definition->name));
  if (value) len += PPI_MIN(strlen(value), MOST_VALUE) + 1;
  return (sizeof(ppi_definition_record) + len + 1 + 7) & ~(uint64_t)7;
}

void ppi_names_tell_again(ppi_names *names, uint32_t id) {
  names->again[names->num_again % PPI_MAX_SITES] = id;
  // Pairs with the acquire in ppi_names_num_again.
  __atomic_store_n(&names->num_again, names->num_again + 1, __ATOMIC_RELEASE);
}

// In this order: a sink that gets an id finds its record.
static void show_site(ppi_names *names, uint32_t id, uint64_t offset,
                      bool is_again) {
  // Pairs with the acquire in ppi_names_record.
  __atomic_store_n(&names->offsets[id], offset, __ATOMIC_RELEASE);
  if (is_again) ppi_names_tell_again(names, id);
}

// Publishes one record, under the mutex. Answers its offset in the spool, or 0
// when there is no room.
static uint64_t add_name(ppi_names *names, const pprof_definition *definition,
                         const char *value) {
  ppi_spool *spool = names->spool;
  bool is_site = definition->kind == PPROF_DEFINITION_SITE;
  char hash[PPI_NAME_HASH];
  const char *name = ppi_names_shown(names, definition, hash);
  uint64_t place;
  ppi_definition_record *record = ppi_names_area_take(
      &names->area, spool, size_of(definition, name, value), is_site, &place);
  if (!record) return 0;
  write_record(record, definition, name, value);
  if (is_site) keep_given(names, definition, place);
  bool is_again =
      ppi_names_area_publish(spool, record, place, (uint32_t)definition->kind);
  uint64_t offset = (uint64_t)((uint8_t *)record - spool->base);
  if (is_site) show_site(names, definition->id, offset, is_again);
  return offset;
}

static bool is_named(const ppi_names *names, uint32_t id, const char *name,
                     size_t name_len, uint32_t category) {
  const ppi_definition_record *record = ppi_names_record(names, id);
  if (record->parent != category) return false;
  const char *text = ppi_names_given(names, id);
  if (!names->clear && record->name_len != name_len) return false;
  return strncmp(text, name, name_len) == 0 && text[name_len] == 0;
}

// An id that was read without an acquire may be ahead of its record. It was
// stored after the mutex was released, so a thread that takes the mutex has the
// record.
const ppi_definition_record *ppi_names_site_record(ppi_names *names,
                                                   uint32_t id) {
  const ppi_definition_record *record = ppi_names_record(names, id);
  if (PPI_LIKELY(record)) return record;
  ppi_calm before;
  ppi_lock_masked(&names->mutex, &before);
  record = ppi_names_record(names, id);
  ppi_unlock_masked(&names->mutex, &before);
  return record;
}

const char *ppi_names_text_of(const ppi_names *names, uint32_t id) {
  return id && id <= PPI_MAX_SITES ? ppi_names_given(names, id) : NULL;
}

const char *ppi_names_watched(ppi_names *names, uint32_t site) {
  const ppi_site_filter *filter =
      __atomic_load_n(&names->filter, __ATOMIC_ACQUIRE);
  if (!filter || !site || !ppi_names_site_record(names, site)) return NULL;
  return ppi_site_filter_watched(filter, ppi_names_given(names, site));
}

bool ppi_names_excludes(const ppi_names *names) {
  const ppi_site_filter *filter =
      __atomic_load_n(&names->filter, __ATOMIC_ACQUIRE);
  const ppi_choice *choice = filter ? filter->choice : NULL;
  return choice &&
         (choice->num_include || choice->num_exclude || choice->timer_only);
}

// Decided once for each version.
uint32_t ppi_names_verdict(ppi_names *names, uint32_t site) {
  const ppi_site_filter *filter =
      __atomic_load_n(&names->filter, __ATOMIC_ACQUIRE);
  if (!filter) return 0;
  uint64_t known = __atomic_load_n(&names->verdicts[site], __ATOMIC_RELAXED);
  if (known >> 32 == filter->version) return (uint32_t)known;
  const ppi_definition_record *record = ppi_names_site_record(names, site);
  uint32_t verdict = ppi_site_filter_verdict(
      filter, ppi_names_given(names, site), record->parent);
  __atomic_store_n(&names->verdicts[site],
                   (uint64_t)filter->version << 32 | verdict, __ATOMIC_RELAXED);
  return verdict;
}

// The slot of the name, or the empty one where it belongs.
static uint32_t find(const ppi_names *names, const char *name, size_t name_len,
                     uint32_t category, uint32_t hash, uint32_t *out_at) {
  uint32_t at = hash % PPI_NAMES_TABLE;
  for (;; at = (at + 1) % PPI_NAMES_TABLE) {
    uint64_t entry = __atomic_load_n(&names->table[at], __ATOMIC_ACQUIRE);
    *out_at = at;
    if (entry == 0) return 0;
    if ((uint32_t)(entry >> 32) != hash) continue;
    uint32_t id = (uint32_t)entry;
    if (is_named(names, id, name, name_len, category)) return id;
  }
}

static void define_category(ppi_names *names, uint32_t category) {
  uint64_t *word = &names->categories_defined[category / 64];
  if (*word & 1ull << category % 64) return;
  pprof_definition definition = {PPROF_DEFINITION_CATEGORY,  category, 0, 0, 0,
                                 ppi_category_name(category)};
  if (add_name(names, &definition, NULL)) *word |= 1ull << category % 64;
}

static uint32_t take_id(ppi_names *names) {
  if (names->num_free) return names->free_ids[--names->num_free];
  if (names->num_sites == PPI_MAX_SITES) return 0;
  return __atomic_add_fetch(&names->num_sites, 1, __ATOMIC_RELAXED);
}

static uint32_t add_site(ppi_names *names, const pprof_definition *wanted) {
  define_category(names, wanted->parent);
  pprof_definition definition = *wanted;
  definition.id = take_id(names);
  if (!definition.id) return 0;
  uint32_t round = __atomic_load_n(&names->round, __ATOMIC_RELAXED);
  __atomic_store_n(&names->uses[definition.id], round, __ATOMIC_RELAXED);
  if (add_name(names, &definition, NULL)) return definition.id;
  names->free_ids[names->num_free++] = definition.id;
  return 0;
}

static uint32_t other_site(ppi_names *names) {
  __atomic_fetch_add(&names->spool->header->names_overflowed, 1,
                     __ATOMIC_RELAXED);
  return names->other;
}

uint32_t ppi_names_intern(ppi_names *names, const char *name, uint32_t category,
                          uint32_t color, bool *out_new) {
  *out_new = false;
  size_t name_len = ppi_names_kept(name);
  uint32_t hash = (uint32_t)ppi_names_hash(name, name_len, category);
  uint32_t at;
  uint32_t id = find(names, name, name_len, category, hash, &at);
  if (id) return id;
  if (!names->other) {
    pprof_definition other = {PPROF_DEFINITION_SITE, 0, 0, 0, 0, OTHER_NAME};
    names->other = add_site(names, &other);
    ppi_names_stay(names, names->other);
  }
  pprof_definition wanted = {
      PPROF_DEFINITION_SITE, 0, category, color, 0, name};
  id = add_site(names, &wanted);
  if (!id) return other_site(names);
  uint64_t entry = (uint64_t)hash << 32 | id;
  __atomic_store_n(&names->table[at], entry, __ATOMIC_RELEASE);
  *out_new = true;
  return id;
}

uint32_t ppi_names_find(const ppi_names *names, const char *name,
                        size_t name_len, uint32_t category, uint64_t hash) {
  uint32_t at;
  return find(names, name, name_len, category, (uint32_t)hash, &at);
}

uint32_t ppi_names_site(ppi_names *names, const char *name, uint32_t category,
                        uint32_t color) {
  uint32_t at;
  bool is_new;
  if (!name) name = "<null>";
  // No category at all.
  if (category >= PPROF_CATEGORY_FIRST_REGISTERED + PPI_MAX_CATEGORIES)
    category = PPROF_CATEGORY_USER_DEFINED;
  size_t name_len = ppi_names_kept(name);
  uint32_t hash = (uint32_t)ppi_names_hash(name, name_len, category);
  uint32_t id = find(names, name, name_len, category, hash, &at);
  if (id) return id;
  ppi_calm before;
  ppi_lock_masked(&names->mutex, &before);
  id = ppi_names_intern(names, name, category, color, &is_new);
  ppi_unlock_masked(&names->mutex, &before);
  return id;
}

bool ppi_names_define(ppi_names *names, const pprof_definition *definition) {
  ppi_calm before;
  ppi_lock_masked(&names->mutex, &before);
  bool done = add_name(names, definition, NULL) != 0;
  ppi_unlock_masked(&names->mutex, &before);
  return done;
}

bool ppi_names_text(ppi_names *names, uint32_t kind, const char *key,
                    const char *value) {
  pprof_definition definition = {(pprof_definition_kind)kind, 0, 0, 0, 0, key};
  pthread_mutex_lock(&names->mutex);
  bool done = add_name(names, &definition, value) != 0;
  pthread_mutex_unlock(&names->mutex);
  return done;
}

void ppi_names_stay(ppi_names *names, uint32_t id) {
  __atomic_fetch_or(&names->states[id], PPI_ID_STAYS, __ATOMIC_RELAXED);
}

uint64_t ppi_names_num_again(const ppi_names *names) {
  return __atomic_load_n(&names->num_again, __ATOMIC_ACQUIRE);
}

const ppi_definition_record *ppi_names_again(const ppi_names *names,
                                             uint64_t *cursor) {
  return ppi_names_record(names, names->again[(*cursor)++ % PPI_MAX_SITES]);
}
