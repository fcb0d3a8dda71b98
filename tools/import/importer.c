// SPDX-License-Identifier: Apache-2.0
//
// Creates and clears an import's state, and adds records, clocks and texts to
// it.
#include "import/importer.h"

#include <stdio.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "json/hash.h"

// Bytes of records in memory at a time.
#define RECORD_MEMORY (32u << 20)
#define OTHER_MEMORY (8u << 20)

// ---- orders of records ----

// The order at one time: begins and ends as they come, then ranges, the longer
// first, then points, which may lie in the ranges.
static int rank_of(const ppi_record *record) {
  switch ((ppi_record_kind)record->kind) {
    case PPI_RECORD_RANGE:
    case PPI_RECORD_UNENDED:
      return 1;
    case PPI_RECORD_POINT_WORD:
    case PPI_RECORD_MARK:
    case PPI_RECORD_COUNTER:
    case PPI_RECORD_FLOW:
      return 2;
    default:
      return 0;
  }
}

static int compare_records(const void *left, const void *right) {
  const ppi_record *a = left, *b = right;
  int x = rank_of(a), y = rank_of(b);
  if (x != y) return x - y;
  if (x != 1) return 0;
  bool is_open_a = a->kind == PPI_RECORD_UNENDED;
  bool is_open_b = b->kind == PPI_RECORD_UNENDED;
  if (is_open_a != is_open_b) return is_open_a ? -1 : 1;
  return is_open_a || a->end == b->end ? 0 : a->end > b->end ? -1 : 1;
}

PPI_ORDER(compare_launches, ppi_launch, PPI_UP(time))

PPI_ORDER(compare_devices, ppi_device_record,
          PPI_UP(start) PPI_DOWN(end) PPI_UP(stream))

PPI_ORDER(compare_arrows, ppi_arrow, PPI_UP(id))

static const struct {
  size_t at, record_size, memory;
  ppi_sort_compare compare;
} sorters[] = {
#define SORTER(name, type, memory, compare) \
  { offsetof(ppi_importer, name), sizeof(type), memory, compare }
    SORTER(records, ppi_record, RECORD_MEMORY, compare_records),
    SORTER(launches, ppi_launch, OTHER_MEMORY, compare_launches),
    SORTER(owners, ppi_launch, OTHER_MEMORY, compare_launches),
    SORTER(arrow_tails, ppi_launch, OTHER_MEMORY, compare_launches),
    SORTER(idle_launches, ppi_launch, OTHER_MEMORY, compare_launches),
    SORTER(arrow_heads, ppi_arrow, OTHER_MEMORY, compare_arrows),
    SORTER(by_correlation, ppi_device_record, OTHER_MEMORY, compare_devices),
    SORTER(by_external, ppi_device_record, OTHER_MEMORY, compare_devices),
    SORTER(by_arrow, ppi_device_record, OTHER_MEMORY, compare_devices),
    SORTER(without_id, ppi_device_record, OTHER_MEMORY, compare_devices),
    SORTER(placed, ppi_device_record, OTHER_MEMORY, compare_devices),
#undef SORTER
};
enum { NUM_SORTERS = sizeof sorters / sizeof *sorters };

static ppi_sorter *sorter_at(ppi_importer *importer, size_t i) {
  return (ppi_sorter *)(void *)((char *)importer + sorters[i].at);
}

void ppi_importer_init(ppi_importer *importer, const char *path) {
  memset(importer, 0, sizeof *importer);
  ppi_fields_init(&importer->fields);
  importer->header.system_cpu = importer->header.process_cpu = -1;
  importer->names.max_items = PPI_IMPORT_MAX_SITES;
  importer->names.max_bytes = PPI_IMPORT_MAX_NAME_BYTES;
  importer->attributes.max_items = PPI_IMPORT_MAX_ATTRIBUTES;
  importer->attributes.max_bytes = PPI_IMPORT_MAX_ATTRIBUTE_BYTES;
  importer->own_categories.max_items = PPI_IMPORT_MAX_CATEGORIES;
  importer->own_categories.max_bytes = PPI_IMPORT_MAX_NAME_BYTES;
  ppi_spill_init(&importer->spill, path);
  for (size_t i = 0; i < NUM_SORTERS; i++)
    ppi_sorter_init(sorter_at(importer, i), sorters[i].record_size,
                    sorters[i].memory, sorters[i].compare, &importer->spill);
}

void ppi_importer_clear(ppi_importer *importer) {
  ppi_free(importer->quick);
  ppi_map_clear(&importer->operators);
  ppi_free(importer->nodes);
  for (size_t i = 0; i < NUM_SORTERS; i++)
    ppi_sorter_clear(sorter_at(importer, i));
  ppi_spill_close(&importer->spill);
  ppi_intern_clear(&importer->names);
  ppi_intern_clear(&importer->attributes);
  ppi_intern_clear(&importer->own_categories);
  if (importer->facts) ppi_own_facts_clear(importer->facts);
  ppi_free(importer->facts);
  ppi_places_clear(&importer->places);
  ppi_free(importer->classes);
  ppi_shapes_destroy(importer->shapes);
  ppi_free(importer->folds);
}

// ---- records ----

void ppi_import_span(ppi_importer *importer, uint64_t start, uint64_t end,
                     ppi_timed what) {
  if (end >= start) importer->last_valid = PPI_MAX(importer->last_valid, end);
  int64_t first = (int64_t)(start - PPI_RECORD_BIAS);
  int64_t last = (int64_t)(PPI_MAX(start, end) - PPI_RECORD_BIAS);
  importer->min_ns =
      importer->has_times ? PPI_MIN(importer->min_ns, first) : first;
  importer->max_ns =
      importer->has_times ? PPI_MAX(importer->max_ns, last) : last;
  importer->has_times = true;
  ppi_clocks_add(&importer->clocks, first, (int64_t)(end - PPI_RECORD_BIAS),
                 what);
}

void ppi_import_add(ppi_importer *importer, const ppi_record *record) {
  bool is_range = record->kind == PPI_RECORD_RANGE;
  importer->num_events++;
  if (record->kind != PPI_RECORD_FLOW)
    ppi_import_span(importer, record->time,
                    is_range ? record->end : record->time, PPI_TIMED_HOST);
  ppi_sorter_add(&importer->records, record->process, record);
}

void ppi_import_begins(ppi_importer *importer, uint32_t name) {
  uint32_t bit = name % PPI_IMPORT_NAME_BITS;
  if (name) importer->begun_names[bit / 8] |= (uint8_t)(1u << bit % 8);
}

bool ppi_import_may_end(const ppi_importer *importer, uint32_t end,
                        uint32_t begun) {
  uint32_t bit = end % PPI_IMPORT_NAME_BITS;
  return end == 0 || end == begun ||
         !(importer->begun_names[bit / 8] >> bit % 8 & 1);
}

// Numbers in the args of an end replace those of its begin.
void ppi_import_end(ppi_importer *importer, ppi_record *begun,
                    const ppi_record *end) {
  bool is_step =
      importer->classes[begun->site].category == PPROF_CATEGORY_PROFILE_STEP;
  uint8_t reported =
      end->flags & (PPI_RECORD_HAS_AMOUNT | PPI_RECORD_HAS_FLOPS);
  // The value of a step is its number.
  if (is_step) reported &= PPI_RECORD_HAS_AMOUNT;
  begun->end = end->time;
  if (reported & PPI_RECORD_HAS_AMOUNT) begun->amount = end->amount;
  if (reported & PPI_RECORD_HAS_FLOPS) begun->value = end->value;
  begun->flags |= reported;
  if (!begun->attributes)
    begun->attributes = end->attributes;
  else if (end->attributes && end->attributes != begun->attributes)
    importer->skips[PPI_SKIP_ATTRIBUTES_OF_ENDS]++;
}

// ---- clocks ----

// A clock at least this far from 0 has no event at 0 by chance.
#define FAR_FROM_ZERO_NS (INT64_C(3600) * 1000000000)

static bool has_any(const ppi_clock *clock) {
  return clock->num[PPI_TIMED_FRAME] + clock->num[PPI_TIMED_HOST] +
             clock->num[PPI_TIMED_DEVICE] >
         0;
}

static void widen(ppi_clock *clock, int64_t min_ns, int64_t max_ns) {
  bool is_first = !has_any(clock);
  clock->min_ns = is_first ? min_ns : PPI_MIN(clock->min_ns, min_ns);
  clock->max_ns = is_first ? max_ns : PPI_MAX(clock->max_ns, max_ns);
}

static void join_clocks(ppi_clock *into, const ppi_clock *from) {
  widen(into, from->min_ns, from->max_ns);
  for (int i = 0; i <= PPI_TIMED_DEVICE; i++) into->num[i] += from->num[i];
}

// At most `most_ns` lie between the clock's times and these.
static bool is_near(const ppi_clock *clock, int64_t min_ns, int64_t max_ns,
                    int64_t most_ns) {
  return (__int128)min_ns - clock->max_ns <= most_ns &&
         (__int128)clock->min_ns - max_ns <= most_ns;
}

static size_t find_clock(const ppi_clocks *clocks, int64_t ns) {
  size_t i = 0;
  while (i < clocks->num &&
         !is_near(&clocks->items[i], ns, ns, PPI_CLOCK_GAP_NS))
    i++;
  return i;
}

// Joins clocks that a wider clock now lies near to.
static void join_near(ppi_clocks *clocks, size_t at) {
  ppi_clock grown = clocks->items[at];
  clocks->items[at] = clocks->items[--clocks->num];
  for (size_t i = 0; i < clocks->num;) {
    if (is_near(&clocks->items[i], grown.min_ns, grown.max_ns,
                PPI_CLOCK_GAP_NS)) {
      join_clocks(&grown, &clocks->items[i]);
      clocks->items[i] = clocks->items[--clocks->num];
    } else {
      i++;
    }
  }
  clocks->items[clocks->num++] = grown;
}

void ppi_clocks_add(ppi_clocks *clocks, int64_t start_ns, int64_t end_ns,
                    ppi_timed what) {
  bool has_end = (__int128)end_ns - start_ns <= PPI_CLOCK_GAP_NS;
  int64_t last_ns = has_end ? PPI_MAX(start_ns, end_ns) : start_ns;
  ppi_clock *clock = &clocks->zero;
  if (start_ns != 0) {
    size_t at = find_clock(clocks, start_ns);
    if (at == clocks->num) clocks->items[clocks->num++] = (ppi_clock){0};
    clock = &clocks->items[at];
  }
  widen(clock, start_ns, last_ns);
  clock->num[what]++;
  if (start_ns != 0 && clocks->num > 1)
    join_near(clocks, (size_t)(clock - clocks->items));
}

static void place_zero(ppi_clocks *clocks) {
  const ppi_clock *zero = &clocks->zero;
  if (!has_any(zero)) return;
  for (size_t i = 0; i < clocks->num; i++) {
    if (!is_near(&clocks->items[i], zero->min_ns, zero->max_ns,
                 FAR_FROM_ZERO_NS))
      continue;
    join_clocks(&clocks->items[i], zero);
    return;
  }
  if (clocks->num == 0) clocks->items[clocks->num++] = *zero;
}

// Above 0: `a` has more events.
static int compare_clocks(const ppi_clock *a, const ppi_clock *b) {
  for (int i = PPI_TIMED_HOST; i <= PPI_TIMED_DEVICE; i++)
    if (a->num[i] != b->num[i]) return a->num[i] > b->num[i] ? 1 : -1;
  return 0;
}

const ppi_clock *ppi_clocks_choose(ppi_clocks *clocks) {
  place_zero(clocks);
  const ppi_clock *found = clocks->items;
  bool is_tied = clocks->num == 0;
  for (size_t i = 1; i < clocks->num; i++) {
    int order = compare_clocks(&clocks->items[i], found);
    is_tied = order == 0 || (is_tied && order < 0);
    if (order > 0) found = &clocks->items[i];
  }
  return is_tied ? NULL : found;
}

// ---- texts ----

static void grow_buckets(ppi_intern *intern) {
  if ((intern->num_items + 1) * 2 <= intern->num_buckets) return;
  size_t num = intern->num_buckets ? intern->num_buckets * 2 : 256;
  uint32_t *buckets = ppi_tool_must(ppi_alloc(num * sizeof *buckets));
  for (size_t i = 0; i < intern->num_items; i++) {
    size_t at = intern->items[i].hash & (num - 1);
    while (buckets[at]) at = (at + 1) & (num - 1);
    buckets[at] = (uint32_t)i + 1;
  }
  ppi_free(intern->buckets);
  intern->buckets = buckets;
  intern->num_buckets = num;
}

static char *keep_text(ppi_intern *intern, const char *text, size_t len) {
  size_t need = len + 1;
  if (need > intern->chunk_left) {
    size_t size = need > PPI_INTERN_CHUNK ? need : PPI_INTERN_CHUNK;
    PPI_MUST_ROOM(intern->chunks, intern->chunks_capacity,
                  intern->num_chunks + 1);
    intern->chunk_at = ppi_tool_must(ppi_realloc(NULL, size));
    intern->chunks[intern->num_chunks++] = intern->chunk_at;
    intern->chunk_left = size;
  }
  char *at = intern->chunk_at;
  memcpy(at, text, len);
  at[len] = '\0';
  intern->chunk_at += need;
  intern->chunk_left -= need;
  intern->num_bytes += need;
  return at;
}

static uint32_t hash_of(const char *text, size_t len) {
  return (uint32_t)(ppi_hash_bytes(7, text, len) >> 16);
}

static uint32_t find_text(const ppi_intern *intern, const char *text,
                          size_t len, uint32_t hash) {
  size_t mask = intern->num_buckets - 1, at = hash & mask;
  for (; intern->num_buckets && intern->buckets[at]; at = (at + 1) & mask) {
    const ppi_intern_item *item = &intern->items[intern->buckets[at] - 1];
    if (item->hash == hash && item->len == len &&
        memcmp(item->text, text, len) == 0)
      return intern->buckets[at];
  }
  return 0;
}

uint32_t ppi_intern_find(const ppi_intern *intern, const char *text,
                         size_t len) {
  return find_text(intern, text, len, hash_of(text, len));
}

uint32_t ppi_intern_id(ppi_intern *intern, const char *text, size_t len,
                       bool *out_is_new) {
  *out_is_new = false;
  uint32_t hash = hash_of(text, len),
           known = find_text(intern, text, len, hash);
  if (known) return known;
  if (intern->num_items >= intern->max_items ||
      intern->num_bytes + len + 1 > intern->max_bytes)
    return 0;
  grow_buckets(intern);
  PPI_MUST_PUSH(
      intern->items, intern->num_items, intern->items_capacity,
      (ppi_intern_item){keep_text(intern, text, len), (uint32_t)len, hash});
  size_t mask = intern->num_buckets - 1, at = hash & mask;
  for (; intern->buckets[at];) at = (at + 1) & mask;
  intern->buckets[at] = (uint32_t)intern->num_items;
  *out_is_new = true;
  return (uint32_t)intern->num_items;
}

const ppi_intern_item *ppi_intern_item_of(const ppi_intern *intern,
                                          uint32_t id) {
  return id > 0 && id <= intern->num_items ? &intern->items[id - 1] : NULL;
}

void ppi_intern_clear(ppi_intern *intern) {
  for (size_t i = 0; i < intern->num_chunks; i++) ppi_free(intern->chunks[i]);
  PPI_FREE_ALL(intern->chunks, intern->items, intern->buckets);
  *intern = (ppi_intern){0};
}

// ---- models of devices ----

static bool has_model(const char *models, const char *name, size_t len) {
  for (const char *at = models; *at; at += *at == '\n') {
    size_t own = strcspn(at, "\n");
    if (own == len && memcmp(at, name, len) == 0) return true;
    at += own;
  }
  return false;
}

void ppi_import_model(ppi_importer *importer, const char *name,
                      size_t name_len) {
  char *models = importer->header.models;
  size_t len = strlen(models), room = sizeof importer->header.models - len;
  if (name_len == 0 || name_len + 2 > room || memchr(name, ':', name_len) ||
      has_model(models, name, name_len))
    return;
  snprintf(models + len, room, "%s%.*s", len ? "\n" : "", (int)name_len, name);
}

// ---- values of the event that was read last ----

bool ppi_import_ns(const ppi_scalar *scalar, int64_t *out) {
  return (scalar->kind == PPI_SCALAR_NUMBER ||
          scalar->kind == PPI_SCALAR_TEXT) &&
         ppi_decimal_ns(scalar->text, scalar->len, 3, out, NULL);
}

uint64_t ppi_import_id(const ppi_scalar *scalar) {
  int64_t id;
  if (!scalar ||
      (scalar->kind != PPI_SCALAR_NUMBER && scalar->kind != PPI_SCALAR_TEXT))
    return 0;
  if (ppi_integer(scalar->text, scalar->len, &id)) return (uint64_t)id;
  return ppi_hash_bytes(5, scalar->text, scalar->len) | 1;
}

uint64_t ppi_import_id_arg(const ppi_importer *importer, ppi_arg first,
                           ppi_arg second) {
  const ppi_scalar *scalar = ppi_fields_arg(&importer->fields, first);
  if (!scalar) scalar = ppi_fields_arg(&importer->fields, second);
  return ppi_import_id(scalar);
}

bool ppi_import_number(const ppi_importer *importer, ppi_arg arg, double *out) {
  const ppi_scalar *scalar = ppi_fields_arg(&importer->fields, arg);
  if (!scalar || scalar->kind != PPI_SCALAR_NUMBER ||
      !isfinite(ppi_scalar_number(scalar)))
    return false;
  *out = ppi_scalar_number(scalar);
  return true;
}

bool ppi_import_flops(const ppi_importer *importer, double *out) {
  return ppi_import_number(importer, PPI_ARG_FLOPS, out) ||
         ppi_import_number(importer, PPI_ARG_FLOPS_UPPER, out);
}

uint32_t ppi_import_attributes(ppi_importer *importer) {
  ppi_fields *fields = &importer->fields;
  bool is_new;
  if (fields->attributes_cut) importer->skips[PPI_SKIP_ATTRIBUTES_CUT]++;
  if (fields->attributes_len == 0) return 0;
  // Attributes are written without braces; the array has room for both.
  memmove(fields->attributes + 1, fields->attributes, fields->attributes_len);
  size_t from = fields->attributes[1] == ',';
  fields->attributes[from] = '{';
  fields->attributes[fields->attributes_len + 1] = '}';
  uint32_t id = ppi_intern_id(&importer->attributes, fields->attributes + from,
                              fields->attributes_len + 2 - from, &is_new);
  if (!id) importer->skips[PPI_SKIP_ATTRIBUTES_DROPPED]++;
  return id;
}
