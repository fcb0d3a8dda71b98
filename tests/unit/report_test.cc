// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/mem.h"
#include "report/figures/sum.h"
#include "report/run/passes.h"
#include "report_text.h"
#include "scenario_s.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::kMs;
using pprof_test::Report;

bool Contains(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) return true;
  ADD_FAILURE() << "no '" << part << "' in\n" << text;
  return false;
}

TEST(ReportTest, IsBusyBeforeFinish) {
  Report report, other;
  EventFeed feed;
  EXPECT_EQ(pprof_report_write_table(report.get(), nullptr, stderr),
            PPROF_STATUS_BUSY);
  EXPECT_EQ(pprof_report_write_json(report.get(), nullptr, stderr),
            PPROF_STATUS_BUSY);
  EXPECT_EQ(pprof_report_write_csv(report.get(), nullptr, stderr),
            PPROF_STATUS_BUSY);
  ASSERT_EQ(feed.Deliver(other.sink()), PPROF_STATUS_OK);
  EXPECT_EQ(pprof_report_merge(report.get(), other.get()), PPROF_STATUS_BUSY);
  EXPECT_EQ(pprof_report_merge(other.get(), report.get()), PPROF_STATUS_BUSY);
  EXPECT_EQ(pprof_report_merge(other.get(), other.get()), PPROF_STATUS_INVALID);
}

TEST(ReportTest, IsBusyWhileAFurtherRunIsUnderWay) {
  Report report, other;
  EventFeed feed;
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  ASSERT_EQ(feed.Deliver(other.sink()), PPROF_STATUS_OK);
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_EQ(report.sink()->begin(report.sink(), &info), PPROF_STATUS_OK);
  EXPECT_EQ(report.sink()->begin(report.sink(), &info), PPROF_STATUS_BUSY);
  EXPECT_EQ(ppi_report_figures(report.get()), nullptr);
  EXPECT_EQ(pprof_report_merge(report.get(), other.get()), PPROF_STATUS_BUSY);
  EXPECT_EQ(pprof_report_merge(other.get(), report.get()), PPROF_STATUS_BUSY);
  pprof_totals totals = {};
  ASSERT_EQ(report.sink()->finish(report.sink(), &totals), PPROF_STATUS_OK);
  EXPECT_EQ(ppi_report_figures(report.get())->num_inputs, 2u);
}

TEST(ReportTest, SinksDestroyLeavesTheReport) {
  Report report;
  EventFeed feed;
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  report.sink()->destroy(report.sink());
  EXPECT_TRUE(Contains(report.Json(), "pprof.report/1"));
}

TEST(ReportTest, DestroyedInTheMiddleOfARunLeaksNothing) {
  pprof_report *report;
  ASSERT_EQ(pprof_report_create(&report), PPROF_STATUS_OK);
  pprof_sink *sink = pprof_report_sink(report);
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_EQ(sink->begin(sink, &info), PPROF_STATUS_OK);
  pprof_definition site = {PPROF_DEFINITION_SITE, 1, 0, 0, 0, "x"};
  ASSERT_EQ(sink->define(sink, &site), PPROF_STATUS_OK);
  pprof_report_destroy(report);
  pprof_report_destroy(nullptr);
}

TEST(ReportTest, EmptyRunHasItsWindowsAsBase) {
  EventFeed feed;
  feed.AddWindow(0, 5 * kMs);
  feed.AddWindow(7 * kMs, 8 * kMs);
  Report report(feed);
  EXPECT_EQ(ppi_report_figures(report.get())->base_ns, 6 * kMs);
  EXPECT_TRUE(Contains(report.Table(nullptr), "no steps), 6.00 ms."));
  EXPECT_TRUE(ppi_report_identity_ok(report.get()));
}

TEST(ReportTest, ZeroLengthWindowHasNoRatios) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.AddWindow(0, 0);
  feed.Range(1, "x", PPROF_CATEGORY_OPERATOR, 0, 0);
  feed.Range(1, "y", PPROF_CATEGORY_MEMORY, 0, kMs);
  Report report(feed);
  EXPECT_TRUE(report.HasLine("overview", "Operator 1 0.00 0.00"));
  EXPECT_TRUE(report.HasLine("overview", "Memory 1 1.00 -"));
  EXPECT_TRUE(Contains(report.Json(), "[\"Memory\",\"host\",1,1000000,null]"));
}

TEST(ReportTest, GarbageTimesAreHarmless) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.AddWindow(0, 10);
  for (int i = 0; i < 3; i++) {
    feed.Range(1, "x", PPROF_CATEGORY_FORWARD, UINT64_MAX, 0);
    feed.Range(1, "x", PPROF_CATEGORY_FORWARD, 0, UINT64_MAX);
    feed.Range(9, "y", PPROF_CATEGORY_USER_DEFINED, 5, 1);
    feed.OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, UINT64_MAX, UINT64_MAX, 1);
    feed.OnDevice(1, 99, "k", PPROF_CATEGORY_KERNEL, 0, 3, 1);
    feed.OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 0, 1, UINT64_MAX);
  }
  Report report(feed);
  EXPECT_TRUE(ppi_report_identity_ok(report.get()));
  EXPECT_EQ(ppi_report_total(report.get(), PPI_TOTAL_INVALID), 12u);
  EXPECT_TRUE(Contains(report.Table(nullptr), "<device 0>"));
}

TEST(ReportTest, AnIdBeyondAllBoundsIsCorrupt) {
  EventFeed feed;
  feed.Range(0, "x", PPROF_CATEGORY_OPERATOR, 0, 1).site = 0xfffffff0u;
  Report report;
  EXPECT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_CORRUPT);
}

TEST(ReportTest, ACategoryBeyondAllBoundsIsCorrupt) {
  Report report;
  EventFeed feed;
  feed.Site("a", 1u << 24);
  EXPECT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_CORRUPT);
}

// What came before any definition is the first name's, what came behind the
// second one is that one's.
TEST(ReportTest, ASiteOfAnotherNameIsAnotherOne) {
  EventFeed feed;
  feed.Range(0, "x", PPROF_CATEGORY_USER_DEFINED, 0, 1);
  Report report;
  pprof_sink *sink = report.sink();
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_EQ(sink->begin(sink, &info), PPROF_STATUS_OK);
  pprof_event event = {};
  event.kind = PPROF_KIND_RANGE;
  event.site = 1;
  event.end_ns = 1;
  pprof_batch batch = {sizeof batch, sizeof event, &event, 1, 0, 1, 0, 0};
  ASSERT_EQ(sink->events(sink, &batch), PPROF_STATUS_OK);
  for (const char *name : {"old", "new", "old"}) {
    pprof_definition site = {PPROF_DEFINITION_SITE, 1, 0, 0, 0, name};
    ASSERT_EQ(sink->define(sink, &site), PPROF_STATUS_OK);
    ASSERT_EQ(sink->events(sink, &batch), PPROF_STATUS_OK);
  }
  pprof_totals totals = {};
  ASSERT_EQ(sink->finish(sink, &totals), PPROF_STATUS_OK);
  EXPECT_TRUE(Contains(report.Json(), "[\"old\",\"<category 0>\",3,"));
  EXPECT_TRUE(Contains(report.Json(), "[\"new\",\"<category 0>\",1,"));
}

// Two sites of one name and category, and threads of two lanes.
TEST(ReportTest, EqualNamesAreOneRow) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.AddWindow(0, 100);
  feed.Range(1, "x", PPROF_CATEGORY_USER_DEFINED, 0, 10);
  feed.Range(1, "z", PPROF_CATEGORY_USER_DEFINED, 10, 20);
  Report report;
  pprof_sink *sink = report.sink();
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_EQ(sink->begin(sink, &info), PPROF_STATUS_OK);
  for (uint32_t id : {1, 2}) {
    pprof_definition site = {PPROF_DEFINITION_SITE, id, 0, 0, 0, "x"};
    ASSERT_EQ(sink->define(sink, &site), PPROF_STATUS_OK);
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.site = id;
    event.end_ns = 10 * id;
    pprof_batch batch = {sizeof batch, sizeof event, &event, 1, 0, 1, 0, 0};
    ASSERT_EQ(sink->events(sink, &batch), PPROF_STATUS_OK);
  }
  pprof_totals totals = {};
  ASSERT_EQ(sink->finish(sink, &totals), PPROF_STATUS_OK);
  EXPECT_TRUE(Contains(report.Json("userdefined"),
                       "[\"x\",\"<category 0>\",2,30,15,20,10,"));
}

TEST(ReportTest, MergedProcessesAddUp) {
  EventFeed one, two;
  pprof_test::FillScenarioS(&one);
  pprof_test::FillScenarioS(&two);
  two.Run("00000000000000000000000000000002", "2");
  two.Total(PPI_TOTAL_CLOCK_ERROR_NS, 40);
  two.Total(PPI_TOTAL_CRASH_SAFE, 0);
  two.Note("not_crash_safe", "no room in /dev/shm");
  Report sum(one), other(two);
  ASSERT_EQ(pprof_report_merge(sum.get(), other.get()), PPROF_STATUS_OK);
  EXPECT_TRUE(sum.HasLine("overview", "Kernel 20 148.00 74.00"));
  EXPECT_TRUE(sum.HasLine("device", "GPU0 74.00"));
  EXPECT_TRUE(sum.HasLine("model",
                          "Forward 4 60.00 / 15.00 / 15.00 / 15.00 / 30.00 "
                          "64.00 / 16.00 / 16.00 / 16.00 / 37.21"));
  std::string table = sum.Table("overview");
  EXPECT_TRUE(Contains(table, "summed over 2 processes"));
  EXPECT_TRUE(Contains(table, "recorded 100, lost 0"));
  EXPECT_TRUE(Contains(table, "clock error ±40 ns"));
  EXPECT_TRUE(Contains(table, "not crash-safe: no room in /dev/shm"));
  EXPECT_TRUE(Contains(sum.Json(),
                       "{\"uuid\":\"00000000000000000000000000000002\","
                       "\"host\":\"testhost\",\"pid\":\"2\"}"));
}

TEST(ReportTest, IdentityNamesTheIdleClasses) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.AddWindow(0, 1000);
  feed.Step(0, 500);
  feed.Step(500, 1000);
  auto device = [&](uint64_t submit, uint64_t from, uint64_t to) {
    feed.OnDevice(1, 1, "m", PPROF_CATEGORY_INFERENCE, submit, from, to)
        .device_error_ns = 5;
  };
  device(50, 100, 200);   // 100 before it: submitted in the gap
  device(150, 240, 300);  // 40 before it: queued
  device(160, 309, 400);  // 9 before it: below 5 + 5, unresolved
  device(410, 410, 600);  // 10 before it: resolved, submitted after it began
  Report report(feed);
  EXPECT_TRUE(Contains(
      report.Json(),
      "{\"device\":\"gpu:0\",\"wall_ns\":1000,\"busy_ns\":441,"
      "\"not_submitted_ns\":110,\"queued_ns\":40,\"no_more_work_ns\":400,"
      "\"unresolved_ns\":9,\"steps_checked\":2,\"steps_failed\":0,\"ok\":true,"
      "\"incomplete\":false}"));
}

TEST(ReportTest, ManyStepsWithoutCheckpointsAreFast) {
  EventFeed feed;
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.AddWindow(0, 10 * 200000);
  for (uint64_t i = 0; i < 200000; i++) {
    feed.Step(i * 10, i * 10 + 10);
    feed.OnDevice(0, 1, "m", PPROF_CATEGORY_INFERENCE, i * 10, i * 10 + 2,
                  i * 10 + 14);
  }
  Report report(feed);
  const ppi_report_device &device =
      ppi_report_figures(report.get())->devices[0];
  EXPECT_EQ(device.steps_checked, 200000u);
  EXPECT_FALSE(device.failed);
  EXPECT_EQ(device.idle_ns[PPI_IDLE_NOT_SUBMITTED], 2u);
}

TEST(ReportTest, AStepToldOfTooLateIsNotChecked) {
  ppi_identity identity = {};
  ppi_span window = {0, 100};
  ppi_windows windows = {&window, 1, 1};
  ppi_union none = {};
  ppi_device_side side = {10, 20, 5, 0, false, false, false};
  ASSERT_TRUE(ppi_identity_add(&identity, &side));
  ASSERT_TRUE(ppi_identity_settle(&identity, &windows, &none, 50));
  ASSERT_TRUE(ppi_identity_step_at(&identity, 0, 0, 60));
  ASSERT_TRUE(ppi_identity_settle(&identity, &windows, &none, UINT64_MAX));
  EXPECT_EQ(identity.steps_unchecked, 1u);
  EXPECT_EQ(identity.steps_failed, 0u);
  ppi_identity_clear(&identity);
}

// The two sides of the identity are counted apart: a window that turns out,
// after all, to have closed before what was already accounted for shows up.
TEST(ReportTest, AFailedIdentityIsSeen) {
  Report report;
  pprof_sink *sink = report.sink();
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_EQ(sink->begin(sink, &info), PPROF_STATUS_OK);
  ASSERT_EQ(sink->window(sink, 0, true, 0), PPROF_STATUS_OK);
  pprof_definition stream = {PPROF_DEFINITION_STREAM, 1, 1, 0, 0, ""};
  ASSERT_EQ(sink->define(sink, &stream), PPROF_STATUS_OK);
  pprof_event event = {};
  event.kind = PPROF_KIND_DEVICE_RANGE;
  event.stream = 1;
  event.start_ns = event.end_ns = 30;
  event.device_start_ns = 40;
  event.device_end_ns = 45;
  pprof_batch batch = {sizeof batch, sizeof event, &event, 1, 0, 1, 0, 0};
  ASSERT_EQ(sink->events(sink, &batch), PPROF_STATUS_OK);
  for (uint64_t time_ns : {50, 60}) {
    pprof_checkpoint checkpoint = {time_ns, nullptr, 0};
    ASSERT_EQ(sink->checkpoint(sink, &checkpoint), PPROF_STATUS_OK);
  }
  ASSERT_EQ(sink->window(sink, 0, false, 35), PPROF_STATUS_OK);
  pprof_totals totals = {};
  ASSERT_EQ(sink->finish(sink, &totals), PPROF_STATUS_OK);
  EXPECT_FALSE(ppi_report_identity_ok(report.get()));
  EXPECT_TRUE(Contains(report.Table(nullptr), "0 failed: FAILED\n"));
  EXPECT_TRUE(Contains(report.Json(), "\"ok\":false"));
}

// A recovered log tells its definitions twice, and may name another thread.
TEST(ReportTest, DefinitionsAgainWhileRangesWait) {
  Report report;
  pprof_sink *sink = report.sink();
  pprof_run_info info = {nullptr, 0, nullptr};
  pprof_definition category = {
      PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_OPERATOR, 0, 0, 0, "Operator"};
  pprof_definition site = {
      PPROF_DEFINITION_SITE, 1, PPROF_CATEGORY_OPERATOR, 0, 0, "matmul"};
  pprof_definition lane = {PPROF_DEFINITION_LANE, 1, 0, 0, 100, "main"};
  ASSERT_EQ(sink->begin(sink, &info), PPROF_STATUS_OK);
  for (const pprof_definition *each : {&category, &site, &lane})
    ASSERT_EQ(sink->define(sink, each), PPROF_STATUS_OK);
  pprof_event event = {};
  event.kind = PPROF_KIND_RANGE;
  event.site = event.lane = 1;
  event.start_ns = 10;
  event.end_ns = 30;
  pprof_batch batch = {sizeof batch, sizeof event, &event, 1, 0, 1, 1, 0};
  ASSERT_EQ(sink->events(sink, &batch), PPROF_STATUS_OK);
  lane.number = 200;
  for (const pprof_definition *each : {&category, &site, &lane})
    ASSERT_EQ(sink->define(sink, each), PPROF_STATUS_OK);
  pprof_totals totals = {};
  ASSERT_EQ(sink->finish(sink, &totals), PPROF_STATUS_OK);
  EXPECT_TRUE(Contains(report.Json(), "[\"Operator\",\"host\",1,20,"));
}

TEST(ReportTest, IdentityIsIncompleteWithLostOrUntimedRanges) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.AddWindow(0, 1000);
  feed.OnDevice(1, 1, "m", PPROF_CATEGORY_INFERENCE, 5, 0, 0).flags =
      PPROF_FLAG_NO_DEVICE_TIME | PPROF_FLAG_LATE;
  feed.Note("device", "opencl 0: no platform found");
  Report report(feed);
  EXPECT_TRUE(report.HasLine("device", "gpu:0 -"));
  std::string table = report.Table(nullptr);
  EXPECT_TRUE(Contains(table, "ok, incomplete"));
  EXPECT_TRUE(Contains(table, "missing for 1 device ranges"));
  EXPECT_TRUE(Contains(table, "missing: opencl 0: no platform found"));
  EventFeed lost;
  lost.Device(1, "gpu:0");
  lost.Total(PPI_TOTAL_DEVICE_LOST, 1);
  EXPECT_TRUE(Contains(Report(lost).Table(nullptr), "ok, incomplete"));
}

// A range that stood for open behind its event would lie around all that
// follows; the step would be one that never ends.
TEST(ReportTest, WhatIsListedAfterItsEventIsNotBelieved) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.AddWindow(0, 1000 * kMs);
  std::mt19937_64 random(7);
  for (uint64_t i = 0; i < 100; i++) {
    const uint64_t at = i * 10 * kMs;
    feed.Step(at, at + 10 * kMs);
    feed.Range(1, "f", PPROF_CATEGORY_FORWARD, at, at + 6 * kMs);
    feed.Range(1, "b", PPROF_CATEGORY_BACKWARD, at + 6 * kMs, at + 9 * kMs);
  }
  feed.ListDelivered();
  Report report;
  ASSERT_EQ(feed.DeliverAs(report.sink(), &random, 30), PPROF_STATUS_OK);
  EXPECT_TRUE(report.HasLine("model",
                             "Forward 100 600.00 / 6.00 / 6.00 / 6.00 / 60.00 "
                             "0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
  EXPECT_TRUE(report.HasLine("model",
                             "Backward 100 300.00 / 3.00 / 3.00 / 3.00 / 30.00 "
                             "0.00 / 0.00 / 0.00 / 0.00 / 0.00"));
  EXPECT_EQ(ppi_report_figures(report.get())->perf.batch.n, 90u);
  EXPECT_TRUE(Contains(report.Table("model"), ", disbelieved "));
}

// Who hears of a request has it begin in the past, which is no mistake.
TEST(ReportTest, ARequestMayBeginBeforeItIsListed) {
  for (bool is_request : {false, true}) {
    EventFeed feed;
    feed.Lane(1, 100, "main");
    pprof_event open = feed.Range(1, "r", PPROF_CATEGORY_INFERENCE, 5, 20);
    open.flags = PPROF_FLAG_ASYNC;
    if (is_request) open.flags |= PPROF_FLAG_REQUEST;
    Report report;
    ASSERT_EQ(PPROF_STATUS_OK,
              feed.DeliverCheckpoints(report.sink(),
                                      {{10, nullptr, 0}, {20, &open, 1}}));
    EXPECT_EQ(is_request ? 0u : 1u,
              ppi_report_figures(report.get())->num_disbelieved);
  }
}

// What a round of a hundred events, half of them the device's, may leave.
void ExpectLittleHeld(ppi_run_ids *ids) {
  for (size_t i = 0; i < ids->num_threads; i++) {
    const ppi_scopes &scopes = ids->threads[i]->scopes;
    EXPECT_LE(scopes.num_carried, 2u);
    EXPECT_EQ(scopes.num_points, 0u);
  }
  ppi_run_device *device = ppi_run_device_at(ids, 1);
  EXPECT_LE(device->identity.num_sides, 50u);
  EXPECT_EQ(device->identity.num_steps, 1u);
  EXPECT_EQ(ppi_run_category_at(ids, 0)->host.num, 0u);
}

// One outermost phase and one step stay open over all of it.
TEST(ReportTest, CheckpointsBoundMemory) {
  ppi_run run = {};
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_TRUE(ppi_run_begin(&run, &info));
  ASSERT_TRUE(ppi_run_window(&run, 0, true, 0));
  const pprof_definition definitions[] = {
      {PPROF_DEFINITION_SITE, 1, PPROF_CATEGORY_FORWARD, 0, 0, "outer"},
      {PPROF_DEFINITION_SITE, 2, PPROF_CATEGORY_USER_DEFINED, 0, 0, "inner"},
      {PPROF_DEFINITION_SITE, 3, PPROF_CATEGORY_PROFILE_STEP, 0, 0, "step"},
      {PPROF_DEFINITION_SITE, 4, PPROF_CATEGORY_KERNEL, 0, 0, "kernel"},
      {PPROF_DEFINITION_LANE, 1, 0, 0, 100, "main"},
      {PPROF_DEFINITION_DEVICE, 1, 0, 0, 0, "gpu:0"},
      {PPROF_DEFINITION_STREAM, 1, 1, 0, 0, ""}};
  for (const pprof_definition &definition : definitions)
    ASSERT_EQ(ppi_run_define(&run, &definition), PPROF_STATUS_OK);
  auto deliver = [&](const pprof_event &event) {
    pprof_batch batch = {sizeof batch, sizeof event, &event, 1, 0, 1, 1, 0};
    ASSERT_EQ(ppi_run_events(&run, &batch), PPROF_STATUS_OK);
  };
  pprof_event open[2] = {};
  open[0].kind = open[1].kind = PPROF_KIND_RANGE;
  open[0].site = 1;
  open[0].lane = 1;
  open[1].site = 3;
  for (uint64_t round = 0; round < 60; round++) {
    for (uint64_t i = 0; i < 100; i++) {
      pprof_event event = {};
      event.kind = i % 2 ? PPROF_KIND_RANGE : PPROF_KIND_DEVICE_RANGE;
      event.site = i % 4 ? 2 : 4;
      event.lane = 1;
      event.stream = i % 2 ? 0 : 1;
      event.start_ns = round * 1000 + i * 10;
      event.end_ns = event.start_ns + 3;
      event.device_start_ns = i % 2 ? 0 : event.start_ns + 1;
      event.device_end_ns = i % 2 ? 0 : event.start_ns + 5;
      deliver(event);
    }
    open[0].end_ns = open[1].end_ns = (round + 1) * 1000;
    pprof_checkpoint checkpoint = {open[0].end_ns, open, 2};
    ASSERT_EQ(ppi_run_checkpoint(&run, &checkpoint), PPROF_STATUS_OK);
    ExpectLittleHeld(&run.ids);
  }
  deliver(open[0]);
  deliver(open[1]);
  ASSERT_TRUE(ppi_run_window(&run, 0, false, 60000));
  pprof_totals totals = {};
  ppi_figures figures = {};
  ASSERT_TRUE(ppi_run_finish(&run, &totals, &figures));
  EXPECT_EQ(figures.phases[PPI_PHASE_FORWARD].device.sum, 60u * 25 * 4);
  EXPECT_EQ(figures.phases[PPI_PHASE_PROFILE_STEP].device.sum, 60u * 25 * 4);
  EXPECT_EQ(figures.devices[0].busy_ns, 60u * 50 * 4);
  EXPECT_EQ(figures.devices[0].used_ns, 60u * 25 * 4);
  EXPECT_EQ(figures.devices[0].steps_failed, 0u);
  EXPECT_FALSE(figures.devices[0].failed);
  ppi_figures_clear(&figures);
  ppi_run_clear(&run);
}

// 100 000 windows of 100 ns, and a checkpoint behind each hundred.
TEST(ReportTest, WindowsAreAsManyAsTheyAre) {
  constexpr uint32_t kWindows = 100000;
  ppi_run run = {};
  run.details.answer = true;
  pprof_run_info info = {nullptr, 0, nullptr};
  ASSERT_TRUE(ppi_run_begin(&run, &info));
  for (uint32_t i = 0; i < kWindows; i++) {
    uint64_t start = 1000 * (i + 1);
    ASSERT_TRUE(ppi_run_window(&run, i, true, start));
    ASSERT_TRUE(ppi_run_window(&run, i, false, start + 100));
    pprof_checkpoint checkpoint = {};
    checkpoint.time_ns = start + 500;
    if (i % 100 != 99) continue;
    ASSERT_EQ(ppi_run_checkpoint(&run, &checkpoint), PPROF_STATUS_OK);
  }
  // One that is known does not open anew.
  ASSERT_TRUE(ppi_run_window(&run, 7, true, 5));
  ppi_figures figures = {};
  pprof_totals totals = {};
  ASSERT_TRUE(ppi_run_finish(&run, &totals, &figures));
  EXPECT_EQ(run.windows.num, kWindows);
  EXPECT_EQ(figures.wall_ns, 100u * kWindows);
  EXPECT_EQ(figures.answers[PPI_BASE_WALL].total_ns, 100u * kWindows);
  ppi_figures_clear(&figures);
  ppi_run_clear(&run);
}

TEST(ReportTest, RunsOutOfMemoryCleanly) {
  EventFeed feed;
  pprof_test::FillScenarioS(&feed);
  for (uint64_t n = 1; n < 3000; n++) {
    pprof_report *report = nullptr;
    pprof_status status = pprof_report_create(&report);
    ASSERT_EQ(status, PPROF_STATUS_OK);
    // The feed's own counting allocates as well, so a failure may be its own.
    ppi_mem_fail_at(n);
    status = feed.Deliver(pprof_report_sink(report));
    ppi_mem_fail_at(0);
    pprof_report_destroy(report);
    if (status == PPROF_STATUS_OK) return;
    ASSERT_EQ(status, PPROF_STATUS_NO_MEMORY) << n;
  }
  FAIL() << "never succeeded";
}

}  // namespace
