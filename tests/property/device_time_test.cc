// SPDX-License-Identifier: Apache-2.0
//
// Device times against the truth that the scripted device knows: whatever its
// clock does, no time is further off than the error stated with it.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "device_session.h"
#include "pprof/device.h"
#include "scripted_backend.h"

namespace {

using pprof_test::Advance;
using pprof_test::DeviceSession;

constexpr uint64_t kMs = 1000000;

PPROF_SITE(site, "work", PPROF_CATEGORY_INFERENCE);

struct Case {
  const char *name;
  uint32_t caps;
  int64_t skew_ns, drift_ppb;
  uint64_t resolution_ns, ready_delay_ns, anchor_width_ns;
  uint32_t anchor_position_permille;
  uint64_t latency_ns;
  bool no_anchor;
};

constexpr uint32_t kAbsolute = PPROF_BACKEND_ABSOLUTE_TIME;

const Case kCases[] = {
    {"Skew", kAbsolute, 5000000000, 0, 0, 0, 100, 500, 0, false},
    {"Behind", kAbsolute, -900000000000, 0, 0, 50000, 100, 500, 0, false},
    {"AnchorEarly", kAbsolute, 0, 0, 0, 0, 40000, 0, 0, false},
    {"AnchorLate", kAbsolute, 0, 0, 0, 0, 40000, 1000, 0, false},
    {"Fast", kAbsolute, 0, 150000, 0, 0, 2000, 500, 0, false},
    {"Slow", kAbsolute, 12345, -150000, 0, 0, 2000, 200, 0, false},
    {"Coarse", kAbsolute, 77, 20000, 1000, 0, 2000, 700, 0, false},
    {"Elapsed", 0, 5000000000, 0, 0, 0, 2000, 500, 0, false},
    {"ElapsedFast", 0, 0, 150000, 0, 0, 2000, 100, 0, false},
    {"ElapsedSlow", 0, 0, -150000, 0, 0, 20000, 900, 0, false},
    {"ElapsedCoarse", 0, 31, -50000, 500, 0, 2000, 500, 1500, false},
    {"ElapsedLatency", 0, 31, 50000, 32, 200000, 9000, 500, 6000, false},
    {"NoAnchor", 0, 5000000000, 0, 0, 1000, 0, 0, 0, true},
};

pprof_backend counting;
const pprof_backend *counted;
std::vector<uint64_t> anchor_times;

pprof_status CountAnchor(void *context, uint64_t pool, pprof_anchor *anchor) {
  pprof_status status = counted->anchor(context, pool, anchor);
  if (status != PPROF_STATUS_OK) return status;
  uint64_t now_ns = anchor->host_after_ns;
  // A call that follows at once is another try of the same anchor.
  if (anchor_times.empty() || now_ns - anchor_times.back() > kMs)
    anchor_times.push_back(now_ns);
  return status;
}

// One range as the test submitted it: the numbers of its record calls.
struct Submitted {
  size_t begin, end;
  uint64_t stream_id;
};

class DeviceTimeTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case &c = GetParam();
    scripted_script script = {};
    script.now = pprof_test::TestNow;
    script.caps = c.caps;
    script.no_anchor = c.no_anchor;
    script.skew_ns = c.skew_ns;
    script.drift_ppb = c.drift_ppb;
    script.resolution_ns = c.resolution_ns;
    script.ready_delay_ns = c.ready_delay_ns;
    script.anchor_width_ns = c.anchor_width_ns;
    script.anchor_position_permille = c.anchor_position_permille;
    latencies_ = {0, c.latency_ns};
    script.latencies_ns = latencies_.data();
    script.num_latencies = latencies_.size();
    fake_ = scripted_device_create(&script);
    device_ = pprof_device_get(scripted_device_backend(fake_),
                               scripted_device_index(fake_));
  }

  size_t NumRecords() {
    return scripted_device_num_records(fake_);
  }

  void One(void *stream, std::mt19937 *random) {
    Submitted submitted = {};
    submitted.begin = NumRecords();
    pprof_device_push(device_, stream, &site);
    scripted_stream_submit(stream, (*random)() % (3 * kMs));
    submitted.end = NumRecords();
    pprof_device_pop(device_, stream);
    submitted_.push_back(submitted);
  }

  void Chain(void *stream, std::mt19937 *random) {
    pprof_device_push(device_, stream, &site);
    size_t links = 1 + (*random)() % 5;
    size_t at = NumRecords() - 1;
    for (size_t i = 0; i < links; i++) {
      scripted_stream_submit(stream, (*random)() % kMs);
      if (i + 1 < links)
        pprof_device_next(device_, stream, &site);
      else
        pprof_device_pop(device_, stream);
      submitted_.push_back({at + i, at + i + 1, 0});
    }
  }

  void Nested(void *stream, std::mt19937 *random) {
    Submitted outer = {};
    outer.begin = NumRecords();
    pprof_device_push(device_, stream, &site);
    submitted_.push_back(outer);
    size_t index = submitted_.size() - 1;
    scripted_stream_submit(stream, (*random)() % kMs);
    One(stream, random);
    submitted_[index].end = NumRecords();
    pprof_device_pop(device_, stream);
  }

  // `rounds` of random submits on three streams, with pauses of at most
  // `pause_ns`.
  void Work(DeviceSession *session, uint32_t seed, int rounds,
            uint64_t pause_ns) {
    std::mt19937 random(seed);
    std::vector<void *> streams;
    for (int i = 0; i < 3; i++)
      streams.push_back(scripted_stream_create(fake_, 0));
    for (int i = 0; i < rounds; i++) {
      void *stream = streams[random() % 3];
      switch (random() % 3) {
        case 0:
          One(stream, &random);
          break;
        case 1:
          Chain(stream, &random);
          break;
        default:
          Nested(stream, &random);
      }
      Advance(random() % pause_ns);
      session->Flush();
    }
    Advance(1000 * kMs);
    session->Flush();
  }

  void Check(const pprof_event &event, const Submitted &submitted,
             uint64_t base_ns) {
    const Case &c = GetParam();
    scripted_record begin, end;
    ASSERT_TRUE(scripted_device_record(fake_, submitted.begin, &begin));
    ASSERT_TRUE(scripted_device_record(fake_, submitted.end, &end));
    auto error = static_cast<double>(event.device_error_ns);
    double duration = static_cast<double>(end.true_ns - begin.true_ns);
    // A duration is the device's own: its drift, step and float stay in it.
    double off = duration * 150e-6 + duration / (1 << 23) + 2 +
                 static_cast<double>(c.resolution_ns);
    EXPECT_NEAR(event.device_start_ns, begin.true_ns - base_ns, error);
    EXPECT_NEAR(event.device_end_ns, end.true_ns - base_ns, error + off);
    EXPECT_NEAR(event.device_end_ns - event.device_start_ns, duration, off);
    EXPECT_GE(event.device_start_ns, event.start_ns);
  }

  void CheckAll(const DeviceSession &session) {
    auto ranges = session.DeviceRanges();
    ASSERT_EQ(ranges.size(), submitted_.size());
    for (size_t i = 0; i < ranges.size(); i++) {
      ASSERT_EQ(ranges[i].flags, 0u) << i;
      Check(ranges[i], submitted_[i], session.base_ns);
    }
    EXPECT_EQ(session.stats.lost, 0u);
    EXPECT_EQ(session.stats.late, 0u);
    EXPECT_EQ(scripted_device_num_violations(fake_), 0u)
        << scripted_device_first_violation(fake_);
  }

  // Events of one stream, in the order in which they were put into it.
  void CheckOrder(const DeviceSession &session) {
    auto ranges = session.DeviceRanges();
    std::map<uint32_t, std::multimap<size_t, uint64_t>> by_stream;
    for (size_t i = 0; i < ranges.size(); i++) {
      auto &events = by_stream[ranges[i].stream];
      events.emplace(submitted_[i].begin, ranges[i].device_start_ns);
      events.emplace(submitted_[i].end, ranges[i].device_end_ns);
    }
    for (const auto &stream : by_stream) {
      uint64_t last = 0;
      for (const auto &event : stream.second) {
        EXPECT_GE(event.second, last) << "at record " << event.first;
        last = event.second;
      }
    }
  }

  std::vector<uint64_t> latencies_;
  scripted_device *fake_;
  pprof_device *device_;
  std::vector<Submitted> submitted_;
};

TEST_P(DeviceTimeTest, NoTimeIsFurtherOffThanStated) {
  DeviceSession session;
  session.Start();
  Work(&session, 1, 60, 100 * kMs);
  session.Stop();
  CheckAll(session);
}

TEST_P(DeviceTimeTest, TimesOnAStreamNeverDecrease) {
  DeviceSession session;
  session.Start();
  Work(&session, 2, 80, 60 * kMs);
  session.Stop();
  CheckAll(session);
  if (!GetParam().no_anchor) CheckOrder(session);
}

// Seconds of pause between ranges: the clock is found again.
TEST_P(DeviceTimeTest, AfterLongPauses) {
  DeviceSession session;
  session.Start();
  Work(&session, 3, 12, 8000 * kMs);
  session.Stop();
  CheckAll(session);
}

TEST_P(DeviceTimeTest, StatedErrorIsSmallWithAnchors) {
  DeviceSession session;
  session.Start();
  Work(&session, 4, 60, 100 * kMs);
  session.Stop();
  if (GetParam().no_anchor) return;
  // 200 ppm over a second and a chain's half of it, until two anchors exist;
  // later the drift is known.
  EXPECT_LE(session.stats.clock_error_ns, 400000u);
  EXPECT_GT(session.stats.clock_error_ns, 0u);
  auto ranges = session.DeviceRanges();
  EXPECT_LE(ranges.back().device_error_ns, 150000u);
}

TEST_P(DeviceTimeTest, StarvedAnchorsLetTheBoundGrow) {
  if (GetParam().no_anchor) return;
  DeviceSession session;
  session.Start();
  Work(&session, 5, 5, 50 * kMs);
  scripted_device_starve_anchors(fake_, true);
  size_t starved = submitted_.size();
  Work(&session, 6, 30, 400 * kMs);
  session.Stop();
  CheckAll(session);
  auto ranges = session.DeviceRanges();
  EXPECT_GT(ranges.back().device_error_ns, ranges[starved].device_error_ns);
}

void PrintTo(const Case &c, std::ostream *out) {
  *out << c.name;
}

std::string Name(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Clocks, DeviceTimeTest, testing::ValuesIn(kCases),
                         Name);

TEST(DeviceAnchorTest, RenewedOnceASecondWhileInUse) {
  scripted_script script = {};
  script.now = pprof_test::TestNow;
  script.anchor_width_ns = 100;
  script.anchor_position_permille = 500;
  scripted_device *fake = scripted_device_create(&script);
  anchor_times.clear();
  counted = scripted_device_backend(fake);
  counting = *counted;
  counting.anchor = CountAnchor;
  pprof_device *device =
      pprof_device_get(&counting, scripted_device_index(fake));
  void *stream = scripted_stream_create(fake, 0);
  DeviceSession session;
  session.Start();
  // Not in use: none.
  for (int i = 0; i < 10; i++) {
    Advance(500 * kMs);
    session.Flush();
  }
  EXPECT_EQ(anchor_times.size(), 0u);
  for (int i = 0; i < 100; i++) {
    pprof_device_push(device, stream, &site);
    pprof_device_pop(device, stream);
    Advance(100 * kMs);
    session.Flush();
  }
  // 10 s: the first at once, a few more until the drift is known, then each
  // second.
  EXPECT_GE(anchor_times.size(), 10u);
  EXPECT_LE(anchor_times.size(), 14u);
  for (size_t i = 1; i < anchor_times.size(); i++) {
    uint64_t after_ns = anchor_times[i] - anchor_times[i - 1];
    EXPECT_GE(after_ns, (i < 5 ? 100 : 1000) * kMs) << i;
    EXPECT_LE(after_ns, 1101 * kMs) << i;
  }
  // A range that stays open for long is use, too.
  size_t before = anchor_times.size();
  pprof_device_push(device, stream, &site);
  for (int i = 0; i < 60; i++) {
    Advance(100 * kMs);
    session.Flush();
  }
  pprof_device_pop(device, stream);
  EXPECT_GE(anchor_times.size() - before, 5u);
  session.Stop();
  EXPECT_EQ(session.stats.recorded, 101u);
  EXPECT_EQ(scripted_device_num_violations(fake), 0u)
      << scripted_device_first_violation(fake);
}

}  // namespace
