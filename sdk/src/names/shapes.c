// SPDX-License-Identifier: Apache-2.0
//
// Keeps a table of shapes by the hash of their text. A shape that folds stays;
// any other goes with the last of its names.
#include "names/shapes.h"

#include <sys/mman.h>

#include "names/name_hash.h"

// `site`, `hash` and the table are read without the lock.
typedef struct shape {
  uint64_t hash;
  const char *text;  // once it folds
  uint32_t category;
  uint32_t site;  // 0: it does not fold
  uint32_t num;   // members: names, and narrower shapes
  uint32_t first_name, first_shape;
  uint32_t wider, next_shape;  // the one it is a member of, and the next there
} shape;

struct ppi_shapes {
  size_t size;
  uint32_t max, num, num_folds, num_free;
  uint32_t members;     // of a shape of free numbers that does not fold
  shape *items;         // from 1
  uint32_t *table;      // of 2 * max: numbers of items, 0: empty
  uint32_t *next_name;  // by name: the next one of its shape
  uint32_t *free;       // items that were given back
};

ppi_shapes *ppi_shapes_create(uint32_t max) {
  size_t items = ((size_t)max + 1) * sizeof(shape);
  size_t words = (size_t)max * 4 + 4;
  size_t size = sizeof(ppi_shapes) + items + words * sizeof(uint32_t);
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  ppi_shapes *shapes = memory;
  shapes->size = size;
  shapes->max = max;
  shapes->members = PPI_SHAPE_MEMBERS;
  shapes->items = (void *)(shapes + 1);
  shapes->table = (uint32_t *)(void *)((char *)shapes->items + items);
  shapes->next_name = shapes->table + 2 * (size_t)max;
  shapes->free = shapes->next_name + max + 1;
  return shapes;
}

void ppi_shapes_destroy(ppi_shapes *shapes) {
  if (shapes) munmap(shapes, shapes->size);
}

void ppi_shapes_set_members(ppi_shapes *shapes, uint32_t num) {
  shapes->members = num;
}

// ---- the table ----

static uint64_t hash_of(const ppi_fold *fold, uint32_t category) {
  return ppi_names_hash(fold->text, fold->len, category);
}

static uint32_t home_of(const ppi_shapes *shapes, uint64_t hash) {
  return (uint32_t)(hash % (2ull * shapes->max));
}

static uint32_t behind(const ppi_shapes *shapes, uint32_t at) {
  return at + 1 == 2 * shapes->max ? 0 : at + 1;
}

uint32_t ppi_shapes_site(const ppi_shapes *shapes, const ppi_fold *fold,
                         uint32_t category) {
  uint64_t hash = hash_of(fold, category);
  for (uint32_t at = home_of(shapes, hash);; at = behind(shapes, at)) {
    uint32_t number = __atomic_load_n(&shapes->table[at], __ATOMIC_ACQUIRE);
    if (!number) return 0;
    const shape *found = &shapes->items[number];
    if (__atomic_load_n(&found->hash, __ATOMIC_RELAXED) != hash) continue;
    // Pairs with the release in ppi_shapes_fold.
    uint32_t site = __atomic_load_n(&found->site, __ATOMIC_ACQUIRE);
    if (site && found->category == category &&
        strcmp(found->text, fold->text) == 0)
      return site;
  }
}

uint32_t ppi_shapes_folded(const ppi_shapes *shapes, const char *name,
                           size_t len, uint32_t category, ppi_fold *out) {
  uint32_t site = 0;
  if (!__atomic_load_n(&shapes->num_folds, __ATOMIC_RELAXED)) return 0;
  bool has_free = ppi_fold_name(name, len, PPI_FOLD_FREE, out);
  bool has_glued = out->has_glued;
  if (has_glued && ppi_fold_name(name, len, PPI_FOLD_ALL, out))
    site = ppi_shapes_site(shapes, out, category);
  if (site || !has_free) return site;
  if (has_glued) ppi_fold_name(name, len, PPI_FOLD_FREE, out);
  return ppi_shapes_site(shapes, out, category);
}

// The slot of the shape, or the empty one where it belongs.
static uint32_t slot_of(const ppi_shapes *shapes, uint64_t hash) {
  uint32_t at = home_of(shapes, hash);
  while (shapes->table[at] && shapes->items[shapes->table[at]].hash != hash)
    at = behind(shapes, at);
  return at;
}

static shape *find(const ppi_shapes *shapes, const ppi_fold *fold,
                   uint32_t category, uint32_t *out_number) {
  *out_number = shapes->table[slot_of(shapes, hash_of(fold, category))];
  return *out_number ? &shapes->items[*out_number] : NULL;
}

static uint32_t find_or_add(ppi_shapes *shapes, const ppi_fold *fold,
                            uint32_t category) {
  uint64_t hash = hash_of(fold, category);
  uint32_t at = slot_of(shapes, hash), number = shapes->table[at];
  if (number) return number;
  if (shapes->num_free)
    number = shapes->free[--shapes->num_free];
  else if (shapes->num < shapes->max)
    number = ++shapes->num;
  else
    return 0;
  shape *added = &shapes->items[number];
  added->category = category;
  added->num = added->first_name = added->first_shape = 0;
  added->wider = added->next_shape = 0;
  __atomic_store_n(&added->hash, hash, __ATOMIC_RELAXED);
  __atomic_store_n(&shapes->table[at], number, __ATOMIC_RELEASE);
  return number;
}

// Moves up entries after a removed one that lookups would miss. A concurrent
// lookup may miss one, and repeats with the lock.
static void take_out(ppi_shapes *shapes, uint32_t hole) {
  const uint32_t size = 2 * shapes->max;
  for (uint32_t at = behind(shapes, hole);; at = behind(shapes, at)) {
    uint32_t number = shapes->table[at];
    if (!number) break;
    uint32_t home = home_of(shapes, shapes->items[number].hash);
    if ((at + size - home) % size < (at + size - hole) % size) continue;
    __atomic_store_n(&shapes->table[hole], number, __ATOMIC_RELEASE);
    hole = at;
  }
  __atomic_store_n(&shapes->table[hole], 0, __ATOMIC_RELEASE);
}

// ---- learning ----

static void add_name(ppi_shapes *shapes, uint32_t number, uint32_t name) {
  shape *to = &shapes->items[number];
  shapes->next_name[name] = to->first_name;
  to->first_name = name;
  to->num++;
}

static void add_shape(ppi_shapes *shapes, uint32_t number, uint32_t narrower) {
  shape *member = &shapes->items[narrower], *to = &shapes->items[number];
  if (member->wider) return;
  member->wider = number;
  member->next_shape = to->first_shape;
  to->first_shape = narrower;
  to->num++;
}

static bool folds_now(const ppi_shapes *shapes, uint32_t number, uint32_t most,
                      const char *text, ppi_shape_forced forced,
                      const void *user) {
  const shape *at = &shapes->items[number];
  return !at->site && shapes->num_folds < PPI_MAX_FOLDS &&
         (at->num > most || (forced && forced(user, text)));
}

uint32_t ppi_shapes_learn(ppi_shapes *shapes, uint32_t site, const char *name,
                          size_t len, uint32_t category,
                          ppi_shape_forced forced, const void *user,
                          ppi_fold *out) {
  ppi_fold wide;
  uint32_t crowded = 0, narrow = 0, number = 0;
  if (site > shapes->max) return 0;
  if (ppi_fold_name(name, len, PPI_FOLD_FREE, out))
    narrow = find_or_add(shapes, out, category);
  if (narrow) add_name(shapes, narrow, site);
  if (narrow &&
      folds_now(shapes, narrow, shapes->members, out->text, forced, user))
    crowded = narrow;
  if (!out->has_glued || !ppi_fold_name(name, len, PPI_FOLD_ALL, &wide) ||
      !(number = find_or_add(shapes, &wide, category)))
    return crowded;
  if (narrow)
    add_shape(shapes, number, narrow);
  else
    add_name(shapes, number, site);
  if (!folds_now(shapes, number, PPI_SHAPE_MEMBERS, wide.text, forced, user))
    return crowded;
  *out = wide;
  return number;
}

void ppi_shapes_fold(ppi_shapes *shapes, uint32_t number, uint32_t site,
                     const char *text, ppi_shape_member member, void *user) {
  shape *folded = &shapes->items[number];
  folded->text = text;
  __atomic_store_n(&folded->site, site, __ATOMIC_RELEASE);
  __atomic_store_n(&shapes->num_folds, shapes->num_folds + 1, __ATOMIC_RELAXED);
  for (uint32_t i = folded->first_name; i; i = shapes->next_name[i])
    member(user, i, site);
  for (uint32_t k = folded->first_shape; k; k = shapes->items[k].next_shape) {
    const shape *narrower = &shapes->items[k];
    if (narrower->site) member(user, narrower->site, site);
    if (narrower->site) continue;
    for (uint32_t i = narrower->first_name; i; i = shapes->next_name[i])
      member(user, i, site);
  }
}

// ---- forgetting ----

static bool unlink_name(ppi_shapes *shapes, shape *from, uint32_t name) {
  uint32_t *place = &from->first_name;
  while (*place && *place != name) place = &shapes->next_name[*place];
  if (!*place) return false;
  *place = shapes->next_name[name];
  from->num--;
  return true;
}

static void unlink_shape(ppi_shapes *shapes, uint32_t narrower) {
  shape *member = &shapes->items[narrower];
  if (!member->wider) return;
  shape *from = &shapes->items[member->wider];
  uint32_t *place = &from->first_shape;
  while (*place && *place != narrower)
    place = &shapes->items[*place].next_shape;
  if (*place) *place = member->next_shape;
  from->num--;
}

// Frees a shape without members.
static void give_up(ppi_shapes *shapes, uint32_t number) {
  shape *empty = &shapes->items[number];
  if (empty->num || empty->site) return;
  uint32_t wider = empty->wider;
  unlink_shape(shapes, number);
  take_out(shapes, slot_of(shapes, empty->hash));
  shapes->free[shapes->num_free++] = number;
  empty = &shapes->items[wider];
  if (!wider || empty->num || empty->site) return;
  take_out(shapes, slot_of(shapes, empty->hash));
  shapes->free[shapes->num_free++] = wider;
}

void ppi_shapes_leave(ppi_shapes *shapes, uint32_t site, const char *name,
                      size_t len, uint32_t category) {
  ppi_fold fold;
  uint32_t number = 0;
  if (site > shapes->max) return;
  shape *from = ppi_fold_name(name, len, PPI_FOLD_FREE, &fold)
                    ? find(shapes, &fold, category, &number)
                    : NULL;
  if (!from && fold.has_glued && ppi_fold_name(name, len, PPI_FOLD_ALL, &fold))
    from = find(shapes, &fold, category, &number);
  if (from && unlink_name(shapes, from, site)) give_up(shapes, number);
}
