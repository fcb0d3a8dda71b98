// SPDX-License-Identifier: Apache-2.0
//
// How kernels were launched: as attributes, as an occupancy, and as rows of a
// report. Expected occupancies are worked out by hand from what CUDA's
// programming guide says of a multiprocessor.
#include "event/launch_shape.h"

#include <gtest/gtest.h>

#include <string>

#include "event_feed.h"
#include "kernels/occupancy.h"
#include "report/report.h"

namespace {

using pprof_test::EventFeed;

std::string Put(const ppi_launch_shape &shape) {
  char text[PPI_LAUNCH_SHAPE_TEXT];
  ppi_launch_shape_put(&shape, text);
  return text;
}

TEST(LaunchShapeTest, IsWrittenAsPyTorchsTracesHaveIt) {
  EXPECT_EQ(Put({{132, 2, 1}, {256, 1, 1}, 64, 49152, 0, 0}),
            "{\"grid\":[132,2,1],\"block\":[256,1,1],"
            "\"registers per thread\":64,\"shared memory\":49152}");
  EXPECT_EQ(Put({{1, 1, 1}, {32, 4, 1}, 0, 0, 3750, PPI_LIMIT_SHARED_MEMORY}),
            "{\"grid\":[1,1,1],\"block\":[32,4,1],"
            "\"theoretical occupancy %\":37.50,"
            "\"occupancy limit\":\"shared memory\"}");
}

TEST(LaunchShapeTest, WhatIsNotKnownIsNotWritten) {
  EXPECT_EQ(Put({{1, 1, 1}, {32, 1, 1}, 16, 0, 0, 0}),
            "{\"grid\":[1,1,1],\"block\":[32,1,1],"
            "\"registers per thread\":16,\"shared memory\":0}");
  EXPECT_EQ(Put({{1, 1, 1}, {32, 1, 1}, 0, 64, 0, 0}),
            "{\"grid\":[1,1,1],\"block\":[32,1,1],\"shared memory\":64}");
}

TEST(LaunchShapeTest, LongestHasRoom) {
  const uint32_t most = UINT32_MAX;
  const ppi_launch_shape shape = {
      {most, most, most},     {most, most, most}, most, most, most,
      PPI_LIMIT_SHARED_MEMORY};
  ppi_launch_shape again;
  EXPECT_TRUE(ppi_launch_shape_read(Put(shape).c_str(), &again));
  EXPECT_EQ(ppi_launch_shape_compare(&shape, &again), 0);
}

TEST(LaunchShapeTest, IsReadAmongOtherMembers) {
  ppi_launch_shape shape;
  ASSERT_TRUE(ppi_launch_shape_read(
      " { \"x\" : {\"block\":[9,9,9]}, \"y\":\"\\\"block\\\":[8,8,8],\" ,\n"
      "\"blocks per SM\":1.5,\"grid\": [ 7 , 6 , 5 ],\"block\":[64,2,1],"
      "\"registers per thread\":40, \"theoretical occupancy %\":12.55,"
      "\"occupancy limit\":\"registers\",\"z\":null}",
      &shape));
  const ppi_launch_shape expected = {{7, 6, 5}, {64, 2, 1},         40, 0,
                                     1255,      PPI_LIMIT_REGISTERS};
  EXPECT_EQ(ppi_launch_shape_compare(&shape, &expected), 0) << Put(shape);
}

TEST(LaunchShapeTest, WhatIsNoneHasNoBlock) {
  for (const char *text :
       {"", "{", "[]", "null", "{}", "{\"grid\":[1,2,3]}", "{\"block\":[]}",
        "{\"block\":7}", "{\"block\":[-1,1,1]}", "{\"block", "{\"block\"",
        "{\"block\":", "{\"block\":[1,1", "{\"block\":\"[1,1,1]",
        "{\"a\\\":\"block\":[1,1,1]}", "{\"Block\":[1,1,1]}"}) {
    ppi_launch_shape shape;
    EXPECT_FALSE(ppi_launch_shape_read(text, &shape)) << text;
  }
}

TEST(LaunchShapeTest, NumbersThatAreTooLargeAreTheLargest) {
  ppi_launch_shape shape;
  ASSERT_TRUE(ppi_launch_shape_read(
      "{\"block\":[1,1,99999999999999999999999],\"shared memory\":4294967296}",
      &shape));
  EXPECT_EQ(shape.block[2], UINT32_MAX);
  EXPECT_EQ(shape.shared_bytes, UINT32_MAX);
}

// A100: 2 048 threads, 32 blocks, 65 536 registers and 164 KiB of shared
// memory, of which each block takes 1 KiB for itself.
const ppi_device_limits kA100 = {2048, 32, 65536, 167936, 1024, 8};
// V100: the same threads, blocks and registers, 96 KiB in units of 256 bytes.
const ppi_device_limits kV100 = {2048, 32, 65536, 98304, 0, 7};

struct Occupied {
  ppi_device_limits limits;
  uint32_t block, registers, shared_bytes, permyriad, limit;
};

TEST(OccupancyTest, IsThatOfTheScarcest) {
  const Occupied cases[] = {
      // Eight blocks of eight warps are all 64.
      {kA100, 256, 32, 0, 10000, PPI_LIMIT_WARPS},
      // 2 048 registers a warp: 8 warps in each of four files, 4 blocks.
      {kA100, 256, 64, 0, 5000, PPI_LIMIT_REGISTERS},
      // 168 registers are 5 376 a warp: three in a file. 169 are 5 408, for
      // which 5 632 are taken: two.
      {kA100, 128, 168, 0, 1875, PPI_LIMIT_REGISTERS},
      {kA100, 128, 169, 0, 1250, PPI_LIMIT_REGISTERS},
      // 49 KiB a block: three.
      {kA100, 256, 32, 49152, 3750, PPI_LIMIT_SHARED_MEMORY},
      // 32 blocks of one warp.
      {kA100, 32, 16, 0, 5000, PPI_LIMIT_BLOCKS},
      // A warp that is not full counts as one: 33 threads are two.
      {kA100, 33, 16, 0, 10000, PPI_LIMIT_WARPS},
      // 3 700 bytes are 3 840 or 3 712: 25 or 26 blocks of two warps.
      {kV100, 64, 16, 3700, 7813, PPI_LIMIT_SHARED_MEMORY},
      {{2048, 32, 65536, 98304, 0, 8},
       64,
       16,
       3700,
       8125,
       PPI_LIMIT_SHARED_MEMORY},
      // No block fits: 32 warps of 4 096 registers, where 16 have room.
      {kA100, 1024, 128, 0, 0, PPI_LIMIT_UNKNOWN},
      {kA100, 256, 32, 200000, 0, PPI_LIMIT_UNKNOWN},
      // Nothing is known of the device, or of the block.
      {{0, 0, 0, 0, 0, 0}, 256, 32, 0, 0, PPI_LIMIT_UNKNOWN},
      {kA100, 0, 32, 0, 0, PPI_LIMIT_UNKNOWN},
      {kA100, UINT32_MAX, 32, 0, 0, PPI_LIMIT_UNKNOWN},
  };
  for (const Occupied &its : cases) {
    ppi_launch_shape shape = {
        {1, 1, 1}, {its.block, 1, 1}, its.registers, its.shared_bytes, 0, 0};
    ppi_occupancy(&its.limits, &shape);
    EXPECT_EQ(shape.permyriad, its.permyriad)
        << its.block << " " << its.registers;
    EXPECT_EQ(shape.limit, its.limit) << its.block << " " << its.registers;
  }
}

TEST(OccupancyTest, ABlockHasThreeSides) {
  ppi_launch_shape shape = {{1, 1, 1}, {8, 8, 4}, 64, 0, 0, 0};
  ppi_occupancy(&kA100, &shape);
  EXPECT_EQ(shape.permyriad, 5000u);
  shape = {{1, 1, 1}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}, 64, 0, 0, 0};
  ppi_occupancy(&kA100, &shape);
  EXPECT_EQ(shape.limit, (uint32_t)PPI_LIMIT_UNKNOWN);
}

// ---- the report ----

class Launches {
 public:
  explicit Launches(EventFeed *feed) {
    EXPECT_EQ(PPROF_STATUS_OK, pprof_report_create(&report_));
    EXPECT_EQ(PPROF_STATUS_OK, feed->Deliver(pprof_report_sink(report_)));
  }
  ~Launches() {
    pprof_report_destroy(report_);
  }
  // Name, grid's x, calls, time.
  std::string Text() const {
    const ppi_figures *figures = ppi_report_figures(report_);
    std::string text;
    for (size_t i = 0; i < figures->num_shapes; i++) {
      const ppi_report_shape &row = figures->shapes[i];
      text += row.name + std::string(" ") + std::to_string(row.shape.grid[0]) +
              " " + std::to_string(row.spread.n) + " " +
              std::to_string(row.spread.sum) + "; ";
    }
    return text;
  }

 private:
  pprof_report *report_ = nullptr;
};

// ---- in which ranges it was captured ----

std::string Put(std::string object, const std::vector<const char *> &names,
                size_t size = 256) {
  object.resize(size);
  ppi_captured_put(&object[0], size, names.data(), names.size());
  return object.c_str();
}

std::vector<std::string> Names(const std::string &object) {
  std::vector<std::string> names;
  const char *at = ppi_captured_find(object.c_str());
  char name[64];
  while (at && ppi_captured_next(&at, name, sizeof name)) names.push_back(name);
  return names;
}

using Texts = std::vector<std::string>;

TEST(CapturedNamesTest, AreAMemberOfTheObject) {
  EXPECT_EQ(Put("{}", {"a"}), "{\"captured in\":[\"a\"]}");
  EXPECT_EQ(Put("{\"block\":[1,1,1]}", {"a", "b"}),
            "{\"block\":[1,1,1],\"captured in\":[\"a\",\"b\"]}");
  EXPECT_EQ(Put("{}", {"\"\\\n\x1f"}),
            "{\"captured in\":[\"\\\"\\\\\\u000a\\u001f\"]}");
  EXPECT_EQ(Put("{\"block\":[1,1,1]}", {}), "{\"block\":[1,1,1]}");
}

TEST(CapturedNamesTest, AreReadAsTheyWerePut) {
  const std::vector<const char *> names = {"a", "\"\\\n\x1f]}", "\xe2\x9c\x93",
                                           ""};
  EXPECT_EQ(Names(Put("{\"block\":[1,1,1]}", names)),
            Texts(names.begin(), names.end()));
  ppi_launch_shape shape;
  EXPECT_TRUE(
      ppi_launch_shape_read(Put("{\"block\":[7,1,1]}", names).c_str(), &shape));
  EXPECT_EQ(shape.block[0], 7u);
}

// The object as it was, or as many as it has room for, to the byte.
TEST(CapturedNamesTest, TheOutermostGoWhereThereIsNoRoom) {
  const size_t one = sizeof("{\"captured in\":[\"bb\"]}");
  const size_t two = sizeof("{\"captured in\":[\"a\",\"bb\"]}");
  EXPECT_EQ(Names(Put("{}", {"a", "bb"}, two + 2)), (Texts{"a", "bb"}));
  EXPECT_EQ(Names(Put("{}", {"a", "bb"}, two - 1)), Texts{"bb"});
  EXPECT_EQ(Put("{}", {"a", "bb"}, one - 1), "{}");
}

TEST(CapturedNamesTest, WhatOthersWroteIsReadAsFarAsItMakesSense) {
  for (const char *object :
       {"", "{", "{\"captured in\"", "{\"captured in\":\"a\"}",
        "{\"captured in\":[]}", "{\"captured in\":[1]}", "[\"captured in\"]",
        "{\"captured in\":[\"a}"})
    EXPECT_EQ(Names(object), Texts{}) << object;
  EXPECT_EQ(Names("{\"captured in\": [ \"a\" , \"b\" ] }"), (Texts{"a", "b"}));
  EXPECT_EQ(Names("{\"captured in\":[\"a\",1,\"b\"]}"), Texts{"a"});
  EXPECT_EQ(Names("{\"captured in\":[\"" + std::string(64, 'x') + "\"]}"),
            Texts{});
  EXPECT_EQ(Names("{\"captured in\":[\"\\u12\"]}"), Texts{"u12"});
}

EventFeed Feed() {
  EventFeed feed;
  feed.Lane(1, 7, "main");
  feed.Device(1, "cuda:0");
  feed.Stream(1, 1);
  return feed;
}

void Kernel(EventFeed *feed, const std::string &name, uint32_t attributes,
            uint64_t start, uint64_t length) {
  feed->OnDevice(1, 1, name, PPROF_CATEGORY_KERNEL, start, start,
                 start + length)
      .attributes = attributes;
}

TEST(LaunchRowsTest, AreByNameAndByShape) {
  EventFeed feed = Feed();
  feed.Attributes(3, "{\"grid\":[1,1,1],\"block\":[32,1,1]}");
  feed.Attributes(4, "{\"grid\":[2,1,1],\"block\":[32,1,1]}");
  feed.Attributes(5, "{\"grid\":[1,1,1],\"block\":[32,1,1]}");  // as 3
  feed.Attributes(6, "{\"stack\":\"a\"}");
  Kernel(&feed, "gemm", 3, 1000, 10);
  Kernel(&feed, "gemm", 4, 2000, 20);
  Kernel(&feed, "gemm", 5, 3000, 40);
  Kernel(&feed, "relu", 3, 4000, 80);
  Kernel(&feed, "relu", 6, 5000, 160);
  Kernel(&feed, "relu", 0, 6000, 320);
  Kernel(&feed, "relu", 9, 7000, 640);  // not defined
  EXPECT_EQ(Launches(&feed).Text(), "gemm 1 2 50; gemm 2 1 20; relu 1 1 80; ");
}

TEST(LaunchRowsTest, OtherDeviceRangesAreNone) {
  EventFeed feed = Feed();
  feed.Attributes(1, "{\"grid\":[1,1,1],\"block\":[32,1,1]}");
  feed.OnDevice(1, 1, "copy", PPROF_CATEGORY_MEMCPY, 100, 100, 200).attributes =
      1;
  feed.OnDevice(1, 1, "stage", PPROF_CATEGORY_INFERENCE, 300, 300, 400)
      .attributes = 1;
  EXPECT_EQ(Launches(&feed).Text(), "");
}

// The latest definition counts, for what comes behind it.
TEST(LaunchRowsTest, AttributesMayBeDefinedAgain) {
  pprof_report *report = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_report_create(&report));
  pprof_sink *sink = pprof_report_sink(report);
  pprof_run_info info = {};
  ASSERT_EQ(sink->begin(sink, &info), PPROF_STATUS_OK);
  const char *const texts[] = {"{\"grid\":[1,1,1],\"block\":[32,1,1]}",
                               "{\"grid\":[2,1,1],\"block\":[32,1,1]}",
                               "{\"grid\":[2,1,1],\"block\":[32,1,1]}", "{}"};
  const pprof_definition defined[] = {
      {PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_KERNEL, 0, 0, 0, "Kernel"},
      {PPROF_DEFINITION_SITE, 1, PPROF_CATEGORY_KERNEL, 0, 0, "gemm"},
      {PPROF_DEFINITION_DEVICE, 1, 0, 0, 0, "cuda:0"},
      {PPROF_DEFINITION_STREAM, 1, 1, 0, 1, ""}};
  for (const pprof_definition &definition : defined)
    ASSERT_EQ(sink->define(sink, &definition), PPROF_STATUS_OK);
  pprof_event event = {};
  event.kind = PPROF_KIND_DEVICE_RANGE;
  event.site = event.stream = event.attributes = 1;
  for (uint64_t i = 0; i < 4; i++) {
    const pprof_definition again = {
        PPROF_DEFINITION_ATTRIBUTES, 1, 0, 0, 0, texts[i]};
    ASSERT_EQ(sink->define(sink, &again), PPROF_STATUS_OK);
    event.start_ns = event.end_ns = event.device_start_ns = 100 * (i + 1);
    event.device_end_ns = event.start_ns + (1u << i);
    const pprof_batch batch = {
        sizeof batch, sizeof event, &event, 1, i, i + 1, 0, 0};
    ASSERT_EQ(sink->events(sink, &batch), PPROF_STATUS_OK);
  }
  pprof_totals totals = {};
  ASSERT_EQ(sink->finish(sink, &totals), PPROF_STATUS_OK);
  const ppi_figures *figures = ppi_report_figures(report);
  ASSERT_EQ(figures->num_shapes, 2u);
  EXPECT_EQ(figures->shapes[0].spread.sum, 1u);
  EXPECT_EQ(figures->shapes[1].spread.sum, 2u + 4u);
  pprof_report_destroy(report);
}

// Reports of several processes add up, whatever comes first.
TEST(LaunchRowsTest, OfSeveralRunsAddUp) {
  EventFeed one = Feed(), other = Feed();
  one.Attributes(1, "{\"grid\":[1,1,1],\"block\":[32,1,1]}");
  other.Attributes(8, "{\"grid\":[1,1,1],\"block\":[32,1,1]}");
  other.Attributes(9, "{\"grid\":[0,1,1],\"block\":[32,1,1]}");
  one.Run("a", "1");
  other.Run("b", "2");
  Kernel(&one, "gemm", 1, 100, 10);
  Kernel(&other, "gemm", 8, 100, 20);
  Kernel(&other, "gemm", 9, 200, 40);
  pprof_report *report = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_report_create(&report));
  ASSERT_EQ(one.Deliver(pprof_report_sink(report)), PPROF_STATUS_OK);
  ASSERT_EQ(other.Deliver(pprof_report_sink(report)), PPROF_STATUS_OK);
  const ppi_figures *figures = ppi_report_figures(report);
  ASSERT_EQ(figures->num_shapes, 2u);
  EXPECT_EQ(figures->shapes[0].spread.sum, 40u);
  EXPECT_EQ(figures->shapes[1].spread.sum, 30u);
  pprof_report_destroy(report);
}

}  // namespace
