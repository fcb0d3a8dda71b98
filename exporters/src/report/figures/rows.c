// SPDX-License-Identifier: Apache-2.0
//
// Finds, adds and merges rows of a report's tables, which are sorted by key.
#include "report/figures/rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "event/recorded_wait.h"
#include "report/figures/fields.h"

// ---- fields of rows ----

static const ppi_field names_fields[] = {
    PPI_KEY(ppi_report_name, text, category_name),
    PPI_KEY(ppi_report_name, text, name),
    PPI_KEPT(ppi_report_name, category, category),
    PPI_FIGURES(ppi_report_name, spread, host, bytes),
    PPI_FIGURES(ppi_report_name, histogram, host_times, sizes),
    PPI_FIGURE(ppi_report_name, messages, messages),
    PPI_FIGURE(ppi_report_name, numbers, numbers),
    PPI_FIGURES(ppi_report_name, sum, self_ns, num_async),
    PPI_FIGURES(ppi_report_name, phases, host_phases, device_phases),
    PPI_FIGURE(ppi_report_name, sum, cpu),
    PPI_FIGURES(ppi_report_name, net, memory, own_memory)};

static const ppi_field categories_fields[] = {
    PPI_KEY(ppi_report_category, text, name),
    PPI_KEPT(ppi_report_category, category, category),
    PPI_FIGURES(ppi_report_category, sum, host_calls, device_ns)};

static const ppi_field devices_fields[] = {
    PPI_KEY(ppi_report_device, text, name),
    PPI_FIGURES(ppi_report_device, sum, ranges, num_outside),
    PPI_FIGURES(ppi_report_device, flag, failed, incomplete)};

static const ppi_field queues_fields[] = {
    PPI_KEY(ppi_report_queue, text, category_name),
    PPI_KEY(ppi_report_queue, text, name),
    PPI_KEY(ppi_report_queue, text, device),
    PPI_FIGURES(ppi_report_queue, sum, sums.calls, sums.num_unresolved),
    PPI_FIGURE(ppi_report_queue, spread, sums.delay),
    PPI_FIGURE(ppi_report_queue, histogram, sums.delays)};

static const ppi_field serving_fields[] = {
    PPI_KEY(ppi_report_serving, text, category_name),
    PPI_KEY(ppi_report_serving, text, name),
    PPI_FIGURES(ppi_report_serving, sum, sums.num_whole, sums.span_ns),
    PPI_FIGURE(ppi_report_serving, most, sums.iterations.most),
    PPI_FIGURES(ppi_report_serving, sum, sums.iterations.n,
                sums.iterations.alone_batch),
    PPI_FIGURES(ppi_report_serving, squares, sums.iterations.time_ns,
                sums.iterations.alone_batch_ns),
    PPI_FIGURE(ppi_report_serving, slow, sums.slow),
    PPI_FIGURE(ppi_report_serving, spread, sums.spreads),
    PPI_FIGURE(ppi_report_serving, histogram, sums.times)};

static const ppi_field interference_fields[] = {
    PPI_KEY(ppi_report_interference, text, device),
    PPI_KEY(ppi_report_interference, text, name),
    PPI_KEY(ppi_report_interference, text, other),
    PPI_FIGURES(ppi_report_interference, sum, num_calls, measured_ns),
    PPI_FIGURE(ppi_report_interference, squares, measured_squares)};

static const ppi_field work_fields[] = {
    PPI_KEY(ppi_report_work, text, category_name),
    PPI_KEY(ppi_report_work, text, name),
    PPI_KEY(ppi_report_work, text, run),
    PPI_KEY(ppi_report_work, lane, lane),
    PPI_FIGURE(ppi_report_work, gauge, gauge),
    PPI_FIGURES(ppi_report_work, amount, items, cold)};

static const ppi_field threads_fields[] = {
    PPI_KEY(ppi_report_thread_name, text, process),
    PPI_KEY(ppi_report_thread_name, number, thread),
    PPI_KEY(ppi_report_thread_name, text, category_name),
    PPI_KEY(ppi_report_thread_name, text, name),
    PPI_KEPT(ppi_report_thread_name, text, called),
    PPI_KEPT(ppi_report_thread_name, category, category),
    PPI_FIGURES(ppi_report_thread_name, spread, host, inside),
    PPI_FIGURE(ppi_report_thread_name, histogram, host_times),
    PPI_FIGURE(ppi_report_thread_name, sum, self_ns)};

static const ppi_field parts_fields[] = {
    PPI_KEY(ppi_report_part, text, process),
    PPI_KEY(ppi_report_part, number, thread),
    PPI_KEY(ppi_report_part, text, op),
    PPI_KEY(ppi_report_part, text, child),
    PPI_KEY(ppi_report_part, text, launch),
    PPI_FIGURES(ppi_report_part, spread, host, device)};

static const ppi_field shapes_fields[] = {
    PPI_KEY(ppi_report_shape, text, name),
    PPI_KEY(ppi_report_shape, shape, shape),
    PPI_FIGURE(ppi_report_shape, spread, spread),
    PPI_FIGURE(ppi_report_shape, histogram, times)};

static const ppi_field memory_fields[] = {
    PPI_KEY(ppi_report_memory, text, place),
    PPI_KEY(ppi_report_memory, flag, is_reserved),
    PPI_KEY(ppi_report_memory, text, name),
    PPI_FIGURES(ppi_report_memory, sum, allocations, frees),
    PPI_FIGURES(ppi_report_memory, bytes, allocated_bytes, freed_bytes)};

static const ppi_field places_fields[] = {
    PPI_KEY(ppi_report_place, text, name),
    PPI_FIGURE(ppi_report_place, flag, is_known),
    PPI_FIGURE(ppi_report_place, most, peak_bytes),
    PPI_FIGURE(ppi_report_place, growth, growth)};

static const ppi_field energy_fields[] = {
    PPI_KEY(ppi_energy_row, chars, device),
    PPI_KEY(ppi_energy_row, lane, kind),
    PPI_KEY(ppi_energy_row, chars, name),
    PPI_FIGURE(ppi_energy_row, flag, is_unresolved),
    PPI_FIGURES(ppi_energy_row, amount, joules, error_joules),
    PPI_FIGURES(ppi_energy_row, sum, calls, busy_ns)};

static const ppi_field notes_fields[] = {PPI_KEY(ppi_report_note, text, key),
                                         PPI_KEY(ppi_report_note, text, text)};

static const ppi_field inputs_fields[] = {
    PPI_KEY(ppi_report_input, text, uuid),
    PPI_KEY(ppi_report_input, text, host),
    PPI_KEY(ppi_report_input, text, pid),
    PPI_KEPT(ppi_report_input, text, command),
    PPI_KEPT(ppi_report_input, text, rank),
    PPI_KEPT(ppi_report_input, text, config),
    PPI_KEPT(ppi_report_input, number, began_ns),
    PPI_KEPT(ppi_report_input, number, wall_ns),
    PPI_FIGURE(ppi_report_input, answer, answers)};

// ---- tables ----

typedef struct table_kind {
  ppi_fields fields;
  size_t items, num, capacity;  // offsets in ppi_figures
} table_kind;

#define KIND(field, row)                                          \
  {PPI_FIELDS(row, field##_fields), offsetof(ppi_figures, field), \
   offsetof(ppi_figures, num_##field),                            \
   offsetof(ppi_figures, field##_capacity)},
static const table_kind kinds[] = {PPI_FIGURES_TABLES(KIND)};

typedef struct row_table {
  const ppi_fields *fields;
  char **items;
  size_t *num, *capacity;
  bool may_repeat;  // two processes of one run id are two inputs
} row_table;

static row_table table_of(const ppi_figures *figures, ppi_figures_table which) {
  const table_kind *kind = &kinds[which];
  char *base = (char *)figures;
  return (row_table){&kind->fields, (char **)(void *)(base + kind->items),
                     (size_t *)(void *)(base + kind->num),
                     (size_t *)(void *)(base + kind->capacity),
                     which == PPI_FIGURES_inputs};
}

static int compare(const row_table *table, const void *key, const char *item) {
  int order = ppi_fields_compare(table->fields, key, item);
  return order == 0 && table->may_repeat ? 1 : order;
}

void *ppi_figures_row(ppi_figures *figures, ppi_figures_table which,
                      const void *key) {
  const row_table table = table_of(figures, which);
  size_t low = 0, high = *table.num, size = table.fields->size;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    char *item = *table.items + middle * size;
    int order = compare(&table, key, item);
    if (order == 0) return item;
    if (order > 0)
      low = middle + 1;
    else
      high = middle;
  }
  void *grown = ppi_grow(*table.items, table.capacity, *table.num + 1, size);
  if (!grown) return NULL;
  *table.items = grown;
  char *item = *table.items + low * size;
  size_t behind = (*table.num - low) * size;
  memmove(item + size, item, behind);
  if (ppi_fields_start(table.fields, item, key)) {
    ++*table.num;
    return item;
  }
  memmove(item, item + size, behind);
  return NULL;
}

// Adds the rows of `from` that the table lacks. `from` is sorted like the
// table. Without memory for a row, the table has the rows before it.
static bool join(const row_table *table, const char *from, size_t num) {
  size_t size = table->fields->size, old = 0, i = 0, joined = 0;
  char *rows = ppi_alloc((*table->num + num + 1) * size);
  bool done = rows;
  while (rows && (old < *table->num || i < num)) {
    const char *item = *table->items + old * size;
    int order = old == *table->num ? -1 : i == num ? 1 : 0;
    if (order == 0) order = compare(table, from + i * size, item);
    if (order >= 0)
      memcpy(rows + joined++ * size, *table->items + old++ * size, size);
    else if (done)
      done = ppi_fields_start(table->fields, rows + joined * size,
                              from + i * size);
    joined += order < 0 && done;
    i += order <= 0;
  }
  if (!rows) return false;
  ppi_free(*table->items);
  *table->items = rows;
  *table->capacity = *table->num + num + 1;
  *table->num = joined;
  return done;
}

ppi_report_name *ppi_figures_name(ppi_figures *figures, uint32_t category,
                                  const char *category_name, const char *name) {
  const ppi_report_name key = {.name = (char *)name,
                               .category_name = (char *)category_name,
                               .category = category};
  return ppi_figures_row(figures, PPI_FIGURES_names, &key);
}

void ppi_cpu_sums_merge(ppi_cpu_sums *into, const ppi_cpu_sums *from) {
  static const ppi_field sums[] = {
      PPI_FIGURES(ppi_cpu_sums, sum, num_asked, on_processor_ns)};
  static const ppi_fields fields = PPI_FIELDS(ppi_cpu_sums, sums);
  ppi_fields_merge(&fields, into, from);
}

bool ppi_name_is_wait(const ppi_report_name *name) {
  return name->category == PPROF_CATEGORY_WAIT &&
         ppi_wait_object(name->name) != name->name;
}

bool ppi_figures_have_waits(const ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_names; i++)
    if (ppi_name_is_wait(&figures->names[i])) return true;
  return false;
}

bool ppi_figures_note(ppi_figures *figures, const char *key, const char *text) {
  const ppi_report_note note = {(char *)key, (char *)text};
  return ppi_figures_row(figures, PPI_FIGURES_notes, &note);
}

bool ppi_figures_say(ppi_figures *figures, const char *key, const char *format,
                     ...) {
  char text[320];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return ppi_figures_note(figures, key, text);
}

bool ppi_figures_add_row(ppi_figures *figures, ppi_figures_table which,
                         const void *row) {
  void *into = ppi_figures_row(figures, which, row);
  return into && ppi_fields_merge(&kinds[which].fields, into, row);
}

static int compare_rows(const void *left, const void *right, void *fields) {
  return ppi_fields_compare(fields, left, right);
}

bool ppi_figures_add_rows(ppi_figures *figures, ppi_figures_table which,
                          void *rows, size_t num) {
  ppi_fields fields = kinds[which].fields;
  bool done = true;
  if (num > 1) qsort_r(rows, num, fields.size, compare_rows, &fields);
  for (size_t i = 0; i < num && done; i++)
    done = ppi_figures_add_row(figures, which, (char *)rows + i * fields.size);
  return done;
}

bool ppi_figures_merge_table(ppi_figures *into, const ppi_figures *from,
                             ppi_figures_table which) {
  const row_table table = table_of(into, which), other = table_of(from, which);
  bool done = join(&table, *other.items, *other.num);
  for (size_t i = 0; i < *other.num && done; i++)
    done =
        ppi_figures_add_row(into, which, *other.items + i * other.fields->size);
  return done;
}

void ppi_figures_clear_table(ppi_figures *figures, ppi_figures_table which) {
  const row_table table = table_of(figures, which);
  for (size_t i = 0; i < *table.num; i++)
    ppi_fields_clear(table.fields, *table.items + i * table.fields->size);
  ppi_free(*table.items);
  *table.items = NULL;
  *table.num = *table.capacity = 0;
}

void ppi_figures_carry_table(ppi_carry *carry, ppi_figures *figures,
                             ppi_figures_table which) {
  const row_table table = table_of(figures, which);
  size_t size = table.fields->size;
  ppi_carry_room(carry, table.items, table.num, size);
  for (size_t i = 0; i < *table.num; i++)
    ppi_fields_carry(table.fields, carry, *table.items + i * size);
}

// ---- memory ----

// The last place with a row of its own; NULL: all places have one.
static const char *last_with_row(const ppi_figures *figures) {
  size_t left = PPI_REPORT_PLACES;
  const char *last = NULL;
  for (size_t i = 0; i < figures->num_places; i++) {
    const char *name = figures->places[i].name;
    if (strcmp(name, PPI_OTHER_PLACES) == 0) continue;
    if (left == 0) return last;
    left--;
    last = name;
  }
  return NULL;
}

// The places behind `last` become PPI_OTHER_PLACES: several places, so that
// growth has no meaning.
static bool add_few(ppi_figures *few, const ppi_figures *from,
                    const char *last) {
  static char others[] = PPI_OTHER_PLACES;
  bool done = true;
  for (size_t i = 0; i < from->num_places && done; i++) {
    ppi_report_place row = from->places[i];
    if (strcmp(row.name, last) > 0) {
      row.name = others;
      memset(row.growth, 0, sizeof row.growth);
    }
    done = ppi_figures_add_row(few, PPI_FIGURES_places, &row);
  }
  for (size_t i = 0; i < from->num_memory && done; i++) {
    ppi_report_memory row = from->memory[i];
    if (strcmp(row.place, last) > 0) row.place = others;
    done = ppi_figures_add_row(few, PPI_FIGURES_memory, &row);
  }
  return done;
}

bool ppi_figures_add_memory(ppi_figures *into, const ppi_figures *from) {
  bool done = ppi_figures_merge_table(into, from, PPI_FIGURES_memory) &&
              ppi_figures_merge_table(into, from, PPI_FIGURES_places);
  const char *last = done ? last_with_row(into) : NULL;
  if (!last) return done;
  ppi_figures few = {0};
  done = add_few(&few, into, last);
  ppi_figures_clear_table(done ? into : &few, PPI_FIGURES_memory);
  ppi_figures_clear_table(done ? into : &few, PPI_FIGURES_places);
  if (!done) return false;
  into->memory = few.memory;
  into->num_memory = few.num_memory;
  into->memory_capacity = few.memory_capacity;
  into->places = few.places;
  into->num_places = few.num_places;
  into->places_capacity = few.places_capacity;
  return true;
}
