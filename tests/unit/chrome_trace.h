// SPDX-License-Identifier: Apache-2.0
//
// For tests of the Chrome writer: the calls a collector makes, in short, and
// what became of them.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "chrome/chrome.h"
#include "event/event.h"

namespace chrome_trace {

inline std::string Folder() {
  std::string name = testing::TempDir() + "/chrome.XXXXXX";
  return mkdtemp(name.data());
}

inline bool Exists(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

inline std::string Read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string ReadGzip(const std::string &path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  char buffer[4096];
  for (int n; (n = gzread(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  gzclose(file);
  return text;
}

// A trace under construction: the calls a collector makes, in short.
class Trace {
 public:
  explicit Trace(const std::string &name = "trace.json")
      : path_(Folder() + "/" + name) {
    pprof_error error;
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_chrome_writer_create(path_.c_str(), &sink_, &error))
        << error.text;
  }
  ~Trace() {
    if (sink_) sink_->destroy(sink_);
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
  }

  void Begin() {
    static const ppi_text texts[] = {
        {"pid", "4242"},
        {"host", "nod\"e"},
        {"command", "./hello"},
        {"time_base_realtime_ns", "1763700000123456789"}};
    pprof_run_info info = {texts, 4, nullptr};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->begin(sink_, &info));
    Define(PPROF_DEFINITION_CATEGORY, 0, "UserDefined");
    Define(PPROF_DEFINITION_CATEGORY, 1, "ProfileStep");
    Define(PPROF_DEFINITION_CATEGORY, 13, "Inference");
    Define(PPROF_DEFINITION_SITE, 1, "decode", 0);
    Define(PPROF_DEFINITION_SITE, 2, "model 1", 13);
    Define(PPROF_DEFINITION_SITE, 3, "ProfileStep", 1);
    Define(PPROF_DEFINITION_LANE, 0, "process");
    Define(PPROF_DEFINITION_LANE, 1, "main", 0, 4242);
    Define(PPROF_DEFINITION_LANE, 2, "worker", 0, 4243);
    Define(PPROF_DEFINITION_DEVICE, 1, "opencl:0", 0, 0);
    Define(PPROF_DEFINITION_STREAM, 1, "copies", 1, 7);
    Define(PPROF_DEFINITION_STREAM, 2, "", 1, 9);
  }
  void Define(pprof_definition_kind kind, uint32_t id, const char *name,
              uint32_t parent = 0, uint64_t number = 0) {
    pprof_definition definition = {kind, id, parent, 0, number, name};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->define(sink_, &definition));
  }
  pprof_status Send(const pprof_event &event, uint32_t batch_lane) {
    pprof_batch batch = {sizeof batch, sizeof event, &event,     1,
                         seq_,         seq_ + 1,     batch_lane, 0};
    seq_++;
    return sink_->events(sink_, &batch);
  }
  void Add(const pprof_event &event) {
    ASSERT_EQ(PPROF_STATUS_OK, Send(event, event.lane));
  }
  void Checkpoint(uint64_t time_ns, std::vector<pprof_event> open = {}) {
    pprof_checkpoint checkpoint = {time_ns, open.data(), open.size()};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->checkpoint(sink_, &checkpoint));
  }
  void Finish() {
    static const ppi_total items[] = {{PPROF_ALL_LANES, PPI_TOTAL_RECORDED, 12},
                                      {PPROF_ALL_LANES, PPI_TOTAL_LOST, 3}};
    static const ppi_text notes[] = {{"device", "opencl 0: \"none\""}};
    pprof_totals totals = {items, 2, notes, 1};
    ASSERT_EQ(PPROF_STATUS_OK, sink_->finish(sink_, &totals));
  }
  // Runs the checker; answers its counts, or what it objected to.
  std::string Check() {
    std::string command = "python3 tests/support/check_chrome.py " + path_;
    FILE *pipe = popen(command.c_str(), "r");
    char buffer[4096];
    std::string said;
    while (fgets(buffer, sizeof buffer, pipe)) said += buffer;
    int status = pclose(pipe);
    EXPECT_EQ(0, status) << said;
    size_t at = said.find(": ");
    return at == std::string::npos
               ? said
               : said.substr(at + 2, said.find('\n') - at - 2);
  }
  const std::string &path() const {
    return path_;
  }
  pprof_sink *sink() const {
    return sink_;
  }
  void Destroy() {
    sink_->destroy(sink_);
    sink_ = nullptr;
  }

 private:
  std::string path_;
  pprof_sink *sink_ = nullptr;
  uint64_t seq_ = 0;
};

inline pprof_event Range(uint64_t start, uint64_t end, uint32_t lane = 1,
                         uint32_t depth = 0) {
  pprof_event event = {};
  event.kind = PPROF_KIND_RANGE;
  event.start_ns = start;
  event.end_ns = end;
  event.lane = lane;
  event.depth = depth;
  event.site = 1;
  return event;
}

inline pprof_event Async(uint64_t start, uint64_t end, uint32_t lane = 1) {
  pprof_event event = Range(start, end, lane);
  event.flags = PPROF_FLAG_ASYNC;
  return event;
}

inline pprof_event Device(uint64_t start, uint64_t end, uint64_t device_start,
                          uint64_t device_end, uint32_t stream = 1) {
  pprof_event event = Range(start, end);
  event.kind = PPROF_KIND_DEVICE_RANGE;
  event.device_start_ns = device_start;
  event.device_end_ns = device_end;
  event.device_error_ns = 40;
  event.stream = stream;
  event.site = 2;
  return event;
}

inline int Count(const std::string &text, const std::string &what) {
  int n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at++)
    n++;
  return n;
}

}  // namespace chrome_trace
