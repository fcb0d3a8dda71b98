// SPDX-License-Identifier: Apache-2.0
//
// A block of events whose header and runs contradict each other, under right
// checksums: none of it is believed, and the blocks around it are.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "log/format/log_file.h"
#include "log/format/log_format.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

class BlockSumsTest : public ::testing::Test {
 protected:
  // Three blocks of events; that in the middle has a run for each of two lanes.
  void SetUp() override {
    pprof_sink *writer = Create(path_);
    Info info;
    ASSERT_EQ(PPROF_STATUS_OK, writer->begin(writer, info.get()));
    const pprof_definition site = Site(1, "decode");
    ASSERT_EQ(PPROF_STATUS_OK, writer->define(writer, &site));
    for (uint64_t i = 0; i < 3; i++) {
      for (uint32_t lane = 1; lane <= (i == 1 ? 2u : 1u); lane++) {
        const uint64_t t = i * 1000;
        const std::vector<pprof_event> events = {
            Range(lane, 1, 1, t + 10, t + 20),
            Range(lane, 1, 0, t + 5, t + 30)};
        const pprof_batch batch = Batch(lane, i * 2, i * 2 + 2, events);
        ASSERT_EQ(PPROF_STATUS_OK, writer->events(writer, &batch));
      }
      // It closes the block.
      const pprof_checkpoint checkpoint = {i * 1000 + 50, nullptr, 0};
      ASSERT_EQ(PPROF_STATUS_OK, writer->checkpoint(writer, &checkpoint));
    }
    ASSERT_EQ(PPROF_STATUS_OK, writer->finish(writer, &kNoTotals));
    writer->destroy(writer);
  }

  using Change = std::function<void(ppi_log_header *, ppi_log_run *)>;

  // The log with `change` made to the block in the middle.
  void Make(const Change &change) {
    struct Found {
      uint64_t offset, end;
      ppi_log_header header;
      std::vector<ppi_log_run> runs;
    } found = {};
    ppi_log_damage damage;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_log_scan(
                                   path_.c_str(),
                                   [](void *user, const ppi_log_block *block) {
                                     if (block->header.num_runs == 2)
                                       *static_cast<Found *>(user) = {
                                           block->offset,
                                           block->offset + block->size,
                                           block->header,
                                           {block->runs, block->runs + 2}};
                                     return PPROF_STATUS_OK;
                                   },
                                   &found, &damage, nullptr));
    ASSERT_EQ(2u, found.runs.size());
    const std::string bytes = Slurp(path_);
    const uint64_t stored = found.offset + ppi_log_runs_end(&found.header);
    change(&found.header, found.runs.data());
    std::string head(ppi_log_runs_end(&found.header), 0);
    ppi_log_header_store(reinterpret_cast<uint8_t *>(&head[0]), &found.header,
                         found.runs.data());
    Spill(changed_,
          bytes.substr(0, found.offset) + head + bytes.substr(stored));
  }

  void ExpectRefused(const char *what, const Change &change) {
    SCOPED_TRACE(what);
    Make(change);
    pprof_status status;
    const Lines lines = Read(changed_, &status);
    EXPECT_EQ(PPROF_STATUS_CORRUPT, status);
    EXPECT_EQ(2u, Pick(lines, "batch").size());
    EXPECT_EQ(4u, Pick(lines, "event").size());
    EXPECT_EQ("finish", lines.back());
  }

  Folder folder_;
  std::string path_ = folder_ / "x.pplog", changed_ = folder_ / "y.pplog";
};

TEST_F(BlockSumsTest, AsItWasWrittenItIsRead) {
  Make([](ppi_log_header *, ppi_log_run *) {});
  EXPECT_EQ(8u, Pick(Read(changed_), "event").size());
  EXPECT_EQ(Read(path_), Read(changed_));
}

TEST_F(BlockSumsTest, EventsOfRunsAreThoseOfTheBlock) {
  ExpectRefused(
      "one more in the header",
      [](ppi_log_header *header, ppi_log_run *) { header->num_events++; });
  ExpectRefused(
      "none in the header",
      [](ppi_log_header *header, ppi_log_run *) { header->num_events = 0; });
  ExpectRefused("one more in a run", [](ppi_log_header *, ppi_log_run *runs) {
    runs[1].num_events++;
  });
  ExpectRefused("more than can be", [](ppi_log_header *, ppi_log_run *runs) {
    runs[0].num_events = UINT32_MAX;
  });
}

TEST_F(BlockSumsTest, BytesOfRunsAreThoseOfTheBlock) {
  ExpectRefused("a run that is left out",
                [](ppi_log_header *header, ppi_log_run *runs) {
                  header->num_runs = 1;
                  header->num_events = runs[0].num_events;
                });
  ExpectRefused(
      "a run that begins in another",
      [](ppi_log_header *, ppi_log_run *runs) { runs[0].payload_len--; });
  ExpectRefused("a run beyond the payload",
                [](ppi_log_header *, ppi_log_run *runs) {
                  runs[1].payload_len = UINT32_MAX;
                });
}

TEST_F(BlockSumsTest, RecordsOfARunAreInOrder) {
  ExpectRefused("backwards", [](ppi_log_header *, ppi_log_run *runs) {
    runs[1].first_seq = runs[1].end_seq + 1;
  });
}

}  // namespace
}  // namespace pplog
