// SPDX-License-Identifier: Apache-2.0
//
// Requests: what one does at every moment and its longest path, against brute
// force; scripted pipelines whose answers are known; what is left out.
#include "report_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "event_feed.h"
#include "report.h"
#include "view.h"

namespace {

using pprof_test::EventFeed;

constexpr uint64_t kUs = 1000;
constexpr uint32_t kUser = PPROF_CATEGORY_USER_DEFINED;
constexpr uint32_t kModel = PPROF_CATEGORY_INFERENCE;

ppi_request_part Host(uint64_t from, uint64_t to, uint32_t lane = 1) {
  ppi_request_part part = {};
  part.start_ns = from;
  part.end_ns = to;
  part.lane = lane;
  return part;
}

ppi_request_part Device(uint64_t submit, uint64_t from, uint64_t to,
                        uint32_t stream = 1) {
  ppi_request_part part = Host(submit, submit);
  part.device_start_ns = from;
  part.device_end_ns = to;
  part.stream = stream;
  return part;
}

uint64_t LastOf(const ppi_request_part &part) {
  return std::max(part.end_ns, part.device_end_ns);
}

bool IsDevice(const ppi_request_part &part) {
  return part.device_end_ns > part.device_start_ns;
}

// Sorts as requests are, and walks.
class Walk {
 public:
  explicit Walk(std::vector<ppi_request_part> parts,
                std::vector<ppi_span> contended = {})
      : parts_(std::move(parts)), contended_(std::move(contended)) {
    std::sort(parts_.begin(), parts_.end(),
              [](const ppi_request_part &a, const ppi_request_part &b) {
                if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
                if (LastOf(a) != LastOf(b)) return LastOf(a) > LastOf(b);
                return a.site < b.site;
              });
    times_.resize(parts_.size());
    spans_.items = contended_.data();
    spans_.num = contended_.size();
    walk_.parts = parts_.data();
    walk_.num = parts_.size();
    walk_.start_ns = parts_[0].start_ns;
    for (const auto &part : parts_)
      walk_.end_ns = std::max(walk_.end_ns, LastOf(part));
    walk_.contended = &spans_;
    walk_.num_devices = 1;
    walk_.times = times_.data();
    EXPECT_EQ(ppi_walk_request(&walk_), PPROF_STATUS_OK);
    EXPECT_EQ(ppi_walk_critical(&walk_), PPROF_STATUS_OK);
  }
  const ppi_walk *operator->() const {
    return &walk_;
  }
  const ppi_part_times &operator[](size_t i) const {
    return times_[i];
  }
  const std::vector<ppi_request_part> &parts() const {
    return parts_;
  }
  uint64_t Critical() const {
    uint64_t sum = 0;
    for (const auto &times : times_) sum += times.critical_ns;
    return sum;
  }
  uint64_t Sum() const {
    uint64_t sum = walk_.queue_ns + walk_.hop_ns;
    for (const auto &times : times_) sum += times.own_ns + times.contended_ns;
    return sum;
  }

 private:
  std::vector<ppi_request_part> parts_;
  std::vector<ppi_span> contended_;
  ppi_spans spans_ = {};
  std::vector<ppi_part_times> times_;
  ppi_walk walk_ = {};
};

// decode 0 to 10; the model submitted at 12, on the device from 20 to 50, whose
// last 10 others share; the host waits from 13 to 51; post 60 to 65.
TEST(RequestWalkTest, EveryMomentIsOneThing) {
  Walk walk({Host(0, 10), Device(12, 20, 50), Host(13, 51), Host(60, 65)},
            {{40, 60}});
  EXPECT_EQ(walk[0].own_ns, 10u);
  EXPECT_EQ(walk[1].own_ns, 20u);
  EXPECT_EQ(walk[1].contended_ns, 10u);
  EXPECT_EQ(walk[1].hop_ns, 2u);
  EXPECT_EQ(walk[2].own_ns, 1u);
  EXPECT_EQ(walk[3].own_ns, 5u);
  EXPECT_EQ(walk[3].hop_ns, 9u);
  EXPECT_EQ(walk->queue_ns, 8u);
  EXPECT_EQ(walk->hop_ns, 11u);
  EXPECT_EQ(walk.Sum(), 65u);
  EXPECT_EQ(walk[0].critical_ns, 10u);
  EXPECT_EQ(walk[1].critical_ns, 30u);
  EXPECT_EQ(walk[2].critical_ns, 8u);  // 13 to 20, and 50 to 51
  EXPECT_EQ(walk[3].critical_ns, 5u);
}

ppi_request_part Whole(ppi_request_part part) {
  part.is_whole = true;
  return part;
}

ppi_request_part Wandering(ppi_request_part part) {
  part.is_async = true;
  return part;
}

// Its path is what nothing inside has: 0 to 20, 60 to 100.
TEST(RequestWalkTest, RequestItselfIsNothingThatItDoes) {
  for (bool is_async : {false, true}) {
    ppi_request_part root = Whole(Host(0, 100, 1));
    root.is_async = is_async;
    Walk walk({root, Host(20, 60), Host(30, 40)});
    EXPECT_EQ(walk[0].own_ns, 0u);
    EXPECT_EQ(walk[1].own_ns, 30u);
    EXPECT_EQ(walk[2].own_ns, 10u);
    EXPECT_EQ(walk->hop_ns, 60u);
    EXPECT_EQ(walk[0].critical_ns, 60u);
    EXPECT_EQ(walk[1].critical_ns, 30u);
    EXPECT_EQ(walk[2].critical_ns, 10u);
  }
  Walk alone({Whole(Host(0, 100))});
  EXPECT_EQ(alone[0].own_ns, 0u);
  EXPECT_EQ(alone->hop_ns, 100u);
  EXPECT_EQ(alone[0].critical_ns, 100u);
}

// What waits for a device is the device's, not the request's own.
TEST(RequestWalkTest, RequestItselfHasNoWaitingOnItsPath) {
  Walk walk({Whole(Host(0, 100, 9)), Device(10, 30, 80)});
  EXPECT_EQ(walk[0].critical_ns, 10u + 20u);
  EXPECT_EQ(walk[1].critical_ns, 50u);
  EXPECT_EQ(walk->queue_ns, 20u);
}

// A stage of 216 ns between two others, with 6 ns inside it: on its thread, on
// its stream, or anywhere while it wanders.
TEST(RequestWalkTest, WhatIsInsideTakesItsOwnTimeOnly) {
  Walk host({Host(0, 10), Host(10, 226), Host(110, 116), Host(226, 230)});
  EXPECT_EQ(host[1].critical_ns, 210u);
  EXPECT_EQ(host[2].critical_ns, 6u);
  EXPECT_EQ(host.Critical(), 230u);
  Walk device({Host(0, 10), Device(10, 10, 226), Device(11, 110, 116)});
  EXPECT_EQ(device[1].critical_ns, 210u);
  EXPECT_EQ(device[2].critical_ns, 6u);
  Walk wandering({Host(0, 10), Wandering(Host(10, 226, 2)), Host(110, 116, 3)});
  EXPECT_EQ(wandering[1].critical_ns, 210u);
  EXPECT_EQ(wandering[2].critical_ns, 6u);
  Walk deep({Host(0, 100), Host(10, 90), Host(20, 80), Host(30, 40)});
  EXPECT_EQ(deep[0].critical_ns, 20u);
  EXPECT_EQ(deep[1].critical_ns, 20u);
  EXPECT_EQ(deep[2].critical_ns, 50u);
  EXPECT_EQ(deep[3].critical_ns, 10u);
}

// A path does not change from one thread to another where a range in the
// middle of a longer one ends: with it as without it 90 is the longest.
TEST(RequestWalkTest, TinyRangeInsideMovesNoOthersTime) {
  Walk without({Host(0, 40, 1), Host(10, 100, 2)});
  EXPECT_EQ(without[0].critical_ns, 0u);
  EXPECT_EQ(without[1].critical_ns, 90u);
  Walk with({Host(0, 40, 1), Host(10, 100, 2), Host(40, 41, 2)});
  EXPECT_EQ(with[0].critical_ns, 0u);
  EXPECT_EQ(with[1].critical_ns, 89u);
  EXPECT_EQ(with[2].critical_ns, 1u);
}

TEST(RequestWalkTest, LongerBranchIsThePath) {
  Walk walk({Host(0, 10, 1), Host(10, 30, 2), Host(12, 50, 3), Host(30, 35, 2),
             Host(50, 60, 1)});
  EXPECT_EQ(walk.Critical(), 10u + 38u + 10u);
  EXPECT_EQ(walk[1].critical_ns, 0u);
  EXPECT_EQ(walk[2].critical_ns, 38u);
}

// ---- brute force ----

struct Piece {
  uint64_t from, to;
};

bool Inside(const ppi_request_part &a, const ppi_request_part &b) {
  uint64_t a_from = IsDevice(a) ? a.device_start_ns : a.start_ns;
  uint64_t a_to = IsDevice(a) ? a.device_end_ns : a.end_ns;
  uint64_t b_from = IsDevice(b) ? b.device_start_ns : b.start_ns;
  uint64_t b_to = IsDevice(b) ? b.device_end_ns : b.end_ns;
  return a_from >= b_from && a_to <= b_to;
}

bool OnRow(const ppi_request_part &part) {
  return IsDevice(part) || (!part.is_async && !part.is_whole);
}

// Whether it lies in a part that comes before, on its row.
bool IsInner(const std::vector<ppi_request_part> &parts, size_t at) {
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
bool IsTaken(const std::vector<ppi_request_part> &parts, size_t at,
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

std::vector<Piece> Links(const std::vector<ppi_request_part> &parts) {
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

uint64_t LongestFrom(const std::vector<Piece> &links, uint64_t now) {
  uint64_t best = 0;
  for (const Piece &piece : links)
    if (piece.from >= now && piece.to > piece.from)
      best =
          std::max(best, piece.to - piece.from + LongestFrom(links, piece.to));
  return best;
}

// What the request does in the nanosecond: a part's number, or queue or hop.
constexpr size_t kQueue = 1000, kHop = 1001;
size_t AtMoment(const Walk &walk, uint64_t now) {
  const auto &parts = walk.parts();
  size_t found = kHop;
  for (size_t i = 0; i < parts.size(); i++)
    if (parts[i].device_start_ns <= now && parts[i].device_end_ns > now &&
        (found == kHop ||
         parts[i].device_start_ns < parts[found].device_start_ns))
      found = i;
  if (found != kHop) return found;
  for (const auto &part : parts)
    if (IsDevice(part) && part.start_ns <= now && part.device_start_ns > now)
      return kQueue;
  for (size_t i = 0; i < parts.size(); i++) {
    if (!parts[i].is_whole && parts[i].start_ns <= now && parts[i].end_ns > now)
      found = i;
  }
  return found;
}

ppi_request_part RandomPart(std::mt19937_64 *random, uint32_t site) {
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

TEST(RequestWalkTest, EqualsBruteForce) {
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 2000; turn++) {
    std::vector<ppi_request_part> parts;
    size_t num = 1 + random() % 7;
    for (size_t i = 0; i < num; i++)
      parts.push_back(RandomPart(&random, static_cast<uint32_t>(i)));
    if (random() % 3 == 0) {
      ppi_request_part whole = Whole(Host(0, 40 + random() % 20));
      whole.is_async = random() % 2;
      whole.site = static_cast<uint32_t>(num++);
      parts.push_back(whole);
    }
    Walk walk(parts);
    ASSERT_EQ(walk.Sum(), walk->end_ns - walk->start_ns) << "turn " << turn;
    std::map<size_t, uint64_t> counted;
    for (uint64_t now = walk->start_ns; now < walk->end_ns; now++)
      counted[AtMoment(walk, now)]++;
    ASSERT_EQ(counted[kQueue], walk->queue_ns) << "turn " << turn;
    ASSERT_EQ(counted[kHop], walk->hop_ns) << "turn " << turn;
    for (size_t i = 0; i < num; i++) {
      // Of parts that begin together on a device any may be the first.
      bool alone = true;
      for (size_t k = 0; k < num; k++)
        alone &=
            k == i || !IsDevice(walk.parts()[k]) ||
            walk.parts()[k].device_start_ns != walk.parts()[i].device_start_ns;
      bool is_host = !IsDevice(walk.parts()[i]);
      for (size_t k = 0; is_host && k < num; k++)
        alone &= k == i || walk.parts()[k].start_ns != walk.parts()[i].start_ns;
      if (!alone) continue;
      ASSERT_EQ(counted[i], walk[i].own_ns) << "turn " << turn << " " << i;
    }
    ASSERT_EQ(LongestFrom(Links(walk.parts()), 0), walk.Critical())
        << "turn " << turn;
  }
}

// ---- scripted pipelines ----

class Report {
 public:
  explicit Report(EventFeed *feed, std::mt19937_64 *random = nullptr,
                  long warmup = -1) {
    EXPECT_EQ(pprof_report_create(&report_), PPROF_STATUS_OK);
    ppi_report_details details = {};
    details.warmup = warmup;
    ppi_views_need("requests", &details);
    ppi_report_set_details(report_, &details);
    EXPECT_EQ(
        feed->DeliverAs(pprof_report_sink(report_), random, random ? 8 : 0),
        PPROF_STATUS_OK);
    text_ = Write(PPI_FORMAT_CSV);
  }
  ~Report() {
    pprof_report_destroy(report_);
  }
  Report(const Report &) = delete;
  Report &operator=(const Report &) = delete;

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
  EXPECT_TRUE(report.Says("again: 100, told apart"));
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

// ---- the request itself ----

// 200 requests: the range that is the request, decode 100 us on one thread, a
// gap of 50, model 300 us on the device, a gap of 50, post 100 on another
// thread. What each 50th of them has more, and how the outer range lies.
struct Served {
  uint64_t before_post_us = 0, at_end_us = 0;
  int64_t begins_ns = 0, ends_ns = 0;  // after decode begins, after post ends
  uint64_t clock_ns = 0;  // by which the device's clock seems to be behind
  bool is_async = true;
  bool slow_end_early = false;  // the outer ranges of the slow ones
};

struct Service {
  explicit Service(const Served &served) {
    for (uint32_t lane : {1, 2, 3}) feed.Lane(lane, 100 + lane, "worker");
    feed.Lane(1001, 0, "gpu");
    feed.Device(1, "gpu");
    feed.Stream(1, 1);
    uint64_t now = 1000 * kUs;
    for (uint64_t i = 0; i < 200; i++) now = One(served, i, now) + 1000 * kUs;
  }
  void Serves(uint64_t flow, pprof_event *event) {
    flows.push_back(flow + 1);
    event->flows = &flows.back();
    event->num_flows = 1;
  }
  uint64_t One(const Served &served, uint64_t i, uint64_t start) {
    bool is_slow = i % 50 == 7;
    uint64_t more = is_slow ? served.before_post_us * kUs : 0;
    uint64_t at_end = is_slow ? served.at_end_us * kUs : 0;
    uint64_t post = start + 500 * kUs + more, end = post + 100 * kUs;
    auto shift = [](uint64_t time, int64_t by) {
      return time + static_cast<uint64_t>(by);
    };
    pprof_event &outer = feed.Range(
        1, "request", kUser, shift(start, served.begins_ns),
        is_slow && served.slow_end_early ? start + 300 * kUs
                                         : shift(end, served.ends_ns) + at_end);
    if (served.is_async) outer.flags = PPROF_FLAG_ASYNC;
    Serves(i, &outer);
    Serves(i, &feed.Range(2, "decode", kUser, start, start + 100 * kUs));
    Serves(i, &feed.OnDevice(2, 1, "model", kModel, start + 150 * kUs,
                             start + 150 * kUs,
                             start + 450 * kUs + served.clock_ns));
    Serves(i, &feed.Range(3, "post", kUser, post, end));
    return end + at_end;
  }
  EventFeed feed;
  std::deque<uint64_t> flows;
};

// However the range lies: it is nothing that the request does. What nothing
// inside covers has rows of its own.
void ExpectBlame(const Served &served, const std::string &row) {
  Service service(served);
  Report report(&service.feed);
  EXPECT_EQ(report.Cell("request", "tail_ns"), "0");
  EXPECT_EQ(report.Cell("request", "flag"), "the request itself");
  EXPECT_EQ(report.Cell(row, "tail_ratio_%"), "100.0") << row;
}

TEST(RequestsTest, RequestItselfIsNeverToBlame) {
  for (bool is_async : {true, false}) {
    Served served;
    served.is_async = is_async;
    served.before_post_us = 1000;
    ExpectBlame(served, "(before post)");
    served.ends_ns = -3000;  // within post
    ExpectBlame(served, "(before post)");
    served.ends_ns = 0;
    served.begins_ns = 3000;  // within decode
    ExpectBlame(served, "(before post)");
    served.slow_end_early = true;
    ExpectBlame(served, "(before post)");
    Served at_end;
    at_end.is_async = is_async;
    at_end.at_end_us = 1000;
    ExpectBlame(at_end, "(in no stage)");
  }
}

// By the clock of a device its work ends when the request has long ended.
TEST(RequestsTest, RequestItselfIsToldByTheHostsClock) {
  for (uint64_t clock_us : {1u, 200u, 500u}) {
    Served served;
    served.before_post_us = 1000;
    served.clock_ns = clock_us * kUs;
    Service service(served);
    EXPECT_EQ(Report(&service.feed).Cell("request", "tail_ns"), "0")
        << clock_us;
  }
}

// `request` has 216 ns here, and 6 are inside it: its path has 210.
TEST(RequestsTest, RequestItselfHasWhatNothingInsideCovers) {
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  std::deque<uint64_t> flows;
  for (uint64_t i = 0; i < 3; i++) {
    flows.push_back(i + 1);
    for (bool is_outer : {true, false}) {
      pprof_event &event =
          is_outer ? feed.Range(1, "stage", kUser, 1000 * i, 1000 * i + 216)
                   : feed.Range(1, "tiny", kUser, 1000 * i + 9, 1000 * i + 15);
      event.flows = &flows.back();
      event.num_flows = 1;
    }
  }
  Report report(&feed);
  EXPECT_EQ(report.Cell("stage", "critical_avg_ns"), "210");
  EXPECT_EQ(report.Cell("tiny", "critical_avg_ns"), "6");
  EXPECT_EQ(report.Cell("(request)", "critical_avg_ns"), "216");
}

// A stage that is all there is of a request with nothing else, or that happens
// to hold another one on another thread in a few, stays a stage.
TEST(RequestsTest, StageThatSometimesHoldsTheRestIsAStage) {
  EventFeed feed;
  feed.Lane(1, 101, "one");
  feed.Lane(2, 102, "other");
  std::deque<uint64_t> flows;
  auto add = [&](uint32_t lane, const char *name, uint64_t from, uint64_t to) {
    pprof_event &event = feed.Range(lane, name, kUser, from, to);
    event.flows = &flows.back();
    event.num_flows = 1;
  };
  for (uint64_t i = 0; i < 100; i++) {
    flows.push_back(i + 1);
    uint64_t start = 10000 * i, more = i % 50 == 7 ? 1000 : 0;
    add(1, "a", start, start + 1000 + more);
    if (i % 3 == 0) continue;
    if (i % 3 == 1) add(2, "b", start + 100, start + 200);
    if (i % 3 == 2) add(2, "b", start + 900, start + 1500 + more);
  }
  for (uint64_t i = 0; i < 30; i++) {
    flows.push_back(1000 + i);
    add(1, "a", 2000000 + 10000 * i, 2000000 + 10000 * i + 1000);
    add(2, "b", 2000000 + 10000 * i + 900, 2000000 + 10000 * i + 1500);
  }
  Report report(&feed);
  EXPECT_NE(report.Cell("a", "flag"), "the request itself");
  EXPECT_EQ(report.Cell("b", "flag"), "missing markers?");
}

// ---- nests, threads and flows at random ----

struct RandomRange {
  ppi_request_part part;
  std::vector<uint64_t> flows;
};

// The longest one on the host that holds all others' host sides, but for a
// hundredth, and has one within it, and half of the request's time.
size_t WholeOf(const std::vector<ppi_request_part> &parts) {
  size_t longest = 0;
  for (size_t i = 0; i < parts.size(); i++)
    if (parts[i].end_ns - parts[i].start_ns >
        parts[longest].end_ns - parts[longest].start_ns)
      longest = i;
  const ppi_request_part &whole = parts[longest];
  if (IsDevice(whole)) return parts.size();
  uint64_t length = whole.end_ns - whole.start_ns;
  bool has_inner = false;
  uint64_t start = UINT64_MAX, end = 0;
  for (size_t i = 0; i < parts.size(); i++) {
    const ppi_request_part &part = parts[i];
    start = std::min(start, part.start_ns);
    end = std::max(end, LastOf(part));
    if (part.start_ns >= whole.start_ns && part.end_ns <= whole.end_ns) {
      has_inner |= i != longest;
      continue;
    }
    uint64_t inside = 0;
    for (uint64_t now = part.start_ns; now < part.end_ns; now++)
      inside += now >= whole.start_ns && now < whole.end_ns;
    if (!inside || 100 * (part.end_ns - part.start_ns - inside) > length)
      return parts.size();
  }
  return has_inner && end - start <= 2 * length ? longest : parts.size();
}

void Order(std::vector<ppi_request_part> *parts) {
  std::sort(parts->begin(), parts->end(),
            [](const ppi_request_part &a, const ppi_request_part &b) {
              if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
              if (LastOf(a) != LastOf(b)) return LastOf(a) > LastOf(b);
              if (a.lane != b.lane) return a.lane < b.lane;
              return a.site < b.site;
            });
}

uint64_t BruteCritical(std::map<uint64_t, std::vector<ppi_request_part>> all) {
  std::map<uint32_t, std::vector<int>> votes;
  std::map<uint32_t, bool> lone;
  for (auto &request : all) {
    auto &parts = request.second;
    Order(&parts);
    if (parts.size() == 1) {
      lone[parts[0].site] |= !IsDevice(parts[0]);
      continue;
    }
    size_t whole = WholeOf(parts);
    for (size_t i = 0; i < parts.size(); i++)
      votes[parts[i].site].push_back(i == whole);
  }
  uint64_t sum = 0;
  for (auto &request : all) {
    for (auto &part : request.second) {
      const auto &cast = votes[part.site];
      long yes = std::count(cast.begin(), cast.end(), 1);
      bool most = cast.empty() ? lone[part.site]
                               : 2 * yes > static_cast<long>(cast.size());
      part.is_whole = most && !IsDevice(part);
    }
    sum += LongestFrom(Links(request.second), 0);
  }
  return sum;
}

std::vector<RandomRange> RandomRanges(std::mt19937_64 *random, size_t num) {
  std::vector<RandomRange> ranges;
  for (size_t i = 0; i < num; i++) {
    RandomRange range;
    range.part = RandomPart(random, static_cast<uint32_t>(i));
    range.part.lane++;
    range.part.stream++;
    if ((*random)() % 6 == 0 && !IsDevice(range.part)) {
      range.part.start_ns = 0;
      range.part.end_ns = 30 + (*random)() % 30;
    }
    for (uint64_t flow = 1; flow <= 4; flow++)
      if ((*random)() % 2) range.flows.push_back(flow);
    ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const RandomRange &a, const RandomRange &b) {
              return LastOf(a.part) < LastOf(b.part);
            });
  return ranges;
}

TEST(RequestsTest, LongestPathsEqualBruteForce) {
  std::mt19937_64 random(23);
  size_t num_whole = 0;
  for (int turn = 0; turn < 400; turn++) {
    std::vector<RandomRange> ranges = RandomRanges(&random, 2 + random() % 6);
    EventFeed feed;
    feed.Device(1, "gpu");
    for (uint32_t i = 1; i <= 3; i++) {
      feed.Lane(i, 100 + i, "worker");
      feed.Lane(1000 + i, 0, "gpu");
      feed.Stream(i, 1);
    }
    std::map<uint64_t, std::vector<ppi_request_part>> requests;
    for (RandomRange &range : ranges) {
      ppi_request_part &part = range.part;
      std::string name = "s" + std::to_string(part.site);
      pprof_event &event =
          IsDevice(part)
              ? feed.OnDevice(part.lane, part.stream, name, kModel,
                              part.start_ns, part.device_start_ns,
                              part.device_end_ns)
              : feed.Range(part.lane, name, kUser, part.start_ns, part.end_ns);
      if (part.is_async) event.flags = PPROF_FLAG_ASYNC;
      part.site = feed.Site(name, IsDevice(part) ? kModel : kUser);
      event.flows = range.flows.data();
      event.num_flows = range.flows.size();
      for (uint64_t flow : range.flows) requests[flow].push_back(part);
    }
    if (requests.empty()) continue;
    Report report(&feed, nullptr, 0);
    ASSERT_EQ(report.Cell("(request)", "requests"),
              std::to_string(requests.size()));
    uint64_t sum = BruteCritical(requests), num = requests.size();
    ASSERT_EQ(report.Cell("(request)", "critical_avg_ns"),
              std::to_string((2 * sum + num) / (2 * num)))
        << "turn " << turn << report.Write(PPI_FORMAT_CSV);
    num_whole += report.Says("the request itself");
  }
  EXPECT_GE(num_whole, 50u);
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
      event.end_ns = 5;
      ASSERT_EQ(ppi_requests_take(&requests, &event, 0), PPROF_STATUS_OK);
    }
    EXPECT_GE(requests.thinning, 3u);
    EXPECT_LE(requests.num, 400u);
    std::map<uint64_t, size_t> kept;
    for (size_t i = 0; i < requests.num; i++) kept[requests.parts[i].flow]++;
    for (const auto &request : kept) EXPECT_EQ(request.second, 3u);
    if (seed == 0) first = kept;
    EXPECT_EQ(kept, first);
    ppi_requests_clear(&requests);
  }
}

}  // namespace
