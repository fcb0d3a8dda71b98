// SPDX-License-Identifier: Apache-2.0
//
// Samples the process's cgroup: losses by its quota, and events of its memory
// limit. Of v2, the nearest cgroup with a quota is used, else the process's
// own.
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/memory_limit.h"
#include "machine/source.h"

enum { FOLDER_ROOM = 2048 };

static struct {
  char cpu[FOLDER_ROOM], memory[FOLDER_ROOM];  // "": none
  bool is_v1;
  unsigned turn;
  double quota, period_us;  // quota: in processors; 0: none
  double periods, sum_us;   // throttled ones, and what processors lost
  double pending;           // throttled periods without a counted loss yet
  double throttled_us;
  double high_events, max_events, kill_events;
} own;

static bool read_in(const char *folder, const char *name, char *out,
                    size_t size) {
  char path[FOLDER_ROOM + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return folder[0] && ppi_machine_read(path, out, size);
}

// Processors that the quota is worth, and its period; false: there is none.
static bool quota_of(const char *folder, double *out, double *period_us) {
  char text[128];
  double quota, period = 0;
  if (!own.is_v1) {
    if (!read_in(folder, "cpu.max", text, sizeof text) ||
        sscanf(text, "%lf %lf", &quota, &period) != 2 || period <= 0)
      return false;
    *out = quota / period;
    *period_us = period;
    return quota > 0;
  }
  if (!read_in(folder, "cpu.cfs_quota_us", text, sizeof text) ||
      sscanf(text, "%lf", &quota) != 1 ||
      !read_in(folder, "cpu.cfs_period_us", text, sizeof text) ||
      sscanf(text, "%lf", &period) != 1 || period <= 0)
    return false;
  *out = quota / period;
  *period_us = period;
  return quota > 0;
}

// Walks up to the nearest quota.
static void climb(void) {
  char folder[FOLDER_ROOM], text[32];
  double cores, period_us;
  strcpy(folder, own.cpu);
  while (read_in(folder, "cpu.stat", text, sizeof text)) {
    if (quota_of(folder, &cores, &period_us)) {
      strcpy(own.cpu, folder);
      return;
    }
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder) return;
    *slash = 0;
  }
}

static bool find(const char *controller, char out[FOLDER_ROOM]) {
  bool found =
      ppi_cgroup_folder(ppi_machine_root(), controller, out, FOLDER_ROOM);
  if (!found) out[0] = 0;
  return found;
}

// Reads what the quota took; false: nothing counts it.
static bool read_throttled(double *periods, double *sum_us) {
  char text[1024];
  if (!read_in(own.cpu, "cpu.stat", text, sizeof text) ||
      !ppi_machine_number(text, "nr_throttled ", periods))
    return false;
  if (!ppi_machine_number(text, "throttled_usec ", sum_us) &&
      ppi_machine_number(text, "throttled_time ", sum_us))
    *sum_us /= 1e3;
  return true;
}

// The kernel adds up what each processor lost. In a throttled period the quota
// was used up: as many processors ran, or wanted to, as lost and used together.
static void add_throttled(double periods, double sum_us) {
  double lost_us = sum_us - own.sum_us;
  own.pending += periods - own.periods;
  own.periods = periods;
  own.sum_us = sum_us;
  if (!(lost_us > 0)) return;
  double wanted = 1;
  if (own.quota > 0)
    wanted = own.quota + lost_us / (own.period_us * PPI_MAX(own.pending, 1));
  own.throttled_us += lost_us / PPI_MAX(wanted, 1);
  own.pending = 0;
}

bool ppi_machine_open_cgroup(void) {
  own.turn = 0;
  own.pending = own.throttled_us = own.periods = own.sum_us = 0;
  own.is_v1 = find("cpu", own.cpu);
  if (!own.is_v1) find(NULL, own.cpu);
  if (own.cpu[0]) climb();
  if (!own.is_v1 || !find("memory", own.memory)) find(NULL, own.memory);
  return read_throttled(&own.periods, &own.sum_us);
}

static void read_memory(void) {
  char text[512];
  own.high_events = own.max_events = own.kill_events = -1;
  if (read_in(own.memory, "memory.events", text, sizeof text)) {
    ppi_machine_number(text, "high ", &own.high_events);
    ppi_machine_number(text, "max ", &own.max_events);
    ppi_machine_number(text, "oom_kill ", &own.kill_events);
  } else if (read_in(own.memory, "memory.failcnt", text, sizeof text)) {
    ppi_machine_number(text, "", &own.max_events);
  }
}

static void put_memory(void) {
  if (own.high_events >= 0)
    ppi_machine_put("cgroup.memory_high", own.high_events);
  if (own.max_events >= 0) ppi_machine_put("cgroup.memory_max", own.max_events);
  if (own.kill_events >= 0)
    ppi_machine_put("cgroup.oom_kills", own.kill_events);
}

void ppi_machine_sample_cgroup(void) {
  double periods, sum_us = 0;
  // Values that seldom change.
  if (own.turn++ % 8 == 0) {
    if (!quota_of(own.cpu, &own.quota, &own.period_us)) own.quota = 0;
    read_memory();
  }
  if (read_throttled(&periods, &sum_us)) {
    add_throttled(periods, sum_us);
    ppi_machine_put("cgroup.throttled_periods", periods);
    ppi_machine_put("cgroup.throttled_us", own.throttled_us);
    ppi_machine_put("cgroup.throttled_sum_us", sum_us);
  }
  if (own.quota > 0) ppi_machine_put("cgroup.cpu_max", own.quota);
  put_memory();
}
