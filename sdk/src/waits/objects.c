// SPDX-License-Identifier: Apache-2.0
//
// Keeps the objects that threads wait for. On waiting threads; repeated lookups
// take no lock.
#include "waits/objects.h"

#include <stdio.h>

#include "base/guard.h"
#include "waits/object_name.h"

pprof_wait_table_ ppi_wait_table;
static ppi_object objects[PPI_WAIT_OBJECTS];
static ppi_guard guard;
static uint64_t turn;
static uint64_t num_gone, gone_ticks;  // atomic: of what made room

ppi_object *ppi_object_at(uint32_t at) {
  return &objects[at];
}

void ppi_objects_in_forked_child(void) {
  for (uint32_t i = 0; i < PPI_WAIT_OBJECTS; i++) objects[i].users = 0;
  guard = (ppi_guard){0};
}

void ppi_object_give(uint32_t at) {
  __atomic_fetch_sub(&objects[at].users, 1, __ATOMIC_RELEASE);
}

// Counted first, then looked at: pairs with give_up.
static bool use(uint32_t at, uintptr_t address) {
  __atomic_fetch_add(&objects[at].users, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ppi_wait_table.keys[at], __ATOMIC_SEQ_CST) == address)
    return true;
  ppi_object_give(at);
  return false;
}

static bool give_up(uint32_t at) {
  uintptr_t key = ppi_wait_table.keys[at];
  __atomic_store_n(&ppi_wait_table.keys[at], 0, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&objects[at].users, __ATOMIC_SEQ_CST) == 0) return true;
  __atomic_store_n(&ppi_wait_table.keys[at], key, __ATOMIC_RELEASE);
  return false;
}

// The slot of the address, or one for it. The object with the oldest wait makes
// room; objects that the program has named go last.
static uint32_t place_of(uintptr_t address) {
  uint32_t set = ppi_wait_set(address), oldest = set;
  for (uint32_t i = set; i < set + PPI_WAIT_WAYS; i++)
    if (objects[i].address == address) return i;
  for (uint32_t i = set; i < set + PPI_WAIT_WAYS; i++) {
    if (!objects[i].address) return i;
    bool is_older = objects[i].used < objects[oldest].used;
    if (objects[oldest].is_named || (!objects[i].is_named && is_older))
      oldest = i;
  }
  return give_up(oldest) ? oldest : PPI_WAIT_UNKNOWN;
}

// A thread that reads the name meanwhile gets the other text.
static void set_name(ppi_object *object, const char *name) {
  char *text = object->texts[object->site.name == object->texts[0]];
  snprintf(text, PPI_OBJECT_NAME, PPI_WAIT_PREFIX "%.118s", name);
  __atomic_store_n(&object->site.name, text, __ATOMIC_RELEASE);
  __atomic_store_n(&object->site.state_, 0, __ATOMIC_RELEASE);
}

static void make(ppi_object *object, uintptr_t address) {
  object->address = address;
  object->is_named = object->is_interpreter = 0;
  object->release = object->inner = 0;
  object->holder = 0;
  __atomic_fetch_add(&num_gone, object->num_short, __ATOMIC_RELAXED);
  __atomic_fetch_add(&gone_ticks, object->short_ticks, __ATOMIC_RELAXED);
  object->num_short = object->short_ticks = 0;
  object->site.category = PPROF_CATEGORY_WAIT;
}

static uint32_t find_or_make(uintptr_t address, ppi_wait_kind kind,
                             const void *caller) {
  char name[PPI_OBJECT_NAME];
  uint32_t at = place_of(address);
  if (at == PPI_WAIT_UNKNOWN) return at;
  ppi_object *object = &objects[at];
  if (object->address != address) {
    make(object, address);
    object->is_interpreter =
        ppi_object_describe(address, kind, caller, name, sizeof name);
    set_name(object, name);
    if (kind == PPI_WAIT_IDLE)
      object->site.category = pprof_category_register("Idle");
  }
  __atomic_fetch_add(&object->users, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&ppi_wait_table.keys[at], address, __ATOMIC_RELEASE);
  return at;
}

uint32_t ppi_object_take(uintptr_t address, ppi_wait_kind kind,
                         const void *caller) {
  uint32_t at = ppi_wait_find(&ppi_wait_table, (const void *)address);
  if (at == PPI_WAIT_UNKNOWN || !use(at, address)) {
    if (!ppi_guard_take(&guard)) return PPI_WAIT_UNKNOWN;
    at = find_or_make(address, kind, caller);
    ppi_guard_give(&guard);
  }
  if (at != PPI_WAIT_UNKNOWN)
    __atomic_store_n(&objects[at].used,
                     __atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
  return at;
}

// Its key comes with the first wait: objects without waits cost nothing.
void pprof_name_object(const volatile void *address, const char *name) {
  if (!address || !name || !ppi_guard_take(&guard)) return;
  uint32_t at = place_of((uintptr_t)address);
  if (at != PPI_WAIT_UNKNOWN) {
    ppi_object *object = &objects[at];
    if (object->address != (uintptr_t)address) make(object, (uintptr_t)address);
    object->is_named = 1;
    set_name(object, name);
  }
  ppi_guard_give(&guard);
}

// ---- short waits ----

static void take_short(ppi_object *of, ppi_short *to) {
  to->num += __atomic_exchange_n(&of->num_short, 0, __ATOMIC_RELAXED);
  to->ticks += __atomic_exchange_n(&of->short_ticks, 0, __ATOMIC_RELAXED);
}

ppi_short ppi_objects_take_short(bool of_one) {
  ppi_short found = {"others", 0, 0};
  ppi_object *most = &objects[0];
  for (uint32_t i = 0; i < PPI_WAIT_OBJECTS; i++) {
    if (!of_one) take_short(&objects[i], &found);
    if (__atomic_load_n(&objects[i].num_short, __ATOMIC_RELAXED) >
        __atomic_load_n(&most->num_short, __ATOMIC_RELAXED))
      most = &objects[i];
  }
  if (of_one) take_short(most, &found);
  if (of_one && found.num) {
    found.name = ppi_wait_object(most->site.name);
    return found;
  }
  found.num += __atomic_exchange_n(&num_gone, 0, __ATOMIC_RELAXED);
  found.ticks += __atomic_exchange_n(&gone_ticks, 0, __ATOMIC_RELAXED);
  return found;
}
