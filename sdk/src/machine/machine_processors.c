// SPDX-License-Identifier: Apache-2.0
//
// Samples the processors that this process may use: the shares of other
// processes and of the hypervisor, and the waits of its threads.
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "machine/source.h"

// Others crowd a processor out where they have a tenth of all of them and as
// much is not idle.
#define CROWDS 0.1

typedef struct ticks {
  double busy, idle, steal, own, children, waited_us;
  cpu_set_t allowed;  // that any of the threads may use
  double num;         // processors that `busy`, `idle` and `steal` are of
} ticks;

static struct {
  ticks before;
  double others_us, stolen_us, crowded_us;
  double us_a_tick, online;
} all;

// The numbers of a line of /proc/stat.
static bool add_line(const char *at, ticks *to) {
  double v[8];
  char *end;
  for (size_t i = 0; i < sizeof v / sizeof *v; i++, at = end) {
    v[i] = strtod(at, &end);
    if (end == at) return false;
  }
  to->busy += v[0] + v[1] + v[2] + v[5] + v[6];
  to->idle += v[3] + v[4];
  to->steal += v[7];
  to->num++;
  return true;
}

// Answers false unless each allowed processor has a line.
static bool add_allowed(const char *text, ticks *to) {
  for (const char *line = strchr(text, '\n');
       line && strncmp(line, "\ncpu", 4) == 0; line = strchr(line + 1, '\n')) {
    char *end;
    unsigned long cpu = strtoul(line + 4, &end, 10);
    if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &to->allowed) &&
        (!strchr(end, '\n') || !add_line(end, to)))
      return false;
  }
  return to->num > 0 && to->num == CPU_COUNT(&to->allowed);
}

// Processors that the process may not use, as in a container with a set of its
// own, say nothing of it.
static bool read_stat(ticks *out) {
  static char text[32768];
  if (!ppi_machine_read("/proc/stat", text, sizeof text) ||
      strncmp(text, "cpu ", 4) != 0)
    return false;
  ticks some = *out;
  if (CPU_COUNT(&out->allowed) < all.online && add_allowed(text, &some)) {
    *out = some;
    return true;
  }
  if (!add_line(text + 4, out)) return false;
  out->num = all.online;
  return true;
}

// What a process used. The state and eleven numbers follow the name, which may
// contain anything.
static double used_by(const char *process) {
  char path[64], text[1024];
  double user = 0, sys = 0;
  snprintf(path, sizeof path, "/proc/%s/stat", process);
  if (!ppi_machine_read(path, text, sizeof text)) return 0;
  const char *rest = strrchr(text, ')');
  bool is_known =
      rest &&
      sscanf(rest + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf",
             &user, &sys) == 2;
  return is_known ? user + sys : 0;
}

// The main thread's: a program's workers are no neighbours.
static double used_by_children(void) {
  char path[64], text[4096], *save;
  double used = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  if (!ppi_machine_read(path, text, sizeof text)) return 0;
  for (const char *child = strtok_r(text, " ", &save); child;
       child = strtok_r(NULL, " ", &save))
    used += used_by(child);
  return used;
}

static void read_threads(ticks *out) {
  char path[4096];
  snprintf(path, sizeof path, "%s/proc/self/task", ppi_machine_root());
  DIR *folder = ppi_fd_opendir(path);
  const struct dirent *entry;
  while (folder && (entry = readdir(folder))) {
    char text[96], file[320];
    double ran, waited;
    cpu_set_t allowed;
    if (entry->d_name[0] == '.') continue;
    if (sched_getaffinity(atoi(entry->d_name), sizeof allowed, &allowed) == 0)
      CPU_OR(&out->allowed, &out->allowed, &allowed);
    snprintf(file, sizeof file, "/proc/self/task/%s/schedstat", entry->d_name);
    if (ppi_machine_read(file, text, sizeof text) &&
        sscanf(text, "%lf %lf", &ran, &waited) == 2)
      out->waited_us += waited / 1e3;
  }
  if (folder) closedir(folder);
}

static double number_of_processors(void) {
  char text[256];
  double first, last, num = 0;
  if (!ppi_machine_read("/sys/devices/system/cpu/online", text, sizeof text))
    return (double)sysconf(_SC_NPROCESSORS_ONLN);
  for (char *save = NULL, *part = strtok_r(text, ",", &save); part;
       part = strtok_r(NULL, ",", &save)) {
    int got = sscanf(part, "%lf-%lf", &first, &last);
    if (got > 0) num += got == 2 ? last - first + 1 : 1;
  }
  return num;
}

bool ppi_machine_open_processors(void) {
  all.before = (ticks){0};
  all.others_us = all.stolen_us = all.crowded_us = 0;
  all.us_a_tick = 1e6 / (double)sysconf(_SC_CLK_TCK);
  all.online = number_of_processors();
  return all.online > 0 && read_stat(&all.before);
}

static double grown(double now, double before) {
  return now > before ? now - before : 0;
}

static void add_ticks(const ticks *now) {
  const ticks *before = &all.before;
  double busy = grown(now->busy, before->busy);
  double idle = grown(now->idle, before->idle);
  double steal = grown(now->steal, before->steal);
  double others = grown(busy, grown(now->own, before->own) +
                                  grown(now->children, before->children));
  double total = busy + idle + steal;
  all.others_us += others * all.us_a_tick;
  all.stolen_us += steal * all.us_a_tick / now->num;
  if (others > CROWDS * total && idle < CROWDS * total)
    all.crowded_us += grown(now->waited_us, before->waited_us);
}

void ppi_machine_sample_processors(void) {
  ticks now = {0};
  char text[128];
  double running;
  read_threads(&now);
  if (!read_stat(&now)) return;
  now.own = used_by("self");
  now.children = used_by_children();
  if (all.before.own > 0 && CPU_EQUAL(&all.before.allowed, &now.allowed))
    add_ticks(&now);
  all.before = now;
  ppi_machine_put("processors.number", now.num);
  ppi_machine_put("processors.others_us", all.others_us);
  ppi_machine_put("processors.stolen_us", all.stolen_us);
  ppi_machine_put("process.waited_us", now.waited_us);
  ppi_machine_put("process.crowded_us", all.crowded_us);
  if (ppi_machine_read("/proc/loadavg", text, sizeof text) &&
      sscanf(text, "%*f %*f %*f %lf/", &running) == 1)
    ppi_machine_put("processors.run_queue", running);
}
