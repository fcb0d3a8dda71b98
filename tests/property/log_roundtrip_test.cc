// SPDX-License-Identifier: Apache-2.0
//
// Any events, in any batches, come back from a log as they were.
#include "tests/support/log_events.h"
#include "tests/support/log_fixture.h"
#include "tests/support/long_run.h"

namespace pplog {
namespace {

using pprof_test::Seeds;

// Event lines of each lane, in order.
std::map<std::string, Lines> ByLane(const Lines &lines) {
  std::map<std::string, Lines> lanes;
  for (const std::string &line : Pick(lines, "event "))
    lanes[line.substr(0, line.find(' ', 6))].push_back(line);
  return lanes;
}

void RoundTrip(uint32_t seed, unsigned wildness, bool sparse,
               bool times_alone = false) {
  Folder folder;
  std::string path = folder / "x.pplog";
  Maker maker(seed);
  std::map<uint32_t, Lane> lanes;
  Collector wanted;
  pprof_sink *writer = Create(path);
  Info info;
  ASSERT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
  size_t total = 0;
  for (int i = 0; i < 60; i++) {
    uint32_t id = static_cast<uint32_t>(maker.Below(5));
    Lane *lane = &lanes[id];
    size_t n = maker.Below(10) ? maker.Below(40) : maker.Below(3000);
    Events made = maker.Make(lane, id, n, wildness);
    if (times_alone)
      for (pprof_event &event : made.events) event.num_flows = event.window = 0;
    uint64_t first = lane->seq + (maker.Below(5) ? 0 : maker.Below(9));
    lane->seq = first + n + (sparse ? maker.Below(7) : 0);
    pprof_batch batch = Batch(id, first, lane->seq, made.events);
    wanted.sink()->events(wanted.sink(), &batch);
    ASSERT_EQ(writer->events(writer, &batch), PPROF_STATUS_OK);
    total += n;
    if (maker.Below(times_alone ? 50 : 8) == 0) {
      Events open = maker.Make(lane, id, maker.Below(30), wildness);
      pprof_checkpoint checkpoint = {maker.Any(), open.events.data(),
                                     open.events.size()};
      wanted.sink()->checkpoint(wanted.sink(), &checkpoint);
      ASSERT_EQ(writer->checkpoint(writer, &checkpoint), PPROF_STATUS_OK);
    }
  }
  ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  writer->destroy(writer);
  Lines read = Read(path);
  EXPECT_EQ(Pick(read, "event ").size(), total);
  EXPECT_EQ(ByLane(read), ByLane(wanted.lines())) << "seed " << seed;
  for (const char *what : {"checkpoint", "open"})
    EXPECT_EQ(Pick(read, what), Pick(wanted.lines(), what)) << "seed " << seed;
}

TEST(LogRoundTripTest, NestedRanges) {
  for (uint32_t seed = 1; seed <= Seeds(6); seed++) RoundTrip(seed, 0, false);
}

TEST(LogRoundTripTest, TimesAlone) {
  for (uint32_t seed = 31; seed <= 30 + Seeds(6); seed++)
    RoundTrip(seed, 0, seed % 2, true);
}

TEST(LogRoundTripTest, SomeOfEverything) {
  for (uint32_t seed = 11; seed <= 10 + Seeds(8); seed++)
    RoundTrip(seed, 10, true);
}

TEST(LogRoundTripTest, AnyFieldsAtAll) {
  for (uint32_t seed = 21; seed <= 20 + Seeds(6); seed++)
    RoundTrip(seed, 100, seed % 2);
}

}  // namespace
}  // namespace pplog
