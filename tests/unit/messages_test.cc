// SPDX-License-Identifier: Apache-2.0
//
// The Messages view: communication by size, its rates, and that neither the
// order of ranges nor that of merging shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "report/figures/messages.h"
#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

constexpr uint64_t kUs = 1000;

// Work amounts that live as long as the feed that borrows them.
class Amounts {
 public:
  const pprof_work_amount *Bytes(double bytes) {
    amounts_.push_back({sizeof(pprof_work_amount), 0, bytes, 0, 0});
    return &amounts_.back();
  }

 private:
  std::deque<pprof_work_amount> amounts_;
};

// 3 calls of 1 MB: 100, 300 and 200 us, so 3 000 000 B in 600 us, 5 GB/s; one
// of 4 000 B in 20 us, 0.2 GB/s; one that was timed on a device, 8 000 B in
// 2 us, 4 GB/s.
TEST(MessagesTest, WorkedExample) {
  EventFeed feed;
  Amounts amounts;
  feed.Lane(1, 100, "main");
  feed.Device(1, "gpu:0");
  feed.Stream(1, 1);
  feed.AddWindow(0, 1000 * kUs);
  const uint32_t communication = PPROF_CATEGORY_COMMUNICATION;
  feed.Range(1, "ncclAllReduce", communication, 0, 100 * kUs).work =
      amounts.Bytes(1e6);
  feed.Range(1, "ncclAllReduce", communication, 100 * kUs, 400 * kUs).work =
      amounts.Bytes(1e6);
  feed.Range(1, "ncclAllReduce", communication, 400 * kUs, 600 * kUs).work =
      amounts.Bytes(1e6);
  feed.Range(1, "ncclAllReduce", communication, 600 * kUs, 620 * kUs).work =
      amounts.Bytes(4000);
  feed.OnDevice(1, 1, "allToAll", communication, 650 * kUs, 660 * kUs,
                662 * kUs)
      .work = amounts.Bytes(8000);
  // None of these states a message.
  feed.Range(1, "ncclBarrier", communication, 700 * kUs, 710 * kUs);
  feed.Range(1, "zero", communication, 710 * kUs, 720 * kUs).work =
      amounts.Bytes(0);
  feed.Range(1, "decode", PPROF_CATEGORY_PREPROCESS, 720 * kUs, 730 * kUs)
      .work = amounts.Bytes(5000);
  Report report(feed);
  EXPECT_TRUE(report.HasLine(
      "messages",
      "ncclAllReduce 1 4000 / 4000 4000 20.00 / 20.00 / 0.20 - / - / -",
      PPI_TIME_US));
  EXPECT_TRUE(report.HasLine("messages",
                             "ncclAllReduce 3 1000000 / 1000000 3000000"
                             " 600.00 / 200.00 / 5.00 - / - / -",
                             PPI_TIME_US));
  EXPECT_TRUE(report.HasLine(
      "messages", "allToAll 1 8000 / 8000 8000 - / - / - 2.00 / 2.00 / 4.00",
      PPI_TIME_US));
  std::string csv = report.Write(PPI_FORMAT_CSV, "messages");
  EXPECT_EQ(
      "name,calls,message_bytes_min,message_bytes_max,bytes_total,"
      "cpu_total_ns,cpu_avg_ns,cpu_rate_GB/s,device_total_ns,device_avg_ns,"
      "device_rate_GB/s\n"
      "ncclAllReduce,1,4000,4000,4000,20000,20000,0.2,,,\n"
      "ncclAllReduce,3,1000000,1000000,3000000,600000,200000,5.0,,,\n"
      "allToAll,1,8000,8000,8000,,,,2000,2000,4.0\n",
      csv);
}

TEST(MessagesTest, IsShownOnlyWhereThereAreMessages) {
  EventFeed feed;
  feed.Lane(1, 100, "main");
  feed.Range(1, "barrier", PPROF_CATEGORY_COMMUNICATION, 0, 10 * kUs);
  Report without(feed);
  EXPECT_EQ(std::string::npos, without.Table(nullptr).find("Messages Summary"));
  EXPECT_NE(std::string::npos,
            without.Table("messages").find("Messages Summary"));
  EventFeed other;
  Amounts amounts;
  other.Lane(1, 100, "main");
  other.Range(1, "send", PPROF_CATEGORY_COMMUNICATION, 0, 10 * kUs).work =
      amounts.Bytes(1);
  Report with(other);
  EXPECT_NE(std::string::npos, with.Table(nullptr).find("Messages Summary"));
}

TEST(MessagesTest, ProcessesAddUp) {
  Report reports[2];
  Amounts amounts;
  for (Report &report : reports) {
    EventFeed feed;
    feed.Lane(1, 100, "main");
    feed.Range(1, "send", PPROF_CATEGORY_COMMUNICATION, 0, 10 * kUs).work =
        amounts.Bytes(500);
    ASSERT_EQ(PPROF_STATUS_OK, feed.Deliver(report.sink()));
  }
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_report_merge(reports[0].get(), reports[1].get()));
  EXPECT_TRUE(reports[0].HasLine(
      "messages", "send 2 500 / 500 1000 20.00 / 10.00 / 0.05 - / - / -",
      PPI_TIME_US));
}

class SizesTest : public testing::Test {
 protected:
  static pprof_event Event(const pprof_work_amount *work, uint64_t ns) {
    pprof_event event = {};
    event.kind = PPROF_KIND_RANGE;
    event.end_ns = ns;
    event.work = work;
    return event;
  }
  static void Add(ppi_messages *to, double bytes, uint64_t ns) {
    const pprof_work_amount work = {sizeof work, 0, bytes, 0, 0};
    const pprof_event event = Event(&work, ns);
    ASSERT_TRUE(ppi_messages_add(to, &event));
  }
  static std::string Text(const ppi_messages &of) {
    std::string text = of.by_power ? "powers" : "sizes";
    for (size_t i = 0; i < of.num; i++) {
      const ppi_message_row &row = of.rows[i];
      text += " " + std::to_string(row.bytes.n) + "x" +
              std::to_string(row.bytes.min) + ".." +
              std::to_string(row.bytes.max) + "=" +
              std::to_string(row.host.sum);
    }
    return text;
  }
};

TEST_F(SizesTest, SixtyFourSizesAreExactAndOneMoreIsNot) {
  ppi_messages sizes = {};
  for (uint64_t i = 1; i <= 64; i++) Add(&sizes, static_cast<double>(i), i);
  EXPECT_FALSE(sizes.by_power);
  EXPECT_EQ(64u, sizes.num);
  Add(&sizes, 65, 65);
  // Of 1..65: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64-65, and the sums of those.
  EXPECT_EQ(
      "powers 1x1..1=1 2x2..3=5 4x4..7=22 8x8..15=92 16x16..31=376"
      " 32x32..63=1520 2x64..65=129",
      Text(sizes));
  ppi_messages_clear(&sizes);
}

TEST_F(SizesTest, OddAmounts) {
  ppi_messages sizes = {};
  const double nan = __builtin_nan(""), inf = __builtin_inf();
  for (double bytes : {0.0, 0.9, -5.0, nan}) Add(&sizes, bytes, 1);
  EXPECT_EQ(0u, sizes.num);
  Add(&sizes, 1.5, 1);
  Add(&sizes, inf, 1);
  EXPECT_EQ("sizes 1x2..2=1 1x4611686018427387904..4611686018427387904=1",
            Text(sizes));
  ppi_messages_clear(&sizes);
}

// Any split into parts, merged in any order, few or many different sizes.
TEST_F(SizesTest, NoOrderShows) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; round++) {
    std::vector<std::pair<double, uint64_t>> calls(1 + random() % 300);
    const uint64_t different = 1 + random() % 130;
    for (auto &call : calls)
      call = {static_cast<double>(1 + random() % different * 37),
              random() % 1000};
    ppi_messages whole = {};
    for (const auto &call : calls) Add(&whole, call.first, call.second);
    std::shuffle(calls.begin(), calls.end(), random);
    std::vector<ppi_messages> parts(1 + random() % 5);
    for (const auto &call : calls)
      Add(&parts[random() % parts.size()], call.first, call.second);
    while (parts.size() > 1) {
      std::shuffle(parts.begin(), parts.end(), random);
      ASSERT_TRUE(ppi_messages_merge(&parts[0], &parts.back()));
      ppi_messages_clear(&parts.back());
      parts.pop_back();
    }
    ASSERT_EQ(Text(whole), Text(parts[0]));
    ppi_messages_clear(&parts[0]);
    ppi_messages_clear(&whole);
  }
}

}  // namespace
