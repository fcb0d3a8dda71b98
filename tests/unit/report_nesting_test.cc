// SPDX-License-Identifier: Apache-2.0
//
// What ranges have to themselves, on the host and of the device, where
// report_nesting_property_test.cc and tests/oracle do not look.
#include <gtest/gtest.h>

#include <string>

#include "base/mem.h"
#include "report/spans/identity.h"
#include "report/spans/scope.h"
#include "report_text.h"

namespace {

using pprof_test::EventFeed;
using pprof_test::Report;

const ppi_report_name &Name(Report &report, const std::string &name) {
  const ppi_figures *figures = ppi_report_figures(report.get());
  for (size_t i = 0; i < figures->num_names; i++)
    if (figures->names[i].name == name) return figures->names[i];
  static const ppi_report_name none = {};
  ADD_FAILURE() << "no " << name;
  return none;
}

const ppi_report_category &Category(Report &report, const std::string &name) {
  const ppi_figures *figures = ppi_report_figures(report.get());
  for (size_t i = 0; i < figures->num_categories; i++)
    if (figures->categories[i].name == name) return figures->categories[i];
  static const ppi_report_category none = {};
  ADD_FAILURE() << "no " << name;
  return none;
}

class Nesting : public testing::Test {
 protected:
  Nesting() {
    feed.Lane(1, 100, "main");
    feed.Lane(2, 100, "main, another domain");
    feed.Lane(3, 300, "worker");
    feed.Device(1, "gpu:0");
    feed.Stream(1, 1);
    feed.AddWindow(0, 1000);
  }
  pprof_event &Op(const std::string &name, uint64_t from, uint64_t to,
                  uint32_t lane = 1,
                  uint32_t category = PPROF_CATEGORY_OPERATOR) {
    return feed.Range(lane, name, category, from, to);
  }
  pprof_event &Kernel(const std::string &name, uint64_t submit, uint64_t ns,
                      uint32_t lane = 1,
                      uint32_t category = PPROF_CATEGORY_KERNEL) {
    at_ += 100;
    return feed.OnDevice(lane, 1, name, category, submit, at_, at_ + ns);
  }
  EventFeed feed;

 private:
  uint64_t at_ = 0;
};

// More wait than are kept apart; then a range of their depth that begins in
// between.
TEST_F(Nesting, ManySiblingsWait) {
  for (uint64_t i = 0; i < 5000; i++)
    Op("leaf", 10 + 2 * i, 11 + 2 * i).depth = 1;
  Op("outer", 0, 20000);
  Op("other", 20000, 20010).depth = 1;
  Op("outer", 20000, 20100);
  Report report(feed);
  EXPECT_EQ(Name(report, "outer").self_ns, 15000u + 90);
}

// The category has a name where no definition gave it one.
TEST_F(Nesting, AFlagAloneMakesTheRow) {
  Op("send", 10, 20).flags = PPROF_FLAG_COMMUNICATION;
  Report report(feed);
  EXPECT_EQ(Category(report, "Communication").host_ns, 10u);
}

TEST_F(Nesting, ProjectedRangesAreNoWork) {
  Op("op", 0, 100);
  Kernel("k", 10, 50);  // on the device from 100 to 150
  pprof_event &frame =
      feed.OnDevice(1, 1, "frame", PPROF_CATEGORY_USER_DEFINED, 10, 90, 190);
  frame.flags = PPROF_FLAG_PROJECTED;
  Report report(feed);
  const ppi_figures *figures = ppi_report_figures(report.get());
  EXPECT_EQ(figures->devices[0].busy_ns, 50u);
  EXPECT_EQ(figures->devices[0].ranges, 1u);
  EXPECT_EQ(figures->num_queues, 0u);
  EXPECT_EQ(Category(report, "UserDefined").device_ns, 100u);
  EXPECT_EQ(Name(report, "frame").device.sum, 100u);
  EXPECT_EQ(Name(report, "frame").submit.n, 0u);
  EXPECT_EQ(Name(report, "op").inside.sum, 50u);
  EventFeed alone;
  alone.Lane(1, 100, "main");
  alone.Range(1, "op", PPROF_CATEGORY_OPERATOR, 0, 100);
  alone.Add(1000, frame);
  Report without(alone);
  EXPECT_EQ(Name(without, "op").inside.sum, 0u);
  EXPECT_EQ(Name(without, "op").own_device_ns, 0u);
}

// One sum for each border with submissions, its own and the shared ones alike.
TEST(ScopesTest, SharedBordersKeepSumsApart) {
  ppi_scopes scopes = {};
  for (uint64_t time : {5u, 15u, 16u, 25u, 35u, 36u}) {
    ppi_point point = {};
    point.time_ns = time;
    point.value = 1;
    ASSERT_TRUE(ppi_scopes_add(&scopes, &point));
  }
  ppi_borders shared = {};
  for (uint64_t time : {40u, 30u, 10u, 10u})
    ASSERT_TRUE(ppi_borders_add(&shared, time));
  ppi_borders_sort(&shared);
  ASSERT_TRUE(ppi_scopes_border(&scopes, 20));
  EXPECT_EQ(scopes.borders.num, 0u);  // no submissions are settled yet
  ASSERT_TRUE(ppi_scopes_prepare(&scopes, 50));
  ASSERT_TRUE(ppi_scopes_border(&scopes, 20));
  ASSERT_TRUE(ppi_scopes_carry(&scopes, &shared));
  const uint64_t expected[][2] = {{10, 2}, {20, 1}, {30, 2}};
  ASSERT_EQ(scopes.num_carried, 3u);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(scopes.carried[i].time_ns, expected[i][0]);
    EXPECT_EQ(scopes.carried[i].sums.ns[PPI_DEVICE_OTHER], expected[i][1]);
  }
  ppi_free(shared.times_ns);
  ppi_scopes_clear(&scopes);
}

// Steps in too many others are counted as unchecked once, open or ended.
TEST(IdentityTest, ChecksSoManyStepsAtOnce) {
  for (bool is_told_open : {false, true}) {
    ppi_identity identity = {};
    ppi_span window = {0, 2000};
    ppi_windows windows = {&window, 1, 1};
    ppi_union none = {};
    const uint64_t num = PPI_IDENTITY_MAX_OPEN + 10;
    ppi_device_side side = {1, 1500, 0, 0, false, false, false};
    ASSERT_TRUE(ppi_identity_add(&identity, &side));
    for (uint64_t i = 0; is_told_open && i < num; i++)
      ASSERT_TRUE(ppi_identity_step_at(&identity, 0, i, UINT64_MAX));
    const uint64_t settled_ns = is_told_open ? num : 0;
    ASSERT_TRUE(ppi_identity_settle(&identity, &windows, &none, settled_ns));
    for (uint64_t i = 0; i < num; i++)
      ASSERT_TRUE(ppi_identity_step_at(&identity, 0, i, 1500 - i));
    // They have ended where it begins.
    ASSERT_TRUE(ppi_identity_step_at(&identity, 0, 1500, 1600));
    ASSERT_TRUE(ppi_identity_settle(&identity, &windows, &none, UINT64_MAX));
    EXPECT_EQ(identity.steps_unchecked, 10u);
    EXPECT_EQ(identity.steps_failed, 0u);
    EXPECT_EQ(identity.num_steps, 0u);
    EXPECT_EQ(identity.num_open, 0u);
    ppi_identity_clear(&identity);
  }
}

}  // namespace
