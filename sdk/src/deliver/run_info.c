// SPDX-License-Identifier: Apache-2.0
//
// Collects provenance, once at a session's start.
#include "deliver/run_info.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static bool add_number(ppi_texts *texts, const char *key, uint64_t number) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  return ppi_texts_add(texts, key, text);
}

static bool add_rank(ppi_texts *texts) {
  static const char *const variables[] = {"RANK", "OMPI_COMM_WORLD_RANK",
                                          "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *value = secure_getenv(variables[i]);
    if (value && *value) return ppi_texts_add(texts, "rank", value);
  }
  return true;
}

// Reads a small file's first line into `text`; false when it is not there.
static bool read_line(const char *path, char *text, size_t size) {
  FILE *file = ppi_fd_fopen(path);
  if (!file) return false;
  bool found = fgets(text, (int)size, file) != NULL;
  fclose(file);
  if (found) text[strcspn(text, "\n")] = 0;
  return found;
}

// The word that a worker of multiprocessing has for itself: "PID WORD".
// Children inherit the variable, so the number decides.
static size_t copy_role(char *text, size_t size) {
  const char *role = secure_getenv("PPROF_ROLE");
  char *word = NULL;
  if (!role || strtol(role, &word, 10) != (long)getpid() || *word != ' ')
    return 0;
  snprintf(text, size, "%.*s ", (int)size - 2, word + 1);
  return strlen(text);
}

static bool add_command(ppi_texts *texts) {
  char text[512];
  size_t len = copy_role(text, sizeof text / 4);
  FILE *file = ppi_fd_fopen("/proc/self/cmdline");
  if (!file) return true;
  len += fread(text + len, 1, sizeof text - 1 - len, file);
  fclose(file);
  while (len > 0 && text[len - 1] == 0) len--;
  for (size_t i = 0; i < len; i++)
    if (text[i] == 0) text[i] = ' ';
  text[len] = 0;
  return ppi_texts_add(texts, "command", text);
}

static bool add_cpu(ppi_texts *texts) {
  char line[256];
  FILE *file = ppi_fd_fopen("/proc/cpuinfo");
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file))
    found = strncmp(line, "model name", 10) == 0;
  if (file) fclose(file);
  const char *colon = found ? strchr(line, ':') : NULL;
  if (!colon) return true;
  line[strcspn(line, "\n")] = 0;
  return ppi_texts_add(texts, "cpu", colon + 1 + strspn(colon + 1, " "));
}

static bool add_container(ppi_texts *texts) {
  char cpu[64] = "max", memory[64] = "max", text[160];
  bool known = read_line("/sys/fs/cgroup/cpu.max", cpu, sizeof cpu);
  known |= read_line("/sys/fs/cgroup/memory.max", memory, sizeof memory);
  if (!known) return true;
  snprintf(text, sizeof text, "cpu.max %s, memory.max %s", cpu, memory);
  return ppi_texts_add(texts, "container", text);
}

static bool add_machine(ppi_texts *texts) {
  struct utsname names;
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  bool ok = ppi_texts_add(texts, "host", host);
  if (uname(&names) == 0) ok &= ppi_texts_add(texts, "kernel", names.release);
  ok &= add_number(texts, "num_cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
  return ok && add_cpu(texts) && add_container(texts);
}

bool ppi_run_info_collect(ppi_texts *texts, const ppi_spool *spool) {
  const ppi_spool_header *header = spool->header;
  char text[160];
  for (int i = 0; i < 16; i++)
    snprintf(text + 2 * i, 3, "%02x", header->uuid[i]);
  bool ok = ppi_texts_add(texts, "uuid", text);
  ok &= ppi_texts_add(texts, "version", pprof_version());
  ok &= add_number(texts, "pid", header->pid);
  ok &= add_rank(texts);
  ok &= add_number(texts, "time_base_realtime_ns", header->start_realtime_ns);
  ok &= ppi_texts_add(texts, "clock", ppi_clock_name());
  ok &= ppi_texts_add(texts, "clock_source", ppi_clock_note());
  ok &= add_number(texts, "ticks_per_second", header->ticks_per_second);
  ok &= add_machine(texts);
  ok &= add_command(texts);
  ppi_spool_memory(spool, text, sizeof text);
  ok &= ppi_texts_add(texts, "memory", text);
  if (spool->path[0]) ok &= ppi_texts_add(texts, "spool", spool->path);
  return ok;
}

// busy = user nice system irq softirq steal, idle = idle iowait; guest is
// inside user already.
static void read_system(uint64_t *busy, uint64_t *idle) {
  char line[256];
  unsigned long long v[8] = {0};
  if (!read_line("/proc/stat", line, sizeof line)) return;
  sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1],
         &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
  *busy = v[0] + v[1] + v[2] + v[5] + v[6] + v[7];
  *idle = v[3] + v[4];
}

void ppi_cpu_times(uint64_t out[4]) {
  struct timespec process = {0};
  memset(out, 0, 4 * sizeof *out);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process);
  out[0] = (uint64_t)process.tv_sec * 1000000000u + (uint64_t)process.tv_nsec;
  out[1] = ppi_clock_monotonic_ns();
  read_system(&out[2], &out[3]);
}
