// SPDX-License-Identifier: Apache-2.0
//
// For tests of the log: a scratch folder, events made in one line, a log
// written and read back as canonical lines.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "event/event.h"
#include "jobs.h"
#include "log/read/log_reader.h"
#include "pprof/log.h"
#include "tests/tools/log_lines.h"

namespace pplog {

using Lines = std::vector<std::string>;

// A folder that is removed with all that is in it.
class Folder {
 public:
  Folder() {
    const char *base = getenv("TEST_TMPDIR");
    path_ = std::string(base ? base : "/tmp") + "/pplog.XXXXXX";
    EXPECT_NE(mkdtemp(&path_[0]), nullptr);
  }
  ~Folder() {
    std::string command = "rm -rf '" + path_ + "'";
    EXPECT_EQ(system(command.c_str()), 0);
  }
  std::string operator/(const std::string &name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

inline bool Exists(const std::string &path) {
  return access(path.c_str(), F_OK) == 0;
}

inline std::string Slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void Spill(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline pprof_event Range(uint32_t lane, uint32_t site, uint32_t depth,
                         uint64_t start, uint64_t end) {
  pprof_event event = {};
  event.kind = PPROF_KIND_RANGE;
  event.lane = lane;
  event.site = site;
  event.depth = depth;
  event.start_ns = start;
  event.end_ns = end;
  return event;
}

inline pprof_batch Batch(uint32_t lane, uint64_t first, uint64_t end,
                         const std::vector<pprof_event> &events) {
  pprof_batch batch = {};
  batch.size = sizeof batch;
  batch.stride = sizeof(pprof_event);
  batch.events = events.data();
  batch.num_events = events.size();
  batch.first_seq = first;
  batch.end_seq = end;
  batch.lane = lane;
  return batch;
}

inline pprof_definition Site(uint32_t id, const char *name) {
  return {PPROF_DEFINITION_SITE, id, PPROF_CATEGORY_INFERENCE, 0, 0, name};
}

static const char kUuid[] = "0123456789abcdef0123456789abcdef";

// A run info with a uuid, a host and the entries of `more`.
class Info {
 public:
  explicit Info(std::vector<ppi_text> more = {}, ppi_staging *staging = nullptr)
      : texts_{{"uuid", kUuid}, {"host", "box"}} {
    texts_.insert(texts_.end(), more.begin(), more.end());
    info_ = {texts_.data(), texts_.size(), staging};
  }
  const pprof_run_info *get() const {
    return &info_;
  }

 private:
  std::vector<ppi_text> texts_;
  pprof_run_info info_;
};

// Collects canonical lines.
class Collector {
 public:
  Collector() : out_(open_memstream(&text_, &len_)) {
    sink_ = log_lines_create(out_);
  }
  ~Collector() {
    sink_->destroy(sink_);
    fclose(out_);
    free(text_);
  }
  pprof_sink *sink() {
    return sink_;
  }
  Lines lines() {
    fflush(out_);
    std::stringstream in(std::string(text_, len_));
    Lines lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  char *text_ = nullptr;
  size_t len_ = 0;
  FILE *out_;
  pprof_sink *sink_;
};

// Both ways of reading give the same.
inline Lines Read(const std::string &path, pprof_status *status = nullptr,
                  std::string *error = nullptr) {
  Collector collector, ahead;
  Jobs jobs(3);
  pprof_error text = {{0}}, same = {{0}};
  pprof_status read = pprof_log_read(path.c_str(), collector.sink(), &text);
  const char *name = path.c_str();
  EXPECT_EQ(ppi_log_read_ahead(&name, 1, jobs.get(), ahead.sink(), &same),
            read);
  EXPECT_STREQ(same.text, text.text);
  EXPECT_EQ(ahead.lines(), collector.lines());
  if (status)
    *status = read;
  else
    EXPECT_EQ(read, PPROF_STATUS_OK) << text.text;
  if (error) *error = text.text;
  return collector.lines();
}

// Lines that begin with `prefix`.
inline Lines Pick(const Lines &lines, const std::string &prefix) {
  Lines picked;
  for (const std::string &line : lines)
    if (line.compare(0, prefix.size(), prefix) == 0) picked.push_back(line);
  return picked;
}

inline pprof_sink *Create(const std::string &path) {
  pprof_sink *sink = nullptr;
  pprof_error error = {{0}};
  EXPECT_EQ(pprof_log_writer_create(path.c_str(), &sink, &error),
            PPROF_STATUS_OK)
      << error.text;
  return sink;
}

static const pprof_totals kNoTotals = {};

}  // namespace pplog
