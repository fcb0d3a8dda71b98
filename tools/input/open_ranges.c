// SPDX-License-Identifier: Apache-2.0
//
// Finds the spools of operands and prints the ranges that are open in them.
#include "input/open_ranges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/rows.h"
#include "file/json_put.h"
#include "input/spool_operand.h"
#include "recover/forensics.h"
#include "recover/forensics_names.h"
#include "spool/spool_folders.h"

// ---- rows ----

enum {
  CELL_WHERE,
  CELL_TID,
  CELL_STATE,
  CELL_DEPTH,
  CELL_NAME,
  CELL_FOR,
  CELL_SINCE,
  CELL_FLOW,
  CELL_DEVICE,
  CELL_STREAM,
  NUM_CELLS
};

static const ppi_column columns[NUM_CELLS] = {
    {"thread", NULL}, {"tid", NULL},   {"state", NULL}, {"depth", NULL},
    {"name", NULL},   {"open", "ns"},  {"since", NULL}, {"flow", NULL},
    {"device", NULL}, {"stream", NULL}};
static const size_t brief[] = {CELL_WHERE, CELL_TID, CELL_STATE, CELL_DEPTH,
                               CELL_NAME,  CELL_FOR, CELL_SINCE, CELL_DEVICE};
static const ppi_table_column table_columns[] = {
    {"Thread", 10, CELL_WHERE, 1}, {"Tid", 5, CELL_TID, 1},
    {"State", 7, CELL_STATE, 1},   {"Depth", 5, CELL_DEPTH, 1},
    {"Name", 10, CELL_NAME, 1},    {"Open for", 8, CELL_FOR, 1},
    {"Since", 24, CELL_SINCE, 1},  {"Flow", 4, CELL_FLOW, 1},
    {"Device", 6, CELL_DEVICE, 1}, {"Stream", 6, CELL_STREAM, 1},
};
static const ppi_view_kind view_kind = {.name = "open",
                                        .title = "Open Ranges",
                                        PPI_VIEW_LAYOUT(columns, table_columns),
                                        PPI_VIEW_BRIEF(brief),
                                        .has_time_unit = true,
                                        .end = PPI_TABLE_END_RULE};

static bool is_finished(const ppi_open_item *item) {
  return item->kind == PPI_OPEN_FINISHED || item->kind == PPI_OPEN_LANE_LAST;
}

static const char *state_of(const ppi_open_item *item) {
  switch (item->kind) {
    case PPI_OPEN_RANGE:
      return "open";
    case PPI_OPEN_NOTHING:
      return "nothing open";
    case PPI_OPEN_CHANGING:
      return "changing";
    case PPI_OPEN_LANE_LAST:
      return "last on device";
    case PPI_OPEN_CROSS_THREAD:
      return "cross-thread";
    case PPI_OPEN_DEVICE:
      return item->submitted ? "submitted" : "being submitted";
    case PPI_OPEN_FINISHED:
      return "last finished";
  }
  return "";
}

static ppi_cell name_cell(const ppi_forensics *found, ppi_view *view,
                          uint32_t kind, uint32_t id) {
  if (id == 0) return (ppi_cell){.kind = PPI_CELL_NONE};
  const ppi_definition_record *record = ppi_forensics_find(found, kind, id);
  if (record && *ppi_definition_text(kind, record->name))
    return ppi_cell_text(ppi_definition_text(kind, record->name));
  const char *text = ppi_view_text(view, "#%" PRIu32, id);
  return text ? ppi_cell_text(text) : (ppi_cell){.kind = PPI_CELL_NONE};
}

// "2026-11-21T07:30:00.123456Z".
static void format_wall(uint64_t ns, char out[48]) {
  time_t seconds = (time_t)(ns / 1000000000);
  struct tm parts;
  out[0] = '\0';
  if (!gmtime_r(&seconds, &parts)) return;
  size_t len = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &parts);
  if (len)
    snprintf(out + len, 48 - len, ".%06uZ", (unsigned)(ns / 1000 % 1000000));
}

static ppi_cell wall_cell(const ppi_forensics *found, ppi_view *view,
                          uint64_t ns) {
  char text[48];
  format_wall(found->start_realtime_ns + ns, text);
  const char *kept = ppi_view_text(view, "%s", text);
  return kept ? ppi_cell_text(kept) : (ppi_cell){.kind = PPI_CELL_NONE};
}

static void put_place(const ppi_forensics *found, const ppi_open_item *item,
                      ppi_cell *cells, ppi_view *view) {
  cells[CELL_WHERE] = name_cell(found, view, PPROF_DEFINITION_LANE, item->lane);
  const ppi_definition_record *lane =
      ppi_forensics_find(found, PPROF_DEFINITION_LANE, item->lane);
  uint64_t tid = item->tid ? item->tid : lane ? lane->number : 0;
  if (tid) cells[CELL_TID] = ppi_cell_count(tid);
  cells[CELL_DEVICE] =
      name_cell(found, view, PPROF_DEFINITION_DEVICE, item->device);
  cells[CELL_STREAM] =
      name_cell(found, view, PPROF_DEFINITION_STREAM, item->stream);
}

// Adds the row of an item: the time since its begin if open, since its end if
// finished.
static bool add_item_row(const ppi_forensics *found, const ppi_open_item *item,
                         ppi_view *view) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  put_place(found, item, cells, view);
  cells[CELL_STATE] = ppi_cell_text(state_of(item));
  if (item->kind == PPI_OPEN_NOTHING || item->kind == PPI_OPEN_CHANGING)
    return true;
  bool finished = is_finished(item);
  uint64_t since = finished ? item->end_ns : item->start_ns;
  if (item->kind == PPI_OPEN_RANGE)
    cells[CELL_DEPTH] = ppi_cell_count(item->depth);
  cells[CELL_NAME] = name_cell(found, view, PPROF_DEFINITION_SITE, item->site);
  cells[CELL_FOR] =
      ppi_cell_time(found->until_ns > since ? found->until_ns - since : 0);
  cells[CELL_SINCE] = wall_cell(found, view, since);
  if (item->flow) {
    const char *flow = ppi_view_text(view, "%" PRIu64, item->flow);
    if (flow) cells[CELL_FLOW] = ppi_cell_text(flow);
  }
  return true;
}

static bool make_view(const ppi_forensics *found, ppi_view *view) {
  *view = (ppi_view){.kind = &view_kind};
  for (size_t i = 0; i < found->num_items; i++)
    if (!add_item_row(found, &found->items[i], view)) return false;
  return true;
}

static bool has_kind(const ppi_forensics *found, ppi_open_kind kind) {
  for (size_t i = 0; i < found->num_items; i++)
    if (found->items[i].kind == kind) return true;
  return false;
}

static void put_notes(const ppi_forensics *found, ppi_page *page) {
  if (has_kind(found, PPI_OPEN_FINISHED))
    ppi_page_text(page,
                  "last finished, last on device: how long ago the range "
                  "ended, and when\n");
  if (has_kind(found, PPI_OPEN_CHANGING))
    ppi_page_text(page,
                  "changing: inside of what stays open, ranges come and go "
                  "faster than they can be read\n");
}

// ---- a spool ----

struct listing {
  const struct ppi_tool_options *options;
  ppi_page *page;
  bool live, json;
  size_t num_shown;
  int code;
};

static void put_counts(const ppi_forensics *found, ppi_page *page) {
  if (found->num_torn)
    ppi_page_format(page,
                    "  %" PRIu64
                    " places changed while they were read and are "
                    "left out\n",
                    found->num_torn);
  if (found->num_damaged)
    ppi_page_format(page,
                    "  %" PRIu64 " places make no sense and are left out\n",
                    found->num_damaged);
}

static void put_table(const struct listing *listing, const char *path,
                      const ppi_forensics *found, const ppi_view *view) {
  ppi_page *page = listing->page;
  const char *host = ppi_forensics_text(found, "host");
  const char *command = ppi_forensics_text(found, "command");
  char until[48];
  format_wall(found->start_realtime_ns + found->until_ns, until);
  if (page->len) ppi_page_text(page, "\n");
  ppi_page_visible(page, path);
  ppi_page_format(page, "\n  process %" PRIu32 " on ", found->pid);
  ppi_page_visible(page, host ? host : "unknown");
  ppi_page_text(page, ": ");
  ppi_page_visible(page, command ? command : "unknown");
  ppi_page_format(page, "\n  %s %s\n",
                  found->alive ? "running, seen at" : "dead, last known alive",
                  until);
  put_counts(found, page);
  if (view->num_rows == 0) {
    ppi_page_text(page, "  nothing is open, and no thread is there\n");
    return;
  }
  ppi_page_text(page, "\n");
  ppi_tool_rows_view(page, view, listing->options, PPI_FORMAT_TABLE);
  put_notes(found, page);
}

static void put_json(const struct listing *listing, const char *path,
                     const ppi_forensics *found, const ppi_view *view) {
  ppi_page *page = listing->page;
  static const char *const keys[] = {"host", "command", "uuid"};
  ppi_put_line(page);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "path", path);
  ppi_put_u64(page, "pid", found->pid);
  ppi_put_bool(page, "alive", found->alive);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    ppi_put_text(page, keys[i], ppi_forensics_text(found, keys[i]));
  ppi_put_u64(page, "start_realtime_ns", found->start_realtime_ns);
  ppi_put_u64(page, "until_ns", found->until_ns);
  ppi_put_u64(page, "torn", found->num_torn);
  ppi_put_u64(page, "damaged", found->num_damaged);
  ppi_tool_rows_view(page, view, listing->options, PPI_FORMAT_JSON);
  ppi_page_text(page, "}");
}

static void raise_code(struct listing *listing, int code) {
  if (code > listing->code) listing->code = code;
}

static void put_spool(struct listing *listing, const char *path,
                      const ppi_forensics *found) {
  ppi_view view;
  if (!make_view(found, &view)) listing->page->failed = true;
  (listing->json ? put_json : put_table)(listing, path, found, &view);
  ppi_view_clear(&view);
  listing->num_shown++;
  if (found->num_damaged) raise_code(listing, PPI_EXIT_DAMAGED);
}

static void refuse_state(struct listing *listing, const char *path,
                         const ppi_forensics *found) {
  if (found->alive)
    ppi_tool_say("%s: process %" PRIu32
                 " is running; see pprof-report info --live",
                 path, found->pid);
  else
    ppi_tool_say("%s: process %" PRIu32
                 " is dead; see pprof-report recover --open-ranges",
                 path, found->pid);
  raise_code(listing, PPI_EXIT_INPUT);
}

static void show_spool(struct listing *listing, const char *path,
                       const char *named) {
  ppi_forensics found;
  pprof_error error = {""};
  pprof_status status = ppi_forensics_read(path, &found, &error);
  if (status != PPROF_STATUS_OK) {
    ppi_tool_say("%s",
                 error.text[0] ? error.text : pprof_status_string(status));
    raise_code(listing, PPI_EXIT_INPUT);
  } else if (found.alive != listing->live) {
    refuse_state(listing, named, &found);
  } else {
    put_spool(listing, path, &found);
  }
  ppi_forensics_clear(&found);
}

static void visit_spool(const char *path, const char *named, void *user) {
  show_spool(user, path, named);
}

// ---- the verbs ----

// `options` is the caller's copy, since recover has no output of its own.
static int begin(struct ppi_tool_options *options, ppi_page *page, bool live,
                 struct listing *out) {
  if (!options->output) options->output = "-";
  *out = (struct listing){.options = options,
                          .page = page,
                          .live = live,
                          .json = strcmp(options->format, "json") == 0};
  out->code = ppi_tool_output_check(options, options->output);
  if (out->json) {
    ppi_tool_rows_begin(page, "pprof.open/1");
    ppi_put_array(page, "processes");
    ppi_put_line(page);
  }
  return out->code;
}

static int end(struct listing *listing, const char *nothing) {
  if (listing->json)
    ppi_page_text(listing->page, "]}\n");
  else if (!listing->num_shown && nothing)
    ppi_page_text(listing->page, nothing);
  if (listing->page->len)
    return ppi_tool_output_page(listing->options, listing->page, listing->code);
  ppi_page_clear(listing->page);
  return listing->code;
}

static void show_if_dead(const char *path, void *user) {
  struct listing *listing = user;
  int code = listing->code;
  if (ppi_forensics_owner(path) != 0) return;
  show_spool(listing, path, path);
  // This spool is no operand, so its failure does not count.
  if (listing->code == PPI_EXIT_INPUT) listing->code = code;
}

int ppi_tool_open_dead(const struct ppi_tool_options *options) {
  ppi_page page = {0};
  struct listing listing;
  struct ppi_tool_options own = *options;
  if (begin(&own, &page, false, &listing) != PPI_EXIT_DONE) {
    ppi_page_clear(&page);
    return listing.code;
  }
  for (int i = 0; i < options->num_inputs; i++)
    raise_code(&listing, ppi_tool_spool_of_file(options->inputs[i], visit_spool,
                                                &listing));
  if (options->num_inputs > 0) return end(&listing, NULL);
  ppi_spool_visit(geteuid(), show_if_dead, &listing);
  return end(&listing, "no spool of a dead process\n");
}

int ppi_tool_open_live(const struct ppi_tool_options *options) {
  ppi_page page = {0};
  struct listing listing;
  struct ppi_tool_options own = *options;
  if (begin(&own, &page, true, &listing) != PPI_EXIT_DONE) {
    ppi_page_clear(&page);
    return listing.code;
  }
  for (int i = 0; i < options->num_inputs; i++)
    raise_code(&listing,
               ppi_tool_spool_of(options->inputs[i], visit_spool, &listing));
  return end(&listing, NULL);
}
