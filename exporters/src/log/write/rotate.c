// SPDX-License-Identifier: Apache-2.0
//
// Carries state from segment to segment, and names segments.
#include "log/write/rotate.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "file/text.h"
#include "log/format/log_totals.h"
#include "log/write/log_writer.h"

// ---- known definitions ----

pprof_status ppi_rotate_begin(ppi_rotate *rotate, const pprof_run_info *info) {
  rotate->segment = 1;
  rotate->crash_safe = info->staging != NULL;
  return ppi_texts_join(&rotate->texts, info->texts, info->num_texts)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

pprof_status ppi_rotate_define(ppi_rotate *rotate,
                               const pprof_definition *definition, bool *now) {
  *now = true;
  if (!ppi_definition_is_known(definition->kind)) return PPROF_STATUS_OK;
  const pprof_definition_kind kind = definition->kind;
  if (!PPI_REACH(rotate->names[kind], rotate->num_names[kind],
                 rotate->names_capacity[kind], (size_t)definition->id + 1))
    return PPROF_STATUS_NO_MEMORY;
  ppi_rotate_name *name = &rotate->names[kind][definition->id];
  if (!ppi_definition_keep(&name->definition, definition))
    return PPROF_STATUS_NO_MEMORY;
  if (kind == PPROF_DEFINITION_DEVICE) name->reported = rotate->segment;
  *now = name->reported == rotate->segment;
  return PPROF_STATUS_OK;
}

static pprof_status define_name(ppi_rotate *rotate, pprof_definition_kind kind,
                                uint32_t id, ppi_log_assembler *assembler) {
  if (id >= rotate->num_names[kind]) return PPROF_STATUS_OK;
  ppi_rotate_name *name = &rotate->names[kind][id];
  if (PPI_LIKELY(name->reported == rotate->segment) || !name->definition.name)
    return PPROF_STATUS_OK;
  name->reported = rotate->segment;
  pprof_status status = PPROF_STATUS_OK;
  if (kind == PPROF_DEFINITION_SITE)
    status = define_name(rotate, PPROF_DEFINITION_CATEGORY,
                         name->definition.parent, assembler);
  return status == PPROF_STATUS_OK
             ? ppi_log_assembler_define(assembler, &name->definition)
             : status;
}

pprof_status ppi_rotate_notify_site(ppi_rotate *rotate, uint64_t id,
                                    ppi_log_assembler *assembler) {
  enum { MOST_FOLDS = 4 };
  pprof_status status = PPROF_STATUS_OK;
  for (int i = 0; i < MOST_FOLDS && status == PPROF_STATUS_OK; i++) {
    if (id >= rotate->num_names[PPROF_DEFINITION_SITE]) break;
    const ppi_rotate_name *name = &rotate->names[PPROF_DEFINITION_SITE][id];
    if (PPI_LIKELY(name->reported == rotate->segment)) break;
    status =
        define_name(rotate, PPROF_DEFINITION_SITE, (uint32_t)id, assembler);
    id = name->definition.number;
    if (id == 0) break;
  }
  return status;
}

static pprof_status notify_event(ppi_rotate *rotate, const pprof_event *event,
                                 ppi_log_assembler *assembler) {
  pprof_status status =
      define_name(rotate, PPROF_DEFINITION_LANE, event->lane, assembler);
  PPI_THEN(status, ppi_rotate_notify_site(rotate, event->site, assembler));
  if (status == PPROF_STATUS_OK && event->stream)
    status =
        define_name(rotate, PPROF_DEFINITION_STREAM, event->stream, assembler);
  if (status == PPROF_STATUS_OK && event->attributes)
    status = define_name(rotate, PPROF_DEFINITION_ATTRIBUTES, event->attributes,
                         assembler);
  return status;
}

pprof_status ppi_rotate_notify_events(ppi_rotate *rotate,
                                      const pprof_batch *batch,
                                      ppi_log_assembler *assembler) {
  pprof_status status = PPROF_STATUS_OK;
  if (batch->num_events > 0)
    status = define_name(rotate, PPROF_DEFINITION_LANE, batch->lane, assembler);
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++)
    status = notify_event(rotate, pprof_batch_at(batch, i), assembler);
  return status;
}

pprof_status ppi_rotate_notify_open(ppi_rotate *rotate,
                                    const pprof_checkpoint *checkpoint,
                                    ppi_log_assembler *assembler) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < checkpoint->num_open && status == PPROF_STATUS_OK; i++)
    status = notify_event(rotate, &checkpoint->open[i], assembler);
  return status;
}

pprof_status ppi_rotate_notify_lanes(ppi_rotate *rotate,
                                     const pprof_totals *totals,
                                     ppi_log_assembler *assembler) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < totals->num_items && status == PPROF_STATUS_OK; i++)
    if (totals->items[i].value && totals->items[i].lane != PPROF_ALL_LANES)
      status = define_name(rotate, PPROF_DEFINITION_LANE, totals->items[i].lane,
                           assembler);
  return status;
}

// ---- positions of lanes ----

static bool list_lane(ppi_rotate_list *list, uint32_t lane) {
  return PPI_PUSH(list->lanes, list->num, list->capacity, lane);
}

pprof_status ppi_rotate_deliver(ppi_rotate *rotate, const pprof_batch *batch) {
  if (!PPI_REACH(rotate->lanes, rotate->num_lanes, rotate->lanes_capacity,
                 (size_t)batch->lane + 1))
    return PPROF_STATUS_NO_MEMORY;
  ppi_rotate_lane *lane = &rotate->lanes[batch->lane];
  if (!lane->is_live && !list_lane(&rotate->live, batch->lane))
    return PPROF_STATUS_NO_MEMORY;
  lane->is_live = true;
  lane->end = PPI_MAX(lane->end, batch->end_seq);
  lane->seen = rotate->looks;
  rotate->is_looking = false;
  return PPROF_STATUS_OK;
}

void ppi_rotate_see(ppi_rotate *rotate, uint32_t lane) {
  if (!rotate->is_looking) rotate->looks++;
  rotate->is_looking = true;
  if (lane < rotate->num_lanes) rotate->lanes[lane].seen = rotate->looks;
}

uint64_t ppi_rotate_lane_end(const ppi_rotate *rotate, uint32_t lane) {
  return lane < rotate->num_lanes ? rotate->lanes[lane].end : 0;
}

// A lane that was missing in the last look had no records left in the spool.
static void forget_gone(ppi_rotate *rotate) {
  ppi_rotate_list *live = &rotate->live;
  size_t num = 0;
  for (size_t i = 0; i < live->num; i++) {
    ppi_rotate_lane *lane = &rotate->lanes[live->lanes[i]];
    lane->is_live = lane->seen == rotate->looks;
    if (lane->is_live) live->lanes[num++] = live->lanes[i];
  }
  live->num = num;
}

// ---- the content of a segment ----

// By each event's own lane: a batch of the process's lane has many.
static pprof_status list_counted(ppi_rotate *rotate, uint32_t id) {
  if (!PPI_REACH(rotate->lanes, rotate->num_lanes, rotate->lanes_capacity,
                 (size_t)id + 1))
    return PPROF_STATUS_NO_MEMORY;
  ppi_rotate_lane *lane = &rotate->lanes[id];
  if (lane->counted == rotate->segment) return PPROF_STATUS_OK;
  lane->counted = rotate->segment;
  return list_lane(&rotate->counted, id) ? PPROF_STATUS_OK
                                         : PPROF_STATUS_NO_MEMORY;
}

pprof_status ppi_rotate_count(ppi_rotate *rotate, const pprof_batch *batch) {
  pprof_status status = ppi_tally_batch(&rotate->tally, batch);
  uint32_t before = PPROF_ALL_LANES;
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++) {
    uint32_t lane = pprof_batch_at(batch, i)->lane;
    if (lane != before) status = list_counted(rotate, lane);
    before = lane;
  }
  return status;
}

pprof_status ppi_rotate_window_edge(ppi_rotate *rotate, uint32_t index,
                                    bool opens, uint64_t time_ns) {
  if (!opens) {
    for (size_t i = 0; i < rotate->num_windows; i++)
      if (rotate->windows[i].index == index)
        rotate->windows[i] = rotate->windows[--rotate->num_windows];
    return PPROF_STATUS_OK;
  }
  return PPI_PUSH(rotate->windows, rotate->num_windows,
                  rotate->windows_capacity, (ppi_rotate_window){index, time_ns})
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

void ppi_rotate_clear(ppi_rotate *rotate) {
  for (int kind = 0; kind <= PPROF_DEFINITION_ATTRIBUTES; kind++) {
    for (size_t id = 0; id < rotate->num_names[kind]; id++)
      ppi_free((char *)rotate->names[kind][id].definition.name);
    ppi_free(rotate->names[kind]);
  }
  ppi_texts_clear(&rotate->texts);
  PPI_FREE_ALL(rotate->windows, rotate->lanes, rotate->live.lanes,
               rotate->counted.lanes);
  ppi_tally_clear(&rotate->tally);
  ppi_tally_clear(&rotate->earlier);
  memset(rotate, 0, sizeof *rotate);
}

// ---- an end ----

// Losses by the limit, as totals.
static pprof_status add_lost(ppi_tally *tally, const ppi_tally *dropped) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t lane = 0; lane < dropped->num_lanes; lane++)
    PPI_THEN(status, ppi_tally_add(tally, (uint32_t)lane, PPI_TOTAL_LOST,
                                   dropped->lanes[lane][PPI_TOTAL_RECORDED]));
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
        ppi_tally_get(&rotate->earlier, item->lane, item->key) +
        ppi_tally_get(dropped, item->lane, item->key);
    item->value -= PPI_MIN(item->value, elsewhere);
  }
  pprof_totals mine = {items, totals->num_items, NULL, 0};
  ppi_tally sum = {0};
  pprof_status status = add_lost(&sum, dropped);
  PPI_THEN(status, ppi_log_totals_join(&sum, &mine,
                                       ppi_totals_get(totals, PPROF_ALL_LANES,
                                                      PPI_TOTAL_INCOMPLETE),
                                       out, out_num));
  ppi_tally_clear(&sum);
  ppi_free(items);
  return status;
}

static int compare_lanes(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

// Moves the segment's counts to those of earlier segments, and lists them. It
// looks only at the segment's own lanes.
static pprof_status take_counted(ppi_rotate *rotate, ppi_total *items,
                                 size_t *num) {
  const ppi_rotate_list *counted = &rotate->counted;
  uint64_t sums[PPI_NUM_TOTALS] = {0};
  if (counted->num > 1)
    qsort(counted->lanes, counted->num, sizeof *counted->lanes, compare_lanes);
  for (size_t i = 0; i < counted->num; i++) {
    uint32_t lane = counted->lanes[i];
    uint64_t *row = rotate->tally.lanes[lane];
    *num = ppi_tally_append(items, *num, lane, row);
    PPI_TRY(ppi_tally_add_row(&rotate->earlier, lane, row));
    for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++) sums[key] += row[key];
    memset(row, 0, sizeof sums);
  }
  rotate->counted.num = 0;
  rotate->num_earlier += sums[PPI_TOTAL_RECORDED];
  sums[PPI_TOTAL_CRASH_SAFE] = rotate->crash_safe;
  *num = ppi_tally_append(items, *num, PPROF_ALL_LANES, sums);
  return PPROF_STATUS_OK;
}

static pprof_status end_segment(ppi_rotate *rotate,
                                ppi_log_assembler *assembler) {
  static const ppi_text note = {PPI_SEGMENT_KEY, "another one follows"};
  pprof_totals totals = {NULL, 0, &note, 1};
  ppi_total *items =
      ppi_alloc((rotate->counted.num + 1) * PPI_NUM_TOTALS * sizeof *items);
  if (!items) return PPROF_STATUS_NO_MEMORY;
  totals.items = items;
  pprof_status status = take_counted(rotate, items, &totals.num_items);
  PPI_THEN(status, ppi_log_assembler_totals(assembler, &totals, NULL));
  ppi_free(items);
  return status;
}

// ---- a beginning ----

pprof_status ppi_rotate_info(ppi_rotate *rotate, ppi_log_assembler *assembler) {
  char number[16], before[24];
  const pprof_run_info info = {.texts = rotate->texts.items,
                               .num_texts = rotate->texts.num};
  snprintf(number, sizeof number, "%u", rotate->segment);
  snprintf(before, sizeof before, "%llu",
           (unsigned long long)rotate->num_earlier);
  // The number is the last text, behind what only later segments have.
  const ppi_text own[] = {{PPI_RECORDS_BEFORE_KEY, before},
                          {PPI_SEGMENT_KEY, number}};
  size_t first = rotate->segment == 1;
  return ppi_log_assembler_info(assembler, &info, own + first, 2 - first);
}

// Records below these are in earlier segments: recover must not take them from
// the spool again.
static pprof_status notify_ends(ppi_rotate *rotate,
                                ppi_log_assembler *assembler) {
  pprof_status status = PPROF_STATUS_OK;
  forget_gone(rotate);
  for (size_t i = 0; i < rotate->live.num; i++) {
    uint32_t lane = rotate->live.lanes[i];
    pprof_batch batch = {.size = sizeof batch,
                         .stride = sizeof(pprof_event),
                         .end_seq = rotate->lanes[lane].end,
                         .lane = lane};
    PPI_THEN(status, ppi_log_assembler_events(assembler, &batch));
  }
  return status == PPROF_STATUS_OK ? ppi_log_assembler_flush(assembler)
                                   : status;
}

pprof_status ppi_rotate_notify(ppi_rotate *rotate,
                               ppi_log_assembler *assembler) {
  pprof_status status = PPROF_STATUS_OK;
  size_t num_devices = rotate->num_names[PPROF_DEFINITION_DEVICE];
  for (uint32_t id = 0; id < num_devices && status == PPROF_STATUS_OK; id++)
    status = define_name(rotate, PPROF_DEFINITION_DEVICE, id, assembler);
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
  if (status == PPROF_STATUS_OK) status = notify_ends(rotate, assembler);
  pprof_status released = ppi_log_assembler_release(assembler);
  return status == PPROF_STATUS_OK ? released : status;
}

// ---- names ----

ppi_path ppi_log_sibling_path(const char *path, const char *infix) {
  size_t len = strlen(path) - (ppi_ends_with(path, ".pplog") ? 6 : 0);
  return ppi_path_make("%.*s.%s%s", (int)len, path, infix, path + len);
}

static ppi_path number_path(const char *path, const char *format,
                            unsigned number) {
  char infix[16];
  snprintf(infix, sizeof infix, format, number);
  return number ? ppi_log_sibling_path(path, infix) : ppi_path_make("%s", path);
}

ppi_path ppi_log_numbered_path(const char *path, int number) {
  return number_path(path, "%u", (unsigned)number);
}

ppi_path ppi_segment_path(const char *path, uint32_t segment) {
  return number_path(path, "%04u", segment);
}

// Whether `name` is a segment's of the log with the name `stem`.`rest`.
static bool is_segment(const char *name, const char *stem, size_t stem_len) {
  if (strncmp(name, stem, stem_len) != 0 || name[stem_len] != '.') return false;
  const char *digits = name + stem_len + 1;
  size_t num = strspn(digits, "0123456789");
  return num >= 4 && strcmp(digits + num, stem + stem_len) == 0;
}

void ppi_segments_each(const char *path, ppi_segment_visit visit, void *user) {
  const char *base = ppi_base_name(path);
  size_t stem_len = strlen(base);
  if (ppi_ends_with(base, ".pplog")) stem_len -= 6;
  DIR *dir = ppi_fd_opendir(ppi_path_beside(path, ".").text);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (!is_segment(entry->d_name, base, stem_len)) continue;
    visit(user, ppi_path_beside(path, entry->d_name).text,
          (uint32_t)strtoul(entry->d_name + stem_len + 1, NULL, 10));
  }
  if (dir) closedir(dir);
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
  // An unreadable file may belong to anyone.
  if (fd < 0) return;
  if (is_of_run(fd, uuid)) unlink(path);
  close(fd);
}

static void note_any(void *user, const char *path, uint32_t segment) {
  (void)path, (void)segment;
  *(bool *)user = true;
}

bool ppi_segments_are_there(const char *path) {
  // If there are any, the first one nearly always exists.
  bool found = ppi_part_is_there(path) ||
               ppi_part_is_there(ppi_segment_path(path, 1).text);
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

static uint64_t number_of(const pprof_run_info *info, const char *key) {
  const char *text = pprof_run_info_text(info, key);
  if (!text || !isdigit((unsigned char)text[0])) return 0;
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  return errno || *end ? 0 : number;
}

uint32_t ppi_segment_of(const pprof_run_info *info) {
  uint64_t number = number_of(info, PPI_SEGMENT_KEY);
  return number > UINT32_MAX ? 0 : (uint32_t)number;
}

uint64_t ppi_segment_records_before(const pprof_run_info *info) {
  return number_of(info, PPI_RECORDS_BEFORE_KEY);
}

bool ppi_segment_goes_on(const ppi_text *notes, size_t num_notes) {
  for (size_t i = 0; i < num_notes; i++)
    if (strcmp(notes[i].key, PPI_SEGMENT_KEY) == 0) return true;
  return false;
}
