// SPDX-License-Identifier: Apache-2.0
//
// The finished figures of a report: sorted tables that add up. Every sum is of
// integers and every table is ordered by name, so no order of merging shows.
#include "report.h"

#include <string.h>

#include "base_impl.h"
#include "mem.h"

typedef struct item_table {
  void **items;
  size_t *num, *capacity;
  size_t item_size;
  int (*compare)(const void *key, const void *item);
} item_table;

// Finds the item equal to `key`, or makes room for it, zeroed, in its place.
static void *find_or_insert(const item_table *table, const void *key,
                            bool *out_is_new) {
  size_t low = 0, high = *table->num, size = table->item_size;
  *out_is_new = false;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    char *item = (char *)*table->items + middle * size;
    int order = table->compare(key, item);
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
  memmove(item + size, item, (*table->num - low) * size);
  memset(item, 0, size);
  ++*table->num;
  *out_is_new = true;
  return item;
}

// Takes back an item whose texts could not be copied.
static void *remove_item(const item_table *table, void *item) {
  char *end = (char *)*table->items + *table->num * table->item_size;
  char *next = (char *)item + table->item_size;
  memmove(item, next, (size_t)(end - next));
  --*table->num;
  return NULL;
}

static const char *text_or_empty(const char *text) {
  return text ? text : "";
}

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
  if (order == 0) order = (a->lane > b->lane) - (a->lane < b->lane);
  return order;
}

static int compare_queues(const void *key, const void *item) {
  const ppi_report_queue *a = key, *b = item;
  int order = strcmp(a->category_name, b->category_name);
  if (order == 0) order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->device, b->device);
}

static int compare_notes(const void *key, const void *item) {
  const ppi_report_note *a = key, *b = item;
  int order = strcmp(a->key, b->key);
  return order ? order : strcmp(a->text, b->text);
}

// Two processes of one run id are two inputs, and so are two equal ones.
static int compare_inputs(const void *key, const void *item) {
  const ppi_report_input *a = key, *b = item;
  int order = strcmp(a->uuid, b->uuid);
  if (order == 0) order = strcmp(a->host, b->host);
  if (order == 0) order = strcmp(a->pid, b->pid);
  return order < 0 ? -1 : 1;
}

#define TABLE(field, compare_items)                                       \
  (item_table) {                                                          \
    (void **)&figures->field, &figures->num_##field,                      \
        &figures->field##_capacity, sizeof *figures->field, compare_items \
  }

ppi_report_name *ppi_figures_name(ppi_figures *figures, uint32_t category,
                                  const char *category_name, const char *name) {
  item_table names = TABLE(names, compare_names);
  ppi_report_name key = {.name = (char *)name,
                         .category_name = (char *)category_name};
  bool is_new;
  ppi_report_name *item = find_or_insert(&names, &key, &is_new);
  if (!item || !is_new) return item;
  item->category = category;
  item->name = ppi_strdup(name);
  item->category_name = ppi_strdup(category_name);
  if (item->name && item->category_name) return item;
  ppi_free(item->name);
  ppi_free(item->category_name);
  return remove_item(&names, item);
}

ppi_report_category *ppi_figures_category(ppi_figures *figures,
                                          uint32_t category, const char *name) {
  item_table categories = TABLE(categories, compare_categories);
  ppi_report_category key = {.name = (char *)name};
  bool is_new;
  ppi_report_category *item = find_or_insert(&categories, &key, &is_new);
  if (!item || !is_new) return item;
  item->category = category;
  item->name = ppi_strdup(name);
  return item->name ? item : remove_item(&categories, item);
}

ppi_report_device *ppi_figures_device(ppi_figures *figures, const char *name) {
  item_table devices = TABLE(devices, compare_devices);
  ppi_report_device key = {.name = (char *)name};
  bool is_new;
  ppi_report_device *item = find_or_insert(&devices, &key, &is_new);
  if (!item || !is_new) return item;
  item->name = ppi_strdup(name);
  return item->name ? item : remove_item(&devices, item);
}

ppi_report_work *ppi_figures_work(ppi_figures *figures,
                                  const ppi_report_work *key) {
  item_table work = TABLE(work, compare_work);
  bool is_new;
  ppi_report_work *item = find_or_insert(&work, key, &is_new);
  if (!item || !is_new) return item;
  item->lane = key->lane;
  item->run = ppi_strdup(key->run);
  item->name = ppi_strdup(key->name);
  item->category_name = ppi_strdup(key->category_name);
  if (item->run && item->name && item->category_name) return item;
  ppi_free(item->run);
  ppi_free(item->name);
  ppi_free(item->category_name);
  return remove_item(&work, item);
}

ppi_report_queue *ppi_figures_queue(ppi_figures *figures,
                                    const ppi_report_queue *key) {
  item_table queues = TABLE(queues, compare_queues);
  bool is_new;
  ppi_report_queue *item = find_or_insert(&queues, key, &is_new);
  if (!item || !is_new) return item;
  item->name = ppi_strdup(key->name);
  item->category_name = ppi_strdup(key->category_name);
  item->device = ppi_strdup(key->device);
  if (item->name && item->category_name && item->device) return item;
  ppi_free(item->name);
  ppi_free(item->category_name);
  ppi_free(item->device);
  return remove_item(&queues, item);
}

pprof_status ppi_figures_note(ppi_figures *figures, const char *key,
                              const char *text) {
  item_table notes = TABLE(notes, compare_notes);
  ppi_report_note wanted = {(char *)key, (char *)text};
  bool is_new;
  ppi_report_note *item = find_or_insert(&notes, &wanted, &is_new);
  if (!item) return PPROF_STATUS_NO_MEMORY;
  if (!is_new) return PPROF_STATUS_OK;
  item->key = ppi_strdup(key);
  item->text = ppi_strdup(text);
  if (item->key && item->text) return PPROF_STATUS_OK;
  ppi_free(item->key);
  ppi_free(item->text);
  remove_item(&notes, item);
  return PPROF_STATUS_NO_MEMORY;
}

pprof_status ppi_figures_input(ppi_figures *figures,
                               const ppi_report_input *input) {
  item_table inputs = TABLE(inputs, compare_inputs);
  ppi_report_input key = {(char *)text_or_empty(input->uuid),
                          (char *)text_or_empty(input->host),
                          (char *)text_or_empty(input->pid)};
  bool is_new;
  ppi_report_input *item = find_or_insert(&inputs, &key, &is_new);
  if (!item) return PPROF_STATUS_NO_MEMORY;
  item->uuid = ppi_strdup(key.uuid);
  item->host = ppi_strdup(key.host);
  item->pid = ppi_strdup(key.pid);
  if (item->uuid && item->host && item->pid) return PPROF_STATUS_OK;
  ppi_free(item->uuid);
  ppi_free(item->host);
  ppi_free(item->pid);
  remove_item(&inputs, item);
  return PPROF_STATUS_NO_MEMORY;
}

static pprof_status add_name(ppi_figures *into, const ppi_report_name *from) {
  ppi_report_name *name =
      ppi_figures_name(into, from->category, from->category_name, from->name);
  if (!name) return PPROF_STATUS_NO_MEMORY;
  ppi_spread_merge(&name->host, &from->host);
  ppi_spread_merge(&name->submit, &from->submit);
  ppi_spread_merge(&name->device, &from->device);
  ppi_spread_merge(&name->inside, &from->inside);
  pprof_status status =
      ppi_histogram_merge(&name->host_times, &from->host_times);
  if (status == PPROF_STATUS_OK)
    status = ppi_messages_merge(&name->messages, &from->messages);
  if (status != PPROF_STATUS_OK) return status;
  return ppi_histogram_merge(&name->device_times, &from->device_times);
}

static pprof_status add_category(ppi_figures *into,
                                 const ppi_report_category *from) {
  ppi_report_category *category =
      ppi_figures_category(into, from->category, from->name);
  if (!category) return PPROF_STATUS_NO_MEMORY;
  category->host_calls += from->host_calls;
  category->host_ns += from->host_ns;
  category->device_calls += from->device_calls;
  category->device_ns += from->device_ns;
  return PPROF_STATUS_OK;
}

static pprof_status add_device(ppi_figures *into,
                               const ppi_report_device *from) {
  ppi_report_device *device = ppi_figures_device(into, from->name);
  if (!device) return PPROF_STATUS_NO_MEMORY;
  device->ranges += from->ranges;
  device->untimed += from->untimed;
  device->used_ns += from->used_ns;
  device->more_base_ns += from->more_base_ns;
  device->runs_with_kernels += from->runs_with_kernels;
  device->wall_ns += from->wall_ns;
  device->busy_ns += from->busy_ns;
  for (int i = 0; i < PPI_NUM_IDLE; i++) device->idle_ns[i] += from->idle_ns[i];
  device->steps_checked += from->steps_checked;
  device->steps_failed += from->steps_failed;
  device->failed |= from->failed;
  device->incomplete |= from->incomplete;
  return PPROF_STATUS_OK;
}

static pprof_status add_work(ppi_figures *into, const ppi_report_work *from) {
  ppi_report_work *work = ppi_figures_work(into, from);
  if (!work) return PPROF_STATUS_NO_MEMORY;
  work->num_values += from->num_values;
  work->items += from->items;
  work->bytes += from->bytes;
  work->flops += from->flops;
  work->params += from->params;
  work->value += from->value;
  return PPROF_STATUS_OK;
}

static pprof_status add_queue(ppi_figures *into, const ppi_report_queue *from) {
  ppi_report_queue *queue = ppi_figures_queue(into, from);
  return queue ? ppi_queue_merge(&queue->sums, &from->sums)
               : PPROF_STATUS_NO_MEMORY;
}

// An error bound or a cost of several runs is the worst one's; crash-safe are
// they all or none.
static void add_totals(ppi_figures *into, const ppi_figures *from) {
  bool first = into->num_inputs == 0;
  for (int key = 0; key < PPI_NUM_TOTALS; key++) {
    uint64_t *mine = &into->totals[key], other = from->totals[key];
    switch (key) {
      case PPI_TOTAL_CLOCK_ERROR_NS:
      case PPI_TOTAL_OWN_COST:
      case PPI_TOTAL_INCOMPLETE:
        *mine = PPI_MAX(*mine, other);
        break;
      case PPI_TOTAL_CRASH_SAFE:
        *mine = first ? other : PPI_MIN(*mine, other);
        break;
      default:
        *mine += other;
    }
  }
}

static void add_scalars(ppi_figures *into, const ppi_figures *from) {
  for (int i = 0; i < PPI_NUM_PHASES; i++) {
    ppi_spread_merge(&into->phases[i].host, &from->phases[i].host);
    ppi_spread_merge(&into->phases[i].device, &from->phases[i].device);
  }
  into->base_ns += from->base_ns;
  into->wall_ns += from->wall_ns;
  into->runs_with_steps += from->runs_with_steps;
  into->runs_without_steps += from->runs_without_steps;
  into->runs_with_kernels += from->runs_with_kernels;
  into->model_device_ns += from->model_device_ns;
  into->general_device_ns += from->general_device_ns;
}

pprof_status ppi_figures_add(ppi_figures *into, const ppi_figures *from) {
  pprof_status status = PPROF_STATUS_OK;
  add_totals(into, from);
  add_scalars(into, from);
  for (size_t i = 0; i < from->num_names && status == PPROF_STATUS_OK; i++)
    status = add_name(into, &from->names[i]);
  for (size_t i = 0; i < from->num_categories && status == PPROF_STATUS_OK; i++)
    status = add_category(into, &from->categories[i]);
  for (size_t i = 0; i < from->num_devices && status == PPROF_STATUS_OK; i++)
    status = add_device(into, &from->devices[i]);
  for (size_t i = 0; i < from->num_queues && status == PPROF_STATUS_OK; i++)
    status = add_queue(into, &from->queues[i]);
  for (size_t i = 0; i < from->num_work && status == PPROF_STATUS_OK; i++)
    status = add_work(into, &from->work[i]);
  for (size_t i = 0; i < from->num_notes && status == PPROF_STATUS_OK; i++)
    status = ppi_figures_note(into, from->notes[i].key, from->notes[i].text);
  for (size_t i = 0; i < from->num_inputs && status == PPROF_STATUS_OK; i++)
    status = ppi_figures_input(into, &from->inputs[i]);
  return status;
}

static void clear_rows(ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_names; i++) {
    ppi_free(figures->names[i].name);
    ppi_free(figures->names[i].category_name);
    ppi_histogram_clear(&figures->names[i].host_times);
    ppi_histogram_clear(&figures->names[i].device_times);
    ppi_messages_clear(&figures->names[i].messages);
  }
  for (size_t i = 0; i < figures->num_categories; i++)
    ppi_free(figures->categories[i].name);
  for (size_t i = 0; i < figures->num_devices; i++)
    ppi_free(figures->devices[i].name);
  for (size_t i = 0; i < figures->num_queues; i++) {
    ppi_free(figures->queues[i].name);
    ppi_free(figures->queues[i].category_name);
    ppi_free(figures->queues[i].device);
    ppi_queue_clear(&figures->queues[i].sums);
  }
  for (size_t i = 0; i < figures->num_work; i++) {
    ppi_free(figures->work[i].run);
    ppi_free(figures->work[i].name);
    ppi_free(figures->work[i].category_name);
  }
}

void ppi_figures_clear(ppi_figures *figures) {
  clear_rows(figures);
  for (size_t i = 0; i < figures->num_notes; i++) {
    ppi_free(figures->notes[i].key);
    ppi_free(figures->notes[i].text);
  }
  for (size_t i = 0; i < figures->num_inputs; i++) {
    ppi_free(figures->inputs[i].uuid);
    ppi_free(figures->inputs[i].host);
    ppi_free(figures->inputs[i].pid);
  }
  ppi_free(figures->names);
  ppi_free(figures->categories);
  ppi_free(figures->devices);
  ppi_free(figures->queues);
  ppi_free(figures->work);
  ppi_free(figures->notes);
  ppi_free(figures->inputs);
  *figures = (ppi_figures){0};
}
