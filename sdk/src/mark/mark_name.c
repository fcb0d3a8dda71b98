// SPDX-License-Identifier: Apache-2.0
//
// Finds the sites of run-time names outside the inline path. A thread finds a
// text that it has met by its content, wherever it is now, and any other text
// among the session's names. On the marking threads.
#include "mark/mark_name.h"

#include "mark/site_id.h"
#include "names/name_hash.h"
#include "names/names_old.h"

static uint32_t new_site(const char *name, uint64_t style, bool folds) {
  ppi_names *names = ppi_recorder_in_force.names;
  uint32_t category = (uint32_t)style, color = (uint32_t)(style >> 32);
  return folds ? ppi_names_learn(names, name, category, color)
               : ppi_names_site(names, name, category, color);
}

// Shortens a long name to the kept length.
static uint32_t shortened_site(const char *name, size_t len, uint64_t style,
                               bool folds) {
  char text[PPI_MAX_NAME + 1];
  len = PPI_MIN(len, PPI_MAX_NAME);
  memcpy(text, name, len);
  text[len] = 0;
  return new_site(text, style, folds);
}

static uint32_t decide(const ppi_lane *lane, uint32_t number) {
  return number ? ppi_site_decide(number, lane->stack_epoch) : 0;
}

// The cache's entry of one key in one epoch.
typedef struct wanted {
  ppi_cached_name *cache;
  uintptr_t key;
  uint32_t category, epoch;
} wanted;

static inline ppi_cached_name *find_place(ppi_cached_name *cache, uintptr_t key,
                                          uint32_t category, uint32_t epoch) {
  for (unsigned i = 0; i < 2; i++) {
    ppi_cached_name *place = ppi_name_place(cache, key, category, i);
    if (place->key == key && place->category == category &&
        ppi_cached_epoch(place) == epoch)
      return place;
  }
  return NULL;
}

// The entry has epoch 0 while it changes.
static void set_place(ppi_cached_name *place, const ppi_cached_name *from) {
  uint32_t epoch = ppi_cached_epoch(from);
  __atomic_store_n(&place->epoch, 0, __ATOMIC_RELAXED);
  place->key = from->key;
  place->text = from->text;
  place->category = from->category;
  place->changes = from->changes;
  __atomic_store_n(&place->id, from->id, __ATOMIC_RELAXED);
  __atomic_store_n(&place->epoch, epoch, __ATOMIC_RELEASE);
}

// A key has two places. If both are taken, one of their keys moves to its other
// place, if that is free.
static ppi_cached_name *make_place(const wanted *want) {
  ppi_cached_name *places[2];
  for (unsigned i = 0; i < 2; i++) {
    places[i] = ppi_name_place(want->cache, want->key, want->category, i);
    if (ppi_cached_epoch(places[i]) != want->epoch) return places[i];
  }
  for (unsigned i = 0; i < 4; i++) {
    ppi_cached_name *place = places[i / 2];
    ppi_cached_name *other =
        ppi_name_place(want->cache, place->key, place->category, i % 2);
    if (ppi_cached_epoch(other) == want->epoch) continue;
    set_place(other, place);
    return place;
  }
  return places[0];
}

static void keep(const wanted *want, const char *text, uint32_t id) {
  ppi_cached_name *place =
      find_place(want->cache, want->key, want->category, want->epoch);
  if (!place) place = make_place(want);
  const ppi_cached_name now = {want->key,      text, want->epoch,
                               want->category, id,   0};
  set_place(place, &now);
}

// The text itself where there is no room for a copy.
static const char *copy_name(ppi_thread *thread, const char *text,
                             uint32_t epoch) {
  if (thread->names.copies_epoch != epoch) {
    thread->names.copies_epoch = epoch;
    thread->names.copies_used = 0;
  }
  size_t size = strlen(text) + 1;
  if (size > PPI_NAME_COPIES - thread->names.copies_used) return text;
  char *copy = thread->names.copies + thread->names.copies_used;
  thread->names.copies_used += (uint32_t)size;
  return memcpy(copy, text, size);
}

// Keeps the text to which the name is compared when it comes again, from this
// or another address. Text of an earlier epoch is never read: it may be another
// session's.
static uint32_t remember_name(const wanted *by_address, const wanted *by_text,
                              const ppi_lane *lane, uint32_t number) {
  const char *text = ppi_names_text_of(ppi_recorder_in_force.names, number);
  uint32_t id = decide(lane, number);
  if (!text) return id;
  text = copy_name(ppi_thread_self, text, lane->stack_epoch);
  keep(by_address, text, id);
  keep(by_text, text, id);
  return id;
}

// The thread knows the text, but the address had another one. An address that
// changes often is no longer compared.
static inline void note_change(ppi_cached_name *place,
                               const ppi_cached_name *known) {
  if (place->id == known->id) {
    place->changes -= place->changes != 0;
    return;
  }
  place->text = known->text;
  __atomic_store_n(&place->id, known->id, __ATOMIC_RELAXED);
  place->changes += place->changes != PPI_NAME_CHANGES;
}

static void empty(ppi_name_cache *cache) {
  for (uint32_t i = 0; i < PPI_NAME_CACHE; i++) {
    __atomic_store_n(&cache->by_address[i].epoch, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->by_text[i].epoch, 0, __ATOMIC_RELAXED);
  }
  cache->copies_used = 0;
}

// Every write to the cache calls this first. Once names have left, no entry
// moves before the cache is empty, so that the collector finds each of them.
static inline void follow_names(ppi_name_cache *cache) {
  uint32_t generation = ppi_names_generation(ppi_recorder_in_force.names);
  if (PPI_LIKELY(cache->generation == generation)) return;
  empty(cache);
  cache->generation = generation;
}

// An excluded name has no number: its text may go.
static void drop(ppi_cached_name *places, const ppi_names *names) {
  for (uint32_t i = 0; i < PPI_NAME_CACHE; i++) {
    uint32_t id = __atomic_load_n(&places[i].id, __ATOMIC_RELAXED);
    if (id == PPROF_SITE_EXCLUDED_ ||
        ppi_names_leaves(names, id & PPI_SITE_NUMBER))
      __atomic_store_n(&places[i].epoch, 0, __ATOMIC_RELAXED);
  }
}

void ppi_name_cache_drop(ppi_name_cache *cache, const ppi_names *names) {
  drop(cache->by_address, names);
  drop(cache->by_text, names);
}

// Adds a name that is new to the session; `kept` bytes of it, 0: all.
static uint32_t add_name(const char *name, size_t kept, uint64_t style,
                         bool folds) {
  return kept && name[kept] ? shortened_site(name, kept, style, folds)
                            : new_site(name, style, folds);
}

// Finds a name that is new to the thread and has not folded, or that is too
// long to be kept. `chosen`: the style with the category of the choice.
static uint32_t look_up_among_all(const ppi_lane *lane, const char *name,
                                  uint64_t style, uint64_t chosen, size_t kept,
                                  bool folds) {
  ppi_thread *thread = ppi_thread_self;
  uint32_t category = (uint32_t)style, epoch = lane->stack_epoch;
  size_t len = strnlen(name, PPI_MAX_NAME + 1);
  uint64_t hash = ppi_names_hash(name, len, (uint32_t)chosen);
  uint32_t number = 0;
  if (len <= PPI_MAX_NAME)
    number = ppi_names_find(ppi_recorder_in_force.names, name, len,
                            (uint32_t)chosen, hash);
  if (!number) number = add_name(name, kept, chosen, folds);
  if (kept && name[kept]) return decide(lane, number);
  // The thread's cache has the category that the caller gave.
  if (chosen != style) hash = ppi_names_hash(name, len, category);
  const wanted by_address = {thread->names.by_address, (uintptr_t)name,
                             category, epoch};
  const wanted by_text = {thread->names.by_text, (uintptr_t)hash, category,
                          epoch};
  return remember_name(&by_address, &by_text, lane, number);
}

// ---- shapes ----

static ppi_cached_shape *shape_place(const char *name, uint32_t category) {
  uint64_t hash = ppi_names_hash(name, ppi_fold_head(name), category);
  return &ppi_thread_self->names.shapes[hash % PPI_SHAPE_CACHE];
}

// Where all of the name counts: a part that is cut begins with a comma.
static void keep_shape(const ppi_folded *folded, const char *name,
                       uint32_t category, uint32_t epoch) {
  ppi_cached_shape now = {
      folded->shape,
      epoch,
      category,
      ppi_site_decide_by(folded->site, folded->verdict, epoch),
      folded->reported,
      {.num = 0}};
  pprof_numbers numbers;
  if (!folded->shape || strchr(folded->shape, ',') ||
      !ppi_fold_split(now.text, &now.pieces) ||
      !ppi_fold_fits(now.text, &now.pieces, name, strlen(name), &numbers))
    return;
  *shape_place(name, category) = now;
}

// The id of a name with a shape in the thread's cache; false: none fits.
static bool find_shape(const char *name, size_t len, uint32_t category,
                       uint32_t epoch, uint32_t *out_id) {
  const ppi_cached_shape *place = shape_place(name, category);
  pprof_numbers *numbers = &ppi_thread_self->names.numbers;
  if (place->epoch != epoch || place->category != category ||
      !ppi_fold_fits(place->text, &place->pieces, name, len, numbers))
    return false;
  *out_id =
      ppi_site_reported(place->id, (ppi_reported)place->reported, numbers);
  return true;
}

size_t ppi_mark_whole(const char *name) {
  (void)name;
  return 0;
}

static __attribute__((noinline)) uint32_t look_up_new(const ppi_lane *lane,
                                                      const char *name,
                                                      size_t len,
                                                      uint64_t style,
                                                      ppi_shorten shorten) {
  const ppi_names *names = ppi_recorder_in_force.names;
  size_t kept = shorten ? shorten(name) : 0;
  ppi_folded folded;
  uint32_t given = (uint32_t)style, epoch = lane->stack_epoch;
  if (kept) len = kept;
  bool folds = shorten != ppi_mark_whole &&
               ppi_names_folds(names, shorten != NULL, name, len);
  uint32_t category = ppi_names_category(names, name, len, given);
  if (!folds || !ppi_names_folded(names, name, len, category, &folded))
    return look_up_among_all(lane, name, style, style - given + category, kept,
                             folds);
  if (!kept && shorten) keep_shape(&folded, name, given, epoch);
  return ppi_site_folded(&folded, epoch);
}

__attribute__((noinline)) uint32_t ppi_mark_look_up(const ppi_lane *lane,
                                                    const char *name,
                                                    uint64_t style,
                                                    ppi_shorten shorten) {
  ppi_thread *thread = ppi_thread_self;
  uint32_t category = (uint32_t)style, epoch = lane->stack_epoch;
  follow_names(&thread->names);
  size_t len = strlen(name);
  uint64_t hash =
      ppi_names_hash(name, PPI_MIN(len, PPI_MAX_NAME + 1), category);
  const ppi_cached_name *known =
      find_place(thread->names.by_text, (uintptr_t)hash, category, epoch);
  if (PPI_UNLIKELY(!known) || PPI_UNLIKELY(strcmp(known->text, name) != 0)) {
    uint32_t id;
    bool is_found = shorten && shorten != ppi_mark_whole &&
                    find_shape(name, len, category, epoch, &id);
    return is_found ? id : look_up_new(lane, name, len, style, shorten);
  }
  ppi_cached_name *place =
      find_place(thread->names.by_address, (uintptr_t)name, category, epoch);
  if (place) note_change(place, known);
  return known->id;
}
