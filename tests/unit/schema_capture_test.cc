// SPDX-License-Identifier: Apache-2.0
//
// The key `capture`: what windows of each kind become, and Paddle's and torch's
// documented sequences.
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
  EXPECT_EQ("p.yaml:1:19: 'marker' is longer than 255 bytes",
            Refusal("capture: {marker: " + std::string(256, 'x') + "}"));
}

TEST_F(SchemaTest, WindowsThatOverlapAreRefused) {
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
}

}  // namespace
