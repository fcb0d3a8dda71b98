// SPDX-License-Identifier: Apache-2.0
//
// What a segment takes over from those before it, and the names of segments.
#include "rotate.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log_totals.h"
#include "log_writer.h"
#include "mem.h"
#include "part.h"

// ---- what is known ----

pprof_status ppi_rotate_begin(ppi_rotate *rotate, const pprof_run_info *info) {
  rotate->segment = 1;
  rotate->crash_safe = info->staging != NULL;
  rotate->texts = ppi_alloc((info->num_texts + 1) * sizeof *rotate->texts);
  if (!rotate->texts) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < info->num_texts; i++) {
    const ppi_text *text = &info->texts[i];
    char *key = ppi_strdup(text->key);
    char *value = ppi_strdup(text->value ? text->value : "");
    rotate->texts[rotate->num_texts++] = (ppi_text){key, value};
    if (!key || !value) return PPROF_STATUS_NO_MEMORY;
  }
  return PPROF_STATUS_OK;
}

static pprof_definition *place_of(ppi_rotate *rotate,
                                  pprof_definition_kind kind, uint32_t id) {
  size_t before = rotate->places_capacity[kind];
  uint32_t *places =
      ppi_grow(rotate->places[kind], &rotate->places_capacity[kind],
               (size_t)id + 1, sizeof *places);
  if (!places) return NULL;
  rotate->places[kind] = places;
  memset(places + before, 0,
         (rotate->places_capacity[kind] - before) * sizeof *places);
  if (places[id]) return &rotate->definitions[places[id] - 1];
  void *grown =
      ppi_grow(rotate->definitions, &rotate->definitions_capacity,
               rotate->num_definitions + 1, sizeof *rotate->definitions);
  if (!grown) return NULL;
  rotate->definitions = grown;
  rotate->definitions[rotate->num_definitions] = (pprof_definition){0};
  places[id] = (uint32_t)++rotate->num_definitions;
  return &rotate->definitions[places[id] - 1];
}

pprof_status ppi_rotate_define(ppi_rotate *rotate,
                               const pprof_definition *definition) {
  if (definition->kind < PPROF_DEFINITION_SITE ||
      definition->kind > PPROF_DEFINITION_ATTRIBUTES)
    return PPROF_STATUS_OK;
  char *name = ppi_strdup(definition->name ? definition->name : "");
  pprof_definition *place =
      name ? place_of(rotate, definition->kind, definition->id) : NULL;
  if (!place) {
    ppi_free(name);
    return PPROF_STATUS_NO_MEMORY;
  }
  ppi_free((char *)place->name);
  *place = *definition;
  place->name = name;
  return PPROF_STATUS_OK;
}

pprof_status ppi_rotate_events(ppi_rotate *rotate, const pprof_batch *batch) {
  if (batch->lane >= rotate->num_ends) {
    void *grown = ppi_grow(rotate->ends, &rotate->ends_capacity,
                           (size_t)batch->lane + 1, sizeof *rotate->ends);
    if (!grown) return PPROF_STATUS_NO_MEMORY;
    rotate->ends = grown;
    memset(rotate->ends + rotate->num_ends, 0,
           (batch->lane + 1 - rotate->num_ends) * sizeof *rotate->ends);
    rotate->num_ends = (size_t)batch->lane + 1;
  }
  rotate->ends[batch->lane] =
      PPI_MAX(rotate->ends[batch->lane], batch->end_seq);
  return PPROF_STATUS_OK;
}

pprof_status ppi_rotate_window_edge(ppi_rotate *rotate, uint32_t index,
                                    bool opens, uint64_t time_ns) {
  if (!opens) {
    for (size_t i = 0; i < rotate->num_windows; i++)
      if (rotate->windows[i].index == index)
        rotate->windows[i] = rotate->windows[--rotate->num_windows];
    return PPROF_STATUS_OK;
  }
  void *grown = ppi_grow(rotate->windows, &rotate->windows_capacity,
                         rotate->num_windows + 1, sizeof *rotate->windows);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  rotate->windows = grown;
  rotate->windows[rotate->num_windows++] = (ppi_rotate_window){index, time_ns};
  return PPROF_STATUS_OK;
}

void ppi_rotate_clear(ppi_rotate *rotate) {
  for (size_t i = 0; i < rotate->num_texts; i++) {
    ppi_free((char *)rotate->texts[i].key);
    ppi_free((char *)rotate->texts[i].value);
  }
  for (size_t i = 0; i < rotate->num_definitions; i++)
    ppi_free((char *)rotate->definitions[i].name);
  for (int kind = 0; kind <= PPROF_DEFINITION_ATTRIBUTES; kind++)
    ppi_free(rotate->places[kind]);
  ppi_free(rotate->texts);
  ppi_free(rotate->definitions);
  ppi_free(rotate->windows);
  ppi_free(rotate->ends);
  ppi_tally_clear(&rotate->tally);
  ppi_tally_clear(&rotate->earlier);
  memset(rotate, 0, sizeof *rotate);
}

// ---- an end ----

// What the run counted and other segments have.
static uint64_t held_elsewhere(const ppi_tally *earlier, uint32_t lane,
                               uint32_t key) {
  if (lane != PPROF_ALL_LANES)
    return lane < earlier->num_lanes ? earlier->lanes[lane][key] : 0;
  uint64_t sum = 0;
  for (size_t i = 0; i < earlier->num_lanes; i++) sum += earlier->lanes[i][key];
  return sum;
}

// What is lost by the limit, as totals.
static pprof_status add_lost(ppi_tally *tally, const ppi_tally *dropped) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t lane = 0; lane < dropped->num_lanes; lane++)
    if (status == PPROF_STATUS_OK)
      status = ppi_tally_add(tally, (uint32_t)lane, PPI_TOTAL_LOST,
                             dropped->lanes[lane][PPI_TOTAL_RECORDED]);
  return status;
}

pprof_status ppi_rotate_totals(const ppi_rotate *rotate,
                               const ppi_tally *dropped,
                               const pprof_totals *totals, ppi_total **out,
                               size_t *out_num) {
  ppi_total *items = ppi_alloc((totals->num_items + 1) * sizeof *items);
  if (!items) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < totals->num_items; i++) {
    ppi_total *item = &items[i];
    *item = totals->items[i];
    uint64_t elsewhere =
        held_elsewhere(&rotate->earlier, item->lane, item->key) +
        held_elsewhere(dropped, item->lane, item->key);
    item->value -= PPI_MIN(item->value, elsewhere);
  }
  pprof_totals mine = {items, totals->num_items, NULL, 0};
  ppi_tally sum = {0};
  pprof_status status = add_lost(&sum, dropped);
  if (status == PPROF_STATUS_OK)
    status = ppi_log_totals_join(
        &sum, &mine,
        ppi_totals_get(totals, PPROF_ALL_LANES, PPI_TOTAL_INCOMPLETE), out,
        out_num);
  ppi_tally_clear(&sum);
  ppi_free(items);
  return status;
}

static pprof_status end_segment(ppi_rotate *rotate,
                                ppi_log_assembler *assembler) {
  static const ppi_text note = {PPI_SEGMENT_KEY, "another one follows"};
  ppi_total *items;
  size_t num;
  ppi_total safe = {PPROF_ALL_LANES, PPI_TOTAL_CRASH_SAFE, rotate->crash_safe};
  pprof_totals totals = {&safe, 1, NULL, 0};
  pprof_status status = ppi_log_totals_add(&rotate->earlier, &rotate->tally);
  if (status == PPROF_STATUS_OK)
    status = ppi_log_totals_join(&rotate->tally, &totals, 0, &items, &num);
  if (status != PPROF_STATUS_OK) return status;
  totals = (pprof_totals){items, num, &note, 1};
  status = ppi_log_assembler_totals(assembler, &totals);
  ppi_free(items);
  ppi_tally_clear(&rotate->tally);
  return status;
}

// ---- a beginning ----

pprof_status ppi_rotate_info(ppi_rotate *rotate, ppi_log_assembler *assembler) {
  char number[16];
  snprintf(number, sizeof number, "%u", rotate->segment);
  // ppi_rotate_begin left room for one more.
  rotate->texts[rotate->num_texts] = (ppi_text){PPI_SEGMENT_KEY, number};
  pprof_run_info info = {.texts = rotate->texts,
                         .num_texts = rotate->num_texts + 1};
  return ppi_log_assembler_info(assembler, &info);
}

// Records below these are in earlier segments: recover must not take them from
// the spool again.
static pprof_status tell_ends(const ppi_rotate *rotate,
                              ppi_log_assembler *assembler) {
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t lane = 0; lane < rotate->num_ends; lane++) {
    pprof_batch batch = {.size = sizeof batch,
                         .stride = sizeof(pprof_event),
                         .end_seq = rotate->ends[lane],
                         .lane = lane};
    if (status == PPROF_STATUS_OK)
      status = ppi_log_assembler_events(assembler, &batch);
  }
  return status == PPROF_STATUS_OK ? ppi_log_assembler_flush(assembler)
                                   : status;
}

pprof_status ppi_rotate_tell(const ppi_rotate *rotate,
                             ppi_log_assembler *assembler) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < rotate->num_definitions; i++) {
    if (status != PPROF_STATUS_OK) return status;
    status = ppi_log_assembler_define(assembler, &rotate->definitions[i]);
  }
  for (size_t i = 0; i < rotate->num_windows; i++) {
    if (status != PPROF_STATUS_OK) return status;
    status = ppi_log_assembler_window(assembler, rotate->windows[i].index, true,
                                      rotate->windows[i].time_ns);
  }
  return status;
}

pprof_status ppi_rotate_end(ppi_rotate *rotate, ppi_log_assembler *assembler) {
  ppi_log_assembler_join(assembler);
  pprof_status status = end_segment(rotate, assembler);
  rotate->segment++;
  return status;
}

pprof_status ppi_rotate_start(ppi_rotate *rotate,
                              ppi_log_assembler *assembler) {
  assembler->next_number = 0;
  pprof_status status = ppi_rotate_info(rotate, assembler);
  if (status == PPROF_STATUS_OK) status = tell_ends(rotate, assembler);
  pprof_status released = ppi_log_assembler_release(assembler);
  return status == PPROF_STATUS_OK ? released : status;
}

// ---- names ----

char *ppi_log_sibling_path(const char *path, const char *infix) {
  static const char suffix[] = ".pplog";
  size_t len = strlen(path), stem = len;
  if (len > sizeof suffix - 1 &&
      strcmp(path + len - (sizeof suffix - 1), suffix) == 0)
    stem = len - (sizeof suffix - 1);
  size_t size = len + strlen(infix) + 2;
  char *out = ppi_alloc(size);
  if (out)
    snprintf(out, size, "%.*s.%s%s", (int)stem, path, infix, path + stem);
  return out;
}

char *ppi_segment_path(const char *path, uint32_t segment) {
  char infix[16];
  snprintf(infix, sizeof infix, "%04u", segment);
  return ppi_log_sibling_path(path, infix);
}

// Whether `name` is a segment's of the log with the name `stem`.`rest`.
static bool is_segment(const char *name, const char *stem, size_t stem_len) {
  if (strncmp(name, stem, stem_len) != 0 || name[stem_len] != '.') return false;
  const char *digits = name + stem_len + 1;
  size_t num = strspn(digits, "0123456789");
  return num >= 4 && strcmp(digits + num, stem + stem_len) == 0;
}

void ppi_segments_each(const char *path, ppi_segment_visit visit, void *user) {
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  size_t folder_len = (size_t)(base - path);
  size_t len = strlen(base), stem_len = len;
  if (len > 6 && strcmp(base + len - 6, ".pplog") == 0) stem_len = len - 6;
  char *folder = ppi_strdup(folder_len ? path : ".");
  if (!folder) return;
  if (folder_len) folder[folder_len] = '\0';
  DIR *dir = ppi_fd_opendir(folder);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (!is_segment(entry->d_name, base, stem_len)) continue;
    size_t size = folder_len + strlen(entry->d_name) + 1;
    char *found = ppi_alloc(size);
    if (!found) break;
    snprintf(found, size, "%.*s%s", (int)folder_len, path, entry->d_name);
    visit(user, found,
          (uint32_t)strtoul(entry->d_name + stem_len + 1, NULL, 10));
    ppi_free(found);
  }
  if (dir) closedir(dir);
  ppi_free(folder);
}

// Whether the open file is a log of this run.
static bool is_of_run(int fd, const char *uuid) {
  char header[PPI_LOG_FILE_HEADER_SIZE] = {0};
  return pread(fd, header, sizeof header, 0) == sizeof header &&
         memcmp(header, PPI_LOG_MAGIC, strlen(PPI_LOG_MAGIC)) == 0 &&
         strncmp(header + 16, uuid, PPI_LOG_UUID_LEN) == 0;
}

void ppi_log_remove_own(const char *path, const char *uuid) {
  int fd = ppi_fd_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  // What cannot be looked at may be anybody's.
  if (fd < 0) return;
  if (is_of_run(fd, uuid)) unlink(path);
  close(fd);
}

static void note_any(void *user, const char *path, uint32_t segment) {
  (void)path, (void)segment;
  *(bool *)user = true;
}

bool ppi_segments_are_there(const char *path) {
  // Where there are any, nearly always the first one is.
  char *first = ppi_segment_path(path, 1);
  bool found = ppi_part_is_there(path) || (first && ppi_part_is_there(first));
  ppi_free(first);
  if (!found) ppi_segments_each(path, note_any, &found);
  return found;
}

typedef struct last_segment {
  const char *uuid;
  uint32_t segment;
} last_segment;

static void note_last(void *user, const char *path, uint32_t segment) {
  last_segment *last = user;
  int fd = ppi_fd_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return;
  if (is_of_run(fd, last->uuid) && segment > last->segment)
    last->segment = segment;
  close(fd);
}

uint32_t ppi_segments_last(const char *path, const char *uuid) {
  last_segment last = {uuid, 0};
  ppi_segments_each(path, note_last, &last);
  return last.segment;
}

uint32_t ppi_segment_of(const pprof_run_info *info) {
  const char *text = pprof_run_info_text(info, PPI_SEGMENT_KEY);
  if (!text || !isdigit((unsigned char)text[0])) return 0;
  char *end;
  errno = 0;
  unsigned long number = strtoul(text, &end, 10);
  return errno || *end || number > UINT32_MAX ? 0 : (uint32_t)number;
}

bool ppi_segment_goes_on(const ppi_text *notes, size_t num_notes) {
  for (size_t i = 0; i < num_notes; i++)
    if (strcmp(notes[i].key, PPI_SEGMENT_KEY) == 0) return true;
  return false;
}
