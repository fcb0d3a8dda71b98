// SPDX-License-Identifier: Apache-2.0
//
// Shares a table of counts with the processes that watch a run. The collector
// counts under a mutex; watching and leaving lock it while they map a file.
#include "live/live.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/descriptor.h"
#include "base/mem.h"
#include "event/event.h"
#include "live/live_count.h"

#define MS 1000000ull
const uint64_t ppi_live_usual_bounds[] = {
    MS / 10,   MS / 4,    MS / 2,    MS,        5 * MS / 2, 5 * MS,
    10 * MS,   25 * MS,   50 * MS,   100 * MS,  250 * MS,   500 * MS,
    1000 * MS, 2500 * MS, 5000 * MS, 10000 * MS};
const size_t ppi_live_num_usual_bounds =
    sizeof ppi_live_usual_bounds / sizeof *ppi_live_usual_bounds;

struct ppi_live {
  pprof_sink base;
  ppi_live_options options;
  uint64_t bounds_ns[PPI_LIVE_MAX_BOUNDS];
  ppi_live_names names;  // the collector's
  pthread_mutex_t mutex;
  // Under the mutex; the collector also reads `watched` without it.
  bool watched;
  size_t num_watchers;
  int fd;
  ppi_fd_id fd_id;
  ppi_live_counts counts;
};

static ppi_live *live_of(pprof_sink *sink) {
  return (ppi_live *)sink;
}

static bool is_watched(const ppi_live *live) {
  return __atomic_load_n(&live->watched, __ATOMIC_ACQUIRE);
}

// ---- the sink ----

static pprof_status live_begin(pprof_sink *sink, const pprof_run_info *info) {
  return ppi_live_names_begin(&live_of(sink)->names, info);
}

static pprof_status live_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  ppi_live *live = live_of(sink);
  // A missing name costs one row only; the run goes on.
  if (ppi_live_names_define(&live->names, definition) && is_watched(live)) {
    pthread_mutex_lock(&live->mutex);
    if (live->watched) ppi_live_counts_forget(&live->counts, definition);
    pthread_mutex_unlock(&live->mutex);
  }
  return PPROF_STATUS_OK;
}

static pprof_status live_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_live *live = live_of(sink);
  if (PPI_LIKELY(!is_watched(live))) return PPROF_STATUS_OK;
  pthread_mutex_lock(&live->mutex);
  for (size_t i = 0; live->watched && i < batch->num_events; i++)
    ppi_live_count(&live->counts, &live->names, pprof_batch_at(batch, i));
  pthread_mutex_unlock(&live->mutex);
  return PPROF_STATUS_OK;
}

static pprof_status live_checkpoint(pprof_sink *sink,
                                    const pprof_checkpoint *checkpoint) {
  ppi_live *live = live_of(sink);
  pprof_stats stats = {.size = sizeof stats};
  if (PPI_LIKELY(!is_watched(live))) return PPROF_STATUS_OK;
  bool has_stats =
      live->options.stats && live->options.stats(live->options.user, &stats);
  pthread_mutex_lock(&live->mutex);
  if (live->watched)
    ppi_live_count_checkpoint(&live->counts, &live->names, checkpoint,
                              has_stats ? &stats : NULL);
  pthread_mutex_unlock(&live->mutex);
  return PPROF_STATUS_OK;
}

static pprof_status live_window(pprof_sink *sink, uint32_t index, bool opens,
                                uint64_t time_ns) {
  ppi_live *live = live_of(sink);
  (void)index;
  (void)time_ns;
  live->names.is_recording = opens;
  if (!is_watched(live)) return PPROF_STATUS_OK;
  pthread_mutex_lock(&live->mutex);
  if (live->watched)
    __atomic_store_n(&live->counts.table->header.is_recording, opens,
                     __ATOMIC_RELAXED);
  pthread_mutex_unlock(&live->mutex);
  return PPROF_STATUS_OK;
}

static pprof_status live_finish(pprof_sink *sink, const pprof_totals *totals) {
  (void)totals;
  live_of(sink)->names.is_recording = false;
  return PPROF_STATUS_OK;
}

// Under the mutex, or when no other thread can call.
static void end_watch(ppi_live *live) {
  if (!live->watched) return;
  __atomic_store_n(&live->watched, false, __ATOMIC_RELEASE);
  ppi_live_counts_end(&live->counts);
  ppi_fd_close(live->fd, &live->fd_id);
  live->fd = -1;
}

static void live_destroy(pprof_sink *sink) {
  ppi_live *live = live_of(sink);
  end_watch(live);
  ppi_live_names_clear(&live->names);
  pthread_mutex_destroy(&live->mutex);
  ppi_free(live);
}

pprof_status ppi_live_create(const ppi_live_options *options, ppi_live **out) {
  ppi_live *live = ppi_alloc(sizeof *live);
  if (!live) return PPROF_STATUS_NO_MEMORY;
  live->base = (pprof_sink){.size = sizeof live->base,
                            PPI_SINK_CALLBACKS(live_),
                            .destroy = live_destroy,
                            .name = "live"};
  live->options = *options;
  live->fd = -1;
  pthread_mutex_init(&live->mutex, NULL);
  if (!options->num_bounds) {
    live->options.bounds_ns = ppi_live_usual_bounds;
    live->options.num_bounds = ppi_live_num_usual_bounds;
  }
  live->options.num_bounds =
      PPI_MIN(live->options.num_bounds, (size_t)PPI_LIVE_MAX_BOUNDS);
  memcpy(live->bounds_ns, live->options.bounds_ns,
         live->options.num_bounds * sizeof *live->bounds_ns);
  live->options.bounds_ns = live->bounds_ns;
  *out = live;
  return PPROF_STATUS_OK;
}

pprof_sink *ppi_live_sink(ppi_live *live) {
  return &live->base;
}

// ---- watchers ----

// Seals the file: its size is fixed, and from Linux 5.1 on watchers cannot
// write to it. The existing mapping stays writable.
static void seal(int fd) {
  const int add_seals = 1024 + 9, shrink = 2, grow = 4, future_write = 16;
  if (fcntl(fd, add_seals, shrink | grow | future_write) != 0)
    fcntl(fd, add_seals, shrink | grow);
}

static bool begin_watch(ppi_live *live) {
  ppi_live_table *table = NULL;
  live->fd = ppi_fd_memory("pprof-live", sizeof *table);
  if (live->fd < 0) return false;
  live->fd_id = ppi_fd_id_of(live->fd);
  table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED,
               live->fd, 0);
  if (table == MAP_FAILED ||
      !ppi_live_counts_begin(&live->counts, table, live->options.bounds_ns,
                             live->options.num_bounds)) {
    if (table != MAP_FAILED) munmap(table, sizeof *table);
    ppi_fd_close(live->fd, &live->fd_id);
    live->fd = -1;
    return false;
  }
  seal(live->fd);
  ppi_live_names_introduce(&live->names, &table->header);
  __atomic_store_n(&live->watched, true, __ATOMIC_RELEASE);
  return true;
}

int ppi_live_watch(ppi_live *live) {
  int fd = -1;
  pthread_mutex_lock(&live->mutex);
  if ((live->watched || begin_watch(live)) && ppi_fd_is(live->fd, &live->fd_id))
    fd = ppi_fd_copy(live->fd);
  if (fd >= 0)
    live->num_watchers++;
  else if (live->num_watchers == 0)
    end_watch(live);
  pthread_mutex_unlock(&live->mutex);
  return fd;
}

void ppi_live_in_forked_child(ppi_live *live) {
  if (live->fd >= 0) ppi_fd_close(live->fd, &live->fd_id);
  live->fd = -1;
}

void ppi_live_leave(ppi_live *live) {
  pthread_mutex_lock(&live->mutex);
  if (--live->num_watchers == 0) end_watch(live);
  pthread_mutex_unlock(&live->mutex);
}
