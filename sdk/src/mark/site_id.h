// SPDX-License-Identifier: Apache-2.0
//
// The id of a site in an epoch: its number, and flags for work beside
// recording.
#pragma once

#include "mark/recorder.h"
#include "names/names_fold.h"

// ppi_site_id answers the id a site has in this epoch. Between enter and leave.
// The top bit says that there is more to do than to record. The id is then
// negative, so the markers' test for 0 finds it, too. The bits below say what:
// an NVTX tool gets the site; no rule watches its name; it is not recorded; the
// CPU use of its ranges is measured (cpu_mark.h); its name has folded, and the
// thread has its numbers (name_cache.h). An id with all bits set is excluded,
// and has no number.
#define PPI_SITE_APART 0x80000000u
#define PPI_SITE_EMITS 0x40000000u
#define PPI_SITE_UNWATCHED 0x20000000u
#define PPI_SITE_EXCLUDED 0x10000000u
#define PPI_SITE_CPU 0x08000000u
#define PPI_SITE_NUMBERS 0x04000000u
#define PPI_SITE_NUMBER 0x000fffffu
PPI_STATIC_ASSERT(PPI_MAX_SITES < PPI_SITE_NUMBER, "a number fits");
static inline bool ppi_site_is_plain(uint32_t id) {
  return (int32_t)id > 0;
}
static inline bool ppi_site_is_watched(uint32_t id) {
  return (id & (PPI_SITE_APART | PPI_SITE_UNWATCHED)) == PPI_SITE_APART;
}
// ppi_site_usual answers the id of a plain site that is decided in this epoch;
// for any other site ppi_id_is_usual is false.
static inline uint64_t ppi_site_usual(const pprof_site *site, uint32_t epoch) {
  return __atomic_load_n(&site->state_, __ATOMIC_RELAXED) -
         ((uint64_t)epoch << 32);
}
static inline bool ppi_id_is_usual(uint64_t id) {
  return id - 1 < PPI_SITE_APART - 1;
}
// ppi_site_decide answers the id of site `number` in this epoch;
// ppi_site_decide_by by the verdict on one of the names that fold into it.
uint32_t ppi_site_decide(uint32_t number, uint32_t epoch);
uint32_t ppi_site_decide_by(uint32_t number, uint32_t verdict, uint32_t epoch);
uint32_t ppi_site_resolve(pprof_site *site, uint32_t epoch);
// ppi_site_of_counter answers it for a counter. A counter's name does not fold:
// one with another number is another counter.
uint32_t ppi_site_of_counter(pprof_site *site, uint32_t epoch);
// ppi_site_recall gives the thread the numbers of a site that is looked up once
// and has folded; `id` has PPI_SITE_APART.
void ppi_site_recall(const pprof_site *site, uint32_t id);
// ppi_site_folded answers the id for one marker with a folded name, and gives
// the name's numbers to the thread. ppi_site_reported answers it where the
// thread has the numbers; `id` is the site's.
uint32_t ppi_site_folded(const ppi_folded *folded, uint32_t epoch);
static inline uint32_t ppi_site_reported(uint32_t id, ppi_reported reported,
                                         pprof_numbers *numbers) {
  if (reported == PPI_REPORTED_NOTHING || id == 0) return id;
  if (reported == PPI_REPORTED_NUMBERS) {
    if (numbers->num == 0) return id;
    numbers->full_name = PPROF_NAME_FOLDED;
  }
  return id | PPI_SITE_APART | PPI_SITE_UNWATCHED | PPI_SITE_NUMBERS;
}
static inline uint32_t ppi_site_id(pprof_site *site, uint32_t epoch) {
  uint64_t state = __atomic_load_n(&site->state_, __ATOMIC_RELAXED);
  if (PPI_LIKELY(state >> 32 == epoch)) return (uint32_t)state;
  return ppi_site_resolve(site, epoch);
}
