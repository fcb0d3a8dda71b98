// SPDX-License-Identifier: Apache-2.0
//
// Implements the parts of a lane's life that are not in every marker.
#include "spool/lane.h"

#include "spool/chunks.h"
#include "spool/cpu_record.h"

// An emptied lane waits in state FREE. State INIT keeps the collector away
// until the lane is laid out.
static ppi_lane *reuse_lane(ppi_spool *spool) {
  uint32_t *hint = &spool->header->lane_hint;
  uint32_t first = __atomic_load_n(hint, __ATOMIC_RELAXED);
  uint32_t num = ppi_spool_num_lanes(spool);
  for (uint32_t i = 0; i < num; i++) {
    uint32_t place = (first + i) % num;
    ppi_lane *lane = ppi_spool_lane(spool, place);
    uint32_t free_state = PPI_LANE_FREE;
    if (!lane ||
        __atomic_load_n(&lane->state, __ATOMIC_ACQUIRE) != PPI_LANE_FREE ||
        !__atomic_compare_exchange_n(&lane->state, &free_state, PPI_LANE_INIT,
                                     false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    __atomic_store_n(hint, place + 1, __ATOMIC_RELAXED);
    return lane;
  }
  return NULL;
}

// A chunk becomes lanes, the first of them the caller's. They stay lanes.
static ppi_lane *new_lane(ppi_spool *spool) {
  ppi_spool_header *header = spool->header;
  uint32_t chunk = ppi_chunk_take(spool);
  if (!chunk) return NULL;
  uint32_t place = __atomic_fetch_add(&header->num_lane_slots,
                                      PPI_LANES_PER_CHUNK, __ATOMIC_RELAXED);
  if (place + PPI_LANES_PER_CHUNK > PPI_MAX_LANES) {
    __atomic_fetch_sub(&header->num_lane_slots, PPI_LANES_PER_CHUNK,
                       __ATOMIC_RELAXED);
    ppi_chunk_give(spool, chunk);
    return NULL;
  }
  ppi_lane *lanes = ppi_spool_chunk(spool, chunk);
  for (uint32_t i = 0; i < PPI_LANES_PER_CHUNK; i++) {
    lanes[i].id = place + i + 1;
    lanes[i].state = i == 0 ? PPI_LANE_INIT : PPI_LANE_FREE;
    __atomic_store_n(&header->lanes[place + i], chunk * PPI_LANES_PER_CHUNK + i,
                     __ATOMIC_RELEASE);
  }
  __atomic_store_n(&header->lane_hint, place + 1, __ATOMIC_RELAXED);
  return lanes;
}

static void lay_out(const ppi_spool *spool, ppi_lane *lane) {
  uint64_t head = PPI_HEAD(lane->commit);
  if (head) lane->first_number = ppi_lane_number(lane, head);
  memset(lane, 0, offsetof(ppi_lane, state));
  memset(&lane->lost, 0, offsetof(ppi_lane, id) - offsetof(ppi_lane, lost));
  // Frames are written before they are read.
  memset(&lane->kept, 0,
         offsetof(ppi_lane, own_frames) - offsetof(ppi_lane, kept));
  lane->frames_at = PPI_OWN_FRAMES_AT;
  lane->num_frames = PPI_LANE_FRAMES;
  lane->directory[0] = ppi_lane_first_unit(spool->base, lane);
  lane->commit = (uint64_t)PPI_FIRST_SLOT << 16;
  lane->kept = PPI_FIRST_SLOT;
  lane->capacity = PPI_SLOTS_PER_CHUNK;
  // Until its thread has named it.
  __atomic_store_n(&lane->name[0], 0, __ATOMIC_RELAXED);
}

ppi_lane *ppi_lane_create(ppi_spool *spool, uint32_t epoch, uint32_t tid) {
  ppi_lane *lane = reuse_lane(spool);
  if (!lane) lane = new_lane(spool);
  if (!lane) return NULL;
  lay_out(spool, lane);
  lane->stack_epoch = epoch;
  lane->edge = epoch;
  lane->tid = tid;
  lane->serial =
      __atomic_add_fetch(&spool->header->num_lanes, 1, __ATOMIC_RELAXED);
  // Pairs with the acquire of threads that list the lanes.
  __atomic_store_n(&lane->state, PPI_LANE_LIVE, __ATOMIC_RELEASE);
  return lane;
}

uint32_t ppi_lane_reserve(ppi_spool *spool) {
  uint32_t *num = &spool->header->num_lane_slots;
  uint32_t place = __atomic_fetch_add(num, 1, __ATOMIC_RELAXED);
  if (place < PPI_MAX_LANES) return place + 1;
  __atomic_fetch_sub(num, 1, __ATOMIC_RELAXED);
  return 0;
}

// Word by word, because others read meanwhile; `naming` warns them.
void ppi_lane_set_name(ppi_spool *spool, ppi_lane *lane, const char *name) {
  uint64_t words[PPI_LANE_NAME / sizeof(uint64_t)] = {0};
  size_t len = ppi_text_cut(name, PPI_LANE_NAME - 1);
  memcpy(words, name, len);
  uint64_t naming = lane->naming | 1;
  __atomic_store_n(&lane->naming, naming, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    __atomic_store_n(&lane->name[i], words[i], __ATOMIC_RELAXED);
  __atomic_store_n(&lane->naming, naming + 1, __ATOMIC_RELEASE);
  // Pairs with the acquire in ppi_drain_definitions.
  __atomic_fetch_add(&spool->header->num_namings, 1, __ATOMIC_RELEASE);
}

uint64_t ppi_lane_get_name(const ppi_lane *lane, char out[PPI_LANE_NAME]) {
  uint64_t words[PPI_LANE_NAME / sizeof(uint64_t)];
  uint64_t naming = __atomic_load_n(&lane->naming, __ATOMIC_ACQUIRE);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    words[i] = __atomic_load_n(&lane->name[i], __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (naming % 2 || __atomic_load_n(&lane->naming, __ATOMIC_RELAXED) != naming)
    return 0;
  memcpy(out, words, PPI_LANE_NAME);
  out[PPI_LANE_NAME - 1] = 0;
  return naming;
}

bool ppi_lane_extend(ppi_spool *spool, ppi_lane *lane) {
  uint64_t k = lane->capacity / PPI_SLOTS_PER_CHUNK;
  uint64_t freed = __atomic_load_n(&lane->freed_chunks, __ATOMIC_ACQUIRE);
  if (k - freed >= PPI_LANE_CHUNKS) return false;
  uint32_t chunk = ppi_chunk_take(spool);
  if (!chunk) return false;
  lane->directory[k % PPI_LANE_CHUNKS] = chunk * PPI_UNITS_PER_CHUNK;
  lane->capacity += PPI_SLOTS_PER_CHUNK;
  return true;
}

ppi_frame *ppi_lane_put_balance(ppi_lane *lane, uint32_t depth, uint8_t flags) {
  ppi_frame *frame = ppi_lane_frames(lane) + depth;
  *frame = depth ? frame[-1] : (ppi_frame){0};
  frame->flags = flags;
  return frame;
}

// A thread that copies the stack meanwhile uses the old frames, which stay
// unchanged; a kill on either side of a store leaves a whole stack.
bool ppi_lane_deepen(ppi_spool *spool, ppi_lane *lane) {
  if (lane->num_frames == PPI_MAX_FRAMES) return false;
  uint32_t chunk = ppi_chunk_take(spool);
  if (!chunk) return false;
  ppi_deep_stack *stack = ppi_spool_chunk(spool, chunk);
  uint32_t depth = PPI_DEPTH(lane->commit);
  memcpy(stack->frames, lane->own_frames, sizeof lane->own_frames);
  memcpy(stack->work, lane->own_work, sizeof lane->own_work);
  __atomic_store_n(&lane->frames_at, (char *)stack - (char *)lane,
                   __ATOMIC_RELEASE);
  // Frames that had no memory before only keep the balance.
  for (uint32_t i = PPI_LANE_FRAMES; i < PPI_MIN(depth, PPI_MAX_FRAMES); i++)
    ppi_lane_put_balance(lane, i, PPI_FRAME_LOST);
  __atomic_store_n(&lane->num_frames, PPI_MAX_FRAMES, __ATOMIC_RELEASE);
  return true;
}

uint32_t ppi_lane_deep_chunk(const ppi_spool *spool, const ppi_lane *lane) {
  if (lane->frames_at == PPI_OWN_FRAMES_AT) return 0;
  const uint8_t *frames = (const uint8_t *)ppi_lane_frames(lane);
  return (uint32_t)((uint64_t)(frames - spool->base) / PPI_CHUNK_SIZE);
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void put_flows(const uint8_t *base, ppi_lane *lane, uint64_t *head,
                      const ppi_extras *extras) {
  for (uint32_t i = 0; i < extras->num_flows; i += 3) {
    uint64_t three[3] = {0};
    uint32_t n = PPI_MIN(extras->num_flows - i, 3u);
    memcpy(three, extras->flows + i, n * sizeof *three);
    *ppi_lane_slot(base, lane, (*head)++) = (ppi_record){
        three[0], three[1], three[2], 0, (uint16_t)n, PPI_RECORD_EXT_FLOWS, 0};
  }
}

static void put_work(const uint8_t *base, ppi_lane *lane, uint64_t *head,
                     const ppi_work *work) {
  *ppi_lane_slot(base, lane, (*head)++) = (ppi_record){bits_of(work->items),
                                                       bits_of(work->bytes),
                                                       bits_of(work->flops),
                                                       0,
                                                       0,
                                                       PPI_RECORD_EXT_WORK,
                                                       0};
  if (work->params != 0)
    *ppi_lane_slot(base, lane, (*head)++) = (ppi_record){
        bits_of(work->params), 0, 0, 0, 0, PPI_RECORD_EXT_PARAMS, 0};
}

// Without room for the records the range has no CPU use.
static void put_cpu(const uint8_t *base, ppi_lane *lane, uint64_t *head,
                    const ppi_cpu_use *cpu, uint64_t reserve) {
  ppi_record records[PPI_CPU_RECORDS];
  uint32_t num = ppi_cpu_pack(cpu, records);
  if (*head + num + 1 + reserve > lane->capacity) return;
  for (uint32_t i = 0; i < num; i++)
    *ppi_lane_slot(base, lane, (*head)++) = records[i];
}

static void put_numbers(const uint8_t *base, ppi_lane *lane, uint64_t *head,
                        const pprof_numbers *numbers) {
  ppi_numbers_record(ppi_lane_slot(base, lane, (*head)++), numbers, false);
  if (numbers->num > 3)
    ppi_numbers_record(ppi_lane_slot(base, lane, (*head)++), numbers, true);
}

void ppi_lane_put(const uint8_t *base, ppi_lane *lane, uint64_t *head,
                  const ppi_record *record, const ppi_extras *extras,
                  uint64_t reserve) {
  if (extras && extras->num_flows) {
    uint64_t need = (extras->num_flows + 2) / 3;
    if (*head + need + 1 + reserve <= lane->capacity)
      put_flows(base, lane, head, extras);
    else
      ppi_count(&lane->flows_lost, extras->num_flows);
  }
  if (extras && extras->work) {
    if (*head + 3 + reserve <= lane->capacity)
      put_work(base, lane, head, extras->work);
    else
      ppi_count(&lane->flows_lost, 1);
  }
  if (extras && extras->cpu) put_cpu(base, lane, head, extras->cpu, reserve);
  if (extras && extras->numbers) {
    if (*head + PPI_NUMBERS_RECORDS + 1 + reserve <= lane->capacity)
      put_numbers(base, lane, head, extras->numbers);
    else
      ppi_count(&lane->flows_lost, 1);
  }
  *ppi_lane_slot(base, lane, (*head)++) = *record;
}

void ppi_lane_make_room(ppi_spool *spool, ppi_lane *lane, uint32_t depth) {
  uint64_t word = __atomic_load_n(&lane->commit, __ATOMIC_RELAXED);
  uint32_t open = ppi_lane_num_open(lane, word);
  uint64_t slots = open;
  for (uint32_t i = depth; i < open; i++) {
    const ppi_frame *frame = ppi_lane_frames(lane) + i;
    if (frame->num_flows > 1) slots += (frame->num_flows + 1u) / 3;
    if (frame->flags & PPI_FRAME_WORK) slots += 2;
    if (frame->flags & PPI_FRAME_CPU) slots += PPI_CPU_RECORDS;
    if (frame->flags & PPI_FRAME_NUMBERS) slots += PPI_NUMBERS_RECORDS;
  }
  while (PPI_HEAD(word) + slots > lane->capacity)
    if (!ppi_lane_extend(spool, lane)) return;
}

static const ppi_cpu_use *cpu_of(const ppi_frame *frame,
                                 const ppi_closing *closing) {
  static const ppi_cpu_use unknown;
  if (!(frame->flags & PPI_FRAME_CPU)) return NULL;
  if (!closing->cpu || frame->cpu_place == PPI_CPU_NO_PLACE) return &unknown;
  return &closing->cpu[frame->cpu_place];
}

static const pprof_numbers *numbers_of(const ppi_lane *lane, uint32_t i) {
  const pprof_numbers *numbers = ppi_lane_numbers(lane);
  bool has_any = ppi_lane_frames(lane)[i].flags & PPI_FRAME_NUMBERS;
  return has_any && numbers ? numbers + i : NULL;
}

void ppi_lane_close(const uint8_t *base, ppi_lane *lane, uint32_t depth,
                    ppi_closing closing) {
  uint64_t word = __atomic_load_n(&lane->commit, __ATOMIC_RELAXED);
  uint64_t head = PPI_HEAD(word);
  for (uint32_t i = ppi_lane_num_open(lane, word); i-- > depth;) {
    const ppi_frame *frame = ppi_lane_frames(lane) + i;
    if (frame->flags & PPI_FRAME_UNRECORDED) continue;
    ppi_record record = {.start = frame->start,
                         // A frame may begin between an edge's time and its
                         // publication.
                         .end = PPI_MAX(frame->start, closing.end),
                         .flow = frame->flow,
                         .site = frame->site,
                         .depth = (uint16_t)i,
                         .kind = PPROF_KIND_RANGE,
                         .flags = i > depth ? closing.flag : closing.last_flag};
    ppi_extras extras = {
        lane->flow_stack, frame->num_flows > 1 ? frame->num_flows - 1u : 0,
        frame->flags & PPI_FRAME_WORK ? ppi_lane_work(lane) + i : NULL,
        cpu_of(frame, &closing), numbers_of(lane, i)};
    ppi_lane_put(base, lane, &head, &record, &extras, i);
  }
  if (depth < PPI_DEPTH(word)) lane->too_deep = 0;
  ppi_lane_commit(lane, head, PPI_MIN(depth, PPI_DEPTH(word)));
}

void ppi_edge_append(ppi_spool_header *header, const ppi_edge *edge) {
  uint64_t num = header->num_edges;
  ppi_edge *slot = &header->edges[num % PPI_MAX_EDGES];
  // A search for an older epoch may read this; it reads the rest only if the
  // epoch is the wanted one.
  __atomic_store_n(&slot->old_epoch, edge->old_epoch, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->new_epoch, edge->new_epoch, __ATOMIC_RELAXED);
  slot->ticks = edge->ticks;
  slot->flags = edge->flags;
  slot->window = edge->window;
  slot->closes = edge->closes;
  __atomic_store_n(&header->num_edges, num + 1, __ATOMIC_RELEASE);
}

// Leaves out the places that the writer may fill with the next edges meanwhile.
static uint64_t oldest_edge(uint64_t num) {
  uint64_t buffered = PPI_MAX_EDGES - 8;
  return num > buffered ? num - buffered : 0;
}

const ppi_edge *ppi_edge_after(const ppi_spool_header *header, uint32_t epoch) {
  uint64_t num = __atomic_load_n(&header->num_edges, __ATOMIC_ACQUIRE);
  for (uint64_t i = num; i-- > oldest_edge(num);) {
    const ppi_edge *edge = &header->edges[i % PPI_MAX_EDGES];
    if (__atomic_load_n(&edge->old_epoch, __ATOMIC_RELAXED) == epoch)
      return edge;
  }
  return NULL;
}

bool ppi_edge_ended(const ppi_spool_header *header, uint32_t epoch,
                    uint64_t num_edges) {
  for (uint64_t i = num_edges; i-- > oldest_edge(num_edges);)
    if (__atomic_load_n(&header->edges[i % PPI_MAX_EDGES].old_epoch,
                        __ATOMIC_RELAXED) == epoch)
      return true;
  return false;
}

const ppi_edge *ppi_edge_into(const ppi_spool_header *header, uint32_t epoch) {
  uint64_t num = __atomic_load_n(&header->num_edges, __ATOMIC_ACQUIRE);
  for (uint64_t i = num; i-- > oldest_edge(num);) {
    const ppi_edge *edge = &header->edges[i % PPI_MAX_EDGES];
    if (__atomic_load_n(&edge->new_epoch, __ATOMIC_RELAXED) == epoch)
      return edge;
  }
  return NULL;
}

bool ppi_edge_was_off(const ppi_spool_header *header) {
  uint64_t num = __atomic_load_n(&header->num_edges, __ATOMIC_ACQUIRE);
  for (uint64_t i = num; i-- > oldest_edge(num);)
    if (header->edges[i % PPI_MAX_EDGES].flags & PPI_EDGE_AFTER_OFF)
      return true;
  return false;
}

uint64_t ppi_edge_ticks(const ppi_spool_header *header, uint32_t epoch) {
  const ppi_edge *edge = ppi_edge_into(header, epoch);
  return edge ? edge->ticks : 0;
}

void ppi_lane_cut(ppi_spool *spool, ppi_lane *lane, uint32_t epoch) {
  const ppi_edge *ended = ppi_edge_after(spool->header, lane->stack_epoch);
  uint32_t depth = ppi_lane_depth(lane);
  uint64_t end = ended ? ended->ticks : spool->header->last_ticks;
  ppi_lane_make_room(spool, lane, 0);
  ppi_lane_close(spool->base, lane, 0,
                 (ppi_closing){.end = end,
                               .flag = PPROF_FLAG_CLIPPED,
                               .last_flag = PPROF_FLAG_CLIPPED});
  const ppi_edge *began = ppi_edge_into(spool->header, epoch);
  bool after_off = began && (began->flags & PPI_EDGE_AFTER_OFF);
  // After a time without recording, a surplus pop may be of a range begun in
  // it.
  if (after_off)
    lane->before_left = UINT32_MAX;
  else if (lane->before_left != UINT32_MAX)
    lane->before_left += depth;
  // Only now may the owner push on the emptied stack.
  __atomic_store_n(&lane->stack_epoch, epoch, __ATOMIC_RELEASE);
}
