// SPDX-License-Identifier: Apache-2.0
//
// Finds the processes of a trace and delivers each one's run to the sink.

#include "base/base.h"
#include "cli/say.h"
#include "import/join.h"
#include "import/sweeper.h"

static void clear_sweeper(ppi_sweeper *sweeper) {
  size_t num_rows = sweeper->importer->places.num_rows;
  for (size_t i = 0; i < num_rows; i++) ppi_free(sweeper->rows[i].items);
  for (size_t i = 0; i < sweeper->num_async; i++)
    if (sweeper->async[i].record.kind == PPI_RECORD_ASYNC_BEGIN)
      ppi_free(sweeper->async[i].own);
  ppi_own_clear(sweeper);
  ppi_callers_clear(sweeper);
  ppi_emitter_clear(&sweeper->emit);
  PPI_FREE_ALL(sweeper->rows, sweeper->async, sweeper->async_buckets,
               sweeper->flows, sweeper->reserved, sweeper->listed);
  ppi_launchers_clear(&sweeper->launchers);
}

static void init_sweeper(ppi_sweeper *sweeper, ppi_importer *importer) {
  const ppi_places *places = &importer->places;
  *sweeper = (ppi_sweeper){.importer = importer};
  sweeper->by_stack = importer->options && importer->options->by_stack &&
                      !importer->header.is_own;
  sweeper->stacks.max_items = PPI_IMPORT_MAX_SITES;
  sweeper->stacks.max_bytes = PPI_IMPORT_MAX_NAME_BYTES;
  ppi_emitter_init(&sweeper->emit, importer);
  sweeper->rows =
      ppi_tool_must(ppi_alloc((places->num_rows + 1) * sizeof *sweeper->rows));
  sweeper->async_buckets = ppi_tool_must(
      ppi_alloc(PPI_SWEEP_BUCKETS * sizeof *sweeper->async_buckets));
  sweeper->reserved = ppi_tool_must(
      ppi_alloc((importer->names.num_items + 1) * sizeof *sweeper->reserved));
}

// ---- which processes ----

static bool comes_before(const ppi_process *a, const ppi_process *b) {
  if (a->is_text != b->is_text) return b->is_text;
  return a->number < b->number;
}

// A process with host events, or named as the owner of device work, is a run.
static bool is_run(const ppi_process *process) {
  return (process->num_host > 0 || process->owns_work) && !process->is_device;
}

// The main process: the run with most launches, then with most host events.
static uint32_t find_main(const ppi_places *places) {
  uint32_t main_process = 0;
  for (uint32_t i = 1; i < places->num_processes; i++) {
    const ppi_process *a = &places->processes[i];
    const ppi_process *b = &places->processes[main_process];
    if (is_run(a) != is_run(b)               ? is_run(a)
        : a->num_launches != b->num_launches ? a->num_launches > b->num_launches
        : a->num_host != b->num_host         ? a->num_host > b->num_host
                                             : comes_before(a, b))
      main_process = i;
  }
  return main_process;
}

// Records of processes without a run go with the main process.
static bool is_wanted(const void *context, uint32_t group) {
  const ppi_sweeper *sweeper = context;
  const ppi_process *process = &sweeper->importer->places.processes[group];
  return group == sweeper->process ||
         (sweeper->process == sweeper->main_process && !is_run(process));
}

static bool is_placed_here(const void *context, uint32_t group) {
  return group == ((const ppi_sweeper *)context)->process;
}

// ---- one process ----

enum { CHEAP = 1024 };  // open ranges and rows

static void keep_up(ppi_sweeper *sweeper, uint64_t time) {
  ppi_emitter *emit = &sweeper->emit;
  const ppi_trace_header *header = &sweeper->importer->header;
  bool is_given = header->is_own && !header->spans;
  uint64_t pace = PPI_SWEEP_CHECKPOINT + 4 * sweeper->num_open;
  // A run's own checkpoints are all taken, as long as each costs little.
  if (is_given &&
      sweeper->num_open + sweeper->importer->places.num_rows <= CHEAP)
    pace = 0;
  bool is_behind_all = time > sweeper->importer->last_valid;
  if (emit->num_reported >= pace && time > emit->last_checkpoint &&
      time > emit->base && !is_behind_all)
    ppi_nest_checkpoint(sweeper, time);
}

// The next host record with a valid time.
static const ppi_record *next_record(ppi_sweeper *sweeper,
                                     ppi_sort_merge *records) {
  ppi_importer *importer = sweeper->importer;
  const ppi_record *record;
  while ((record = ppi_sort_merge_next(records)) != NULL) {
    bool is_range = record->kind == PPI_RECORD_RANGE;
    uint64_t end = is_range ? record->end : record->time;
    if (ppi_devices_has(importer, record)) continue;
    if (record->process != sweeper->process &&
        ppi_import_is_function(importer, record->site))
      importer->skips[PPI_SKIP_NO_PROCESS]++;
    else if (record->kind != PPI_RECORD_CHECKPOINT &&
             !ppi_import_is_in_time(importer, record->time, end))
      importer->skips[record->kind == PPI_RECORD_FLOW ? PPI_SKIP_FLOWS_UNBOUND
                                                      : PPI_SKIP_OTHER_CLOCK]++;
    else
      break;
  }
  return record;
}

// Our own traces say where all ranges so far have come; 0: not here.
static uint64_t checkpoint_of(const ppi_sweeper *sweeper,
                              const ppi_record *record) {
  const ppi_trace_header *header = &sweeper->importer->header;
  if (!header->is_own || header->spans) return record->time;
  return record->kind == PPI_RECORD_CHECKPOINT ? record->end : 0;
}

static void sweep_merged(ppi_sweeper *sweeper, ppi_sort_merge *records,
                         ppi_sort_merge *devices) {
  const ppi_record *record = next_record(sweeper, records);
  const ppi_device_record *device = ppi_sort_merge_next(devices);
  while ((record || device) && sweeper->emit.status == PPROF_STATUS_OK) {
    bool is_record = record && (!device || record->time <= device->key);
    keep_up(sweeper, is_record ? checkpoint_of(sweeper, record) : device->key);
    if (is_record) {
      ppi_nest_take(sweeper, record);
      record = next_record(sweeper, records);
    } else {
      ppi_nest_device(sweeper, device);
      device = ppi_sort_merge_next(devices);
    }
  }
}

// The main process reports the skips of the whole trace, each process its own.
static void finish_run(ppi_sweeper *sweeper, const uint64_t *before,
                       bool is_main) {
  uint64_t *skips = sweeper->importer->skips;
  uint64_t own[PPI_NUM_SKIPS];
  for (size_t i = 0; i < PPI_NUM_SKIPS; i++)
    own[i] = skips[i] - before[i] + (is_main ? sweeper->of_trace[i] : 0);
  ppi_emitter_finish(&sweeper->emit, own, is_main);
}

static pprof_status sweep_process(ppi_importer *importer, uint32_t process,
                                  uint32_t main_process,
                                  const uint64_t *of_trace) {
  ppi_sweeper sweeper;
  ppi_sort_merge records, devices;
  uint64_t before[PPI_NUM_SKIPS];
  init_sweeper(&sweeper, importer);
  memcpy(before, importer->skips, sizeof before);
  sweeper.of_trace = of_trace;
  sweeper.process = process;
  sweeper.main_process = main_process;
  ppi_sort_merge_open(&records, &importer->records, is_wanted, &sweeper);
  ppi_sort_merge_open(&devices, &importer->placed, is_placed_here, &sweeper);
  ppi_emitter_begin(&sweeper.emit, &importer->places.processes[process]);
  if (importer->header.is_own) ppi_own_begin(&sweeper);
  sweep_merged(&sweeper, &records, &devices);
  if (!importer->spill.error_number) {
    ppi_nest_finish(&sweeper);
    if (importer->header.is_own) ppi_own_finish(&sweeper);
    finish_run(&sweeper, before, process == main_process);
  }
  pprof_status status = sweeper.emit.status;
  ppi_sort_merge_close(&records);
  ppi_sort_merge_close(&devices);
  clear_sweeper(&sweeper);
  return status;
}

static pprof_status sweep_all(ppi_importer *importer, uint32_t main_process) {
  const ppi_places *places = &importer->places;
  uint64_t of_trace[PPI_NUM_SKIPS];
  bool is_done[PPI_MAX_PROCESSES] = {false};
  pprof_status status = PPROF_STATUS_OK;
  memcpy(of_trace, importer->skips, sizeof of_trace);
  while (status == PPROF_STATUS_OK && !importer->spill.error_number) {
    uint32_t next = PPI_NO_PLACE;
    for (uint32_t i = 0; i < places->num_processes; i++) {
      bool is_wanted_run = is_run(&places->processes[i]) || i == main_process;
      if (!is_done[i] && is_wanted_run &&
          (next == PPI_NO_PLACE ||
           comes_before(&places->processes[i], &places->processes[next])))
        next = i;
    }
    if (next == PPI_NO_PLACE) break;
    is_done[next] = true;
    status = sweep_process(importer, next, main_process, of_trace);
  }
  return status;
}

// A trace without events is a run, too.
static void add_process(ppi_importer *importer) {
  static const ppi_scalar none = {.kind = PPI_SCALAR_NONE};
  if (importer->places.num_processes == 0)
    ppi_place_process(&importer->places, &none);
}

// Facts beside the events of a single run belong to the process with most
// events.
static void take_facts(ppi_importer *importer) {
  ppi_process *process = importer->places.processes;
  for (size_t i = 0; i < importer->places.num_processes; i++)
    if (importer->places.processes[i].num_host > process->num_host)
      process = &importer->places.processes[i];
  if (!importer->facts || process->facts) return;
  process->facts = importer->facts;
  importer->facts = NULL;
}

static void choose_clock(ppi_importer *importer) {
  const ppi_clock *clock = ppi_clocks_choose(&importer->clocks);
  if (!clock || importer->header.is_own) return;
  importer->min_ns = clock->min_ns;
  importer->max_ns = clock->max_ns;
}

pprof_status ppi_sweep(ppi_importer *importer) {
  add_process(importer);
  take_facts(importer);
  choose_clock(importer);
  ppi_sorter_finish(&importer->records);
  if (!importer->header.is_own) ppi_devices_take(importer);
  ppi_place_number(&importer->places);
  uint32_t main_process = find_main(&importer->places);
  importer->skips[PPI_SKIP_ROWS_BEYOND] = importer->places.num_rows_beyond;
  importer->skips[PPI_SKIP_PROCESSES_BEYOND] =
      importer->places.num_processes_beyond;
  importer->skips[PPI_SKIP_DEVICES_BEYOND] =
      importer->places.num_devices_beyond;
  ppi_join(importer, main_process);
  return sweep_all(importer, main_process);
}
