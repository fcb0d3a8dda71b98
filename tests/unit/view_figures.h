// SPDX-License-Identifier: Apache-2.0
//
// Figures filled by hand, and the views made of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "print/report_print.h"
#include "report/figures/rows.h"
#include "report/figures/sum.h"
#include "report/report.h"
#include "report_text.h"
#include "view/view.h"

namespace pprof_test {

typedef std::initializer_list<uint64_t> Times;

class Figures {
 public:
  Figures() {
    figures_.base_ns = figures_.wall_ns = 1000;
    figures_.runs_with_steps = 1;
    figures_.general_device_ns = figures_.model_device_ns = 400;
  }
  ~Figures() {
    ppi_figures_clear(&figures_);
  }
  Figures(const Figures &) = delete;
  Figures &operator=(const Figures &) = delete;

  ppi_figures *operator->() {
    return &figures_;
  }
  ppi_figures &operator*() {
    return figures_;
  }

  static void Fill(ppi_spread *spread, Times times) {
    for (uint64_t time : times) ppi_spread_add(spread, time);
  }
  static void Fill(ppi_spread *spread, ppi_histogram *histogram, Times times) {
    Fill(spread, times);
    for (uint64_t time : times) ASSERT_TRUE(ppi_histogram_add(histogram, time));
  }

  // Host ranges of `name`, of which each has the same device time in it.
  ppi_report_name *Host(uint32_t category, const std::string &name, Times host,
                        Times inside = {}) {
    ppi_report_name *row = Name(category, name);
    Fill(&row->host, &row->host_times, host);
    Fill(&row->inside, inside);
    return row;
  }
  ppi_report_name *Device(uint32_t category, const std::string &name,
                          Times times) {
    ppi_report_name *row = Name(category, name);
    Fill(&row->device, &row->device_times, times);
    return row;
  }
  ppi_report_name *Name(uint32_t category, const std::string &name) {
    return ppi_figures_name(&figures_, category, CategoryName(category),
                            name.c_str());
  }
  void Flops(uint32_t category, const std::string &name, double flops) {
    std::string category_name = CategoryName(category), run = "r", its = name;
    ppi_report_work key = {};
    key.run = &run[0];
    key.name = &its[0];
    key.category_name = &category_name[0];
    ppi_figures_work(&figures_, &key)->flops = flops;
  }
  ppi_report_thread_name *OnThread(const std::string &process, uint64_t thread,
                                   uint32_t category, const std::string &name) {
    std::string texts[] = {process, CategoryName(category), name};
    ppi_report_thread_name key = {};
    key.process = &texts[0][0];
    key.thread = thread;
    key.category = category;
    key.category_name = &texts[1][0];
    key.name = &texts[2][0];
    return ppi_figures_thread_name(&figures_, &key);
  }
  ppi_report_part *Part(const std::string &op, const std::string &child,
                        const std::string &launch,
                        const std::string &process = "", uint64_t thread = 0) {
    std::string texts[] = {process, op, child, launch};
    ppi_report_part key = {};
    key.process = &texts[0][0];
    key.thread = thread;
    key.op = &texts[1][0];
    key.child = &texts[2][0];
    key.launch = &texts[3][0];
    return ppi_figures_part(&figures_, &key);
  }

  struct MemorySums {
    uint64_t allocations, frees, allocated_bytes, freed_bytes;
  };
  void Memory(const std::string &place, const std::string &name,
              bool is_reserved, const MemorySums &sums) {
    std::string texts[] = {place, name};
    ppi_report_memory key = {};
    key.place = &texts[0][0];
    key.name = &texts[1][0];
    key.is_reserved = is_reserved;
    ppi_report_memory *row = ppi_figures_memory(&figures_, &key);
    row->allocations = sums.allocations;
    row->frees = sums.frees;
    row->allocated_bytes = sums.allocated_bytes;
    row->freed_bytes = sums.freed_bytes;
    Place(place);
  }
  ppi_report_place *Place(std::string name) {
    ppi_report_place key = {};
    key.name = &name[0];
    return ppi_figures_place(&figures_, &key);
  }
  void Peak(const char *place, bool is_reserved, uint64_t bytes) {
    ppi_report_place *row = Place(place);
    row->is_known[is_reserved] = true;
    row->peak_bytes[is_reserved] = bytes;
  }
  void Phase(ppi_phase_kind phase, Times times) {
    Fill(&figures_.phases[phase].host, times);
  }

  std::string Write(ppi_report_format format,
                    const ppi_report_options &options) const {
    char *text = nullptr;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    pprof_status status = ppi_figures_write(&figures_, &options, format, file);
    fclose(file);
    std::string written(text, len);
    free(text);
    return status == PPROF_STATUS_OK ? written : pprof_status_string(status);
  }
  std::string Csv(const char *view, const char *sort = nullptr,
                  long top = 0) const {
    return Write(PPI_FORMAT_CSV, Options(view, sort, top));
  }
  std::string Json(const char *view) const {
    return Write(PPI_FORMAT_JSON, Options(view));
  }
  // The table alone, in ns.
  std::string Table(const char *view, const char *sort = nullptr,
                    long top = 0) const {
    return WithoutFooter(Write(PPI_FORMAT_TABLE, Options(view, sort, top)));
  }
  static std::string WithoutFooter(const std::string &text) {
    return text.substr(
        0, std::min(text.find("\nIdentity: "), text.find("\nTrust: ")));
  }
  // The text of one view in ms, without what stands under the last one.
  std::string View(const char *view) const {
    ppi_report_options options = Options(view);
    options.time_unit = PPI_TIME_MS;
    return WithoutFooter(Write(PPI_FORMAT_TABLE, options));
  }
  static ppi_report_options Options(const char *view,
                                    const char *sort = nullptr, long top = 0) {
    ppi_report_options options = {};
    options.views = view;
    options.is_wide = true;
    options.sort = sort;
    options.top = top;
    options.time_unit = PPI_TIME_NS;
    return options;
  }

  // These fields of the CSV's rows; none of them may be quoted.
  static std::string Rows(const std::string &csv,
                          std::initializer_list<size_t> columns) {
    std::istringstream lines(csv);
    std::string all, line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::vector<std::string> fields(1);
      for (char c : line)
        if (c == ',')
          fields.emplace_back();
        else
          fields.back() += c;
      std::string row;
      for (size_t column : columns)
        row += (column == *columns.begin() ? "" : ",") + fields.at(column);
      all += row + "\n";
    }
    return all;
  }
  static bool HasLine(const std::string &text, const std::string &line) {
    std::istringstream lines(text);
    for (std::string at; std::getline(lines, at);)
      if (Report::Squeeze(at) == line) return true;
    return false;
  }

 private:
  ppi_figures figures_ = {};
};

}  // namespace pprof_test
