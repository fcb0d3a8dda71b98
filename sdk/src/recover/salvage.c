// SPDX-License-Identifier: Apache-2.0
//
// Reads a spool for recover. It brings a private copy to an end as the
// collector would have done, then drains it by the collector's own code. Each
// byte is read once, then checked, then used, so later changes of the file do
// no harm.
#include "recover/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "deliver/drain.h"
#include "deliver/run_info.h"
#include "deliver/totals.h"
#include "mark/thread.h"
#include "recover/salvage_check.h"
#include "spool/spool_read.h"

struct ppi_salvage {
  ppi_spool spool;
  ppi_texts info, notes;
  pprof_run_info run_info;
  uint64_t last_ticks;
  ppi_total *items;
  pprof_totals totals;
  bool ended;
};

uint32_t ppi_salvage_writer(int fd, uint32_t unknown) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  // 0 or less: of another PID namespace, or not a process's.
  return lock.l_pid > 0 ? (uint32_t)lock.l_pid : unknown;
}

static bool is_alive(int fd) {
  return ppi_salvage_writer(fd, 1) != 0;
}

static uint64_t mapped_size(const ppi_spool *spool) {
  return (spool->size / PPI_CHUNK_SIZE + 1 + PPI_SALVAGE_CHUNKS) *
         PPI_CHUNK_SIZE;
}

// Room for a private copy of the file, and behind it for recover's own chunks.
// Unread parts take no memory.
static bool reserve_copy(ppi_spool *spool) {
  void *base = mmap(NULL, mapped_size(spool), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return false;
  spool->base = base;
  spool->header = base;
  return true;
}

bool ppi_salvage_is_in_use(const char *path) {
  struct stat own, other;
  int fd = ppi_recorder_in_force.serial ? ppi_recorder_in_force.spool.fd : -1;
  return fd >= 0 && fstat(fd, &own) == 0 && stat(path, &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

// Not yet a spool, or no session has stored its owner in it.
static bool is_unused(const ppi_spool_header *header) {
  static const char none[sizeof header->magic];
  bool is_made = memcmp(header->magic, none, sizeof none) != 0;
  return !is_made ||
         (memcmp(header->magic, PPI_SPOOL_MAGIC, sizeof none) == 0 &&
          header->version == PPI_SPOOL_VERSION && header->names_end == 0);
}

static pprof_status cut_short(const char *path, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_CORRUPT,
                  "%.160s: it was cut while it was read", path);
}

static bool is_cut(const ppi_spool *spool) {
  struct stat stat;
  return fstat(spool->fd, &stat) != 0 || (uint64_t)stat.st_size < spool->size;
}

// The part of a ring between tail and head, if possible: bytes that have left
// it are unused.
static bool fill_ring(const ppi_spool *spool, uint64_t offset, uint64_t size) {
  const ppi_staging *ring = (const void *)(spool->base + offset);
  if (!ppi_spool_fill(spool, offset, sizeof *ring)) return false;
  uint64_t used = ring->head - ring->tail;
  if (ring->size == 0 || ring->size > size - sizeof *ring || used > ring->size)
    return true;
  uint64_t first = ring->tail % ring->size;
  uint64_t to_end = PPI_MIN(used, ring->size - first);
  offset += sizeof *ring;
  return ppi_spool_fill(spool, offset + first, to_end) &&
         ppi_spool_fill(spool, offset, used - to_end);
}

// Everything before the pool except the header.
static bool fill_front(const ppi_spool *spool) {
  const ppi_spool_header *header = spool->header;
  if (!fill_ring(spool, header->staging_offset, header->staging_size))
    return false;
  if (header->ring_size == 0) return true;
  uint64_t start = header->ring_offset, own = sizeof(ppi_ring);
  return ppi_spool_fill(spool, start, own) &&
         fill_ring(spool, start + own, header->ring_size - own);
}

pprof_status ppi_salvage_open_file(const char *path, int *out_fd,
                                   uint64_t *out_size, pprof_error *error) {
  *out_fd = -1;
  // Closing a file drops this process's locks on it, so its own spool is never
  // opened.
  if (ppi_salvage_is_in_use(path))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "%.140s: this process is writing to it", path);
  struct stat stat;
  *out_fd = ppi_fd_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (*out_fd < 0 || fstat(*out_fd, &stat) != 0)
    return ppi_fail(error, PPROF_STATUS_IO, "%.160s: %s", path,
                    strerror(errno));
  *out_size = (uint64_t)stat.st_size;
  if (!S_ISREG(stat.st_mode) || *out_size < PPI_CHUNK_SIZE)
    return ppi_fail(error, PPROF_STATUS_INVALID, "%.180s: not a spool", path);
  return PPROF_STATUS_OK;
}

static pprof_status read_file(ppi_spool *spool, const char *path, bool live,
                              pprof_error *error) {
  pprof_status status =
      ppi_salvage_open_file(path, &spool->fd, &spool->size, error);
  if (status != PPROF_STATUS_OK) return status;
  if (!reserve_copy(spool))
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "%.160s: %s", path,
                    strerror(errno));
  if (!ppi_spool_fill(spool, 0, PPI_CHUNK_SIZE)) return cut_short(path, error);
  if (!live && is_unused(spool->header))
    return ppi_fail(error, PPROF_STATUS_INVALID, "%.180s: not a spool", path);
  status = ppi_salvage_check_header(spool, path, error);
  if (status != PPROF_STATUS_OK) return status;
  if (!live && is_alive(spool->fd))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "%.140s: process %u is alive and writes to it", path,
                    spool->header->pid);
  return fill_front(spool) ? status : cut_short(path, error);
}

static bool read_texts(ppi_salvage *salvage) {
  uint64_t cursor = 0;
  const ppi_definition_record *record;
  uint64_t end = salvage->spool.header->names_end;
  while ((record = ppi_names_next(&salvage->spool, end, &cursor))) {
    if (record->kind != PPI_DEFINITION_INFO &&
        record->kind != PPI_DEFINITION_NOTE)
      continue;
    const char *value = ppi_names_value(record);
    if (!value) continue;
    ppi_texts *texts =
        record->kind == PPI_DEFINITION_INFO ? &salvage->info : &salvage->notes;
    if (!ppi_texts_add(texts, record->name, value)) return false;
  }
  salvage->run_info =
      (pprof_run_info){salvage->info.items, salvage->info.num, NULL};
  return true;
}

static ppi_table *table_at(const ppi_spool *spool, uint32_t i) {
  uint32_t chunk = spool->header->tables[i];
  return chunk ? ppi_spool_chunk(spool, chunk) : NULL;
}

// The latest time at which the process surely lived.
static uint64_t find_last_ticks(const ppi_spool *spool) {
  uint64_t last =
      PPI_MAX(spool->header->last_ticks, spool->header->start_ticks);
  for (uint32_t i = 0; i < spool->header->num_lane_slots; i++) {
    const ppi_lane *lane = ppi_spool_lane(spool, i);
    if (!lane) continue;
    uint64_t word = ppi_lane_word(lane);
    uint32_t open = ppi_lane_num_open(lane, word);
    if (open) last = PPI_MAX(last, ppi_lane_frames(lane)[open - 1].start);
    if (PPI_HEAD(word) <= lane->kept) continue;
    const ppi_record *record =
        ppi_lane_slot(spool->base, lane, PPI_HEAD(word) - 1);
    last = PPI_MAX(
        last, record->kind == PPROF_KIND_COUNTER ? record->start : record->end);
  }
  for (uint32_t t = 0; t < spool->header->num_tables; t++) {
    const ppi_table *table = table_at(spool, t);
    for (uint32_t i = 0; table && i < table->num_slots; i++) {
      uint32_t state = PPI_STATE_OF(table->states[i]);
      if (state == PPI_SLOT_FREE) continue;
      const ppi_slot *slot = ppi_table_slot(spool->base, table, i);
      last = PPI_MAX(last, slot->start);
      if (state >= PPI_SLOT_ENDED) last = PPI_MAX(last, slot->end);
    }
  }
  return last + 1;  // windows end before their closing edge
}

static pprof_status open_salvage(const char *path, bool live, ppi_salvage **out,
                                 pprof_error *error) {
  ppi_salvage *salvage = ppi_alloc(sizeof *salvage);
  if (!salvage) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  salvage->spool.fd = -1;
  pprof_status status = read_file(&salvage->spool, path, live, error);
  if (status == PPROF_STATUS_OK &&
      (ppi_salvage_check(&salvage->spool) != PPROF_STATUS_OK ||
       !read_texts(salvage)))
    status = ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  if (status == PPROF_STATUS_OK && is_cut(&salvage->spool))
    status = cut_short(path, error);
  if (status != PPROF_STATUS_OK) {
    ppi_salvage_close(salvage);
    return status;
  }
  salvage->last_ticks = find_last_ticks(&salvage->spool);
  *out = salvage;
  return PPROF_STATUS_OK;
}

pprof_status ppi_salvage_open(const char *path, ppi_salvage **out,
                              pprof_error *error) {
  return open_salvage(path, false, out, error);
}

pprof_status ppi_salvage_open_live(const char *path, ppi_salvage **out,
                                   pprof_error *error) {
  return open_salvage(path, true, out, error);
}

void ppi_salvage_close(ppi_salvage *salvage) {
  if (!salvage) return;
  if (salvage->spool.base)
    munmap(salvage->spool.base, mapped_size(&salvage->spool));
  if (salvage->spool.fd >= 0) close(salvage->spool.fd);
  ppi_texts_clear(&salvage->info);
  ppi_texts_clear(&salvage->notes);
  ppi_free(salvage->items);
  ppi_free(salvage);
}

bool ppi_salvage_is_own(const ppi_salvage *salvage) {
  struct stat stat;
  return fstat(salvage->spool.fd, &stat) == 0 && stat.st_uid == geteuid();
}

// A spool of a dead process of this user; its header is read as far as
// possible.
static bool read_left(const char *path, ppi_spool_header *header,
                      struct stat *out) {
  int fd = ppi_salvage_is_in_use(path)
               ? -1
               : ppi_fd_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return false;
  memset(header, 0, sizeof *header);
  bool left = fstat(fd, out) == 0 && S_ISREG(out->st_mode) &&
              out->st_uid == geteuid() &&
              pread(fd, header, sizeof *header, 0) >= 0 && !is_alive(fd);
  close(fd);
  return left;
}

bool ppi_salvage_is_unused(const char *path) {
  ppi_spool_header header;
  struct stat stat;
  return read_left(path, &header, &stat) && is_unused(&header);
}

bool ppi_salvage_is_left(const char *path, struct stat *out) {
  ppi_spool_header header;
  return read_left(path, &header, out) &&
         memcmp(header.magic, PPI_SPOOL_MAGIC, sizeof header.magic) == 0;
}

// Another kind of lock than the lock of the living process. A file system
// without such locks does without.
bool ppi_salvage_claim(const ppi_salvage *salvage) {
  struct stat stat;
  if (flock(salvage->spool.fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return false;
  return fstat(salvage->spool.fd, &stat) == 0 && stat.st_nlink > 0;
}

const pprof_run_info *ppi_salvage_run_info(const ppi_salvage *salvage) {
  return &salvage->run_info;
}

const ppi_staging *ppi_salvage_staging(const ppi_salvage *salvage) {
  const ppi_staging *staging = ppi_spool_staging(&salvage->spool);
  uint64_t room = salvage->spool.header->staging_size - sizeof *staging;
  if (!staging->claimed || staging->size > room ||
      !memchr(staging->log_path, 0, sizeof staging->log_path))
    return NULL;
  return staging;
}

const ppi_ring *ppi_salvage_ring(const ppi_salvage *salvage) {
  const ppi_spool_header *header = salvage->spool.header;
  if (header->ring_size == 0) return NULL;
  const ppi_ring *ring =
      (const void *)(salvage->spool.base + header->ring_offset);
  const ppi_staging *blocks = ppi_ring_blocks(ring);
  uint64_t room = header->ring_size - sizeof *ring - sizeof *blocks;
  if (!blocks->claimed || blocks->size > room ||
      !memchr(blocks->log_path, 0, sizeof blocks->log_path))
    return NULL;
  return ring;
}

uint64_t ppi_salvage_dropped(const ppi_salvage *salvage, uint32_t lane) {
  const ppi_spool *spool = &salvage->spool;
  for (uint32_t i = 0; i < spool->header->num_lane_slots; i++) {
    const ppi_lane *found = ppi_spool_lane(spool, i);
    if (found && found->id == lane) return found->dropped;
  }
  for (uint32_t i = 0; i < spool->header->num_tables; i++) {
    const ppi_table *table = table_at(spool, i);
    if (table && table->lane == lane) return table->dropped;
  }
  return 0;
}

uint64_t ppi_salvage_first(const ppi_salvage *salvage, uint32_t lane) {
  const ppi_lane *found = lane && lane <= salvage->spool.header->num_lane_slots
                              ? ppi_spool_lane(&salvage->spool, lane - 1)
                              : NULL;
  return found ? found->first_number : 0;
}

uint64_t ppi_salvage_last_time_ns(const ppi_salvage *salvage) {
  const ppi_spool_header *header = salvage->spool.header;
  ppi_scale scale =
      ppi_scale_make(header->start_ticks, header->ticks_per_second);
  return ppi_scale_ns(&scale, salvage->last_ticks);
}

// The process's death is an edge like any other: it closes the window and cuts
// open ranges.
static void append_last_edge(ppi_salvage *salvage) {
  ppi_spool_header *header = salvage->spool.header;
  ppi_edge edge = {.ticks = salvage->last_ticks, .flags = PPI_EDGE_STOP};
  if (header->num_edges > 0) {
    const ppi_edge *before =
        &header->edges[(header->num_edges - 1) % PPI_MAX_EDGES];
    if (before->flags & PPI_EDGE_STOP) return;
    edge.old_epoch = before->new_epoch;
    if (before->flags & PPI_EDGE_OPENS) {
      edge.flags |= PPI_EDGE_CLOSES;
      edge.window = before->window;
    }
  }
  ppi_edge_append(header, &edge);
}

static void bring_to_an_end(ppi_salvage *salvage) {
  if (salvage->ended) return;
  salvage->ended = true;
  ppi_spool *spool = &salvage->spool;
  spool->header->last_ticks = salvage->last_ticks;
  append_last_edge(salvage);
  for (uint32_t i = 0; i < spool->header->num_lane_slots; i++) {
    ppi_lane *lane = ppi_spool_lane(spool, i);
    if (lane && PPI_DEPTH(ppi_lane_word(lane)) != 0)
      ppi_lane_cut(spool, lane, 0);
  }
  for (uint32_t t = 0; t < spool->header->num_tables; t++) {
    ppi_table *table = table_at(spool, t);
    for (uint32_t i = 0; table && i < table->num_slots; i++) {
      uint32_t state = PPI_STATE_OF(table->states[i]);
      ppi_slot *slot = ppi_table_slot(spool->base, table, i);
      if (state == PPI_SLOT_FREE || state == PPI_SLOT_RESOLVED) continue;
      if (slot->provisional || PPI_TABLE_GOING(table) == i + 1) {
        table->states[i] = PPI_STATE(0, 0, PPI_SLOT_FREE);
        continue;
      }
      if (state != PPI_SLOT_ENDED) {
        slot->end = salvage->last_ticks;
        slot->flags |= PPROF_FLAG_CLIPPED;
      }
      if (slot->kind == PPROF_KIND_DEVICE_RANGE)
        slot->flags |= PPROF_FLAG_NO_DEVICE_TIME;
      table->states[i] = PPI_STATE(0, 0, PPI_SLOT_ENDED);
    }
  }
}

typedef struct kept_query {
  uint64_t (*kept)(void *user, uint32_t lane);
  void *user;
} kept_query;

static uint64_t first_wanted(const kept_query *query, uint32_t lane,
                             uint64_t kept_here) {
  uint64_t kept = query->kept ? query->kept(query->user, lane) : 0;
  // Offsets from a damaged log lead nowhere.
  return PPI_MIN(PPI_MAX(kept, kept_here), UINT64_MAX - PPI_FIRST_SLOT);
}

// In order: of their numbers, or of the ends of ranges without one.
static size_t list_slots(const ppi_spool *spool, const ppi_table *table,
                         uint32_t kind, ppi_slot_order *list) {
  size_t num = 0;
  for (uint32_t i = 0; i < table->num_slots; i++) {
    uint64_t state = table->states[i];
    if (PPI_STATE_OF(state) != kind) continue;
    uint64_t end = ppi_table_slot(spool->base, table, i)->end;
    list[num++] = (ppi_slot_order){
        kind == PPI_SLOT_RESOLVED ? PPI_STATE_SEQ(state) : end, i};
  }
  ppi_slots_sort(list, num);
  return num;
}

static pprof_status deliver_table(ppi_drain *drain, const ppi_table *table,
                                  uint64_t from, ppi_slot_order *list) {
  const size_t resolved =
      list_slots(drain->spool, table, PPI_SLOT_RESOLVED, list);
  const size_t num = resolved + list_slots(drain->spool, table, PPI_SLOT_ENDED,
                                           list + resolved);
  uint64_t next = PPI_MAX(table->next_seq, from);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < num && status == PPROF_STATUS_OK; i++) {
    if (i < resolved && list[i].order < from) continue;
    uint64_t seq = i < resolved ? list[i].order : next;
    next = PPI_MAX(next, seq + 1);
    ppi_slot *slot = ppi_table_slot(drain->spool->base, table, list[i].index);
    ppi_drain_begin(drain, table->lane, seq);
    ppi_drain_slot(drain, slot, &status);
    if (status == PPROF_STATUS_OK) status = ppi_drain_flush(drain);
  }
  return status;
}

static pprof_status deliver_records(ppi_salvage *salvage, ppi_drain *drain,
                                    const kept_query *query) {
  const ppi_spool *spool = &salvage->spool;
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t i = 0; i < spool->header->num_lane_slots; i++) {
    const ppi_lane *lane = ppi_spool_lane(spool, i);
    if (!lane || status != PPROF_STATUS_OK) continue;
    uint64_t from =
        PPI_FIRST_SLOT - lane->first_number +
        first_wanted(query, lane->id, ppi_lane_number(lane, lane->kept));
    ppi_tally_add(
        &drain->tally, lane->id, PPI_TOTAL_EXCLUDED,
        ppi_drain_excluded(drain, lane, lane->kept,
                           PPI_MIN(from, PPI_HEAD(ppi_lane_word(lane)))));
    status = ppi_drain_lane(drain, lane, from, PPI_HEAD(ppi_lane_word(lane)));
  }
  ppi_slot_order *list = ppi_alloc(PPI_TABLE_SLOTS * sizeof *list);
  if (!list) return PPROF_STATUS_NO_MEMORY;
  for (uint32_t t = 0; t < spool->header->num_tables; t++) {
    const ppi_table *table = table_at(spool, t);
    if (!table || status != PPROF_STATUS_OK) continue;
    uint64_t from = first_wanted(query, table->lane, table->kept);
    status = deliver_table(drain, table, from, list);
  }
  ppi_free(list);
  return status;
}

static pprof_status count(ppi_salvage *salvage, const ppi_drain *drain) {
  const ppi_spool *spool = &salvage->spool;
  ppi_tally tally = {0};
  // The caller counts records in the log and delivered ones; this adds the
  // counts that only the spool has. Lanes that are gone are known as a sum.
  const ppi_spool_header *header = spool->header;
  ppi_tally_add_row(&tally, 0, header->retired[header->retired_word & 1]);
  for (uint32_t i = 0; i < spool->header->num_tables; i++) {
    const ppi_table *table = table_at(spool, i);
    if (table)
      ppi_tally_add(&tally, 0, PPI_TOTAL_EXCLUDED, PPI_TABLE_GONE(table));
  }
  for (uint32_t i = 0; i < spool->header->num_lane_slots; i++) {
    const ppi_lane *lane = ppi_spool_lane(spool, i);
    // A lane that was about to go is in the sum.
    if (!lane || (header->retired_word != 0 &&
                  header->retired_word >> 1 == lane->serial))
      continue;
    ppi_totals_add_lane(&tally, lane);
    ppi_tally_add(&tally, lane->id, PPI_TOTAL_EXCLUDED, ppi_lane_gone(lane));
  }
  for (size_t i = 0; i < drain->tally.num_lanes; i++)
    ppi_tally_add(&tally, (uint32_t)i, PPI_TOTAL_EXCLUDED,
                  drain->tally.lanes[i][PPI_TOTAL_EXCLUDED]);
  ppi_free(salvage->items);
  salvage->items = NULL;
  pprof_status status = ppi_totals_build(&tally, spool, &salvage->items,
                                         &salvage->totals.num_items);
  salvage->totals.items = salvage->items;
  salvage->totals.notes = salvage->notes.items;
  salvage->totals.num_notes = salvage->notes.num;
  ppi_tally_clear(&tally);
  return status;
}

pprof_status ppi_salvage_deliver(ppi_salvage *salvage,
                                 uint64_t (*kept)(void *user, uint32_t lane),
                                 void *user, bool windows, pprof_sink *sink) {
  bring_to_an_end(salvage);
  ppi_drain drain;
  pprof_status status = ppi_drain_init(&drain, &salvage->spool, sink);
  if (status != PPROF_STATUS_OK) return status;
  drain.silent_windows = !windows;
  const kept_query query = {kept, user};
  status = ppi_drain_definitions(&drain, salvage->spool.header->names_end);
  if (status == PPROF_STATUS_OK) status = ppi_drain_edges(&drain);
  PPI_THEN(status, deliver_records(salvage, &drain, &query));
  pprof_status counted = count(salvage, &drain);
  ppi_drain_clear(&drain);
  return status != PPROF_STATUS_OK ? status : counted;
}

const pprof_totals *ppi_salvage_totals(const ppi_salvage *salvage) {
  return &salvage->totals;
}
