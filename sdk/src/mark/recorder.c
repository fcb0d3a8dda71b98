// SPDX-License-Identifier: Apache-2.0
//
// Publishes the recorder in force and all copies of the epoch. Called by
// threads that start, stop or move the windows of a session.
#include "mark/recorder.h"

#include <sys/mman.h>
#include <unistd.h>

uint32_t pprof_epoch_;
// The library's own epoch. A program without -fPIC has a copy of pprof_epoch_;
// libraries loaded with RTLD_DEEPBIND read this one.
static uint32_t own_epoch __attribute__((alias("pprof_epoch_")));
uint32_t *ppi_epoch_page;
uint32_t ppi_epoch_near;
ppi_recorder ppi_recorder_in_force;

static uint32_t last_epoch;

// Off the page's border, as thread blocks are (new_block), and elsewhere.
#define EPOCH_IN_PAGE 1536u

// Also whenever the clock changes.
static void publish_usual(void) {
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_RELAXED);
  __atomic_store_n(ppi_epoch_page + 3, ppi_clock_is_counter() ? epoch : 0,
                   __ATOMIC_RELEASE);
}

void ppi_recorder_count_lost(void) {
  __atomic_fetch_add(&ppi_recorder_in_force.spool.header->lost, 1,
                     __ATOMIC_RELAXED);
}

bool ppi_epoch_init(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  // Where the kernel cannot wipe (before 4.14), raw clone stays uncovered;
  // fork has its handler.
  madvise(memory, page, MADV_WIPEONFORK);
  uint32_t *words = (uint32_t *)(void *)((char *)memory + EPOCH_IN_PAGE);
  words[2] = 1;
  // The end of a device range looks for it without an epoch.
  __atomic_store_n(&ppi_epoch_page, words, __ATOMIC_RELEASE);
  ppi_clock_watch(publish_usual);
  return true;
}

void ppi_epoch_in_forked_child(void) {
  __atomic_store_n(&pprof_epoch_, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&own_epoch, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&ppi_epoch_near, 0, __ATOMIC_RELAXED);
  if (!ppi_epoch_page) return;
  ppi_epoch_page[0] = ppi_epoch_page[1] = ppi_epoch_page[3] = 0;
  ppi_epoch_page[2] = 1;
}

void ppi_epoch_replace(uint32_t from, uint32_t to) {
  uint32_t *const words[] = {&pprof_epoch_, &own_epoch, &ppi_epoch_near};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    uint32_t found = from;
    __atomic_compare_exchange_n(words[i], &found, to, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  }
}

void ppi_epoch_publish(uint32_t epoch) {
  // Pairs with the acquire in ppi_enter: with it the recorder and the edge.
  __atomic_store_n(ppi_epoch_page, epoch, __ATOMIC_RELEASE);
  publish_usual();
  __atomic_store_n(&ppi_epoch_near, epoch, __ATOMIC_RELEASE);
  __atomic_store_n(&pprof_epoch_, epoch, __ATOMIC_RELEASE);
  __atomic_store_n(&own_epoch, epoch, __ATOMIC_RELEASE);
}

void ppi_epoch_wake(void) {
  ppi_epoch_replace(0, ppi_epoch_next());
}

uint32_t ppi_epoch_next(void) {
  do {
    last_epoch++;
  } while (last_epoch == 0 || last_epoch == PPI_NO_EPOCH);
  return last_epoch;
}
