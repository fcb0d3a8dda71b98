// SPDX-License-Identifier: Apache-2.0
//
// A maker of sinks for windows, which records what they get.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "tests/support/recording_sink.h"
#include "window/window_sinks.h"

namespace pprof_test {

struct Completion {
  uint32_t window;
  bool has_sink;
  pprof_status status;
};

// A maker whose sinks record. What it is told comes from two threads.
class Maker {
 public:
  ppi_window_maker Get() {
    return {Open, Complete, Destroy, this, Skipped};
  }
  void WaitFor(size_t num) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return completions.size() >= num; });
  }
  size_t NumCompleted() {
    std::lock_guard<std::mutex> lock(mutex_);
    return completions.size();
  }

  std::map<uint32_t, Recording> windows;
  std::map<uint32_t, bool> refuses;  // by window
  std::vector<Completion> completions;
  std::function<void(uint32_t)> prepare;  // before its sink is made
  std::function<void(uint32_t)> on_complete;
  std::vector<uint32_t> skipped;
  bool is_destroyed = false;

 private:
  static void Skipped(void *user, uint32_t window) {
    Of(user)->skipped.push_back(window);
  }
  static Maker *Of(void *user) {
    return static_cast<Maker *>(user);
  }
  static pprof_sink *Open(void *user, uint32_t window) {
    Maker *maker = Of(user);
    if (maker->refuses[window]) return nullptr;
    if (maker->prepare) maker->prepare(window);
    return RecordingSink::Make(&maker->windows[window]);
  }
  static void Complete(void *user, uint32_t window, pprof_sink *sink,
                       pprof_status status) {
    Maker *maker = Of(user);
    if (maker->on_complete) maker->on_complete(window);
    if (sink) sink->destroy(sink);
    std::lock_guard<std::mutex> lock(maker->mutex_);
    maker->completions.push_back({window, sink != nullptr, status});
    maker->changed_.notify_all();
  }
  static void Destroy(void *user) {
    Of(user)->is_destroyed = true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace pprof_test
