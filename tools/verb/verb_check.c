// SPDX-License-Identifier: Apache-2.0
//
// Runs `check`: decodes a log and checks each block's checksum and number. It
// prints a line for each property that must hold, and the losses that the run
// counted.
#include <inttypes.h>

#include "cli/output.h"
#include "event/tally.h"
#include "input/input.h"
#include "input/log_info.h"
#include "input/segments.h"
#include "input/sums.h"
#include "log/format/log_file.h"
#include "report/report.h"
#include "verb/verbs.h"

// The defined ids of a kind.
struct known_ids {
  bool *is_known;
  size_t num, capacity;
};

enum { NUM_KINDS = PPROF_DEFINITION_ATTRIBUTES + 1 };

struct check_sink {
  pprof_sink base;
  const char *path;
  ppi_page *out;
  struct known_ids known[NUM_KINDS];
  uint64_t *next_seqs;  // by lane
  size_t num_seqs, seqs_capacity;
  // Of the current run; the report checks the identity.
  uint64_t run_events;
  ppi_tally tally;
  pprof_report *report;
  pprof_sink *next;  // the report's
  // Of all runs. num_not_here counts recorded events that the log lacks.
  uint32_t num_runs, num_unfinished;
  bool is_open;  // the walk over blocks is before the run's totals
  uint64_t num_blocks, num_bad_blocks, num_events, num_not_here;
  uint64_t num_out_of_order, num_undefined, num_backward;
  uint64_t num_identity_failed, num_wrong_sums, num_disbelieved;
  uint64_t totals[PPI_NUM_TOTALS];
};

enum { MAX_ID = 1 << 20 };

static void clear_run(struct check_sink *self) {
  for (size_t kind = 0; kind < NUM_KINDS; kind++) self->known[kind].num = 0;
  self->num_seqs = 0;
  ppi_tally_clear(&self->tally);
  pprof_report_destroy(self->report);
  self->report = NULL;
  self->run_events = 0;
}

static pprof_status check_begin(pprof_sink *sink, const pprof_run_info *info) {
  struct check_sink *self = (struct check_sink *)sink;
  clear_run(self);
  PPI_TRY(pprof_report_create(&self->report));
  self->next = pprof_report_sink(self->report);
  return self->next->begin(self->next, info);
}

static pprof_status check_define(pprof_sink *sink,
                                 const pprof_definition *definition) {
  struct check_sink *self = (struct check_sink *)sink;
  uint32_t id = pprof_definition_id(definition);
  pprof_definition_kind kind = pprof_definition_get_kind(definition);
  if ((unsigned)kind < NUM_KINDS && id < MAX_ID) {
    struct known_ids *known = &self->known[kind];
    PPI_MUST_REACH(known->is_known, known->num, known->capacity, id);
    known->is_known[id] = true;
  }
  return self->next->define(self->next, definition);
}

static bool is_known(const struct check_sink *self, pprof_definition_kind kind,
                     uint32_t id) {
  const struct known_ids *known = &self->known[kind];
  return id < known->num && known->is_known[id];
}

static bool is_defined(const struct check_sink *self,
                       const pprof_event *event) {
  return is_known(self, PPROF_DEFINITION_SITE, event->site) &&
         is_known(self, PPROF_DEFINITION_LANE, event->lane) &&
         (event->kind != PPROF_KIND_DEVICE_RANGE || !event->stream ||
          is_known(self, PPROF_DEFINITION_STREAM, event->stream)) &&
         (!event->attributes ||
          is_known(self, PPROF_DEFINITION_ATTRIBUTES, event->attributes));
}

static pprof_status check_events(pprof_sink *sink, const pprof_batch *batch) {
  struct check_sink *self = (struct check_sink *)sink;
  if (batch->lane >= MAX_ID) return PPROF_STATUS_NO_MEMORY;
  PPI_MUST_REACH(self->next_seqs, self->num_seqs, self->seqs_capacity,
                 batch->lane);
  uint64_t *next_seq = &self->next_seqs[batch->lane];
  if (batch->first_seq < *next_seq || batch->end_seq < batch->first_seq)
    self->num_out_of_order++;
  *next_seq = batch->end_seq;
  self->run_events += batch->num_events;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (!is_defined(self, event)) self->num_undefined++;
    if (event->end_ns < event->start_ns) self->num_backward++;
  }
  pprof_status status = ppi_tally_batch(&self->tally, batch);
  if (status == PPROF_STATUS_NO_MEMORY) return status;
  return self->next->events(self->next, batch);
}

static pprof_status check_checkpoint(pprof_sink *sink,
                                     const pprof_checkpoint *checkpoint) {
  struct check_sink *self = (struct check_sink *)sink;
  return self->next->checkpoint(self->next, checkpoint);
}

static pprof_status check_window(pprof_sink *sink, uint32_t index, bool opens,
                                 uint64_t time_ns) {
  struct check_sink *self = (struct check_sink *)sink;
  return self->next->window(self->next, index, opens, time_ns);
}

// Counts of the events must equal the totals, for each lane and in all. Another
// line reports missing records.
static void check_sums(struct check_sink *self, const pprof_totals *totals) {
  static const ppi_total_key keys[] = {PPI_TOTAL_RECORDED, PPI_TOTAL_CLIPPED,
                                       PPI_TOTAL_ABANDONED, PPI_TOTAL_LATE,
                                       PPI_TOTAL_NO_DEVICE_TIME};
  bool is_all = ppi_totals_get(totals, PPROF_ALL_LANES, PPI_TOTAL_RECORDED) <=
                self->run_events;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    uint64_t said = 0, sum = 0;
    for (uint32_t lane = 0; lane < self->tally.num_lanes; lane++)
      sum += self->tally.lanes[lane][keys[k]];
    for (size_t i = 0; i < totals->num_items; i++) {
      const ppi_total *item = &totals->items[i];
      if (item->key != keys[k] || item->lane == PPROF_ALL_LANES) continue;
      uint64_t here = item->lane < self->tally.num_lanes
                          ? self->tally.lanes[item->lane][keys[k]]
                          : 0;
      said += item->value;
      if (is_all && item->value != here) self->num_wrong_sums++;
    }
    uint64_t all = ppi_totals_get(totals, PPROF_ALL_LANES, keys[k]);
    if (all != said || (is_all && all != sum)) self->num_wrong_sums++;
  }
}

static pprof_status check_identity(struct check_sink *self,
                                   const pprof_totals *totals) {
  pprof_status status = self->next->finish(self->next, totals);
  if (status != PPROF_STATUS_OK) return status;
  const ppi_figures *figures = ppi_report_figures(self->report);
  for (size_t i = 0; figures && i < figures->num_devices; i++)
    self->num_identity_failed +=
        figures->devices[i].failed || figures->devices[i].steps_failed;
  if (figures) self->num_disbelieved += figures->num_disbelieved;
  return status;
}

// Counts add up over runs. Error bounds and costs are those of the worst run.
// All runs are crash-safe if each is.
static void add_total(uint64_t *sum, ppi_total_key key, uint64_t value,
                      bool first) {
  switch (key) {
    case PPI_TOTAL_CLOCK_ERROR_NS:
    case PPI_TOTAL_OWN_COST:
      *sum = PPI_MAX(*sum, value);
      break;
    case PPI_TOTAL_CRASH_SAFE:
      *sum = first ? value : PPI_MIN(*sum, value);
      break;
    default:
      *sum += value;
  }
}

static pprof_status check_finish(pprof_sink *sink, const pprof_totals *totals) {
  struct check_sink *self = (struct check_sink *)sink;
  uint64_t recorded =
      ppi_totals_get(totals, PPROF_ALL_LANES, PPI_TOTAL_RECORDED);
  if (recorded > self->run_events)
    self->num_not_here += recorded - self->run_events;
  self->num_events += self->run_events;
  check_sums(self, totals);
  for (unsigned i = 0; i < PPI_NUM_TOTALS; i++) {
    ppi_total_key key = (ppi_total_key)i;
    add_total(&self->totals[key], key,
              ppi_totals_get(totals, PPROF_ALL_LANES, key),
              self->num_runs == 0);
  }
  self->num_runs++;
  return check_identity(self, totals);
}

static pprof_status check_block(void *user, const ppi_log_block *block) {
  struct check_sink *self = user;
  if (!block->ok)
    ppi_page_format(self->out,
                    "%s: %s block %" PRIu64 " at byte %" PRIu64 ", %" PRIu64
                    " bytes: checksum differs\n",
                    self->path, ppi_tool_block_name(block->header.type),
                    block->header.number, block->offset, block->size);
  self->num_bad_blocks += !block->ok;
  // The next run begins with block 0; a run without totals before it is
  // unfinished.
  self->num_unfinished += block->header.number == 0 && self->is_open;
  self->is_open = block->header.type != PPI_LOG_TOTALS ||
                  (block->header.flags & PPI_LOG_MORE);
  self->num_blocks++;
  return PPROF_STATUS_OK;
}

// Prints "PATH: WHAT: good", or the number of errors.
static void print_line(const struct check_sink *self, const char *what,
                       uint64_t num_wrong, const char *wrong) {
  if (num_wrong)
    ppi_page_format(self->out, "%s: %s: %" PRIu64 " %s\n", self->path, what,
                    num_wrong, wrong);
  else
    ppi_page_format(self->out, "%s: %s: good\n", self->path, what);
}

static void print_checksums(const struct check_sink *self,
                            const ppi_log_damage *damage) {
  if (!damage->num_bytes) {
    print_line(self, "checksums", self->num_bad_blocks, "blocks differ");
    return;
  }
  ppi_page_format(self->out,
                  "%s: checksums: %" PRIu64
                  " bytes unreadable, the first at byte %" PRIu64 "%s\n",
                  self->path, damage->num_bytes, damage->first_offset,
                  damage->cut ? ", up to the end" : "");
}

static void print_order(const struct check_sink *self,
                        const ppi_log_damage *damage) {
  if (damage->num_missing)
    print_line(self, "order", damage->num_missing, "blocks missing");
  if (self->num_out_of_order || !damage->num_missing)
    print_line(self, "order", self->num_out_of_order,
               "stretches of records out of order");
  // The run itself counts these as invalid, so they are no error of the log.
  if (self->num_backward)
    ppi_page_format(self->out,
                    "%s: %" PRIu64 " events that end before they start\n",
                    self->path, self->num_backward);
}

static void print_checks(const struct check_sink *self,
                         const ppi_log_damage *damage) {
  ppi_page_format(self->out, "%s: ", self->path);
  if (self->num_runs > 1)
    ppi_page_format(self->out, "%" PRIu32 " runs, ", self->num_runs);
  ppi_page_format(self->out, "%" PRIu64 " blocks, %" PRIu64 " events\n",
                  self->num_blocks, self->num_events);
  print_checksums(self, damage);
  print_order(self, damage);
  print_line(self, "definitions", self->num_undefined,
             "events of what is not defined");
  print_line(self, "identity", self->num_identity_failed,
             "devices with times that do not add up");
  print_line(self, "sums", self->num_wrong_sums,
             "counts that differ from the events");
  if (self->num_disbelieved)
    print_line(self, "checkpoints", self->num_disbelieved,
               "ranges listed as open after their events");
  if (self->num_not_here)
    ppi_page_format(self->out,
                    "%s: %" PRIu64 " of the run's records are not in the log\n",
                    self->path, self->num_not_here);
}

static void print_totals(const struct check_sink *self) {
  // An unfinished run has no count of its losses.
  bool knows_lost = self->num_unfinished == 0;
  for (unsigned key = 0; key < PPI_NUM_TOTALS; key++)
    if (self->totals[key] || key == PPI_TOTAL_RECORDED ||
        (key == PPI_TOTAL_LOST && knows_lost))
      ppi_page_format(self->out, "%s: %s %" PRIu64 "\n", self->path,
                      ppi_total_name((ppi_total_key)key), self->totals[key]);
}

// Reads the log `path`, then checks each of its blocks.
static int look_at(const char *path, struct check_sink *sink,
                   ppi_log_damage *damage, struct ppi_tool_watch *watch) {
  int code = ppi_tool_read(path, &sink->base, watch);
  if (watch->sink_failed) {
    ppi_tool_say("%s: out of memory", sink->path);
    code = PPI_EXIT_INPUT;
  }
  if (code != PPI_EXIT_INPUT) {
    if (ppi_log_scan(path, check_block, sink, damage, NULL) != PPROF_STATUS_OK)
      code = PPI_EXIT_DAMAGED;
    sink->num_unfinished += sink->is_open || sink->num_blocks == 0;
  }
  if (sink->num_out_of_order || sink->num_undefined ||
      sink->num_identity_failed || sink->num_wrong_sums ||
      sink->num_disbelieved)
    code = PPI_EXIT_DAMAGED;
  return code;
}

static const char *verdict_of(const struct check_sink *sink, bool lost) {
  if (sink->num_unfinished)
    return "unfinished: what was recorded after its last block is not here, "
           "and not counted";
  return lost ? "whole, but records were lost" : "good";
}

static int judge(const struct check_sink *sink, bool lost, bool strict,
                 int code) {
  print_totals(sink);
  if (code == PPI_EXIT_DONE && strict && (lost || sink->num_unfinished))
    code = PPI_EXIT_CHECK;
  ppi_page_format(
      sink->out, "%s: %s\n", sink->path,
      code == PPI_EXIT_DAMAGED ? "damaged" : verdict_of(sink, lost));
  return code;
}

struct checking {
  bool strict;
  ppi_page page;
};

static int check_log(const char *path, void *user) {
  struct checking *checking = user;
  struct check_sink sink = {
      .base = {.size = sizeof(pprof_sink), PPI_SINK_CALLBACKS(check_)},
      .path = path,
      .out = &checking->page};
  struct ppi_tool_watch watch;
  struct ppi_tool_log log;
  ppi_log_damage damage = {0, 0, 0, false};
  ppi_page shown = {0};
  ppi_page_visible(&shown, ppi_tool_name_of(path));
  if (shown.bytes) sink.path = shown.bytes;
  int code = ppi_tool_log_open(path, &log);
  if (code == PPI_EXIT_DONE || code == PPI_EXIT_DAMAGED) {
    int looked = look_at(log.path, &sink, &damage, &watch);
    if (looked > code) code = looked;
    if (looked != PPI_EXIT_INPUT) {
      print_checks(&sink, &damage);
      code = judge(&sink, watch.num_lost || sink.num_not_here, checking->strict,
                   code);
    }
  }
  ppi_tool_log_close(&log);
  clear_run(&sink);
  for (size_t kind = 0; kind < NUM_KINDS; kind++)
    ppi_free(sink.known[kind].is_known);
  ppi_free(sink.next_seqs);
  ppi_page_clear(&shown);
  return code;
}

int ppi_tool_check(const struct ppi_tool_options *options) {
  struct checking checking = {.strict = options->strict};
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  if (options->expect) return ppi_tool_check_expected(options);
  code = ppi_tool_segments_each(options, check_log, &checking);
  for (int i = 0; i < options->num_inputs; i++)
    code = ppi_tool_worse(
        code, ppi_tool_sums_check(options, options->inputs[i], &checking.page));
  return checking.page.len
             ? ppi_tool_output_lines(options, &checking.page, code)
             : code;
}
