// SPDX-License-Identifier: Apache-2.0
//
// Reads a spool that may be damaged, hostile or in use. Each part is copied out
// of the file, since a mapping of a file that shrinks would fault. A part is
// used only if its publishing word stayed the same, and its indices are
// checked.
#include "recover/forensics.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "event/recorded_wait.h"
#include "recover/salvage.h"
#include "recover/salvage_check.h"
#include "spool/lane.h"
#include "spool/spool_read.h"

// The thread for which a wait waits, and the wait's kind. The wait is `frame`,
// at `depth` of the lane at `offset` of the file. Only for ranges of category
// Wait.
static void put_waits_for(int fd, const ppi_lane *lane, const ppi_frame *frame,
                          uint64_t offset, uint32_t depth, ppi_open_item *out) {
  pprof_numbers numbers = {0};
  uint64_t at = offset + (uint64_t)lane->frames_at +
                offsetof(ppi_deep_stack, numbers) + depth * sizeof numbers;
  bool has_some =
      frame->flags & PPI_FRAME_NUMBERS &&
      pread(fd, &numbers, sizeof numbers, (off_t)at) == sizeof numbers &&
      numbers.num == PPI_WAIT_NUMBERS;
  out->waits_for = has_some ? (uint32_t)numbers.values[PPI_WAIT_BY] : 0;
  out->waits_how = has_some ? (uint32_t)numbers.values[PPI_WAIT_HOW] : 0;
}

#define LOOK_TRIES 200
#define NAMES_TRIES 20
#define LOOK_MAX_ITEMS 1000000u

// The part of a lane that is read: everything before its directory, and its
// open frames.
typedef struct lane_copy {
  ppi_lane lane;
  ppi_frame frames[PPI_MAX_FRAMES];
} lane_copy;

typedef struct look {
  int fd;
  uint64_t size;
  ppi_spool_header *header;  // a copy
  ppi_scale scale;
  uint64_t last_ticks;
  ppi_forensics *out;
  pprof_error *error;
  bool failed;               // out of memory
  uint8_t *claimed;          // eighths of chunks that have served, by bits
  lane_copy *lane, *before;  // room for copies
  ppi_table *table;
  uint8_t *rows;  // names of lanes, as definitions
  size_t rows_len, rows_capacity;
} look;

static bool read_at(const look *self, void *out, uint64_t size,
                    uint64_t offset) {
  return ppi_read_at(self->fd, out, size, offset);
}

static uint64_t chunk_offset(uint32_t chunk) {
  return (uint64_t)chunk * PPI_CHUNK_SIZE;
}

static bool is_pool_chunk(const look *self, uint32_t chunk) {
  return chunk >= self->header->pool_first && chunk < self->header->num_chunks;
}

static bool claim_chunk(const look *self, uint32_t chunk) {
  return ppi_salvage_take(self->header, self->claimed, chunk, 0xff);
}

static void add_item(look *self, const ppi_open_item *item) {
  ppi_forensics *out = self->out;
  if (out->num_items == LOOK_MAX_ITEMS) {
    out->num_damaged++;
    return;
  }
  if (!PPI_PUSH(out->items, out->num_items, out->capacity, *item))
    self->failed = true;
}

static void lived_at(look *self, uint64_t ticks) {
  self->last_ticks = PPI_MAX(self->last_ticks, ticks);
}

// ---- lanes ----

// Frames lie in the lane or in a chunk; any other place is outside of the file.
static bool copy_lane_once(look *self, uint64_t offset, lane_copy *out) {
  ppi_lane *lane = &out->lane;
  if (!read_at(self, lane, offsetof(ppi_lane, directory), offset)) return false;
  uint64_t at = offset + (uint64_t)lane->frames_at;
  lane->num_frames = PPI_MIN(lane->num_frames, PPI_MAX_FRAMES);
  uint32_t open = ppi_lane_num_open(lane, lane->commit);
  return at <= self->size &&
         read_at(self, out->frames, open * sizeof(ppi_frame), at);
}

// Frames that are equal in two copies were open all the time between: a new
// frame has another start.
static uint32_t num_common(const lane_copy *before, const lane_copy *lane) {
  uint32_t depth = ppi_lane_num_open(&before->lane, before->lane.commit);
  uint32_t num = 0;
  depth = PPI_MIN(depth, ppi_lane_num_open(&lane->lane, lane->lane.commit));
  while (num < depth && before->frames[num].start == lane->frames[num].start &&
         before->frames[num].site == lane->frames[num].site)
    num++;
  return num;
}

typedef enum copied { COPY_FAILED, COPY_WHOLE, COPY_PART } copied;

// The owner goes on meanwhile. If the commit word is unchanged, the stack is
// from one moment. For a thread that is too fast, only frames that stay open
// count.
static copied copy_lane(look *self, uint64_t offset) {
  ppi_lane *lane = &self->lane->lane;
  uint64_t after;
  for (int i = 0; i < LOOK_TRIES; i++) {
    *self->before = *self->lane;
    if (!copy_lane_once(self, offset, self->lane) ||
        !read_at(self, &after, sizeof after, offset))
      return COPY_FAILED;
    if (lane->commit != after) continue;
    // Only recover's own look at a dead process needs it.
    return self->out->alive ||
                   read_at(self, lane->directory, sizeof lane->directory,
                           offset + offsetof(ppi_lane, directory))
               ? COPY_WHOLE
               : COPY_FAILED;
  }
  uint64_t head = PPI_HEAD(lane->commit);
  uint32_t open = self->before->lane.serial == lane->serial
                      ? num_common(self->before, self->lane)
                      : 0;
  lane->commit = head << 16 | open;
  return COPY_PART;
}

// Notes the time of the lane's last record; a kept record may have been written
// over.
static void note_last_record(look *self, const ppi_lane *lane) {
  uint64_t head = PPI_HEAD(lane->commit);
  if (self->out->alive || head == 0 || head <= lane->kept) return;
  uint64_t slot = head - 1;
  uint64_t unit = lane->directory[slot / PPI_SLOTS_PER_CHUNK % PPI_LANE_CHUNKS];
  uint64_t at =
      unit * PPI_UNIT + slot % PPI_SLOTS_PER_CHUNK * sizeof(ppi_record);
  ppi_record record;
  if (!is_pool_chunk(self, (uint32_t)(at / PPI_CHUNK_SIZE)) ||
      !read_at(self, &record, sizeof record, at))
    return;
  if (record.kind == PPROF_KIND_COUNTER)
    lived_at(self, record.start);
  else if (record.kind < PPI_RECORD_EXT_FLOWS)
    lived_at(self, record.end);
}

// Adds the finished range at `offset` as `item`.
static void list_finished(look *self, ppi_open_item *item, uint64_t offset) {
  ppi_finished copy = {0}, again;
  bool whole = false;
  for (int n = 0; n < LOOK_TRIES && !whole; n++)
    whole = read_at(self, &copy, sizeof copy, offset) &&
            read_at(self, &again, sizeof again, offset) &&
            copy.version % 2 == 0 && copy.version == again.version;
  self->out->num_torn += !whole;
  if (!whole || copy.version == 0) return;
  item->site = copy.site;
  item->stream = copy.stream;
  item->device = copy.device;
  item->start_ns = copy.start_ns;
  item->end_ns = copy.end_ns;
  add_item(self, item);
}

static void list_lane(look *self, const lane_copy *copy, uint64_t offset,
                      copied how) {
  const ppi_lane *lane = &copy->lane;
  uint32_t open = ppi_lane_num_open(lane, lane->commit);
  ppi_open_item item = {.lane = lane->id, .tid = lane->tid};
  bool any = false;
  for (uint32_t i = 0; i < open; i++) {
    const ppi_frame *frame = &copy->frames[i];
    if (frame->flags & PPI_FRAME_UNRECORDED) continue;
    lived_at(self, frame->start);
    item.kind = PPI_OPEN_RANGE;
    item.site = frame->site;
    item.depth = i;
    item.flow = frame->num_flows ? frame->flow : 0;
    item.start_ns = ppi_scale_ns(&self->scale, frame->start);
    put_waits_for(self->fd, lane, frame, offset, i, &item);
    add_item(self, &item);
    any = true;
  }
  if (how == COPY_WHOLE && (any || lane->state != PPI_LANE_LIVE)) return;
  item = (ppi_open_item){.lane = lane->id, .tid = lane->tid};
  item.kind = how == COPY_WHOLE ? PPI_OPEN_NOTHING : PPI_OPEN_CHANGING;
  add_item(self, &item);
}

// The name as a definition in the names area. A name that is changing has none.
static void name_lane(look *self, const ppi_lane *lane, uint64_t offset) {
  char name[PPI_LANE_NAME];
  uint64_t naming = ppi_lane_get_name(lane, name), after;
  if (!naming ||
      !read_at(self, &after, sizeof after,
               offset + offsetof(ppi_lane, naming)) ||
      after != naming)
    return;
  size_t len = strlen(name);
  size_t size = (sizeof(ppi_definition_record) + len + 1 + 7) & ~(size_t)7;
  // No record crosses a chunk; a size of 0 ends a chunk.
  size_t left = -self->rows_len % PPI_CHUNK_SIZE, skip = left < size ? left : 0;
  if (!PPI_ROOM(self->rows, self->rows_capacity,
                self->rows_len + skip + size)) {
    self->failed = true;
    return;
  }
  memset(self->rows + self->rows_len, 0, skip);
  self->rows_len += skip;
  ppi_definition_record *record = (void *)(self->rows + self->rows_len);
  *record = (ppi_definition_record){.size = (uint32_t)size,
                                    .kind = PPROF_DEFINITION_LANE,
                                    .id = lane->id,
                                    .number = lane->tid,
                                    .name_len = (uint32_t)len};
  memcpy(record->name, name, len + 1);
  self->rows_len += size;
}

static void look_at_lanes(look *self) {
  uint32_t num = PPI_MIN(self->header->num_lane_slots, PPI_MAX_LANES);
  for (uint32_t i = 0; i < num; i++) {
    uint32_t number = self->header->lanes[i];
    if (number == 0) continue;  // being made
    if (!ppi_salvage_take_lane(self->header, self->claimed, number)) {
      self->out->num_damaged++;
      continue;
    }
    const uint64_t offset = (uint64_t)number * PPI_LANE_SIZE;
    copied how = copy_lane(self, offset);
    if (how == COPY_FAILED) {
      self->out->num_torn++;
      continue;
    }
    const ppi_lane *lane = &self->lane->lane;
    if (lane->state != PPI_LANE_LIVE && lane->state != PPI_LANE_LEFT) {
      self->out->num_damaged += lane->state > PPI_LANE_INIT;
      continue;
    }
    name_lane(self, lane, offset);
    note_last_record(self, lane);
    size_t before = self->out->num_items;
    list_lane(self, self->lane, offset, how);
    if (self->out->num_items == before) continue;
    ppi_open_item last = {
        .kind = PPI_OPEN_LANE_LAST, .lane = lane->id, .tid = lane->tid};
    list_finished(self, &last, offset + offsetof(ppi_lane, finished));
  }
}

// ---- tables ----

typedef struct slot_head {
  // Only the first flow is read.
  uint64_t words[offsetof(ppi_slot, flows) / sizeof(uint64_t) + 1];
} slot_head;

// False: torn. If the range ended meanwhile, the slot's state is not pending.
static bool copy_slot(look *self, uint32_t table_chunk, uint32_t index,
                      uint64_t *out_state, slot_head *out) {
  const ppi_table *table = self->table;
  uint64_t state_offset = chunk_offset(table_chunk) +
                          offsetof(ppi_table, states) +
                          index * sizeof(uint64_t);
  uint64_t slot_offset =
      chunk_offset(table->chunks[index / PPI_SLOTS_PER_TABLE_CHUNK]) +
      index % PPI_SLOTS_PER_TABLE_CHUNK * sizeof(ppi_slot);
  uint64_t after;
  for (int i = 0; i < LOOK_TRIES; i++) {
    if (!read_at(self, out_state, sizeof *out_state, state_offset))
      return false;
    if (!ppi_slot_is_pending(*out_state)) return true;
    if (!read_at(self, out, sizeof *out, slot_offset) ||
        !read_at(self, &after, sizeof after, state_offset))
      return false;
    if (after == *out_state) return true;
  }
  return false;
}

static void list_slot(look *self, const ppi_slot *slot, uint32_t state) {
  bool on_device = slot->kind == PPROF_KIND_DEVICE_RANGE;
  lived_at(self, slot->start);
  if (state == PPI_SLOT_ENDED) lived_at(self, slot->end);
  // Only its end is still to be collected.
  if (!on_device && state != PPI_SLOT_OPEN) return;
  if (slot->provisional) return;
  ppi_open_item item = {
      .kind = on_device ? PPI_OPEN_DEVICE : PPI_OPEN_CROSS_THREAD,
      .submitted = state == PPI_SLOT_ENDED,
      .lane = slot->lane,
      .site = slot->site,
      .stream = on_device ? slot->stream : 0,
      .device = on_device ? self->table->device : 0,
      .depth = slot->depth,
      .flow = slot->num_flows ? slot->flows[0] : 0,
      .start_ns = ppi_scale_ns(&self->scale, slot->start)};
  add_item(self, &item);
}

static bool is_table_sane(const look *self) {
  const ppi_table *table = self->table;
  uint32_t num;
  if (!ppi_salvage_table_chunks(table, &num)) return false;
  for (uint32_t k = 0; k < num; k++)
    if (!claim_chunk(self, table->chunks[k])) return false;
  return true;
}

static void look_at_table(look *self, uint32_t chunk) {
  const ppi_table *table = self->table;
  union {
    slot_head head;
    ppi_slot slot;
  } copy;
  for (uint32_t i = 0; i < table->num_slots; i++) {
    uint64_t state = table->states[i];
    if (!ppi_slot_is_pending(state)) continue;
    if (!copy_slot(self, chunk, i, &state, &copy.head))
      self->out->num_torn++;
    else if (ppi_slot_is_pending(state))
      list_slot(self, &copy.slot, PPI_STATE_OF(state));
  }
}

static void look_at_tables(look *self) {
  uint32_t num = PPI_MIN(self->header->num_tables, PPI_MAX_TABLES);
  for (uint32_t t = 0; t < num; t++) {
    uint32_t chunk = self->header->tables[t];
    if (!claim_chunk(self, chunk) ||
        !read_at(self, self->table, sizeof *self->table, chunk_offset(chunk)) ||
        !is_table_sane(self))
      self->out->num_damaged++;
    else
      look_at_table(self, chunk);
  }
}

// ---- the last finished ranges of streams ----

static void look_at_finished(look *self) {
  for (uint32_t i = 0; i < PPI_FINISHED_STREAMS; i++) {
    ppi_open_item item = {.kind = PPI_OPEN_FINISHED};
    list_finished(
        self, &item,
        offsetof(ppi_spool_header, finished) + i * sizeof(ppi_finished));
  }
}

// ---- the file ----

static pprof_status no_memory(look *self) {
  return ppi_fail(self->error, PPROF_STATUS_NO_MEMORY, "out of memory");
}

static pprof_status read_header(look *self, const char *path) {
  if (!read_at(self, self->header, sizeof *self->header, 0))
    return ppi_fail(self->error, PPROF_STATUS_IO, "%.160s: cannot be read",
                    path);
  ppi_spool spool = {.size = self->size, .header = self->header};
  PPI_TRY(ppi_salvage_check_header(&spool, path, self->error));
  const ppi_spool_header *header = self->header;
  self->scale = ppi_scale_make(header->start_ticks, header->ticks_per_second);
  lived_at(self, header->start_ticks);
  lived_at(self, header->last_ticks);
  self->out->pid = ppi_salvage_writer(self->fd, header->pid);
  self->out->alive = self->out->pid != 0;
  if (!self->out->alive) self->out->pid = header->pid;
  self->out->start_realtime_ns = header->start_realtime_ns;
  return PPROF_STATUS_OK;
}

// The copy's chunks of names lie behind its header, from chunk `first` on.
static bool copy_names(const look *self, uint32_t first, uint64_t end) {
  ppi_spool *names = &self->out->names;
  uint32_t chunks[PPI_NAMES_CHUNKS];
  if (!read_at(self, chunks, sizeof chunks, offsetof(ppi_spool_header, names)))
    return false;
  for (uint32_t k = 0; (uint64_t)k * PPI_CHUNK_SIZE < end; k++) {
    uint64_t at = (uint64_t)(first + k + 1) * PPI_CHUNK_SIZE;
    if (first + k >= PPI_NAMES_CHUNKS || !is_pool_chunk(self, chunks[k]) ||
        !ppi_read_sparse(self->fd, names->base + at, PPI_CHUNK_SIZE,
                         chunk_offset(chunks[k])))
      return false;
    names->header->names[first + k] = first + k + 1;
    names->header->names_end =
        PPI_MIN((uint64_t)first * PPI_CHUNK_SIZE + end, at);
  }
  return true;
}

// In one piece: no name took another's place meanwhile. If a program gives new
// names faster than they are copied, some are unusable.
static bool copy_whole_names(const look *self, uint32_t first, uint64_t end) {
  const uint64_t at = offsetof(ppi_spool_header, names_changes);
  uint64_t before, after;
  for (int i = 0; i < NAMES_TRIES; i++) {
    if (!read_at(self, &before, sizeof before, at) ||
        !copy_names(self, first, end) ||
        !read_at(self, &after, sizeof after, at))
      return false;
    if (before == after) return true;
  }
  return false;
}

static uint64_t in_chunks(uint64_t bytes) {
  return (bytes + PPI_CHUNK_SIZE - 1) / PPI_CHUNK_SIZE;
}

// Names of lanes come first.
static void copy_rows(const look *self) {
  ppi_spool *names = &self->out->names;
  if (!self->rows_len) return;
  memcpy(names->base + PPI_CHUNK_SIZE, self->rows, self->rows_len);
  uint32_t num = (uint32_t)in_chunks(self->rows_len);
  for (uint32_t k = 0; k < num; k++) names->header->names[k] = k + 1;
  names->header->names_end = (uint64_t)num * PPI_CHUNK_SIZE;
}

// Last, so that it has all names of what was read.
static pprof_status read_names(look *self) {
  uint64_t end;
  if (!read_at(self, &end, sizeof end, offsetof(ppi_spool_header, names_end)))
    end = self->header->names_end;
  end = PPI_MIN(end, (uint64_t)PPI_NAMES_CHUNKS * PPI_CHUNK_SIZE);
  end = PPI_MIN(end, self->size);
  ppi_spool *names = &self->out->names;
  names->size =
      (1 + in_chunks(self->rows_len) + in_chunks(end)) * PPI_CHUNK_SIZE;
  names->base = ppi_alloc(names->size);
  if (!names->base) return no_memory(self);
  names->header = (ppi_spool_header *)(void *)names->base;
  names->header->names_changes = self->header->names_changes;
  copy_rows(self);
  self->out->num_torn +=
      !copy_whole_names(self, (uint32_t)in_chunks(self->rows_len), end);
  return PPROF_STATUS_OK;
}

// Sorts ranges outside of lanes by kind, stream and time.
PPI_ORDER(compare_items, ppi_open_item,
          PPI_UP(kind) PPI_UP(device) PPI_UP(stream) PPI_UP(start_ns))

static void notify_until(look *self) {
  const ppi_spool_header *header = self->header;
  uint64_t now = self->last_ticks;
  if (self->out->alive && header->clock_mode == PPI_CLOCK_TICKS)
    now = ppi_clock_counter();
  else if (self->out->alive && header->clock_mode == PPI_CLOCK_MONOTONIC)
    now = ppi_clock_monotonic_ns();
  lived_at(self, now);
  self->out->until_ns = ppi_scale_ns(&self->scale, self->last_ticks);
}

static pprof_status look_at_all(look *self, const char *path) {
  pprof_status status =
      ppi_salvage_open_file(path, &self->fd, &self->size, self->error);
  if (status != PPROF_STATUS_OK) return status;
  self->header = ppi_alloc(sizeof *self->header);
  self->lane = ppi_alloc(sizeof *self->lane);
  self->table = ppi_alloc(sizeof *self->table);
  self->before = ppi_alloc(sizeof *self->before);
  if (!self->header || !self->lane || !self->table || !self->before)
    return no_memory(self);
  PPI_TRY(read_header(self, path));
  self->claimed = ppi_alloc(self->header->num_chunks);
  if (!self->claimed) return no_memory(self);
  look_at_lanes(self);
  size_t first = self->out->num_items;
  look_at_tables(self);
  look_at_finished(self);
  if (self->out->num_items > first)
    qsort(self->out->items + first, self->out->num_items - first,
          sizeof *self->out->items, compare_items);
  notify_until(self);
  return self->failed ? no_memory(self) : read_names(self);
}

pprof_status ppi_forensics_read(const char *path, ppi_forensics *out,
                                pprof_error *error) {
  *out = (ppi_forensics){0};
  look self = {.out = out, .error = error};
  pprof_status status = look_at_all(&self, path);
  if (self.fd >= 0) close(self.fd);
  PPI_FREE_ALL(self.header, self.lane, self.before, self.table, self.claimed,
               self.rows);
  return status;
}

void ppi_forensics_clear(ppi_forensics *forensics) {
  ppi_free(forensics->items);
  ppi_free(forensics->names.base);
  *forensics = (ppi_forensics){0};
}

uint32_t ppi_forensics_owner(const char *path) {
  int fd;
  uint64_t size;
  uint32_t pid = 0;
  struct {
    char magic[8];
    uint32_t version, pid;
  } start;
  if (ppi_salvage_open_file(path, &fd, &size, NULL) == PPROF_STATUS_OK &&
      ppi_read_at(fd, &start, sizeof start, 0) &&
      memcmp(start.magic, PPI_SPOOL_MAGIC, sizeof start.magic) == 0)
    pid = ppi_salvage_writer(fd, start.pid);
  if (fd >= 0) close(fd);
  return pid;
}
