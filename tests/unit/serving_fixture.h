// SPDX-License-Identifier: Apache-2.0
//
// What tests of serving share: a process that serves requests, typed by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "event_feed.h"
#include "report/report.h"
#include "report_text.h"

namespace pprof_test {

constexpr uint32_t kChat = PPROF_CATEGORY_INFERENCE;

using Numbers = std::vector<uint64_t>;

class ServingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    feed_.Lane(1, 11, "engine");
    feed_.AddWindow(0, 20000);
  }
  void Request(uint64_t id, uint64_t arrival_ns, uint64_t end_ns,
               double tokens_in = 0, uint32_t flags = 0) {
    pprof_event &event = feed_.Range(1, class_, kChat, arrival_ns, end_ns);
    event.flags = PPROF_FLAG_ASYNC | PPROF_FLAG_REQUEST | flags;
    Say(&event, id, tokens_in);
  }
  pprof_event &Served(uint64_t id, uint64_t time_ns) {
    return Mark("served", id, time_ns, 0);
  }
  void Token(uint64_t id, uint64_t time_ns, double num = 1) {
    Mark("token", id, time_ns, num);
  }
  // A range on the engine's thread that serves these requests, and prefills
  // those that it serves first.
  void Iteration(uint64_t start_ns, uint64_t end_ns,
                 const std::vector<uint64_t> &ids, uint32_t depth = 0) {
    for (uint64_t id : ids) Served(id, start_ns + 1).depth = depth + 1;
    feed_.Range(1, "step", kChat, start_ns, end_ns).depth = depth;
  }
  pprof_event &Mark(const std::string &name, uint64_t id, uint64_t time_ns,
                    double num) {
    pprof_event &event = feed_.Range(1, name, 0, time_ns, time_ns);
    event.kind = PPROF_KIND_MARK;
    event.flags = PPROF_FLAG_REQUEST;
    Say(&event, id, num);
    return event;
  }
  void Say(pprof_event *event, uint64_t id, double items) {
    flows_.push_back(id);
    event->flows = &flows_.back();
    event->num_flows = 1;
    if (items == 0) return;
    works_.push_back({sizeof(pprof_work_amount), items, 0, 0, 0});
    event->work = &works_.back();
  }
  // The worked example of docs/serving.md.
  void Example() {
    Served(7, 3000);
    Token(7, 5000);
    Token(7, 6000);
    Token(7, 8000);
    Token(7, 10000, 2);
    Request(7, 1000, 11000, 100);
    Token(8, 3000);
    Request(8, 2000, 4000, 20);
    Served(9, 10000);
    Request(9, 9000, 12000, 5, PPROF_FLAG_CLIPPED);
    Request(10, 100, 200);
  }
  const ppi_serving &Sums(Report *report) {
    if (feed_.Deliver(report->sink()) != PPROF_STATUS_OK) abort();
    const ppi_figures *figures = ppi_report_figures(report->get());
    if (figures->num_serving != 1) abort();
    EXPECT_EQ(class_, figures->serving[0].name);
    return figures->serving[0].sums;
  }
  const ppi_serving &SumsOf(Report *report, const std::string &name) {
    if (feed_.Deliver(report->sink()) != PPROF_STATUS_OK) abort();
    return Find(report->get(), name);
  }
  static const ppi_serving &Find(const pprof_report *report,
                                 const std::string &name) {
    const ppi_figures *figures = ppi_report_figures(report);
    for (size_t i = 0; i < figures->num_serving; i++)
      if (name == figures->serving[i].name) return figures->serving[i].sums;
    abort();
  }
  // n, sum, least, most.
  static std::vector<uint64_t> Of(const ppi_serving &sums,
                                  ppi_serving_time time) {
    const ppi_spread &spread = sums.spreads[time];
    return {spread.n, spread.sum, spread.min, spread.max};
  }

  std::string class_ = "chat";
  EventFeed feed_;
  std::deque<uint64_t> flows_;
  std::deque<pprof_work_amount> works_;
};

}  // namespace pprof_test
