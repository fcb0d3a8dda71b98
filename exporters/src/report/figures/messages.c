// SPDX-License-Identifier: Apache-2.0
//
// Adds up ranges by message size: exact sizes, or powers of two if sizes are
// many.
#include "report/figures/messages.h"

#include "base/mem.h"
#include "report/figures/keyed.h"

static uint64_t power_of(uint64_t bytes) {
  return bytes ? 64 - (uint64_t)__builtin_clzll(bytes) : 0;
}

PPI_ORDER(compare_rows, ppi_message_row, PPI_UP(key))

static ppi_message_row *find_or_add(ppi_messages *messages, uint64_t key) {
  const ppi_message_row row = {.key = key};
  return ppi_keyed_sorted(
      PPI_KEYED(messages->rows, messages->num, messages->capacity), &row,
      compare_rows);
}

static void add_row(ppi_message_row *into, const ppi_message_row *from) {
  ppi_spread_merge(&into->bytes, &from->bytes);
  ppi_spread_merge(&into->host, &from->host);
  ppi_spread_merge(&into->host_bytes, &from->host_bytes);
  ppi_spread_merge(&into->device, &from->device);
  ppi_spread_merge(&into->device_bytes, &from->device_bytes);
}

// Replaces exact rows by rows of powers, in place. Powers of sorted sizes are
// sorted, and no power's row overtakes its sizes.
static void go_by_power(ppi_messages *messages) {
  size_t kept = 0;
  messages->by_power = true;
  for (size_t i = 0; i < messages->num; i++) {
    ppi_message_row row = messages->rows[i];
    row.key = power_of(row.key);
    if (kept > 0 && messages->rows[kept - 1].key == row.key)
      add_row(&messages->rows[kept - 1], &row);
    else
      messages->rows[kept++] = row;
  }
  messages->num = kept;
}

static bool add_to(ppi_messages *messages, const ppi_message_row *from,
                   uint64_t key) {
  ppi_message_row *row = find_or_add(messages, key);
  if (!row) return false;
  add_row(row, from);
  if (!messages->by_power && messages->num > PPI_MESSAGES_EXACT)
    go_by_power(messages);
  return true;
}

static uint64_t length(uint64_t start_ns, uint64_t end_ns) {
  return end_ns > start_ns ? end_ns - start_ns : 0;
}

bool ppi_messages_add(ppi_messages *messages, const pprof_event *event) {
  const double most = 0x1p62;
  if (!event->work || !(event->work->bytes >= 1)) return true;
  double stated = event->work->bytes < most ? event->work->bytes : most;
  uint64_t bytes = (uint64_t)(stated + 0.5);
  ppi_message_row row = {.key = bytes};
  ppi_spread_add(&row.bytes, bytes);
  if (event->kind == PPROF_KIND_RANGE) {
    bool is_cut = event->flags & PPROF_FLAG_CLIPPED;
    ppi_spread_add_either(&row.host, length(event->start_ns, event->end_ns),
                          is_cut);
    ppi_spread_add_either(&row.host_bytes, bytes, is_cut);
  } else if (event->kind != PPROF_KIND_DEVICE_RANGE) {
    return true;
  } else if (event->device_start_ns || event->device_end_ns) {
    ppi_spread_add(&row.device,
                   length(event->device_start_ns, event->device_end_ns));
    ppi_spread_add(&row.device_bytes, bytes);
  }
  return add_to(messages, &row, messages->by_power ? power_of(bytes) : row.key);
}

bool ppi_messages_merge(ppi_messages *into, const ppi_messages *from) {
  if (from->by_power && !into->by_power) go_by_power(into);
  for (size_t i = 0; i < from->num; i++) {
    uint64_t key = from->rows[i].key;
    bool convert = into->by_power && !from->by_power;
    if (!add_to(into, &from->rows[i], convert ? power_of(key) : key))
      return false;
  }
  return true;
}

void ppi_messages_clear(ppi_messages *messages) {
  ppi_free(messages->rows);
  *messages = (ppi_messages){0};
}

void ppi_messages_carry(ppi_carry *carry, ppi_messages *messages) {
  ppi_carry_items(carry, &messages->rows, &messages->num,
                  sizeof *messages->rows);
  PPI_CARRY_FROM(carry, messages, by_power, by_power);
}
