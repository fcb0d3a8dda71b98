// SPDX-License-Identifier: Apache-2.0
//
// What a child records before it is killed, what it remembers of that in memory
// that outlives it, and the check of a log against that memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kill_test {

constexpr int kWorkers = 5;  // the last one is a new thread in each round

// Each worker numbers what it begins. `begun` goes up before the marker, `done`
// after it, so at most one a worker is in flight.
struct Progress {
  uint64_t begun, done;
};

enum Phase { kPreparing, kStarting, kRecording, kStopping, kStopped };

struct Memory {
  char spool[512];
  int phase;
  Progress workers[kWorkers];
  Progress steps;  // calls of pprof_step
  int stop_status;
  bool windows;
};

struct Load {
  const char *log, *spool_dir;
  uint64_t memory_limit_bytes;
  uint32_t drain_interval_us;
  int num_rounds, cycles_per_round;
  bool flush;              // after each round, so that nothing is lost
  bool windows;            // of three steps, with a warm-up of two before each
  uint64_t segment_bytes;  // 0: the log is one file
};

Memory *MakeMemory();

// The child's part, from session_create to session_destroy.
void RunLoad(const Load &load, Memory *memory);

// A program as in the README: pprof_start, then markers without end.
[[noreturn]] void RunForever(const char *log, const char *spool_dir,
                             Memory *memory);

// Four threads and two device streams that record without end, and how that
// ends: by a signal that the kernel sends `after_us` after all four have begun,
// whatever they are at then, or by what the thread does that it interrupts.
enum class Death { kFromOutside, kSigkill, kSegv, kAbort, kExit };

constexpr int kStormWorkers = 4;

struct Storm {
  const char *log, *spool_dir;
  uint64_t memory_limit_bytes;
  uint32_t drain_interval_us;
  Death death;
  uint32_t after_us;
  bool hog;  // one more thread is in the kernel for pages all the time
};

[[noreturn]] void RunStorm(const Storm &storm, Memory *memory);

// Begun by all workers so far.
uint64_t NumBegun(const Memory &memory);

struct Findings {
  uint64_t found, lost, excluded;
  uint64_t in_flight;    // markers that had begun and not returned
  std::string problems;  // "" when everything is there once
};
// With `lossless`, every record must be found; else what was found, lost and
// excluded must add up.
Findings CheckLog(const std::string &path, const Memory &memory, bool lossless);
// The segments of one log.
Findings CheckLogs(const std::vector<std::string> &paths, const Memory &memory,
                   bool lossless);

}  // namespace kill_test
