// SPDX-License-Identifier: Apache-2.0
//
// Eight minutes on a device that behaves as one H200 was measured to: brackets
// of 5.6 us in which the event lies anywhere but always at the same place,
// 32 ns steps, differences as floats, a drift that wanders, loads that widen
// the brackets. How far device times are off, and what is stated of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "device_session.h"
#include "pprof/device.h"

namespace {

using pprof_test::Advance;
using pprof_test::DeviceSession;
using pprof_test::TestNow;

constexpr uint64_t kMs = 1000000, kSecond = 1000000000;

PPROF_SITE(site, "work", PPROF_CATEGORY_INFERENCE);

struct Nature {
  std::string name;
  double asymmetry;  // where in its bracket an anchor's event lies, 0 to 1
  double drift_ppm;
  double wander_ppm_per_minute;
  uint64_t bracket_ns, bracket_jitter_ns;
  bool loads;  // three seconds of each half minute brackets are 50 us wide
  double breath_ppm;  // drift that comes and goes within ten seconds
};

const Nature kNatures[] = {
    {"Middle", 0.5, 6.6, 0.5, 5600, 400, false, 0},
    {"MiddleUnderLoads", 0.5, 6.6, 0.5, 5600, 400, true, 0},
    {"EarliestUnderLoads", 0.0, 6.6, 0.5, 5600, 400, true, 0},
    {"LatestUnderLoads", 1.0, 6.6, -0.5, 5600, 400, true, 0},
    {"Steady", 0.3, -6.6, 0, 5600, 400, true, 0},
    {"FarOff", 0.9, 190, -0.5, 5600, 400, true, 0},
    {"EarliestBreathing", 0.0, 6.6, 0, 5600, 1, false, 0.5},
    {"LatestBreathing", 1.0, 6.6, 0, 5600, 1, false, 0.5},
};

// An event and the host's time at which it truly happened.
struct Event {
  uint64_t true_ns = 0;
};

// A session attaches to every device there is: one serves all tests.
class Device {
 public:
  static Device &The() {
    static auto *device = new Device;
    return *device;
  }

  // Another nature, for the next session.
  void Become(const Nature &nature) {
    std::lock_guard<std::mutex> lock(mutex_);
    nature_ = nature;
    random_.seed(7);
    start_ns_ = TestNow();
    starved_ = false;
    jump_ns_ = 0;
    record_times_.clear();
    anchor_times_.clear();
  }

  pprof_device *Get() {
    return pprof_device_get(&table_, 0);
  }

  void Starve(bool starve) {
    std::lock_guard<std::mutex> lock(mutex_);
    starved_ = starve;
  }

  // The next `num` brackets are wide.
  void Disturb(uint32_t num) {
    std::lock_guard<std::mutex> lock(mutex_);
    num_disturbed_ = num;
  }

  // From now on the device's clock is ahead by so much, and gains so much.
  void Jump(int64_t ahead_ns, double faster_ppm) {
    std::lock_guard<std::mutex> lock(mutex_);
    jump_ns_ = TestNow();
    ahead_ns_ = ahead_ns;
    faster_ppm_ = faster_ppm;
  }

  // Of the k-th event recorded.
  uint64_t TrueTime(size_t k) {
    std::lock_guard<std::mutex> lock(mutex_);
    return record_times_.at(k);
  }

  size_t NumRecords() {
    std::lock_guard<std::mutex> lock(mutex_);
    return record_times_.size();
  }

  // Anchors closer than this are tries of one.
  std::vector<uint64_t> Anchors() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<uint64_t> apart;
    for (uint64_t time : anchor_times_)
      if (apart.empty() || time - apart.back() > 10 * kMs)
        apart.push_back(time);
    return apart;
  }

  size_t NumTries() {
    std::lock_guard<std::mutex> lock(mutex_);
    return anchor_times_.size();
  }

 private:
  Device() {
    table_.size = sizeof table_;
    table_.name = "simulated";
    table_.open = Open;
    table_.event_create = Create;
    table_.event_destroy = Destroy;
    table_.event_record = Record;
    table_.event_query = Query;
    table_.event_elapsed = Elapsed;
    table_.anchor = Anchor;
  }

  static Device *Of(void *context) {
    return static_cast<Device *>(context);
  }

  static pprof_status Open(int, void **out_context, pprof_error *) {
    *out_context = &The();
    return PPROF_STATUS_OK;
  }

  static pprof_status Create(void *, uint64_t, size_t num, void **out) {
    for (size_t i = 0; i < num; i++) out[i] = new Event;
    return PPROF_STATUS_OK;
  }

  static void Destroy(void *, uint64_t, size_t num, void **events) {
    for (size_t i = 0; i < num; i++) delete static_cast<Event *>(events[i]);
  }

  static pprof_status Record(void *context, void *event, void *) {
    Device *self = Of(context);
    std::lock_guard<std::mutex> lock(self->mutex_);
    uint64_t true_ns = TestNow() + 20000;
    static_cast<Event *>(event)->true_ns = true_ns;
    self->record_times_.push_back(true_ns);
    return PPROF_STATUS_OK;
  }

  static pprof_status Query(void *context, void *event) {
    Device *self = Of(context);
    std::lock_guard<std::mutex> lock(self->mutex_);
    return TestNow() > static_cast<Event *>(event)->true_ns + 1000
               ? PPROF_STATUS_OK
               : PPROF_STATUS_BUSY;
  }

  static pprof_status Elapsed(void *context, void *from, void *to,
                              int64_t *out_ns) {
    Device *self = Of(context);
    std::lock_guard<std::mutex> lock(self->mutex_);
    int64_t ns = self->Clock(static_cast<Event *>(to)->true_ns) -
                 self->Clock(static_cast<Event *>(from)->true_ns);
    auto ms = static_cast<float>(static_cast<double>(ns) / 1e6);
    *out_ns = std::llround(static_cast<double>(ms) * 1e6);
    return PPROF_STATUS_OK;
  }

  static pprof_status Anchor(void *context, uint64_t, pprof_anchor *out) {
    Device *self = Of(context);
    std::lock_guard<std::mutex> lock(self->mutex_);
    if (self->starved_) return PPROF_STATUS_BUSY;
    out->host_before_ns = TestNow();
    uint64_t width_ns = self->nature_.bracket_ns +
                        self->random_() % self->nature_.bracket_jitter_ns;
    double place = self->nature_.asymmetry * static_cast<double>(width_ns) +
                   static_cast<double>(self->random_() % 340) - 170;
    bool disturbed = self->num_disturbed_ > 0;
    self->num_disturbed_ -= disturbed;
    if (disturbed || self->IsLoaded(out->host_before_ns)) {
      width_ns = 50000;
      place = static_cast<double>(self->random_() % width_ns);
    }
    place = std::min(std::max(place, 0.0), static_cast<double>(width_ns));
    static_cast<Event *>(out->event)->true_ns =
        out->host_before_ns + static_cast<uint64_t>(place);
    Advance(width_ns);
    out->host_after_ns = TestNow();
    self->anchor_times_.push_back(out->host_after_ns);
    return PPROF_STATUS_OK;
  }

  bool IsLoaded(uint64_t now_ns) const {
    uint64_t second = (now_ns - start_ns_) / kSecond;
    return nature_.loads && second % 30 >= 10 && second % 30 < 13;
  }

  int64_t Clock(uint64_t true_ns) const {
    auto since = static_cast<int64_t>(true_ns - start_ns_);
    double seconds = static_cast<double>(since) / 1e9;
    double ahead_us =
        nature_.drift_ppm * seconds +
        nature_.wander_ppm_per_minute / 60 * seconds * seconds / 2 +
        nature_.breath_ppm * 5 / M_PI * std::sin(seconds * M_PI / 5);
    int64_t ns = since + std::llround(ahead_us * 1e3) + 1000000;
    if (jump_ns_ && true_ns >= jump_ns_)
      ns += ahead_ns_ + std::llround(static_cast<double>(true_ns - jump_ns_) *
                                     faster_ppm_ * 1e-6);
    return ns - ns % 32;
  }

  Nature nature_;
  std::mt19937_64 random_;
  pprof_backend table_ = {};
  uint64_t start_ns_ = 0;
  std::mutex mutex_;
  bool starved_ = false;
  uint32_t num_disturbed_ = 0;
  uint64_t jump_ns_ = 0;  // 0: none
  int64_t ahead_ns_ = 0;
  double faster_ppm_ = 0;
  std::vector<uint64_t> record_times_, anchor_times_;
};

// A placed range: the error of its start, and the stated error.
struct Placed {
  uint64_t time_ns;
  double off_ns, stated_ns;
};

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  auto at = static_cast<size_t>(q * static_cast<double>(values.size() - 1));
  return values.at(at);
}

std::vector<double> Each(const std::vector<Placed> &placed,
                         double Placed::*member) {
  std::vector<double> values;
  for (const Placed &item : placed) values.push_back(item.*member);
  return values;
}

// A program that uses the device all the time.
class Program {
 public:
  Program(const Nature &nature, uint32_t seed)
      : device(Device::The()), random_(seed) {
    device.Become(nature);
  }

  void Run(DeviceSession *session, uint64_t duration_ns) {
    uint64_t end_ns = TestNow() + duration_ns;
    while (TestNow() < end_ns) {
      pprof_device *it = device.Get();
      pprof_device_push(it, &device, &site);
      Advance(random_() % (2 * kMs));
      pprof_device_pop(it, &device);
      uint64_t pause_ns = random_() % (200 * kMs);
      // The collector itself asks every few ms; it matters while the drift is
      // being learned.
      bool young = TestNow() - session->base_ns < 5 * kSecond;
      for (; young && pause_ns > 10 * kMs; pause_ns -= 10 * kMs) {
        Advance(10 * kMs);
        session->Flush();
      }
      Advance(pause_ns);
      session->Flush();
    }
  }

  // Two events a range, in the order of their submits.
  std::vector<Placed> Collect(const DeviceSession &session) {
    std::vector<Placed> placed;
    auto ranges = session.DeviceRanges();
    for (size_t i = 0; i < ranges.size(); i++) {
      EXPECT_EQ(ranges[i].flags, 0u);
      uint64_t true_ns = device.TrueTime(2 * i) - session.base_ns;
      double off = std::fabs(static_cast<double>(ranges[i].device_start_ns) -
                             static_cast<double>(true_ns));
      placed.push_back({ranges[i].start_ns, off,
                        static_cast<double>(ranges[i].device_error_ns)});
    }
    return placed;
  }

  Device &device;

 private:
  std::mt19937_64 random_;
};

class DevicePlacementTest : public testing::TestWithParam<Nature> {
 protected:
  void Tell(const std::string &what, const std::vector<double> &values) {
    for (double q : {0.5, 0.99, 1.0})
      RecordProperty(what + "_p" + std::to_string(int(q * 100)),
                     static_cast<int>(Quantile(values, q)));
  }
};

TEST_P(DevicePlacementTest, EightMinutesWithinTheBounds) {
  Program program(GetParam(), 3);
  DeviceSession session;
  session.Start();
  program.Run(&session, 8 * 60 * kSecond);
  session.Stop();
  auto anchors = program.device.Anchors();
  ASSERT_GT(anchors.size(), 400u);
  uint64_t from_ns = anchors[1] - session.base_ns;
  std::vector<Placed> placed;
  size_t outside = 0, wide = 0, far = 0;
  for (const Placed &item : program.Collect(session)) {
    EXPECT_LE(item.off_ns, item.stated_ns) << "at " << item.time_ns;
    if (item.time_ns < from_ns) continue;
    placed.push_back(item);
    outside += item.off_ns > item.stated_ns;
    wide += item.stated_ns > 8000;
    far += item.off_ns >= 5000;
  }
  ASSERT_GT(placed.size(), 4000u);
  Tell("off_ns", Each(placed, &Placed::off_ns));
  Tell("stated_ns", Each(placed, &Placed::stated_ns));
  RecordProperty("anchors", static_cast<int>(anchors.size()));
  RecordProperty("tries", static_cast<int>(program.device.NumTries()));
  RecordProperty("wide", static_cast<int>(wide));
  EXPECT_EQ(outside, 0u);
  EXPECT_EQ(far, 0u);
  EXPECT_LE(wide, GetParam().loads ? placed.size() / 100 : 0);
}

// A device so busy that no anchor gets through: what is stated grows, and
// holds; with the next anchors it is small again.
TEST_P(DevicePlacementTest, StarvedForAMinute) {
  Program program(GetParam(), 3);
  DeviceSession session;
  session.Start();
  program.Run(&session, 20 * kSecond);
  program.device.Starve(true);
  uint64_t starved_ns = TestNow() - session.base_ns;
  program.Run(&session, 60 * kSecond);
  program.device.Starve(false);
  uint64_t fed_ns = TestNow() - session.base_ns;
  program.Run(&session, 20 * kSecond);
  session.Stop();
  double before = 0, last = 0, after = 0;
  for (const Placed &item : program.Collect(session)) {
    EXPECT_LE(item.off_ns, item.stated_ns) << "at " << item.time_ns;
    if (item.time_ns < starved_ns)
      before = item.stated_ns;
    else if (item.time_ns < fed_ns)
      last = item.stated_ns;
    else
      after = item.stated_ns;
  }
  RecordProperty("starved_stated_ns", static_cast<int>(last));
  EXPECT_GT(last, 5 * before);
  EXPECT_LT(last, 200000);
  EXPECT_LT(after, 8000);
}

void PrintTo(const Nature &nature, std::ostream *out) {
  *out << nature.name;
}

std::string Name(const testing::TestParamInfo<Nature> &info) {
  return info.param.name;
}

// The start of a long range is placed by an anchor of its time, and not by
// one of when it was resolved.
TEST_P(DevicePlacementTest, LongRangesStartWhereTheyDid) {
  Program program(GetParam(), 3);
  DeviceSession session;
  session.Start();
  program.Run(&session, 15 * kSecond);
  size_t begin = program.device.NumRecords();
  int stream = 0;
  pprof_device_push(program.device.Get(), &stream, &site);
  program.Run(&session, 12 * kSecond);
  pprof_device_pop(program.device.Get(), &stream);
  program.Run(&session, kSecond);
  session.Stop();
  uint64_t begin_ns = program.device.TrueTime(begin) - session.base_ns;
  size_t num_long = 0;
  for (const pprof_event &event : session.DeviceRanges()) {
    if (event.device_end_ns - event.device_start_ns < 10 * kSecond) continue;
    num_long++;
    EXPECT_LT(event.device_error_ns, 8000u);
    EXPECT_NEAR(event.device_start_ns, begin_ns, event.device_error_ns);
  }
  EXPECT_EQ(num_long, 1u);
}

TEST(DeviceTriesTest, TheNarrowestOfSeveralCounts) {
  Program program(kNatures[0], 5);
  DeviceSession session;
  session.Start();
  program.device.Disturb(2);
  pprof_device_push(program.device.Get(), &program.device, &site);
  pprof_device_pop(program.device.Get(), &program.device);
  Advance(kMs);
  session.Flush();
  EXPECT_EQ(program.device.Anchors().size(), 1u);
  session.Stop();
  auto placed = program.Collect(session);
  ASSERT_GT(placed.size(), 0u);
  EXPECT_LE(placed[0].off_ns, placed[0].stated_ns);
  EXPECT_LT(placed[0].stated_ns, 5000);
}

// Times right after a jump have no promise; two anchors later all is as before.
struct JumpCase {
  const char *name;
  int64_t ahead_ns;
  double faster_ppm;
};

class DeviceJumpTest : public testing::TestWithParam<JumpCase> {};

TEST_P(DeviceJumpTest, TwoAnchorsLaterTimesAreRightAgain) {
  Program program(kNatures[0], 5);
  DeviceSession session;
  session.Start();
  program.Run(&session, 20 * kSecond);
  program.device.Jump(GetParam().ahead_ns, GetParam().faster_ppm);
  uint64_t jump_ns = TestNow() - session.base_ns;
  program.Run(&session, 40 * kSecond);
  session.Stop();
  size_t outside = 0;
  double last = 0;
  for (const Placed &item : program.Collect(session)) {
    bool soon = item.time_ns >= jump_ns && item.time_ns < jump_ns + 2 * kSecond;
    if (soon) continue;
    outside += item.off_ns > item.stated_ns;
    last = item.stated_ns;
  }
  EXPECT_EQ(outside, 0u);
  EXPECT_LT(last, 8000);
}

const JumpCase kJumps[] = {{"Ahead", 50000000, 0},
                           {"Back", -500000, 0},
                           {"FarBack", -60000000000, 0},
                           {"Faster", 0, 40},
                           {"Slower", 0, -15},
                           {"FarFaster", 0, 900},
                           {"AheadAndFaster", 3000000000, 25}};

void PrintTo(const JumpCase &jump, std::ostream *out) {
  *out << jump.name;
}

std::string JumpName(const testing::TestParamInfo<JumpCase> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Jumps, DeviceJumpTest, testing::ValuesIn(kJumps),
                         JumpName);

// Any steady drift within 200 ppm, any asymmetry, any width of brackets.
class DeviceNatureTest : public testing::TestWithParam<uint32_t> {};

TEST_P(DeviceNatureTest, NoTimeIsFurtherOffThanStated) {
  std::mt19937 random(GetParam());
  auto unit = [&] { return static_cast<double>(random() % 1001) / 1000; };
  Nature nature = {"", unit(), 400 * unit() - 200, 0,
                   0,  1,      random() % 2 == 0,  0};
  nature.bracket_ns = 500 + static_cast<uint64_t>(200e3 * std::pow(unit(), 4));
  nature.bracket_jitter_ns = 1 + nature.bracket_ns * (random() % 4);
  Program program(nature, GetParam());
  DeviceSession session;
  session.Start();
  for (int i = 0; i < 4; i++) {
    program.Run(&session, random() % 20 * kSecond);
    program.device.Starve(i % 2 == 0);
  }
  session.Stop();
  for (const Placed &item : program.Collect(session))
    EXPECT_LE(item.off_ns, item.stated_ns) << "at " << item.time_ns;
}

INSTANTIATE_TEST_SUITE_P(Seeds, DeviceNatureTest,
                         testing::Range<uint32_t>(0, 24));

INSTANTIATE_TEST_SUITE_P(Natures, DevicePlacementTest,
                         testing::ValuesIn(kNatures), Name);

}  // namespace
