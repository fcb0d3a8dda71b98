// SPDX-License-Identifier: Apache-2.0
//
// Joins device records to their launches: both are sorted by id and merged.
#include "import/join.h"

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "import/sites.h"

// The work of one stream and process with the latest end so far. Work comes in
// the order of its launches, which is the stream's order.
typedef struct stream_end {
  uint64_t start, end, id;
  uint32_t process, site;
  uint64_t num_over;  // number of later pieces of work inside it
} stream_end;

typedef enum join_kind { BY_CORRELATION, BY_EXTERNAL, BY_ARROW } join_kind;

typedef struct id_join {
  ppi_importer *importer;
  join_kind kind;
  stream_end *streams;
  ppi_sort_merge launches;
  const ppi_launch *next;
  ppi_launch last;  // the last launch of the current id that fits
  uint64_t id;
  uint64_t num;  // launches of that id passed
} id_join;

// ---- what cannot be ----

// A difference below ROUNDING_NS may be rounding.
static void check_launch(ppi_importer *importer,
                         const ppi_device_record *record,
                         const ppi_launch *launch) {
  enum { ROUNDING_NS = 1000 };
  if (record->start + ROUNDING_NS >= launch->time) return;
  importer->skips[PPI_SKIP_BEFORE_LAUNCH]++;
  importer->clock_error_ns =
      PPI_MAX(importer->clock_error_ns,
              PPI_MAX(launch->time, launch->end) - record->start);
}

// A stream runs one piece of work at a time. Kernels of a graph may overlap;
// they share one id.
static void check_stream(ppi_importer *importer, stream_end *last,
                         const ppi_device_record *record, uint32_t process) {
  bool is_one = last->process == process && last->id != record->key;
  bool is_over = last->start <= record->start && record->start < last->end &&
                 record->end <= last->end;
  if (!is_one || !is_over) {
    if (record->end >= last->end || last->process != process)
      *last = (stream_end){.start = record->start,
                           .end = record->end,
                           .id = record->key,
                           .process = process,
                           .site = record->site};
    return;
  }
  importer->skips[PPI_SKIP_OVER_LATER] += ++last->num_over == 2;
  if (last->num_over < 2 || last->num_over <= importer->most_over) return;
  importer->most_over = last->num_over;
  importer->site_over = last->site;
}

static void note_work(ppi_importer *importer, const ppi_device_record *record,
                      const ppi_launch *launch) {
  ppi_process *process = &importer->places.processes[launch->process];
  if (process->first_work && process->first_work <= launch->time) return;
  process->first_work = launch->time;
  process->first_stream = record->stream;
}

// `launch` is NULL if it is not in the trace, or one of several. Operators may
// share an external id, so their times prove no error.
static void check(id_join *join, const ppi_device_record *record,
                  const ppi_launch *launch) {
  ppi_importer *importer = join->importer;
  if (importer->classes[record->site].is & PPI_IS_PROJECTED ||
      !ppi_import_is_in_time(importer, record->start, record->end))
    return;
  if (record->correlation == 0 || join->kind == BY_CORRELATION)
    check_stream(importer, &join->streams[record->stream], record,
                 launch ? launch->process : PPI_NO_PLACE);
  if (!launch || join->kind == BY_EXTERNAL ||
      !ppi_import_is_in_time(importer, launch->time, launch->time))
    return;
  check_launch(importer, record, launch);
  if (join->kind == BY_CORRELATION) note_work(importer, record, launch);
}

// ---- launches without work ----

// Passes a launch. Without work of its id it is an idle launch.
static void pass_launch(id_join *join) {
  bool is_idle = join->kind == BY_CORRELATION && join->next->has_work &&
                 (join->num == 0 || join->id != join->next->id);
  if (is_idle) ppi_sorter_add(&join->importer->idle_launches, 0, join->next);
  join->next = ppi_sort_merge_next(&join->launches);
}

// A profiler misses work while it starts. A launch before its process's first
// recorded work therefore gets work without times.
static void add_dropped(ppi_importer *importer, const ppi_launch *launch) {
  static const ppi_label label = {"kernel", "(not recorded)", 6, 14};
  const ppi_process *process = &importer->places.processes[launch->process];
  if (launch->time >= process->first_work ||
      !ppi_import_is_in_time(importer, launch->time, launch->time))
    return;
  ppi_device_record record = {.key = launch->time,
                              .start = launch->time,
                              .end = launch->time,
                              .submit = launch->time,
                              .stream = process->first_stream,
                              .site = ppi_import_site(importer, &label),
                              .row = launch->row,
                              .process = launch->process,
                              .flags = PPI_RECORD_UNTIMED};
  importer->skips[PPI_SKIP_DROPPED]++;
  ppi_sorter_add(&importer->placed, record.process, &record);
}

static void add_all_dropped(ppi_importer *importer) {
  ppi_sort_merge merge;
  const ppi_launch *launch;
  ppi_sorter_finish(&importer->idle_launches);
  ppi_sort_merge_open(&merge, &importer->idle_launches, NULL, NULL);
  while ((launch = ppi_sort_merge_next(&merge)) != NULL)
    add_dropped(importer, launch);
  ppi_sort_merge_close(&merge);
  ppi_sorter_clear(&importer->idle_launches);
}

// ---- the join ----

// Finds the last launch with the id before the work's begin.
static bool find_launch(id_join *join, const ppi_device_record *record,
                        bool *out_is_ambiguous) {
  if (record->key == 0) return false;
  while (join->next && join->next->id < record->key) pass_launch(join);
  if (join->id != record->key) {
    join->id = record->key;
    join->num = 0;
  }
  while (join->next && join->next->id == record->key &&
         (join->num == 0 || join->next->time <= record->start)) {
    join->last = *join->next;
    join->num++;
    join->next = ppi_sort_merge_next(&join->launches);
  }
  *out_is_ambiguous =
      join->num > 1 || (join->next && join->next->id == record->key);
  return join->num > 0;
}

// Work without a valid time gets the time of its launch.
static void take_time_away(ppi_importer *importer, ppi_device_record *record,
                           const ppi_launch *launch) {
  uint64_t first = (uint64_t)importer->min_ns + PPI_RECORD_BIAS;
  record->submit = launch ? launch->time : first;
  record->start = record->end = record->submit;
  record->flags |= PPI_RECORD_UNTIMED;
  importer->skips[PPI_SKIP_UNTIMED]++;
}

static void place(ppi_importer *importer, const ppi_device_record *from,
                  const ppi_launch *launch, uint32_t main_process) {
  ppi_device_record record = *from;
  bool is_in_time = ppi_import_is_in_time(importer, record.start, record.end);
  if (launch && !ppi_import_is_in_time(importer, launch->time, launch->time))
    launch = NULL;
  if (launch)
    record.process = launch->process;
  else if (record.process == PPI_NO_PLACE)
    record.process = main_process;
  record.row = launch ? launch->row : PPI_NO_PLACE;
  if (launch) record.submit = launch->time;
  if (!launch && record.submit == record.start)
    importer->skips[PPI_SKIP_NO_LAUNCH]++;
  if (!is_in_time) take_time_away(importer, &record, launch);
  // Clocks that disagree may show work before its launch.
  record.key = PPI_MIN(record.submit, record.start);
  ppi_sorter_add(&importer->placed, record.process, &record);
}

// Work without a launch by correlation id is tried again by external id.
static void join_one(id_join *join, const ppi_device_record *record,
                     uint32_t main_process) {
  ppi_importer *importer = join->importer;
  bool is_ambiguous = false;
  bool is_found = find_launch(join, record, &is_ambiguous);
  if (is_found && is_ambiguous) importer->skips[PPI_SKIP_DUPLICATE_IDS]++;
  const ppi_launch *launch = is_found ? &join->last : NULL;
  check(join, record, is_ambiguous ? NULL : launch);
  if (is_found || join->kind != BY_CORRELATION || !record->external) {
    place(importer, record, launch, main_process);
    return;
  }
  ppi_device_record later = *record;
  later.key = later.external;
  ppi_sorter_add(&importer->by_external, 0, &later);
}

static void join_all(ppi_importer *importer, ppi_sorter *devices,
                     ppi_sorter *launches, uint32_t main_process) {
  id_join join = {.importer = importer,
                  .kind = devices == &importer->by_correlation ? BY_CORRELATION
                          : devices == &importer->by_external  ? BY_EXTERNAL
                                                               : BY_ARROW,
                  .streams = ppi_tool_must(
                      ppi_alloc(PPI_MAX_STREAMS * sizeof *join.streams))};
  ppi_sort_merge merge;
  const ppi_device_record *record;
  if (devices->num_added > 0) {
    ppi_sorter_finish(devices);
    ppi_sorter_finish(launches);
    ppi_sort_merge_open(&join.launches, launches, NULL, NULL);
    ppi_sort_merge_open(&merge, devices, NULL, NULL);
    join.next = ppi_sort_merge_next(&join.launches);
    while ((record = ppi_sort_merge_next(&merge)) != NULL)
      join_one(&join, record, main_process);
    while (join.next) pass_launch(&join);
    ppi_sort_merge_close(&merge);
    ppi_sort_merge_close(&join.launches);
  }
  ppi_free(join.streams);
  ppi_sorter_clear(devices);
  ppi_sorter_clear(launches);
}

// ---- arrows ----

// The current range of each row; ranges of a row do not overlap here.
typedef struct arrow_walk {
  ppi_importer *importer;
  ppi_device_record *held;  // by row
  bool *is_held;
} arrow_walk;

static void let_go(arrow_walk *walk, uint32_t row, uint64_t id) {
  ppi_importer *importer = walk->importer;
  if (!walk->is_held[row]) return;
  walk->is_held[row] = false;
  walk->held[row].key = id;
  ppi_sorter_add(id ? &importer->by_arrow : &importer->by_external, 0,
                 &walk->held[row]);
}

static void take_head(arrow_walk *walk, const ppi_arrow *head) {
  const ppi_device_record *held = &walk->held[head->row];
  if (walk->is_held[head->row] && head->time <= held->end)
    let_go(walk, head->row, head->id);
}

static void walk_arrows(arrow_walk *walk, ppi_sort_merge *ranges,
                        ppi_sort_merge *heads) {
  const ppi_device_record *range = ppi_sort_merge_next(ranges);
  const ppi_arrow *head = ppi_sort_merge_next(heads);
  while (range) {
    if (head && head->time < range->start) {
      take_head(walk, head);
      head = ppi_sort_merge_next(heads);
      continue;
    }
    let_go(walk, range->row, 0);
    walk->held[range->row] = *range;
    walk->is_held[range->row] = true;
    range = ppi_sort_merge_next(ranges);
  }
  for (; head; head = ppi_sort_merge_next(heads)) take_head(walk, head);
  for (uint32_t i = 0; i < walk->importer->places.num_rows; i++)
    let_go(walk, i, 0);
}

// Finds launches by arrows, for traces without ids in args.
static void join_arrows(ppi_importer *importer) {
  size_t num_rows = importer->places.num_rows;
  arrow_walk walk = {importer,
                     ppi_tool_must(ppi_alloc(num_rows * sizeof *walk.held)),
                     ppi_tool_must(ppi_alloc(num_rows))};
  ppi_sort_merge ranges, heads;
  // If some ranges have ids, the arrows belong to them.
  if (importer->by_correlation.num_added > 0)
    ppi_sorter_clear(&importer->arrow_heads);
  ppi_sorter_finish(&importer->without_id);
  ppi_sorter_finish(&importer->arrow_heads);
  ppi_sort_merge_open(&ranges, &importer->without_id, NULL, NULL);
  ppi_sort_merge_open(&heads, &importer->arrow_heads, NULL, NULL);
  walk_arrows(&walk, &ranges, &heads);
  ppi_sort_merge_close(&ranges);
  ppi_sort_merge_close(&heads);
  ppi_sorter_clear(&importer->without_id);
  ppi_sorter_clear(&importer->arrow_heads);
  ppi_free(walk.held);
  ppi_free(walk.is_held);
}

void ppi_import_device(ppi_importer *importer, ppi_device_record *record) {
  ppi_sorter *sorter = record->correlation ? &importer->by_correlation
                       : record->external  ? &importer->by_external
                                           : &importer->without_id;
  record->key = record->correlation ? record->correlation
                : record->external  ? record->external
                                    : record->start;
  ppi_sorter_add(sorter, 0, record);
}

void ppi_join(ppi_importer *importer, uint32_t main_process) {
  if (importer->without_id.num_added > 0) join_arrows(importer);
  join_all(importer, &importer->by_arrow, &importer->arrow_tails, main_process);
  join_all(importer, &importer->by_correlation, &importer->launches,
           main_process);
  join_all(importer, &importer->by_external, &importer->owners, main_process);
  add_all_dropped(importer);
  ppi_sorter_finish(&importer->placed);
}
