// SPDX-License-Identifier: Apache-2.0
//
// A callback for windows that keeps each report as JSON.
#ifndef PPT_WINDOW_LISTENER_H_
#define PPT_WINDOW_LISTENER_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "pprof/export.h"
#include "pprof/report.h"

namespace pprof_test {

inline std::string Json(const pprof_report *report) {
  char *text = nullptr;
  size_t len = 0;
  FILE *file = open_memstream(&text, &len);
  pprof_status status = report ? pprof_report_write_json(report, nullptr, file)
                               : PPROF_STATUS_NO_MEMORY;
  fclose(file);
  std::string json(text, len);
  free(text);
  return status == PPROF_STATUS_OK ? json : pprof_status_string(status);
}

// A figure of the trust block.
inline uint64_t Trust(const std::string &json, const std::string &key) {
  size_t trust = json.find("\"trust\"");
  size_t at =
      trust == std::string::npos ? trust : json.find("\"" + key + "\":", trust);
  if (at == std::string::npos) return UINT64_MAX;
  return strtoull(json.c_str() + at + key.size() + 3, nullptr, 10);
}

// A row of the table of user-defined ranges.
inline std::string RangeRow(uint32_t calls) {
  return "[\"range\",\"UserDefined\"," + std::to_string(calls) + ",";
}

inline bool Contains(const std::string &json, const std::string &text) {
  return json.find(text) != std::string::npos;
}

// From the overview to the trust block's CPU times.
inline std::string WithoutCpu(const std::string &json) {
  size_t from = json.find("\"overview\""), to = json.find("\"cpu_process_ns\"");
  EXPECT_LT(from, to);
  return json.substr(from, to - from);
}

class Listener {
 public:
  static void Tell(void *user, uint32_t window, const pprof_report *report) {
    Listener *listener = static_cast<Listener *>(user);
    if (listener->on_tell) listener->on_tell(window);
    std::string json = Json(report);
    std::lock_guard<std::mutex> lock(listener->mutex_);
    listener->windows.push_back(window);
    listener->reports.push_back(report);
    listener->json.push_back(json);
    listener->changed_.notify_all();
  }
  void WaitFor(size_t num) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return windows.size() >= num; });
  }
  size_t NumTold() {
    std::lock_guard<std::mutex> lock(mutex_);
    return windows.size();
  }

  std::function<void(uint32_t)> on_tell;
  std::vector<uint32_t> windows;
  std::vector<const pprof_report *> reports;  // not to be followed
  std::vector<std::string> json;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

// Holds its listener in the first call.
struct Gate {
  explicit Gate(Listener *listener) {
    listener->on_tell = [this](uint32_t window) {
      if (window != 0) return;
      entered.set_value();
      go_on.get_future().wait();
    };
  }
  std::promise<void> entered, go_on;
};

}  // namespace pprof_test

#endif  // PPT_WINDOW_LISTENER_H_
