// SPDX-License-Identifier: Apache-2.0
//
// A run with so many ranges that its limit is found from a part of them. The
// report made in the process, that of its log and that of its Chrome trace say
// the same.
#include <gtest/gtest.h>
#include <pprof/pprof.h>
#include <stdlib.h>
#include <unistd.h>

#include <random>
#include <string>

extern "C" {
#include "import/import.h"
}
#include "event_feed.h"
#include "report/findings/findings.h"
#include "report_text.h"
#include "tests/support/recording_sink.h"

namespace {

using pprof_test::Report;

void Fill(pprof_test::EventFeed *feed) {
  std::mt19937_64 random(1);
  const uint32_t load = feed->Site("load", PPROF_CATEGORY_DATALOADER);
  const uint32_t forward = feed->Site("forward", PPROF_CATEGORY_FORWARD);
  const uint32_t step = feed->Site("step", PPROF_CATEGORY_PROFILE_STEP);
  for (uint32_t lane = 1; lane <= 3; lane++) feed->Lane(lane, 100 + lane, "t");
  auto add = [feed](uint32_t lane, uint32_t site, uint64_t from, uint64_t to) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.lane = lane;
    event.site = site;
    event.start_ns = from;
    event.end_ns = to;
    feed->Add(lane, event);
  };
  for (uint32_t lane = 1; lane <= 2; lane++) {
    uint64_t now = 1;
    for (int i = 0; i < 50000; i++) {
      const uint64_t middle = now + 100 + random() % 400;
      const uint64_t end = middle + 1 + (random() % 500) * (i / 10000);
      add(lane, load, now, middle);
      add(lane, forward, middle, end);
      now = end + 1;
    }
  }
  for (uint64_t i = 0; i < 400; i++)
    add(3, step, 1 + i * 100000, 1 + (i + 1) * 100000);
}

// Up to the notes, which say where a report comes from.
std::string Cells(const Report &report) {
  const ppi_findings_options findings = {};
  ppi_report_options options = {};
  options.findings = &findings;
  const std::string json = report.Write(PPI_FORMAT_JSON, options);
  return json.substr(0, json.find("\"notes\""));
}

class LongLimitTest : public testing::Test {
 protected:
  void SetUp() override {
    const char *base = getenv("TEST_TMPDIR");
    folder_ = std::string(base ? base : "/tmp") + "/longXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&folder_[0]));
    log_ = folder_ + "/run.pplog";
    trace_ = folder_ + "/run.json";
  }

  void TearDown() override {
    unlink(log_.c_str());
    unlink(trace_.c_str());
    rmdir(folder_.c_str());
  }

  // The same checkpoints each time.
  void Deliver(pprof_sink *sink) {
    std::mt19937_64 random(2);
    EXPECT_EQ(PPROF_STATUS_OK, feed_.DeliverAs(sink, &random, 4));
  }

  void ReadLog(pprof_sink *sink) {
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(log_.c_str(), sink, nullptr));
  }

  pprof_test::EventFeed feed_;
  std::string folder_, log_, trace_;
};

TEST_F(LongLimitTest, LiveLogAndTraceSayTheSame) {
  Report live, log, read_back;
  ppi_report_details details = {};
  details.answer = details.by_thread = details.paths = true;
  details.warmup = -1;
  for (Report *report : {&live, &log, &read_back})
    ppi_report_set_details(report->get(), &details);
  Fill(&feed_);
  pprof_sink *writer = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_log_writer_create(log_.c_str(), &writer, nullptr));
  Deliver(live.sink());
  Deliver(writer);
  writer->destroy(writer);
  ReadLog(log.sink());
  EXPECT_NE(Cells(log).find("\"limit\""), std::string::npos);
  EXPECT_EQ(Cells(live), Cells(log));
  pprof_sink *trace = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_chrome_writer_create(trace_.c_str(), &trace, nullptr));
  ReadLog(trace);
  trace->destroy(trace);
  ASSERT_EQ(PPROF_STATUS_OK, ppi_import_read(trace_.c_str(), read_back.sink(),
                                             nullptr, nullptr));
  EXPECT_EQ(Cells(log), Cells(read_back));
}

// 600 ranges of a start-up, then 30 turns of two stages; the second one
// launches 10 000 kernels, each 3 us of 10.
TEST_F(LongLimitTest, AStageOfThousandsOfKernelsIsTheLoops) {
  uint64_t now_us = 1;
  feed_.Lane(1, 101, "t");
  feed_.Device(1, "gpu:0");
  feed_.Stream(1, 1);
  for (int i = 0; i < 600; i++, now_us += 10)
    feed_.Range(1, "import", PPROF_CATEGORY_USER_DEFINED, 1000 * now_us,
                1000 * (now_us + 9));
  for (int turn = 0; turn < 30; turn++) {
    feed_.Range(1, "data", PPROF_CATEGORY_DATALOADER, 1000 * now_us,
                1000 * (now_us + 1000));
    now_us += 1000;
    feed_.Range(1, "update", PPROF_CATEGORY_OPTIMIZATION, 1000 * now_us,
                1000 * (now_us + 100000));
    for (int i = 0; i < 10000; i++, now_us += 10) {
      pprof_event &kernel =
          feed_.OnDevice(1, 1, "kernel", PPROF_CATEGORY_KERNEL, 1000 * now_us,
                         1000 * (now_us + 5), 1000 * (now_us + 8));
      kernel.depth = 1;
    }
  }
  Report live;
  ppi_report_details details = {};
  details.answer = true;
  details.warmup = -1;
  ppi_report_set_details(live.get(), &details);
  std::mt19937_64 random(2);
  EXPECT_EQ(PPROF_STATUS_OK, feed_.DeliverAs(live.sink(), &random, 40));
  const std::string cells = Cells(live);
  for (const char *part :
       {"update is the greatest part of an iteration", " of 101 ms (99 %)"})
    EXPECT_NE(cells.find(part), std::string::npos)
        << cells.substr(cells.find("\"limit\""), 500);
}

// A table of ranges ends at each.
TEST_F(LongLimitTest, ATraceHasCheckpointsBeforeAllRanges) {
  pprof_event event = {};
  event.kind = PPROF_KIND_RANGE;
  event.lane = 1;
  event.site = feed_.Site("late", PPROF_CATEGORY_FORWARD);
  event.start_ns = 1000000;
  event.end_ns = 1000001;
  feed_.Lane(1, 101, "t");
  feed_.Add(1, event);
  pprof_sink *trace = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_chrome_writer_create(trace_.c_str(), &trace, nullptr));
  Deliver(trace);
  trace->destroy(trace);
  pprof_test::Recording read;
  pprof_sink *sink = pprof_test::RecordingSink::Make(&read);
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_import_read(trace_.c_str(), sink, nullptr, nullptr));
  sink->destroy(sink);
  EXPECT_EQ(5u, read.num_open.size());  // the run's four, and its end
}

}  // namespace
