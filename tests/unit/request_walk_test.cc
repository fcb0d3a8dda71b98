// SPDX-License-Identifier: Apache-2.0
//
// One request: what it does at every moment, and its longest path, by hand and
// against brute force.
#include "report/parts/request_nested.h"
#include "request_fixture.h"

namespace {

using pprof_test::CrossThread;
using pprof_test::Device;
using pprof_test::Host;
using pprof_test::IsDevice;
using pprof_test::LastOf;
using pprof_test::Links;
using pprof_test::LongestFrom;
using pprof_test::RandomPart;
using pprof_test::Whole;

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
    walk_.path = &path_;
    EXPECT_TRUE(ppi_walk_critical(&walk_));
    EXPECT_TRUE(ppi_walk_request(&walk_));
  }
  ~Walk() {
    ppi_free(path_.items);
  }
  Walk(const Walk &) = delete;
  Walk &operator=(const Walk &) = delete;
  const ppi_walk *operator->() const {
    return &walk_;
  }
  // Of a part: the stretches of the longest path, in order.
  std::vector<std::pair<uint64_t, uint64_t>> PathOf(size_t part) const {
    std::vector<std::pair<uint64_t, uint64_t>> found;
    for (size_t i = 0; i < path_.num; i++)
      if (path_.items[i].part == part)
        found.emplace_back(path_.items[i].start_ns, path_.items[i].end_ns);
    std::sort(found.begin(), found.end());
    return found;
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
  ppi_span_list spans_ = {};
  std::vector<ppi_part_times> times_;
  ppi_request_path path_ = {};
  ppi_walk walk_ = {};
};

using Stretches = std::vector<std::pair<uint64_t, uint64_t>>;

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
  EXPECT_EQ(walk.PathOf(1), (Stretches{{20, 50}}));
  EXPECT_EQ(walk.PathOf(2), (Stretches{{13, 20}, {50, 51}}));
  EXPECT_EQ(walk[3].critical_ns, 5u);
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
  Walk cross_thread(
      {Host(0, 10), CrossThread(Host(10, 226, 2)), Host(110, 116, 3)});
  EXPECT_EQ(cross_thread[1].critical_ns, 210u);
  EXPECT_EQ(cross_thread[2].critical_ns, 6u);
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
  EXPECT_EQ(walk[1].own_ns, 2u);  // until the longer one begins
  EXPECT_EQ(walk[2].own_ns, 38u);
  EXPECT_EQ(walk[3].own_ns, 0u);
}

// What began last has no moment of a longer branch.
TEST(RequestWalkTest, ABranchBesideALongerOneHasNoTime) {
  Walk walk({Host(0, 10, 1), Host(1, 9, 2)});
  EXPECT_EQ(walk[0].own_ns, 10u);
  EXPECT_EQ(walk[1].own_ns, 0u);
}

// ---- every moment, every chain ----

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
  for (size_t i = 0; i < parts.size(); i++)
    for (const auto &stretch : walk.PathOf(i))
      if (!parts[i].is_whole && stretch.first <= now && stretch.second > now)
        return i;
  for (size_t i = 0; i < parts.size(); i++) {
    if (!parts[i].is_whole && parts[i].start_ns <= now && parts[i].end_ns > now)
      found = i;
  }
  return found;
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

// ---- parts that nest ----

// Adds a range and those inside it; answers its end.
uint64_t AddNested(std::mt19937_64 *random, uint32_t lane, uint64_t from,
                   int depth, std::vector<ppi_request_part> *to) {
  uint64_t end = from + (*random)() % 20;
  for (uint64_t num = depth ? (*random)() % 4 : 0; num; num--)
    end = AddNested(random, lane, end + (*random)() % 9, depth - 1, to);
  ppi_request_part part = Host(from, end + (*random)() % 20, lane);
  part.site = static_cast<uint32_t>(to->size());
  to->push_back(part);
  return part.end_ns;
}

// Threads that overlap now and then.
std::vector<ppi_request_part> NestedParts(std::mt19937_64 *random) {
  std::vector<ppi_request_part> parts;
  for (uint32_t lane = 1 + (*random)() % 3; lane; lane--)
    for (uint64_t now = (*random)() % 200, i = (*random)() % 4; i < 5; i++)
      now = AddNested(random, lane, now + (*random)() % 50, 2, &parts);
  if ((*random)() % 3 == 0) {
    uint64_t from = (*random)() % 100;
    parts.push_back(
        Whole(Host(from, from + (*random)() % 900, (*random)() % 3)));
    parts.back().is_async = (*random)() % 2;
    parts.back().site = static_cast<uint32_t>(parts.size());
  }
  return parts;
}

TEST(RequestWalkTest, OnePassOverNestedPartsFindsTheSame) {
  std::mt19937_64 random(17);
  ppi_nested_room room;
  ASSERT_TRUE(ppi_nested_room_make(&room, 1000, 4));
  size_t num_nested = 0;
  for (int turn = 0; turn < 3000; turn++) {
    Walk walk(NestedParts(&random));
    std::vector<ppi_part_times> times(walk.parts().size());
    ppi_walk other = {};
    other.parts = walk->parts;
    other.num = walk->num;
    other.start_ns = walk->start_ns;
    other.end_ns = walk->end_ns;
    other.times = times.data();
    if (!ppi_walk_nested(&other, &room)) {
      EXPECT_EQ(other.hop_ns, 0u);
      continue;
    }
    num_nested++;
    ASSERT_EQ(other.hop_ns, walk->hop_ns) << "turn " << turn;
    for (size_t i = 0; i < times.size(); i++) {
      ASSERT_EQ(times[i].own_ns, walk[i].own_ns) << turn << " " << i;
      ASSERT_EQ(times[i].hop_ns, walk[i].hop_ns) << turn << " " << i;
      ASSERT_EQ(times[i].critical_ns, walk[i].critical_ns) << turn << " " << i;
    }
  }
  EXPECT_GT(num_nested, 1000u);
  ppi_nested_room_clear(&room);
}

// On thread 1 the model from 0 to 50 with a layer from 10 to 30 and an operator
// in it; on thread 2 something that the path leaves out.
TEST(RequestWalkTest, NestedPartsKnowTheirStages) {
  std::vector<ppi_request_part> parts = {Host(0, 50), Host(5, 20, 2),
                                         Host(10, 30), Host(12, 20)};
  for (uint32_t i = 0; i < 4; i++) parts[i].site = 100 + i;
  std::vector<ppi_part_times> times(4);
  ppi_walk walk = {};
  walk.parts = parts.data();
  walk.num = 4;
  walk.end_ns = 60;
  walk.times = times.data();
  ppi_nested_room room;
  ASSERT_TRUE(ppi_nested_room_make(&room, 4, 3));
  ASSERT_TRUE(ppi_walk_nested(&walk, &room));
  const ppi_part_place *operators = &walk.places[3];
  EXPECT_EQ(operators->stage, 100u);
  EXPECT_EQ(operators->child, 102u);
  EXPECT_EQ(operators->level, 2u);
  EXPECT_EQ(walk.places[1].stage, 101u);
  EXPECT_EQ(walk.places[1].level, 0u);
  EXPECT_EQ(times[0].own_ns, 30u);
  EXPECT_EQ(times[1].own_ns, 0u);
  EXPECT_EQ(times[3].critical_ns, 8u);
  EXPECT_EQ(walk.hop_ns, 10u);
  for (auto change : {&ppi_request_part::is_async, &ppi_request_part::waits,
                      &ppi_request_part::is_paired}) {
    parts[2].*change = true;
    EXPECT_FALSE(ppi_walk_nested(&walk, &room));
    parts[2].*change = false;
  }
  parts[2].end_ns = 51;  // it does not nest
  EXPECT_FALSE(ppi_walk_nested(&walk, &room));
  ppi_nested_room_clear(&room);
}

}  // namespace
