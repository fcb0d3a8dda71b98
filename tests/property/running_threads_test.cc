// SPDX-License-Identifier: Apache-2.0
//
// Threads that mark while a session starts, windows open and close, and it
// stops. What began while it surely recorded is recorded or counted lost. Ends
// of what began before are counted as that, and no end as a mistake.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "inject/inject.h"
#include "pprof/device.h"
#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/long_run.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(pushed_site, "pushed", PPROF_CATEGORY_FORWARD);
PPROF_SITE(range_site, "range", PPROF_CATEGORY_FORWARD);
PPROF_SITE(request_site, "request", PPROF_CATEGORY_FORWARD);
PPROF_SITE(mark_site, "mark", PPROF_CATEGORY_FORWARD);
PPROF_SITE(level_site, "level", PPROF_CATEGORY_FORWARD);
PPROF_SITE(device_site, "device", PPROF_CATEGORY_FORWARD);

enum Kind {
  kPushed,
  kNamed,
  kScope,
  kRange,
  kRequest,
  kMark,
  kLevel,
  kToken,
  kServed,
  kDevice,
  kDomain,
  kDomainMark,
  kDomainRange,
  kNumKinds
};
const char *const kNames[kNumKinds] = {
    "pushed", "named",       "scope",       "range",  "request",
    "mark",   "level",       "token",       "served", "device",
    "domain", "domain mark", "domain range"};
constexpr size_t kDomains = 2;

// What the session does: 0 nothing for sure, 1 it records for sure, 2 neither.
// The bits above count the changes.
std::atomic<uint32_t> gate;

bool IsSure(uint32_t at) {
  return at % 4 != 2;
}
bool IsOn(uint32_t at) {
  return at % 4 == 1;
}

void Gate(uint32_t state) {
  gate = (gate / 4 + 1) * 4 + state;
}

struct Counts {
  uint64_t sure = 0, possible = 0;  // of the second the first are a part
  void Add(bool is_sure, bool is_possible) {
    sure += is_sure;
    possible += is_possible;
  }
  void operator+=(const Counts &other) {
    sure += other.sure;
    possible += other.possible;
  }
};

// Where the gate stood at a call: one place for sure, or anywhere.
struct Moment {
  uint32_t gate;
  bool is_sure;
};

template <typename Call>
Moment At(Call call) {
  const uint32_t before = gate;
  call();
  return {before, gate == before && IsSure(before)};
}

class Worker {
 public:
  Worker(unsigned seed, pprof_device *device, bool is_watched)
      : random_(seed), device_(device), is_watched_(is_watched) {}

  void Run(const std::atomic<bool> &done, std::atomic<uint64_t> *progress) {
    while (!done) {
      Step(0);
      progress->fetch_add(1, std::memory_order_relaxed);
    }
    while (!pushed_.empty()) Pop();
    while (!device_pushed_.empty()) PopDevice();
    for (size_t i = 0; i < kDomains; i++)
      while (!domain_pushed_[i].empty()) PopDomain(i);
  }

  Counts made[kNumKinds], begun_before, with_flow;

 private:
  void Begin(Kind kind, Moment at) {
    made[kind].Add(at.is_sure && IsOn(at.gate), !at.is_sure || IsOn(at.gate));
  }
  // An end of which the begin is of another window, or of none.
  void End(Moment begin, Moment end) {
    const bool is_sure = begin.is_sure && end.is_sure;
    begun_before.Add(is_sure && IsOn(end.gate) && begin.gate != end.gate,
                     !is_sure || (IsOn(end.gate) && begin.gate != end.gate));
  }
  void Pop() {
    const Moment begin = pushed_.back();
    pushed_.pop_back();
    End(begin, At([] { pprof_pop(); }));
  }
  void PopDevice() {
    const Moment begin = device_pushed_.back();
    device_pushed_.pop_back();
    const Moment end = At([&] { pprof_device_pop(device_, nullptr); });
    // One that was recorded, or watched, keeps its place over an edge.
    if (!begin.is_sure || !(is_watched_ || IsOn(begin.gate))) End(begin, end);
  }
  void PopDomain(size_t i) {
    const Moment begin = domain_pushed_[i].back();
    domain_pushed_[i].pop_back();
    End(begin, At([&] { pprof_inject_pop_(domains_[i]); }));
  }
  // As NVTX calls in a domain of their own: another stack of the thread.
  void Domain() {
    const size_t i = random_() % kDomains;
    const uint32_t domain = domains_[i];
    pprof_range range;
    switch (random_() % 4) {
      case 0:
        Begin(kDomainMark, At([&] {
                pprof_inject_mark_(domain, nullptr, kNames[kDomainMark], 0);
              }));
        return;
      case 1: {
        const Moment begin = At([&] {
          range = pprof_inject_begin_(domain, nullptr, kNames[kDomainRange], 0);
        });
        Begin(kDomainRange, begin);
        const Moment end = At([&] { pprof_range_end(range); });
        if (range.id) End(begin, end);
        return;
      }
      case 2:
        if (domain_pushed_[i].size() > 20) return;
        domain_pushed_[i].push_back(At(
            [&] { pprof_inject_push_(domain, nullptr, kNames[kDomain], 0); }));
        return Begin(kDomain, domain_pushed_[i].back());
      default:
        if (!domain_pushed_[i].empty()) PopDomain(i);
    }
  }
  void Scope(int depth) {
    Moment begin = {};
    {
      pprof_scope_token token;
      begin = At([&] {
        PPROF_SITE(site, "scope", PPROF_CATEGORY_FORWARD);
        token = pprof_scope_push_(&site);
      });
      Begin(kScope, begin);
      const size_t open = pushed_.size();
      for (int i = 0; i < 3; i++) Step(depth + 1);
      while (pushed_.size() > open) Pop();
      const Moment end = At([&] { pprof_scope_pop_(&token); });
      // The token of a scope that began while nothing recorded is empty.
      if (!begin.is_sure || IsOn(begin.gate)) End(begin, end);
    }
  }
  void Request() {
    pprof_request request;
    const uint64_t id = 1 + random_();
    const Moment begin =
        At([&] { request = pprof_request_begin(id, &request_site); });
    Begin(kRequest, begin);
    const Moment pushed = At([&] { pprof_push(&pushed_site); });
    const Moment flow = At([&] { pprof_flow(id); });
    Begin(kPushed, pushed);
    with_flow.Add(pushed.is_sure && flow.is_sure && pushed.gate == flow.gate &&
                      IsOn(flow.gate),
                  true);
    pushed_.push_back(pushed);
    Begin(kServed, At([&] { pprof_serve(&request, 1); }));
    Begin(kToken, At([&] { pprof_token(request, 1); }));
    Pop();
    const Moment end = At([&] { pprof_request_end(request); });
    if (request.range.id) End(begin, end);
  }
  void Range() {
    pprof_range range;
    const Moment begin = At([&] { range = pprof_range_begin(&range_site); });
    Begin(kRange, begin);
    if (random_() % 4 == 0) sched_yield();
    const Moment end = At([&] { pprof_range_end(range); });
    if (range.id) End(begin, end);
  }
  void Step(int depth) {
    switch (random_() % 11) {
      case 0:
        if (pushed_.size() > 20) return;
        pushed_.push_back(At([] { pprof_push(&pushed_site); }));
        return Begin(kPushed, pushed_.back());
      case 1:
        if (pushed_.size() > 20) return;
        pushed_.push_back(At([] { pprof_push_name("named", 0); }));
        return Begin(kNamed, pushed_.back());
      case 2:
        if (depth == 0 && !pushed_.empty()) Pop();
        return;
      case 3:
        return depth < 3 ? Scope(depth) : void();
      case 4:
        return Range();
      case 5:
        return Request();
      case 6:
        return Begin(kMark, At([] { pprof_mark(&mark_site); }));
      case 7:
        return Begin(kLevel, At([] { pprof_count(&level_site, 1); }));
      case 8:
        if (device_pushed_.size() > 5) return;
        device_pushed_.push_back(
            At([&] { pprof_device_push(device_, nullptr, &device_site); }));
        return Begin(kDevice, device_pushed_.back());
      case 9:
        return Domain();
      default:
        if (!device_pushed_.empty()) PopDevice();
        if (depth == 0 && random_() % 16 == 0) sched_yield();
    }
  }

  std::mt19937 random_;
  pprof_device *device_;
  const bool is_watched_;
  const uint32_t domains_[kDomains] = {pprof_inject_domain_("domain a"),
                                       pprof_inject_domain_("domain b")};
  std::vector<Moment> pushed_, device_pushed_, domain_pushed_[kDomains];
};

// Threads at work from before the start until after the stop.
class RunningThreads {
 public:
  // `is_watched`: markers go on while no window is open.
  explicit RunningThreads(unsigned seed, bool is_watched = false)
      : random_(seed) {
    gate = 0;
    pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
    const unsigned num = 1 + random_() % 4;
    for (unsigned i = 0; i < num; i++) {
      workers_.push_back(
          std::make_unique<Worker>(random_(), device, is_watched));
      threads_.emplace_back([this, worker = workers_.back().get()] {
        worker->Run(done_, &progress_);
      });
    }
    live.options.memory_limit_bytes = 64u << 20;
  }
  ~RunningThreads() {
    if (!threads_.empty()) Join();
  }

  // Something happens in all of them, or in some.
  void Go() {
    const uint64_t until = progress_ + random_() % 200;
    while (!threads_.empty() && progress_ < until) sched_yield();
  }
  void Join() {
    done_ = true;
    for (std::thread &thread : threads_) thread.join();
    threads_.clear();
  }
  void SetRules(const ppi_capture &rules) {
    ASSERT_NE(nullptr, live.Create());
    ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &rules));
    Go();
  }
  template <typename Call>
  void Change(uint32_t state, Call call) {
    Gate(2);
    call();
    Gate(state);
    Go();
  }

  void Check() const {
    Counts made[kNumKinds], begun_before, with_flow, all;
    for (const auto &worker : workers_) {
      for (int i = 0; i < kNumKinds; i++) made[i] += worker->made[i];
      begun_before += worker->begun_before;
      with_flow += worker->with_flow;
    }
    const uint64_t lost = live.recording.Total(PPI_TOTAL_LOST);
    uint64_t num_recorded = 0, num_with_flow = 0, num_requests = 0;
    for (int i = 0; i < kNumKinds; i++) {
      const uint64_t recorded = live.recording.Named(kNames[i]).size();
      EXPECT_LE(recorded, made[i].possible) << kNames[i];
      EXPECT_GE(recorded + lost, made[i].sure) << kNames[i];
      num_recorded += recorded;
      all += made[i];
    }
    EXPECT_GE(num_recorded + lost, all.sure);
    for (const auto &event : live.recording.events) {
      num_with_flow += event.name == "pushed" && !event.flows.empty();
      num_requests +=
          event.name == "request" && event.event.flags & PPROF_FLAG_REQUEST;
    }
    EXPECT_GE(num_with_flow + lost + Total(PPI_TOTAL_FLOWS_LOST),
              with_flow.sure);
    EXPECT_EQ(live.recording.Named("request").size(), num_requests);
    EXPECT_EQ(0u, Total(PPI_TOTAL_UNMATCHED));
    EXPECT_GE(Total(PPI_TOTAL_BEGUN_BEFORE), begun_before.sure);
    EXPECT_LE(Total(PPI_TOTAL_BEGUN_BEFORE), begun_before.possible);
  }
  uint64_t Total(ppi_total_key key) const {
    return live.recording.Total(key);
  }
  unsigned Pick(unsigned num) {
    return random_() % num;
  }

  LiveSession live;

 private:
  std::mt19937 random_;
  std::atomic<bool> done_{false};
  std::atomic<uint64_t> progress_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

void Stop(RunningThreads *run) {
  if (run->Pick(2)) run->Join();
  run->Change(0, [run] { EXPECT_EQ(PPROF_STATUS_OK, run->live.Stop()); });
}

// One window, with edges in it where names are decided again.
TEST(RunningThreadsTest, AStartInTheMiddle) {
  for (unsigned seed = 0; seed < Seeds(12, 1000); seed++) {
    SCOPED_TRACE(seed);
    RunningThreads run(seed);
    run.Go();
    run.Change(1, [&] { ASSERT_EQ(PPROF_STATUS_OK, run.live.Start()); });
    for (unsigned i = run.Pick(5); i-- > 0;)
      run.Change(1, [&] { ppi_session_new_epoch(run.live.session()); });
    Stop(&run);
    run.Join();
    run.Check();
  }
}

TEST(RunningThreadsTest, WindowsBySteps) {
  for (unsigned seed = 0; seed < Seeds(12, 1000); seed++) {
    SCOPED_TRACE(seed);
    RunningThreads run(seed);
    const ppi_capture rules =
        Cycle(run.Pick(3), run.Pick(3), run.Pick(2), 1 + run.Pick(3), 0);
    auto state_at = [&](uint64_t step) {
      const ppi_step_phase at = AtStep(rules, step);
      return at.phase == PPI_PHASE_RECORD   ? 1u
             : at.phase == PPI_PHASE_CLOSED ? 0u
                                            : 2u;
    };
    run.SetRules(rules);
    run.Change(state_at(0),
               [&] { ASSERT_EQ(PPROF_STATUS_OK, run.live.Start()); });
    for (uint64_t step = 1; step < 12; step++) {
      const ppi_step_phase before = AtStep(rules, step - 1);
      const ppi_step_phase after = AtStep(rules, step);
      if (before.phase == after.phase && before.cycle == after.cycle)
        pprof_step(1);
      else
        run.Change(state_at(step), [] { pprof_step(1); });
    }
    Stop(&run);
    run.Join();
    run.Check();
  }
}

// The collector opens the window, and says so.
TEST(RunningThreadsTest, AWindowAfterADelay) {
  for (unsigned seed = 0; seed < Seeds(4, 1000); seed++) {
    SCOPED_TRACE(seed);
    RunningThreads run(seed);
    std::atomic<bool> is_open{false};
    run.live.recording.on_window = [&](bool opens) { is_open = opens; };
    run.SetRules(Capture(TimeRule(run.Pick(3) * 100000, 1000000000000)));
    run.Change(1, [&] {
      ASSERT_EQ(PPROF_STATUS_OK, run.live.Start());
      while (!is_open) sched_yield();
    });
    Stop(&run);
    run.Join();
    run.Check();
  }
}

TEST(RunningThreadsTest, WindowsByDemand) {
  for (unsigned seed = 0; seed < Seeds(4, 1000); seed++) {
    SCOPED_TRACE(seed);
    RunningThreads run(seed);
    run.SetRules(Capture(DemandRule()));
    run.Change(0, [&] { ASSERT_EQ(PPROF_STATUS_OK, run.live.Start()); });
    for (unsigned i = 1 + run.Pick(4); i-- > 0;) {
      uint32_t window;
      ppi_demand demand = {1 + run.Pick(3), 0};
      run.Change(0, [&] {
        ASSERT_EQ(PPROF_STATUS_OK,
                  ppi_session_demand(run.live.session(), &demand, &window));
      });
      run.Change(1, [] { pprof_step(1); });
      while (--demand.steps > 0) pprof_step(1);
      run.Change(0, [] { pprof_step(1); });
    }
    Stop(&run);
    run.Join();
    run.Check();
  }
}

TEST(RunningThreadsTest, WindowsByAMarker) {
  for (unsigned seed = 0; seed < Seeds(4, 1000); seed++) {
    SCOPED_TRACE(seed);
    RunningThreads run(seed, true);
    PPROF_SITE(site, "opens", PPROF_CATEGORY_FORWARD);
    const unsigned from = 1 + run.Pick(2), to = from + run.Pick(2);
    run.SetRules(Capture(MarkerRule("opens", from, to, true)));
    run.Change(0, [&] { ASSERT_EQ(PPROF_STATUS_OK, run.live.Start()); });
    for (unsigned i = 0; i < 3 * to; i++) {
      const unsigned at = i % to + 1;
      const auto push = [&] { pprof_push(&site); };
      at == from ? run.Change(1, push) : push();
      at == to ? run.Change(0, pprof_pop) : pprof_pop();
      run.Go();
    }
    Stop(&run);
    run.Join();
    run.Check();
  }
}

}  // namespace
}  // namespace pprof_test
