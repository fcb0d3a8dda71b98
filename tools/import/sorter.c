// SPDX-License-Identifier: Apache-2.0
//
// Sorts runs by a radix sort of their keys, then merges all runs at once.
#include "import/sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"

// Bytes of all sources of a merge together.
#define MERGE_MEMORY (16u << 20)
#define FIRST_RECORDS 1024

void ppi_spill_init(ppi_spill *spill, const char *beside) {
  *spill = (ppi_spill){.fd = -1, .beside = beside};
}

void ppi_spill_close(ppi_spill *spill) {
  if (spill->fd >= 0) close(spill->fd);
  spill->fd = -1;
}

static int make_file(const char *folder, size_t len) {
  char path[PATH_MAX];
  int used =
      snprintf(path, sizeof path, "%.*s/pprof-import.XXXXXX", (int)len, folder);
  if (used < 0 || (size_t)used >= sizeof path) return -1;
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  return fd;
}

static void open_spill(ppi_spill *spill) {
  const char *temporary = secure_getenv("TMPDIR");
  if (spill->fd < 0 && temporary && *temporary)
    spill->fd = make_file(temporary, strlen(temporary));
  if (spill->fd < 0) spill->fd = make_file("/tmp", 4);
  const char *slash = spill->beside ? strrchr(spill->beside, '/') : NULL;
  if (spill->fd < 0)
    spill->fd = slash
                    ? make_file(spill->beside, (size_t)(slash - spill->beside))
                    : make_file(".", 1);
  if (spill->fd < 0) spill->error_number = errno;
}

// Reads, or writes, `len` bytes at `offset`.
static void move_spill(ppi_spill *spill, char *bytes, size_t len,
                       uint64_t offset, bool writes) {
  if (spill->fd < 0 && !spill->error_number) open_spill(spill);
  while (len > 0 && !spill->error_number) {
    ssize_t done = writes ? pwrite(spill->fd, bytes, len, (off_t)offset)
                          : pread(spill->fd, bytes, len, (off_t)offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      spill->error_number = done < 0 ? errno : writes ? ENOSPC : EIO;
      return;
    }
    bytes += done;
    len -= (size_t)done;
    offset += (uint64_t)done;
  }
}

static void write_spill(ppi_spill *spill, void *bytes, size_t len) {
  move_spill(spill, bytes, len, spill->size, true);
  spill->size += len;
}

void ppi_sorter_init(ppi_sorter *sorter, size_t record_size, size_t memory,
                     ppi_sort_compare compare, ppi_spill *spill) {
  *sorter = (ppi_sorter){.record_size = record_size,
                         .memory = memory,
                         .compare = compare,
                         .spill = spill};
}

static void free_memory(ppi_sorter *sorter) {
  PPI_FREE_ALL(sorter->records, sorter->entries, sorter->scratch);
  sorter->records = NULL;
  sorter->entries = sorter->scratch = NULL;
  sorter->capacity = 0;
}

void ppi_sorter_clear(ppi_sorter *sorter) {
  free_memory(sorter);
  ppi_free(sorter->pieces);
  sorter->pieces = NULL;
  sorter->num = sorter->num_pieces = sorter->pieces_capacity = 0;
}

static unsigned char *record_at(const ppi_sorter *sorter, size_t at) {
  return sorter->records + at * sorter->record_size;
}

// ---- one run ----

// Sorts by the byte at `shift` of the key, or of the group.
static bool radix_pass(ppi_sorter *sorter, unsigned shift, bool of_group) {
  size_t counts[256] = {0};
  for (size_t i = 0; i < sorter->num; i++) {
    const ppi_sort_entry *entry = &sorter->entries[i];
    uint64_t word = of_group ? entry->group : entry->key;
    counts[word >> shift & 255]++;
  }
  size_t sum = 0;
  for (size_t i = 0; i < 256; i++) {
    if (counts[i] == sorter->num) return false;
    size_t count = counts[i];
    counts[i] = sum;
    sum += count;
  }
  for (size_t i = 0; i < sorter->num; i++) {
    const ppi_sort_entry *entry = &sorter->entries[i];
    uint64_t word = of_group ? entry->group : entry->key;
    sorter->scratch[counts[word >> shift & 255]++] = *entry;
  }
  ppi_sort_entry *sorted = sorter->scratch;
  sorter->scratch = sorter->entries;
  sorter->entries = sorted;
  return true;
}

static int compare_entries(const void *left, const void *right, void *context) {
  const ppi_sorter *sorter = context;
  const ppi_sort_entry *a = left, *b = right;
  int order =
      sorter->compare(record_at(sorter, a->at), record_at(sorter, b->at));
  return order ? order : (a->at > b->at) - (a->at < b->at);
}

static void sort_ties(ppi_sorter *sorter) {
  size_t first = 0;
  for (size_t i = 1; i <= sorter->num; i++) {
    if (i < sorter->num &&
        sorter->entries[i].key == sorter->entries[first].key &&
        sorter->entries[i].group == sorter->entries[first].group)
      continue;
    if (i - first > 1)
      qsort_r(sorter->entries + first, i - first, sizeof *sorter->entries,
              compare_entries, sorter);
    first = i;
  }
}

static void sort_buffered(ppi_sorter *sorter) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    radix_pass(sorter, shift, false);
  for (unsigned shift = 0; shift < 32; shift += 8)
    radix_pass(sorter, shift, true);
  sort_ties(sorter);
}

static void add_pieces(ppi_sorter *sorter, uint64_t offset) {
  for (size_t first = 0, i = 1; i <= sorter->num; i++) {
    uint32_t group = sorter->entries[first].group;
    if (i < sorter->num && sorter->entries[i].group == group) continue;
    PPI_MUST_PUSH(sorter->pieces, sorter->num_pieces, sorter->pieces_capacity,
                  (ppi_sort_piece){offset + first * sorter->record_size,
                                   i - first, group});
    first = i;
  }
}

// Writes through a small buffer, since records lie in the order of their
// arrival.
static void write_run(ppi_sorter *sorter) {
  unsigned char block[16384];
  size_t len = 0;
  sort_buffered(sorter);
  add_pieces(sorter, sorter->spill->size);
  for (size_t i = 0; i < sorter->num; i++) {
    if (len + sorter->record_size > sizeof block) {
      write_spill(sorter->spill, block, len);
      len = 0;
    }
    memcpy(block + len, record_at(sorter, sorter->entries[i].at),
           sorter->record_size);
    len += sorter->record_size;
  }
  write_spill(sorter->spill, block, len);
  sorter->num = 0;
}

static void grow(ppi_sorter *sorter, size_t most) {
  size_t next = sorter->capacity ? sorter->capacity * 2 : FIRST_RECORDS;
  size_t capacity = PPI_MIN(next, most);
  sorter->records = ppi_tool_must(
      ppi_realloc(sorter->records, capacity * sorter->record_size));
  sorter->entries = ppi_tool_must(
      ppi_realloc(sorter->entries, capacity * sizeof *sorter->entries));
  sorter->scratch = ppi_tool_must(
      ppi_realloc(sorter->scratch, capacity * sizeof *sorter->scratch));
  sorter->capacity = capacity;
}

void ppi_sorter_add(ppi_sorter *sorter, uint32_t group, const void *record) {
  size_t most = sorter->memory / sorter->record_size;
  if (sorter->num == sorter->capacity && sorter->capacity >= most)
    write_run(sorter);
  else if (sorter->num == sorter->capacity)
    grow(sorter, most);
  memcpy(record_at(sorter, sorter->num), record, sorter->record_size);
  ppi_sort_entry *entry = &sorter->entries[sorter->num];
  memcpy(&entry->key, record, sizeof entry->key);
  entry->group = group;
  entry->at = (uint32_t)sorter->num++;
  sorter->num_added++;
}

void ppi_sorter_finish(ppi_sorter *sorter) {
  if (sorter->num == 0) return;
  if (sorter->num_pieces > 0) {
    write_run(sorter);
    free_memory(sorter);
    return;
  }
  sort_buffered(sorter);
  add_pieces(sorter, 0);
}

// ---- the merge ----

static const unsigned char *head_of(const ppi_sort_merge *merge,
                                    uint32_t source) {
  const ppi_sort_source *from = &merge->sources[source];
  return from->buffer + from->at * merge->sorter->record_size;
}

static bool comes_before(const ppi_sort_merge *merge, uint32_t a, uint32_t b) {
  const unsigned char *x = head_of(merge, a), *y = head_of(merge, b);
  uint64_t left, right;
  memcpy(&left, x, sizeof left);
  memcpy(&right, y, sizeof right);
  if (left != right) return left < right;
  int order = merge->sorter->compare(x, y);
  return order ? order < 0 : merge->sources[a].order < merge->sources[b].order;
}

static void sift_down(ppi_sort_merge *merge, size_t at) {
  uint32_t *heap = merge->heap;
  for (;;) {
    size_t least = at, child = 2 * at + 1;
    for (size_t i = child; i < child + 2 && i < merge->num_heap; i++)
      if (comes_before(merge, heap[i], heap[least])) least = i;
    if (least == at) return;
    uint32_t moved = heap[at];
    heap[at] = heap[least];
    heap[least] = moved;
    at = least;
  }
}

static void refill(ppi_sort_merge *merge, ppi_sort_source *source) {
  ppi_spill *spill = merge->sorter->spill;
  size_t size = merge->sorter->record_size;
  source->at = 0;
  source->num = (size_t)PPI_MIN(source->left, merge->buffer_records);
  if (source->num == 0) return;
  move_spill(spill, (char *)source->buffer, source->num * size, source->offset,
             false);
  if (spill->error_number) source->num = 0;
  source->offset += source->num * size;
  source->left -= source->num;
}

static void add_source(ppi_sort_merge *merge, const ppi_sort_piece *piece) {
  PPI_MUST_ROOM(merge->sources, merge->capacity, merge->num_sources + 1);
  merge->sources[merge->num_sources] =
      (ppi_sort_source){.offset = piece->offset,
                        .left = piece->num,
                        .order = (uint32_t)merge->num_sources};
  merge->num_sources++;
}

// Records of a run in memory lie in the order of their arrival. The sources of
// such a run have pieces of the sorted order instead of records.
static bool is_in_memory(const ppi_sort_merge *merge) {
  return merge->sorter->records != NULL;
}

// Copies a run in memory once, in sorted order.
static void copy_run(ppi_sort_merge *merge, ppi_sort_source *source) {
  const ppi_sorter *sorter = merge->sorter;
  size_t size = sorter->record_size;
  size_t first = (size_t)(source->offset / size);
  source->num = (size_t)source->left;
  source->left = 0;
  source->buffer = ppi_tool_must(ppi_realloc(NULL, source->num * size));
  for (size_t i = 0; i < source->num; i++)
    memcpy(source->buffer + i * size,
           record_at(sorter, sorter->entries[first + i].at), size);
}

static void fill_sources(ppi_sort_merge *merge) {
  size_t size = merge->sorter->record_size;
  merge->heap =
      ppi_tool_must(ppi_alloc((merge->num_sources + 1) * sizeof *merge->heap));
  size_t share = MERGE_MEMORY / (merge->num_sources ? merge->num_sources : 1);
  merge->buffer_records = PPI_MAX(share / size, 16);
  for (uint32_t i = 0; i < merge->num_sources; i++) {
    ppi_sort_source *source = &merge->sources[i];
    if (is_in_memory(merge)) {
      copy_run(merge, source);
    } else {
      size_t num = (size_t)PPI_MIN(source->left, merge->buffer_records);
      source->buffer = ppi_tool_must(ppi_realloc(NULL, num * size));
      refill(merge, source);
    }
    if (source->num > 0) merge->heap[merge->num_heap++] = i;
  }
  for (size_t i = merge->num_heap; i-- > 0;) sift_down(merge, i);
}

void ppi_sort_merge_open(ppi_sort_merge *merge, ppi_sorter *sorter,
                         bool (*is_wanted)(const void *context, uint32_t group),
                         const void *context) {
  *merge = (ppi_sort_merge){.sorter = sorter};
  for (size_t i = 0; i < sorter->num_pieces; i++)
    if (!is_wanted || is_wanted(context, sorter->pieces[i].group))
      add_source(merge, &sorter->pieces[i]);
  fill_sources(merge);
}

const void *ppi_sort_merge_next(ppi_sort_merge *merge) {
  const ppi_spill *spill = merge->sorter->spill;
  if (merge->num_heap == 0 || spill->error_number) return NULL;
  // The caller used the last record until now, so the source moves on only
  // here.
  if (merge->started) {
    ppi_sort_source *source = &merge->sources[merge->heap[0]];
    if (++source->at == source->num) refill(merge, source);
    if (source->num == 0) merge->heap[0] = merge->heap[--merge->num_heap];
    if (merge->num_heap == 0 || spill->error_number) return NULL;
    sift_down(merge, 0);
  }
  merge->started = true;
  return head_of(merge, merge->heap[0]);
}

void ppi_sort_merge_close(ppi_sort_merge *merge) {
  for (size_t i = 0; i < merge->num_sources; i++)
    ppi_free(merge->sources[i].buffer);
  ppi_free(merge->sources);
  ppi_free(merge->heap);
  *merge = (ppi_sort_merge){0};
}
