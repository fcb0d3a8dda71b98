// SPDX-License-Identifier: Apache-2.0
//
// Builds rows of named things, sorted by a key, in one block or in one for each
// thread.
#include "view/view_named.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"

bool ppi_named_add(ppi_named_list *list, const ppi_named *named) {
  return PPI_PUSH(list->items, list->num, list->capacity, *named);
}

void ppi_named_clear(ppi_named_list *list) {
  ppi_free(list->items);
  *list = (ppi_named_list){0};
}

ppi_named ppi_named_ranges(const ppi_report_name *from) {
  return (ppi_named){.name = from->name,
                     .category_name = from->category_name,
                     .category = from->category,
                     .calls = ppi_spread_calls(&from->host),
                     .host = from->host,
                     .device = from->inside,
                     .timed = &from->host,
                     .times = &from->host_times,
                     .self_ns = from->self_ns,
                     .own_device_ns = from->own_device_ns,
                     .memory = from->memory,
                     .own_memory = from->own_memory,
                     .from = from};
}

ppi_named ppi_named_host(const ppi_report_name *from) {
  ppi_named named = ppi_named_ranges(from);
  ppi_spread_merge(&named.host, &from->submit);
  named.calls = ppi_spread_calls(&named.host);
  return named;
}

ppi_named ppi_named_device(const ppi_report_name *from) {
  return (ppi_named){.name = from->name,
                     .category_name = from->category_name,
                     .category = from->category,
                     .calls = from->device.n,
                     .device = from->device,
                     .timed = &from->device,
                     .times = &from->device_times,
                     .own_device_ns = from->device.sum,
                     .from = from};
}

static ppi_named of_thread(const ppi_report_thread_name *from) {
  ppi_named named = {.name = from->name,
                     .category_name = from->category_name,
                     .category = from->category,
                     .host = from->host,
                     .device = from->inside,
                     .timed = &from->host,
                     .times = &from->host_times,
                     .self_ns = from->self_ns};
  ppi_spread_merge(&named.host, &from->submit);
  named.calls = ppi_spread_calls(&named.host);
  return named;
}

static ppi_cell key_of(const ppi_named *named, ppi_sort_key key) {
  if (key >= PPI_SORT_HOST_TOTAL && key <= PPI_SORT_HOST_MIN)
    return ppi_cell_key(key, &named->host, NULL);
  if (key >= PPI_SORT_DEVICE_TOTAL && key <= PPI_SORT_DEVICE_MIN)
    return ppi_cell_key(key, &named->device, NULL);
  if (key >= PPI_SORT_P50 && key <= PPI_SORT_STD)
    return ppi_cell_key(key, named->timed, named->times);
  switch (key) {
    case PPI_SORT_SELF:
      return ppi_cell_time(named->self_ns);
    case PPI_SORT_CALLS:
      return ppi_cell_count(named->calls);
    case PPI_SORT_SELF_DEVICE:
      return ppi_cell_time(named->own_device_ns);
    case PPI_SORT_MEMORY:
      return ppi_cell_signed(named->memory.bytes[PPI_MEMORY_HOST]);
    case PPI_SORT_OWN_MEMORY:
      return ppi_cell_signed(named->own_memory.bytes[PPI_MEMORY_HOST]);
    case PPI_SORT_DEVICE_MEMORY:
      return ppi_cell_signed(named->memory.bytes[PPI_MEMORY_DEVICE]);
    case PPI_SORT_OWN_DEVICE_MEMORY:
      return ppi_cell_signed(named->own_memory.bytes[PPI_MEMORY_DEVICE]);
    default:
      return (ppi_cell){0};
  }
}

static int compare_work(const void *key, const void *item) {
  const ppi_named *named = key;
  const ppi_report_work *work = item;
  int order = strcmp(named->category_name, work->category_name);
  return order ? order : strcmp(named->name, work->name);
}

ppi_cell ppi_named_flops(const ppi_figures *figures, const ppi_named *named) {
  double flops = 0;
  size_t at = named->from ? ppi_first(named, figures->work, figures->num_work,
                                      sizeof *figures->work, compare_work)
                          : figures->num_work;
  for (; at < figures->num_work; at++) {
    if (compare_work(named, &figures->work[at]) != 0) break;
    flops += figures->work[at].flops;
  }
  return flops > 0 ? ppi_cell_whole(flops) : (ppi_cell){0};
}

static int compare(ppi_sort_key key, const ppi_named *a, const ppi_named *b) {
  int order = ppi_cell_compare(key, &a->key, &b->key);
  if (order == 0) order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->category_name, b->category_name);
}

static int compare_most_first(const void *left, const void *right) {
  return compare(PPI_SORT_NONE, left, right);
}

static int compare_least_first(const void *left, const void *right) {
  return compare(PPI_SORT_HOST_MIN, left, right);
}

size_t ppi_named_order(ppi_named_list *list, ppi_sort_key key, long top) {
  bool least = key == PPI_SORT_HOST_MIN || key == PPI_SORT_DEVICE_MIN;
  for (size_t i = 0; i < list->num; i++)
    list->items[i].key = key_of(&list->items[i], key);
  if (list->num > 1)
    qsort(list->items, list->num, sizeof *list->items,
          least ? compare_least_first : compare_most_first);
  return top > 0 && (size_t)top < list->num ? (size_t)top : list->num;
}

// The caller's key if the block has cells for it, else the block's own.
static ppi_sort_key key_for(const ppi_named_block *block) {
  ppi_sort_key asked = ppi_sort_key_of(block->options);
  bool has = asked != PPI_SORT_NONE;
  if (asked >= PPI_SORT_HOST_TOTAL && asked <= PPI_SORT_HOST_MIN)
    has = block->has_host;
  if (asked == PPI_SORT_SELF) has = block->has_host;
  if (asked >= PPI_SORT_P50 && asked <= PPI_SORT_STD) has = block->has_times;
  return has ? asked : block->order;
}

// A key without a column in the table gets one.
static void show_key(ppi_view *view, bool has_host, ppi_sort_key key) {
  static const char *const headings[][5] = {
      {"GPU Self", "GPU P50", "GPU P90", "GPU P99", "GPU Std"},
      {"CPU Self", "CPU P50", "CPU P90", "CPU P99", "CPU Std"}};
  size_t self = view->kind->num_columns - 5;  // these are the last columns
  if (key < PPI_SORT_SELF || key > PPI_SORT_STD) return;
  view->more = headings[has_host][key - PPI_SORT_SELF];
  view->more_cell = self + (key - PPI_SORT_SELF);
}

void ppi_named_put(ppi_view *view, ppi_named_block *block) {
  ppi_sort_key key = key_for(block);
  size_t first = view->num_rows;
  size_t num = ppi_named_order(&block->list, key, block->options->top);
  show_key(view, block->has_host, key);
  for (size_t i = 0; i < num && !view->note.failed; i++)
    block->put(view, block, &block->list.items[i]);
  if (view->num_rows > first) view->rows[first].banner = block->banner;
}

static void put_merged(ppi_view *view, const ppi_named_block *like,
                       ppi_named_takes *takes,
                       void (*start)(ppi_named_block *block)) {
  ppi_named_block block = *like;
  const ppi_figures *figures = block.figures;
  bool added = true;
  block.banner = "Thread: All threads merged";
  for (size_t i = 0; i < figures->num_names && added; i++) {
    const ppi_report_name *name = &figures->names[i];
    if (!takes(name->category, name->name)) continue;
    ppi_named named = ppi_named_host(name);
    added = ppi_named_add(&block.list, &named);
  }
  if (start) start(&block);
  view->note.failed |= !added;
  ppi_named_put(view, &block);
  ppi_named_clear(&block.list);
}

static void name_thread(ppi_view *view, ppi_named_block *block) {
  const ppi_figures *figures = block->figures;
  const char *last = figures->threads[figures->num_threads - 1].process;
  const char *process = block->process;
  unsigned long long number = block->thread_number;
  while (*process == ' ') process++;  // of a host without a name
  const char *name = number == PPI_REPORT_LEFT_THREADS
                         ? "<left threads>"
                         : ppi_view_text(view, "%llu", number);
  block->thread = ppi_view_text(view, "%s: %s", process, name);
  if (strcmp(figures->threads[0].process, last) == 0)
    block->banner = ppi_view_text(view, "Thread: %s", name);
  else
    block->banner = ppi_view_text(view, "Thread: %s", block->thread);
}

// Puts the thread that figures->threads[*at] belongs to, and moves on.
static void put_thread(ppi_view *view, const ppi_named_block *like,
                       ppi_named_takes *takes,
                       void (*start)(ppi_named_block *block), size_t *at) {
  const ppi_figures *figures = like->figures;
  const ppi_report_thread_name *first = &figures->threads[*at];
  ppi_named_block block = *like;
  bool added = true;
  block.process = first->process;
  block.thread_number = first->thread;
  for (; *at < figures->num_threads && added; ++*at) {
    const ppi_report_thread_name *next = &figures->threads[*at];
    if (next->thread != first->thread ||
        strcmp(next->process, first->process) != 0)
      break;
    if (!takes(next->category, next->name)) continue;
    ppi_named named = of_thread(next);
    added = ppi_named_add(&block.list, &named);
  }
  if (start) start(&block);
  view->note.failed |= !added;
  if (block.list.num) name_thread(view, &block);
  ppi_named_put(view, &block);
  ppi_named_clear(&block.list);
}

void ppi_named_put_blocks(ppi_view *view, const ppi_named_block *like,
                          ppi_named_takes *takes,
                          void (*start)(ppi_named_block *block)) {
  bool by_thread = like->figures->details.by_thread;
  if (!by_thread) put_merged(view, like, takes, start);
  for (size_t i = 0; by_thread && i < like->figures->num_threads;)
    put_thread(view, like, takes, start, &i);
}

bool ppi_named_is_user_defined(uint32_t category) {
  return category == PPROF_CATEGORY_USER_DEFINED ||
         category == PPROF_CATEGORY_PYTHON_USER_DEFINED;
}

bool ppi_named_is_copy(uint32_t category, const char *name) {
  return ppi_named_is_user_defined(category) &&
         (strcasestr(name, "memcpy") || strcasestr(name, "memorycopy") ||
          strcasestr(name, "memset"));
}
