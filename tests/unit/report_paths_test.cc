// SPDX-License-Identifier: Apache-2.0
//
// The tree of what lies in what. Values are typed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "report/figures/path_rows.h"
#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

std::string Key(const ppi_figures *figures, const ppi_report_path &path) {
  const ppi_report_path *up = ppi_path_row_up(figures, &path);
  return (up ? Key(figures, *up) + " > " : "") + path.name + ":" +
         path.category_name + (path.on_device ? "!" : "");
}

// "PATH CALLSxTOTAL self SELF wall WALL device DEVICE", a line each.
std::string Paths(Report &report) {
  const ppi_figures *figures = ppi_report_figures(report.get());
  std::string text;
  for (size_t i = 0; i < figures->num_paths; i++) {
    const ppi_report_path &path = figures->paths[i];
    text += Key(figures, path) + " " + std::to_string(path.spread.n) + "x" +
            std::to_string(path.spread.sum) + " self " +
            std::to_string(path.self_ns) + " wall " +
            std::to_string(path.wall_ns) + " device " +
            std::to_string(path.device_ns) + "\n";
    EXPECT_EQ(path.times.n, path.spread.n - path.spread.num_cut) << path.name;
  }
  return text;
}

class PathsTest : public testing::Test {
 protected:
  PathsTest() {
    feed.Lane(1, 100, "main");
    feed.Lane(2, 100, "main, another domain");
    feed.Lane(3, 300, "worker");
    feed.Device(1, "cuda:0");
    feed.Stream(1, 1);
    feed.AddWindow(0, 1000);
    details.paths = true;
  }
  pprof_event &Stage(const std::string &name, uint64_t from, uint64_t to,
                     uint32_t lane = 1) {
    return feed.Range(lane, name, PPROF_CATEGORY_USER_DEFINED, from, to);
  }
  std::string Told() {
    Report report;
    ppi_report_set_details(report.get(), &details);
    EXPECT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
    return Paths(report);
  }
  EventFeed feed;
  ppi_report_details details = {};
};

TEST_F(PathsTest, AreNotCollectedUnasked) {
  Stage("a", 0, 10);
  details.paths = false;
  EXPECT_EQ(Told(), "");
}

// Device ranges lie where they were submitted, whatever lane of the thread has
// the stage; what nothing was around is at the root.
TEST_F(PathsTest, DeviceRangesStandWhereTheyWereSubmitted) {
  Stage("inner", 10, 20, 2);
  Stage("outer", 0, 100, 1);
  feed.OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 15, 30, 40);
  feed.OnDevice(1, 1, "k", PPROF_CATEGORY_KERNEL, 50, 60, 80);
  feed.OnDevice(3, 1, "k", PPROF_CATEGORY_KERNEL, 50, 90, 100);
  EXPECT_EQ(Told(),
            "inner:UserDefined 1x10 self 10 wall 10 device 10\n"
            "inner:UserDefined > k:Kernel! 1x10 self 10 wall 10 device 10\n"
            "k:Kernel! 1x10 self 10 wall 10 device 10\n"
            "outer:UserDefined 1x100 self 100 wall 100 device 30\n"
            "outer:UserDefined > k:Kernel! 1x20 self 20 wall 20 device 20\n");
}

// What crosses threads is at the root, and has nothing inside.
TEST_F(PathsTest, LooseRangesAreAtTheRoot) {
  Stage("leaf", 10, 20);
  Stage("loose", 0, 50).flags |= PPROF_FLAG_ASYNC;
  Stage("a", 5, 40);
  EXPECT_EQ(Told(),
            "a:UserDefined 1x35 self 25 wall 35 device 0\n"
            "a:UserDefined > leaf:UserDefined 1x10 self 10 wall 10 device 0\n"
            "loose:UserDefined 1x50 self 0 wall 50 device 0\n");
}

// ---- kernels ----

// "PATH KERNELS+COPIES in LAUNCHES busy B span S idle
// NOT_LAUNCHED/LAUNCH/QUEUED after DELAY,DELAY" of each path that has any; then
// what lies outside.
std::string Use(Report &report) {
  const ppi_figures *figures = ppi_report_figures(report.get());
  std::string text;
  for (size_t i = 0; i < figures->num_paths; i++) {
    const ppi_device_use &use = figures->paths[i].use;
    if (!use.launches) continue;
    auto number = [&](const char *before, uint64_t value) {
      text += before + std::to_string(value);
    };
    text += Key(figures, figures->paths[i]);
    number(" ", use.kernels);
    number("+", use.copies);
    number(" in ", use.launches);
    number(" busy ", use.busy_ns);
    number(" span ", use.spans.sum);
    number(" idle ", use.gap_ns[PPI_GAP_NOT_LAUNCHED]);
    number("/", use.gap_ns[PPI_GAP_LAUNCH]);
    number("/", use.gap_ns[PPI_GAP_QUEUED]);
    text += " after";
    std::vector<uint64_t> delays(use.delays.exact,
                                 use.delays.exact + use.delays.n);
    std::sort(delays.begin(), delays.end());
    for (uint64_t delay : delays) number(" ", delay);
    if (use.copies) {
      number(" bytes ", use.copied_bytes);
      number(" in ", use.copy_ns);
    }
    text += "\n";
  }
  const ppi_report_kernels &all = figures->kernels;
  uint64_t num = 0, ns = 0;
  for (int i = 0; i < PPI_NUM_STRAYS; i++) {
    num += all.num_stray[i];
    ns += all.stray_ns[i];
  }
  return text + std::to_string(num) + " of " + std::to_string(all.num) +
         " outside, " + std::to_string(ns) + "\n";
}

class KernelsTest : public PathsTest {
 protected:
  KernelsTest() {
    details.kernels = true;
  }
  pprof_event &Kernel(uint64_t launch, uint64_t from, uint64_t to,
                      uint32_t lane = 1) {
    return feed.OnDevice(lane, 1, "k", PPROF_CATEGORY_KERNEL, launch, from, to);
  }
  std::string Used() {
    Report report;
    ppi_report_set_details(report.get(), &details);
    EXPECT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
    return Use(report);
  }
};

// Two overlap; the third is launched 10 after both are over, and starts 10
// later.
TEST_F(KernelsTest, BusyIsAUnionAndGapsHaveACause) {
  Stage("a", 0, 100);
  Kernel(10, 20, 30);
  Kernel(12, 28, 40);
  Kernel(50, 60, 70);
  EXPECT_EQ(Used(),
            "a:UserDefined 3+0 in 3 busy 30 span 50 idle 10/10/0 after 10 10 "
            "16\n0 of 3 outside, 0\n");
}

// Launched before the device fell idle: it waited for something else.
TEST_F(KernelsTest, WhatWasLaunchedBeforeAGapWasQueued) {
  Stage("a", 0, 100);
  Kernel(10, 20, 40);
  Kernel(15, 55, 60);
  EXPECT_EQ(Used(),
            "a:UserDefined 2+0 in 2 busy 25 span 40 idle 0/0/15 after 10 40\n"
            "0 of 2 outside, 0\n");
}

// A gap between two calls is no call's.
TEST_F(KernelsTest, SpansAreOfEachCall) {
  Stage("a", 0, 20);
  Stage("a", 50, 70);
  Stage("step", 0, 100);
  Kernel(10, 20, 30);
  Kernel(60, 65, 75);
  EXPECT_EQ(Used(),
            "step:UserDefined 2+0 in 2 busy 20 span 55 idle 30/5/0 after 5 10\n"
            "step:UserDefined > a:UserDefined 2+0 in 2 busy 20 span 20 idle "
            "0/0/0 after 5 10\n0 of 2 outside, 0\n");
}

// A graph's kernels come of one launch; the first of them says when it began.
TEST_F(KernelsTest, OneLaunchMayHaveMany) {
  Stage("a", 0, 100);
  Kernel(10, 40, 50);
  Kernel(10, 20, 30);
  feed.OnDevice(1, 1, "copy", PPROF_CATEGORY_MEMCPY, 15, 50, 60);
  EXPECT_EQ(Used(),
            "a:UserDefined 2+1 in 2 busy 30 span 40 idle 0/0/10 after 10 35 "
            "bytes 0 in 10\n0 of 3 outside, 0\n");
}

// Of all lanes of the thread, and of nothing that only overlaps on the device.
TEST_F(KernelsTest, BelongToAllRangesAroundTheirLaunch) {
  Stage("inner", 10, 20, 2);
  Stage("outer", 0, 100, 1);
  Stage("other", 0, 200, 3);
  Kernel(15, 120, 130);
  Kernel(50, 130, 150);
  EXPECT_EQ(Used(),
            "inner:UserDefined 1+0 in 1 busy 10 span 10 idle 0/0/0 after 105\n"
            "outer:UserDefined 2+0 in 2 busy 30 span 30 idle 0/0/0 after 80 "
            "105\n0 of 2 outside, 0\n");
}

TEST_F(KernelsTest, ThoseOfNoRangeAreOutside) {
  Stage("a", 0, 20);
  Kernel(10, 15, 20);
  Kernel(30, 40, 47);
  Kernel(30, 50, 53, 3);
  EXPECT_EQ(Used(),
            "a:UserDefined 1+0 in 1 busy 5 span 5 idle 0/0/0 after 5\n"
            "2 of 3 outside, 10\n");
}

TEST_F(KernelsTest, ThoseOfNoRangeSayWhy) {
  Stage("a", 0, 20);
  Kernel(10, 15, 20);
  Kernel(30, 40, 41);
  Kernel(31, 41, 43).flags = PPROF_FLAG_IN_GRAPH;
  Kernel(32, 43, 47).depth = 2;  // of ranges that nobody tells of
  Kernel(15, 47, 55, 0);         // the process's
  Kernel(33, 55, 71, 0).depth = 1;
  feed.OnDevice(3, 1, "copy", PPROF_CATEGORY_MEMCPY, 15, 71, 103);
  Report report;
  ppi_report_set_details(report.get(), &details);
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  const ppi_figures *figures = ppi_report_figures(report.get());
  const uint64_t nums[] = {2, 1, 1, 2}, times[] = {1 + 32, 2, 4, 8 + 16};
  for (int i = 0; i < PPI_NUM_STRAYS; i++) {
    EXPECT_EQ(figures->kernels.num_stray[i], nums[i]) << i;
    EXPECT_EQ(figures->kernels.stray_ns[i], times[i]) << i;
  }
}

// Of each device for itself.
TEST_F(KernelsTest, InsideAndOutsideAreAll) {
  feed.Device(2, "cuda:1");
  feed.Stream(2, 2);
  Stage("a", 0, 20);
  for (uint64_t i = 0; i < 5; i++) Kernel(10 + i, 20 + i, 21 + i);
  Kernel(30, 40, 41);
  feed.OnDevice(1, 2, "k", PPROF_CATEGORY_KERNEL, 11, 20, 30);
  feed.OnDevice(1, 2, "s", PPROF_CATEGORY_MEMSET, 50, 60, 70);
  feed.OnDevice(1, 2, "s", PPROF_CATEGORY_MEMSET, 51, 60, 70);
  feed.OnDevice(1, 2, "stage", PPROF_CATEGORY_INFERENCE, 12, 60, 70);
  feed.OnDevice(1, 2, "k", PPROF_CATEGORY_KERNEL, 13, 0, 0).flags =
      PPROF_FLAG_NO_DEVICE_TIME;
  Report report;
  ppi_report_set_details(report.get(), &details);
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  const ppi_figures *figures = ppi_report_figures(report.get());
  std::map<std::string, std::vector<uint64_t>> work;
  for (size_t i = 0; i < figures->num_devices; i++) {
    const ppi_report_device &device = figures->devices[i];
    work[device.name] = {device.work, device.num_inside, device.num_outside};
    EXPECT_FALSE(device.failed);
  }
  EXPECT_EQ(work["cuda:0"], (std::vector<uint64_t>{6, 5, 1}));
  EXPECT_EQ(work["cuda:1"], (std::vector<uint64_t>{3, 1, 2}));
}

TEST_F(KernelsTest, ThoseOfAThreadThatWasWaitedForAreCounted) {
  Stage("a", 0, 20);
  Kernel(10, 15, 20);
  Kernel(11, 20, 25).flags = PPROF_FLAG_BY_WAIT;
  Report report;
  ppi_report_set_details(report.get(), &details);
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  const ppi_figures *figures = ppi_report_figures(report.get());
  ASSERT_GE(figures->num_paths, 1u);
  EXPECT_EQ(figures->paths[0].use.by_wait, 1u);
}

// Flat, one that calls itself has its kernels once.
TEST_F(KernelsTest, APathHasEachOnce) {
  Stage("a", 5, 20);
  Stage("a", 0, 30);
  Kernel(10, 15, 20);
  details.flat_paths = true;
  EXPECT_EQ(Used(),
            "a:UserDefined 1+0 in 1 busy 5 span 5 idle 0/0/0 after 5\n"
            "0 of 1 outside, 0\n");
}

TEST_F(KernelsTest, CopiesHaveBytes) {
  Stage("a", 0, 20);
  pprof_work_amount work = {};
  work.bytes = 4096;
  feed.OnDevice(1, 1, "copy", PPROF_CATEGORY_MEMCPY, 5, 10, 18).work = &work;
  EXPECT_EQ(
      Used(),
      "a:UserDefined 0+1 in 1 busy 8 span 8 idle 0/0/0 after 5 bytes 4096 "
      "in 8\n0 of 1 outside, 0\n");
}

TEST_F(KernelsTest, AreNotCountedUnasked) {
  Stage("a", 0, 20);
  Kernel(10, 15, 20);
  details.kernels = false;
  EXPECT_EQ(Used(), "0 of 0 outside, 0\n");
}

TEST_F(PathsTest, MergedReportsAddUp) {
  Stage("leaf", 10, 20);
  Stage("a", 0, 30);
  Report one, other;
  ppi_report_set_details(one.get(), &details);
  ppi_report_set_details(other.get(), &details);
  ASSERT_EQ(feed.Deliver(one.sink()), PPROF_STATUS_OK);
  Stage("b", 40, 50);
  ASSERT_EQ(feed.Deliver(other.sink()), PPROF_STATUS_OK);
  ASSERT_EQ(pprof_report_merge(one.get(), other.get()), PPROF_STATUS_OK);
  EXPECT_EQ(Paths(one),
            "a:UserDefined 2x60 self 40 wall 60 device 0\n"
            "a:UserDefined > leaf:UserDefined 2x20 self 20 wall 20 device 0\n"
            "b:UserDefined 1x10 self 10 wall 10 device 0\n");
}

// Rows of both lie between those of the other, on each level.
TEST_F(PathsTest, MergedTreesAreOneTree) {
  Stage("b", 10, 20);
  Stage("d", 20, 25);
  Stage("a", 0, 30);
  Stage("c", 40, 50);
  EventFeed later;
  later.Lane(1, 100, "main");
  later.AddWindow(0, 1000);
  const auto stage = [&](const char *name, uint64_t from, uint64_t to) {
    later.Range(1, name, PPROF_CATEGORY_USER_DEFINED, from, to);
  };
  stage("a", 11, 12);
  stage("c", 10, 14);
  stage("b", 14, 20);
  stage("a", 0, 30);
  stage("b", 31, 50);
  Report one, other;
  ppi_report_set_details(one.get(), &details);
  ppi_report_set_details(other.get(), &details);
  ASSERT_EQ(feed.Deliver(one.sink()), PPROF_STATUS_OK);
  ASSERT_EQ(later.Deliver(other.sink()), PPROF_STATUS_OK);
  ASSERT_EQ(pprof_report_merge(one.get(), other.get()), PPROF_STATUS_OK);
  const std::string u = ":UserDefined", a = "a" + u, c = a + " > c" + u;
  EXPECT_EQ(Paths(one), a + " 2x60 self 35 wall 60 device 0\n" + a + " > b" +
                            u + " 2x16 self 16 wall 16 device 0\n" + c +
                            " 1x4 self 3 wall 4 device 0\n" + c + " > a" + u +
                            " 1x1 self 1 wall 1 device 0\n" + a + " > d" + u +
                            " 1x5 self 5 wall 5 device 0\n" + "b" + u +
                            " 1x19 self 19 wall 19 device 0\n" + "c" + u +
                            " 1x10 self 10 wall 10 device 0\n");
}

// What lies deeper than all levels stands on the last one: no time is lost.
TEST_F(PathsTest, NestsDeeperThanAllLevels) {
  const uint64_t deep = PPI_PATH_LEVELS + 476;
  feed.AddWindow(1, 10000);
  for (uint64_t level = deep; level > 0; level--)
    Stage("n" + std::to_string(level), level, 2 * deep - level + 1);
  Report report;
  ppi_report_set_details(report.get(), &details);
  ASSERT_EQ(feed.Deliver(report.sink()), PPROF_STATUS_OK);
  const ppi_figures *figures = ppi_report_figures(report.get());
  ASSERT_EQ(figures->num_paths, deep);
  uint64_t self_ns = 0;
  for (size_t i = 0; i < figures->num_paths; i++) {
    const ppi_report_path &path = figures->paths[i];
    self_ns += path.self_ns;
    EXPECT_EQ(path.level, std::min<uint64_t>(i + 1, PPI_PATH_LEVELS));
    EXPECT_EQ(path.up, path.level - 1);
  }
  EXPECT_EQ(self_ns, 2 * deep - 1);
  ASSERT_EQ(figures->num_notes, 1u);
  EXPECT_STREQ(
      figures->notes[0].text,
      "ranges deeper than 1024 levels stand on level 1024 of the tree");
}

}  // namespace
