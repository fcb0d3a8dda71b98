// SPDX-License-Identifier: Apache-2.0
//
// A report of threads that come and go: a lane is one thread's, then another's,
// and of those that have left no more is known than what they did together.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "report/figures/sum.h"
#include "report/parts/threads.h"
#include "report/run/passes.h"

namespace {

constexpr uint32_t kHost = 1, kWork = 2, kDevice = 1, kStream = 1;
constexpr uint32_t kDeviceLane = 9;

class ReportThreadsTest : public testing::Test {
 protected:
  ReportThreadsTest() {
    run_.details.by_thread = true;
    run_.details.warmup = -1;
    const pprof_run_info info = {};
    EXPECT_TRUE(ppi_run_begin(&run_, &info));
    Define(PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_INFERENCE, 0, 0,
           "Inference");
    Define(PPROF_DEFINITION_SITE, kHost, PPROF_CATEGORY_INFERENCE, 0, "host");
    Define(PPROF_DEFINITION_SITE, kWork, PPROF_CATEGORY_INFERENCE, 0, "work");
    Define(PPROF_DEFINITION_DEVICE, kDevice, 0, 0, "gpu");
    Define(PPROF_DEFINITION_STREAM, kStream, kDevice, 0, "");
    EXPECT_TRUE(ppi_run_window(&run_, 0, true, 0));
  }
  ~ReportThreadsTest() override {
    ppi_figures_clear(&figures_);
    ppi_run_clear(&run_);
  }
  void Define(pprof_definition_kind kind, uint32_t id, uint32_t parent,
              uint64_t number, const char *name) {
    const pprof_definition definition = {kind, id, parent, 0, number, name};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_run_define(&run_, &definition));
  }
  void Lane(uint32_t lane, uint64_t thread) {
    Define(PPROF_DEFINITION_LANE, lane, 0, thread, "worker");
  }
  void Give(const pprof_event &event, uint32_t lane) {
    pprof_batch batch = {};
    batch.size = sizeof batch;
    batch.stride = sizeof event;
    batch.events = &event;
    batch.num_events = 1;
    batch.first_seq = next_seq_[lane];
    batch.end_seq = ++next_seq_[lane];
    batch.lane = lane;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_run_events(&run_, &batch));
  }
  void Range(uint32_t lane, uint64_t start_ns, uint64_t end_ns) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.site = kHost;
    event.lane = lane;
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    Give(event, lane);
  }
  void DeviceRange(uint32_t lane, uint64_t submit_ns, uint64_t length_ns) {
    pprof_event event = {};
    event.kind = PPROF_KIND_DEVICE_RANGE;
    event.site = kWork;
    event.lane = lane;
    event.stream = kStream;
    event.start_ns = event.end_ns = submit_ns;
    event.device_start_ns = submit_ns + 1;
    event.device_end_ns = submit_ns + 1 + length_ns;
    Give(event, kDeviceLane);
  }
  void Checkpoint(uint64_t ns) {
    const pprof_checkpoint checkpoint = {ns, nullptr, 0};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_run_checkpoint(&run_, &checkpoint));
  }
  void Finish() {
    const pprof_totals totals = {};
    ASSERT_TRUE(ppi_run_finish(&run_, &totals, &figures_));
  }
  const ppi_report_thread_name *Of(uint64_t thread, const std::string &name) {
    for (size_t i = 0; i < figures_.num_threads; i++)
      if (figures_.threads[i].thread == thread &&
          name == figures_.threads[i].name)
        return &figures_.threads[i];
    return nullptr;
  }

  ppi_run run_ = {};
  ppi_figures figures_ = {};
  std::map<uint32_t, uint64_t> next_seq_;
};

TEST_F(ReportThreadsTest, WhatWaitsForACheckpointStaysItsThreads) {
  Lane(1, 100);
  DeviceRange(1, 20, 7);
  Range(1, 10, 30);
  Lane(1, 200);
  Range(1, 40, 50);
  Checkpoint(60);
  Finish();
  const ppi_report_thread_name *first = Of(100, "host");
  const ppi_report_thread_name *second = Of(200, "host");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(20u, first->host.sum);
  EXPECT_EQ(7u, first->inside.sum);
  EXPECT_EQ(10u, second->host.sum);
  EXPECT_EQ(0u, second->inside.sum);
}

// It was open at the last checkpoint, and ended before its thread left.
TEST_F(ReportThreadsTest, WhatALeftThreadEndedIsNotOpen) {
  Lane(1, 100);
  pprof_event open = {};
  open.kind = PPROF_KIND_RANGE;
  open.site = kHost;
  open.lane = 1;
  open.start_ns = 10;
  open.end_ns = 50;
  const pprof_checkpoint checkpoint = {50, &open, 1};
  ASSERT_EQ(PPROF_STATUS_OK, ppi_run_checkpoint(&run_, &checkpoint));
  Range(1, 10, 100);
  Lane(1, 200);
  Range(1, 900, 1000);
  Finish();
  ASSERT_EQ(1u, figures_.num_categories);
  EXPECT_EQ(190u, figures_.categories[0].host_ns);
}

TEST_F(ReportThreadsTest, ThreadsThatLeftBecomeOneAndNothingIsMissing) {
  const uint64_t num = 30000, lanes = 4;
  uint64_t now = 0, host_ns = 0, inside_ns = 0;
  size_t most = 0;
  for (uint64_t i = 0; i < num; i++) {
    const uint32_t lane = static_cast<uint32_t>(1 + i % lanes);
    // Some numbers come again, as the system's do.
    Lane(lane, 1 + i % 25000);
    if (i % 3 == 0) DeviceRange(lane, now + 1, 1 + i % 5);
    Range(lane, now, now + 10 + i % 7);
    host_ns += 10 + i % 7;
    inside_ns += i % 3 == 0 ? 1 + i % 5 : 0;
    now += 20;
    if (i % 100 == 99) Checkpoint(now);
    most = std::max(most, ppi_run_num_threads(&run_.ids));
  }
  EXPECT_GE(2 * PPI_RUN_MAX_THREADS + 200, most);
  Finish();
  uint64_t n = 0, sum_host_ns = 0, sum_inside_ns = 0;
  for (size_t i = 0; i < figures_.num_threads; i++) {
    const ppi_report_thread_name &row = figures_.threads[i];
    if (std::string(row.name) != "host") continue;
    n += row.host.n;
    sum_host_ns += row.host.sum;
    sum_inside_ns += row.inside.sum;
    EXPECT_EQ(row.host.n, row.inside.n) << row.thread;
    EXPECT_EQ(row.host.n, row.host_times.n) << row.thread;
  }
  EXPECT_EQ(num, n);
  EXPECT_EQ(host_ns, sum_host_ns);
  EXPECT_EQ(inside_ns, sum_inside_ns);
  ASSERT_NE(nullptr, Of(PPI_REPORT_LEFT_THREADS, "host"));
  ASSERT_EQ(1u, figures_.num_notes);
  EXPECT_NE(std::string::npos,
            std::string(figures_.notes[0].text).find("<left threads>"));
  EXPECT_EQ(num, figures_.names[0].host.n);
}

// Of whether there was a checkpoint, and when, nothing shows.
TEST_F(ReportThreadsTest, CheckpointsDoNotDecideWhoIsSummedUp) {
  std::vector<std::map<uint64_t, uint64_t>> found;
  for (int every : {50, 3000}) {
    ppi_figures_clear(&figures_);
    ppi_run_clear(&run_);
    figures_ = {};
    next_seq_.clear();
    run_.details.by_thread = true;
    const pprof_run_info info = {};
    ASSERT_TRUE(ppi_run_begin(&run_, &info));
    Define(PPROF_DEFINITION_SITE, kHost, PPROF_CATEGORY_INFERENCE, 0, "host");
    for (int i = 0; i < 12000; i++) {
      Lane(1 + i % 3, 1 + i);
      Range(1 + i % 3, i * 20, i * 20 + 10);
      if (i % every == every - 1) Checkpoint(i * 20 + 20);
    }
    Finish();
    std::map<uint64_t, uint64_t> rows;
    for (size_t i = 0; i < figures_.num_threads; i++)
      rows[figures_.threads[i].thread] = figures_.threads[i].host.n;
    found.push_back(rows);
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
