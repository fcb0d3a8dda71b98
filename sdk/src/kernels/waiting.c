// SPDX-License-Identifier: Apache-2.0
//
// The kernel is asked which threads sleep; seldom, as that takes microseconds.
#include "kernels/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "kernels/api_call.h"

// The state stands behind the name, which is in brackets.
static bool sleeps(uint32_t tid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%u/stat", tid);
  int file = ppi_fd_open(path, O_RDONLY, 0);
  if (file < 0) return false;
  ssize_t num = read(file, text, sizeof text - 1);
  close(file);
  text[num > 0 ? num : 0] = '\0';
  const char *end = strrchr(text, ')');
  return end && end[1] == ' ' && (end[2] == 'S' || end[2] == 'D');
}

static const ppi_lane *open_lane(const ppi_thread *thread) {
  for (uint32_t i = 0; i < PPI_THREAD_STACKS; i++) {
    const ppi_lane *lane = ppi_thread_lane(thread, i);
    if (lane && ppi_call_depth_of(lane, ppi_lane_word(lane))) return lane;
  }
  return NULL;
}

static const ppi_lane *look(void) {
  const ppi_lane *found = NULL;
  for (ppi_thread *thread = ppi_thread_list(); thread; thread = thread->next) {
    const ppi_lane *lane = thread == ppi_thread_self ? NULL : open_lane(thread);
    if (!lane || !sleeps(thread->tid)) continue;
    if (found) return NULL;
    found = lane;
  }
  return found;
}

static bool holds(const ppi_launcher *self, uint64_t now) {
  if (self->serial != ppi_recorder_in_force.serial) return false;
  if (self->lane) return ppi_lane_word(self->lane) == self->word;
  return now - self->looked < ppi_clock_state.ticks_per_second / 1000;
}

const ppi_lane *ppi_waiting_find(uint32_t *out_depth) {
  uint64_t now = ppi_clock_ticks();
  ppi_launcher *self = ppi_launcher_self();
  if (!self) return NULL;
  if (!holds(self, now)) {
    int kept = errno;
    self->lane = look();
    self->word = self->lane ? ppi_lane_word(self->lane) : 0;
    self->depth = self->lane ? ppi_call_depth_of(self->lane, self->word) : 0;
    self->looked = now;
    self->serial = ppi_recorder_in_force.serial;
    errno = kept;
  }
  if (!self->depth) return NULL;
  *out_depth = self->depth;
  return self->lane;
}
