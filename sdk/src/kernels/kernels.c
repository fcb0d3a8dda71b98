// SPDX-License-Identifier: Apache-2.0
//
// Joins pieces of work with the calls that launched them.
#include "kernels/kernels.h"

#include <dlfcn.h>
#include <inttypes.h>

#include "base/mem.h"
#include "device/device_stream.h"
#include "kernels/api_call.h"
#include "kernels/captured.h"
#include "kernels/launch.h"
#include "names/collectives.h"
#include "names/name_hash.h"
#include "names/names_fold.h"

// ---- shapes ----

// How kernels were launched, and where those of graphs were captured: each is
// defined once.

// As names are stored: possibly as hashes.
static void put_captured(uint32_t path, char *text, size_t size) {
  uint32_t sites[PPI_CAPTURED_DEPTH];
  const char *names[PPI_CAPTURED_DEPTH];
  size_t num = 0;
  for (uint32_t i = 0, end = ppi_captured_sites(path, sites); i < end; i++) {
    const ppi_definition_record *record =
        ppi_names_site_record(ppi_recorder_in_force.names, sites[i]);
    if (record) names[num++] = record->name;
  }
  ppi_captured_put(text, size, names, num);
}

static bool define(uint32_t id, const ppi_kernel_source *source,
                   const ppi_device_work *work, uint32_t path) {
  char text[PPI_MAX_NAME] = "{}";
  ppi_launch_shape shape = work->shape;
  const ppi_device_limits limits =
      source->limits ? source->limits(work->device) : (ppi_device_limits){0};
  ppi_occupancy(&limits, &shape);
  if (shape.block[0]) ppi_launch_shape_put(&shape, text);
  if (path) put_captured(path, text, sizeof text);
  const pprof_definition own = {PPROF_DEFINITION_ATTRIBUTES, id, 0, 0, 0, text};
  return ppi_names_define(ppi_recorder_in_force.names, &own);
}

// A device's limits are part of the report.
static ppi_map_key key_of(const ppi_device_work *work, uint32_t path) {
  const char *bytes = (const char *)&work->shape;
  uint32_t device = (uint32_t)work->device + path * 0x9e3779b1u;
  return (ppi_map_key){ppi_names_hash(bytes, sizeof work->shape, device),
                       ppi_names_hash(bytes, sizeof work->shape, ~device)};
}

// kernel_shape_id answers the id of the attributes of `work`, which it
// defines: how it was launched, and where it was captured; 0: there are none.
// The collector.
static uint32_t kernel_shape_id(ppi_kernel_shapes *shapes,
                                const ppi_kernel_source *source,
                                const ppi_device_work *work) {
  uint32_t path = ppi_captured_path(work->node);
  if (!work->shape.block[0] && !path) return 0;
  const ppi_map_key key = key_of(work, path);
  size_t at = ppi_map_find(&shapes->numbers, key);
  if (at == SIZE_MAX && shapes->numbers.num < PPI_MOST_SHAPES) {
    if (PPI_ROOM(shapes->is_defined, shapes->capacity, shapes->numbers.num + 1))
      at = ppi_map_number(&shapes->numbers, key);
    if (at != SIZE_MAX)
      shapes->is_defined[at] = define((uint32_t)at + 1, source, work, path);
  }
  if (at != SIZE_MAX && shapes->is_defined[at]) return (uint32_t)at + 1;
  shapes->num_without++;
  return 0;
}

static void kernel_shapes_clear(ppi_kernel_shapes *shapes) {
  ppi_map_clear(&shapes->numbers);
  ppi_free(shapes->is_defined);
  *shapes = (ppi_kernel_shapes){0};
}

// ---- levels ----

// The memory that the program has taken in each place, as far as it was
// reported.

// levels_change answers the level of a place, named by its site, after a
// change. Freeing memory that was never taken here leaves 0.
static uint64_t levels_change(ppi_levels *levels, uint32_t site, uint64_t bytes,
                              bool is_taken) {
  size_t num = levels->places.num;
  if (!PPI_ROOM(levels->bytes, levels->capacity, num + 1)) return 0;
  uint64_t *grown = levels->bytes;
  size_t at = ppi_map_number(&levels->places, (ppi_map_key){0, site});
  if (at == SIZE_MAX) return 0;
  if (at == num) grown[at] = 0;
  grown[at] =
      is_taken ? grown[at] + bytes : grown[at] - PPI_MIN(grown[at], bytes);
  return grown[at];
}

static void levels_clear(ppi_levels *levels) {
  ppi_map_clear(&levels->places);
  ppi_free(levels->bytes);
  *levels = (ppi_levels){0};
}

// As __cxa_demangle is in every C++ ABI of Itanium's kind: `out` is of malloc,
// and grows.
typedef char *demangle_function(const char *name, char *out, size_t *size,
                                int *status);

static demangle_function *find(void) {
  static const char symbol[] = "__cxa_demangle";
  void *found = dlsym(RTLD_DEFAULT, symbol);
  // A library that only one of the program's libraries needs is not among the
  // globals.
  void *library = found ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY);
  if (library) found = dlsym(library, symbol);
  demangle_function *function;
  memcpy(&function, &found, sizeof function);
  return function;
}

// demangle answers what a C++ compiler has made `name` of, or `name` itself
// where it is none of its names, or the process has no C++ library. It holds
// until the next call. One thread at a time.
static const char *demangle(const char *name) {
  static demangle_function *function;
  static bool has_looked;
  static char *text;
  static size_t size;
  if (strncmp(name, "_Z", 2) != 0) return name;
  if (!has_looked) function = find();
  has_looked = true;
  int status = -1;
  char *result = function ? function(name, text, &size, &status) : NULL;
  if (!result || status != 0) return name;
  text = result;
  return text;
}

#define LOOKS_PER_S 50u
// After this time, no more work of a call is awaited; for a graph's launch, no
// further work.
#define GIVEN_UP_S 10u

static uint64_t second_of(const ppi_drain *drain) {
  return drain->spool->header->ticks_per_second;
}

static uint64_t oldest(const ppi_kernels *kernels, uint64_t now) {
  uint64_t second = second_of(kernels->drain);
  uint64_t wait = GIVEN_UP_S * second;
  return ppi_launches_oldest(now - PPI_MIN(now, second),
                             now - PPI_MIN(now, wait));
}

// If a source knows the program's plans, the first launches may have come
// before its first poll.
static void begin_with(ppi_kernels *kernels, const ppi_kernel_source *source) {
  uint64_t now = ppi_clock_ticks();
  if (kernels->drain) now = PPI_MIN(now, oldest(kernels, now));
  kernels->wanted = NULL;
  kernels->source = source;
  kernels->until = UINT64_MAX;
  kernels->reported_until = PPI_MAX(kernels->reported_until, now);
  kernels->why_not.text[0] = '\0';
}

// A source that refuses is not asked again, and its reason is reported.
static void try_to_start(ppi_kernels *kernels) {
  const ppi_kernel_source *source = kernels->wanted;
  uint32_t refused = kernels->refused;
  bool is_busy = false;
  for (uint32_t bit = 1; source; source = source->next, bit <<= 1) {
    pprof_error why;
    if (refused & bit) continue;
    pprof_status status = source->start(&why);
    if (status == PPROF_STATUS_OK) {
      begin_with(kernels, source);
      return;
    }
    is_busy |= status == PPROF_STATUS_BUSY;
    if (status != PPROF_STATUS_BUSY || !kernels->refused)
      kernels->why_not = why;
    if (status != PPROF_STATUS_BUSY) kernels->refused |= bit;
  }
  if (!is_busy) kernels->wanted = NULL;
}

static bool has_lane(ppi_kernels *kernels) {
  if (kernels->lane) return true;
  uint32_t lane = ppi_lane_reserve(&ppi_recorder_in_force.spool);
  pprof_definition row = {PPROF_DEFINITION_LANE, lane, 0, 0, 0, "kernels"};
  if (lane && ppi_names_define(ppi_recorder_in_force.names, &row))
    kernels->lane = lane;
  return kernels->lane;
}

void ppi_kernels_start(ppi_kernels *kernels, const ppi_kernel_source *source) {
  if (!source) return;
  if (!ppi_launches_open() || !has_lane(kernels)) {
    ppi_fail(&kernels->why_not, PPROF_STATUS_NO_MEMORY,
             "not traced: no memory for what is known of launches");
    return;
  }
  ppi_launches_forget();
  ppi_captured_want(kernels->by_capture);
  ppi_calls_want(kernels->all_calls);
  kernels->wanted = source;
  kernels->refused = 0;
  try_to_start(kernels);
}

pprof_status ppi_kernels_start_now(ppi_kernels *kernels,
                                   const ppi_kernel_source *source,
                                   pprof_error *why) {
  ppi_kernels_start(kernels, source);
  if (kernels->source) {
    kernels->num_times++;
    return PPROF_STATUS_OK;
  }
  *why = kernels->why_not;
  kernels->why_not.text[0] = '\0';
  kernels->wanted = NULL;
  return PPROF_STATUS_UNAVAILABLE;
}

static void keep_first(ppi_kernels *kernels, pprof_status status) {
  if (kernels->error == PPROF_STATUS_OK) kernels->error = status;
}

static bool is_memory(const ppi_device_work *work) {
  return work->kind == PPI_DEVICE_WORK_TAKE ||
         work->kind == PPI_DEVICE_WORK_GIVE;
}

// Beside the id of a site that is known here.
#define COMMUNICATES (1u << 31)

// Kernels of communication are known by their names only, here as in traces of
// others.
static bool is_communication(const ppi_device_work *work, const char *name) {
  if (work->kind != PPI_DEVICE_WORK_KERNEL) return false;
  size_t len = strlen(name);
  uint32_t category = ppi_names_category(ppi_recorder_in_force.names, name, len,
                                         PPROF_CATEGORY_KERNEL);
  return category == PPROF_CATEGORY_COMMUNICATION ||
         ppi_is_collective(name, len);
}

static uint32_t add_site(const ppi_device_work *work) {
  static const uint32_t categories[] = {
      [PPI_DEVICE_WORK_KERNEL] = PPROF_CATEGORY_KERNEL,
      [PPI_DEVICE_WORK_COPY] = PPROF_CATEGORY_MEMCPY,
      [PPI_DEVICE_WORK_SET] = PPROF_CATEGORY_MEMSET,
      [PPI_DEVICE_WORK_TAKE] = PPROF_CATEGORY_MEMORY,
      [PPI_DEVICE_WORK_GIVE] = PPROF_CATEGORY_MEMORY};
  ppi_names *names = ppi_recorder_in_force.names;
  const char *name = demangle(work->name);
  uint32_t site = ppi_names_site(names, name, categories[work->kind], 0);
  ppi_names_stay(names, site);
  return site | (is_communication(work, name) ? COMMUNICATES : 0);
}

// The entry of a key, by the order in which keys come; 0: it is new, and NULL:
// no memory for it.
static uint32_t *entry_of(ppi_map *map, ppi_map_key key, uint32_t **entries,
                          size_t *capacity) {
  if (!PPI_ROOM(*entries, *capacity, map->num + 1)) return NULL;
  size_t num = map->num;
  size_t at = ppi_map_number(map, key);
  if (at == SIZE_MAX) return NULL;
  if (at == num) (*entries)[at] = 0;
  return &(*entries)[at];
}

// Looked up by a hash of the name as it comes: to demangle it takes longer than
// all else here.
static uint32_t site_of(ppi_kernels *kernels, const ppi_device_work *work) {
  size_t len = strlen(work->name);
  uint32_t kind = is_memory(work) ? PPI_DEVICE_WORK_TAKE : work->kind;
  ppi_map_key key = {ppi_names_hash(work->name, len, kind), len};
  uint32_t *site =
      entry_of(&kernels->names, key, &kernels->sites, &kernels->sites_capacity);
  if (!site) return add_site(work);
  if (!*site) *site = add_site(work);
  return *site;
}

// A device's own row, once a session: its streams follow it.
static uint32_t device_of(ppi_kernels *kernels, int index) {
  const char *backend = kernels->source->backend;
  uint32_t id = ppi_device_id(backend, index);
  char name[PPI_DEVICE_NAME];
  ppi_device_set_name(name, backend, index);
  pprof_definition own = {PPROF_DEFINITION_DEVICE, id,  0, 0,
                          (uint64_t)index,         name};
  return id && ppi_names_define(ppi_recorder_in_force.names, &own) ? id : 0;
}

// The row of a stream; 0 where there is no memory for one.
static uint32_t stream_of(ppi_kernels *kernels, const ppi_device_work *work) {
  ppi_map_key key = {(uint64_t)(uint32_t)work->device << 32 | work->context,
                     work->stream};
  uint32_t *id = entry_of(&kernels->streams, key, &kernels->stream_ids,
                          &kernels->streams_capacity);
  if (!id) return 0;
  uint32_t device = *id ? 0 : device_of(kernels, work->device);
  if (device) *id = ppi_stream_define(device, work->stream);
  return *id;
}

static bool makes_sense(const ppi_device_work *work, const ppi_launch *launch) {
  return work->start && work->start <= work->end &&
         (!launch || work->start >= launch->begin);
}

// Where it lies on the host: the begin of its call. Without one, not before
// what sinks were promised to know all of.
static void place_on_host(ppi_kernels *kernels, const ppi_device_work *work,
                          const ppi_launch *launch, ppi_slot *slot) {
  slot->lane = launch ? launch->lane : 0;
  slot->depth = launch ? launch->depth : 0;
  slot->start =
      launch ? launch->begin : PPI_MAX(work->start, kernels->reported_until);
  slot->end = slot->start;
}

// Values that a slot has no room for.
static uint32_t more_flags(uint32_t site, const ppi_launch *launch) {
  uint32_t flags = launch && launch->is_by_wait ? PPROF_FLAG_BY_WAIT : 0;
  if (launch && launch->kind == PPI_LAUNCH_GRAPH) flags |= PPROF_FLAG_IN_GRAPH;
  if (site & COMMUNICATES) flags |= PPROF_FLAG_COMMUNICATION;
  return flags;
}

// Its names may be new. NULL: it is in no window, and is not reported.
static pprof_event *put(ppi_kernels *kernels, ppi_slot *slot) {
  ppi_drain *drain = kernels->drain;
  pprof_status status = ppi_drain_definitions(
      drain,
      __atomic_load_n(&drain->spool->header->names_end, __ATOMIC_ACQUIRE));
  keep_first(kernels, status);
  bool is_put = ppi_drain_slot(drain, slot, &status);
  keep_first(kernels, status);
  return is_put ? &drain->events[drain->num_events - 1] : NULL;
}

// Memory from the driver is what an allocator above it keeps.
static void deliver_memory(ppi_kernels *kernels, const ppi_device_work *work,
                           const ppi_launch *launch) {
  static ppi_slot slot;  // as below
  bool is_taken = work->kind == PPI_DEVICE_WORK_TAKE;
  slot.kind = PPROF_KIND_COUNTER;
  slot.site = site_of(kernels, work) & ~COMMUNICATES;
  place_on_host(kernels, work, launch, &slot);
  slot.has_work = true;
  slot.work.bytes = is_taken ? (double)work->bytes : -(double)work->bytes;
  uint64_t level =
      levels_change(&kernels->levels, slot.site, work->bytes, is_taken);
  pprof_event *event = put(kernels, &slot);
  if (!event) return;
  event->flags |= PPROF_FLAG_RESERVED;
  event->value = (double)level;
}

static void deliver(ppi_kernels *kernels, const ppi_device_work *work,
                    const ppi_launch *launch) {
  static ppi_slot slot;  // one collector per process
  ppi_drain *drain = kernels->drain;
  slot.kind = PPROF_KIND_DEVICE_RANGE;
  slot.flags = 0;
  uint32_t site = site_of(kernels, work);
  slot.site = site & ~COMMUNICATES;
  slot.stream = stream_of(kernels, work);
  slot.flows[0] = launch ? launch->flow : 0;
  slot.num_flows = slot.flows[0] != 0;
  place_on_host(kernels, work, launch, &slot);
  if (makes_sense(work, launch)) {
    slot.device_start_ns = ppi_drain_ns(drain, work->start);
    slot.device_end_ns = ppi_drain_ns(drain, work->end);
    slot.device_error_ns =
        (uint64_t)((double)work->error * 1e9 / (double)second_of(drain));
  } else {
    slot.flags = PPROF_FLAG_NO_DEVICE_TIME;
    kernels->counts.senseless++;
  }
  slot.has_work = work->kind != PPI_DEVICE_WORK_KERNEL;
  slot.work.bytes = (double)work->bytes;
  uint32_t attributes =
      kernel_shape_id(&kernels->shapes, kernels->source, work);
  pprof_event *event = put(kernels, &slot);
  if (!event) return;
  event->flags |= more_flags(site, launch);
  event->attributes = attributes;
}

// A copy that the host waits for is reported before its call is over, which is
// all the same: only the begin of the call is needed.
static void take(void *taker, const ppi_device_work *work) {
  ppi_kernels *kernels = taker;
  ppi_launch launch;
  bool is_known =
      work->correlation &&
      ppi_launch_find(work->correlation, &launch) != PPI_LAUNCH_NONE;
  if (!is_known && work->start >= kernels->until) return;
  if (is_memory(work)) {
    deliver_memory(kernels, work, is_known ? &launch : NULL);
  } else {
    kernels->counts.reported++;
    kernels->counts.unlaunched += !is_known;
    kernels->counts.by_wait += is_known && launch.is_by_wait;
    deliver(kernels, work, is_known ? &launch : NULL);
  }
  if (is_known) ppi_launch_reported(work->correlation, kernels->flushed);
}

static bool may_look(ppi_kernels *kernels, uint64_t now) {
  if (now - kernels->flushed < second_of(kernels->drain) / LOOKS_PER_S)
    return false;
  kernels->flushed = now;
  return true;
}

static void look(ppi_kernels *kernels, bool all) {
  ppi_drain *drain = kernels->drain;
  ppi_drain_edges(drain);
  ppi_drain_begin(drain, kernels->lane, kernels->next_seq);
  kernels->source->flush(all, take, kernels);
  keep_first(kernels, ppi_drain_flush(drain));
  kernels->next_seq = drain->batch_end;
}

bool ppi_kernels_poll(ppi_kernels *kernels, ppi_drain *drain) {
  if (!kernels->source && !kernels->wanted) return false;
  kernels->drain = drain;
  uint64_t now = ppi_clock_ticks();
  bool is_time = may_look(kernels, now);
  if (kernels->wanted && is_time) try_to_start(kernels);
  if (!kernels->source) return false;
  if (is_time) look(kernels, false);
  return oldest(kernels, now) != UINT64_MAX;
}

uint64_t ppi_kernels_settled(ppi_kernels *kernels, uint64_t now) {
  if ((!kernels->source && !kernels->wanted) || !kernels->drain) return now;
  kernels->reported_until =
      PPI_MAX(kernels->reported_until, PPI_MIN(now, oldest(kernels, now)));
  return kernels->reported_until;
}

void ppi_kernels_rest(ppi_kernels *kernels, ppi_drain *drain) {
  if (!kernels->source) return;
  kernels->drain = drain;
  kernels->flushed = ppi_clock_ticks();
  look(kernels, true);
  uint64_t dropped = 0;
  if (!kernels->source->num_dropped(&dropped)) kernels->is_unsure = true;
  kernels->counts.dropped += dropped;
  kernels->source->stop();
  kernels->source = NULL;
  uint64_t costs, ticks = ppi_launches_cost(&costs);
  kernels->counts.cost_ns +=
      (uint64_t)((double)ticks * 1e9 / (double)second_of(drain));
  kernels->counts.costs += costs;
}

static void note(ppi_texts *out, uint64_t num, const char *what) {
  char text[128];
  if (num == 0) return;
  snprintf(text, sizeof text, "%" PRIu64 " %s", num, what);
  ppi_texts_add(out, "kernels", text);
}

// CUPTI's own part cannot be separated from the launch itself.
static void note_cost(const ppi_kernels *kernels, ppi_texts *out) {
  const ppi_kernel_counts *counts = &kernels->counts;
  char text[160];
  if (!counts->costs) return;
  snprintf(text, sizeof text,
           "launches took the host %.3f us more each (by %" PRIu64
           " timed): part of the overhead, unlike the driver's tracing",
           (double)counts->cost_ns / 1e3 /
               (double)(counts->costs * PPI_LAUNCH_SAMPLE),
           counts->costs);
  ppi_texts_add(out, "kernels", text);
}

void ppi_kernels_notes(const ppi_kernels *kernels, ppi_texts *out) {
  note_cost(kernels, out);
  if (kernels->why_not.text[0])
    ppi_texts_add(out, "kernels", kernels->why_not.text);
  note(out, kernels->num_times,
       "recordings on demand, outside of which nothing is known");
  note(out, kernels->counts.unlaunched,
       "kernels and copies are of no known launch");
  note(out, kernels->counts.by_wait,
       "kernels and copies lie in a range of a waiting thread: another thread, "
       "without ranges, launched them");
  note(out, kernels->counts.senseless,
       "kernels and copies have times that make no sense: they have none here");
  note(out, kernels->shapes.num_without,
       "kernels are reported without their launch: too many different ones");
  note(out, ppi_captured_num_left(),
       "nodes of graphs were captured beyond those with ranges kept");
  note(out, kernels->counts.dropped,
       "kernels and copies were lost by the driver's own tracing");
  if (kernels->is_unsure)
    ppi_texts_add(out, "kernels",
                  "whether the driver's own tracing has lost any is not known");
}

void ppi_kernels_clear(ppi_kernels *kernels) {
  ppi_map_clear(&kernels->streams);
  ppi_map_clear(&kernels->names);
  ppi_free(kernels->stream_ids);
  ppi_free(kernels->sites);
  kernel_shapes_clear(&kernels->shapes);
  levels_clear(&kernels->levels);
  *kernels = (ppi_kernels){0};
}
