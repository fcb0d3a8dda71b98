// SPDX-License-Identifier: Apache-2.0
//
// Copies the lanes of a stretch, sweeps the copies as jobs, and adds up.
#include "report/run/handover.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/parts/threads.h"

// With more paths of all workers, these would take too much memory.
#define MOST_PATHS 16384u

typedef struct stretch {
  ppi_job job;
  ppi_run *run;
  ppi_sweep_stretch of;
  ppi_sweep_walk walk;
  ppi_run_lane *lanes;
  void **lane_items;  // of ppi_run_ids
  size_t num_lanes;
  ppi_run_thread *threads;
  size_t num_threads;
  uint64_t *words;  // all pages
  ppi_hold_page **pages;
  uint32_t num_paths;
  bool done;
} stretch;

// ---- the job ----

static void sweep(ppi_job *job, unsigned worker) {
  stretch *self = (stretch *)job;
  ppi_run *sums = &self->run->handover.sums[worker];
  sums->ids.lanes = (ppi_run_table){self->lane_items, self->num_lanes, 0};
  self->done = self->walk(sums, &self->of);
  sums->ids.lanes = (ppi_run_table){0};
  self->num_paths = (uint32_t)sums->paths.num;
}

static void free_stretch(stretch *self) {
  for (size_t i = 0; i < self->num_lanes; i++) ppi_free(self->lanes[i].frames);
  PPI_FREE_ALL(self->lanes, self->lane_items, self->threads, self->words,
               self->pages, self->of.open, self);
}

static bool retire(ppi_job *job) {
  stretch *self = (stretch *)job;
  ppi_handover *handover = &self->run->handover;
  bool done = self->done;
  handover->most_paths = PPI_MAX(handover->most_paths, self->num_paths);
  free_stretch(self);
  return done;
}

// ---- copies ----

// The amount to copy.
typedef struct extent {
  size_t num_lanes, num_pages, num_words;
} extent;

static const size_t page_words = sizeof(ppi_hold_page) / sizeof(uint64_t);

static bool is_ahead(const ppi_hold_page *page, uint64_t horizon_ns) {
  return page->min_start_ns >= horizon_ns && horizon_ns != UINT64_MAX;
}

static void measure_hold(const ppi_hold *hold, uint64_t horizon_ns,
                         extent *sum) {
  for (size_t i = 0; i < hold->num_pages; i++) {
    if (is_ahead(hold->pages[i], horizon_ns)) continue;
    sum->num_pages++;
    sum->num_words += page_words + hold->pages[i]->num_words;
  }
}

// The walk would sort the lanes' holds, which then stay sorted.
static bool measure(ppi_run *run, uint64_t horizon_ns, extent *out) {
  bool done = true;
  for (size_t i = 0; i < ppi_run_num_lanes(&run->ids) && done; i++) {
    ppi_run_lane *lane = ppi_run_any_lane(&run->ids, i);
    if (!lane || !lane->thread) continue;
    size_t before = out->num_pages;
    if (lane->nested.unsorted)
      done = ppi_hold_sort(&lane->nested, &run->ids.pool);
    if (lane->loose.unsorted && done)
      done = ppi_hold_sort(&lane->loose, &run->ids.pool);
    measure_hold(&lane->nested, horizon_ns, out);
    measure_hold(&lane->loose, horizon_ns, out);
    out->num_lanes += out->num_pages > before;
  }
  return done;
}

static ppi_hold copy_hold(stretch *self, const ppi_hold *from, extent *used) {
  ppi_hold copy = {.pages = self->pages + used->num_pages};
  for (size_t i = 0; i < from->num_pages; i++) {
    const ppi_hold_page *page = from->pages[i];
    if (is_ahead(page, self->of.horizon_ns)) continue;
    uint64_t *to = self->words + used->num_words;
    memcpy(to, page, sizeof *page + page->num_words * sizeof *page->words);
    self->pages[used->num_pages++] = (ppi_hold_page *)(void *)to;
    used->num_words += page_words + page->num_words;
    copy.num_pages++;
  }
  return copy;
}

// The copies of a lane and its thread.
static ppi_run_lane *copy_lane(stretch *self, ppi_run_lane *lane) {
  ppi_run_thread *thread = lane->thread;
  if (!thread->copy) {
    self->threads[self->num_threads] =
        (ppi_run_thread){.number = thread->number,
                         .index = thread->index,
                         .cover_ns = UINT64_MAX,
                         .later_cover_ns = UINT64_MAX,
                         .level_ns = UINT64_MAX};
    thread->copy = (uint32_t)++self->num_threads;
  }
  ppi_run_lane *copy = &self->lanes[self->num_lanes];
  *copy = (ppi_run_lane){.id = lane->id,
                         .thread = &self->threads[thread->copy - 1]};
  self->lane_items[self->num_lanes++] = copy;
  lane->copy = (uint32_t)self->num_lanes;
  return copy;
}

static void copy_lanes(stretch *self) {
  ppi_run_ids *ids = &self->run->ids;
  extent used = {0};
  for (size_t i = 0; i < ppi_run_num_lanes(ids); i++) {
    ppi_run_lane *lane = ppi_run_any_lane(ids, i);
    extent own = {0};
    if (!lane || !lane->thread) continue;
    lane->num_frames = 0;
    measure_hold(&lane->nested, self->of.horizon_ns, &own);
    measure_hold(&lane->loose, self->of.horizon_ns, &own);
    if (!own.num_pages) continue;
    ppi_run_lane *copy = copy_lane(self, lane);
    copy->nested = copy_hold(self, &lane->nested, &used);
    copy->loose = copy_hold(self, &lane->loose, &used);
  }
  for (size_t i = 0; i < self->of.num_open; i++) {
    ppi_run_open *open = &self->of.open[i];
    if (!open->lane->copy) copy_lane(self, open->lane);
    open->lane = &self->lanes[open->lane->copy - 1];
  }
  for (size_t i = 0; i < ppi_run_num_lanes(ids); i++) {
    ppi_run_lane *lane = ppi_run_any_lane(ids, i);
    if (!lane || !lane->thread) continue;
    lane->copy = 0;
    lane->thread->copy = 0;
  }
}

static stretch *copy_stretch(ppi_run *run, const ppi_sweep_stretch *of,
                             const extent *size) {
  stretch *self = ppi_alloc(sizeof *self);
  size_t most = size->num_lanes + of->num_open + 1;
  if (!self) return NULL;
  *self = (stretch){
      .job = {.run = sweep,
              .retire = retire,
              .size = size->num_words * sizeof *self->words},
      .run = run,
      .of = *of,
      .lanes = ppi_alloc(most * sizeof *self->lanes),
      .lane_items = ppi_alloc(most * sizeof *self->lane_items),
      .threads = ppi_alloc(most * sizeof *self->threads),
      .words = ppi_alloc((size->num_words + 1) * sizeof *self->words),
      .pages = ppi_alloc((size->num_pages + 1) * sizeof *self->pages)};
  self->of.open = ppi_alloc((of->num_open + 1) * sizeof *of->open);
  if (!self->lanes || !self->lane_items || !self->threads || !self->words ||
      !self->pages || !self->of.open) {
    free_stretch(self);
    return NULL;
  }
  if (of->num_open)
    memcpy(self->of.open, of->open, of->num_open * sizeof *of->open);
  copy_lanes(self);
  return self;
}

// ---- sums ----

// Gives each worker the marks of all sites; no job runs.
static bool copy_marks(ppi_run *run) {
  ppi_handover *handover = &run->handover;
  const ppi_run_ids *ids = &run->ids;
  for (unsigned i = 0; i < ppi_jobs_num(handover->line.jobs); i++) {
    ppi_run_ids *to = &handover->sums[i].ids;
    if (!PPI_ROOM(to->marks, to->marks_capacity, ids->sites.num + 1))
      return false;
    for (size_t site = 0; site < ids->sites.num; site++) {
      const ppi_run_site *from = ids->sites.items[site];
      to->marks[site] = (ppi_run_mark){0};
      if (!from || !from->place) continue;
      ppi_run_category *place = ppi_run_category_at(to, from->category);
      if (!place) return false;
      to->marks[site] = (ppi_run_mark){place, from->traits, from->category};
    }
  }
  handover->num_marked = ids->num_marked;
  return true;
}

static bool prepare(ppi_run *run) {
  ppi_handover *handover = &run->handover;
  if (handover->sums && handover->num_marked == run->ids.num_marked)
    return true;
  handover->line.jobs = run->details.jobs;
  if (!handover->sums) {
    unsigned num = ppi_jobs_num(run->details.jobs);
    handover->sums = ppi_alloc(num * sizeof *handover->sums);
    if (!handover->sums) return false;
    for (unsigned i = 0; i < num; i++) {
      handover->sums[i].details = run->details;
      handover->sums[i].paths.is_flat = run->paths.is_flat;
    }
  }
  return ppi_line_end(&handover->line) && copy_marks(run);
}

static bool may_hand_over(const ppi_run *run) {
  const ppi_report_details *details = &run->details;
  return details->jobs && details->much_pages && !details->one_way &&
         !details->operator_parts && !run->device_calls.num_kept &&
         (uint64_t)run->handover.most_paths * ppi_jobs_num(details->jobs) <=
             MOST_PATHS;
}

bool ppi_handover_put(ppi_run *run, const ppi_sweep_stretch *of,
                      ppi_sweep_walk walk, bool *out_handed) {
  extent size = {0};
  *out_handed = false;
  if (!may_hand_over(run)) return true;
  bool done = measure(run, of->horizon_ns, &size);
  if (!done || size.num_pages < run->details.much_pages) return done;
  if (!prepare(run)) return false;
  stretch *self = copy_stretch(run, of, &size);
  if (!self) return false;
  self->walk = walk;
  *out_handed = true;
  return ppi_line_put(&run->handover.line, &self->job);
}

static bool add_sums(ppi_run *run, ppi_run *from) {
  run->handover.has_dropped |= from->paths.num_dropped > 0;
  for (uint32_t id = 0; id < from->ids.categories.num; id++) {
    const ppi_run_category *category = from->ids.categories.items[id];
    if (!category || !category->host_ns) continue;
    ppi_run_category *to = ppi_run_category_at(&run->ids, id);
    if (!to) return false;
    to->host_ns += category->host_ns;
  }
  for (int i = 0; i < PPI_NUM_PHASES; i++)
    ppi_spread_merge(&run->steps.times[i], &from->steps.times[i]);
  return ppi_paths_add(&run->paths, &from->paths, &run->handover.has_dropped);
}

bool ppi_handover_end(ppi_run *run) {
  ppi_handover *handover = &run->handover;
  bool done = ppi_line_end(&handover->line);
  unsigned num = handover->sums ? ppi_jobs_num(handover->line.jobs) : 0;
  for (unsigned i = 0; i < num; i++) {
    ppi_run *from = &handover->sums[i];
    done = done && add_sums(run, from);
    ppi_paths_clear(&from->paths);
    ppi_run_clear_ids(&from->ids);
  }
  ppi_free(handover->sums);
  handover->sums = NULL;
  return done;
}
