// SPDX-License-Identifier: Apache-2.0
//
// Requests of scripted pipelines whose answers are known; what is left out.
#include <map>
#include <string>

#include "request_fixture.h"

namespace {

using pprof_test::Device;
using pprof_test::EventFeed;
using pprof_test::kModel;
using pprof_test::kUs;
using pprof_test::kUser;
using Report = pprof_test::RequestReport;

struct Script {
  size_t num = 200;
  uint64_t tail_us = 0;  // added to `slow_stage` of each 50th request
  std::string slow_stage;
  std::string dropped_stage;  // without a marker in each 10th request
  double noise = 0;
};

// decode 100 us, model 300 us on the device after a wait of 20, post 50 us;
// gaps of 5 us between them. Requests follow each other without overlap.
struct Pipeline {
  explicit Pipeline(const Script &script) : random(1) {
    feed.Lane(1, 100, "worker");
    feed.Lane(1001, 0, "gpu");
    feed.Device(1, "gpu");
    feed.Stream(1, 1);
    uint64_t now = 1000;
    for (size_t i = 0; i < script.num; i++) {
      flow = i + 1;
      is_slow = i % 50 == 7;
      is_dropped = i % 10 == 3;
      now = OneRequest(script, now) + 50 * kUs;
    }
  }
  uint64_t Length(const Script &script, const std::string &stage,
                  uint64_t usual_us) {
    double noise = script.noise;
    std::normal_distribution<double> normal(1, noise > 0 ? noise : 1);
    double length = static_cast<double>(usual_us * kUs);
    if (noise > 0) length *= normal(random);
    auto ns = static_cast<uint64_t>(length);
    return ns +
           (is_slow && stage == script.slow_stage ? script.tail_us * kUs : 0);
  }
  void Serves(const Script &script, const std::string &stage,
              pprof_event *event) {
    if (is_dropped && stage == script.dropped_stage) return;
    flows.push_back(flow);
    event->flows = &flows.back();
    event->num_flows = 1;
  }
  uint64_t OneRequest(const Script &script, uint64_t now) {
    uint64_t end = now + Length(script, "decode", 100);
    Serves(script, "decode", &feed.Range(1, "decode", kUser, now, end));
    now = end + Length(script, "(before model)", 5);
    uint64_t begins = now + Length(script, "(queue)", 20);
    end = begins + Length(script, "model", 300);
    Serves(script, "model",
           &feed.OnDevice(1, 1, "model", kModel, now, begins, end));
    now = end + Length(script, "(before post)", 5);
    end = now + Length(script, "post", 50);
    Serves(script, "post", &feed.Range(1, "post", kUser, now, end));
    return end;
  }
  EventFeed feed;
  std::deque<uint64_t> flows;
  std::mt19937_64 random;
  uint64_t flow = 0;
  bool is_slow = false, is_dropped = false;
};

TEST(RequestsTest, EachFigureOfAScript) {
  Pipeline pipeline({});
  Report report(&pipeline.feed);
  EXPECT_EQ(report.Cell("(request)", "requests"), "200");
  EXPECT_EQ(report.Cell("(request)", "p50_ns"), "480000");
  EXPECT_EQ(report.Cell("(request)", "p99_ns"), "480000");
  EXPECT_EQ(report.Cell("(request)", "critical_avg_ns"), "450000");
  EXPECT_EQ(report.Cell("decode", "avg_ns"), "100000");
  EXPECT_EQ(report.Cell("model", "timed"), "device");
  EXPECT_EQ(report.Cell("model", "queue_avg_ns"), "20000");
  EXPECT_EQ(report.Cell("model", "hop_avg_ns"), "5000");
  EXPECT_EQ(report.Cell("model", "critical_ratio_%"), "62.5");
  EXPECT_EQ(report.Cell("post", "little_%"), "100.0");
  EXPECT_EQ(report.Cell("post", "flag"), "");
}

TEST(RequestsTest, TailIsBlamedOnWhatMakesIt) {
  for (const std::string stage :
       {"decode", "model", "post", "(queue)", "(before post)"})
    for (double noise : {0.0, 0.02}) {
      Script script;
      script.slow_stage = stage;
      script.tail_us = 1000;
      script.noise = noise;
      Pipeline pipeline(script);
      Report report(&pipeline.feed);
      EXPECT_GE(report.Number(stage, "tail_ratio_%"), 95) << stage;
      EXPECT_LE(report.Number(stage, "tail_ratio_%"), 105) << stage;
    }
}

// Each 50th request meets another one's work on its device.
TEST(RequestsTest, ContentionIsBlamedWhereADeviceServesOthers) {
  Pipeline pipeline({});
  pipeline.feed.Lane(1002, 0, "gpu");
  pipeline.feed.Stream(2, 1);
  auto &models = pipeline.feed.lanes()[1001];
  uint64_t shift = 0;
  for (size_t i = 0; i < models.size(); i++) {
    models[i].start_ns += shift;
    models[i].end_ns += shift;
    models[i].device_start_ns += shift;
    models[i].device_end_ns += shift;
    auto &worker = pipeline.feed.lanes()[1];
    for (size_t k = 2 * i; k < 2 * i + 2; k++) {
      worker[k].start_ns += shift;
      worker[k].end_ns += shift;
    }
    if (i % 50 != 7) continue;
    models[i].device_end_ns += 1000 * kUs;
    worker[2 * i + 1].start_ns += 1000 * kUs;
    worker[2 * i + 1].end_ns += 1000 * kUs;
    shift += 1000 * kUs;
    pipeline.feed.OnDevice(1, 2, "other", kModel, models[i].device_start_ns,
                           models[i].device_start_ns + 150 * kUs,
                           models[i].device_end_ns - 150 * kUs);
  }
  Report report(&pipeline.feed);
  EXPECT_EQ(report.Cell("(request)", "requests"), "200");
  EXPECT_EQ(report.Cell("(contention)", "tail_ns"), "1000000");
  EXPECT_EQ(report.Cell("(contention)", "tail_ratio_%"), "100.0");
}

TEST(RequestsTest, LittlesLawNamesTheMissingMarker) {
  for (const std::string dropped : {"decode", "model", "post"}) {
    Script script;
    script.dropped_stage = dropped;
    Pipeline pipeline(script);
    Report report(&pipeline.feed);
    for (const std::string stage : {"decode", "model", "post"}) {
      EXPECT_EQ(report.Cell(stage, "little_%"),
                stage == dropped ? "90.0" : "100.0");
      EXPECT_EQ(report.Cell(stage, "flag"),
                stage == dropped ? "missing markers?" : "");
    }
  }
}

TEST(RequestsTest, OrderOfArrivalShowsNowhere) {
  Script script;
  script.noise = 0.1;
  Pipeline pipeline(script);
  std::string expected = Report(&pipeline.feed).Write(PPI_FORMAT_JSON);
  std::mt19937_64 random(4);
  for (int turn = 0; turn < 10; turn++)
    EXPECT_EQ(Report(&pipeline.feed, &random).Write(PPI_FORMAT_JSON), expected);
}

TEST(RequestsTest, ReportsAddUpInAnyOrder) {
  Script script;
  script.noise = 0.1;
  Pipeline one(script), other({});
  one.feed.Run("a", "1");
  other.feed.Run("b", "2");
  Report a(&one.feed), b(&other.feed), c(&other.feed), d(&one.feed);
  ASSERT_EQ(pprof_report_merge(a.get(), b.get()), PPROF_STATUS_OK);
  ASSERT_EQ(pprof_report_merge(c.get(), d.get()), PPROF_STATUS_OK);
  EXPECT_EQ(a.Write(PPI_FORMAT_JSON), c.Write(PPI_FORMAT_JSON));
  EXPECT_TRUE(a.Says("400"));
}

TEST(RequestsTest, WhatIsNoWholeRequestIsLeftOutAndCounted) {
  Pipeline pipeline({});
  pipeline.feed.lanes()[1][0].flags = PPROF_FLAG_CLIPPED;
  pipeline.feed.lanes()[1][2].flags = PPROF_FLAG_ABANDONED;
  pipeline.feed.lanes()[1][5].window = 1;
  Report report(&pipeline.feed);
  EXPECT_EQ(report.Cell("(request)", "requests"), "197");
  EXPECT_TRUE(report.Says("2 requests cut or never ended, 1 in several"));
}

TEST(RequestsTest, NumberUsedAgainIsAnotherRequest) {
  Pipeline pipeline({});
  for (uint64_t &flow : pipeline.flows) flow = 1 + (flow - 1) % 100;
  Report report(&pipeline.feed);
  EXPECT_EQ(report.Cell("(request)", "requests"), "200");
  EXPECT_EQ(report.Cell("(request)", "max_ns"), "480000");
  EXPECT_TRUE(report.Says("again: 100, kept separate"));
}

TEST(RequestsTest, FewAndEqualRequestsDivideNothing) {
  for (size_t num : {1u, 2u, 3u}) {
    Script script;
    script.num = num;
    Pipeline pipeline(script);
    Report report(&pipeline.feed);
    EXPECT_EQ(report.Cell("(request)", "p99_ns"), "480000");
    EXPECT_EQ(report.Cell("decode", "tail_ns"), "0");
    EXPECT_EQ(report.Cell("decode", "tail_ratio_%"), "");
    EXPECT_EQ(report.Write(PPI_FORMAT_JSON).find("nan"), std::string::npos);
  }
  EventFeed none;
  none.Lane(1, 1, "worker");
  none.Range(1, "decode", kUser, 0, 10);
  EXPECT_TRUE(Report(&none).Says("no whole request: see pprof_flow"));
}

// The 8th request, the first slow one, is the slowest of ten; those that follow
// come later in time though not in number.
TEST(RequestsTest, WarmUpIsTheFirstRequestsInTime) {
  Script script;
  script.num = 10;
  script.slow_stage = "decode";
  script.tail_us = 1000;
  Pipeline pipeline(script);
  for (uint64_t &flow : pipeline.flows) flow = 100 - flow;
  Report all(&pipeline.feed, nullptr, 0);
  EXPECT_EQ(all.Cell("(request)", "max_ns"), "1480000");
  EXPECT_FALSE(all.Says("are left out, too"));
  Report seven(&pipeline.feed, nullptr, 7);
  EXPECT_EQ(seven.Cell("(request)", "requests"), "3");
  EXPECT_EQ(seven.Cell("(request)", "max_ns"), "1480000");
  Report eight(&pipeline.feed, nullptr, 8);
  EXPECT_EQ(eight.Cell("(request)", "requests"), "2");
  EXPECT_EQ(eight.Cell("decode", "calls"), "2");
  EXPECT_EQ(eight.Cell("(request)", "max_ns"), "480000");
  EXPECT_TRUE(eight.Says("The first 8 of each run are left out, too."));
  Report none(&pipeline.feed, nullptr, 10);
  EXPECT_TRUE(none.Says("or none after the warm-up"));
}

// Sixty requests of 100 us; the first two, that load, take 5 ms and 1 ms.
TEST(RequestsTest, ColdRequestsAreFoundAndLeftOut) {
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  std::deque<uint64_t> flows;
  for (uint64_t i = 0; i < 60; i++) {
    uint64_t start = 10000 * kUs * i;
    uint64_t length = i == 0 ? 5000 : i == 1 ? 1000 : 100;
    flows.push_back(1000 - i);
    pprof_event &event =
        feed.Range(1, "stage", kUser, start, start + length * kUs);
    event.flows = &flows.back();
    event.num_flows = 1;
  }
  Report report(&feed);
  EXPECT_EQ(report.Cell("(request)", "requests"), "58");
  EXPECT_EQ(report.Cell("(request)", "max_ns"), "100000");
  EXPECT_TRUE(report.Says("Cold, as found, and left out: 2."));
  Report all(&feed, nullptr, 0);
  EXPECT_EQ(all.Cell("(request)", "requests"), "60");
  EXPECT_EQ(all.Cell("(request)", "max_ns"), "5000000");
  EXPECT_FALSE(all.Says("left out: 2"));
}

// Two launches wait 20 us behind each other's backs: the request waited once.
TEST(RequestsTest, TimeThatARequestWaitsCountsOnce) {
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  feed.Lane(1001, 0, "gpu");
  feed.Device(1, "gpu");
  feed.Stream(1, 1);
  uint64_t flow = 1;
  for (const char *name : {"a", "b"}) {
    bool is_first = name[0] == 'a';
    pprof_event &event = feed.OnDevice(1, 1, name, kModel, 1000,
                                       1000 + (is_first ? 20 : 70) * kUs,
                                       1000 + (is_first ? 70 : 100) * kUs);
    event.flows = &flow;
    event.num_flows = 1;
  }
  Report report(&feed);
  EXPECT_EQ(report.Cell("a", "queue_avg_ns"), "20000");
  EXPECT_EQ(report.Cell("b", "queue_avg_ns"), "70000");
  EXPECT_EQ(report.Cell("(request)", "queue_avg_ns"), "20000");
}

// ---- more than is kept ----

TEST(RequestsTest, ThinningKeepsTheSameWholeRequestsInAnyOrder) {
  std::vector<uint64_t> order;
  for (uint64_t flow = 1; flow <= 1000; flow++)
    for (int i = 0; i < 3; i++) order.push_back(flow);
  std::map<uint64_t, size_t> first;
  for (unsigned seed = 0; seed < 5; seed++) {
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    ppi_requests requests = {};
    requests.max_parts = 400;
    for (uint64_t flow : order) {
      pprof_event event = {};
      event.flows = &flow;
      event.num_flows = 1;
      event.end_ns = flow % 2 ? flow : (1ull << 33) + flow;
      ASSERT_TRUE(ppi_requests_take(&requests, &event, 0));
    }
    EXPECT_GE(requests.thinning, 3u);
    EXPECT_LE(requests.num, 400u);
    std::map<uint64_t, size_t> kept;
    for (size_t i = 0; i < requests.num; i++) {
      const ppi_kept_part &part = requests.parts[i];
      kept[part.flow]++;
      ASSERT_EQ(part.flow % 2 == 0, part.more > 0);
      if (part.more) {
        EXPECT_EQ(requests.more[part.more - 1].end_ns,
                  (1ull << 33) + part.flow);
      } else {
        EXPECT_EQ(part.length_ns, part.flow);
      }
    }
    for (const auto &request : kept) EXPECT_EQ(request.second, 3u);
    if (seed == 0) first = kept;
    EXPECT_EQ(kept, first);
    ppi_requests_clear(&requests);
  }
}

// Whether requests of `num_parts` parts each abound after `num` of them.
bool Abound(uint64_t num, uint64_t num_parts, uint32_t flags) {
  ppi_requests requests = {};
  for (uint64_t flow = 1; flow <= num; flow++)
    for (uint64_t i = 0; i < num_parts; i++) {
      pprof_event event = {};
      event.flows = &flow;
      event.num_flows = 1;
      event.flags = flags;
      EXPECT_TRUE(ppi_requests_take(&requests, &event, 0));
    }
  bool abound = ppi_requests_abound(&requests);
  ppi_requests_clear(&requests);
  return abound;
}

TEST(RequestsTest, ManyWholeRequestsAbound) {
  EXPECT_FALSE(Abound(0, 1, 0));
  EXPECT_FALSE(Abound(31, 3, 0));
  EXPECT_TRUE(Abound(1000, 3, 0));
  EXPECT_FALSE(Abound(1000, 3, PPROF_FLAG_CLIPPED));
  EXPECT_FALSE(Abound(2, 10000, 0));
  EXPECT_FALSE(Abound(64, PPI_REQUEST_MOST_PARTS, 0));
}

pprof_report *NewReport() {
  pprof_report *report = nullptr;
  EXPECT_EQ(PPROF_STATUS_OK, pprof_report_create(&report));
  ppi_report_details details = {};
  details.requests = details.answer = true;
  ppi_report_set_details(report, &details);
  return report;
}

// A process of a host with two requests, each one range: the n-th from
// 1000 * (n + 1) on, 100 ns long, begun at `began_ns` of real time.
pprof_report *OneOfHost(const char *host, const char *pid, uint64_t began_ns,
                        uint64_t first_flow) {
  EventFeed feed;
  feed.Run(std::string(31, '0') + pid, pid);
  feed.SetHost(host);
  feed.SetBegan(began_ns);
  feed.Lane(1, 100, "worker");
  const uint64_t flows[] = {first_flow, first_flow + 1};
  for (uint64_t i = 0; i < 2; i++) {
    pprof_event &event =
        feed.Range(1, "stage", kUser, 1000 * (i + 1), 1000 * (i + 1) + 100);
    event.flows = &flows[i];
    event.num_flows = 1;
  }
  feed.AddWindow(0, 10000);
  pprof_report *report = NewReport();
  EXPECT_EQ(PPROF_STATUS_OK, feed.Deliver(pprof_report_sink(report)));
  return report;
}

// Each lasts from its range on the one host to that on the other, 500 ns later
// by their clocks. Other numbers say nothing beyond a host.
TEST(RequestsTest, AContextIsOfOneRequestOverHosts) {
  for (uint64_t first_flow : {UINT64_C(1) << 63, UINT64_C(7)}) {
    pprof_report *report = OneOfHost("a", "1", 5000, first_flow);
    pprof_report *other = OneOfHost("b", "2", 5500, first_flow);
    ASSERT_EQ(PPROF_STATUS_OK, ppi_report_add(report, other));
    ASSERT_EQ(PPROF_STATUS_OK, ppi_report_join(report));
    const ppi_figures *figures = ppi_report_figures(report);
    const ppi_answer &answer = figures->answers[PPI_BASE_REQUEST];
    bool are_contexts = first_flow >> 63;
    EXPECT_EQ(are_contexts, figures->are_joined);
    EXPECT_EQ(are_contexts ? 2u : 4u, answer.num_units);
    EXPECT_EQ(are_contexts ? 1200u : 400u, answer.total_ns);
    pprof_report_destroy(other);
    pprof_report_destroy(report);
  }
}

// "front" of 100 ns waits 60 ns for "tokenize" of another process, and a proxy
// around them has a stage of 5 ns of its own.
TEST(RequestsTest, WhatWaitsForAnotherProcessHasWhatThatLeaves) {
  const struct {
    const char *pid, *name;
    uint64_t start_ns, end_ns;
  } ranges[] = {{"1", "route", 1000, 1005},
                {"1", "reply", 1105, 1110},
                {"2", "front", 1005, 1105},
                {"3", "tokenize", 1020, 1080}};
  const uint64_t flow = 7;
  pprof_report *all = nullptr;
  for (const char *pid : {"1", "2", "3"}) {
    EventFeed feed;
    feed.Run(std::string(31, '0') + pid, pid);
    feed.SetBegan(5000);
    feed.Lane(1, 100, "worker");
    for (const auto &one : ranges) {
      if (std::string(one.pid) != pid) continue;
      pprof_event &event =
          feed.Range(1, one.name, kUser, one.start_ns, one.end_ns);
      event.flows = &flow;
      event.num_flows = 1;
    }
    feed.AddWindow(0, 10000);
    pprof_report *report = NewReport();
    EXPECT_EQ(PPROF_STATUS_OK, feed.Deliver(pprof_report_sink(report)));
    if (all) {
      EXPECT_EQ(PPROF_STATUS_OK, ppi_report_add(all, report));
      pprof_report_destroy(report);
    } else {
      all = report;
    }
  }
  ASSERT_EQ(PPROF_STATUS_OK, ppi_report_join(all));
  const ppi_answer &answer = ppi_report_figures(all)->answers[PPI_BASE_REQUEST];
  std::map<std::string, uint64_t> times;
  for (size_t i = 0; i < answer.num_rows; i++)
    if (answer.rows[i].name)
      times[answer.rows[i].name] += answer.rows[i].total_ns;
  EXPECT_EQ(110u, answer.total_ns);
  EXPECT_EQ(40u, times["front"]);
  EXPECT_EQ(60u, times["tokenize"]);
  EXPECT_EQ(5u, times["route"]);
  EXPECT_EQ(5u, times["reply"]);
  pprof_report_destroy(all);
}

// Steps of 100 ns: an engine's with 60 ns of "schedule", two workers' with 90
// and 70 ns of "execute". All have imports.
TEST(RequestsTest, UnlikeProcessesHaveTablesOfTheirOwn) {
  const struct {
    const char *pid, *name;
    uint64_t length_ns;
  } processes[] = {
      {"1", "schedule", 60}, {"2", "execute", 90}, {"3", "execute", 70}};
  pprof_report *all = nullptr;
  for (const auto &one : processes) {
    EventFeed feed;
    feed.Run(std::string(31, '0') + one.pid, one.pid);
    feed.SetBegan(5000);
    feed.Lane(1, 100, "main");
    for (uint64_t i = 0; i < 20; i++) {
      uint64_t start_ns = 1000 + 100 * i;
      feed.Range(1, "import torch", kUser, start_ns, start_ns + 5);
      feed.Range(1, one.name, kUser, start_ns + 5,
                 start_ns + 5 + one.length_ns);
      feed.Step(start_ns, start_ns + 100);
    }
    feed.AddWindow(0, 10000);
    pprof_report *report = NewReport();
    EXPECT_EQ(PPROF_STATUS_OK, feed.Deliver(pprof_report_sink(report)));
    if (all) {
      EXPECT_EQ(PPROF_STATUS_OK, ppi_report_add(all, report));
      pprof_report_destroy(report);
    } else {
      all = report;
    }
  }
  ASSERT_EQ(PPROF_STATUS_OK, ppi_report_join(all));
  const ppi_figures *figures = ppi_report_figures(all);
  const ppi_answer &busiest = figures->answers[PPI_BASE_STEP];
  ASSERT_EQ(2u, figures->num_kinds);
  const ppi_answer &other = figures->kinds[1];
  char name[] = "execute", empty[] = "";
  ppi_answer_row execute{};
  execute.name = name;
  execute.child = execute.device = empty;
  execute.where = PPI_WHERE_HOST;
  const ppi_answer_row *row = ppi_answer_row_find(&busiest, &execute);
  ASSERT_NE(nullptr, row);
  EXPECT_EQ(80u, row->total_ns / busiest.num_units) << "of two workers";
  EXPECT_EQ(2 * other.num_units, busiest.num_units);
  EXPECT_EQ(nullptr, ppi_answer_row_find(&other, &execute));
  EXPECT_EQ(1u, figures->inputs[0].kind);
  EXPECT_EQ(0u, figures->inputs[1].kind);
  EXPECT_EQ(0u, figures->inputs[2].kind);
  pprof_report_destroy(all);
}

}  // namespace
