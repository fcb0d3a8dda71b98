// SPDX-License-Identifier: Apache-2.0
//
// The findings of a run made by hand. For tests; one thread.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "event_feed.h"
#include "pprof/report.h"
#include "report/findings/findings.h"
#include "report/report.h"

namespace pprof_test {

// A report with all input of findings. Its findings come from figures alone, as
// without a verdict of the model of servers.
class FindingsReport {
 public:
  explicit FindingsReport(EventFeed *feed,
                          const ppi_findings_options *options = nullptr,
                          EventFeed *other = nullptr) {
    EXPECT_EQ(PPROF_STATUS_OK, pprof_report_create(&report_));
    ppi_report_details details = {};
    details.requests = details.answer = true;
    details.by_thread = details.paths = true;
    details.warmup = -1;
    ppi_report_set_details(report_, &details);
    EXPECT_EQ(PPROF_STATUS_OK, feed->Deliver(pprof_report_sink(report_)));
    if (other) {
      EXPECT_EQ(PPROF_STATUS_OK, other->Deliver(pprof_report_sink(report_)));
    }
    ppi_figures alone = *ppi_report_figures(report_);  // borrows all in it
    alone.limit = ppi_limit{};
    EXPECT_EQ(PPROF_STATUS_OK, ppi_findings_of(&alone, options, &findings_));
  }
  ~FindingsReport() {
    ppi_findings_clear(&findings_);
    pprof_report_destroy(report_);
  }
  FindingsReport(const FindingsReport &) = delete;
  FindingsReport &operator=(const FindingsReport &) = delete;

  const ppi_figures *figures() const {
    return ppi_report_figures(report_);
  }
  const ppi_findings &all() const {
    return findings_;
  }
  // The first of `id`; NULL: none.
  const ppi_finding *Of(const std::string &id) const {
    for (size_t i = 0; i < findings_.num; i++)
      if (id == findings_.items[i].id) return &findings_.items[i];
    return nullptr;
  }
  // The same; with no text where there is none.
  ppi_finding Get(const std::string &id) const {
    const ppi_finding *finding = Of(id);
    return finding ? *finding : ppi_finding{};
  }
  std::string Text(const std::string &id) const {
    return Get(id).text;
  }
  // The ids of all findings that are problems.
  std::string Problems() const {
    std::string ids;
    for (size_t i = 0; i < findings_.num; i++)
      if (findings_.items[i].is_problem)
        ids += std::string(ids.empty() ? "" : " ") + findings_.items[i].id;
    return ids;
  }

 private:
  pprof_report *report_ = nullptr;
  ppi_findings findings_ = {};
};

}  // namespace pprof_test
