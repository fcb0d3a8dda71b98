// SPDX-License-Identifier: Apache-2.0
//
// Names: of sites, dynamic ones, categories, and too many of them.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "pprof/mark.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

TEST(NamesTest, DynamicNameIsItsContentNotItsAddress) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  char name[16] = "one";
  for (const char *text : {"one", "two", "one", "two", "", "two"}) {
    strcpy(name, text);
    pprof_push_name(name, PPROF_CATEGORY_USER_DEFINED);
    pprof_pop();
  }
  // One name in two categories is two sites.
  pprof_push_name(name, PPROF_CATEGORY_FORWARD);
  pprof_pop();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(7u, live.recording.events.size());
  const char *expected[] = {"one",       "two", "one", "two",
                            "(no name)", "two", "two"};
  for (size_t i = 0; i < 7; i++)
    EXPECT_EQ(expected[i], live.recording.events[i].name) << i;
  auto site = [&](size_t i) { return live.recording.events[i].event.site; };
  EXPECT_EQ(site(0), site(2));
  EXPECT_EQ(site(1), site(5));
  EXPECT_NE(site(5), site(6));
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_FORWARD,
            live.recording.site_categories[site(6)]);
}

TEST(NamesTest, NullAndVeryLongNames) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  pprof_site unnamed = {nullptr, PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}};
  pprof_push(&unnamed);
  pprof_pop();
  pprof_push_name(nullptr, PPROF_CATEGORY_USER_DEFINED);
  pprof_pop();
  std::string longest(100000, 'y');
  for (int i = 0; i < 3; i++) {
    pprof_push_name(longest.c_str(), PPROF_CATEGORY_USER_DEFINED);
    pprof_pop();
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(5u, live.recording.events.size());
  EXPECT_EQ("<null>", live.recording.events[0].name);
  EXPECT_EQ(live.recording.events[0].event.site,
            live.recording.events[1].event.site);
  EXPECT_EQ(longest.substr(0, 4096), live.recording.events[2].name);
  EXPECT_EQ(live.recording.events[2].event.site,
            live.recording.events[4].event.site);
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_NAMES_OVERFLOWED));
}

// Where the collector does not come, no name makes room for another.
TEST(NamesTest, BeyondSixtyFiveThousandNamesAreOther) {
  LiveSession live;
  live.options.memory_limit_bytes = 128u << 20;
  live.options.drain_interval_us = kKeptAwayUs;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  for (int i = 0; i < 66000; i++) {
    std::string name = "n" + std::to_string(i);
    pprof_push_name(name.c_str(), PPROF_CATEGORY_USER_DEFINED);
    pprof_pop();
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(66000u, live.recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
  // The session holds 65 536 sites; two are its own: ProfileStep and <other>.
  EXPECT_EQ(65536u, live.recording.sites.size());
  uint64_t other = live.recording.Named("<other>").size();
  EXPECT_EQ(66000u - (65536 - 2), other);
  EXPECT_EQ(other, live.recording.Total(PPI_TOTAL_NAMES_OVERFLOWED));
  EXPECT_EQ(other, live.Stats().names_overflowed);
}

// They take several of the spool's chunks, which none of them crosses.
TEST(NamesTest, NamesOfAllLengthsAreWhole) {
  LiveSession live;
  live.options.memory_limit_bytes = 64u << 20;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::vector<std::string> names;
  for (size_t i = 0; i < 1500; i++)
    names.push_back(std::to_string(i) + std::string(i * 37 % 3000, 'x'));
  for (int again = 0; again < 2; again++)
    for (const std::string &name : names) {
      pprof_push_name(name.c_str(), PPROF_CATEGORY_USER_DEFINED);
      pprof_pop();
    }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  ASSERT_EQ(2 * names.size(), live.recording.events.size());
  for (size_t i = 0; i < 2 * names.size(); i++)
    EXPECT_EQ(names[i % names.size()], live.recording.events[i].name);
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_NAMES_OVERFLOWED));
}

// Records have taken all there is; names have still a chunk.
TEST(NamesTest, NamesHaveRoomWhereRecordsHaveNone) {
  LiveSession live;
  live.options.memory_limit_bytes = 2u << 20;
  live.options.drain_interval_us = kKeptAwayUs;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  PPROF_SITE(site, "fills", 0);
  for (int i = 0; i < 650; i++)
    pprof_thread_name(("name that takes room " + std::to_string(i)).c_str());
  for (int i = 0; i < 100000; i++) pprof_mark(&site);
  for (int i = 0; i < 1000; i++)
    pprof_push_name(("n" + std::to_string(i)).c_str(), 0);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_GT(live.recording.Total(PPI_TOTAL_LOST), 0u);
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_NAMES_OVERFLOWED));
}

TEST(NamesTest, FullAreaOfNamesIsOtherToo) {
  LiveSession live;
  live.options.memory_limit_bytes = 2u << 20;
  live.options.drain_interval_us = kKeptAwayUs;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::string padding(1000, 'z');
  for (int i = 0; i < 500; i++) {
    std::string name = std::to_string(i) + padding;
    pprof_push_name(name.c_str(), PPROF_CATEGORY_USER_DEFINED);
    pprof_pop();
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_FALSE(live.recording.undefined_site);
  EXPECT_EQ(500u, live.recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_GT(live.recording.Named("<other>").size(), 300u);
  EXPECT_EQ(live.recording.Named("<other>").size(),
            live.recording.Total(PPI_TOTAL_NAMES_OVERFLOWED));
}

TEST(NamesTest, CategoriesAreTheSameForTheSameName) {
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_INFERENCE,
            pprof_category_register("Inference"));
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_USER_DEFINED,
            pprof_category_register("UserDefined"));
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_USER_DEFINED,
            pprof_category_register(nullptr));
  char name[] = "Tokenize";
  uint32_t tokenize = pprof_category_register(name);
  EXPECT_GE(tokenize, (uint32_t)PPROF_CATEGORY_FIRST_REGISTERED);
  name[0] = 't';
  uint32_t other = pprof_category_register(name);
  EXPECT_NE(tokenize, other);
  EXPECT_EQ(tokenize, pprof_category_register("Tokenize"));
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  PPROF_SITE(site, "in a category", 0);
  site.category = tokenize;
  pprof_mark(&site);
  uint32_t during = pprof_category_register("Registered while it runs");
  pprof_push_name("later", during);
  pprof_pop();
  pprof_push_name("unknown", 4000000000u);
  pprof_pop();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ("Tokenize", live.recording.categories[tokenize]);
  EXPECT_EQ("Registered while it runs", live.recording.categories[during]);
  EXPECT_EQ(3u, live.recording.events.size());
  uint32_t unknown =
      live.recording
          .site_categories[live.recording.Named("unknown").at(0).event.site];
  EXPECT_EQ("UserDefined", live.recording.categories[unknown]);
}

TEST(NamesTest, CategoriesBeyondTheTableAreUserDefined) {
  uint32_t last = 0;
  for (int i = 0; i < 1100; i++)
    last = pprof_category_register(("category " + std::to_string(i)).c_str());
  EXPECT_EQ((uint32_t)PPROF_CATEGORY_USER_DEFINED, last);
  EXPECT_GE(pprof_category_register("category 0"),
            (uint32_t)PPROF_CATEGORY_FIRST_REGISTERED);
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  uint32_t highest = PPROF_CATEGORY_FIRST_REGISTERED + 1023;
  for (uint32_t category : {highest, highest + 1, highest + 2}) {
    pprof_push_name("at the end", category);
    pprof_pop();
  }
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(3u, live.recording.events.size());
  std::vector<std::string> names;
  for (const auto &event : live.recording.events) {
    uint32_t category = live.recording.site_categories[event.event.site];
    names.push_back(live.recording.categories[category]);
  }
  EXPECT_EQ(0u, names[0].find("category "));
  EXPECT_EQ("UserDefined", names[1]);
  EXPECT_EQ("UserDefined", names[2]);
}

// As when a library with its sites is unloaded and another one comes to lie at
// the same address.
TEST(NamesTest, SiteMemoryMayGoOnceItWasUsed) {
  void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  pprof_site *site = static_cast<pprof_site *>(memory);
  char *name = static_cast<char *>(memory) + 1024;
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  strcpy(name, "first library");
  site->name = name;
  pprof_push(site);
  memset(memory, 0, 4096);
  strcpy(name, "second library");
  site->name = name;
  pprof_push(site);
  pprof_range range = pprof_range_begin(site);
  ASSERT_EQ(0, munmap(memory, 4096));
  pprof_pop();
  pprof_pop();
  pprof_range_end(range);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(1u, live.recording.Named("first library").size());
  EXPECT_EQ(2u, live.recording.Named("second library").size());
}

TEST(NamesTest, ThreadsThatUseOneNewNameShareItsId) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  auto work = [] {
    for (int i = 0; i < 2000; i++) {
      std::string name = "shared " + std::to_string(i);
      pprof_push_name(name.c_str(), PPROF_CATEGORY_USER_DEFINED);
      pprof_pop();
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(4000u, live.recording.events.size());
  EXPECT_EQ(2002u, live.recording.sites.size());
}

}  // namespace
}  // namespace pprof_test
