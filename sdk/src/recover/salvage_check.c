// SPDX-License-Identifier: Apache-2.0
//
// Checks a spool before it is used. No chunk serves twice: two lanes that share
// one could rewrite each other after their check.
#include "recover/salvage_check.h"

#include "base/mem.h"
#include "spool/lane.h"
#include "spool/spool_read.h"

static bool lies_inside(const ppi_spool *spool, uint64_t offset,
                        uint64_t size) {
  return offset <= spool->size && size <= spool->size - offset;
}

// A flight recorder's ring, between the log writer's and the pool.
static bool is_ring_sane(const ppi_spool *spool) {
  const ppi_spool_header *header = spool->header;
  if (header->ring_size == 0) return true;
  return lies_inside(spool, header->ring_offset, header->ring_size) &&
         header->ring_offset >= PPI_CHUNK_SIZE &&
         header->ring_offset % 8 == 0 &&
         header->ring_offset + header->ring_size <=
             (uint64_t)header->pool_first * PPI_CHUNK_SIZE &&
         header->ring_size > sizeof(ppi_ring) + sizeof(ppi_staging);
}

static bool is_geometry_sane(const ppi_spool *spool) {
  const ppi_spool_header *header = spool->header;
  uint64_t pool = (uint64_t)header->pool_first * PPI_CHUNK_SIZE;
  return (uint64_t)header->num_chunks * PPI_CHUNK_SIZE <= spool->size &&
         header->pool_first < header->num_chunks &&
         header->ticks_per_second >= 1000 &&
         lies_inside(spool, header->staging_offset, header->staging_size) &&
         header->staging_offset >= PPI_CHUNK_SIZE &&
         header->staging_offset + header->staging_size <= pool &&
         header->staging_size > sizeof(ppi_staging) && is_ring_sane(spool) &&
         header->staging_offset % 8 == 0;
}

pprof_status ppi_salvage_check_header(const ppi_spool *spool, const char *path,
                                      pprof_error *error) {
  const ppi_spool_header *header = spool->header;
  if (memcmp(header->magic, PPI_SPOOL_MAGIC, sizeof header->magic) != 0)
    return ppi_fail(error, PPROF_STATUS_INVALID, "%.180s: not a spool", path);
  if (header->version != PPI_SPOOL_VERSION)
    return ppi_fail(error, PPROF_STATUS_VERSION,
                    "%.140s: spool version %u, this program reads %u", path,
                    header->version, PPI_SPOOL_VERSION);
  if (!is_geometry_sane(spool))
    return ppi_fail(error, PPROF_STATUS_CORRUPT,
                    "%.160s: the spool's header makes no sense", path);
  return PPROF_STATUS_OK;
}

// Claims a chunk and reads it.
static bool claim(const ppi_spool *spool, uint8_t *claimed, uint64_t chunk) {
  return ppi_salvage_take(spool->header, claimed, chunk, 0xff) &&
         ppi_spool_fill(spool, chunk * PPI_CHUNK_SIZE, PPI_CHUNK_SIZE);
}

static bool claim_lane(const ppi_spool *spool, uint8_t *claimed,
                       uint64_t number) {
  return ppi_salvage_take_lane(spool->header, claimed, number) &&
         ppi_spool_fill(spool, number * PPI_LANE_SIZE, PPI_LANE_SIZE);
}

// Frames that only keep the balance have no slot.
static uint64_t num_to_come(const ppi_lane *lane, uint64_t open) {
  uint64_t num = 0;
  for (uint64_t i = 0; i < open; i++)
    num += !(ppi_lane_frames(lane)[i].flags & PPI_FRAME_UNRECORDED);
  return num;
}

// A lane's frames lie in the lane, or in a chunk of its own. A lane without
// open frames may have given that chunk back.
static bool check_frames(const ppi_spool *spool, uint8_t *claimed,
                         ppi_lane *lane) {
  uint64_t word = ppi_lane_word(lane);
  bool is_deep = lane->frames_at != PPI_OWN_FRAMES_AT && PPI_DEPTH(word) != 0;
  uint32_t most = is_deep ? PPI_MAX_FRAMES : PPI_LANE_FRAMES;
  if (!is_deep) lane->frames_at = PPI_OWN_FRAMES_AT;
  lane->num_frames = PPI_MIN(lane->num_frames, most);
  uint64_t at =
      (uint64_t)((uint8_t *)lane - spool->base) + (uint64_t)lane->frames_at;
  if (is_deep &&
      (at % PPI_CHUNK_SIZE != 0 || !claim(spool, claimed, at / PPI_CHUNK_SIZE)))
    return false;
  for (uint64_t i = 0; i < ppi_lane_num_open(lane, word); i++) {
    ppi_frame *frame = ppi_lane_frames(lane) + i;
    if (frame->num_flows > PPI_MAX_FLOWS) frame->num_flows = 0;
  }
  return true;
}

// Chunk `k` of the lane's directory: the first is the lane itself.
static bool check_chunk(const ppi_spool *spool, uint8_t *claimed,
                        const ppi_lane *lane, uint64_t k) {
  uint32_t unit = lane->directory[k % PPI_LANE_CHUNKS];
  if (k == 0) return unit == ppi_lane_first_unit(spool->base, lane);
  return unit % PPI_UNITS_PER_CHUNK == 0 &&
         claim(spool, claimed, unit / PPI_UNITS_PER_CHUNK);
}

// The slots from the kept ones up to what open frames need must lie in chunks
// of the lane's own; below and above that a kill leaves harmless leftovers.
static bool check_lane(const ppi_spool *spool, uint8_t *claimed,
                       ppi_lane *lane) {
  uint64_t word = ppi_lane_word(lane);
  uint64_t head = PPI_HEAD(word);
  if (!check_frames(spool, claimed, lane)) return false;
  uint64_t need = head + num_to_come(lane, ppi_lane_num_open(lane, word));
  uint64_t first = lane->kept / PPI_SLOTS_PER_CHUNK;
  uint64_t end = (need + PPI_SLOTS_PER_CHUNK - 1) / PPI_SLOTS_PER_CHUNK;
  if (lane->kept < PPI_FIRST_SLOT || lane->kept > head ||
      need > lane->capacity || lane->freed_chunks > first ||
      end - first > PPI_LANE_CHUNKS)
    return false;
  // Nothing is left to read; its chunks may belong to others already.
  if (need == lane->kept) end = first;
  for (uint64_t k = first; k < end; k++)
    if (!check_chunk(spool, claimed, lane, k)) return false;
  lane->capacity = end * PPI_SLOTS_PER_CHUNK;
  lane->freed_chunks = first;
  return true;
}

static void check_lanes(ppi_spool *spool, uint8_t *claimed) {
  ppi_spool_header *header = spool->header;
  header->num_lane_slots = PPI_MIN(header->num_lane_slots, PPI_MAX_LANES);
  for (uint32_t i = 0; i < header->num_lane_slots; i++) {
    bool good = claim_lane(spool, claimed, header->lanes[i]);
    ppi_lane *lane = good ? ppi_spool_lane(spool, i) : NULL;
    good = ppi_lane_is_used(lane) && lane->id == i + 1 &&
           lane->first_number <= UINT64_MAX >> 16;
    if (!good || !check_lane(spool, claimed, lane)) header->lanes[i] = 0;
  }
}

static bool check_table(const ppi_spool *spool, uint8_t *claimed,
                        const ppi_table *table) {
  uint32_t num;
  if (!ppi_salvage_table_chunks(table, &num)) return false;
  for (uint32_t k = 0; k < num; k++)
    if (!claim(spool, claimed, table->chunks[k])) return false;
  return true;
}

static void check_tables(ppi_spool *spool, uint8_t *claimed) {
  ppi_spool_header *header = spool->header;
  header->num_tables = PPI_MIN(header->num_tables, PPI_MAX_TABLES);
  for (uint32_t i = 0; i < header->num_tables; i++) {
    bool good = claim(spool, claimed, header->tables[i]);
    const ppi_table *table =
        good ? ppi_spool_chunk(spool, header->tables[i]) : NULL;
    if (!good || !check_table(spool, claimed, table)) header->tables[i] = 0;
  }
}

// Names are trusted up to the first invalid chunk.
static void check_names(ppi_spool *spool, uint8_t *claimed) {
  ppi_spool_header *header = spool->header;
  uint64_t most = (uint64_t)PPI_NAMES_CHUNKS * PPI_CHUNK_SIZE;
  uint64_t end = PPI_MIN(header->names_end, most);
  for (uint64_t at = 0; at < end; at += PPI_CHUNK_SIZE)
    if (!claim(spool, claimed, header->names[at / PPI_CHUNK_SIZE])) end = at;
  header->names_end = end;
}

pprof_status ppi_salvage_check(ppi_spool *spool) {
  ppi_spool_header *header = spool->header;
  uint8_t *claimed = ppi_alloc(header->num_chunks);
  if (!claimed) return PPROF_STATUS_NO_MEMORY;
  check_names(spool, claimed);
  check_tables(spool, claimed);
  check_lanes(spool, claimed);
  ppi_free(claimed);
  header->free_list = 0;
  header->num_free = 0;
  header->untouched = (uint32_t)(spool->size / PPI_CHUNK_SIZE);
  header->num_chunks = header->untouched + PPI_SALVAGE_CHUNKS;
  header->num_allocated = 0;
  return PPROF_STATUS_OK;
}
