// SPDX-License-Identifier: Apache-2.0
//
// Sites are decided once in each epoch, by the thread that comes by first.
#include "mark/site_id.h"

uint32_t ppi_site_decide(uint32_t number, uint32_t epoch) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
  uint32_t verdict = ppi_names_verdict(recorder->names, number);
  bool records =
      !(verdict & PPI_SITE_IS_EXCLUDED) &&
      epoch != __atomic_load_n(&recorder->watch_epoch, __ATOMIC_RELAXED);
  uint32_t more = recorder->emits;
  if (records && verdict & PPI_SITE_IS_MEASURED) more |= PPI_SITE_CPU;
  if (verdict & PPI_SITE_IS_WATCHED) {
    // A range's handle may hold the number (PPI_RANGE_LAST).
    ppi_names_stay(recorder->names, number);
    return number | PPI_SITE_APART | more | (records ? 0 : PPI_SITE_EXCLUDED);
  }
  if (!records) return PPROF_SITE_EXCLUDED_;
  if (!more) return number;
  return number | PPI_SITE_APART | PPI_SITE_UNWATCHED | more;
}

uint32_t ppi_site_resolve(pprof_site *site, uint32_t epoch) {
  uint32_t id = ppi_names_site(ppi_recorder_in_force.names, site->name,
                               site->category, site->color);
  bool stays = site->reserved_[0] != PPROF_SITE_ONCE_;
  if (id && stays) ppi_names_stay(ppi_recorder_in_force.names, id);
  if (id) id = ppi_site_decide(id, epoch);
  if (!stays) return id;
  // Nothing is published by it: markers use the id alone, and whoever wants the
  // name asks ppi_names_site_record.
  __atomic_store_n(&site->state_, (uint64_t)epoch << 32 | id, __ATOMIC_RELAXED);
  return id;
}
