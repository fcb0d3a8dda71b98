// SPDX-License-Identifier: Apache-2.0
//
// Logs above 4 GiB: one with a hole of that size, which costs no disk, and in
// the long version one that is written and read in full.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <string>

#include "tests/support/log_fixture.h"
#include "tests/support/long_run.h"

namespace pplog {
namespace {

constexpr uint64_t kFourGiB = 4ull << 30;

uint64_t SizeOf(const std::string &path) {
  struct stat found = {};
  EXPECT_EQ(0, stat(path.c_str(), &found));
  return static_cast<uint64_t>(found.st_size);
}

// A run with one range, at a time that tells it from the others.
void WriteRun(const std::string &path, const char *uuid, uint64_t start) {
  pprof_sink *sink = Create(path);
  const ppi_text texts[] = {{"uuid", uuid}, {"host", "box"}};
  const pprof_run_info info = {texts, 2, nullptr};
  const pprof_definition site = Site(1, "far");
  const std::vector<pprof_event> events = {Range(1, 1, 0, start, start + 5)};
  const pprof_batch batch = Batch(1, 0, 1, events);
  ASSERT_EQ(PPROF_STATUS_OK, sink->begin(sink, &info));
  ASSERT_EQ(PPROF_STATUS_OK, sink->define(sink, &site));
  ASSERT_EQ(PPROF_STATUS_OK, sink->events(sink, &batch));
  ASSERT_EQ(PPROF_STATUS_OK, sink->finish(sink, &kNoTotals));
  sink->destroy(sink);
}

TEST(LargeLogTest, WhatLiesBehindAHoleOfFourGiBIsRead) {
  Folder folder;
  const std::string path = folder / "large.pplog", far = folder / "far.pplog";
  WriteRun(path, "00000000000000000000000000000001", 1000);
  WriteRun(far, "00000000000000000000000000000002", 2000);
  const uint64_t hole = kFourGiB + 12345;
  const uint64_t near_size = SizeOf(path);
  const std::string rest = Slurp(far);
  ASSERT_EQ(0, truncate(path.c_str(), static_cast<off_t>(near_size + hole)));
  std::ofstream(path, std::ios::binary | std::ios::app) << rest;
  ASSERT_EQ(near_size + hole + rest.size(), SizeOf(path));
  pprof_status status;
  std::string error;
  const Lines lines = Read(path, &status, &error);
  EXPECT_EQ(PPROF_STATUS_CORRUPT, status);
  EXPECT_NE(std::string::npos, error.find(std::to_string(hole))) << error;
  const Lines events = Pick(lines, "event");
  ASSERT_EQ(2u, events.size());
  EXPECT_NE(std::string::npos, events[0].find("1000")) << events[0];
  EXPECT_NE(std::string::npos, events[1].find("2000")) << events[1];
}

// Counts what a log holds and keeps what came last.
struct Tail {
  pprof_sink base = {};
  uint64_t num_definitions = 0, num_events = 0, num_bytes = 0;
  uint64_t last_start = 0, num_odd = 0;
  std::string last_name;

  Tail() {
    base.size = sizeof base;
    base.define = [](pprof_sink *sink, const pprof_definition *definition) {
      Tail *self = reinterpret_cast<Tail *>(sink);
      self->last_name = pprof_definition_name(definition);
      self->num_bytes += self->last_name.size();
      self->num_definitions++;
      return PPROF_STATUS_OK;
    };
    base.events = [](pprof_sink *sink, const pprof_batch *batch) {
      Tail *self = reinterpret_cast<Tail *>(sink);
      for (size_t i = 0; i < batch->num_events; i++) {
        self->num_odd += pprof_batch_at(batch, i)->start_ns <= self->last_start;
        self->last_start = pprof_batch_at(batch, i)->start_ns;
      }
      self->num_events += batch->num_events;
      return PPROF_STATUS_OK;
    };
  }
};

bool HasRoom(const Folder &folder, uint64_t bytes) {
  struct statvfs found = {};
  return statvfs((folder / ".").c_str(), &found) == 0 &&
         found.f_bavail * found.f_frsize > bytes;
}

// Names of noise, so that the compressor does not make them small.
void NextName(std::mt19937_64 *random, std::string *name) {
  for (size_t i = 0; i + 8 <= name->size(); i += 8) {
    const uint64_t word = (*random)();
    memcpy(&(*name)[i], &word, 8);
  }
  for (char &letter : *name)
    if (!letter) letter = 1;
}

TEST(LargeLogTest, AllOfALogIsWrittenAndRead) {
  const uint64_t size = pprof_test::Rounds(16, 4300) << 20;
  Folder folder;
  ASSERT_TRUE(HasRoom(folder, size + (1ull << 30)))
      << "no room for so large a log";
  const std::string path = folder / "full.pplog";
  pprof_sink *sink = Create(path);
  Info info;
  ASSERT_EQ(PPROF_STATUS_OK, sink->begin(sink, info.get()));
  std::mt19937_64 random(7);
  std::string name(4096, 'x');
  uint64_t num = 0, num_bytes = 0;
  for (; num_bytes < size; num++, num_bytes += name.size()) {
    NextName(&random, &name);
    pprof_definition site = Site(1, name.c_str());
    ASSERT_EQ(PPROF_STATUS_OK, sink->define(sink, &site));
    const std::vector<pprof_event> events = {
        Range(1, 1, 0, (num + 1) * 1000, (num + 1) * 1000 + 5)};
    const pprof_batch batch = Batch(1, num, num + 1, events);
    ASSERT_EQ(PPROF_STATUS_OK, sink->events(sink, &batch));
  }
  ASSERT_EQ(PPROF_STATUS_OK, sink->finish(sink, &kNoTotals));
  sink->destroy(sink);
  EXPECT_GT(SizeOf(path), size - size / 50);
  Tail tail;
  pprof_error error = {{0}};
  ASSERT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), &tail.base, &error))
      << error.text;
  EXPECT_EQ(num, tail.num_definitions);
  EXPECT_EQ(num, tail.num_events);
  EXPECT_EQ(num_bytes, tail.num_bytes);
  EXPECT_EQ(0u, tail.num_odd);
  EXPECT_EQ(num * 1000, tail.last_start);
  EXPECT_EQ(name, tail.last_name);
}

}  // namespace
}  // namespace pplog
