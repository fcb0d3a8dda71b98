// SPDX-License-Identifier: Apache-2.0
//
// A report as text in any format, for tests.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "event_feed.h"
#include "pprof/export.h"
#include "pprof/report.h"
#include "print/report_print.h"

namespace pprof_test {

class Report {
 public:
  Report() {
    if (pprof_report_create(&report_) != PPROF_STATUS_OK) abort();
  }
  explicit Report(EventFeed &feed) : Report() {
    if (feed.Deliver(sink()) != PPROF_STATUS_OK) abort();
  }
  ~Report() {
    pprof_report_destroy(report_);
  }
  Report(const Report &) = delete;
  Report &operator=(const Report &) = delete;

  pprof_report *get() {
    return report_;
  }
  pprof_sink *sink() {
    return pprof_report_sink(report_);
  }

  std::string Write(ppi_report_format format, const char *views,
                    ppi_time_unit unit = PPI_TIME_MS) const {
    ppi_report_options options = {};
    options.views = views;
    options.time_unit = unit;
    options.is_wide = true;
    return Write(format, options);
  }
  std::string Write(ppi_report_format format,
                    const ppi_report_options &options) const {
    char *text = nullptr;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    pprof_status status = ppi_report_write(report_, &options, format, file);
    fclose(file);
    std::string written(text, len);
    free(text);
    return status == PPROF_STATUS_OK ? written : pprof_status_string(status);
  }
  std::string Table(const char *views, ppi_time_unit unit = PPI_TIME_MS) const {
    return Write(PPI_FORMAT_TABLE, views, unit);
  }
  std::string Json(const char *views = nullptr) const {
    return Write(PPI_FORMAT_JSON, views);
  }

  // Whether the table of `view` has a line that reads like `line`, blanks
  // squeezed.
  bool HasLine(const char *view, const std::string &line,
               ppi_time_unit unit = PPI_TIME_MS) const {
    std::istringstream lines(Table(view, unit));
    for (std::string at; std::getline(lines, at);)
      if (Squeeze(at) == line) return true;
    return false;
  }

  static std::string Squeeze(const std::string &text) {
    std::istringstream words(text);
    std::string all;
    for (std::string word; words >> word;)
      all += (all.empty() ? "" : " ") + word;
    return all;
  }

 private:
  pprof_report *report_ = nullptr;
};

}  // namespace pprof_test
