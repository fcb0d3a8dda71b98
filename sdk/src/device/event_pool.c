// SPDX-License-Identifier: Apache-2.0
//
// Fills event pools: makes event pairs, gives their slots out, takes them back.
#include "device/event_pool.h"

// The head of a list of chains is taken with all that hangs on it.
static uint32_t take_chain(ppi_device_session *session, ppi_event_pool *pool) {
  uint64_t head = __atomic_load_n(&pool->chains, __ATOMIC_ACQUIRE);
  while ((uint32_t)head != 0) {
    const ppi_pair *pair = &session->pairs[(uint32_t)head - 1];
    uint32_t next = __atomic_load_n(&pair->next_chain, __ATOMIC_RELAXED);
    uint64_t wanted = ppi_list_word(head, next);
    if (!__atomic_compare_exchange_n(&pool->chains, &head, wanted, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    __atomic_fetch_sub(&pool->num_free, pair->num_chain, __ATOMIC_RELAXED);
    return (uint32_t)head;
  }
  return 0;
}

// Puts the chain that begins with slot `first` - 1 in front of a stock.
static void stock_chain(ppi_table *table, ppi_stock *stock, uint32_t first) {
  uint32_t last = first;
  for (uint32_t next = first; next; next = table->next_free[last - 1])
    last = next;
  uint64_t head = __atomic_load_n(&stock->list, __ATOMIC_RELAXED);
  uint64_t wanted;
  do {
    __atomic_store_n(&table->next_free[last - 1], (uint16_t)head,
                     __ATOMIC_RELAXED);
    wanted = ppi_list_word(head, first);
  } while (!__atomic_compare_exchange_n(&stock->list, &head, wanted, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

// Slots of idle threads are not lost.
static uint32_t take_from_any_stock(ppi_device_session *session,
                                    uint32_t pool) {
  uint32_t taken = 0;
  for (uint32_t i = 0; i < PPI_STOCKS && !taken; i++)
    taken = ppi_slots_take(session->table, &session->stocks[pool][i].list);
  return taken;
}

// A batch of slots from those that were put by, each with its events: the first
// is the caller's, the others go into its stock. 0: there are none.
static uint32_t make_early(ppi_device_session *session, uint32_t pool,
                           ppi_stock *stock) {
  const pprof_device *device = session->device;
  ppi_event_pool *it = &session->pools[pool];
  void *events[2 * PPI_STOCK_BATCH];
  if (__atomic_load_n(&session->next_early, __ATOMIC_RELAXED) +
              PPI_STOCK_BATCH >
          session->num_early ||
      __atomic_load_n(&it->filled, __ATOMIC_RELAXED) ||
      ppi_device_has_failed(session) || ppi_pool_is_gone(session, pool))
    return 0;
  uint32_t at = __atomic_fetch_add(&session->next_early, PPI_STOCK_BATCH,
                                   __ATOMIC_RELAXED);
  if (at + PPI_STOCK_BATCH > session->num_early) return 0;
  pprof_status status = device->backend->event_create(
      device->context, it->id, 2 * PPI_STOCK_BATCH, events);
  ppi_pool_note_status(session, pool, status);
  if (status != PPROF_STATUS_OK) return 0;
  const uint32_t *slots = session->early + at;
  for (uint32_t i = 0; i < PPI_STOCK_BATCH; i++) {
    uint32_t next = i + 1 < PPI_STOCK_BATCH ? slots[i + 1] + 1 : 0;
    ppi_pair_set(&session->pairs[slots[i]], events[2 * i], events[2 * i + 1]);
    session->pairs[slots[i]].pool = (uint8_t)pool;
    __atomic_store_n(&session->table->next_free[slots[i]], (uint16_t)next,
                     __ATOMIC_RELAXED);
  }
  __atomic_fetch_add(&it->num_early, PPI_STOCK_BATCH, __ATOMIC_RELAXED);
  stock_chain(session->table, stock, slots[1] + 1);
  return slots[0] + 1;
}

static __attribute__((noinline)) uint32_t restock(ppi_device_session *session,
                                                  uint32_t pool,
                                                  ppi_stock *stock) {
  uint32_t taken = take_chain(session, &session->pools[pool]);
  if (!taken) {
    taken = take_from_any_stock(session, pool);
    return taken ? taken : make_early(session, pool, stock);
  }
  uint32_t rest = session->table->next_free[taken - 1];
  if (rest) stock_chain(session->table, stock, rest);
  return taken;
}

uint32_t ppi_pool_take(ppi_device_session *session, uint32_t pool,
                       uint32_t number) {
  ppi_stock *stock = &session->stocks[pool][number % PPI_STOCKS];
  uint32_t taken = ppi_slots_take(session->table, &stock->list);
  return PPI_LIKELY(taken != 0) ? taken : restock(session, pool, stock);
}

uint32_t ppi_pool_next(const ppi_device_session *session, uint32_t pool) {
  return (uint32_t)__atomic_load_n(&session->pools[pool].chains,
                                   __ATOMIC_RELAXED);
}

static void flush_chain(ppi_device_session *session, ppi_event_pool *pool) {
  if (!pool->chain) return;
  ppi_pair *first = &session->pairs[pool->chain - 1];
  first->num_chain = (uint8_t)pool->num_chain;
  __atomic_fetch_add(&pool->num_free, pool->num_chain, __ATOMIC_RELAXED);
  uint64_t head = __atomic_load_n(&pool->chains, __ATOMIC_RELAXED);
  uint64_t wanted;
  do {
    __atomic_store_n(&first->next_chain, (uint32_t)head, __ATOMIC_RELAXED);
    wanted = ppi_list_word(head, pool->chain);
  } while (!__atomic_compare_exchange_n(&pool->chains, &head, wanted, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  pool->chain = pool->num_chain = 0;
}

void ppi_pool_give(ppi_device_session *session, uint32_t index) {
  const ppi_pair *pair = &session->pairs[index];
  ppi_event_pool *pool = &session->pools[pair->pool];
  if (!pair->begin || ppi_pool_is_gone(session, pair->pool)) {
    session->bare[session->num_bare++] = index;
    pool->num_slots--;
    return;
  }
  __atomic_store_n(&session->table->next_free[index], (uint16_t)pool->chain,
                   __ATOMIC_RELAXED);
  pool->chain = index + 1;
  if (++pool->num_chain == PPI_STOCK_BATCH) flush_chain(session, pool);
}

void ppi_pools_flush(ppi_device_session *session) {
  uint32_t num = ppi_device_num_pools(session);
  for (uint32_t pool = 0; pool < num; pool++)
    flush_chain(session, &session->pools[pool]);
}

// Another pool has more than its share: some of its free slots change hands.
static void strip_richest(ppi_device_session *session, uint32_t share) {
  const pprof_device *device = session->device;
  ppi_event_pool *rich = &session->pools[0];
  uint32_t num = ppi_device_num_pools(session);
  for (uint32_t i = 1; i < num; i++)
    if (session->pools[i].num_slots > rich->num_slots)
      rich = &session->pools[i];
  while (rich->num_slots > share && session->num_bare < PPI_POOL_BATCH) {
    uint32_t taken = take_chain(session, rich), next;
    if (!taken) return;
    for (; taken; taken = next, rich->num_slots--) {
      next = session->table->next_free[taken - 1];
      void *both[2] = {session->pairs[taken - 1].begin,
                       session->pairs[taken - 1].end};
      device->backend->event_destroy(device->context, rich->id, 2, both);
      ppi_pair_set(&session->pairs[taken - 1], NULL, NULL);
      session->bare[session->num_bare++] = taken - 1;
    }
  }
}

static uint32_t take_bare(ppi_device_session *session) {
  if (session->num_bare) return session->bare[--session->num_bare];
  return session->next_unused++;
}

// A first touch of a page costs a marker more than all the rest it does; the
// spool's pages are the process's, so the collector's touch serves. The slot's
// content stays.
static void touch_slot(const ppi_device_session *session, uint32_t index) {
  ppi_slot *slot = ppi_device_slot(session, index);
  __atomic_fetch_or(&slot->start, 0, __ATOMIC_RELAXED);
  __atomic_fetch_or(&slot->cut, 0, __ATOMIC_RELAXED);
  __atomic_fetch_or(&session->table->states[index], 0, __ATOMIC_RELAXED);
}

void ppi_pools_reserve(ppi_device_session *session) {
  const pprof_backend *backend = session->device->backend;
  if (!(backend->caps & PPROF_BACKEND_CREATE_ANYWHERE)) return;
  uint32_t num = PPI_MIN(PPI_EARLY_SLOTS, session->table->num_slots / 4);
  for (uint32_t i = 0; i < num; i++) {
    session->early[i] = take_bare(session);
    touch_slot(session, session->early[i]);
  }
  session->num_early = num;
}

static void count_early(ppi_event_pool *pool) {
  pool->num_slots += __atomic_exchange_n(&pool->num_early, 0, __ATOMIC_ACQUIRE);
}

// Makes one more batch of event pairs for a pool and puts their slots on its
// list.
static bool fill_pool(ppi_device_session *session, uint32_t pool,
                      uint32_t share) {
  const pprof_device *device = session->device;
  if (ppi_device_has_failed(session) || ppi_pool_is_gone(session, pool))
    return false;
  uint32_t unused = session->table->num_slots - session->next_unused;
  if (unused + session->num_bare == 0 && !session->pools[pool].refused &&
      session->pools[pool].num_slots < share / 4)
    strip_richest(session, share);
  uint32_t num = PPI_MIN(unused + session->num_bare, PPI_POOL_BATCH);
  void *events[2 * PPI_POOL_BATCH];
  if (num == 0) return false;
  pprof_status status = device->backend->event_create(
      device->context, session->pools[pool].id, 2 * num, events);
  ppi_pool_note_status(session, pool, status);
  session->pools[pool].refused = status != PPROF_STATUS_OK;
  if (status != PPROF_STATUS_OK) return false;
  for (uint32_t i = 0; i < num; i++) {
    uint32_t index = take_bare(session);
    ppi_pair_set(&session->pairs[index], events[2 * i], events[2 * i + 1]);
    session->pairs[index].pool = (uint8_t)pool;
    touch_slot(session, index);
    ppi_pool_give(session, index);
  }
  session->pools[pool].num_slots += num;
  return true;
}

// The slots on the lists of a pool that is gone; slots in use come back later.
static void strip_pool(ppi_device_session *session, uint32_t pool) {
  ppi_event_pool *gone = &session->pools[pool];
  if (gone->num_slots == 0) return;
  flush_chain(session, gone);
  uint32_t taken, next;
  while ((taken = take_chain(session, gone)))
    for (; taken; taken = next) {
      next = session->table->next_free[taken - 1];
      ppi_pool_give(session, taken - 1);
    }
  while ((taken = take_from_any_stock(session, pool)))
    ppi_pool_give(session, taken - 1);
}

void ppi_pool_vacate(ppi_device_session *session, uint32_t pool) {
  ppi_event_pool *it = &session->pools[pool];
  it->refused = it->forgotten = false;
  __atomic_store_n(&it->wanted, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&it->filled, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&it->vacant, 1, __ATOMIC_RELEASE);
}

// Is it gone, and all of its slots have come back?
static bool is_over(ppi_device_session *session, uint32_t pool) {
  const pprof_device *device = session->device;
  if (ppi_pool_is_vacant(session, pool)) return false;
  count_early(&session->pools[pool]);
  if (!ppi_pool_is_gone(session, pool) && !ppi_device_has_failed(session) &&
      session->pools[pool].num_slots &&
      PPI_BACKEND_HAS(device->backend, pool_check))
    ppi_pool_note_status(
        session, pool,
        device->backend->pool_check(device->context, session->pools[pool].id));
  if (!ppi_pool_is_gone(session, pool)) return false;
  if (!session->pools[pool].forgotten)
    ppi_device_forget_pool(session->device, session->pools[pool].id);
  session->pools[pool].forgotten = session->pools[pool].refused = true;
  strip_pool(session, pool);
  return session->pools[pool].num_slots == 0;
}

uint32_t ppi_pools_check(ppi_device_session *session) {
  uint32_t over = 0, num = ppi_device_num_pools(session);
  for (uint32_t pool = 0; pool < num; pool++)
    if (is_over(session, pool)) over |= 1u << pool;
  return over;
}

static bool is_wanted(const ppi_event_pool *pool) {
  return __atomic_load_n(&pool->wanted, __ATOMIC_RELAXED);
}

// The table is dealt out evenly to the pools that are used.
static uint32_t fair_share(const ppi_device_session *session, uint32_t pool) {
  uint32_t num_used = 0, num = ppi_device_num_pools(session);
  for (uint32_t i = 0; i < num; i++)
    num_used += i == pool || session->pools[i].num_slots ||
                (is_wanted(&session->pools[i]) && !session->pools[i].refused);
  return session->table->num_slots / num_used;
}

// Making an event takes the lock that recording threads need, and delays the
// reading of passed events. So once markers use the session, one poll makes
// only a few batches.
static uint32_t batches_a_poll(const ppi_device_session *session) {
  return session->device->session == session ? PPI_POOL_BATCHES_A_POLL
                                             : UINT32_MAX;
}

// A start for everybody; all of its share for a pool that uses its slots fast.
// Answers whether it has its start, or can have no more.
static bool fill_to_size(ppi_device_session *session, uint32_t pool) {
  ppi_event_pool *it = &session->pools[pool];
  uint32_t share = fair_share(session, pool);
  uint32_t num_free = __atomic_load_n(&it->num_free, __ATOMIC_RELAXED);
  bool is_busy = num_free < it->num_slots - it->num_slots / 4;
  uint32_t start = PPI_MIN(PPI_POOL_START, share);
  uint32_t size = is_busy ? share : start;
  for (uint32_t i = batches_a_poll(session); i && it->num_slots < size; i--)
    if (!fill_pool(session, pool, share)) return true;
  return it->num_slots >= start;
}

void ppi_pools_fill(ppi_device_session *session) {
  uint32_t num = ppi_device_num_pools(session);
  for (uint32_t pool = 0; pool < num; pool++) {
    count_early(&session->pools[pool]);
    if (!is_wanted(&session->pools[pool])) continue;
    bool is_full = fill_to_size(session, pool);
    flush_chain(session, &session->pools[pool]);
    // From here on an empty list is a loss.
    if (is_full && !session->pools[pool].filled)
      __atomic_store_n(&session->pools[pool].filled, 1, __ATOMIC_RELEASE);
  }
}

void ppi_pools_release(ppi_device_session *session) {
  const pprof_device *device = session->device;
  void *events[2 * PPI_POOL_BATCH];
  uint32_t num_pools = ppi_device_num_pools(session);
  for (uint32_t pool = 0; pool < num_pools; pool++) {
    size_t num = 0;
    if (ppi_pool_is_gone(session, pool)) continue;
    for (uint32_t i = 0; i <= session->next_unused; i++) {
      bool last = i == session->next_unused;
      if (num == 2 * PPI_POOL_BATCH || (last && num)) {
        device->backend->event_destroy(device->context, session->pools[pool].id,
                                       num, events);
        num = 0;
      }
      if (last || session->pairs[i].pool != pool || !session->pairs[i].begin)
        continue;
      events[num++] = session->pairs[i].begin;
      events[num++] = session->pairs[i].end;
    }
  }
}
