// SPDX-License-Identifier: Apache-2.0
//
// Compares clocks of hosts by the ends of their collectives.
#include "clocks/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "json/hash.h"

enum { NO_HOST = -1 };

// An array that grows.
#define LIST(type)        \
  struct {                \
    type *items;          \
    size_t num, capacity; \
  }

// A site, by its id.
typedef struct site {
  uint64_t name;  // its hash
  bool is_collective, is_step;
} site;

// A step, or a call of a collective, of the run that is read.
typedef struct piece {
  uint64_t begun_ns, end_ns;
  int64_t step;  // of a call: the greatest of the steps that had begun, or -1
  uint64_t name;
  bool is_call, on_device;
} piece;

// Where the last call of a collective in a step ended in a run.
typedef struct ended {
  int64_t begun_ns;  // the run, since 1970
  size_t job;        // from 1; 0: not known yet
  int64_t step;
  uint64_t name;
  bool on_device;
  int host;
  int64_t at_ns;  // since 1970
} ended;

typedef struct ahead {
  int host;
  int64_t ns;
} ahead;

struct ppi_clocks {
  pprof_sink sink;
  LIST(ppi_clocks_host) hosts;
  LIST(int) runs;  // the host of each
  LIST(ended) ends;
  LIST(ahead) pairs;
  // Of the run that is read.
  LIST(site) sites;
  LIST(piece) pieces;
  int64_t base_ns;
};

#define PUSH(list, ...) \
  PPI_MUST_PUSH((list).items, (list).num, (list).capacity, __VA_ARGS__)

static ppi_clocks *clocks_of(pprof_sink *sink) {
  return (ppi_clocks *)((char *)sink - offsetof(ppi_clocks, sink));
}

// ---- what a run says ----

static int host_of(ppi_clocks *clocks, const char *name) {
  for (size_t i = 0; i < clocks->hosts.num; i++)
    if (strcmp(clocks->hosts.items[i].name, name) == 0) return (int)i;
  PUSH(clocks->hosts,
       (ppi_clocks_host){.name = ppi_tool_must(ppi_strdup(name))});
  return (int)clocks->hosts.num - 1;
}

static pprof_status take_begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_clocks *clocks = clocks_of(sink);
  const char *base = pprof_run_info_text(info, "time_base_realtime_ns");
  const char *host = pprof_run_info_text(info, "host");
  clocks->base_ns = base ? strtoll(base, NULL, 10) : 0;
  clocks->pieces.num = clocks->sites.num = 0;
  bool is_known = clocks->base_ns > 0 && host && *host;
  PUSH(clocks->runs, is_known ? host_of(clocks, host) : NO_HOST);
  return PPROF_STATUS_OK;
}

static pprof_status take_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  ppi_clocks *clocks = clocks_of(sink);
  uint32_t id = pprof_definition_id(definition);
  if (pprof_definition_get_kind(definition) != PPROF_DEFINITION_SITE)
    return PPROF_STATUS_OK;
  PPI_MUST_REACH(clocks->sites.items, clocks->sites.num, clocks->sites.capacity,
                 id);
  const char *name = pprof_definition_name(definition);
  uint32_t category = pprof_definition_parent(definition);
  clocks->sites.items[id] =
      (site){.name = ppi_hash_bytes(1, name, strlen(name)),
             .is_collective = category == PPROF_CATEGORY_COMMUNICATION,
             .is_step = category == PPROF_CATEGORY_PROFILE_STEP};
  return PPROF_STATUS_OK;
}

static void add_event(ppi_clocks *clocks, const pprof_event *event) {
  bool on_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  bool has_time = !on_device || event->device_end_ns != 0;
  if (event->site >= clocks->sites.num || !has_time ||
      (event->kind != PPROF_KIND_RANGE && !on_device))
    return;
  const site *at = &clocks->sites.items[event->site];
  bool is_call =
      at->is_collective || (event->flags & PPROF_FLAG_COMMUNICATION) != 0;
  if (at->is_step ? event->value < 0 : !is_call) return;
  PUSH(clocks->pieces,
       (piece){.begun_ns = event->start_ns,
               .end_ns = on_device ? event->device_end_ns : event->end_ns,
               .step = at->is_step ? (int64_t)event->value : -1,
               .name = at->name,
               .is_call = !at->is_step,
               .on_device = on_device});
}

static pprof_status take_events(pprof_sink *sink, const pprof_batch *batch) {
  for (size_t i = 0; i < batch->num_events; i++)
    add_event(clocks_of(sink), pprof_batch_at(batch, i));
  return PPROF_STATUS_OK;
}

// ---- the last ends of its steps ----

PPI_ORDER(by_begin, piece, PPI_UP(begun_ns) PPI_UP(is_call))

PPI_ORDER(by_collective, ended,
          PPI_UP(job) PPI_UP(step) PPI_UP(name) PPI_UP(on_device))

PPI_ORDER(by_end, ended, PPI_BY(by_collective(a, b)) PPI_UP(at_ns))

PPI_ORDER(by_run, ended, PPI_UP(begun_ns))

static void sort(void *items, size_t num, size_t size,
                 int (*order)(const void *, const void *)) {
  if (num) qsort(items, num, size, order);
}

// Keeps the last end of each collective among the ends from `first` on, all of
// one run.
static void keep_last(ppi_clocks *clocks, size_t first) {
  ended *ends = clocks->ends.items;
  size_t kept = first;
  sort(ends + first, clocks->ends.num - first, sizeof *ends, by_end);
  for (size_t i = first; i < clocks->ends.num; i++)
    if (i + 1 == clocks->ends.num || by_collective(&ends[i], &ends[i + 1]) != 0)
      ends[kept++] = ends[i];
  clocks->ends.num = kept;
}

static pprof_status take_finish(pprof_sink *sink, const pprof_totals *totals) {
  ppi_clocks *clocks = clocks_of(sink);
  piece *pieces = clocks->pieces.items;
  size_t first = clocks->ends.num;
  int host = clocks->runs.items[clocks->runs.num - 1];
  int64_t step = -1;
  (void)totals;
  sort(pieces, clocks->pieces.num, sizeof *pieces, by_begin);
  for (size_t i = 0; i < clocks->pieces.num && host != NO_HOST; i++) {
    if (!pieces[i].is_call) step = PPI_MAX(step, pieces[i].step);
    if (!pieces[i].is_call || step < 0) continue;
    PUSH(clocks->ends,
         (ended){.begun_ns = clocks->base_ns,
                 .step = step,
                 .name = pieces[i].name,
                 .on_device = pieces[i].on_device,
                 .host = host,
                 .at_ns = clocks->base_ns + (int64_t)pieces[i].end_ns});
  }
  keep_last(clocks, first);
  return PPROF_STATUS_OK;
}

// ---- hosts beside hosts ----

// The index, among `num` sorted values, of the least one that `percent` of them
// do not exceed.
static size_t nearest_rank(size_t num, size_t percent) {
  return (num * percent + 99) / 100 - 1;
}

// A host that stands for all that `host` was compared with, also by others.
static int leader_of(const int *leaders, int host) {
  while (leaders[host] != host) host = leaders[host];
  return host;
}

// A run lasts from its begin to its last collective. Those that overlap, by
// others between them too, are a job: what came before or after it has the same
// steps and names, but its own collectives.
static void find_jobs(ended *ends, size_t num) {
  int64_t last_ns = 0;
  size_t job = 0;
  sort(ends, num, sizeof *ends, by_run);
  for (size_t i = 0; i < num; i++) {
    job += ends[i].begun_ns > last_ns;
    ends[i].job = job;
    last_ns = PPI_MAX(last_ns, ends[i].at_ns);
  }
}

// A collective's ends, sorted by time: how far each is from the median.
static void add_pairs(ppi_clocks *clocks, int *leaders, const ended *ends,
                      size_t num) {
  int first = leader_of(leaders, ends[0].host);
  bool is_shared = false;
  for (size_t i = 1; i < num; i++) {
    is_shared = is_shared || ends[i].host != ends[0].host;
    leaders[leader_of(leaders, ends[i].host)] = first;
  }
  for (size_t i = 0; i < num && is_shared; i++) {
    PUSH(clocks->pairs,
         (ahead){ends[i].host,
                 ends[i].at_ns - ends[nearest_rank(num, 50)].at_ns});
  }
}

PPI_ORDER(by_host, ahead, PPI_UP(host) PPI_UP(ns))

static void judge_host(ppi_clocks_host *host, ahead *pairs, size_t num) {
  host->num_pairs = num;
  host->offset_ns = pairs[nearest_rank(num, 50)].ns;
  for (size_t i = 0; i < num; i++)
    pairs[i].ns = llabs(pairs[i].ns - host->offset_ns);
  sort(pairs, num, sizeof *pairs, by_host);
  host->error_ns = (uint64_t)pairs[nearest_rank(num, 99)].ns;
}

// The leader of most hosts.
static int greatest(const int *leaders, size_t num_hosts) {
  size_t most = 0;
  int found = 0;
  for (size_t i = 0; i < num_hosts; i++) {
    size_t num = 0;
    for (size_t j = 0; j < num_hosts; j++)
      num += leader_of(leaders, (int)j) == (int)i;
    if (num > most) {
      most = num;
      found = (int)i;
    }
  }
  return found;
}

static void judge_hosts(ppi_clocks *clocks, const int *leaders) {
  ahead *pairs = clocks->pairs.items;
  int leader = greatest(leaders, clocks->hosts.num);
  sort(pairs, clocks->pairs.num, sizeof *pairs, by_host);
  for (size_t begin = 0, end; begin < clocks->pairs.num; begin = end) {
    int host = pairs[begin].host;
    for (end = begin; end < clocks->pairs.num && pairs[end].host == host;)
      end++;
    if (leader_of(leaders, host) == leader)
      judge_host(&clocks->hosts.items[host], pairs + begin, end - begin);
  }
}

void ppi_clocks_compare(ppi_clocks *clocks) {
  ended *ends = clocks->ends.items;
  int *leaders =
      ppi_tool_must(ppi_alloc((clocks->hosts.num + 1) * sizeof *leaders));
  for (size_t i = 0; i < clocks->hosts.num; i++) leaders[i] = (int)i;
  find_jobs(ends, clocks->ends.num);
  sort(ends, clocks->ends.num, sizeof *ends, by_end);
  for (size_t begin = 0, end; begin < clocks->ends.num; begin = end) {
    for (end = begin; end < clocks->ends.num &&
                      by_collective(&ends[begin], &ends[end]) == 0;)
      end++;
    add_pairs(clocks, leaders, ends + begin, end - begin);
  }
  judge_hosts(clocks, leaders);
  ppi_free(leaders);
}

// ---- the object ----

ppi_clocks *ppi_clocks_create(void) {
  ppi_clocks *clocks = ppi_tool_must(ppi_alloc(sizeof *clocks));
  clocks->sink = (pprof_sink){.size = sizeof(pprof_sink),
                              .begin = take_begin,
                              .define = take_define,
                              .events = take_events,
                              .finish = take_finish};
  return clocks;
}

void ppi_clocks_destroy(ppi_clocks *clocks) {
  if (!clocks) return;
  for (size_t i = 0; i < clocks->hosts.num; i++)
    ppi_free(clocks->hosts.items[i].name);
  PPI_FREE_ALL(clocks->hosts.items, clocks->runs.items, clocks->ends.items,
               clocks->pairs.items, clocks->sites.items, clocks->pieces.items,
               clocks);
}

pprof_sink *ppi_clocks_sink(ppi_clocks *clocks) {
  return &clocks->sink;
}

size_t ppi_clocks_num_hosts(const ppi_clocks *clocks) {
  return clocks->hosts.num;
}

size_t ppi_clocks_num_runs(const ppi_clocks *clocks) {
  return clocks->runs.num;
}

const ppi_clocks_host *ppi_clocks_at(const ppi_clocks *clocks, size_t host) {
  return &clocks->hosts.items[host];
}

const ppi_clocks_host *ppi_clocks_of(const ppi_clocks *clocks, size_t run) {
  int host = clocks->runs.items[run];
  return host == NO_HOST ? NULL : &clocks->hosts.items[host];
}
