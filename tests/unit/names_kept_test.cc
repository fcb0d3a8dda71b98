// SPDX-License-Identifier: Apache-2.0
//
// Names that leave while a sink keeps nothing: what lies in the spool is all
// that there is of their records, so their ids stay theirs.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "mark/thread.h"
#include "recording_sink.h"
#include "recover/salvage.h"

namespace pprof_test {
namespace {

constexpr int kSites = 65536;

class NamesKeptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    live_.options.memory_limit_bytes = 32u << 20;
    live_.options.drain_interval_us = 200;
    live_.recording.ready = [this] {
      num_cycles_++;
      return true;
    };
    live_.recording.kept = [this](uint32_t, uint64_t *out_seq) {
      *out_seq = UINT64_MAX;
      return keeps_.load();
    };
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  void Use(const std::string &what, int num) {
    for (int i = 0; i < num; i++) {
      pprof_push_name((what + std::to_string(i)).c_str(), 0);
      pprof_pop();
    }
  }
  // Enough for a name to leave, and more.
  void AwaitCycles() {
    const uint64_t until = num_cycles_ + 50;
    while (num_cycles_ < until) std::this_thread::yield();
  }
  // What recover would find, were the process dead now.
  Recording Left() {
    const std::string path = ::testing::TempDir() + "names_kept_test.spool";
    const ppi_spool &spool = ppi_recorder_in_force.spool;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(spool.base),
               static_cast<std::streamsize>(spool.size));
    Recording found;
    ppi_salvage *salvage = nullptr;
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, ppi_salvage_open(path.c_str(), &salvage, &error))
        << error.text;
    if (!salvage) return found;
    pprof_sink *sink = RecordingSink::Make(&found);
    ppi_salvage_deliver(salvage, nullptr, nullptr, true, sink);
    ppi_salvage_close(salvage);
    RecordingSink::Destroy(sink);
    unlink(path.c_str());
    return found;
  }

  LiveSession live_;
  std::atomic<bool> keeps_{false};
  std::atomic<uint64_t> num_cycles_{0};
};

TEST_F(NamesKeptTest, IdsWaitUntilTheirRecordsAreKept) {
  constexpr int kEarly = 40000, kLater = kSites - kEarly + 5000, kLast = 5000;
  Use("early ", kEarly);
  AwaitCycles();
  Use("later ", kLater);
  const Recording left = Left();
  ASSERT_EQ(static_cast<size_t>(kEarly + kLater), left.events.size());
  size_t num_other = 0;
  for (int i = 0; i < kEarly + kLater; i++) {
    const std::string &name = left.events[static_cast<size_t>(i)].name;
    const std::string want = i < kEarly ? "early " + std::to_string(i)
                                        : "later " + std::to_string(i - kEarly);
    if (name == "<other>")
      num_other++;
    else
      ASSERT_EQ(want, name) << i;
  }
  EXPECT_GE(num_other, 5000u);  // nobody's place was free
  keeps_ = true;
  // Turns in which the table was in use took few names out.
  for (int i = 0; i < 50; i++)
    while (live_.Flush() == PPROF_STATUS_BUSY) {
    }
  Use("last ", kLast);
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  ASSERT_EQ(static_cast<size_t>(kEarly + kLater + kLast),
            live_.recording.events.size());
  for (int i = 0; i < kLast; i++)
    ASSERT_EQ(
        "last " + std::to_string(i),
        live_.recording.events[static_cast<size_t>(kEarly + kLater + i)].name);
}

}  // namespace
}  // namespace pprof_test
