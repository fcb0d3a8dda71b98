// SPDX-License-Identifier: Apache-2.0
//
// Many ranges at a time are encoded as they are one by one.
#include "log/format/log_encode.h"

#include <algorithm>

#include "tests/support/log_events.h"
#include "tests/support/log_fixture.h"
#include "tests/support/long_run.h"

namespace pplog {
namespace {

class Encoder {
 public:
  Encoder() : encoder_(ppi_run_encoder_create()) {
    ppi_run_encoder_start(encoder_, 1, 0, 0);
  }
  ~Encoder() {
    ppi_run_encoder_destroy(encoder_);
  }
  ppi_run_encoder *get() {
    return encoder_;
  }
  std::string Payload() {
    ppi_buffer payload = {};
    ppi_run_encoder_finish(encoder_, &payload);
    std::string bytes(reinterpret_cast<char *>(payload.data), payload.len);
    ppi_buffer_clear(&payload);
    return bytes;
  }

 private:
  ppi_run_encoder *encoder_;
};

// A thread's ranges: names in an order that the guess knows, or does not.
std::vector<pprof_event> Ranges(Maker *maker, size_t num, bool regular) {
  std::vector<pprof_event> events;
  uint64_t now = 0;
  while (events.size() < num) {
    uint64_t start = now, inner = regular ? 5 : maker->Below(9);
    for (uint64_t i = 0; i < inner; i++) {
      uint64_t from = now +=
          maker->Below(4) ? maker->Below(90) : maker->Any() >> 24;
      now += maker->Below(50) ? maker->Below(70000) : maker->Any() >> 20;
      uint32_t site =
          static_cast<uint32_t>(regular ? 2 + i : 2 + maker->Below(300));
      events.push_back(Range(1, site, 1, from, now));
    }
    events.push_back(Range(1, 1, 0, start, now += maker->Below(90)));
  }
  return events;
}

// Now and then one that is something else, or not where it should be.
void Spoil(Maker *maker, std::vector<pprof_event> *events, unsigned one_in) {
  static const uint64_t flows[2] = {7, 8};
  static const pprof_work_amount work = {sizeof work, 1, 2, 3, 4};
  static const pprof_cpu_use cpu = {sizeof cpu, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  static const pprof_numbers numbers = {sizeof numbers, 2, 1, {5, 6, 0, 0}};
  for (pprof_event &event : *events) {
    if (maker->Below(one_in)) continue;
    switch (maker->Below(16)) {
      case 0:
        event.kind = static_cast<uint32_t>(1 + maker->Below(4));
        break;
      case 1:
        event.flags = static_cast<uint32_t>(1u << maker->Below(8));
        break;
      case 2:
        event.lane = 2;
        break;
      case 3:
        event.stream = 3;
        break;
      case 4:
        event.depth = static_cast<uint32_t>(maker->Below(1100));
        break;
      case 5:
        event.device_start_ns = maker->Any();
        break;
      case 6:
        event.device_end_ns = maker->Any();
        break;
      case 7:
        event.device_error_ns = maker->Any();
        break;
      case 8:
        event.value = maker->AnyDouble();
        break;
      case 9:
        event.attributes = static_cast<uint32_t>(maker->Any());
        break;
      case 10:
        event.work = maker->Below(2) ? &work : nullptr;
        if (!event.work) event.numbers = &numbers;
        break;
      case 11:
        event.cpu = &cpu;
        break;
      case 12:
        event.flows = flows;
        event.num_flows = 1 + maker->Below(2);
        break;
      case 13:
        event.start_ns = maker->Any();
        break;
      case 14:
        event.window = 1;
        break;
      default:
        event.end_ns = maker->Any();
    }
  }
}

void ExpectSame(uint32_t seed, bool regular, unsigned one_in) {
  Maker maker(seed);
  Encoder one, many;
  std::vector<pprof_event> events = Ranges(&maker, 3000, regular);
  if (one_in) Spoil(&maker, &events, one_in);
  pprof_batch batch = Batch(1, 0, events.size(), events);
  ppi_log_times times = {UINT64_MAX, 0}, seen = times;
  size_t at_once = 0;
  for (size_t i = 0; i < events.size();) {
    size_t to = std::min(events.size(), i + maker.Below(600)), num = 99;
    size_t before = many.get()->len;
    ASSERT_EQ(
        ppi_run_encoder_add_ranges(many.get(), &batch, i, to, &times, &num),
        PPROF_STATUS_OK);
    ASSERT_LE(num, to - i);
    ASSERT_LE(many.get()->len - before, num * PPI_LOG_MAX_RANGE);
    for (size_t k = i; k < i + num; k++) {
      ASSERT_EQ(ppi_run_encoder_add(one.get(), &events[k]), PPROF_STATUS_OK);
      ASSERT_EQ(events[k].window, 0u);  // another one is of another run
      seen.min_start_ns = std::min(seen.min_start_ns, events[k].start_ns);
      seen.max_end_ns = std::max(seen.max_end_ns, events[k].end_ns);
    }
    at_once += num;
    i += num;
    ASSERT_EQ(times.min_start_ns, seen.min_start_ns);
    ASSERT_EQ(times.max_end_ns, seen.max_end_ns);
    ASSERT_EQ(many.get()->run.num_events, i);
    ASSERT_EQ(many.get()->len, one.get()->len);
    if (i == events.size() || i == to) continue;
    // One that goes no way but its own.
    ASSERT_EQ(ppi_run_encoder_add(one.get(), &events[i]), PPROF_STATUS_OK);
    ASSERT_EQ(ppi_run_encoder_add(many.get(), &events[i]), PPROF_STATUS_OK);
    i++;
  }
  EXPECT_TRUE(one.Payload() == many.Payload()) << seed;
  if (!one_in) {
    EXPECT_EQ(at_once, events.size()) << seed;
  }
}

TEST(LogRangesTest, AreEncodedAsOneByOne) {
  for (uint32_t seed = 1; seed <= pprof_test::Seeds(8); seed++)
    for (bool regular : {false, true})
      for (unsigned one_in : {0, 2, 20, 300}) ExpectSame(seed, regular, one_in);
}

}  // namespace
}  // namespace pplog
