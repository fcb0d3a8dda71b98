// SPDX-License-Identifier: Apache-2.0
//
// Reads a thread's CPU use. Reading runs in markers: no lock, no allocation,
// and nothing that a signal handler must not do.
#include "spool/cpu_use.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/descriptor.h"

#define SECOND 1000000000ull

static const char schedstat[] = "/proc/thread-self/schedstat";
static const char *path_in_use = schedstat;

void ppi_cpu_file_inject(const char *path) {
  path_in_use = path ? path : schedstat;
}

static const char *read_number(const char *at, uint64_t *out) {
  if (*at < '0' || *at > '9') return NULL;
  for (*out = 0; *at >= '0' && *at <= '9'; at++)
    *out = *out * 10 + (uint64_t)(*at - '0');
  return at;
}

// Time on a CPU, time waiting for one, how often it got one. A kernel without
// accounting reports 0 for all three; the reading thread got a CPU at least
// once.
static bool read_wait(int fd, uint64_t *out_ns) {
  char text[80];
  uint64_t ran_ns, times = 0;
  // By number: the library's own calls are points of cancellation.
  long len = syscall(SYS_pread64, fd, text, sizeof text - 1, (off_t)0);
  if (len <= 0) return false;
  text[len] = 0;
  const char *at = read_number(text, &ran_ns);
  if (at && *at == ' ') at = read_number(at + 1, out_ns);
  if (at && *at == ' ') at = read_number(at + 1, &times);
  return at && *at == '\n' && times > 0;
}

static int32_t open_file(ppi_cpu_file *file) {
  struct stat found;
  int fd = ppi_fd_open(path_in_use, O_RDONLY | O_NOCTTY, 0);
  if (fd < 0) return -1;
  if (fstat(fd, &found) != 0) {
    syscall(SYS_close, fd);
    return -1;
  }
  file->device = found.st_dev;
  file->inode = found.st_ino;
  return fd + 1;
}

// A program may close all files, and open others with the same numbers.
static bool is_still(const ppi_cpu_file *file, int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 && found.st_dev == file->device &&
         found.st_ino == file->inode;
}

void ppi_cpu_file_close(ppi_cpu_file *file) {
  int error = errno;
  int32_t fd_plus_1 =
      __atomic_exchange_n(&file->fd_plus_1, 0, __ATOMIC_ACQ_REL);
  if (fd_plus_1 > 0 && is_still(file, fd_plus_1 - 1))
    syscall(SYS_close, fd_plus_1 - 1);
  errno = error;
}

static bool read_file(ppi_cpu_file *file, uint64_t *out_ns) {
  int32_t fd_plus_1 = file->fd_plus_1;
  if (fd_plus_1 == 0) {
    fd_plus_1 = open_file(file);
    __atomic_store_n(&file->fd_plus_1, fd_plus_1, __ATOMIC_RELEASE);
  }
  if (fd_plus_1 < 0) return false;
  if (read_wait(fd_plus_1 - 1, out_ns)) return true;
  ppi_cpu_file_close(file);
  __atomic_store_n(&file->fd_plus_1, -1, __ATOMIC_RELEASE);
  return false;
}

const char *ppi_cpu_file_check(char *why, size_t size) {
  ppi_cpu_file file = {0};
  uint64_t wait_ns;
  errno = 0;
  file.fd_plus_1 = open_file(&file);
  if (file.fd_plus_1 < 0)
    snprintf(why, size, "cannot open %s: %s", path_in_use, strerror(errno));
  else if (!read_wait(file.fd_plus_1 - 1, &wait_ns))
    snprintf(why, size, "the kernel does not account it in %s", path_in_use);
  else
    why = NULL;
  ppi_cpu_file_close(&file);
  return why;
}

static bool read_cpu(ppi_cpu_use *out) {
  struct timespec cpu;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) != 0) return false;
  out->cpu_ns = (uint64_t)cpu.tv_sec * SECOND + (uint64_t)cpu.tv_nsec;
  return true;
}

static bool read_usage(ppi_cpu_use *counts, ppi_cpu_use *times) {
  struct rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  times->user_ns = (uint64_t)usage.ru_utime.tv_sec * SECOND +
                   (uint64_t)usage.ru_utime.tv_usec * 1000;
  counts->voluntary = (uint32_t)usage.ru_nvcsw;
  counts->involuntary = (uint32_t)usage.ru_nivcsw;
  counts->minor_faults = (uint32_t)usage.ru_minflt;
  counts->major_faults = (uint32_t)usage.ru_majflt;
  return true;
}

// Reading the CPU time brings the user time up to date. The kernel may also
// switch threads there (Linux 6.12 does): a begin reads it before the counts of
// switches, an end after them.

void ppi_cpu_use_begin(ppi_cpu_file *file, ppi_cpu_use *out) {
  int error = errno;
  *out = (ppi_cpu_use){0};
  bool done = read_cpu(out) && read_usage(out, out);
  bool queued = read_file(file, &out->run_queue_ns);
  done = done && read_cpu(out);
  if (done) out->known = PPROF_CPU_TIMES | (queued ? PPROF_CPU_RUN_QUEUE : 0);
  errno = error;
}

void ppi_cpu_use_end(ppi_cpu_file *file, ppi_cpu_use *out) {
  int error = errno;
  ppi_cpu_use later;
  *out = (ppi_cpu_use){0};
  bool queued = read_file(file, &out->run_queue_ns);
  bool done = read_usage(out, out) && read_cpu(out) && read_usage(&later, out);
  if (done) out->known = PPROF_CPU_TIMES | (queued ? PPROF_CPU_RUN_QUEUE : 0);
  errno = error;
}

static uint64_t less(uint64_t now, uint64_t begun) {
  return now > begun ? now - begun : 0;
}

void ppi_cpu_use_since(ppi_cpu_use *begun, const ppi_cpu_use *now) {
  begun->known &= now->known;
  begun->cpu_ns = less(now->cpu_ns, begun->cpu_ns);
  begun->user_ns = less(now->user_ns, begun->user_ns);
  begun->run_queue_ns = begun->known & PPROF_CPU_RUN_QUEUE
                            ? less(now->run_queue_ns, begun->run_queue_ns)
                            : 0;
  begun->voluntary = now->voluntary - begun->voluntary;
  begun->involuntary = now->involuntary - begun->involuntary;
  begun->minor_faults = now->minor_faults - begun->minor_faults;
  begun->major_faults = now->major_faults - begun->major_faults;
}

void ppi_cpu_use_export(const ppi_cpu_use *use, pprof_cpu_use *out) {
  *out = (pprof_cpu_use){.size = sizeof *out};
  if (!(use->known & PPROF_CPU_TIMES)) return;
  out->known = use->known;
  // The kernel reports user time in microseconds, rounded down at both ends.
  out->user_ns = PPI_MIN(use->user_ns, use->cpu_ns);
  out->sys_ns = use->cpu_ns - out->user_ns;
  out->inner_ns = PPI_MIN(use->inner_ns, use->cpu_ns);
  out->run_queue_ns = use->run_queue_ns;
  out->voluntary_switches = use->voluntary;
  out->involuntary_switches = use->involuntary;
  out->minor_faults = use->minor_faults;
  out->major_faults = use->major_faults;
}
