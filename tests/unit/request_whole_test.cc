// SPDX-License-Identifier: Apache-2.0
//
// The range that is the request itself, however it lies; nests, threads and
// flows at random against brute force.
#include "request_fixture.h"

namespace {

using pprof_test::Device;
using pprof_test::EventFeed;
using pprof_test::IsDevice;
using pprof_test::kModel;
using pprof_test::kUs;
using pprof_test::kUser;
using pprof_test::LastOf;
using pprof_test::Links;
using pprof_test::LongestFrom;
using pprof_test::RandomPart;
using Report = pprof_test::RequestReport;

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

TEST(RequestWholeTest, RequestItselfIsNeverToBlame) {
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
TEST(RequestWholeTest, RequestItselfIsToldByTheHostsClock) {
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
TEST(RequestWholeTest, RequestItselfHasWhatNothingInsideCovers) {
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
TEST(RequestWholeTest, StageThatSometimesHoldsTheRestIsAStage) {
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

// What a part of a thread does is known: its own thread or a cross-thread range
// works in it until its end at most, or other threads one after the other, or
// until shortly before its end.
bool IsExplained(const std::vector<ppi_request_part> &parts, size_t at) {
  const ppi_request_part &whole = parts[at];
  uint64_t last = 0;
  if (whole.is_async) return true;
  for (size_t i = 0; i < parts.size(); i++) {
    const ppi_request_part &part = parts[i];
    if (i == at || part.end_ns > whole.end_ns) continue;
    const bool is_own = part.is_async || part.lane == whole.lane;
    if (is_own && LastOf(part) <= whole.end_ns) return true;
    if (is_own) continue;
    if (last && part.start_ns >= last) return true;
    last = std::max(last, LastOf(part));
  }
  return last && 20 * (static_cast<int64_t>(whole.end_ns) -
                       static_cast<int64_t>(last)) <=
                     static_cast<int64_t>(whole.end_ns - whole.start_ns);
}

// The longest one on the host that holds all others' host sides, but for a
// hundredth, has one within it, half of the request's time, and is explained.
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
  return has_inner && end - start <= 2 * length && IsExplained(parts, longest)
             ? longest
             : parts.size();
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
      lone[parts[0].site] |= parts[0].is_async;
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

TEST(RequestWholeTest, LongestPathsEqualBruteForce) {
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

}  // namespace
