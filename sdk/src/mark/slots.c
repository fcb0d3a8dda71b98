// SPDX-License-Identifier: Apache-2.0
//
// Keeps tables of slots: their chunks and the free lists over them. Markers and
// the collector take and give; all of it is lock-free.
#include "mark/slots.h"

#include "spool/chunks.h"

// The chunk may have served before: ends of earlier ranges still read its
// slots.
static bool use_chunk(const ppi_spool *spool, ppi_table *table, uint32_t num,
                      uint32_t chunk) {
  uint32_t none = 0;
  memset(ppi_spool_chunk(spool, chunk), 0, PPI_CHUNK_SIZE);
  return __atomic_compare_exchange_n(&table->chunks[num], &none, chunk, false,
                                     __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// The second thread finds the chunk there, and counts it if the first has not.
bool ppi_table_grow(ppi_spool *spool, ppi_table *table) {
  uint32_t slots = ppi_table_num_slots(table);
  uint32_t num = slots / (uint32_t)PPI_SLOTS_PER_TABLE_CHUNK;
  if (slots >= table->max_slots) return false;
  if (__atomic_load_n(&table->chunks[num], __ATOMIC_ACQUIRE) == 0) {
    uint32_t chunk = ppi_chunk_take(spool);
    if (!chunk) return false;
    if (!use_chunk(spool, table, num, chunk)) ppi_chunk_give(spool, chunk);
  }
  __atomic_compare_exchange_n(&table->num_slots, &slots,
                              slots + (uint32_t)PPI_SLOTS_PER_TABLE_CHUNK,
                              false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  return true;
}

ppi_table *ppi_table_create(ppi_spool *spool, uint32_t lane, uint32_t device,
                            uint32_t num_chunks, uint32_t max_chunks) {
  ppi_spool_header *header = spool->header;
  max_chunks = PPI_MIN(PPI_MAX(max_chunks, 1u), PPI_TABLE_CHUNKS);
  if (header->num_tables >= PPI_MAX_TABLES) return NULL;
  num_chunks = PPI_MIN(num_chunks, max_chunks);
  ppi_spool_allocate_for(spool, 1 + num_chunks);
  uint32_t chunk = ppi_chunk_take(spool);
  if (!chunk) return NULL;
  ppi_table *table = ppi_spool_chunk(spool, chunk);
  memset(table, 0, sizeof *table);
  table->lane = lane;
  table->device = device;
  table->max_slots = max_chunks * (uint32_t)PPI_SLOTS_PER_TABLE_CHUNK;
  for (uint32_t i = 0; i < num_chunks && ppi_table_grow(spool, table); i++) {
  }
  if (table->num_slots == 0) {
    ppi_chunk_give(spool, chunk);
    return NULL;
  }
  header->tables[header->num_tables] = chunk;
  __atomic_store_n(&header->num_tables, header->num_tables + 1,
                   __ATOMIC_RELEASE);
  return table;
}

uint32_t ppi_slots_take(ppi_table *table, uint64_t *list) {
  uint64_t head = __atomic_load_n(list, __ATOMIC_ACQUIRE);
  while ((uint32_t)head != 0) {
    uint32_t next = __atomic_load_n(&table->next_free[(uint32_t)head - 1],
                                    __ATOMIC_RELAXED);
    uint64_t wanted = ppi_list_word(head, next);
    if (__atomic_compare_exchange_n(list, &head, wanted, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return (uint32_t)head;
  }
  return 0;
}

void ppi_slots_give(ppi_table *table, uint64_t *list, uint32_t index) {
  uint64_t head = __atomic_load_n(list, __ATOMIC_RELAXED);
  uint64_t wanted;
  do {
    __atomic_store_n(&table->next_free[index], (uint16_t)head,
                     __ATOMIC_RELAXED);
    wanted = ppi_list_word(head, index + 1);
  } while (!__atomic_compare_exchange_n(list, &head, wanted, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void ppi_slot_exclude(ppi_table *table, uint32_t index) {
  uint64_t num = PPI_TABLE_GONE(table) + 1;
  uint64_t state = __atomic_load_n(&table->states[index], __ATOMIC_RELAXED);
  uint32_t gen = PPI_STATE_GEN(state);
  __atomic_store_n(&table->excluded, num << 16 | (index + 1), __ATOMIC_RELEASE);
  __atomic_store_n(&table->states[index], PPI_STATE(0, gen, PPI_SLOT_FREE),
                   __ATOMIC_RELEASE);
  __atomic_store_n(&table->excluded, num << 16, __ATOMIC_RELEASE);
}
