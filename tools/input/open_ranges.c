// SPDX-License-Identifier: Apache-2.0
//
// Finds the spools of operands and prints the ranges that are open in them.
#include "input/open_ranges.h"

#include <inttypes.h>
#include <unistd.h>

#include "cli/rows.h"
#include "file/json_put.h"
#include "input/spool_operand.h"
#include "recover/forensics_names.h"

// ---- rows ----

// clang-format off
#define COLUMNS(each) \
  each(thread, NULL, "Thread", 10, 1) \
  each(tid, NULL, "Tid", 5, 2) \
  each(state, NULL, "State", 7, 3) \
  each(depth, NULL, "Depth", 5, 4) \
  each(name, NULL, "Name", 10, 5) \
  each(open, "ns", "Open for", 8, 6) \
  each(since, NULL, "Since", 24, 7) \
  each(flow, NULL, "Flow", 4, 0) \
  each(device, NULL, "Device", 6, 8) \
  each(stream, NULL, "Stream", 6, 0)
// clang-format on
PPI_VIEW_TABLE(open, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);
static const ppi_view_kind view_kind = {
    PPI_VIEW_OF(open, "open", "Open Ranges"), .end = PPI_TABLE_END_RULE};

static bool is_finished(const ppi_open_item *item) {
  return item->kind == PPI_OPEN_FINISHED || item->kind == PPI_OPEN_LANE_LAST;
}

static ppi_cell name_cell(const ppi_forensics *found, ppi_view *view,
                          uint32_t kind, uint32_t id) {
  const char *name = ppi_spool_name(found, kind, id);
  if (id == 0) return (ppi_cell){.kind = PPI_CELL_NONE};
  return ppi_cell_text(
      name ? name
           : ppi_tool_must((char *)ppi_view_text(view, "#%" PRIu32, id)));
}

static void put_place(const ppi_forensics *found, const ppi_open_item *item,
                      ppi_cell *cells, ppi_view *view) {
  cells[CELL_thread] =
      name_cell(found, view, PPROF_DEFINITION_LANE, item->lane);
  uint64_t tid = ppi_spool_tid(found, item);
  if (tid) cells[CELL_tid] = ppi_cell_count(tid);
  cells[CELL_device] =
      name_cell(found, view, PPROF_DEFINITION_DEVICE, item->device);
  cells[CELL_stream] =
      name_cell(found, view, PPROF_DEFINITION_STREAM, item->stream);
}

// Adds the row of an item: the time since its begin if open, since its end if
// finished.
static void add_item_row(const ppi_forensics *found, const ppi_open_item *item,
                         ppi_view *view) {
  char when[40];
  ppi_cell *cells = ppi_tool_row(view);
  put_place(found, item, cells, view);
  cells[CELL_state] = ppi_cell_text(ppi_spool_state(item));
  if (item->kind == PPI_OPEN_NOTHING || item->kind == PPI_OPEN_CHANGING) return;
  uint64_t since = is_finished(item) ? item->end_ns : item->start_ns;
  if (item->kind == PPI_OPEN_RANGE)
    cells[CELL_depth] = ppi_cell_count(item->depth);
  cells[CELL_name] = name_cell(found, view, PPROF_DEFINITION_SITE, item->site);
  cells[CELL_open] =
      ppi_cell_time(found->until_ns > since ? found->until_ns - since : 0);
  ppi_tool_time(found->start_realtime_ns + since, 6, when);
  cells[CELL_since] =
      ppi_cell_text(ppi_tool_must((char *)ppi_view_text(view, "%s", when)));
  if (item->flow)
    cells[CELL_flow] = ppi_cell_text(
        ppi_tool_must((char *)ppi_view_text(view, "%" PRIu64, item->flow)));
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

static void put_counts(const ppi_forensics *found, ppi_page *page) {
  if (found->num_torn)
    ppi_page_format(page,
                    "  %" PRIu64
                    " places changed while they were read and are left out\n",
                    found->num_torn);
  if (found->num_damaged)
    ppi_page_format(page,
                    "  %" PRIu64 " places make no sense and are left out\n",
                    found->num_damaged);
}

static void put_table(ppi_spool_list *list, const char *path,
                      const ppi_forensics *found, const ppi_view *view) {
  ppi_page *page = &list->page;
  const char *host = ppi_forensics_text(found, "host");
  const char *command = ppi_forensics_text(found, "command");
  char until[40];
  ppi_tool_time(found->start_realtime_ns + found->until_ns, 6, until);
  if (page->len) ppi_page_text(page, "\n");
  ppi_page_visible(page, path);
  ppi_page_format(page, "\n  process %" PRIu32 " on ", found->pid);
  ppi_page_visible(page, host ? host : "unknown");
  ppi_page_text(page, ": ");
  ppi_page_visible(page, command ? command : "unknown");
  ppi_page_format(page, "\n  %s %s\n",
                  found->alive ? "running, read at" : "dead, last known alive",
                  until);
  put_counts(found, page);
  if (view->num_rows == 0) {
    ppi_page_text(page, "  nothing is open, and no thread is there\n");
    return;
  }
  ppi_page_text(page, "\n");
  ppi_tool_rows_view(page, view, &list->options, PPI_FORMAT_TABLE);
  put_notes(found, page);
}

static void put_json(ppi_spool_list *list, const char *path,
                     const ppi_forensics *found, const ppi_view *view) {
  ppi_page *page = &list->page;
  static const char *const keys[] = {"host", "command", "uuid"};
  ppi_spool_put_head(list, path, found);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    ppi_put_text(page, keys[i], ppi_forensics_text(found, keys[i]));
  ppi_put_u64(page, "start_realtime_ns", found->start_realtime_ns);
  ppi_put_u64(page, "until_ns", found->until_ns);
  ppi_put_u64(page, "torn", found->num_torn);
  ppi_put_u64(page, "damaged", found->num_damaged);
  ppi_tool_rows_view(page, view, &list->options, PPI_FORMAT_JSON);
  ppi_page_text(page, "}");
}

static bool put_spool(ppi_spool_list *list, const char *path,
                      const ppi_forensics *found) {
  ppi_view view = {.kind = &view_kind};
  for (size_t i = 0; i < found->num_items; i++)
    add_item_row(found, &found->items[i], &view);
  (list->json ? put_json : put_table)(list, path, found, &view);
  ppi_view_clear(&view);
  return true;
}

static bool show_dead(ppi_spool_list *list, const char *path, const char *named,
                      const ppi_forensics *found) {
  if (!found->alive) return put_spool(list, path, found);
  ppi_tool_say("%s: process %" PRIu32
               " is running; see pprof-report info --live",
               named, found->pid);
  return false;
}

static bool show_live(ppi_spool_list *list, const char *path, const char *named,
                      const ppi_forensics *found) {
  if (found->alive) return put_spool(list, path, found);
  ppi_tool_say("%s: process %" PRIu32
               " is dead; see pprof-report recover --open-ranges",
               named, found->pid);
  return false;
}

// ---- the verbs ----

static bool has_no_owner(const char *path) {
  return ppi_forensics_owner(path) == 0;
}

int ppi_tool_open_dead(const struct ppi_tool_options *options) {
  ppi_spool_list list = {.show = show_dead, .is_wanted = has_no_owner};
  int code = ppi_spool_list_begin(&list, options, "pprof.open/1");
  if (code != PPI_EXIT_DONE) return code;
  ppi_spool_list_operands(&list, true);
  if (options->num_inputs > 0) return ppi_spool_list_end(&list, NULL);
  ppi_spool_list_all(&list);
  return ppi_spool_list_end(&list, "no spool of a dead process\n");
}

int ppi_tool_open_live(const struct ppi_tool_options *options) {
  ppi_spool_list list = {.show = show_live};
  int code = ppi_spool_list_begin(&list, options, "pprof.open/1");
  if (code != PPI_EXIT_DONE) return code;
  ppi_spool_list_operands(&list, false);
  return ppi_spool_list_end(&list, NULL);
}
