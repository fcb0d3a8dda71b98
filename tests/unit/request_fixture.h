// SPDX-License-Identifier: Apache-2.0
//
// What tests of requests share: parts of one, the chains of them as an
// exhaustive search finds them, and a report that is asked for requests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "event_feed.h"
#include "print/report_print.h"
#include "report/parts/requests.h"
#include "report/report.h"

namespace pprof_test {

constexpr uint32_t kUser = PPROF_CATEGORY_USER_DEFINED;
constexpr uint32_t kModel = PPROF_CATEGORY_INFERENCE;

inline ppi_request_part Host(uint64_t from, uint64_t to, uint32_t lane = 1) {
  ppi_request_part part = {};
  part.start_ns = from;
  part.end_ns = to;
  part.lane = lane;
  return part;
}

inline ppi_request_part Device(uint64_t submit, uint64_t from, uint64_t to,
                               uint32_t stream = 1) {
  ppi_request_part part = Host(submit, submit);
  part.device_start_ns = from;
  part.device_end_ns = to;
  part.stream = stream;
  return part;
}

inline uint64_t LastOf(const ppi_request_part &part) {
  return std::max(part.end_ns, part.device_end_ns);
}

inline bool IsDevice(const ppi_request_part &part) {
  return part.device_end_ns > part.device_start_ns;
}

inline ppi_request_part Whole(ppi_request_part part) {
  part.is_whole = true;
  return part;
}

inline ppi_request_part CrossThread(ppi_request_part part) {
  part.is_async = true;
  return part;
}

struct Piece {
  uint64_t from, to;
};

inline bool Inside(const ppi_request_part &a, const ppi_request_part &b) {
  uint64_t a_from = IsDevice(a) ? a.device_start_ns : a.start_ns;
  uint64_t a_to = IsDevice(a) ? a.device_end_ns : a.end_ns;
  uint64_t b_from = IsDevice(b) ? b.device_start_ns : b.start_ns;
  uint64_t b_to = IsDevice(b) ? b.device_end_ns : b.end_ns;
  return a_from >= b_from && a_to <= b_to;
}

inline bool OnRow(const ppi_request_part &part) {
  return IsDevice(part) || (!part.is_async && !part.is_whole);
}

// Whether it lies in a part that comes before, on its row.
inline bool IsInner(const std::vector<ppi_request_part> &parts, size_t at) {
  for (size_t i = 0; i < at; i++) {
    const auto &outer = parts[i], &inner = parts[at];
    bool same_row = IsDevice(outer) == IsDevice(inner) &&
                    (IsDevice(outer) ? outer.stream == inner.stream
                                     : outer.lane == inner.lane);
    if (same_row && OnRow(inner) && OnRow(outer) && Inside(inner, outer))
      return true;
  }
  return false;
}

// Whether something else has the nanosecond: a device; in a part on no row
// whatever lies in it; in the request's own everything, and waiting.
inline bool IsTaken(const std::vector<ppi_request_part> &parts, size_t at,
                    uint64_t now) {
  for (size_t i = 0; i < parts.size(); i++) {
    const auto &part = parts[at], &other = parts[i];
    if (i == at || other.is_whole) continue;
    if (other.device_start_ns <= now && other.device_end_ns > now) return true;
    uint64_t to = IsDevice(other) ? other.device_start_ns : other.end_ns;
    bool is_there = other.start_ns <= now && to > now;
    if (part.is_whole && is_there) return true;
    bool is_same = Inside(other, part) && Inside(part, other);
    if (part.is_async && is_there && !IsDevice(other) && Inside(other, part) &&
        (i > at || !is_same))
      return true;
  }
  return false;
}

inline std::vector<Piece> Links(const std::vector<ppi_request_part> &parts) {
  std::vector<Piece> links;
  for (size_t i = 0; i < parts.size(); i++) {
    const auto &part = parts[i];
    if (IsInner(parts, i)) continue;
    if (IsDevice(part)) {
      links.push_back({part.device_start_ns, part.device_end_ns});
      continue;
    }
    bool open = false;
    for (uint64_t now = part.start_ns; now < part.end_ns; now++) {
      bool taken = IsTaken(parts, i, now);
      if (!taken && !open) links.push_back({now, now});
      open = !taken;
      if (open) links.back().to = now + 1;
    }
  }
  return links;
}

inline uint64_t LongestFrom(const std::vector<Piece> &links, uint64_t now) {
  uint64_t best = 0;
  for (const Piece &piece : links)
    if (piece.from >= now && piece.to > piece.from)
      best =
          std::max(best, piece.to - piece.from + LongestFrom(links, piece.to));
  return best;
}

inline ppi_request_part RandomPart(std::mt19937_64 *random, uint32_t site) {
  uint64_t start = (*random)() % 40, length = (*random)() % 12;
  ppi_request_part part =
      Host(start, start + length, static_cast<uint32_t>((*random)() % 3));
  if ((*random)() % 3 == 0) {
    uint64_t from = start + (*random)() % 6;
    part = Device(start, from, from + 1 + (*random)() % 10,
                  static_cast<uint32_t>((*random)() % 3));
  }
  part.is_async = !IsDevice(part) && (*random)() % 5 == 0;
  part.site = site;
  return part;
}

class RequestReport {
 public:
  explicit RequestReport(EventFeed *feed, std::mt19937_64 *random = nullptr,
                         long warmup = -1) {
    EXPECT_EQ(pprof_report_create(&report_), PPROF_STATUS_OK);
    ppi_report_details details = {};
    details.warmup = warmup;
    ppi_report_options options = {};
    options.views = "requests";
    ppi_report_need(&options, PPI_FORMAT_TABLE, &details);
    ppi_report_set_details(report_, &details);
    EXPECT_EQ(
        feed->DeliverAs(pprof_report_sink(report_), random, random ? 8 : 0),
        PPROF_STATUS_OK);
    text_ = Write(PPI_FORMAT_CSV);
  }
  ~RequestReport() {
    pprof_report_destroy(report_);
  }
  RequestReport(const RequestReport &) = delete;
  RequestReport &operator=(const RequestReport &) = delete;

  std::string Write(ppi_report_format format) const {
    ppi_report_options options = {};
    options.views = "requests";
    char *text = nullptr;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    EXPECT_EQ(ppi_report_write(report_, &options, format, file),
              PPROF_STATUS_OK);
    fclose(file);
    std::string written(text, len);
    free(text);
    return written;
  }
  std::string Cell(const std::string &name, const std::string &column) const {
    std::istringstream lines(text_);
    std::string line;
    std::getline(lines, line);
    std::vector<std::string> heads = Split(line);
    size_t at = static_cast<size_t>(
        std::find(heads.begin(), heads.end(), column) - heads.begin());
    while (std::getline(lines, line)) {
      std::vector<std::string> cells = Split(line);
      if (cells[0] == name) return cells.at(at);
    }
    return "no row " + name;
  }
  double Number(const std::string &name, const std::string &column) const {
    return std::atof(Cell(name, column).c_str());
  }
  bool Says(const std::string &text) const {
    return Write(PPI_FORMAT_TABLE).find(text) != std::string::npos;
  }
  pprof_report *get() {
    return report_;
  }

 private:
  static std::vector<std::string> Split(const std::string &line) {
    std::vector<std::string> cells;
    std::istringstream in(line + ",");
    std::string cell;
    while (std::getline(in, cell, ',')) cells.push_back(cell);
    return cells;
  }
  pprof_report *report_ = nullptr;
  std::string text_;
};

}  // namespace pprof_test
