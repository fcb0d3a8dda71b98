// SPDX-License-Identifier: Apache-2.0
//
// Builds the tree of names from the ranges of a sweep.
#include "report/parts/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/path_rows.h"
#include "report/figures/rows.h"

bool ppi_paths_at(ppi_paths *paths, const ppi_path_place *key, uint32_t *out) {
  uint32_t around = paths->is_flat ? 0 : key->around, level = 1;
  if (around) level = paths->items[around - 1].level + 1;
  if (level > PPI_PATH_LEVELS) {
    paths->is_cut = true;
    around = paths->items[around - 1].around;
    level = PPI_PATH_LEVELS;
  }
  const ppi_map_key numbers = {(uint64_t)around << 1 | key->on_device,
                               key->site};
  *out = 0;
  if (paths->num >= PPI_RUN_MAX_PATHS &&
      ppi_map_find(&paths->numbers, numbers) >= paths->num)
    return true;
  size_t at = ppi_map_number(&paths->numbers, numbers);
  if (at > paths->num) return false;
  if (at == paths->num && !PPI_PUSH(paths->items, paths->num, paths->capacity,
                                    (ppi_run_path){.around = around,
                                                   .site = key->site,
                                                   .level = level,
                                                   .on_device = key->on_device,
                                                   .low_ns = UINT64_MAX}))
    return false;
  *out = (uint32_t)at + 1;
  return true;
}

bool ppi_paths_find(ppi_paths *paths, uint32_t around, uint32_t site,
                    uint32_t *out) {
  const ppi_path_place key = {around, site, false};
  return ppi_paths_at(paths, &key, out);
}

static bool add_time(ppi_run_path *path, uint64_t length_ns, bool is_cut) {
  ppi_spread_add_either(&path->spread, length_ns, is_cut);
  if (is_cut) return true;
  return ppi_histogram_add(&path->times, length_ns);
}

// Where the histogram has a bucket, the spread alone counts and has the
// extremes until join_rest.
static inline bool add_rest(ppi_run_path *path, uint64_t ns) {
  uint64_t *bucket = ppi_histogram_bucket(&path->rest_times, ns);
  ppi_spread_add(&path->rest, ns);
  if (PPI_UNLIKELY(!bucket))
    return ppi_histogram_add_slow(&path->rest_times, ns);
  ++*bucket;
  return true;
}

static void join_rest(ppi_run_path *path) {
  path->rest_times.n = path->rest.n;
  path->rest_times.min = path->rest.min;
  path->rest_times.max = path->rest.max;
}

bool ppi_paths_count(ppi_paths *paths) {
  const ppi_path_length *length = paths->lengths;
  const ppi_path_length *end = length + paths->num_lengths;
  bool done = true;
  for (; length != end && done; length++) {
    ppi_run_path *path = &paths->items[length->number - 1];
    done = PPI_LIKELY(!(length->flags & PPI_BUFFERED_COUNTED))
               ? add_rest(path, length->ns)
               : add_time(path, length->ns, length->flags & PPI_BUFFERED_CUT);
  }
  paths->num_lengths = 0;
  return done;
}

static bool add_path(ppi_run_path *path, ppi_run_path *from) {
  join_rest(path);
  join_rest(from);
  path->inner_ns += from->inner_ns;
  path->wall_ns += from->wall_ns;
  ppi_spread_merge(&path->rest, &from->rest);
  ppi_spread_merge(&path->spread, &from->spread);
  return ppi_histogram_move(&path->rest_times, &from->rest_times) &&
         ppi_histogram_move(&path->times, &from->times);
}

// A path comes after the one around it.
bool ppi_paths_add(ppi_paths *paths, ppi_paths *from, bool *out_dropped) {
  uint32_t *numbers = ppi_alloc((from->num + 1) * sizeof *numbers);
  if (!numbers) return false;
  bool done = ppi_paths_count(from);
  paths->is_cut |= from->is_cut;
  for (size_t i = 0; i < from->num && done; i++) {
    ppi_run_path *path = &from->items[i];
    done = ppi_paths_find(paths, numbers[path->around], path->site,
                          &numbers[i + 1]);
    if (!done || *out_dropped) continue;
    *out_dropped = !numbers[i + 1];
    if (!*out_dropped)
      done = add_path(ppi_paths_item(paths, numbers[i + 1]), path);
  }
  ppi_free(numbers);
  return done;
}

static bool tell(ppi_run_path *path, ppi_spread *spread, ppi_histogram *times) {
  ppi_spread_merge(spread, &path->rest);
  ppi_spread_merge(&path->spread, &path->rest);
  if (!ppi_histogram_merge(times, &path->rest_times)) return false;
  return ppi_histogram_move(&path->times, &path->rest_times);
}

bool ppi_paths_tell(ppi_paths *paths, ppi_run_ids *ids) {
  bool done = ppi_paths_count(paths);
  for (size_t i = 0; i < paths->num && done; i++) {
    ppi_run_path *path = &paths->items[i];
    join_rest(path);
    if (!path->rest.n) continue;
    ppi_run_site *site = ids->sites.items[path->site];
    done = tell(path, &site->host_first_calls.rest,
                &site->host_first_calls.rest_times);
  }
  return done;
}

// A paired device range gets no path: its host range counts its time.
bool ppi_paths_device(ppi_paths *paths, uint32_t around, const ppi_point *point,
                      uint32_t *out) {
  const ppi_path_place key = {paths->is_flat ? 0 : around, point->site, true};
  *out = 0;
  if (point->device_class == PPI_DEVICE_PAIRED) return true;
  if (!ppi_paths_seen(paths, &key, out)) return false;
  ppi_run_path *path = ppi_paths_item(paths, *out);
  if (!path) {
    paths->num_dropped++;
    return true;
  }
  path->num_untimed += point->kind == PPI_POINT_UNTIMED;
  if (point->kind == PPI_POINT_UNTIMED) return true;
  path->inside.ns[point->device_class] += point->value;
  return ppi_union_add(&path->own, point->device_start_ns,
                       point->device_start_ns + point->value) &&
         add_time(path, point->value, false);
}

// ---- ids become names ----

// As for names: in a run with kernels, other device ranges do not count.
static uint64_t device_time(const ppi_run_ids *ids, const uint64_t *ns) {
  uint64_t sum_ns = ns[PPI_DEVICE_KERNEL] + ns[PPI_DEVICE_COPY];
  if (ids->has_kernels) return sum_ns;
  sum_ns += ns[PPI_DEVICE_OTHER];
  return ns[PPI_DEVICE_PAIRED] <= INT64_MAX ? sum_ns + ns[PPI_DEVICE_PAIRED]
                                            : sum_ns;
}

// The time between the two events around a stage's calls; 0 without a device
// side.
static uint64_t event_time(const ppi_run_ids *ids, const ppi_run_path *path) {
  const uint64_t *ns = path->inside.ns;
  if (path->on_device) return ns[PPI_DEVICE_OTHER];
  const ppi_run_site *site = ids->sites.items[path->site];
  bool is_known = site->row.has_pairs && ns[PPI_DEVICE_PAIRED] <= INT64_MAX;
  return is_known ? ns[PPI_DEVICE_PAIRED] : 0;
}

static bool fill_path(ppi_run_ids *ids, ppi_run_path *path,
                      ppi_report_path *row) {
  uint64_t inner_ns = PPI_MIN(path->inner_ns, path->spread.sum);
  if (path->use) path->use->sums.busy_ns = ppi_union_measure(&path->use->busy);
  const ppi_report_path sums = {
      .spread = path->spread,
      .num_untimed = path->num_untimed,
      .self_ns = path->spread.sum - (path->on_device ? 0 : inner_ns),
      .wall_ns =
          path->on_device ? ppi_union_measure(&path->own) : path->wall_ns,
      .device_ns = device_time(ids, path->inside.ns),
      .events_ns = ids->has_kernels ? event_time(ids, path) : 0,
      .use = path->use ? path->use->sums : (ppi_device_use){0}};
  return ppi_path_row_sum(row, &sums) &&
         ppi_histogram_move(&row->times, &path->times);
}

static bool note_dropped(const ppi_paths *paths, ppi_figures *out) {
  if (paths->is_cut &&
      !ppi_figures_say(
          out, "paths",
          "ranges deeper than %u levels stand on level %u of the tree",
          PPI_PATH_LEVELS, PPI_PATH_LEVELS))
    return false;
  return !paths->num_dropped ||
         ppi_figures_say(
             out, "paths",
             "%llu ranges on paths beyond the first %u are not in the tree",
             (unsigned long long)paths->num_dropped, PPI_RUN_MAX_PATHS);
}

// A path of the run with its name. Paths with one name and parent share a row,
// `node`. Nodes are numbered by level, then by the order of siblings.
typedef struct named_path {
  ppi_path_key key;
  ppi_run_path *path;
  uint32_t around, node;  // `around`: a node + 1, 0: none
} named_path;

typedef struct path_node {
  const ppi_path_key *key;
  uint32_t around;
  size_t size;         // of its subtree
  size_t place, next;  // in preorder: its own, its next child's
} path_node;

// Compares paths of one level.
PPI_ORDER(compare_named, named_path,
          PPI_UP(around) PPI_BY(ppi_path_key_order(&a->key, &b->key)))

typedef struct path_names {
  named_path *paths;  // by level
  uint32_t *places;   // in `paths`, by number - 1
  path_node *nodes;
  size_t num, num_nodes;
  ppi_path_key *keys;  // of the nodes, in preorder
  size_t *row_places;
} path_names;

// Sorts paths by level: a parent comes before its children.
static bool name_paths(ppi_paths *paths, ppi_run_ids *ids, path_names *out) {
  size_t begins[PPI_PATH_LEVELS + 2] = {0};
  for (size_t i = 0; i < paths->num; i++) begins[paths->items[i].level + 1]++;
  for (size_t i = 1; i < PPI_PATH_LEVELS + 2; i++) begins[i] += begins[i - 1];
  for (size_t i = 0; i < paths->num; i++) {
    ppi_run_path *path = &paths->items[i];
    const ppi_run_site *site = ppi_run_site_at(ids, path->site);
    if (!site) return false;
    out->paths[begins[path->level]++] = (named_path){
        .key = {site->name, site->place->name, path->level, path->on_device},
        .path = path};
  }
  out->num = paths->num;
  return true;
}

static void add_node(path_names *names, named_path *path) {
  const path_node *last =
      names->num_nodes ? &names->nodes[names->num_nodes - 1] : NULL;
  bool is_same = last && last->key->level == path->key.level &&
                 last->around == path->around &&
                 ppi_path_key_order(last->key, &path->key) == 0;
  if (!is_same)
    names->nodes[names->num_nodes++] =
        (path_node){.key = &path->key, .around = path->around, .size = 1};
  path->node = (uint32_t)names->num_nodes - 1;
}

static void make_nodes(path_names *names, const ppi_paths *paths) {
  for (size_t from = 0, to; from < names->num; from = to) {
    for (to = from; to < names->num &&
                    names->paths[to].key.level == names->paths[from].key.level;
         to++) {
      uint32_t around = names->paths[to].path->around;
      if (around)
        names->paths[to].around =
            names->paths[names->places[around - 1]].node + 1;
    }
    qsort(&names->paths[from], to - from, sizeof *names->paths, compare_named);
    for (size_t i = from; i < to; i++) {
      names->places[names->paths[i].path - paths->items] = (uint32_t)i;
      add_node(names, &names->paths[i]);
    }
  }
}

// Rows are in preorder; siblings keep their order.
static void make_rows(path_names *names) {
  size_t next = 0;
  for (size_t i = names->num_nodes; i-- > 0;)
    if (names->nodes[i].around)
      names->nodes[names->nodes[i].around - 1].size += names->nodes[i].size;
  for (size_t i = 0; i < names->num_nodes; i++) {
    path_node *node = &names->nodes[i];
    size_t *from = node->around ? &names->nodes[node->around - 1].next : &next;
    node->place = *from;
    node->next = node->place + 1;
    *from += node->size;
    names->keys[node->place] = *node->key;
  }
}

static bool fill_rows(path_names *names, ppi_run_ids *ids, ppi_figures *out) {
  bool done =
      ppi_path_rows_add(out, names->keys, names->num_nodes, names->row_places);
  for (size_t i = 0; i < names->num && done; i++) {
    const named_path *path = &names->paths[i];
    size_t place = names->row_places[names->nodes[path->node].place];
    done = fill_path(ids, path->path, &out->paths[place]);
  }
  return done;
}

bool ppi_paths_fill(ppi_paths *paths, ppi_run_ids *ids, ppi_figures *out) {
  size_t num = paths->num + 1;
  path_names names = {.paths = ppi_alloc(num * sizeof *names.paths),
                      .places = ppi_alloc(num * sizeof *names.places),
                      .nodes = ppi_alloc(num * sizeof *names.nodes),
                      .keys = ppi_alloc(num * sizeof *names.keys),
                      .row_places = ppi_alloc(num * sizeof *names.row_places)};
  bool done = false;
  if (names.paths && names.places && names.nodes && names.keys &&
      names.row_places)
    done = note_dropped(paths, out);
  done = done && name_paths(paths, ids, &names);
  if (done) {
    make_nodes(&names, paths);
    make_rows(&names);
    done = fill_rows(&names, ids, out);
  }
  PPI_FREE_ALL(names.paths, names.places, names.nodes, names.keys,
               names.row_places);
  return done;
}

void ppi_paths_clear(ppi_paths *paths) {
  for (size_t i = 0; i < paths->num; i++) {
    ppi_histogram_clear(&paths->items[i].times);
    ppi_histogram_clear(&paths->items[i].rest_times);
    ppi_union_clear(&paths->items[i].own);
    ppi_path_use *use = paths->items[i].use;
    if (!use) continue;
    ppi_histogram_clear(&use->sums.span_times);
    ppi_histogram_clear(&use->sums.delays);
    ppi_union_clear(&use->busy);
    ppi_free(use);
  }
  ppi_map_clear(&paths->numbers);
  ppi_free(paths->items);
  *paths = (ppi_paths){0};
}
