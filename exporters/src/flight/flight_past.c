// SPDX-License-Identifier: Apache-2.0
//
// Keeps copies of run info, definitions and windows; each is replaced by its
// successor.
#include "flight/flight_past.h"

#include <string.h>

#include "base/mem.h"

enum {
  MANY_WINDOWS = 64,  // from here on old ones are forgotten
  MANY_REPLACED = 64,
  LATEST_WINDOWS = 16  // these may still get events, such as late device times
};

// Frees replaced definitions that no block in the ring needs.
static void forget_replaced(ppi_flight_past *past, uint64_t oldest) {
  size_t gone = 0;
  while (gone < past->num_replaced && past->replaced[gone].until <= oldest)
    ppi_free((char *)past->replaced[gone++].was.name);
  past->num_replaced -= gone;
  memmove(past->replaced, past->replaced + gone,
          past->num_replaced * sizeof *past->replaced);
}

static bool replace(ppi_flight_past *past, pprof_definition *known,
                    uint64_t next, uint64_t oldest) {
  if (!known->name) return true;
  if (past->num_replaced >= MANY_REPLACED &&
      past->num_replaced == past->replaced_capacity)
    forget_replaced(past, oldest);
  if (!PPI_PUSH(past->replaced, past->num_replaced, past->replaced_capacity,
                (ppi_flight_replaced){*known, next}))
    return false;
  known->name = NULL;
  return true;
}

const pprof_definition **ppi_flight_past_at(const ppi_flight_past *past,
                                            pprof_definition_kind kind,
                                            uint64_t first) {
  const ppi_flight_definitions *known = &past->kinds[kind];
  const pprof_definition **out = ppi_alloc(known->num * sizeof *out);
  for (size_t i = 0; out && i < known->num; i++) out[i] = &known->items[i];
  for (size_t i = past->num_replaced; out && i-- > 0;) {
    const ppi_flight_replaced *replaced = &past->replaced[i];
    if (replaced->until <= first) break;
    if (replaced->was.kind == kind) out[replaced->was.id] = &replaced->was;
  }
  return out;
}

bool ppi_flight_past_define(ppi_flight_past *past,
                            const pprof_definition *definition, uint64_t next,
                            uint64_t oldest) {
  uint32_t id = definition->id;
  if (!ppi_definition_is_known(definition->kind) || id >= PPI_MAX_ID)
    return true;
  ppi_flight_definitions *known = &past->kinds[definition->kind];
  if (!PPI_REACH(known->items, known->num, known->capacity, (size_t)id + 1))
    return false;
  return replace(past, &known->items[id], next, oldest) &&
         ppi_definition_keep(&known->items[id], definition);
}

// Drops windows that closed before the oldest block, except the latest ones.
static void forget_windows(ppi_flight_past *past, uint64_t tail) {
  size_t kept = 0;
  for (size_t i = 0; i < past->num_windows; i++) {
    const ppi_flight_window *window = &past->windows[i];
    if (window->closed && window->closed_at < tail &&
        past->num_windows - i > LATEST_WINDOWS)
      continue;
    past->windows[kept++] = *window;
  }
  past->num_windows = kept;
}

bool ppi_flight_past_window(ppi_flight_past *past, uint32_t index, bool opens,
                            uint64_t time_ns, uint64_t position,
                            uint64_t tail) {
  if (!opens) {
    for (size_t i = past->num_windows; i-- > 0;)
      if (past->windows[i].index == index && !past->windows[i].closed) {
        past->windows[i].closed = true;
        past->windows[i].close_ns = time_ns;
        past->windows[i].closed_at = position;
      }
    return true;
  }
  if (past->num_windows >= MANY_WINDOWS) forget_windows(past, tail);
  return PPI_PUSH(
      past->windows, past->num_windows, past->windows_capacity,
      (ppi_flight_window){
          .index = index, .open_ns = time_ns, .opened_at = position});
}

void ppi_flight_past_clear(ppi_flight_past *past) {
  ppi_texts_clear(&past->texts);
  for (int kind = 0; kind <= PPROF_DEFINITION_ATTRIBUTES; kind++) {
    for (size_t i = 0; i < past->kinds[kind].num; i++)
      ppi_free((char *)past->kinds[kind].items[i].name);
    ppi_free(past->kinds[kind].items);
  }
  for (size_t i = 0; i < past->num_replaced; i++)
    ppi_free((char *)past->replaced[i].was.name);
  ppi_free(past->replaced);
  ppi_free(past->windows);
  *past = (ppi_flight_past){0};
}
