// SPDX-License-Identifier: Apache-2.0
//
// What a stage does of what its device could.
#include "findings_report.h"
#include "findings_runs.h"

namespace pprof_test {
namespace {

// 20 MFLOP in 20 of 100 ms, of 2 GFLOP/s: 1 GFLOP/s, 50 %, of the wall 10 %.
// 20 MFLOP / 880 kB = 22.7 FLOP/B; 2 GFLOP/s / 50 MB/s = 40 FLOP/B, 1.76 times
// that; 22.7 FLOP/B . 50 MB/s = 1.136 GFLOP/s, of which 1 is 88 %.
ppi_roofline Decode() {
  ppi_roofline decode = {};
  decode.stage = "decode";
  decode.model = "decode.onnx";
  decode.type = "f32";
  decode.calls = 2;
  decode.flops = 20e6;
  decode.bytes = 880e3;
  decode.own_s = 0.02;
  decode.wall_s = 0.1;
  decode.peak_flops = 2e9;
  decode.peak_bytes = 50e6;
  return decode;
}

ppi_finding Found(const ppi_roofline &roofline, double threshold = 1) {
  EventFeed feed = FindingsFeed(false);
  OnHost(&feed, 1, "decode", 10 * kMs, 20 * kMs);
  OnHost(&feed, 1, "decode", 50 * kMs, 60 * kMs);
  feed.AddWindow(0, 100 * kMs);
  ppi_findings_options options = {};
  options.rooflines = &roofline;
  options.num_rooflines = 1;
  EXPECT_EQ(PPROF_STATUS_OK, ppi_findings_set(&options, "roofline", threshold));
  return FindingsReport(&feed, &options).Get("roofline");
}

TEST(FindingsRooflineTest, UnderMemory) {
  const ppi_finding finding = Found(Decode());
  EXPECT_STREQ(
      "decode does 1.00 GFLOP/s: MFU 50 % of its own time, 10 % of the wall, "
      "of "
      "2.00 GFLOP/s in f32. Memory-bound: 22.7 FLOP/B is 1.76 times below the "
      "ridge of 40.0; it reaches 88 % of what the roof allows.",
      finding.text);
  EXPECT_STREQ("2 steady calls on the host; FLOPs by decode.onnx",
               finding.sure);
  EXPECT_EQ(0u, std::string(finding.next).find("move fewer bytes"));
  EXPECT_FALSE(finding.is_problem);
  // A fifth of the run.
  EXPECT_EQ(20 * kMs, finding.ns);
  const double expected[] = {1e9, 50, 10, 20e6 / 880e3, 40, 88};
  const char *const names[] = {"flop_rate", "mfu",   "wall_mfu",
                               "intensity", "ridge", "reach"};
  ASSERT_EQ(6u, finding.num_values);
  for (size_t i = 0; i < 6; i++) {
    EXPECT_STREQ(names[i], finding.values[i].name);
    EXPECT_NEAR(expected[i], finding.values[i].number, 1e-9 * expected[i]);
  }
}

TEST(FindingsRooflineTest, UnderThePeak) {
  ppi_roofline decode = Decode();
  decode.peak_bytes = 200e6;  // a ridge of 10
  decode.on_device = true;
  ppi_finding finding = Found(decode);
  EXPECT_NE(
      std::string::npos,
      std::string(finding.text)
          .find("Compute-bound: 22.7 FLOP/B is 2.27 times above the ridge "
                "of 10.0; it reaches 50 % of"))
      << finding.text;
  EXPECT_EQ(0u, std::string(finding.next).find("neither arithmetic nor"));
  EXPECT_EQ(0u, std::string(finding.sure).find("2 steady calls on the device"));
  decode.own_s = 0.0125;  // 1.6 GFLOP/s
  finding = Found(decode);
  EXPECT_EQ(0u, std::string(finding.next).find("compute less"));
}

TEST(FindingsRooflineTest, WhatIsNotKnownIsSaid) {
  ppi_roofline decode = Decode();
  decode.peak_bytes = 0;
  decode.at_least = true;
  ppi_finding finding = Found(decode);
  EXPECT_STREQ(
      "decode does at least 1.00 GFLOP/s: MFU 50 % of its own time, 10 % of "
      "the "
      "wall, of 2.00 GFLOP/s in f32.",
      finding.text);
  EXPECT_NE(std::string::npos,
            std::string(finding.next).find("--peak bytes=B"));
  decode.peak_flops = 0;
  decode.model = nullptr;
  finding = Found(decode);
  EXPECT_STREQ(
      "decode does at least 1.00 GFLOP/s of its own time; what its device "
      "could do is not known.",
      finding.text);
  EXPECT_STREQ("state its device's peak: --peak TYPE=FLOPS.", finding.next);
  EXPECT_STREQ("2 steady calls on the host; FLOPs as stated", finding.sure);
}

TEST(FindingsRooflineTest, MoreThanThePeakIsWrong) {
  ppi_roofline decode = Decode();
  decode.own_s = 0.005;  // 4 GFLOP/s
  EXPECT_STREQ(
      "a rate above the peak is wrong: check --peak, the model's sizes, and "
      "whether the model is this stage's.",
      Found(decode).next);
}

TEST(FindingsRooflineTest, NoTimeAndLittleTimeAreNone) {
  ppi_roofline decode = Decode();
  EXPECT_STREQ("", Found(decode, 41).text);
  decode.own_s = 0;
  EXPECT_STREQ("", Found(decode).text);
  decode = Decode();
  decode.flops = 0;
  EXPECT_STREQ("", Found(decode).text);
}

}  // namespace
}  // namespace pprof_test
