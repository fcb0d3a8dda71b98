// SPDX-License-Identifier: Apache-2.0
//
// Decides each site once in each epoch, on the first thread that needs it.
#include "mark/site_id.h"

#include "mark/thread.h"

uint32_t ppi_site_decide(uint32_t number, uint32_t epoch) {
  return ppi_site_decide_by(
      number, ppi_names_verdict(ppi_recorder_in_force.names, number), epoch);
}

uint32_t ppi_site_decide_by(uint32_t number, uint32_t verdict, uint32_t epoch) {
  const ppi_recorder *recorder = &ppi_recorder_in_force;
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

uint32_t ppi_site_folded(const ppi_folded *folded, uint32_t epoch) {
  pprof_numbers *numbers = &ppi_thread_self->names.numbers;
  *numbers = folded->numbers;
  return ppi_site_reported(
      ppi_site_decide_by(folded->site, folded->verdict, epoch),
      folded->reported, numbers);
}

// Other threads may copy the same values meanwhile.
static void copy_numbers(pprof_numbers *to, const pprof_numbers *from) {
  PPI_STATIC_ASSERT(sizeof *to % sizeof(uint64_t) == 0, "whole words");
  uint64_t *into = (void *)to;
  const uint64_t *words = (const void *)from;
  for (size_t i = 0; i < sizeof *to / sizeof *into; i++)
    __atomic_store_n(&into[i], __atomic_load_n(&words[i], __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

static pprof_numbers *numbers_of(const pprof_site *site) {
  return site->reserved_[0] == PPROF_SITE_NVTX_
             ? (pprof_numbers *)(uintptr_t)site->reserved_[1]
             : NULL;
}

__attribute__((noinline)) void ppi_site_recall(const pprof_site *site,
                                               uint32_t id) {
  if (!(id & PPI_SITE_NUMBERS) || id == PPROF_SITE_EXCLUDED_) return;
  // Pairs with the release in folding_id.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  copy_numbers(&ppi_thread_self->names.numbers, numbers_of(site));
}

// The id of a name given at run time; a folded name takes no lock.
static uint32_t folding_id(const pprof_site *site, bool stays, uint32_t epoch) {
  ppi_names *names = ppi_recorder_in_force.names;
  ppi_folded folded;
  if (ppi_names_folded(names, site->name, strlen(site->name), site->category,
                       &folded)) {
    pprof_numbers *kept = stays ? numbers_of(site) : NULL;
    bool is_kept = stays && site->reserved_[0] == PPROF_SITE_NVTX_;
    if (is_kept && !kept) folded.reported = PPI_REPORTED_NOTHING;
    uint32_t id = ppi_site_folded(&folded, epoch);
    if (!kept) return id;
    copy_numbers(kept, &ppi_thread_self->names.numbers);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return id;
  }
  uint32_t id = ppi_names_learn(names, site->name, site->category, site->color);
  if (id && stays) ppi_names_stay(names, id);
  return id ? ppi_site_decide(id, epoch) : 0;
}

// A name that is given at run time may have a category chosen for it.
static pprof_site chosen_of(const pprof_site *site) {
  // Without `state_`, which other threads write meanwhile.
  pprof_site chosen = {.name = site->name,
                       .category = site->category,
                       .color = site->color,
                       .reserved_ = {site->reserved_[0], site->reserved_[1]}};
  if (site->reserved_[0] && site->name)
    chosen.category =
        ppi_names_category(ppi_recorder_in_force.names, site->name,
                           strlen(site->name), site->category);
  return chosen;
}

static uint32_t own_id(const pprof_site *site, bool stays, uint32_t epoch) {
  ppi_names *names = ppi_recorder_in_force.names;
  uint32_t id = ppi_names_site(names, site->name, site->category, site->color);
  if (id && stays) ppi_names_stay(names, id);
  return id ? ppi_site_decide(id, epoch) : 0;
}

// Publishes nothing: markers use the id alone; ppi_names_site_record has the
// name.
static void keep_id(pprof_site *site, uint32_t id, uint32_t epoch) {
  __atomic_store_n(&site->state_, (uint64_t)epoch << 32 | id, __ATOMIC_RELAXED);
}

uint32_t ppi_site_of_counter(pprof_site *site, uint32_t epoch) {
  uint64_t state = __atomic_load_n(&site->state_, __ATOMIC_RELAXED);
  if (state >> 32 == epoch) return (uint32_t)state;
  const pprof_site chosen = chosen_of(site);
  bool stays = site->reserved_[0] != PPROF_SITE_ONCE_;
  uint32_t id = own_id(&chosen, stays, epoch);
  if (stays) keep_id(site, id, epoch);
  return id;
}

uint32_t ppi_site_resolve(pprof_site *site, uint32_t epoch) {
  uint64_t kind = site->reserved_[0];
  bool stays = kind != PPROF_SITE_ONCE_;
  bool folds =
      kind && site->name &&
      ppi_names_folds(ppi_recorder_in_force.names, kind == PPROF_SITE_NVTX_,
                      site->name, strlen(site->name));
  const pprof_site chosen = chosen_of(site);
  uint32_t id =
      folds ? folding_id(&chosen, stays, epoch) : own_id(&chosen, stays, epoch);
  if (!stays) return id;
  // The numbers of its name go to the thread with each call.
  bool has_numbers = id & PPI_SITE_NUMBERS && id != PPROF_SITE_EXCLUDED_;
  if (kind == PPROF_SITE_NAMED_ && has_numbers) return id;
  keep_id(site, id, epoch);
  return id;
}
