// SPDX-License-Identifier: Apache-2.0
//
// Rules that are learnt from runs of a simulated service: none breaks in fresh
// runs, and each change of what it does breaks one.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "expect/expect_holds.h"
#include "expect/expect_learn.h"

namespace {

enum Site : uint32_t {
  kDecode = 1,
  kDetect,
  kClassify,
  kFetch,
  kAudit,
  kKernel,
  kCopy,
  kWait,
  kStep
};
const struct {
  const char *name;
  uint32_t category;
} kSites[] = {{"", 0},
              {"decode", PPROF_CATEGORY_PREPROCESS},
              {"detect", PPROF_CATEGORY_INFERENCE},
              {"classify", PPROF_CATEGORY_INFERENCE},
              {"fetch", PPROF_CATEGORY_USER_DEFINED},
              {"audit", PPROF_CATEGORY_USER_DEFINED},
              {"gemm<float, 4>(int)", PPROF_CATEGORY_KERNEL},
              {"Memcpy HtoD", PPROF_CATEGORY_MEMCPY},
              {"cudaStreamSynchronize", PPROF_CATEGORY_RUNTIME},
              {"ProfileStep", PPROF_CATEGORY_PROFILE_STEP}};

using Events = std::vector<pprof_event>;

// Of 40 requests, two at a time: decode, then detect with kernels and a copy
// beside them, then classify; one to three fetches; an audit on another thread,
// before or behind detect.
class Service {
 public:
  explicit Service(uint64_t seed) : random_(seed) {
    for (uint64_t i = 0; i < 40; i++) flows_.push_back(1000 + i);
    for (uint64_t i = 0; i < 40; i++) Request(i);
  }
  Events events;

  size_t Find(uint32_t site, uint64_t request) const {
    for (size_t i = 0; i < events.size(); i++)
      if (events[i].site == site && events[i].num_flows &&
          *events[i].flows == 1000 + request)
        return i;
    return 0;
  }

 private:
  uint64_t Us(uint64_t least, uint64_t most) {
    return 1000 * std::uniform_int_distribution<uint64_t>(least, most)(random_);
  }
  pprof_event *Add(uint32_t site, uint64_t request, uint32_t lane,
                   uint64_t start, uint64_t length) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.site = site;
    event.lane = lane;
    event.start_ns = start;
    event.end_ns = start + length;
    event.flows = &flows_[request];
    event.num_flows = 1;
    events.push_back(event);
    return &events.back();
  }
  void Work(uint32_t site, uint64_t request, uint32_t lane, uint64_t launch,
            uint64_t start, uint64_t length) {
    pprof_event *event = Add(site, request, lane, launch, 1000);
    event->kind = PPROF_KIND_DEVICE_RANGE;
    event->device_start_ns = start;
    event->device_end_ns = start + length;
  }
  void Request(uint64_t i) {
    const uint32_t lane = 1 + i % 2;
    const uint64_t begin = 10'000'000 * (i / 2);
    uint64_t at = begin + Us(1, 500);
    uint64_t fetches = 1 + Us(0, 2) / 1000;
    for (uint64_t k = 0; k < fetches; k++, at += 150'000)
      Add(kFetch, i, lane, at, 100'000);
    Add(kDecode, i, lane, at, Us(900, 1500));
    at = events.back().end_ns + 10'000;
    Add(kAudit, i, 3, at + Us(0, 1000), Us(10, 50));
    Add(kDetect, i, lane, at, Us(3000, 4000));
    uint64_t end = events.back().end_ns;
    for (uint64_t k = 0; k < 3; k++)
      Work(kKernel, i, lane, at + 10'000 * (k + 1), at + 500'000 * (k + 1),
           500'000);
    Work(kCopy, i, lane, at + 50'000, at + 600'000, 300'000);
    Add(kClassify, i, lane, end + 5'000, Us(500, 900));
    if (i % 2) return;
    pprof_event *step = Add(kStep, i, 0, begin, 9'990'000);
    step->num_flows = 0;
    step->flags = PPROF_FLAG_ASYNC;
  }

  std::mt19937_64 random_;
  std::vector<uint64_t> flows_;
};

void Feed(ppi_expect_run *run, const Events &events) {
  pprof_sink *sink = &run->base;
  const pprof_run_info info = {};
  ASSERT_EQ(sink->begin(sink, &info), PPROF_STATUS_OK);
  for (uint32_t i = kDecode; i <= kStep; i++) {
    const pprof_definition site = {
        PPROF_DEFINITION_SITE, i, kSites[i].category, 0, 0, kSites[i].name};
    ASSERT_EQ(sink->define(sink, &site), PPROF_STATUS_OK);
  }
  pprof_batch batch = {};
  batch.size = sizeof batch;
  batch.stride = sizeof(pprof_event);
  batch.events = events.data();
  batch.num_events = events.size();
  ASSERT_EQ(sink->events(sink, &batch), PPROF_STATUS_OK);
  ASSERT_EQ(sink->finish(sink, nullptr), PPROF_STATUS_OK);
}

class ExpectTest : public ::testing::Test {
 protected:
  // The rules that five runs keep, as a file has them.
  void Learn() {
    ppi_expect_lesson *lesson = ppi_expect_lesson_create();
    ppi_expect_run run;
    ppi_page page = {};
    ppi_expect_run_init(
        &run,
        [](void *user, const ppi_expect_run *whole) {
          ppi_expect_lesson_add(static_cast<ppi_expect_lesson *>(user), whole);
        },
        lesson);
    for (uint64_t seed = 1; seed <= 5; seed++) Feed(&run, Service(seed).events);
    ppi_expect_run_clear(&run);
    ppi_expect_lesson_put(lesson, &page);
    ppi_expect_lesson_destroy(lesson);
    text_.assign(page.bytes, page.len);
    ppi_page_clear(&page);
    for (size_t at = text_.find("\n  - "); at != std::string::npos;
         at = text_.find("\n  - ", at + 1))
      rules_.push_back(text_.substr(at + 5, text_.find('\n', at + 1) - at - 5));
  }
  // The first rule that a run breaks, and what of it; "" for none.
  std::string Broken(const Events &events) {
    ppi_expect_run run;
    broken_.clear();
    num_cut_ = 0;
    ppi_expect_run_init(
        &run,
        [](void *user, const ppi_expect_run *whole) {
          static_cast<ExpectTest *>(user)->Check(whole);
        },
        this);
    Feed(&run, events);
    ppi_expect_run_clear(&run);
    return broken_;
  }
  void Check(const ppi_expect_run *run) {
    for (const std::string &text : rules_) {
      ppi_expect_rule rule;
      ppi_page page = {};
      ASSERT_TRUE(ppi_expect_rule_parse(text.c_str(), &rule)) << text;
      size_t num_cut;
      bool holds = ppi_expect_rule_holds(&rule, run, &page, &num_cut);
      num_cut_ = std::max(num_cut_, num_cut);
      if (!holds && broken_.empty())
        broken_ = text + ": " + std::string(page.bytes, page.len);
      ppi_page_clear(&page);
    }
  }

  std::string text_, broken_;
  size_t num_cut_ = 0;
  std::vector<std::string> rules_;
};

TEST_F(ExpectTest, NoFreshRunBreaksWhatIsLearnt) {
  Learn();
  EXPECT_GE(rules_.size(), 12u);
  for (uint64_t seed = 100; seed < 300; seed++)
    ASSERT_EQ(Broken(Service(seed).events), "") << seed << "\n" << text_;
}

TEST_F(ExpectTest, WhatIsLearnt) {
  Learn();
  for (const char *rule :
       {"request has decode -> detect -> classify", "request has audit = 1",
        "request has launches = 3", "step has launches = 6",
        "# - request has fetch <= 6", "request has synchronize = 0",
        "no synchronize in decode", "lost = 0",
        "# - overlap(copy, compute) > 50 %", "# - p99(detect) < 22 ms"})
    EXPECT_NE(
        text_.find(std::string(rule[0] == '#' ? "  " : "  - ") + rule + "\n"),
        std::string::npos)
        << rule << "\n"
        << text_;
}

// The recording ends inside a request, between two of its calls.
TEST_F(ExpectTest, RequestsThatTheRecordingCutsAreNotLearntFrom) {
  ppi_expect_lesson *lesson = ppi_expect_lesson_create();
  ppi_expect_run run;
  ppi_page page = {};
  ppi_expect_run_init(
      &run,
      [](void *user, const ppi_expect_run *whole) {
        ppi_expect_lesson_add(static_cast<ppi_expect_lesson *>(user), whole);
      },
      lesson);
  const Service service(1);
  Events events = service.events;
  uint64_t last = 0;
  for (const pprof_event &event : events)
    if (event.num_flows) last = std::max(last, event.flows[0]);
  events.erase(std::remove_if(events.begin(), events.end(),
                              [&](const pprof_event &event) {
                                return event.num_flows &&
                                       event.flows[0] == last &&
                                       event.site == kClassify;
                              }),
               events.end());
  Feed(&run, events);
  ppi_expect_run_clear(&run);
  ppi_expect_lesson_put(lesson, &page);
  ppi_expect_lesson_destroy(lesson);
  const std::string text(page.bytes, page.len);
  ppi_page_clear(&page);
  EXPECT_NE(text.find("request has decode -> detect -> classify\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  # 1 request is cut at edges of the recording: not "
                      "learnt from\n"),
            std::string::npos)
      << text;
}

// Each of 40 places in fresh runs.
TEST_F(ExpectTest, EachChangeIsCaught) {
  Learn();
  const struct {
    const char *what;
    std::function<void(Service *, uint64_t)> change;
    const char *breaks;
  } kChanges[] = {
      {"dropped",
       [](Service *run, uint64_t i) {
         run->events.erase(run->events.begin() + run->Find(kDetect, i));
       },
       "request has decode -> detect -> classify"},
      {"doubled",
       [](Service *run, uint64_t i) {
         run->events.push_back(run->events[run->Find(kClassify, i)]);
       },
       "request has decode -> detect -> classify"},
      {"reordered",
       [](Service *run, uint64_t i) {
         pprof_event *a = &run->events[run->Find(kDetect, i)];
         pprof_event *b = &run->events[run->Find(kClassify, i)];
         std::swap(a->site, b->site);
       },
       "request has decode -> detect -> classify"},
      {"a launch more",
       [](Service *run, uint64_t i) {
         run->events.push_back(run->events[run->Find(kKernel, i)]);
       },
       "request has launches = 3"},
      {"an added sync",
       [](Service *run, uint64_t i) {
         pprof_event sync = run->events[run->Find(kDecode, i)];
         sync.site = kWait;
         sync.start_ns += 1000;
         sync.end_ns -= 1000;
         run->events.push_back(sync);
       },
       ""},
      {"a sync of no request",
       [](Service *run, uint64_t i) {
         pprof_event sync = run->events[run->Find(kDecode, i)];
         sync.site = kWait;
         sync.start_ns += 1000;
         sync.end_ns -= 1000;
         sync.num_flows = 0;
         run->events.push_back(sync);
       },
       "no synchronize in decode"},
  };
  for (const auto &change : kChanges)
    for (uint64_t i = 0; i < 40; i++) {
      Service run(1000 + i);
      change.change(&run, i);
      std::string broken = Broken(run.events);
      ASSERT_NE(broken, "") << change.what << i;
      ASSERT_EQ(broken.find(change.breaks), 0u) << change.what << broken;
    }
}

// What a recording of [from, to) has: the events that began in it. Those that
// are open at its end are clipped, or are not there.
Events Between(const Events &events, uint64_t from, uint64_t to,
               bool has_open = false) {
  Events out;
  for (pprof_event event : events) {
    if (event.start_ns < from || event.start_ns >= to) continue;
    if (event.end_ns > to && !has_open) continue;
    if (event.end_ns > to) event.flags |= PPROF_FLAG_CLIPPED;
    event.end_ns = std::min(event.end_ns, to);
    out.push_back(event);
  }
  return out;
}

// Recordings that begin and end anywhere, with the calls that are open at the
// end (a window) or without them (a killed process).
TEST_F(ExpectTest, RequestsAtTheEdgesAreCutNotBroken) {
  rules_ = {"request has decode -> detect -> classify",
            "request has launches = 3", "request has audit >= 1",
            "request has fetch > 0"};
  size_t most = 0;
  for (uint64_t at = 0; at < 200; at++) {
    const Service run(2000 + at);
    uint64_t from = 20'000'000 + 100'000 * at;
    for (bool has_open : {false, true}) {
      Events events =
          Between(run.events, from, from + 100'000'000 + 37'000 * at, has_open);
      ASSERT_EQ(Broken(events), "") << at << has_open;
      most = std::max(most, num_cut_);
    }
  }
  EXPECT_EQ(most, 4u);  // two at each edge
}

TEST_F(ExpectTest, TheLastRequestsBetweenTwoStagesAreCounted) {
  rules_ = {"request has decode -> detect -> classify"};
  const Service run(7);
  uint64_t end = std::max(run.events[run.Find(kDecode, 38)].end_ns,
                          run.events[run.Find(kDecode, 39)].end_ns);
  EXPECT_EQ(Broken(Between(run.events, 0, end)), "");
  EXPECT_EQ(num_cut_, 2u);
  EXPECT_EQ(Broken(run.events), "");
  EXPECT_EQ(num_cut_, 0u);
}

// Each request but those at the very edge: their call could be outside.
TEST_F(ExpectTest, AnEndDroppedInsideIsCaught) {
  rules_ = {"request has decode -> detect -> classify"};
  for (uint32_t site : {kDecode, kClassify})
    for (uint64_t i = 2; i < 38; i++) {
      Service run(1000 + i);
      run.events.erase(run.events.begin() + run.Find(site, i));
      ASSERT_NE(Broken(run.events), "") << site << " " << i;
      ASSERT_EQ(num_cut_, 0u);
    }
}

// From request 20 on, and in all of them.
TEST_F(ExpectTest, AStageThatNoLongerComesIsCaught) {
  rules_ = {"request has decode -> detect -> classify"};
  for (uint64_t first : {0, 20}) {
    Service run(7);
    for (uint64_t i = first; i < 40; i++)
      run.events.erase(run.events.begin() + run.Find(kClassify, i));
    EXPECT_NE(
        Broken(run.events).find("request " + std::to_string(1000 + first)),
        std::string::npos)
        << broken_;
    EXPECT_LE(num_cut_, 2u);
  }
}

// Of two requests alone either could be cut; a name that is nowhere is wrong.
TEST_F(ExpectTest, ANameThatTheRunLacksIsNotCut) {
  const Service run(7);
  const Events events = Between(run.events, 0, 9'000'000);
  for (const char *rule : {"request has decode -> detect -> nothing",
                           "request has nothing >= 1"}) {
    rules_ = {rule};
    EXPECT_NE(Broken(events), "") << rule;
  }
}

// The range of the request ended, so the stage does not come any more.
TEST_F(ExpectTest, AnEndedRequestIsNotCut) {
  rules_ = {"request has decode -> detect -> classify"};
  Service run(7);
  run.events.erase(run.events.begin() + run.Find(kClassify, 39));
  EXPECT_EQ(Broken(run.events), "");
  EXPECT_EQ(num_cut_, 1u);
  pprof_event whole = run.events[run.Find(kDecode, 39)];
  whole.site = kStep + 1;
  whole.flags = PPROF_FLAG_REQUEST | PPROF_FLAG_ASYNC;
  whole.end_ns = run.events[run.Find(kDetect, 39)].end_ns;
  run.events.push_back(whole);
  EXPECT_NE(Broken(run.events).find("request 1039"), std::string::npos);
  run.events.back().flags |= PPROF_FLAG_CLIPPED;
  EXPECT_EQ(Broken(run.events), "");
  EXPECT_EQ(num_cut_, 1u);
}

// A call hangs until the process is killed; those behind it wait.
TEST_F(ExpectTest, RequestsBehindAHungCallAreCut) {
  rules_ = {"request has decode -> detect -> classify"};
  Service run(7);
  const uint64_t hung = run.events[run.Find(kDetect, 34)].start_ns;
  const uint64_t end = run.events.back().end_ns + 1'000'000'000;
  Events events;
  for (const pprof_event &event : run.events)
    if (event.site == kDecode || event.end_ns < hung) events.push_back(event);
  events.push_back(run.events[run.Find(kDetect, 34)]);
  events.back().end_ns = end;
  EXPECT_NE(Broken(events), "");
  events.back().flags |= PPROF_FLAG_CLIPPED;
  EXPECT_EQ(Broken(events), "");
  EXPECT_EQ(num_cut_, 6u);
}

// A request may lie on both sides of the time between two windows.
TEST_F(ExpectTest, RequestsOverTwoWindowsAreCut) {
  rules_ = {"request has decode -> detect -> classify"};
  const Service run(7);
  uint64_t away = run.events[run.Find(kDetect, 20)].start_ns - 1;
  Events events = Between(run.events, 0, away);
  for (pprof_event event :
       Between(run.events, away + 2'000'000, 1'000'000'000)) {
    event.window = 1;
    events.push_back(event);
  }
  EXPECT_EQ(Broken(events), "");
  EXPECT_EQ(num_cut_, 2u);
}

TEST_F(ExpectTest, NamesTheFirstOffender) {
  rules_ = {"request has decode -> detect -> classify"};
  Service run(7);
  run.events.erase(run.events.begin() + run.Find(kDetect, 30));
  run.events.erase(run.events.begin() + run.Find(kDetect, 17));
  std::string broken = Broken(run.events);
  EXPECT_EQ(
      broken.find("request has decode -> detect -> classify: request 1017 "
                  "at 0.08"),
      0u)
      << broken;
  EXPECT_NE(broken.find(" has: decode -> classify"), std::string::npos);
}

TEST_F(ExpectTest, FiguresOfEachKind) {
  const Service run(7);  // its events borrow from it
  const Events &events = run.events;
  for (const char *rule :
       {"p99(detect) < 4.1 ms", "max(detect) > 3ms", "mean(classify) < 900 us",
        "p50(device:gemm*) = 500000 ns", "overlap(copy, compute) >= 60 %",
        "run has detect = 40", "step has de* = 4", "no classify in decode",
        "detect has launches = 3"}) {
    rules_ = {rule};
    EXPECT_EQ(Broken(events), "");
  }
  for (const char *rule : {"p99(detect) < 3 ms", "p99(nothing) < 1 s",
                           "lost > 0", "overlap(compute, copy) > 90 %",
                           "nothing has detect = 1", "no launches in detect"}) {
    rules_ = {rule};
    EXPECT_NE(Broken(events), "") << rule;
  }
}

TEST_F(ExpectTest, WhatIsNoRule) {
  ppi_expect_rule rule;
  for (const char *text :
       {"", "request", "request has ", "no sync", "p0(x) < 1 ms", "p99(x) < 8",
        "p99(x) 8 ms", "overlap(x) > 1 %", "lost = few", "q99(x) < 1 ms",
        "step has -> x", "overlap(a, b) > 50"})
    EXPECT_FALSE(ppi_expect_rule_parse(text, &rule)) << text;
}

}  // namespace
