// SPDX-License-Identifier: Apache-2.0
//
// The same through the public calls: threads mark, a log is written and read,
// and the clock is the test's, so that the truth is known to the nanosecond.
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "pprof/log.h"
#include "pprof/session.h"
#include "whatif_program.h"

namespace {

using pprof_test::Durations;
using pprof_test::Factors;
using pprof_test::Model;
using pprof_test::Program;

constexpr uint64_t kStart = 5000;
std::atomic<uint64_t> now_ticks;
uint64_t Now() {
  return now_ticks.load(std::memory_order_relaxed);
}

// A thread that does one thing at a time, when it is told.
class Worker {
 public:
  Worker() : thread_([this] { Work(); }) {}
  ~Worker() {
    Do(nullptr);
    thread_.join();
  }
  void Do(const std::function<void()> &what) {
    std::unique_lock<std::mutex> lock(mutex_);
    what_ = what;
    asked_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !asked_; });
  }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (bool more = true; more;) {
      changed_.wait(lock, [this] { return asked_; });
      more = what_ != nullptr;
      if (more) what_();
      asked_ = false;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> what_;
  bool asked_ = false;
  std::thread thread_;
};

// What a thread does at a time; of one moment ends come first, and steps then.
struct Action {
  uint64_t time_ns;
  int order;
  uint32_t lane;
  std::function<void()> what;
};

std::vector<Action> ActionsOf(Program *program, std::deque<pprof_site> *sites) {
  std::map<uint32_t, pprof_site *> by_id;
  std::vector<Action> actions;
  for (const auto &name : {"parse", "rank", "load", "wait"}) {
    sites->push_back({name, PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}});
    by_id[program->feed.Site(name, PPROF_CATEGORY_USER_DEFINED)] =
        &sites->back();
  }
  for (const auto &lane : program->feed.lanes())
    for (const pprof_event &event : lane.second) {
      if (lane.first == 0) {
        actions.push_back({event.end_ns, 1, 1, [] { pprof_step(1); }});
        continue;
      }
      pprof_site *site = by_id.at(event.site);
      uint64_t flow = event.num_flows ? event.flows[0] : 0;
      actions.push_back({event.start_ns, 2, lane.first, [site, flow] {
                           pprof_push(site);
                           if (flow) pprof_flow(flow);
                         }});
      actions.push_back({event.end_ns, 0, lane.first, [] { pprof_pop(); }});
    }
  std::stable_sort(actions.begin(), actions.end(),
                   [](const Action &a, const Action &b) {
                     if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
                     return a.order < b.order;
                   });
  return actions;
}

// Marks all of it, into the log `path`.
void Record(Program *program, const std::string &path) {
  std::deque<pprof_site> sites;
  pprof_options options = {};
  options.size = sizeof options;
  pprof_session *session = nullptr;
  pprof_sink *writer = nullptr;
  pprof_error error = {};
  now_ticks = kStart;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_create(&options, &session, &error));
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_log_writer_create(path.c_str(), &writer, &error));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, writer));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  {
    std::map<uint32_t, std::unique_ptr<Worker>> workers;
    for (const Action &action : ActionsOf(program, &sites)) {
      std::unique_ptr<Worker> &worker = workers[action.lane];
      if (!worker) worker.reset(new Worker);
      now_ticks = kStart + action.time_ns;
      worker->Do(action.what);
    }
  }
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, &error)) << error.text;
  pprof_session_destroy(session);
}

class WhatifSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ppi_clock_inject(Now, 1000000000);
  }
  void TearDown() override {
    ppi_clock_inject(nullptr, 0);
  }
  void ExpectTruth(const std::function<void(const Factors &, Program *)> &make,
                   const Factors &factors) {
    const char *folder = getenv("TEST_TMPDIR");
    std::string path =
        std::string(folder ? folder : "/tmp") + "/whatif_session.pplog";
    unlink(path.c_str());
    Program recorded, changed;
    make({}, &recorded);
    make(factors, &changed);
    Record(&recorded, path);
    Model model([&](pprof_sink *sink) {
      return pprof_log_read(path.c_str(), sink, nullptr);
    });
    model.Run({});
    EXPECT_EQ(recorded.ends, model.Ends());
    model.Run(factors);
    EXPECT_EQ(changed.ends, model.Ends());
  }
};

TEST_F(WhatifSessionTest, QueueBoundThreads) {
  ExpectTruth(
      [](const Factors &factors, Program *out) {
        TwoThreads(Durations(factors), out, 3, false, 20, 100);
      },
      {{"rank", 0.25}});
}

TEST_F(WhatifSessionTest, StepsOfAThread) {
  ExpectTruth(
      [](const Factors &factors, Program *out) {
        uint64_t now = 0;
        Durations times(factors);
        for (size_t i = 0; i < pprof_test::kItems; i++) {
          uint64_t from = now + pprof_test::kLag;
          uint64_t to = from + times.Of("load", i, 30);
          out->Host(1, "load", from, to);
          out->EndStep(now, to + pprof_test::kLag);
          now = to + pprof_test::kLag;
        }
      },
      {{"load", 0.5}});
}

}  // namespace
