// SPDX-License-Identifier: Apache-2.0
//
// What an import holds, from nothing to nothing.
#include "import/importer.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

// Bytes of records held at once.
#define RECORD_MEMORY (32u << 20)
#define OTHER_MEMORY (8u << 20)

// ---- orders of records ----

// At one time: begins and ends as they come, then ranges, the longer first,
// then points, which the ranges may hold.
static int rank_of(const ppi_record *record) {
  switch ((ppi_record_kind)record->kind) {
    case PPI_RECORD_RANGE:
    case PPI_RECORD_UNENDED:
      return 1;
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

static int compare_launches(const void *left, const void *right) {
  const ppi_launch *a = left, *b = right;
  return (a->time > b->time) - (a->time < b->time);
}

static int compare_devices(const void *left, const void *right) {
  const ppi_device_record *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->end != b->end) return a->end > b->end ? -1 : 1;
  return (a->stream > b->stream) - (a->stream < b->stream);
}

static int compare_arrows(const void *left, const void *right) {
  const ppi_arrow *a = left, *b = right;
  return (a->id > b->id) - (a->id < b->id);
}

// The parts of an event stay together.
static int compare_own(const void *left, const void *right) {
  const ppi_own_record *a = left, *b = right;
  return (a->order > b->order) - (a->order < b->order);
}

void ppi_importer_init(ppi_importer *importer, const char *path) {
  memset(importer, 0, sizeof *importer);
  ppi_fields_init(&importer->fields);
  importer->header.system_cpu = importer->header.process_cpu = -1;
  importer->names.max_items = PPI_IMPORT_MAX_SITES;
  importer->names.max_bytes = PPI_IMPORT_MAX_NAME_BYTES;
  importer->attributes.max_items = PPI_IMPORT_MAX_ATTRIBUTES;
  importer->attributes.max_bytes = PPI_IMPORT_MAX_ATTRIBUTE_BYTES;
  ppi_spill *spill = &importer->spill;
  ppi_spill_init(spill, path);
  ppi_sorter_init(&importer->records, sizeof(ppi_record), RECORD_MEMORY,
                  compare_records, spill);
  ppi_sorter_init(&importer->launches, sizeof(ppi_launch), OTHER_MEMORY,
                  compare_launches, spill);
  ppi_sorter_init(&importer->owners, sizeof(ppi_launch), OTHER_MEMORY,
                  compare_launches, spill);
  ppi_sorter_init(&importer->by_correlation, sizeof(ppi_device_record),
                  OTHER_MEMORY, compare_devices, spill);
  ppi_sorter_init(&importer->by_external, sizeof(ppi_device_record),
                  OTHER_MEMORY, compare_devices, spill);
  ppi_sorter_init(&importer->placed, sizeof(ppi_device_record), OTHER_MEMORY,
                  compare_devices, spill);
  ppi_sorter_init(&importer->without_id, sizeof(ppi_device_record),
                  OTHER_MEMORY, compare_devices, spill);
  ppi_sorter_init(&importer->by_arrow, sizeof(ppi_device_record), OTHER_MEMORY,
                  compare_devices, spill);
  ppi_sorter_init(&importer->arrow_tails, sizeof(ppi_launch), OTHER_MEMORY,
                  compare_launches, spill);
  ppi_sorter_init(&importer->idle_launches, sizeof(ppi_launch), OTHER_MEMORY,
                  compare_launches, spill);
  ppi_sorter_init(&importer->arrow_heads, sizeof(ppi_arrow), OTHER_MEMORY,
                  compare_arrows, spill);
  importer->own_categories.max_items = PPI_IMPORT_MAX_CATEGORIES;
  importer->own_categories.max_bytes = PPI_IMPORT_MAX_NAME_BYTES;
  ppi_sorter_init(&importer->own, sizeof(ppi_own_record), RECORD_MEMORY,
                  compare_own, spill);
}

void ppi_importer_clear(ppi_importer *importer) {
  ppi_free(importer->quick);
  ppi_map_clear(&importer->operators);
  ppi_free(importer->nodes);
  ppi_sorter_clear(&importer->records);
  ppi_sorter_clear(&importer->launches);
  ppi_sorter_clear(&importer->owners);
  ppi_sorter_clear(&importer->by_correlation);
  ppi_sorter_clear(&importer->by_external);
  ppi_sorter_clear(&importer->placed);
  ppi_sorter_clear(&importer->without_id);
  ppi_sorter_clear(&importer->by_arrow);
  ppi_sorter_clear(&importer->arrow_tails);
  ppi_sorter_clear(&importer->arrow_heads);
  ppi_sorter_clear(&importer->idle_launches);
  ppi_sorter_clear(&importer->own);
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

pprof_status ppi_import_add(ppi_importer *importer, const ppi_record *record) {
  bool is_range = record->kind == PPI_RECORD_RANGE;
  importer->num_events++;
  if (record->kind != PPI_RECORD_FLOW)
    ppi_import_span(importer, record->time,
                    is_range ? record->end : record->time, PPI_TIMED_HOST);
  return ppi_sorter_add(&importer->records, record->process, record);
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

// Members of args that are numbers of an end stand for those of its begin.
void ppi_import_end(ppi_importer *importer, ppi_record *begun,
                    const ppi_record *end) {
  bool is_step =
      importer->classes[begun->site].category == PPROF_CATEGORY_PROFILE_STEP;
  uint8_t told = end->flags & (PPI_RECORD_HAS_AMOUNT | PPI_RECORD_HAS_FLOPS);
  // The value of a step is its number.
  if (is_step) told &= PPI_RECORD_HAS_AMOUNT;
  begun->end = end->time;
  if (told & PPI_RECORD_HAS_AMOUNT) begun->amount = end->amount;
  if (told & PPI_RECORD_HAS_FLOPS) begun->value = end->value;
  begun->flags |= told;
  if (!begun->attributes)
    begun->attributes = end->attributes;
  else if (end->attributes && end->attributes != begun->attributes)
    importer->skips[PPI_SKIP_ATTRIBUTES_OF_ENDS]++;
}
