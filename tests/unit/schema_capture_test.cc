// SPDX-License-Identifier: Apache-2.0
//
// The key `capture`: what windows of each kind become, Paddle's and torch's
// documented sequences, and every refusal in its exact words.
#include "schema_fixture.h"

namespace {

TEST_F(SchemaTest, SchedulesGoAsPaddles) {
  EXPECT_EQ("CCYRRRCC", States("capture: {steps: [3, 6]}", 8));
  EXPECT_EQ("YRC", States("capture: {steps: [1, 2]}", 3));
  EXPECT_EQ("RRC", States("capture: {steps: [0, 2]}", 3));
  EXPECT_EQ("CCYRRCYRRCC", States("capture: {skip_first: 1, wait: 1, warmup: 1,"
                                  " active: 2, repeat: 2}",
                                  11));
  EXPECT_EQ("CRCRCRC", States("capture: {wait: 1, active: 1}", 7));
}

TEST_F(SchemaTest, SchedulesGoAsTorchs) {
  EXPECT_EQ("CCCCCCCCCCCYYYRC",
            States("capture: {skip_first: 1, wait: 10, warmup: 3, active: 1,"
                   " repeat: 1}",
                   16));
}

TEST_F(SchemaTest, NoCaptureRecordsEverything) {
  EXPECT_EQ("RRRR", States("{}", 4));
}

TEST_F(SchemaTest, WindowsAreChecked) {
  EXPECT_EQ(
      "p.yaml:1:10: a window needs 'active', 'steps',"
      " 'duration', 'marker' or 'on_demand'",
      Refusal("capture: {wait: 1}\n"));
  EXPECT_EQ(
      "p.yaml:1:10: a window needs 'active', 'steps',"
      " 'duration', 'marker' or 'on_demand'",
      Refusal("capture: {}\n"));
  EXPECT_EQ("p.yaml:1:10: 'capture' needs at least one window",
            Refusal("capture: []\n"));
  EXPECT_EQ(
      "p.yaml:1:26: 'steps' and 'active' do not go together in one window",
      Refusal("capture: {steps: [1, 2], active: 3}\n"));
  EXPECT_EQ("p.yaml:1:18: 'steps' must end after it begins",
            Refusal("capture: {steps: [2, 2]}\n"));
  EXPECT_EQ(
      "p.yaml:1:18: 'steps' must be two step numbers such as [10, 20],"
      " not a list",
      Refusal("capture: {steps: [2]}\n"));
  EXPECT_EQ("p.yaml:1:22: 'steps' must be a whole number, not 'b'",
            Refusal("capture: {steps: [2, b]}\n"));
  std::string many = "capture:\n";
  for (int i = 0; i < 17; i++) many += "  - {active: 1}\n";
  EXPECT_EQ("p.yaml:18:5: more than 16 windows", Refusal(many));
}

TEST_F(SchemaTest, WindowsInTime) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("capture:\n"
                  "  - {duration: 2s}\n"
                  "  - {delay: 10s, duration: 2s, every: 60s, repeat: 5}\n"
                  "  - {duration: 1ms, at: '1970-01-02T00:00:01.5Z'}\n"))
      << error_.text;
  ppi_capture capture;
  ppi_config_capture(&config(), &capture);
  ASSERT_EQ(3u, capture.num_rules);
  const ppi_capture_time *time = &capture.rules[0].time;
  EXPECT_EQ(PPI_CAPTURE_TIME, capture.rules[0].kind);
  EXPECT_EQ(0u, time->delay_ns);
  EXPECT_EQ(2000000000u, time->duration_ns);
  EXPECT_EQ(0u, time->every_ns);
  EXPECT_EQ(0u, time->repeat);
  EXPECT_EQ(0u, time->at_realtime_ns);
  time = &capture.rules[1].time;
  EXPECT_EQ(10000000000u, time->delay_ns);
  EXPECT_EQ(60000000000u, time->every_ns);
  EXPECT_EQ(5u, time->repeat);
  time = &capture.rules[2].time;
  EXPECT_EQ(86401500000000u, time->at_realtime_ns);
  EXPECT_EQ(1000000u, time->duration_ns);
}

TEST_F(SchemaTest, WindowsInTimeAreChecked) {
  EXPECT_EQ(
      "p.yaml:1:10: a window needs 'active', 'steps', 'duration',"
      " 'marker' or 'on_demand'",
      Refusal("capture: {delay: 1s}\n"));
  EXPECT_EQ("p.yaml:1:33: 'every' must not be less than 'duration'",
            Refusal("capture: {duration: 2s, every:  1s}\n"));
  EXPECT_EQ("p.yaml:1:33: 'repeat' needs 'every'",
            Refusal("capture: {duration: 2s, repeat: 3}\n"));
  EXPECT_EQ("p.yaml:1:21: 'duration' must be 1ms to 720h, not 0s",
            Refusal("capture: {duration: 0s}\n"));
  EXPECT_EQ(
      "p.yaml:1:21: 'duration' must be a duration such as 500ms, not"
      " '-1s'",
      Refusal("capture: {duration: -1s}\n"));
  EXPECT_EQ(
      "p.yaml:1:29: 'at' must be a time in UTC such as"
      " 2026-11-22T10:00:00Z, not 'tomorrow'",
      Refusal("capture: {duration: 1s, at: tomorrow}\n"));
  EXPECT_EQ(
      "p.yaml:1:25: 'duration' and 'wait' do not go together in one"
      " window",
      Refusal("capture: {duration: 1s, wait: 1}\n"));
  // `repeat` goes with both, and is not what to name.
  EXPECT_EQ(
      "p.yaml:1:33: 'every' and 'active' do not go together in one"
      " window",
      Refusal("capture: {repeat: 1, every: 1s, active: 1}\n"));
}

TEST_F(SchemaTest, WindowsByMarker) {
  ASSERT_EQ(PPROF_STATUS_OK,
            Apply("capture:\n"
                  "  - {marker: decode}\n"
                  "  - {marker: \"batch done\", from: 3, to: 5,"
                  " then: repeat}\n"
                  "  - {on_demand: true}\n"))
      << error_.text;
  ppi_capture capture;
  ppi_config_capture(&config(), &capture);
  ASSERT_EQ(3u, capture.num_rules);
  const ppi_capture_marker *marker = &capture.rules[0].marker;
  EXPECT_EQ(PPI_CAPTURE_MARKER, capture.rules[0].kind);
  EXPECT_STREQ("decode", marker->name);
  EXPECT_EQ(1u, marker->from);
  EXPECT_EQ(1u, marker->to);
  EXPECT_FALSE(marker->again);
  marker = &capture.rules[1].marker;
  EXPECT_STREQ("batch done", marker->name);
  EXPECT_EQ(3u, marker->from);
  EXPECT_EQ(5u, marker->to);
  EXPECT_TRUE(marker->again);
  EXPECT_EQ(PPI_CAPTURE_DEMAND, capture.rules[2].kind);
}

TEST_F(SchemaTest, WindowsByMarkerAreChecked) {
  EXPECT_EQ("p.yaml:1:37: 'to' must not be less than 'from'",
            Refusal("capture: {marker: a, from: 3, to:   2}\n"));
  EXPECT_EQ("p.yaml:1:28: 'from' must be 1 to 1000000000, not 0",
            Refusal("capture: {marker: a, from: 0}\n"));
  EXPECT_EQ("p.yaml:1:19: 'marker' is longer than 255 bytes",
            Refusal("capture: {marker: " + std::string(256, 'x') + "}"));
  EXPECT_EQ(
      "p.yaml:1:28: 'then' must be one of stop, repeat, not 'stpo' (did"
      " you mean 'stop'?)",
      Refusal("capture: {marker: a, then: stpo}\n"));
  EXPECT_EQ("p.yaml:1:22: 'on_demand' must be true",
            Refusal("capture: {on_demand: false}\n"));
  EXPECT_EQ(
      "p.yaml:1:28: 'on_demand' and 'delay' do not go together in one"
      " window",
      Refusal("capture: {on_demand: true, delay: 1s}\n"));
}

TEST_F(SchemaTest, WindowsThatOverlapAreRefused) {
  EXPECT_EQ("p.yaml:3:5: window 2 overlaps window 1",
            Refusal("capture:\n  - steps: [3, 6]\n  - steps: [5, 9]\n"));
  EXPECT_EQ("p.yaml:4:5: window 3 overlaps window 1",
            Refusal("capture:\n  - {delay: 1s, duration: 2s}\n"
                    "  - steps: [5, 9]\n  - {delay: 2s, duration: 2s}\n"));
  // They meet without overlapping; counted from other moments; for ever.
  EXPECT_EQ(PPROF_STATUS_OK,
            Apply("capture: [{steps: [3, 6]}, {steps: [6, 9]},"
                  " {delay: 1s, duration: 1s}, {delay: 2s, duration: 1s},"
                  " {duration: 5s, at: 2026-11-22T10:00:00Z},"
                  " {duration: 1s, every: 1s}, {active: 100}]\n"))
      << error_.text;
}

// torch's skip_first_wait (reference, section 2.2).
TEST_F(SchemaTest, TheFirstWaitCanBeLeftOut) {
  EXPECT_EQ("CCYRRCYRRCC",
            States("capture: {skip_first: 1, wait: 1, warmup: 1, active: 2,"
                   " repeat: 2}",
                   11));
  EXPECT_EQ("CYRRCYRRCCC",
            States("capture: {skip_first: 1, skip_first_wait: 1, wait: 1,"
                   " warmup: 1, active: 2, repeat: 2}",
                   11));
  EXPECT_EQ("CYYYRCCC", States("capture: {skip_first: 1, skip_first_wait: 1,"
                               " wait: 10, warmup: 3, active: 1, repeat: 1}",
                               8));
  EXPECT_EQ("p.yaml:1:28: 'skip_first_wait' must be 0 to 1, not 2",
            Refusal("capture: {skip_first_wait: 2}\n"));
}

}  // namespace
