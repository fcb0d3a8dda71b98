// SPDX-License-Identifier: Apache-2.0
//
// Remembers in which ranges the nodes of a graph were captured.
#include "kernels/captured.h"

#include <pthread.h>

#include "base/map.h"
#include "base/masked.h"
#include "base/mem.h"
#include "kernels/launch.h"
#include "mark/attach.h"

// A path is {the number of what is around, site}, numbered from 1.
static struct {
  pthread_mutex_t mutex;
  bool are_wanted;    // atomic
  ppi_map paths;      // high: around, low: site
  ppi_map nodes;      // high: 0, low: the driver's number
  uint32_t *path_of;  // by a node's number in the map
  size_t capacity;
  uint64_t num_left;
} captured = {.mutex = PTHREAD_MUTEX_INITIALIZER};

bool ppi_captured_are_wanted(void) {
  return __atomic_load_n(&captured.are_wanted, __ATOMIC_RELAXED);
}

void ppi_captured_want(bool are_wanted) {
  ppi_calm before;
  ppi_lock_masked(&captured.mutex, &before);
  ppi_map_clear(&captured.paths);
  ppi_map_clear(&captured.nodes);
  ppi_free(captured.path_of);
  captured.path_of = NULL;
  captured.capacity = 0;
  captured.num_left = 0;
  __atomic_store_n(&captured.are_wanted, are_wanted, __ATOMIC_RELAXED);
  ppi_unlock_masked(&captured.mutex, &before);
}

// ---- the thread that captures ----

typedef struct open_sites {
  uint32_t num, sites[PPI_CAPTURED_DEPTH];
} open_sites;

// For another thread, which waits: its changes meanwhile show in its word.
static __attribute__((no_sanitize("thread"))) void read_sites(
    const ppi_lane *lane, uint32_t depth, open_sites *out) {
  const ppi_frame *frames = ppi_lane_frames(lane);
  depth = PPI_MIN(depth, lane->num_frames);
  for (uint32_t i = 0; i < depth && out->num < PPI_CAPTURED_DEPTH; i++)
    if (frames[i].site) out->sites[out->num++] = frames[i].site;
}

// They keep their ids for as long as the session lasts.
static void list_open(open_sites *out) {
  ppi_thread *thread;
  const ppi_lane *lane = ppi_enter(&thread, PPI_ADDS);
  if (!lane) return;
  uint32_t depth;
  bool is_by_wait;
  lane = ppi_launch_lane(thread, lane, &depth, &is_by_wait);
  uint64_t word = ppi_lane_word(lane);
  read_sites(lane, depth, out);
  if (is_by_wait && ppi_lane_word(lane) != word) out->num = 0;
  for (uint32_t i = 0; i < out->num; i++)
    ppi_names_stay(ppi_recorder_in_force.names, out->sites[i]);
  ppi_leave(thread);
}

// ---- under the mutex ----

// 0: there is no memory.
static uint32_t number_path(const open_sites *open) {
  uint32_t path = 0;
  for (uint32_t i = 0; i < open->num; i++) {
    size_t at =
        ppi_map_number(&captured.paths, (ppi_map_key){path, open->sites[i]});
    if (at == SIZE_MAX) return 0;
    path = (uint32_t)at + 1;
  }
  return path;
}

static void put_node(uint64_t node, uint32_t path) {
  const ppi_map_key key = {0, node};
  size_t at = ppi_map_find(&captured.nodes, key);
  if (at == SIZE_MAX && captured.nodes.num < PPI_MOST_CAPTURED &&
      PPI_ROOM(captured.path_of, captured.capacity, captured.nodes.num + 1))
    at = ppi_map_number(&captured.nodes, key);
  if (at == SIZE_MAX)
    captured.num_left++;
  else
    captured.path_of[at] = path;
}

static uint32_t find_node(uint64_t node) {
  size_t at = ppi_map_find(&captured.nodes, (ppi_map_key){0, node});
  return at == SIZE_MAX ? 0 : captured.path_of[at];
}

// ---- calls ----

void ppi_captured_node(uint64_t node) {
  open_sites open = {0};
  ppi_calm before;
  list_open(&open);
  if (!open.num) return;
  ppi_lock_masked(&captured.mutex, &before);
  if (captured.are_wanted) put_node(node, number_path(&open));
  ppi_unlock_masked(&captured.mutex, &before);
}

void ppi_captured_copy(uint64_t node, uint64_t original) {
  ppi_calm before;
  ppi_lock_masked(&captured.mutex, &before);
  uint32_t path = find_node(original);
  if (path) put_node(node, path);
  ppi_unlock_masked(&captured.mutex, &before);
}

uint32_t ppi_captured_path(uint64_t node) {
  if (!node || !ppi_captured_are_wanted()) return 0;
  ppi_calm before;
  ppi_lock_masked(&captured.mutex, &before);
  uint32_t path = find_node(node);
  ppi_unlock_masked(&captured.mutex, &before);
  return path;
}

uint32_t ppi_captured_sites(uint32_t path, uint32_t out[PPI_CAPTURED_DEPTH]) {
  uint32_t num = 0;
  ppi_calm before;
  ppi_lock_masked(&captured.mutex, &before);
  for (uint32_t at = path; at; num++)
    at = (uint32_t)captured.paths.keys[at - 1].high;
  for (uint32_t at = path, i = num; at;
       at = (uint32_t)captured.paths.keys[at - 1].high)
    out[--i] = (uint32_t)captured.paths.keys[at - 1].low;
  ppi_unlock_masked(&captured.mutex, &before);
  return num;
}

uint64_t ppi_captured_num_left(void) {
  ppi_calm before;
  ppi_lock_masked(&captured.mutex, &before);
  uint64_t num = captured.num_left;
  ppi_unlock_masked(&captured.mutex, &before);
  return num;
}
