// SPDX-License-Identifier: Apache-2.0
//
// `check`: every block's checksum and number, everything in it decoded and
// looked at, and what the run says about its own losses.
#include <inttypes.h>
#include <string.h>

#include "event_impl.h"
#include "input.h"
#include "log_format.h"
#include "log_info.h"
#include "mem.h"
#include "output.h"
#include "text.h"
#include "verbs.h"

struct lane_state {
  uint64_t next_seq;
};

struct check_sink {
  pprof_sink base;
  const char *path;
  ppi_page *out;
  uint8_t *sites_known;
  size_t sites_capacity;
  struct lane_state *lanes;
  size_t num_lanes, lanes_capacity;
  uint64_t num_blocks, last_number, num_events;
  uint64_t num_out_of_order, num_undefined, num_backward;
  uint64_t totals[PPI_NUM_TOTALS];
};

enum { MAX_ID = 1 << 20 };

static pprof_status check_define(pprof_sink *sink,
                                 const pprof_definition *definition) {
  struct check_sink *self = (struct check_sink *)sink;
  uint32_t id = pprof_definition_id(definition);
  if (pprof_definition_get_kind(definition) != PPROF_DEFINITION_SITE ||
      id >= MAX_ID)
    return PPROF_STATUS_OK;
  size_t before = self->sites_capacity;
  uint8_t *known =
      ppi_grow(self->sites_known, &self->sites_capacity, (size_t)id + 1, 1);
  if (!known) return PPROF_STATUS_NO_MEMORY;
  memset(known + before, 0, self->sites_capacity - before);
  self->sites_known = known;
  known[id] = 1;
  return PPROF_STATUS_OK;
}

static struct lane_state *lane_of(struct check_sink *self, uint32_t lane) {
  if (lane >= MAX_ID) return NULL;
  size_t before = self->lanes_capacity;
  struct lane_state *lanes = ppi_grow(self->lanes, &self->lanes_capacity,
                                      (size_t)lane + 1, sizeof(*lanes));
  if (!lanes) return NULL;
  memset(lanes + before, 0, (self->lanes_capacity - before) * sizeof(*lanes));
  self->lanes = lanes;
  return &lanes[lane];
}

static pprof_status check_events(pprof_sink *sink, const pprof_batch *batch) {
  struct check_sink *self = (struct check_sink *)sink;
  struct lane_state *lane = lane_of(self, batch->lane);
  if (!lane) return PPROF_STATUS_NO_MEMORY;
  if (batch->first_seq < lane->next_seq || batch->end_seq < batch->first_seq)
    self->num_out_of_order++;
  lane->next_seq = batch->end_seq;
  self->num_events += batch->num_events;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    bool known =
        event->site < self->sites_capacity && self->sites_known[event->site];
    if (!known) self->num_undefined++;
    if (event->end_ns < event->start_ns) self->num_backward++;
  }
  return PPROF_STATUS_OK;
}

static pprof_status check_finish(pprof_sink *sink, const pprof_totals *totals) {
  struct check_sink *self = (struct check_sink *)sink;
  for (unsigned key = 0; key < PPI_NUM_TOTALS; key++)
    self->totals[key] =
        ppi_totals_get(totals, PPROF_ALL_LANES, (ppi_total_key)key);
  return PPROF_STATUS_OK;
}

static pprof_status check_block(void *user, const ppi_log_block *block) {
  struct check_sink *self = user;
  if (!block->ok)
    ppi_page_format(self->out,
                    "%s: %s block %" PRIu64 " at byte %" PRIu64 ", %" PRIu64
                    " bytes: checksum differs\n",
                    self->path, ppi_tool_block_name(block->header.type),
                    block->header.number, block->offset, block->size);
  if (self->num_blocks && block->header.number <= self->last_number)
    ppi_page_format(self->out,
                    "%s: block %" PRIu64 " at byte %" PRIu64
                    " comes after block %" PRIu64 "\n",
                    self->path, block->header.number, block->offset,
                    self->last_number);
  self->num_blocks++;
  self->last_number = block->header.number;
  return PPROF_STATUS_OK;
}

// Of those that the run says it recorded.
static uint64_t num_not_here(const struct check_sink *self) {
  uint64_t recorded = self->totals[PPI_TOTAL_RECORDED];
  return recorded > self->num_events ? recorded - self->num_events : 0;
}

static void print_damage(const struct check_sink *self,
                         const ppi_log_damage *damage) {
  ppi_page_format(self->out, "%s: %" PRIu64 " blocks, %" PRIu64 " events\n",
                  self->path, self->num_blocks, self->num_events);
  if (damage->num_bytes)
    ppi_page_format(self->out,
                    "%s: %" PRIu64
                    " bytes unreadable, the first at byte %" PRIu64 "%s\n",
                    self->path, damage->num_bytes, damage->first_offset,
                    damage->cut ? ", up to the end" : "");
  if (damage->num_missing)
    ppi_page_format(self->out, "%s: %" PRIu64 " blocks missing\n", self->path,
                    damage->num_missing);
  if (self->num_out_of_order)
    ppi_page_format(self->out, "%s: %" PRIu64 " runs out of order\n",
                    self->path, self->num_out_of_order);
  if (self->num_undefined)
    ppi_page_format(self->out, "%s: %" PRIu64 " events of unknown sites\n",
                    self->path, self->num_undefined);
  if (self->num_backward)
    ppi_page_format(self->out,
                    "%s: %" PRIu64 " events that end before they start\n",
                    self->path, self->num_backward);
  if (num_not_here(self))
    ppi_page_format(self->out,
                    "%s: %" PRIu64 " of the run's records are not in the log\n",
                    self->path, num_not_here(self));
}

static void print_totals(const struct check_sink *self) {
  for (unsigned key = 0; key < PPI_NUM_TOTALS; key++)
    if (self->totals[key] || key == PPI_TOTAL_RECORDED || key == PPI_TOTAL_LOST)
      ppi_page_format(self->out, "%s: %s %" PRIu64 "\n", self->path,
                      ppi_total_name((ppi_total_key)key), self->totals[key]);
}

static int check_log(const char *path, bool strict, ppi_page *out) {
  struct check_sink sink = {.base = {.size = sizeof(pprof_sink),
                                     .define = check_define,
                                     .events = check_events,
                                     .finish = check_finish},
                            .path = path,
                            .out = out};
  struct ppi_tool_watch watch;
  ppi_log_damage damage = {0, 0, 0, false};
  int code = ppi_tool_read(path, &sink.base, &watch);
  if (watch.sink_failed) {
    ppi_tool_say("%s: out of memory", path);
    code = PPI_EXIT_INPUT;
  }
  if (code != PPI_EXIT_INPUT && !ppi_tool_is_spool(path) &&
      ppi_log_scan(path, check_block, &sink, &damage, NULL) != PPROF_STATUS_OK)
    code = PPI_EXIT_DAMAGED;
  if (sink.num_out_of_order || sink.num_undefined) code = PPI_EXIT_DAMAGED;
  if (code != PPI_EXIT_INPUT) {
    print_damage(&sink, &damage);
    print_totals(&sink);
    bool lost = watch.num_lost || num_not_here(&sink);
    if (code == PPI_EXIT_DONE && strict && lost) code = PPI_EXIT_CHECK;
    ppi_page_format(out, "%s: %s\n", path,
                    code == PPI_EXIT_DAMAGED ? "damaged"
                    : lost                   ? "whole, but records were lost"
                                             : "good");
  }
  ppi_free(sink.sites_known);
  ppi_free(sink.lanes);
  return code;
}

int ppi_tool_check(const struct ppi_tool_options *options) {
  ppi_page page = {0};
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  for (int i = 0; i < options->num_inputs; i++) {
    int answer = check_log(options->inputs[i], options->strict, &page);
    if (answer > code) code = answer;
  }
  if (page.len) return ppi_tool_output_page(options, &page, code);
  return code;
}
