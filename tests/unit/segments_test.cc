// SPDX-License-Identifier: Apache-2.0
//
// Programs whose names and threads come and go, with logs in small segments:
// what is written, what is left, and that it grows with the events alone.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>
#include <thread>

#include "log/read/log_reader.h"
#include "log/write/rotate.h"
#include "log_fixture.h"
#include "tests/support/patient_flush.h"

namespace {

using pplog::Lines;
using pplog::Pick;

constexpr uint64_t kSize = 64 * 1024;
const char kRotate[] = "rotate: {size: 64KiB}\n";

struct Left {
  std::vector<std::string> paths;
  std::vector<uint64_t> numbers;  // of segments
  uint64_t num_bytes = 0, num_records = 0, num_before = 0;
};

class SegmentsTest : public testing::Test {
 protected:
  void TearDown() override {
    pprof_stop(nullptr);
  }

  void Start(const std::string &name, const std::string &more) {
    path_ = folder_ / (name + ".pplog");
    pplog::Spill(folder_ / "p.yaml",
                 "output: " + path_ + "\ncontrol: {socket: false}\n" + more);
    pprof_error error = {""};
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_start((folder_ / "p.yaml").c_str(), &error))
        << error.text;
    num_made_ = 0;
  }

  // A name that does not compress.
  static std::string Name(uint64_t id) {
    std::mt19937_64 random(id);
    std::string name;
    for (int i = 0; i < 48; i++) name += static_cast<char>('!' + random() % 90);
    return name;
  }

  void Mark(uint64_t id) {
    pprof_push_name(Name(id).c_str(), PPROF_CATEGORY_USER_DEFINED);
    pprof_pop();
    num_made_++;
  }

  static void Flush() {
    pprof_test::FlushPatiently(pprof_session_current());
  }

  // A thread of its own for each round, and two new names.
  void Serve(uint64_t num_rounds) {
    for (uint64_t round = 0; round < num_rounds; round++) {
      std::thread worker([&] {
        for (int i = 0; i < 20; i++) Mark(2 * round);
      });
      worker.join();
      for (int i = 0; i < 20; i++) Mark(2 * round + 1);
      Flush();
    }
  }

  static void Note(void *user, const char *path, uint32_t number) {
    auto *left = static_cast<Left *>(user);
    left->paths.push_back(path);
    left->numbers.push_back(number);
  }

  Left Stop() {
    pprof_error error = {""};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
    Left left;
    ppi_segments_each(path_.c_str(), Note, &left);
    if (left.paths.empty()) left.paths.push_back(path_);
    std::sort(left.numbers.begin(), left.numbers.end());
    std::sort(left.paths.begin(), left.paths.end());
    std::vector<const char *> names;
    for (const auto &path : left.paths) {
      struct stat found = {};
      EXPECT_EQ(0, stat(path.c_str(), &found));
      left.num_bytes += static_cast<uint64_t>(found.st_size);
      names.push_back(path.c_str());
    }
    pplog::Collector all;
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_log_read_all(names.data(), names.size(), all.sink(), &error))
        << error.text;
    const Lines lines = all.lines();
    left.num_records = Pick(lines, "event").size();
    for (const auto &line : Pick(lines, "info records_before="))
      left.num_before = std::stoull(line.substr(line.find('=') + 1));
    for (const auto &line : Pick(lines, "total lane=-1 lost"))
      ADD_FAILURE() << line;
    return left;
  }

  pplog::Folder folder_;
  std::string path_;
  uint64_t num_made_ = 0;
};

TEST_F(SegmentsTest, ALimitBelowTwoSegmentsIsNoStart) {
  pplog::Spill(folder_ / "p.yaml", "output: " + folder_ / "x.pplog" +
                                       "\ndisk_limit: 1MiB\n"
                                       "rotate: {size: 512KiB}\n");
  pprof_error error = {""};
  EXPECT_EQ(PPROF_STATUS_CONFIG,
            pprof_start((folder_ / "p.yaml").c_str(), &error));
  // A long path is cut at its beginning.
  EXPECT_NE(std::string::npos,
            std::string(error.text)
                .find("p.yaml:2:13: 'disk_limit' must be at least 1536KiB, "
                      "twice 'rotate.size' and 512KiB"));
  EXPECT_FALSE(pplog::Exists(folder_ / "x.pplog.part"));
}

// Their definitions alone are several segments.
TEST_F(SegmentsTest, ManyNamesDoNotFillSegments) {
  Left whole, cut;
  for (bool rotates : {false, true}) {
    Start(rotates ? "cut" : "whole", rotates ? kRotate : "");
    for (uint64_t id = 0; id < 6000; id++) Mark(id);
    std::mt19937_64 random(1);
    for (int i = 0; i < 4000; i++) {
      Mark(random() % 6000);
      if (i % 100 == 99) Flush();
    }
    (rotates ? cut : whole) = Stop();
  }
  EXPECT_EQ(num_made_, whole.num_records);
  EXPECT_EQ(num_made_, cut.num_records);
  EXPECT_GT(whole.num_bytes, 3 * kSize);
  // At worst each record of a name brings that with it.
  EXPECT_LT(cut.num_bytes, 2 * whole.num_bytes);
  EXPECT_LE(cut.paths.size(), 2 * cut.num_bytes / kSize);
}

TEST_F(SegmentsTest, AServiceUnderALimitKeepsItsLatestRecords) {
  Start("service", "");
  Serve(1000);
  const uint64_t made = num_made_;
  const Left whole = Stop();
  Start("limited", std::string(kRotate) + "disk_limit: 1MiB\n");
  Serve(1000);
  const Left left = Stop();
  EXPECT_EQ(made, left.num_records + left.num_before);
  ASSERT_GE(left.numbers.size(), 2u);
  const size_t num = left.numbers.size();
  EXPECT_EQ(left.numbers[num - 2] + 1, left.numbers[num - 1]);
  EXPECT_LE(left.numbers.back(), 4 * whole.num_bytes / kSize + 1);
  EXPECT_LE(left.num_bytes, 1u << 20);
  // Far more than a segment's share of it.
  EXPECT_GT(left.num_records, made / 10);
}

// Whatever came and went before.
TEST_F(SegmentsTest, ARecordCostsTheSameInALongRun) {
  Left run[2];
  uint64_t num_made[2];
  for (int i = 0; i < 2; i++) {
    Start(i ? "long" : "short", kRotate);
    Serve(i ? 2000 : 500);
    num_made[i] = num_made_;
    run[i] = Stop();
    EXPECT_EQ(num_made[i], run[i].num_records);
  }
  const double bytes[2] = {
      static_cast<double>(run[0].num_bytes) / static_cast<double>(num_made[0]),
      static_cast<double>(run[1].num_bytes) / static_cast<double>(num_made[1])};
  EXPECT_LT(bytes[1], 1.25 * bytes[0]);
  EXPECT_LE(run[1].numbers.back(), 5 * run[0].numbers.back());
}

}  // namespace
