// SPDX-License-Identifier: Apache-2.0
//
// Sessions that measure the CPU use of ranges called `work...`, and what a test
// of them needs.
#pragma once

#include <gtest/gtest.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "pprof/pprof.h"
#include "session/choice_session.h"
#include "spool/cpu_use.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {

PPROF_SITE(work_site, "work", PPROF_CATEGORY_PREPROCESS);
PPROF_SITE(work_inside_site, "work inside", PPROF_CATEGORY_PREPROCESS);
PPROF_SITE(other_site, "other", PPROF_CATEGORY_PREPROCESS);

inline uint64_t CpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

inline void Spin(uint64_t cpu_ns) {
  const uint64_t end_ns = CpuNs() + cpu_ns;
  while (CpuNs() < end_ns) continue;
}

// Numbers of the files that tell of run queues.
inline std::vector<int> Files() {
  std::vector<int> found;
  for (int fd = 0; fd < 1024; fd++) {
    char target[PATH_MAX] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(link.c_str(), target, sizeof target - 1) > 0 &&
        strstr(target, "schedstat"))
      found.push_back(fd);
  }
  return found;
}

class CpuSessionTest : public ::testing::Test {
 protected:
  ~CpuSessionTest() override {
    ppi_cpu_file_inject(nullptr);
  }
  void Choose(std::vector<const char *> cpu) {
    ppi_choice choice = {};
    choice.cpu = cpu.data();
    choice.num_cpu = cpu.size();
    ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_choice(live_.Create(), &choice));
  }
  void Start() {
    Choose({"work*"});
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  void Stop() {
    ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
    EXPECT_EQ(0u, live_.Stats().lost);
  }
  // The one range of this name.
  RecordedEvent The(const char *name) {
    const auto found = live_.recording.Named(name);
    EXPECT_EQ(1u, found.size()) << name;
    return found.empty() ? RecordedEvent() : found[0];
  }

  LiveSession live_;
};

}  // namespace pprof_test
