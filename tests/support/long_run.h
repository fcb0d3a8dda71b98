// SPDX-License-Identifier: Apache-2.0
//
// For tests with a long version, which `./dev test --long` runs, tests that try
// a sample of all cases, and tests that count a process's files, threads and
// memory.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

namespace pprof_test {

#ifdef PPROF_SANITIZED
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

#ifdef __SANITIZE_THREAD__
constexpr bool kIsThreadSanitized = true;
#else
constexpr bool kIsThreadSanitized = false;
#endif

inline bool IsLongRun() {
  const char *asked = getenv("PPROF_TEST_LONG");
  return asked && *asked && std::string(asked) != "0";
}

// How often: `brief` in every run, a tenth of it under a sanitizer, `full` in
// the long version.
inline uint64_t Rounds(uint64_t brief, uint64_t full) {
  if (IsLongRun()) return full;
  return kIsSanitized ? (brief + 9) / 10 : brief;
}

// How many seeds: under the thread sanitizer one, as threads are the same with
// each.
inline uint64_t Seeds(uint64_t brief, uint64_t full) {
  if (IsLongRun()) return full;
  return kIsThreadSanitized ? 1 : brief;
}

inline uint64_t Seeds(uint64_t num) {
  return Seeds(num, num);
}

// Short runs try a sample of the points, which changes every day. A test's log
// has the option that repeats its day.
inline uint64_t SampleSeed() {
  static const uint64_t seed = [] {
    const char *asked = getenv("PPROF_TEST_SEED");
    const uint64_t found =
        asked ? strtoull(asked, nullptr, 10) : (uint64_t)time(nullptr) / 86400;
    printf("sample of the day: --test_env=PPROF_TEST_SEED=%lu\n", found);
    return found;
  }();
  return seed;
}

// Every n-th point is tried, from the `first` on.
struct Sample {
  Sample(uint64_t brief, uint64_t full)
      : stride(IsLongRun() ? full : brief), first(SampleSeed() % stride) {}
  uint64_t stride, first;
};

// The seeds below `num` in `parts` parts, of which each day has one.
struct DaysSeeds {
  DaysSeeds(uint64_t num, uint64_t parts) : begin(0), end(num) {
    if (IsLongRun()) return;
    const uint64_t part = SampleSeed() % parts;
    begin = num * part / parts;
    end = num * (part + 1) / parts;
  }
  uint64_t num() const {
    return end - begin;
  }
  uint64_t begin, end;
};

inline uint64_t NumEntries(const char *path) {
  uint64_t num = 0;
  DIR *folder = opendir(path);
  if (!folder) return 0;
  while (readdir(folder)) num++;
  closedir(folder);
  return num;
}

inline uint64_t NumOpenFiles() {
  return NumEntries("/proc/self/fd");
}

inline uint64_t NumThreads() {
  return NumEntries("/proc/self/task");
}

inline uint64_t NumMappings() {
  std::ifstream maps("/proc/self/maps");
  uint64_t num = 0;
  for (std::string line; std::getline(maps, line);) num++;
  return num;
}

// The process's own memory, without the spool's file.
inline uint64_t ResidentBytes() {
  uint64_t pages = 0, resident = 0, shared = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%lu %lu %lu", &pages, &resident, &shared) != 3)
    resident = shared = 0;
  fclose(file);
  return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

}  // namespace pprof_test
