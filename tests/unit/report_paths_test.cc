// SPDX-License-Identifier: Apache-2.0
//
// The tree of what lies in what. Values are typed by hand.
#include <gtest/gtest.h>

#include <string>

#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

std::string Key(const char *key) {
  std::string text;
  for (const char *at = key; *at; at++) {
    if (*at == *PPI_PATH_STEP)
      text += " > ";
    else if (*at == *PPI_PATH_CATEGORY)
      text += ":";
    else if (*at == *PPI_PATH_DEVICE)
      text += "!";
    else
      text += *at;
  }
  return text;
}

// "PATH CALLSxTOTAL self SELF wall WALL device DEVICE", a line each.
std::string Paths(Report &report) {
  const ppi_figures *figures = ppi_report_figures(report.get());
  std::string text;
  for (size_t i = 0; i < figures->num_paths; i++) {
    const ppi_report_path &path = figures->paths[i];
    text += Key(path.key) + " " + std::to_string(path.spread.n) + "x" +
            std::to_string(path.spread.sum) + " self " +
            std::to_string(path.self_ns) + " wall " +
            std::to_string(path.wall_ns) + " device " +
            std::to_string(path.device_ns) + "\n";
    EXPECT_EQ(path.times.n, path.spread.n - path.spread.num_cut) << path.key;
  }
  return text;
}

class PathsTest : public testing::Test {
 protected:
  PathsTest() {
    feed.Lane(1, 100, "main");
    feed.Lane(2, 100, "main, another domain");
    feed.Lane(3, 300, "worker");
    feed.Device(1, "gpu:0");
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

// `leaf` is called from two places, and from none.
TEST_F(PathsTest, ANameStandsUnderEachThatCallsIt) {
  Stage("leaf", 10, 20);
  Stage("leaf", 20, 25);
  Stage("a", 0, 30);
  Stage("leaf", 40, 50);
  Stage("b", 30, 100);
  Stage("leaf", 200, 300);
  EXPECT_EQ(Told(),
            "a:UserDefined 1x30 self 15 wall 30 device 0\n"
            "a:UserDefined > leaf:UserDefined 2x15 self 15 wall 15 device 0\n"
            "b:UserDefined 1x70 self 60 wall 70 device 0\n"
            "b:UserDefined > leaf:UserDefined 1x10 self 10 wall 10 device 0\n"
            "leaf:UserDefined 1x100 self 100 wall 100 device 0\n");
}

TEST_F(PathsTest, FlatHasEachNameOnce) {
  Stage("leaf", 10, 20);
  Stage("a", 0, 30);
  Stage("leaf", 200, 300);
  details.flat_paths = true;
  EXPECT_EQ(Told(),
            "a:UserDefined 1x30 self 20 wall 30 device 0\n"
            "leaf:UserDefined 2x110 self 110 wall 110 device 0\n");
}

// Wall is the union over threads, total the sum.
TEST_F(PathsTest, ThreadsOverlap) {
  Stage("a", 0, 100, 1);
  Stage("a", 50, 150, 3);
  EXPECT_EQ(Told(), "a:UserDefined 2x200 self 200 wall 150 device 0\n");
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

}  // namespace
