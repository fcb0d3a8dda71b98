// SPDX-License-Identifier: Apache-2.0
//
// Random programs run under random sessions. The report made in the process and
// the report of the session's log are equal, byte for byte, also when the log's
// batches come in other pieces and another order. The same holds for Chrome
// traces. A trace that is read back gives every view the same cells as the log.
#include <gtest/gtest.h>
#include <pprof/pprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "session/choice_session.h"
extern "C" {
#include "import/import.h"
}
#include "inject/inject.h"
#include "report_text.h"
#include "scripted_backend.h"
#include "session/capture/capture_session.h"
#include "session/state/session_impl.h"
#include "tests/support/capture_rules.h"
#include "tests/support/long_run.h"

namespace {

using pprof_test::Report;
using Random = std::mt19937_64;

uint64_t Pick(Random *random, uint64_t n) {
  return (*random)() % n;
}

// ---- a sink that hands on what it gets in another order ----

struct HeldEvent {
  pprof_event event;
  std::vector<uint64_t> flows;
  pprof_work_amount work;
  bool has_work;
  pprof_cpu_use cpu;
  bool has_cpu;
  pprof_numbers numbers;
  bool has_numbers;
  uint64_t end_seq;  // of the batch it came in when it is the last, else 0
};

struct HeldLane {
  std::deque<HeldEvent> events;
  uint64_t next_seq = 0;
};

struct Shuffle {
  pprof_sink base;
  pprof_sink *to;
  Random *random;
  std::map<uint32_t, HeldLane> lanes;
};

Shuffle *Of(pprof_sink *sink) {
  return reinterpret_cast<Shuffle *>(sink);
}

void Hold(Shuffle *self, const pprof_batch *batch) {
  HeldLane &lane = self->lanes[batch->lane];
  for (size_t i = 0; i < batch->num_events; i++) {
    HeldEvent held = {};
    held.event = *pprof_batch_at(batch, i);
    held.flows.assign(held.event.flows,
                      held.event.flows + held.event.num_flows);
    held.has_work = held.event.work != nullptr;
    if (held.has_work) held.work = *held.event.work;
    held.has_cpu = held.event.cpu != nullptr;
    if (held.has_cpu) held.cpu = *held.event.cpu;
    held.has_numbers = held.event.numbers != nullptr;
    if (held.has_numbers) held.numbers = *held.event.numbers;
    held.end_seq = i + 1 == batch->num_events ? batch->end_seq : 0;
    lane.events.push_back(held);
  }
}

pprof_status HandOn(Shuffle *self, uint32_t id, size_t num) {
  HeldLane &lane = self->lanes[id];
  std::vector<pprof_event> events;
  for (size_t i = 0; i < num; i++) {
    HeldEvent &held = lane.events[i];
    events.push_back(held.event);
    events.back().flows = held.flows.empty() ? nullptr : held.flows.data();
    events.back().work = held.has_work ? &held.work : nullptr;
    events.back().cpu = held.has_cpu ? &held.cpu : nullptr;
    events.back().numbers = held.has_numbers ? &held.numbers : nullptr;
  }
  const uint64_t end =
      std::max(lane.events[num - 1].end_seq, lane.next_seq + num);
  pprof_batch batch = {};
  batch.size = sizeof batch;
  batch.stride = sizeof(pprof_event);
  batch.events = events.data();
  batch.num_events = num;
  batch.first_seq = lane.next_seq;
  batch.end_seq = end;
  batch.lane = id;
  const pprof_status status = self->to->events(self->to, &batch);
  lane.next_seq = end;
  lane.events.erase(lane.events.begin(),
                    lane.events.begin() + static_cast<long>(num));
  return status;
}

pprof_status HandOnAll(Shuffle *self) {
  for (;;) {
    std::vector<uint32_t> left;
    for (const auto &lane : self->lanes)
      if (!lane.second.events.empty()) left.push_back(lane.first);
    if (left.empty()) return PPROF_STATUS_OK;
    const uint32_t id = left[Pick(self->random, left.size())];
    const size_t most = self->lanes[id].events.size();
    const size_t num = 1 + Pick(self->random, std::min<size_t>(most, 50));
    const pprof_status status = HandOn(self, id, num);
    if (status != PPROF_STATUS_OK) return status;
  }
}

Shuffle MakeShuffle(pprof_sink *to, Random *random) {
  Shuffle shuffle = {};
  shuffle.to = to;
  shuffle.random = random;
  pprof_sink &base = shuffle.base;
  base.size = sizeof base;
  base.begin = [](pprof_sink *sink, const pprof_run_info *info) {
    return Of(sink)->to->begin(Of(sink)->to, info);
  };
  base.define = [](pprof_sink *sink, const pprof_definition *definition) {
    return Of(sink)->to->define(Of(sink)->to, definition);
  };
  base.events = [](pprof_sink *sink, const pprof_batch *batch) {
    Hold(Of(sink), batch);
    return PPROF_STATUS_OK;
  };
  base.checkpoint = [](pprof_sink *sink, const pprof_checkpoint *checkpoint) {
    const pprof_status status = HandOnAll(Of(sink));
    if (status != PPROF_STATUS_OK) return status;
    return Of(sink)->to->checkpoint(Of(sink)->to, checkpoint);
  };
  base.window = [](pprof_sink *sink, uint32_t index, bool opens, uint64_t at) {
    return Of(sink)->to->window(Of(sink)->to, index, opens, at);
  };
  base.finish = [](pprof_sink *sink, const pprof_totals *totals) {
    const pprof_status status = HandOnAll(Of(sink));
    if (status != PPROF_STATUS_OK) return status;
    return Of(sink)->to->finish(Of(sink)->to, totals);
  };
  return shuffle;
}

// ---- a sink that fails ----

struct Failing {
  pprof_sink base;
  uint64_t left;
};

Failing MakeFailing(uint64_t after) {
  Failing failing = {};
  failing.left = after;
  failing.base.size = sizeof failing.base;
  failing.base.events = [](pprof_sink *sink, const pprof_batch *) {
    auto *self = reinterpret_cast<Failing *>(sink);
    return self->left-- == 0 ? PPROF_STATUS_IO : PPROF_STATUS_OK;
  };
  return failing;
}

// ---- a random program ----

struct Devices {
  scripted_device *fakes[3];
  pprof_device *devices[3];
  void *streams[3][2];
};

// Devices live as long as the process.
const Devices &TheDevices() {
  static const Devices devices = [] {
    static const uint64_t latencies[] = {100, 3000, 50};
    Devices made = {};
    for (int i = 0; i < 3; i++) {
      scripted_script script = {};
      script.skew_ns = i * 1000000000ll;
      script.drift_ppb = i * 20000;
      script.latencies_ns = latencies;
      script.num_latencies = 3;
      script.caps = i == 1 ? PPROF_BACKEND_ABSOLUTE_TIME : 0;
      script.no_anchor = i == 2;
      made.fakes[i] = scripted_device_create(&script);
      made.devices[i] = pprof_device_get(scripted_device_backend(made.fakes[i]),
                                         scripted_device_index(made.fakes[i]));
      for (void *&stream : made.streams[i])
        stream = scripted_stream_create(made.fakes[i], 1);
    }
    return made;
  }();
  return devices;
}

PPROF_SITE(load_site, "load", PPROF_CATEGORY_DATALOADER);
PPROF_SITE(forward_site, "forward", PPROF_CATEGORY_FORWARD);
PPROF_SITE(infer_site, "infer", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(user_site, "user", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(level_site, "level", PPROF_CATEGORY_USER_DEFINED);

class Program {
 public:
  Program(uint64_t seed, bool steps) : random_(seed), steps_(steps) {}

  void Run(size_t num) {
    for (size_t i = 0; i < num; i++) Operation();
    // Some stay open.
    if (Pick(&random_, 2))
      for (; depth_ > 0; depth_--) pprof_pop();
    for (pprof_range range : ranges_)
      if (Pick(&random_, 3)) pprof_range_end(range);
  }

 private:
  pprof_site *Site() {
    pprof_site *sites[] = {&load_site, &forward_site, &infer_site, &user_site};
    return sites[Pick(&random_, 4)];
  }

  void Operation() {
    const uint64_t kind = Pick(&random_, 40);
    if (kind < 5) {
      pprof_push(Site());
      depth_++;
    } else if (kind < 10) {
      Pair();
      depth_++;
    } else if (kind < 20) {
      pprof_inject_pop_(0);
      if (depth_ > 0) depth_--;
    } else if (kind < 26) {
      OnDevice();
    } else if (kind == 26 && steps_) {
      pprof_step(Pick(&random_, 5));
    } else {
      Other(kind);
    }
  }

  // As an NVTX push that is timed does; its pop is that of the range.
  void Pair() {
    const Devices &all = TheDevices();
    const size_t device = Pick(&random_, 3);
    void *stream = all.streams[device][Pick(&random_, 4) == 0];
    const int level = pprof_inject_push_(0, Site(), nullptr, 0);
    const pprof_inject_place_ place = {0, level, all.devices[device], stream};
    pprof_inject_device_begin_(&place);
    scripted_stream_submit(stream, Pick(&random_, 1000));
  }

  void OnDevice() {
    const Devices &all = TheDevices();
    const size_t device = Pick(&random_, 3);
    void *stream = all.streams[device][Pick(&random_, 2)];
    pprof_device_push(all.devices[device], stream, Site());
    scripted_stream_submit(stream, Pick(&random_, 1000));
    if (Pick(&random_, 4) == 0) {
      pprof_device_next(all.devices[device], stream, Site());
      scripted_stream_submit(stream, Pick(&random_, 1000));
    }
    pprof_device_pop(all.devices[device], stream);
  }

  void Other(uint64_t kind) {
    static const char *const names[] = {"a", "b \"quoted\"", "\xc3\xbc",
                                        "\xff bad"};
    pprof_work_amount work = {sizeof work, 2, 100, 1e6, 0};
    switch (kind) {
      case 27:
        pprof_mark(Site());
        break;
      case 28:
        pprof_count(&level_site, static_cast<double>(Pick(&random_, 100)) / 3);
        break;
      case 29:
        pprof_flow(1 + Pick(&random_, 5));
        break;
      case 30:
        pprof_work(&work);
        break;
      case 31:
      case 32:
        ranges_.push_back(pprof_range_begin(Site()));
        pprof_range_flow(ranges_.back(), 1 + Pick(&random_, 5));
        pprof_range_work(ranges_.back(), &work);
        break;
      case 33:
      case 34:
        if (!ranges_.empty()) {
          pprof_range_end(ranges_.back());
          ranges_.pop_back();
        }
        break;
      case 35: {
        const std::string numbered =
            "numbered " + std::to_string(Pick(&random_, 1000));
        pprof_push_name(
            Pick(&random_, 2) ? names[Pick(&random_, 4)] : numbered.c_str(),
            PPROF_CATEGORY_CPU_TASK);
        pprof_pop();
        break;
      }
      case 36: {
        const pprof_request request =
            pprof_request_begin(1 + Pick(&random_, 5), Site());
        pprof_request_input(request, Pick(&random_, 3));
        pprof_serve(&request, Pick(&random_, 2));
        pprof_token(request, Pick(&random_, 3));
        if (Pick(&random_, 4)) pprof_request_end(request);
        PPROF_SCOPE("scope");
        pprof_push(Site());
        break;
      }
      case 37:
        pprof_thread_name(names[Pick(&random_, 4)]);
        break;
    }
  }

  Random random_;
  bool steps_;
  size_t depth_ = 0;
  std::vector<pprof_range> ranges_;
};

ppi_capture MakeCapture(Random *random) {
  if (Pick(random, 2)) return ppi_capture{};
  const uint64_t skip_first = Pick(random, 3), wait = Pick(random, 3);
  const uint64_t warmup = Pick(random, 2), active = 1 + Pick(random, 4);
  return pprof_test::Cycle(skip_first, wait, warmup, active, Pick(random, 4));
}

// Of a long trace without its arrows: beyond a bound the writer forgets stages
// of a request, and which ones depends on the order in which they came.
std::vector<std::string> SortedLines(const std::string &path) {
  constexpr size_t kLong = 500;
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == ',' || line.back() == ' '))
      line.pop_back();
    lines.push_back(line);
  }
  auto is_arrow = [](const std::string &line) {
    return line.find("\"cat\":\"flow\"") != std::string::npos;
  };
  if (lines.size() > kLong)
    lines.erase(std::remove_if(lines.begin(), lines.end(), is_arrow),
                lines.end());
  std::sort(lines.begin(), lines.end());
  return lines;
}

class LiveEqualsLogTest : public testing::Test {
 protected:
  void SetUp() override {
    const char *base = getenv("TEST_TMPDIR");
    folder_ = std::string(base ? base : "/tmp") + "/liveXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&folder_[0]));
    log_ = folder_ + "/run.pplog";
    live_trace_ = folder_ + "/live.json";
    log_trace_ = folder_ + "/log.json";
  }

  void TearDown() override {
    for (const std::string &path : {log_, live_trace_, log_trace_})
      unlink(path.c_str());
    rmdir(folder_.c_str());
  }

  void Add(pprof_session *session, pprof_sink *sink) {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, sink));
  }

  // Makes the log, the live trace and the live report.
  void RunSession(Random *random, Report *live) {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = Pick(random, 2) ? 2u << 20 : 16u << 20;
    options.drain_interval_us = Pick(random, 2) ? 100 : 20000;
    options.stop_wait_ms = 30;
    pprof_session *session = nullptr;
    pprof_sink *log = nullptr, *trace = nullptr;
    Failing failing = MakeFailing(Pick(random, 20));
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_create(&options, &session, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_log_writer_create(log_.c_str(), &log, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_chrome_writer_create(live_trace_.c_str(), &trace, nullptr));
    const bool fails = Pick(random, 2);
    if (fails) Add(session, &failing.base);
    Add(session, live->sink());
    Add(session, log);
    Add(session, trace);
    const ppi_capture capture = MakeCapture(random);
    ppi_session_set_capture(session, &capture);
    static const char *const measured[] = {"in*", "user", "scope", "b*"};
    ppi_choice choice = {};
    choice.cpu = measured;
    choice.num_cpu = Pick(random, 2) ? 4 : 0;
    choice.fold = PPI_FOLDS_ALL;
    ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_choice(session, &choice));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
    RunThreads(random);
    pprof_error error = {};
    const pprof_status status = pprof_session_stop(session, &error);
    if (!fails) {
      EXPECT_EQ(PPROF_STATUS_OK, status) << error.text;
    }
    Count(session);
    for (void *stream : TheDevices().streams[held_])
      scripted_stream_hold(stream, false);
    pprof_session_destroy(session);
  }

  void RunThreads(Random *random) {
    const bool late = Pick(random, 3) == 0;
    held_ = Pick(random, 3);
    const size_t num_threads = 1 + Pick(random, 3);
    const size_t sizes[] = {50, 1000, 40000};
    const size_t num = sizes[Pick(random, 3)];
    std::vector<std::thread> threads;
    for (size_t i = 0; i < num_threads; i++)
      threads.emplace_back([seed = (*random)(), i, num] {
        Program(seed, i == 0).Run(num / 2 + 1);
      });
    for (std::thread &thread : threads) thread.join();
    if (late) scripted_stream_hold(TheDevices().streams[held_][0], true);
    Program((*random)(), true).Run(num / 2);
  }

  void Count(pprof_session *session) {
    pprof_stats stats = {};
    stats.size = sizeof stats;
    pprof_session_stats(session, &stats);
    num_recorded_ += stats.recorded;
    num_lost_ += stats.lost;
    num_late_ += stats.late;
    num_excluded_ += stats.excluded;
  }

  void ReadLog(pprof_sink *sink) {
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(log_.c_str(), sink, &error))
        << error.text;
  }

  void ExpectSame(const Report &live, const Report &log, const char *how) {
    EXPECT_EQ(live.Json(), log.Json()) << how;
    EXPECT_EQ(live.Table(nullptr), log.Table(nullptr)) << how;
    EXPECT_EQ(live.Write(PPI_FORMAT_CSV, nullptr),
              log.Write(PPI_FORMAT_CSV, nullptr))
        << how;
  }

  void ExpectSameTrace() {
    pprof_sink *trace = nullptr;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_chrome_writer_create(log_trace_.c_str(), &trace, nullptr));
    ReadLog(trace);
    trace->destroy(trace);
    const auto live = SortedLines(live_trace_), log = SortedLines(log_trace_);
    ASSERT_EQ(live.size(), log.size());
    const auto differ = std::mismatch(live.begin(), live.end(), log.begin());
    if (differ.first != live.end()) {
      ADD_FAILURE() << "live " << *differ.first << "\nlog  " << *differ.second;
    }
  }

  // JSON has no bytes that are not UTF-8: a trace has U+FFFD in their place.
  static std::string Cells(const Report &report) {
    const char *all =
        "device,overview,model,distributed,operator,kernel,"
        "memory_manipulation,userdefined,memory,perf,queue,messages,"
        "interference,cpu,launches,stages,requests";
    std::string json = report.Json(all);
    const std::string bad = "\\ufffd";
    for (size_t at; (at = json.find(bad)) != std::string::npos;)
      json.replace(at, bad.size(), "\xef\xbf\xbd");
    return json.substr(0, json.find("\"notes\""));
  }

  void ExpectReadBack(const ppi_report_details &details) {
    Report log, trace;
    ppi_report_set_details(log.get(), &details);
    ppi_report_set_details(trace.get(), &details);
    ReadLog(log.sink());
    pprof_error error = {};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_import_read(log_trace_.c_str(), trace.sink(),
                                               nullptr, &error))
        << error.text;
    EXPECT_EQ(Cells(log), Cells(trace)) << "read back from the trace";
  }

  void ExpectReadBack() {
    ppi_report_details details = {};
    details.requests = true;
    details.warmup = -1;
    ExpectReadBack(details);
    details.by_thread = details.operator_parts = details.paths = true;
    details.kernels = true;
    ExpectReadBack(details);
    details.paddle_distribution = true;
    ExpectReadBack(details);
  }

  std::string folder_, log_, live_trace_, log_trace_;
  size_t held_ = 0;
  uint64_t num_recorded_ = 0, num_lost_ = 0, num_late_ = 0, num_excluded_ = 0;
};

TEST_F(LiveEqualsLogTest, ReportsAndTracesAreTheSame) {
  const uint64_t num =
      pprof_test::Seeds(pprof_test::kIsSanitized ? 12 : 40, 400);
  for (uint64_t seed = 0; seed < num && !HasFailure(); seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Report live, log, shuffled;
    RunSession(&random, &live);
    ReadLog(log.sink());
    ExpectSame(live, log, "read from the log");
    Shuffle shuffle = MakeShuffle(shuffled.sink(), &random);
    ReadLog(&shuffle.base);
    ExpectSame(live, shuffled, "in another order");
    ExpectSameTrace();
    ExpectReadBack();
    ASSERT_EQ(0, unlink(log_.c_str()));  // a log replaces none
  }
  if (num >= 12) {
    EXPECT_GT(num_recorded_, num * 2500);
    EXPECT_GT(num_lost_, num * 25);
    EXPECT_GT(num_excluded_, num * 2);
  }
  // One in some programs only.
  EXPECT_GE(num_late_, num >= 40 ? 1u : 0u);
  RecordProperty("recorded", static_cast<int>(num_recorded_));
  RecordProperty("lost", static_cast<int>(num_lost_));
  RecordProperty("late", static_cast<int>(num_late_));
  RecordProperty("excluded", static_cast<int>(num_excluded_));
}

}  // namespace
