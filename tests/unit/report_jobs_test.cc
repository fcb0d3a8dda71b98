// SPDX-License-Identifier: Apache-2.0
//
// A report says the same however many threads make it, and when it is carried.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/mem.h"
#include "figures_text.h"
#include "jobs.h"
#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::FiguresText;
using pprof_test::Report;

// What stands beside the nested ranges of four threads.
enum Beside {
  NOTHING,
  FLOWS,
  REQUESTS,
  DEVICE,
  NEW_NAMES,
  OVERLAPS,
  NUM_BESIDE
};

class Stream {
 public:
  Stream(EventFeed *feed, uint64_t seed, Beside beside)
      : feed_(feed), random_(seed), beside_(beside) {}

  void Fill() {
    for (uint32_t lane = 1; lane <= 4; lane++)
      feed_->Lane(lane, 100 + lane / 2, "thread");
    feed_->Device(1, "cuda:0");
    feed_->Stream(1, 1);
    for (uint32_t lane = 1; lane <= 4; lane++)
      for (uint64_t now = lane; now < kEnd;) now = Nest(lane, now, 3);
    for (uint64_t at = 0; at + kEnd / 50 <= kEnd; at += kEnd / 40)
      feed_->Step(at, at + kEnd / 50);
  }

 private:
  static constexpr uint64_t kEnd = 50000;

  // Adds a range after the ranges inside it; answers its end.
  uint64_t Nest(uint32_t lane, uint64_t start, int depth) {
    uint64_t end = start + random_() % 50;
    uint64_t begin = start;
    for (uint64_t num = depth ? random_() % 5 : 0; num; num--)
      end = Nest(lane, end, depth - 1);
    end += random_() % 30;
    if (beside_ == OVERLAPS && random_() % 7 == 0) begin -= begin % 100;
    uint32_t category =
        random_() % 6 ? PPROF_CATEGORY_USER_DEFINED : PPROF_CATEGORY_FORWARD;
    std::string name = "stage " + std::to_string(random_() % 9);
    if (beside_ == NEW_NAMES && random_() % 400 == 0)
      name += "." + std::to_string(end);
    pprof_event &event = feed_->Range(lane, name, category, begin, end);
    event.depth = static_cast<uint32_t>(3 - depth);
    if (beside_ == REQUESTS || (beside_ == FLOWS && depth == 3)) {
      flows_.push_back(beside_ == FLOWS ? end / 5000 + 1 : end / 200 + 1);
      event.flows = &flows_.back();
      event.num_flows = 1;
    }
    if (beside_ == DEVICE && depth == 1 && start > kEnd / 2)
      feed_->OnDevice(lane, 1, name, category, start, end + 10, end + 20);
    return end + random_() % 20;
  }

  EventFeed *feed_;
  std::mt19937_64 random_;
  Beside beside_;
  std::deque<uint64_t> flows_;
};

std::string RequestsText(const ppi_figures &figures) {
  std::ostringstream out;
  for (size_t i = 0; i < figures.num_request_runs; i++) {
    const ppi_request_run &run = *figures.request_runs[i];
    for (size_t k = 0; k < run.num_rows; k++) {
      const ppi_request_row &row = run.rows[k];
      out << "\n" << row.flow << " " << row.length_ns << " " << row.hop_ns;
      for (size_t c = 0; c < row.num_cells; c++) {
        const ppi_request_cell &cell = run.cells[row.first_cell + c];
        out << " " << cell.stage << ":" << cell.calls << ":" << cell.own_ns
            << ":" << cell.critical_ns;
      }
    }
  }
  return out.str();
}

std::string Told(EventFeed *feed, ppi_report_details details, ppi_jobs *jobs) {
  Report report;
  details.jobs = jobs;
  details.much_pages = 1;
  details.warmup = -1;
  ppi_report_set_details(report.get(), &details);
  std::mt19937_64 random(5);
  EXPECT_EQ(feed->DeliverAs(report.sink(), &random, 10), PPROF_STATUS_OK);
  EXPECT_FALSE(ppi_report_depends_on_jobs(report.get()));
  const ppi_figures *figures = ppi_report_figures(report.get());
  return report.Json() + FiguresText(*figures) + RequestsText(*figures);
}

TEST(ReportJobsTest, AnyNumberOfThreadsGivesTheSameReport) {
  Jobs two(2), eight(8);
  for (int beside = NOTHING; beside < NUM_BESIDE; beside++) {
    EventFeed feed;
    Stream stream(&feed, 7, static_cast<Beside>(beside));
    stream.Fill();
    for (int choice = 0; choice < 4; choice++) {
      ppi_report_details details = {};
      details.answer = details.requests = choice != 1;
      details.paths = choice != 2;
      details.answer_of_steps = choice == 3;
      details.by_thread = choice == 3;
      std::string alone = Told(&feed, details, nullptr);
      for (Jobs *jobs : {&two, &eight})
        EXPECT_EQ(Told(&feed, details, jobs->get()), alone)
            << beside << " " << choice;
    }
  }
}

TEST(ReportJobsTest, TooManyPathsAskForOneThread) {
  EventFeed feed;
  feed.Lane(1, 100, "thread");
  for (uint64_t i = 0, now = 0; i < 260; i++) {
    const std::string outer = "outer " + std::to_string(i);
    uint64_t begin = now;
    for (uint64_t k = 0; k < 260; k++, now += 10)
      feed.Range(1, "inner " + std::to_string(k), 0, now, now + 10).depth = 1;
    feed.Range(1, outer, 0, begin, now);
  }
  Jobs jobs(3);
  for (ppi_jobs *of : {jobs.get(), static_cast<ppi_jobs *>(nullptr)}) {
    Report report;
    ppi_report_details details = {};
    details.paths = true;
    details.jobs = of;
    details.much_pages = 1;
    ppi_report_set_details(report.get(), &details);
    std::mt19937_64 random(5);
    EXPECT_EQ(feed.DeliverAs(report.sink(), &random, 6), PPROF_STATUS_OK);
    EXPECT_EQ(ppi_report_depends_on_jobs(report.get()), of != nullptr);
  }
}

TEST(ReportCarryTest, AReportTooLargeToCarryStaysWhole) {
  EventFeed feed;
  Stream stream(&feed, 7, FLOWS);
  stream.Fill();
  Report report(feed), same(feed);
  ppi_carry carry = {};
  carry.most = 100;
  ppi_report_carry(&carry, report.get());
  EXPECT_TRUE(carry.failed);
  EXPECT_LE(carry.capacity, 4096u);
  ppi_free(carry.bytes);
  ASSERT_NE(ppi_report_figures(report.get()), nullptr);
  EXPECT_EQ(report.Json(), same.Json());
}

// ---- the jobs themselves ----

struct Counted {
  ppi_job job;
  unsigned number;
  std::vector<unsigned> *retired;
  unsigned done;
};

void Count(ppi_job *job, unsigned worker) {
  EXPECT_LT(worker, 4u);
  reinterpret_cast<Counted *>(job)->done++;
}

bool Retire(ppi_job *job) {
  Counted *self = reinterpret_cast<Counted *>(job);
  EXPECT_EQ(self->done, 1u);
  self->retired->push_back(self->number);
  return self->number != 40;
}

TEST(ReportJobsTest, ALineRetiresJobsInOrderAndAnswersTheFirstFailure) {
  Jobs jobs(4);
  std::vector<unsigned> retired, wanted;
  std::vector<Counted> all(200);
  ppi_job_line line = {};
  line.jobs = jobs.get();
  unsigned failures = 0;
  for (unsigned i = 0; i < all.size(); i++) {
    all[i] = {};
    all[i].job.run = Count;
    all[i].job.retire = Retire;
    all[i].job.size = 2u << 20;  // four fit
    all[i].number = i;
    all[i].retired = &retired;
    failures += !ppi_line_put(&line, &all[i].job);
    EXPECT_LE(line.size, 8u << 20);
    wanted.push_back(i);
  }
  failures += !ppi_line_end(&line);
  EXPECT_EQ(failures, 1u);
  EXPECT_EQ(retired, wanted);
  EXPECT_EQ(nullptr, ppi_jobs_create(1));
}

}  // namespace
