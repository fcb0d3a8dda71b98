// SPDX-License-Identifier: Apache-2.0
//
// What the objects of pprof.hpp record, seen from a sink.
#include "pprof/pprof.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "session/choice_session.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_FORWARD);
PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(wander_site, "wander", PPROF_CATEGORY_COMMUNICATION);

class HppTest : public ::testing::Test {
 protected:
  void Start() {
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  }
  void Stop() {
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_FALSE(live.recording.undefined_site);
  }
  const RecordedEvent Only(const std::string &name) {
    std::vector<RecordedEvent> found = live.recording.Named(name);
    EXPECT_EQ(1u, found.size()) << name;
    return found.empty() ? RecordedEvent() : found[0];
  }
  uint32_t CategoryOf(const std::string &name) {
    return live.recording.site_categories[Only(name).event.site];
  }

  LiveSession live;
};

TEST_F(HppTest, ScopesNestAndEndWithTheirBlock) {
  Start();
  {
    pprof::scope outer(outer_site);
    pprof::scope inner("named", pprof::category::inference);
  }
  pprof_pop();
  Stop();
  EXPECT_EQ(0u, Only("outer").event.depth);
  EXPECT_EQ(1u, Only("named").event.depth);
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_INFERENCE, CategoryOf("named"));
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_FORWARD, CategoryOf("outer"));
  EXPECT_EQ(1u, live.recording.Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(HppTest, AnExceptionEndsScopesAndWhatWasLeftOpenInside) {
  Start();
  try {
    pprof::scope outer(outer_site);
    pprof::range wander("wanders with it");
    pprof_push(&inner_site);
    throw std::runtime_error("on its way");
  } catch (const std::runtime_error &) {
    pprof::mark("caught");
  }
  Stop();
  EXPECT_EQ(0u, Only("outer").event.flags);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ABANDONED, Only("inner").event.flags);
  EXPECT_EQ((uint32_t)PPROF_FLAG_ASYNC, Only("wanders with it").event.flags);
  EXPECT_EQ(0u, Only("caught").event.depth);
}

TEST_F(HppTest, NamesOfEveryKindAreCopiedAndMeanTheSame) {
  Start();
  std::string text = "from a string";
  std::string_view view = "a view of more";
  {
    pprof::scope one(text);
    text = "overwritten!!";
    pprof::scope two(view.substr(0, 6));
    pprof::scope three("a view");
    pprof::scope four{std::string_view()};
    pprof::scope five(static_cast<const char *>(nullptr));
  }
  Stop();
  EXPECT_EQ(0u, Only("from a string").event.depth);
  ASSERT_EQ(2u, live.recording.Named("a view").size());
  EXPECT_EQ(3u, Only("(no name)").event.depth);
  EXPECT_EQ(4u, Only("<null>").event.depth);
}

TEST_F(HppTest, LongViewsAreCutBetweenCharacters) {
  const std::string full(511, 'x');
  const std::string cut(510, 'y');
  Start();
  pprof::mark(std::string_view(full + "more"));
  pprof::mark(std::string_view(cut + "\xc3\xa9"));
  pprof::mark(std::string(600, 'z'));
  Stop();
  EXPECT_EQ(1u, live.recording.Named(full).size());
  EXPECT_EQ(1u, live.recording.Named(cut).size());
  EXPECT_EQ(1u, live.recording.Named(std::string(600, 'z')).size());
}

// Given at run time, they are what pprof_push_name's are to a configuration.
TEST_F(HppTest, NamesFoldAndHaveTheCategoryChosenForThem) {
  const char *decodes = "decode *", *shape = "decode step {n}";
  const uint32_t inference = PPROF_CATEGORY_INFERENCE;
  ppi_choice choice = {};
  choice.categorised = &decodes;
  choice.categories = &inference;
  choice.num_categorised = 1;
  choice.fold = PPI_FOLDS_ALL;
  choice.shapes = &shape;
  choice.num_shapes = 1;
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_choice(live.session(), &choice));
  Start();
  for (int i = 0; i < 5; i++)
    pprof::scope here("decode step " + std::to_string(i));
  pprof::mark("decode that has no number");
  Stop();
  const auto &categories = live.recording.site_categories;
  EXPECT_EQ(inference, CategoryOf("decode step 0"));  // the shape's first
  ASSERT_EQ(4u, live.recording.Named("decode step {}").size());
  for (const RecordedEvent &step : live.recording.Named("decode step {}"))
    EXPECT_EQ(inference, categories.at(step.event.site));
  EXPECT_EQ(inference, CategoryOf("decode that has no number"));
}

TEST_F(HppTest, ARangeMovesToTheThreadThatEndsIt) {
  Start();
  pprof::range range(wander_site);
  range.flow(7);
  range.work(pprof::work().items(2).bytes(3));
  EXPECT_TRUE(static_cast<bool>(range));
  std::thread other(
      [](pprof::range moved) {
        moved.work(pprof::work().items(1).flops(4).params(5));
        moved.end();
        moved.end();
        EXPECT_FALSE(static_cast<bool>(moved));
      },
      std::move(range));
  other.join();
  range.end();
  Stop();
  const RecordedEvent event = Only("wander");
  EXPECT_EQ(std::vector<uint64_t>{7}, event.flows);
  EXPECT_EQ(3, event.work.items);
  EXPECT_EQ(3, event.work.bytes);
  EXPECT_EQ(4, event.work.flops);
  EXPECT_EQ(5, event.work.params);
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(HppTest, AssignmentEndsWhatWasHeldAndReleaseDoesNot) {
  Start();
  pprof::range range("first");
  range = pprof::range("second", pprof::category::memcpy);
  pprof::range &itself = range;
  range = std::move(itself);
  EXPECT_TRUE(static_cast<bool>(range));
  pprof::range adopted(range.release());
  EXPECT_FALSE(static_cast<bool>(range));
  EXPECT_NE(0u, adopted.handle().id);
  pprof::range kept(std::move(adopted));
  Stop();
  EXPECT_EQ(0u, Only("first").event.flags & PPROF_FLAG_CLIPPED);
  EXPECT_NE(0u, Only("second").event.flags & PPROF_FLAG_CLIPPED);
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_MEMCPY, CategoryOf("second"));
}

TEST_F(HppTest, CallsSayWhatTheirNamesSay) {
  Start();
  pprof::category mine = pprof::register_category("hpp's own");
  pprof::name_thread(std::string_view("worker seven", 6));
  {
    pprof::scope outer(outer_site);
    pprof::flow(11);
    pprof::work().items(8).add();
    pprof::mark(inner_site);
    pprof::mark("point", mine);
    pprof::count("depth", 2.5);
    pprof::count(wander_site, 3);
  }
  pprof::step();
  pprof::step(5);
  Stop();
  EXPECT_EQ(std::vector<uint64_t>{11}, Only("outer").flows);
  EXPECT_EQ(8, Only("outer").work.items);
  EXPECT_EQ((uint32_t)PPROF_KIND_MARK, Only("inner").event.kind);
  EXPECT_EQ("hpp's own", live.recording.categories[CategoryOf("point")]);
  EXPECT_EQ(2.5, Only("depth").event.value);
  EXPECT_EQ(3, Only("wander").event.value);
  ASSERT_EQ(3u, live.recording.Named("ProfileStep").size());
  EXPECT_EQ(1, live.recording.Named("ProfileStep")[0].work.items);
  EXPECT_EQ(5, live.recording.Named("ProfileStep")[1].work.items);
  EXPECT_NE(UINT32_MAX, live.recording.LaneNamed("worker"));
}

TEST_F(HppTest, WhileNothingRecordsNothingIsHeld) {
  pprof::scope before("before the start");
  pprof::range range("before the start");
  EXPECT_FALSE(static_cast<bool>(range));
  range.flow(1);
  range.work(pprof::work().items(1));
  Start();
  range.end();
  Stop();
  EXPECT_EQ(0u, live.recording.events.size());
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED));
}

TEST_F(HppTest, DeviceRangesHaveTheirHostSideWithoutADevice) {
  int queue = 0;
  int other = 0;
  Start();
  {
    pprof::device_scope one(nullptr, &queue, outer_site);
    one.work(pprof::work().items(4));
    one.flow(5);
    pprof::device_scope two(nullptr, &queue, "by name");
  }
  pprof::device_range range(nullptr, &queue, "held");
  pprof::device_range held;
  held = std::move(range);
  held.flow(9);
  held.end(&other);
  pprof::device_range site_range(nullptr, &queue, inner_site);
  pprof::device_range moved(std::move(site_range));
  moved.work(pprof::work().items(6));
  pprof::device_range adopted(moved.release(), &queue);
  adopted.end();
  Stop();
  EXPECT_EQ(4, Only("outer").work.items);
  EXPECT_EQ(std::vector<uint64_t>{5}, Only("outer").flows);
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_INFERENCE, CategoryOf("by name"));
  EXPECT_EQ((uint32_t)PPROF_KIND_DEVICE_RANGE, Only("held").event.kind);
  EXPECT_EQ(std::vector<uint64_t>{9}, Only("held").flows);
  EXPECT_EQ(6, Only("inner").work.items);
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED));
}

TEST(HppSessionTest, StartsStopsAndCounts) {
  Recording recording;
  pprof::session session;
  ASSERT_EQ(PPROF_STATUS_OK, session.add_sink(RecordingSink::Make(&recording)));
  ASSERT_EQ(PPROF_STATUS_OK, session.start());
  EXPECT_EQ(session.get(), pprof_session_current());
  { pprof::scope scope("inside"); }
  EXPECT_EQ(PPROF_STATUS_OK, session.flush());
  EXPECT_EQ(PPROF_STATUS_OK, session.stop());
  EXPECT_EQ(1u, session.stats().recorded);
  EXPECT_EQ(1u, recording.Named("inside").size());
  EXPECT_STREQ("", session.error());
}

TEST(HppSessionTest, SchedulesAndTellsOfWindows) {
  std::vector<uint32_t> told;
  auto tell = [&](uint32_t window, const pprof_report *report) {
    if (report) told.push_back(window);
  };
  pprof::session session;
  ASSERT_EQ(PPROF_STATUS_OK, session.set_schedule(pprof_schedule_span(1, 2)));
  ASSERT_EQ(PPROF_STATUS_OK, session.on_window(tell));
  ASSERT_EQ(PPROF_STATUS_OK, session.start());
  for (int i = 0; i < 3; i++) {
    pprof::scope scope("inside");
    pprof::step();
  }
  EXPECT_EQ(PPROF_STATUS_OK, session.stop());
  EXPECT_EQ(std::vector<uint32_t>{0}, told);
}

TEST(HppSessionTest, OneThatCouldNotBeMadeSaysWhy) {
  pprof_options options = {};
  pprof::session session(&options);
  EXPECT_EQ(PPROF_STATUS_INVALID, session.start());
  EXPECT_EQ(PPROF_STATUS_INVALID, session.stop());
  EXPECT_EQ(PPROF_STATUS_INVALID, session.flush());
  EXPECT_NE(nullptr, strstr(session.error(), "size"));
  EXPECT_EQ(0u, session.stats().recorded);
}

TEST(HppTypesTest, ScopesStayAndRangesMove) {
  EXPECT_FALSE(std::is_copy_constructible<pprof::scope>::value);
  EXPECT_FALSE(std::is_move_constructible<pprof::scope>::value);
  EXPECT_FALSE(std::is_move_constructible<pprof::device_scope>::value);
  EXPECT_FALSE(std::is_copy_constructible<pprof::range>::value);
  EXPECT_TRUE(std::is_nothrow_move_constructible<pprof::range>::value);
  EXPECT_TRUE(std::is_nothrow_move_assignable<pprof::range>::value);
  EXPECT_TRUE(std::is_nothrow_move_constructible<pprof::device_range>::value);
  EXPECT_TRUE((std::is_nothrow_constructible<pprof::scope, const char *>()));
  EXPECT_TRUE((std::is_nothrow_constructible<pprof::scope, pprof_site &>()));
  EXPECT_FALSE((std::is_convertible<pprof_range, pprof::range>::value));
}

}  // namespace
}  // namespace pprof_test
