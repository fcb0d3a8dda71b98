// SPDX-License-Identifier: Apache-2.0
//
// Runs `stuck`: prints open ranges of a process, running or dead, beside their
// usual durations, and in words the range that stopped first.
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/rank.h"
#include "base/sort.h"
#include "cli/parse.h"
#include "cli/rows.h"
#include "file/json_put.h"
#include "input/spool_operand.h"
#include "pprof/log.h"
#include "recover/forensics_log.h"
#include "recover/forensics_names.h"
#include "verb/stuck_waits.h"
#include "verb/verbs.h"

// ---- usual durations ----

enum { MAX_TIMES = 16384 };  // the last calls of each name

struct usual_name {
  char *name;
  bool on_device;                   // times on the device, not on the host
  uint64_t num;                     // calls that ran to their end
  uint64_t p50_ns, p99_ns, max_ns;  // the quantiles of the last calls
  uint64_t *times;
};

struct usual {
  struct usual_name *names;
  size_t num, capacity;
};

// NULL: the name was not added.
static const struct usual_name *usual_find(const struct usual *usual,
                                           const char *name, bool on_device) {
  for (size_t i = 0; i < usual->num; i++)
    if (usual->names[i].on_device == on_device &&
        strcmp(usual->names[i].name, name) == 0)
      return &usual->names[i];
  return NULL;
}

// First add names, then read a log, then find the names' durations.
static void usual_add(struct usual *usual, const char *name, bool on_device) {
  if (usual_find(usual, name, on_device)) return;
  PPI_MUST_PUSH(
      usual->names, usual->num, usual->capacity,
      (struct usual_name){.name = ppi_tool_must(ppi_strdup(name)),
                          .on_device = on_device,
                          .times = ppi_tool_must(ppi_alloc(
                              MAX_TIMES * sizeof *usual->names->times))});
}

static void usual_clear(struct usual *usual) {
  for (size_t i = 0; i < usual->num; i++) {
    ppi_free(usual->names[i].name);
    ppi_free(usual->names[i].times);
  }
  ppi_free(usual->names);
  *usual = (struct usual){0};
}

// ---- a log ----

// Fills in the durations. `places` has for each site its names' places + 1:
// host, device.
struct filler {
  pprof_sink base;
  struct usual *usual;
  uint32_t (*places)[2];
  size_t num_sites, capacity;
};

static struct filler *filler_of(pprof_sink *sink) {
  return (struct filler *)sink;
}

static pprof_status filler_begin(pprof_sink *sink, const pprof_run_info *info) {
  (void)info;
  filler_of(sink)->num_sites = 0;
  return PPROF_STATUS_OK;
}

static uint32_t place_of(const struct filler *filler, const char *name,
                         bool on_device) {
  const struct usual_name *one = usual_find(filler->usual, name, on_device);
  return one ? (uint32_t)(one - filler->usual->names) + 1 : 0;
}

static pprof_status filler_define(pprof_sink *sink,
                                  const pprof_definition *definition) {
  struct filler *filler = filler_of(sink);
  size_t id = pprof_definition_id(definition);
  const char *name = pprof_definition_name(definition);
  if (pprof_definition_get_kind(definition) != PPROF_DEFINITION_SITE)
    return PPROF_STATUS_OK;
  PPI_MUST_REACH(filler->places, filler->num_sites, filler->capacity, id);
  filler->places[id][0] = place_of(filler, name, false);
  filler->places[id][1] = place_of(filler, name, true);
  return PPROF_STATUS_OK;
}

static void keep(struct filler *filler, uint32_t place, uint64_t ns) {
  if (!place) return;
  struct usual_name *one = &filler->usual->names[place - 1];
  one->times[one->num++ % MAX_TIMES] = ns;
  if (ns > one->max_ns) one->max_ns = ns;
}

static pprof_status filler_events(pprof_sink *sink, const pprof_batch *batch) {
  struct filler *filler = filler_of(sink);
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    bool is_cut = event->flags & (PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED);
    if (event->site >= filler->num_sites || is_cut) continue;
    const uint32_t *places = filler->places[event->site];
    if (event->kind == PPROF_KIND_RANGE)
      keep(filler, places[0], event->end_ns - event->start_ns);
    if (event->kind == PPROF_KIND_DEVICE_RANGE && event->device_end_ns)
      keep(filler, places[1], event->device_end_ns - event->device_start_ns);
  }
  return PPROF_STATUS_OK;
}

// find_quantiles orders the times. Without a time it changes nothing.
static void find_quantiles(uint64_t *times, size_t num, uint64_t *p50_ns,
                           uint64_t *p99_ns) {
  if (num == 0) return;
  ppi_sort_numbers(times, num);
  *p50_ns = times[ppi_rank_of(num, 50 * PPI_RANK_PERCENT) - 1];
  *p99_ns = times[ppi_rank_of(num, 99 * PPI_RANK_PERCENT) - 1];
}

// Answers as ppi_tool_read; all readable events count.
static int usual_read(struct usual *usual, const char *path) {
  struct filler filler = {.base = {.size = sizeof filler.base,
                                   .begin = filler_begin,
                                   .define = filler_define,
                                   .events = filler_events},
                          .usual = usual};
  pprof_error error = {""};
  // A running process's log ends in an unfinished block, which is no damage.
  pprof_status status = pprof_log_read(path, &filler.base, &error);
  ppi_free(filler.places);
  for (size_t i = 0; i < usual->num; i++) {
    struct usual_name *one = &usual->names[i];
    size_t num = PPI_MIN(one->num, (uint64_t)MAX_TIMES);
    find_quantiles(one->times, num, &one->p50_ns, &one->p99_ns);
  }
  if (status == PPROF_STATUS_OK || status == PPROF_STATUS_CORRUPT)
    return PPI_EXIT_DONE;
  return ppi_tool_failed(PPI_EXIT_INPUT, status, &error);
}

// ---- what is stuck ----

enum {
  TIMES_OVERDUE = 10,      // times the longest call so far
  LARGEST_LOG_MIB = 1024,  // a larger own log is not read
  MAX_SUSPECTS = 8
};

// clang-format off
#define COLUMNS(each) \
  each(thread, NULL, "Thread", 8, 0) \
  each(tid, NULL, NULL, 0, 0) \
  each(state, NULL, "State", 5, 0) \
  each(name, NULL, "Name", 10, 0) \
  each(open, "ns", "Open for", 8, 0) \
  each(p50, "ns", "Usual p50", 9, 0) \
  each(p99, "ns", "p99", 5, 0) \
  each(max, "ns", "max", 5, 0) \
  each(calls, NULL, "Calls", 5, 0) \
  each(times, NULL, "x max", 5, 0) \
  each(stuck, NULL, "Stuck", 5, 0) \
  each(flow, NULL, NULL, 0, 0) \
  each(device, NULL, NULL, 0, 0) \
  each(stream, NULL, "Stream", 6, 0) \
  each(held_by, NULL, NULL, 0, 0)
// clang-format on
PPI_VIEW_TABLE(stuck, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);
static const ppi_view_kind view_kind = {
    PPI_VIEW_OF(stuck, "stuck", "Open, And What Is Usual")};

struct look {
  ppi_spool_list list;
  uint64_t least_ns;  // shorter open ranges are not stuck
  size_t num_stuck;
};

// ---- one open range ----

static bool is_open(const ppi_open_item *item) {
  return item->kind == PPI_OPEN_RANGE || item->kind == PPI_OPEN_CROSS_THREAD ||
         item->kind == PPI_OPEN_DEVICE;
}

static bool is_on_device(const ppi_open_item *item) {
  return item->kind == PPI_OPEN_DEVICE && item->submitted;
}

static uint64_t open_for(const ppi_forensics *found,
                         const ppi_open_item *item) {
  return found->until_ns > item->start_ns ? found->until_ns - item->start_ns
                                          : 0;
}

static const struct usual_name *usual_of(const struct usual *usual,
                                         const ppi_forensics *found,
                                         const ppi_open_item *item) {
  const char *name = ppi_spool_name(found, PPROF_DEFINITION_SITE, item->site);
  const struct usual_name *one =
      name ? usual_find(usual, name, is_on_device(item)) : NULL;
  return one && one->num ? one : NULL;
}

// The open time over the longest call; 0: no call has ended yet.
static double times_of(const struct usual_name *usual, uint64_t open_ns) {
  if (!usual) return 0;
  return (double)open_ns / (double)(usual->max_ns ? usual->max_ns : 1);
}

static bool is_overdue(const struct look *look, const struct usual_name *usual,
                       uint64_t open_ns) {
  return usual && open_ns >= look->least_ns &&
         times_of(usual, open_ns) >= TIMES_OVERDUE;
}

// Ranges around a stuck range wait for it. So only the innermost range of a
// thread counts, and the first submission of a stream.
static bool is_culprit(const ppi_forensics *found, size_t at) {
  const ppi_open_item *item = &found->items[at];
  for (size_t i = 0; i < found->num_items; i++) {
    const ppi_open_item *other = &found->items[i];
    if (i == at || other->kind != item->kind) continue;
    if (item->kind == PPI_OPEN_RANGE && other->lane == item->lane &&
        other->depth > item->depth)
      return false;
    if (is_on_device(item) && is_on_device(other) &&
        other->stream == item->stream &&
        (other->start_ns < item->start_ns ||
         (other->start_ns == item->start_ns && i < at)))
      return false;
  }
  return true;
}

static bool is_stuck(const struct look *look, const ppi_forensics *found,
                     const struct usual *usual, size_t at) {
  const ppi_open_item *item = &found->items[at];
  return is_open(item) && is_culprit(found, at) &&
         is_overdue(look, usual_of(usual, found, item), open_for(found, item));
}

// ---- rows ----

static ppi_cell text_cell(const char *text) {
  return text ? ppi_cell_text(text) : (ppi_cell){.kind = PPI_CELL_NONE};
}

static void put_usual(const struct usual_name *usual, uint64_t open_ns,
                      ppi_cell *cells) {
  if (!usual) return;
  cells[CELL_p50] = ppi_cell_time(usual->p50_ns);
  cells[CELL_p99] = ppi_cell_time(usual->p99_ns);
  cells[CELL_max] = ppi_cell_time(usual->max_ns);
  cells[CELL_calls] = ppi_cell_count(usual->num);
  cells[CELL_times] = ppi_cell_decimal(times_of(usual, open_ns));
}

static void add_row(struct look *look, const ppi_forensics *found,
                    const struct usual *usual, size_t at, ppi_view *view) {
  const ppi_open_item *item = &found->items[at];
  uint64_t tid = ppi_spool_tid(found, item);
  ppi_cell *cells = ppi_tool_row(view);
  cells[CELL_thread] =
      text_cell(ppi_spool_name(found, PPROF_DEFINITION_LANE, item->lane));
  if (tid) cells[CELL_tid] = ppi_cell_count(tid);
  cells[CELL_state] = ppi_cell_text(ppi_spool_state(item));
  cells[CELL_name] =
      text_cell(ppi_spool_name(found, PPROF_DEFINITION_SITE, item->site));
  cells[CELL_open] = ppi_cell_time(open_for(found, item));
  put_usual(usual_of(usual, found, item), open_for(found, item), cells);
  bool stuck = is_stuck(look, found, usual, at);
  look->num_stuck += stuck;
  if (stuck) cells[CELL_stuck] = ppi_cell_text("yes");
  if (item->flow) {
    const char *flow = ppi_view_text(view, "%" PRIu64, item->flow);
    cells[CELL_flow] = text_cell(flow);
  }
  cells[CELL_device] =
      text_cell(ppi_spool_name(found, PPROF_DEFINITION_DEVICE, item->device));
  cells[CELL_stream] =
      text_cell(ppi_spool_name(found, PPROF_DEFINITION_STREAM, item->stream));
  cells[CELL_held_by] = text_cell(ppi_spool_name(
      found, PPROF_DEFINITION_LANE, ppi_stuck_holder(found, item)));
}

// ---- words ----

static void put_where(const ppi_forensics *found, const ppi_open_item *item,
                      ppi_page *page) {
  const char *stream =
      ppi_spool_name(found, PPROF_DEFINITION_STREAM, item->stream);
  const char *device =
      ppi_spool_name(found, PPROF_DEFINITION_DEVICE, item->device);
  const char *thread = ppi_spool_name(found, PPROF_DEFINITION_LANE, item->lane);
  if (is_on_device(item))
    ppi_tool_put(page, "stream '%s' of %s has not finished ",
                 stream ? stream : "default", device ? device : "a device");
  else if (item->kind == PPI_OPEN_CROSS_THREAD)
    ppi_page_text(page, "nobody has ended ");
  else
    ppi_tool_put(page, "thread '%s' is in ", thread ? thread : "unknown");
}

static void put_suspect(const ppi_forensics *found,
                        const struct usual_name *usual,
                        const ppi_open_item *item, ppi_page *notes) {
  const char *name = ppi_spool_name(found, PPROF_DEFINITION_SITE, item->site);
  put_where(found, item, notes);
  ppi_tool_put(notes, "'%s' for ", name ? name : "a range without a name");
  ppi_stuck_put_time(notes, open_for(found, item));
  ppi_page_format(notes, "; of %" PRIu64 " calls before half took at most ",
                  usual->num);
  ppi_stuck_put_time(notes, usual->p50_ns);
  ppi_page_text(notes, ", none more than ");
  ppi_stuck_put_time(notes, usual->max_ns);
  if (item->flow) ppi_page_format(notes, "; request %" PRIu64, item->flow);
  ppi_page_text(notes, "\n");
}

// Puts the earliest begin first: ranges that wait for it began later.
static void put_suspects(struct look *look, const ppi_forensics *found,
                         const struct usual *usual, ppi_page *notes) {
  uint64_t behind = 0;
  for (size_t n = 0; n < MAX_SUSPECTS; n++) {
    const ppi_open_item *next = NULL;
    for (size_t i = 0; i < found->num_items; i++) {
      const ppi_open_item *item = &found->items[i];
      if (item->start_ns >= behind && is_stuck(look, found, usual, i) &&
          (!next || item->start_ns < next->start_ns))
        next = item;
    }
    if (!next) break;
    behind = next->start_ns + 1;
    put_suspect(found, usual_of(usual, found, next), next, notes);
  }
}

// ---- a process ----

static void add_names(const ppi_forensics *found, struct usual *usual) {
  for (size_t i = 0; i < found->num_items; i++) {
    const ppi_open_item *item = &found->items[i];
    const char *name = ppi_spool_name(found, PPROF_DEFINITION_SITE, item->site);
    if (is_open(item) && name) usual_add(usual, name, is_on_device(item));
  }
}

// Reads usual durations, from --usual or from the process's log so far.
static void read_usual(struct look *look, const char *spool,
                       struct usual *usual, ppi_page *notes) {
  ppi_spool_list *list = &look->list;
  const char *given = list->options.stuck.usual;
  char path[PATH_MAX];
  struct stat file;
  if (given) {
    list->code = ppi_tool_worse(list->code, usual_read(usual, given));
  } else if (!ppi_forensics_log(spool, path, sizeof path)) {
    ppi_page_text(notes,
                  "What is usual is not known: the process writes no log; "
                  "--usual names another one\n");
  } else if (stat(path, &file) != 0 || file.st_size >> 20 > LARGEST_LOG_MIB) {
    ppi_tool_put(notes,
                 "What is usual is not known: the log %s is not there, or "
                 "large; --usual reads it\n",
                 path);
  } else {
    list->code = ppi_tool_worse(list->code, usual_read(usual, path));
  }
}

static void put_head(const char *path, const ppi_forensics *found,
                     ppi_page *page) {
  const char *command = ppi_forensics_text(found, "command");
  char when[40];
  ppi_tool_time(found->start_realtime_ns + found->until_ns, 0, when);
  if (page->len) ppi_page_text(page, "\n");
  ppi_tool_put(page, "process %" PRIu32 ": %s\n", found->pid,
               command ? command : "unknown");
  ppi_tool_put(page, "%s %s, %s\n",
               found->alive ? "running, read at" : "dead, last known alive",
               when, path);
}

static bool show(ppi_spool_list *list, const char *path, const char *named,
                 const ppi_forensics *found) {
  struct look *look = (struct look *)list;
  struct usual usual = {0};
  ppi_view view = {.kind = &view_kind};
  size_t before = look->num_stuck;
  (void)named;
  add_names(found, &usual);
  read_usual(look, path, &usual, &view.note);
  for (size_t i = 0; i < found->num_items; i++)
    if (is_open(&found->items[i])) add_row(look, found, &usual, i, &view);
  put_suspects(look, found, &usual, &view.note);
  look->num_stuck += ppi_stuck_deadlocks(found, &view.note);
  ppi_stuck_put_waits(found, look->least_ns, &view.note);
  if (look->num_stuck == before)
    ppi_page_text(&view.note, "Nothing is open for unusually long\n");
  if (list->json) {
    ppi_spool_put_head(list, path, found);
    ppi_put_text(&list->page, "command", ppi_forensics_text(found, "command"));
  } else {
    put_head(path, found, &list->page);
  }
  ppi_tool_rows_view(&list->page, &view, &list->options,
                     list->json ? PPI_FORMAT_JSON : PPI_FORMAT_TABLE);
  if (list->json) ppi_page_text(&list->page, "}");
  ppi_view_clear(&view);
  usual_clear(&usual);
  return true;
}

int ppi_tool_stuck(const struct ppi_tool_options *options) {
  struct look look = {.list.show = show};
  if (!ppi_tool_parse_time("least", options->stuck.least, &look.least_ns))
    return PPI_EXIT_USAGE;
  int code = ppi_spool_list_begin(&look.list, options, "pprof.stuck/1");
  if (code != PPI_EXIT_DONE) return code;
  ppi_spool_list_operands(&look.list, false);
  if (options->num_inputs == 0) ppi_spool_list_all(&look.list);
  if (look.list.code == PPI_EXIT_DONE && look.num_stuck)
    look.list.code = PPI_EXIT_CHECK;
  return ppi_spool_list_end(
      &look.list, "no process of this user records, or left a spool\n");
}
