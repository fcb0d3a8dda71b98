// SPDX-License-Identifier: Apache-2.0
//
// Gives slots to threads. A group of slots belongs to a thread from its first
// use on. Its free slots are in that thread's stock, from which others take
// only when everything else is used up. The thread moves a few at a time into
// its block, which needs no atomic operations.
#include "mark/range_slots.h"

// A line of links to the next free one, four lines of states.
#define GROUP 32u
#define NUM_GROUPS (PPI_TABLE_SLOTS / GROUP + 1)
#define MOST_AT_ONCE 16u

// One session at a time. Two threads share a stock where there are more than
// PPI_STOCKS of them.
static struct {
  ppi_stock stocks[PPI_STOCKS];
  uint32_t next_unused __attribute__((aligned(64)));  // atomic
  uint32_t num_stocks;        // atomic: those from here on never had a slot
  bool is_whole;              // atomic: the table does not grow
  uint8_t homes[NUM_GROUPS];  // a stock; atomic, written before the first use
} slots;

void ppi_range_slots_begin(void) {
  for (uint32_t i = 0; i < PPI_STOCKS; i++) slots.stocks[i].list = 0;
  slots.next_unused = 0;
  slots.num_stocks = 0;
  slots.is_whole = false;
}

// Slots in a thread's block are of no use to others, so a small table allows
// only few. All blocks together have only a part of the table, however many
// threads there are.
static uint32_t most_at_once(const ppi_table *table, uint32_t number) {
  uint32_t all = __atomic_load_n(&slots.is_whole, __ATOMIC_RELAXED)
                     ? ppi_table_num_slots(table)
                     : table->max_slots;
  uint32_t most = PPI_MIN(MOST_AT_ONCE, 1 + all / 256);
  return PPI_MIN(most, 1 + all / 8 / (number + 1));
}

static uint32_t link_of(const ppi_table *table, uint32_t slot) {
  return __atomic_load_n(&table->next_free[slot - 1], __ATOMIC_RELAXED);
}

// The first `most` of a list, linked. If another thread changes the links
// meanwhile, the head's generation changes, too.
static uint32_t take_chain(ppi_table *table, uint64_t *list, uint32_t most) {
  uint64_t head = __atomic_load_n(list, __ATOMIC_ACQUIRE);
  while ((uint32_t)head != 0) {
    uint32_t last = (uint32_t)head;
    uint32_t next = link_of(table, last);
    for (uint32_t i = 1; i < most && next; i++) {
      last = next;
      next = link_of(table, last);
    }
    uint64_t wanted = ppi_list_word(head, next);
    if (!__atomic_compare_exchange_n(list, &head, wanted, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    __atomic_store_n(&table->next_free[last - 1], 0, __ATOMIC_RELAXED);
    return (uint32_t)head;
  }
  return 0;
}

// Gives a group of unused slots to the stock.
static bool take_group(ppi_table *table, uint32_t stock) {
  uint32_t from = __atomic_load_n(&slots.next_unused, __ATOMIC_RELAXED);
  uint32_t end;
  do {
    uint32_t num = ppi_table_num_slots(table);
    end = PPI_MIN(from / GROUP * GROUP + GROUP, num);
    if (from >= num) return false;
  } while (!__atomic_compare_exchange_n(&slots.next_unused, &from, end, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  // If the table has grown since, another stock may have a part of the group:
  // that part moves with the rest from now on.
  __atomic_store_n(&slots.homes[from / GROUP], (uint8_t)stock,
                   __ATOMIC_RELAXED);
  uint32_t num = __atomic_load_n(&slots.num_stocks, __ATOMIC_RELAXED);
  while (num <= stock &&
         !__atomic_compare_exchange_n(&slots.num_stocks, &num, stock + 1, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  for (uint32_t i = end; i-- > from;)
    ppi_slots_give(table, &slots.stocks[stock].list, i);
  return true;
}

static bool grow(ppi_table *table) {
  bool grown = ppi_table_grow(&ppi_recorder_in_force.spool, table);
  __atomic_store_n(&slots.is_whole, !grown, __ATOMIC_RELAXED);
  return grown;
}

// Slots of idle threads are not lost.
static uint32_t take_from_any(ppi_table *table) {
  uint32_t num = __atomic_load_n(&slots.num_stocks, __ATOMIC_RELAXED);
  uint32_t taken = 0;
  for (uint32_t i = 0; i < num && !taken; i++)
    taken = ppi_slots_take(table, &slots.stocks[i].list);
  return taken;
}

__attribute__((noinline)) uint32_t ppi_range_slot_refill(ppi_table *table,
                                                         ppi_thread *thread) {
  uint32_t stock = thread ? thread->number % PPI_STOCKS : 0;
  uint32_t most = thread ? most_at_once(table, thread->number) : 1;
  uint32_t first = 0;
  do {
    first = take_chain(table, &slots.stocks[stock].list, most);
  } while (!first && (take_group(table, stock) || grow(table)));
  if (!thread) return first ? first : take_from_any(table);
  thread->ranges_serial = ppi_recorder_in_force.serial;
  thread->range_slot = thread->range_ahead = first;
  for (uint32_t i = 0; i < PPI_RANGES_AHEAD; i++)
    ppi_range_slot_fetch(table, thread);
  if (first) thread->range_slot = link_of(table, first);
  return first ? first : take_from_any(table);
}

void ppi_range_slot_give(ppi_table *table, uint32_t index) {
  uint8_t home = __atomic_load_n(&slots.homes[index / GROUP], __ATOMIC_RELAXED);
  ppi_slots_give(table, &slots.stocks[home].list, index);
}
