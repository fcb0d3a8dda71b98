// SPDX-License-Identifier: Apache-2.0
//
// The answer of several ranks: told apart, not summed blindly.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "event_feed.h"
#include "findings_runs.h"
#include "report_text.h"

namespace pprof_test {
namespace {

// 30 steps, or turns that nothing marks; forward takes `forward_ms` of each,
// update 2 ms.
EventFeed Rank(const std::string &rank, uint64_t forward_ms,
               bool are_marked = true) {
  EventFeed feed = FindingsFeed(false);
  feed.Run(std::string(31, '0') + rank, "10" + rank);
  feed.SetRank(rank);
  uint64_t step_ms = forward_ms + 2;
  for (uint64_t i = 0; i < 30; i++) {
    uint64_t now_ns = i * step_ms * kMs, middle_ns = now_ns + forward_ms * kMs;
    OnHost(&feed, 1, "forward", now_ns, middle_ns);
    OnHost(&feed, 1, "update", middle_ns, now_ns + step_ms * kMs);
    if (are_marked) feed.Step(now_ns, now_ns + step_ms * kMs);
  }
  feed.AddWindow(0, 30 * step_ms * kMs);
  return feed;
}

std::string WrittenOf(std::vector<EventFeed> feeds, ppi_report_by by,
                      ppi_report_format format = PPI_FORMAT_TABLE) {
  Report report;
  ppi_report_options options = {};
  options.style = PPI_STYLE_ANSWER;
  options.by = by;
  ppi_report_details details = {};
  details.warmup = 0;
  ppi_report_need(&options, format, &details);
  ppi_report_set_details(report.get(), &details);
  for (EventFeed &feed : feeds)
    EXPECT_EQ(PPROF_STATUS_OK, feed.Deliver(report.sink()));
  return report.Write(format, options);
}

std::string Written(const std::vector<uint64_t> &forward_ms, ppi_report_by by,
                    ppi_report_format format = PPI_FORMAT_TABLE) {
  std::vector<EventFeed> feeds;
  for (size_t i = 0; i < forward_ms.size(); i++)
    feeds.push_back(Rank(std::to_string(i), forward_ms[i]));
  return WrittenOf(std::move(feeds), by, format);
}

void Has(const std::string &text, const std::string &line) {
  EXPECT_NE(std::string::npos, text.find(line)) << line << "\nnot in\n" << text;
}

TEST(ViewRanksTest, EachRowHasItsLeastMedianAndMostAndWho) {
  std::string text = Written({8, 18, 9}, PPI_BY_USUAL);
  // 10, 20 and 11 ms a step.
  Has(text, "3 ranks \u00b7 30 steps of each in 410 ms = 73.2/s");
  Has(text, "min   median      max  longest\n");
  Has(text, "     11.7    85 %     8.00     9.00     18.0  rank 1\n");
  // All have the same.
  Has(text, "     2.00    15 %     2.00     2.00     2.00\n");
  Has(text, "     13.7   100 %     10.0     11.0     20.0  rank 1\n");
}

EventFeed Once(const std::string &number, const std::string &rank,
               const std::string &name) {
  EventFeed feed = FindingsFeed(false);
  feed.Run(std::string(31, '0') + number, "10" + number);
  if (!rank.empty()) feed.SetRank(rank);
  OnHost(&feed, 1, name, 0, 100 * kMs);
  feed.AddWindow(0, 400 * kMs);
  return feed;
}

// Only the interpreter's ranges are in a launcher, and no rank.
TEST(ViewRanksTest, WhatLaunchesRanksIsNone) {
  EventFeed launcher = Once("2", "", "import torch");
  std::string turns = WrittenOf(
      {launcher, Rank("0", 8, false), Rank("1", 18, false)}, PPI_BY_USUAL);
  Has(turns, "2 ranks");
  Has(turns, "iterations of each of forward, update found");
  std::string once =
      WrittenOf({launcher, Once("0", "0", "train"), Once("1", "1", "train")},
                PPI_BY_USUAL);
  Has(once, "2 ranks");
}

// A run three weeks before, without steps.
TEST(ViewRanksTest, TheDateIsOfTheRunsWhoseStepsAreCounted) {
  EventFeed other = FindingsFeed(false), counted = Rank("1", 8);
  other.Run(std::string(32, '2'), "102");
  other.SetBegan(kMs * 1793534400000);  // 2026-11-01 12:00 UTC
  counted.SetBegan(kMs * 1795348800000);
  OnHost(&other, 1, "load", 0, 5 * kMs);
  other.AddWindow(0, 5 * kMs);
  Has(WrittenOf({other, counted}, PPI_BY_USUAL), "2026-11-22 ");
}

TEST(ViewRanksTest, EachRankMayHaveItsTable) {
  std::string text = Written({8, 18}, PPI_BY_RANK);
  Has(text, "rank 0: where a step's 10.0 ms go");
  Has(text, "rank 1: where a step's 20.0 ms go");
  std::string csv = Written({8, 18}, PPI_BY_RANK, PPI_FORMAT_CSV);
  Has(csv,
      "\nforward,,host,18000000,90.0,18000000,,18000000,1.0,540000000,30,"
      ",,,,rank 1\n");
}

TEST(ViewRanksTest, AThreadHasItsOwnTimeAndTheRest) {
  std::string text = Written({8}, PPI_BY_THREAD);
  Has(text, "thread main: where the thread's 300 ms go");
  Has(text, "      240    80 %   30\n");
  EXPECT_EQ(std::string::npos, text.find("thread 0"));
}

TEST(ViewRanksTest, AThreadIsCalledByItsName) {
  EventFeed feed = FindingsFeed(false);  // main and worker
  feed.Lane(3, 103, "worker");
  feed.Lane(4, 104, "");
  feed.Lane(5, 101, "main/domain");
  for (uint32_t lane = 1; lane <= 5; lane++)
    OnHost(&feed, lane, "load", 0, kMs);
  feed.AddWindow(0, 10 * kMs);
  std::string text = WrittenOf({feed}, PPI_BY_THREAD);
  for (const char *name : {"main", "worker (102)", "worker (103)", "104"})
    Has(text, std::string("\nthread ") + name + ": ");
  EXPECT_EQ(std::string::npos, text.find("domain"));
}

TEST(ViewRanksTest, WhatThereIsNotIsSaid) {
  Has(Written({8}, PPI_BY_REQUEST), "no requests were recorded");
}

}  // namespace
}  // namespace pprof_test
