// SPDX-License-Identifier: Apache-2.0
//
// The rows of a report's tables: each table is sorted by its key, and a lookup
// adds the row that is missing.
#include "report/figures/rows.h"

#include <string.h>

#include "base/mem.h"

typedef struct row_kind {
  size_t size;
  int (*compare)(const void *key, const void *item);
  // Makes `item` a row of that key and nothing else; false: no memory.
  bool (*start)(void *item, const void *key);
} row_kind;

typedef struct row_table {
  void **items;
  size_t *num, *capacity;
  const row_kind *kind;
} row_table;

// Finds the row equal to `key`, or inserts one; NULL: no memory.
static void *find_or_add(const row_table *table, const void *key) {
  size_t low = 0, high = *table->num, size = table->kind->size;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    char *item = (char *)*table->items + middle * size;
    int order = table->kind->compare(key, item);
    if (order == 0) return item;
    if (order > 0)
      low = middle + 1;
    else
      high = middle;
  }
  void *grown = ppi_grow(*table->items, table->capacity, *table->num + 1, size);
  if (!grown) return NULL;
  *table->items = grown;
  char *item = (char *)grown + low * size;
  size_t behind = (*table->num - low) * size;
  memmove(item + size, item, behind);
  if (table->kind->start(item, key)) {
    ++*table->num;
    return item;
  }
  memmove(item, item + size, behind);
  return NULL;
}

static size_t count_missing(const row_table *table, const char *from,
                            size_t num) {
  size_t size = table->kind->size, missing = 0, at = 0;
  for (size_t i = 0; i < num; i++) {
    int order = 1;
    for (; at < *table->num; at++) {
      const char *item = (const char *)*table->items + at * size;
      order = table->kind->compare(from + i * size, item);
      if (order <= 0) break;
    }
    missing += order != 0;
  }
  return missing;
}

// Adds the rows that `from`, sorted like the table, has and the table has not:
// from the last one on, so that each row moves once.
static pprof_status join(const row_table *table, const void *from, size_t num) {
  size_t missing = count_missing(table, from, num);
  if (missing == 0) return PPROF_STATUS_OK;
  size_t size = table->kind->size, old = *table->num, end = old + missing;
  void *grown = ppi_grow(*table->items, table->capacity, end, size);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  *table->items = grown;
  char *items = grown;
  size_t at = end;
  bool started = true;
  while (at > old && started) {
    const char *key = (const char *)from + (num - 1) * size;
    char *last = old ? items + (old - 1) * size : NULL;
    int order = last ? table->kind->compare(key, last) : 1;
    if (order < 0) {
      memcpy(items + --at * size, last, size);
      old--;
    } else if (order == 0) {
      num--;
    } else {
      started = table->kind->start(items + --at * size, key);
      num--;
    }
  }
  if (!started) at++;
  memmove(items + old * size, items + at * size, (end - at) * size);
  *table->num = old + (end - at);
  return started ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

enum { MOST_TEXTS = 6 };

// Replaces borrowed texts by copies of them: all or none.
static bool keep_texts(char **const *texts, size_t num) {
  char *copies[MOST_TEXTS] = {0};
  size_t i = 0;
  while (i < num && (copies[i] = ppi_strdup(*texts[i]))) i++;
  bool copied = i == num;
  for (i = 0; i < num; i++) {
    if (copied)
      *texts[i] = copies[i];
    else
      ppi_free(copies[i]);
  }
  return copied;
}

static int compare_numbers(uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

// ---- keys ----

static int compare_names(const void *key, const void *item) {
  const ppi_report_name *a = key, *b = item;
  int order = strcmp(a->category_name, b->category_name);
  return order ? order : strcmp(a->name, b->name);
}

static int compare_categories(const void *key, const void *item) {
  const ppi_report_category *a = key, *b = item;
  return strcmp(a->name, b->name);
}

static int compare_devices(const void *key, const void *item) {
  const ppi_report_device *a = key, *b = item;
  return strcmp(a->name, b->name);
}

static int compare_work(const void *key, const void *item) {
  const ppi_report_work *a = key, *b = item;
  int order = strcmp(a->category_name, b->category_name);
  if (order == 0) order = strcmp(a->name, b->name);
  if (order == 0) order = strcmp(a->run, b->run);
  return order ? order : compare_numbers(a->lane, b->lane);
}

static int compare_queues(const void *key, const void *item) {
  const ppi_report_queue *a = key, *b = item;
  int order = strcmp(a->category_name, b->category_name);
  if (order == 0) order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->device, b->device);
}

static int compare_serving(const void *key, const void *item) {
  const ppi_report_serving *a = key, *b = item;
  int order = strcmp(a->category_name, b->category_name);
  return order ? order : strcmp(a->name, b->name);
}

static int compare_interference(const void *key, const void *item) {
  const ppi_report_interference *a = key, *b = item;
  int order = strcmp(a->device, b->device);
  if (order == 0) order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->other, b->other);
}

static int compare_notes(const void *key, const void *item) {
  const ppi_report_note *a = key, *b = item;
  int order = strcmp(a->key, b->key);
  return order ? order : strcmp(a->text, b->text);
}

static int compare_thread_names(const void *key, const void *item) {
  const ppi_report_thread_name *a = key, *b = item;
  int order = strcmp(a->process, b->process);
  if (order == 0) order = compare_numbers(a->thread, b->thread);
  if (order == 0) order = strcmp(a->category_name, b->category_name);
  return order ? order : strcmp(a->name, b->name);
}

static int compare_parts(const void *key, const void *item) {
  const ppi_report_part *a = key, *b = item;
  int order = strcmp(a->process, b->process);
  if (order == 0) order = compare_numbers(a->thread, b->thread);
  if (order == 0) order = strcmp(a->op, b->op);
  if (order == 0) order = strcmp(a->child, b->child);
  return order ? order : strcmp(a->launch, b->launch);
}

static int compare_shapes(const void *key, const void *item) {
  const ppi_report_shape *a = key, *b = item;
  int order = strcmp(a->name, b->name);
  return order ? order : ppi_launch_shape_compare(&a->shape, &b->shape);
}

static int compare_memory(const void *key, const void *item) {
  const ppi_report_memory *a = key, *b = item;
  int order = strcmp(a->place, b->place);
  if (order == 0) order = compare_numbers(a->is_reserved, b->is_reserved);
  return order ? order : strcmp(a->name, b->name);
}

static int compare_places(const void *key, const void *item) {
  const ppi_report_place *a = key, *b = item;
  return strcmp(a->name, b->name);
}

// Two processes of one run id are two inputs, and so are two equal ones.
static int compare_inputs(const void *key, const void *item) {
  const ppi_report_input *a = key, *b = item;
  int order = strcmp(a->uuid, b->uuid);
  if (order == 0) order = strcmp(a->host, b->host);
  if (order == 0) order = strcmp(a->pid, b->pid);
  return order < 0 ? -1 : 1;
}

// ---- new rows ----

static bool start_name(void *item, const void *key) {
  const ppi_report_name *from = key;
  ppi_report_name *name = item;
  *name = (ppi_report_name){.name = from->name,
                            .category_name = from->category_name,
                            .category = from->category};
  char **const texts[] = {&name->name, &name->category_name};
  return keep_texts(texts, 2);
}

static bool start_category(void *item, const void *key) {
  const ppi_report_category *from = key;
  ppi_report_category *category = item;
  *category =
      (ppi_report_category){.name = from->name, .category = from->category};
  char **const texts[] = {&category->name};
  return keep_texts(texts, 1);
}

static bool start_device(void *item, const void *key) {
  const ppi_report_device *from = key;
  ppi_report_device *device = item;
  *device = (ppi_report_device){.name = from->name};
  char **const texts[] = {&device->name};
  return keep_texts(texts, 1);
}

static bool start_queue(void *item, const void *key) {
  const ppi_report_queue *from = key;
  ppi_report_queue *queue = item;
  *queue = (ppi_report_queue){.name = from->name,
                              .category_name = from->category_name,
                              .device = from->device};
  char **const texts[] = {&queue->name, &queue->category_name, &queue->device};
  return keep_texts(texts, 3);
}

static bool start_serving(void *item, const void *key) {
  const ppi_report_serving *from = key;
  ppi_report_serving *row = item;
  *row = (ppi_report_serving){.name = from->name,
                              .category_name = from->category_name};
  char **const texts[] = {&row->name, &row->category_name};
  return keep_texts(texts, 2);
}

static bool start_interference(void *item, const void *key) {
  const ppi_report_interference *from = key;
  ppi_report_interference *row = item;
  *row = (ppi_report_interference){
      .device = from->device, .name = from->name, .other = from->other};
  char **const texts[] = {&row->device, &row->name, &row->other};
  return keep_texts(texts, 3);
}

static bool start_work(void *item, const void *key) {
  const ppi_report_work *from = key;
  ppi_report_work *work = item;
  *work = (ppi_report_work){.run = from->run,
                            .name = from->name,
                            .category_name = from->category_name,
                            .lane = from->lane};
  char **const texts[] = {&work->run, &work->name, &work->category_name};
  return keep_texts(texts, 3);
}

static bool start_thread_name(void *item, const void *key) {
  const ppi_report_thread_name *from = key;
  ppi_report_thread_name *name = item;
  *name = (ppi_report_thread_name){.process = from->process,
                                   .thread = from->thread,
                                   .name = from->name,
                                   .category_name = from->category_name,
                                   .category = from->category};
  char **const texts[] = {&name->process, &name->name, &name->category_name};
  return keep_texts(texts, 3);
}

static bool start_part(void *item, const void *key) {
  const ppi_report_part *from = key;
  ppi_report_part *part = item;
  *part = (ppi_report_part){.process = from->process,
                            .thread = from->thread,
                            .op = from->op,
                            .child = from->child,
                            .launch = from->launch};
  char **const texts[] = {&part->process, &part->op, &part->child,
                          &part->launch};
  return keep_texts(texts, 4);
}

static bool start_shape(void *item, const void *key) {
  const ppi_report_shape *from = key;
  ppi_report_shape *shape = item;
  *shape = (ppi_report_shape){.name = from->name, .shape = from->shape};
  char **const texts[] = {&shape->name};
  return keep_texts(texts, 1);
}

static bool start_memory(void *item, const void *key) {
  const ppi_report_memory *from = key;
  ppi_report_memory *memory = item;
  *memory = (ppi_report_memory){.place = from->place,
                                .name = from->name,
                                .is_reserved = from->is_reserved};
  char **const texts[] = {&memory->place, &memory->name};
  return keep_texts(texts, 2);
}

static bool start_place(void *item, const void *key) {
  const ppi_report_place *from = key;
  ppi_report_place *place = item;
  *place = (ppi_report_place){.name = from->name};
  char **const texts[] = {&place->name};
  return keep_texts(texts, 1);
}

static bool start_note(void *item, const void *key) {
  ppi_report_note *note = item;
  *note = *(const ppi_report_note *)key;
  char **const texts[] = {&note->key, &note->text};
  return keep_texts(texts, 2);
}

static bool start_input(void *item, const void *key) {
  ppi_report_input *input = item;
  *input = *(const ppi_report_input *)key;
  char **const texts[] = {&input->uuid,    &input->host, &input->pid,
                          &input->command, &input->rank, &input->config};
  return keep_texts(texts, MOST_TEXTS);
}

// ---- tables ----

static const row_kind names_kind = {sizeof(ppi_report_name), compare_names,
                                    start_name};
static const row_kind categories_kind = {sizeof(ppi_report_category),
                                         compare_categories, start_category};
static const row_kind devices_kind = {sizeof(ppi_report_device),
                                      compare_devices, start_device};
static const row_kind queues_kind = {sizeof(ppi_report_queue), compare_queues,
                                     start_queue};
static const row_kind serving_kind = {sizeof(ppi_report_serving),
                                      compare_serving, start_serving};
static const row_kind interference_kind = {
    sizeof(ppi_report_interference), compare_interference, start_interference};
static const row_kind work_kind = {sizeof(ppi_report_work), compare_work,
                                   start_work};
static const row_kind threads_kind = {sizeof(ppi_report_thread_name),
                                      compare_thread_names, start_thread_name};
static const row_kind parts_kind = {sizeof(ppi_report_part), compare_parts,
                                    start_part};
static const row_kind shapes_kind = {sizeof(ppi_report_shape), compare_shapes,
                                     start_shape};
static const row_kind memory_kind = {sizeof(ppi_report_memory), compare_memory,
                                     start_memory};
static const row_kind places_kind = {sizeof(ppi_report_place), compare_places,
                                     start_place};
static const row_kind notes_kind = {sizeof(ppi_report_note), compare_notes,
                                    start_note};
static const row_kind inputs_kind = {sizeof(ppi_report_input), compare_inputs,
                                     start_input};

#define TABLE(figures, field)                            \
  &(row_table) {                                         \
    (void **)&(figures)->field, &(figures)->num_##field, \
        &(figures)->field##_capacity, &field##_kind      \
  }

ppi_report_name *ppi_figures_name(ppi_figures *figures, uint32_t category,
                                  const char *category_name, const char *name) {
  const ppi_report_name key = {.name = (char *)name,
                               .category_name = (char *)category_name,
                               .category = category};
  return find_or_add(TABLE(figures, names), &key);
}

ppi_report_category *ppi_figures_category(ppi_figures *figures,
                                          uint32_t category, const char *name) {
  const ppi_report_category key = {.name = (char *)name, .category = category};
  return find_or_add(TABLE(figures, categories), &key);
}

ppi_report_device *ppi_figures_device(ppi_figures *figures, const char *name) {
  const ppi_report_device key = {.name = (char *)name};
  return find_or_add(TABLE(figures, devices), &key);
}

ppi_report_queue *ppi_figures_queue(ppi_figures *figures,
                                    const ppi_report_queue *key) {
  return find_or_add(TABLE(figures, queues), key);
}

ppi_report_serving *ppi_figures_serving(ppi_figures *figures,
                                        const ppi_report_serving *key) {
  return find_or_add(TABLE(figures, serving), key);
}

ppi_report_interference *ppi_figures_interference(
    ppi_figures *figures, const ppi_report_interference *key) {
  return find_or_add(TABLE(figures, interference), key);
}

ppi_report_work *ppi_figures_work(ppi_figures *figures,
                                  const ppi_report_work *key) {
  return find_or_add(TABLE(figures, work), key);
}

ppi_report_thread_name *ppi_figures_thread_name(
    ppi_figures *figures, const ppi_report_thread_name *key) {
  return find_or_add(TABLE(figures, threads), key);
}

ppi_report_part *ppi_figures_part(ppi_figures *figures,
                                  const ppi_report_part *key) {
  return find_or_add(TABLE(figures, parts), key);
}

ppi_report_shape *ppi_figures_shape(ppi_figures *figures,
                                    const ppi_report_shape *key) {
  return find_or_add(TABLE(figures, shapes), key);
}

ppi_report_memory *ppi_figures_memory(ppi_figures *figures,
                                      const ppi_report_memory *key) {
  return find_or_add(TABLE(figures, memory), key);
}

ppi_report_place *ppi_figures_place(ppi_figures *figures, const char *name) {
  const ppi_report_place key = {.name = (char *)name};
  return find_or_add(TABLE(figures, places), &key);
}

pprof_status ppi_figures_note(ppi_figures *figures, const char *key,
                              const char *text) {
  const ppi_report_note note = {(char *)key, (char *)text};
  return find_or_add(TABLE(figures, notes), &note) ? PPROF_STATUS_OK
                                                   : PPROF_STATUS_NO_MEMORY;
}

static char *text_or_empty(const char *text) {
  return (char *)(text ? text : "");
}

pprof_status ppi_figures_input(ppi_figures *figures,
                               const ppi_report_input *input) {
  const ppi_report_input key = {.uuid = text_or_empty(input->uuid),
                                .host = text_or_empty(input->host),
                                .pid = text_or_empty(input->pid),
                                .command = text_or_empty(input->command),
                                .rank = text_or_empty(input->rank),
                                .config = text_or_empty(input->config),
                                .began_ns = input->began_ns,
                                .wall_ns = input->wall_ns};
  ppi_report_input *added = find_or_add(TABLE(figures, inputs), &key);
  pprof_status status = added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < PPI_NUM_BASES && status == PPROF_STATUS_OK; i++)
    status = ppi_answer_merge(&added->answers[i], &input->answers[i]);
  return status;
}

pprof_status ppi_figures_join(ppi_figures *into, const ppi_figures *from) {
  pprof_status status = join(TABLE(into, names), from->names, from->num_names);
  if (status == PPROF_STATUS_OK)
    status = join(TABLE(into, queues), from->queues, from->num_queues);
  if (status == PPROF_STATUS_OK)
    status = join(TABLE(into, serving), from->serving, from->num_serving);
  if (status == PPROF_STATUS_OK)
    status = join(TABLE(into, interference), from->interference,
                  from->num_interference);
  if (status == PPROF_STATUS_OK)
    status = join(TABLE(into, work), from->work, from->num_work);
  if (status == PPROF_STATUS_OK)
    status = join(TABLE(into, threads), from->threads, from->num_threads);
  if (status == PPROF_STATUS_OK)
    status = join(TABLE(into, parts), from->parts, from->num_parts);
  if (status == PPROF_STATUS_OK)
    status = join(TABLE(into, shapes), from->shapes, from->num_shapes);
  if (status == PPROF_STATUS_OK)
    status = join(TABLE(into, memory), from->memory, from->num_memory);
  return status;
}
