// SPDX-License-Identifier: Apache-2.0
//
// Ids that go from name to name, and the area where their records lie: at every
// moment it holds each name that has an id once, and no other.
#include "names/names_old.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "names/name_hash.h"

namespace pprof_test {
namespace {

std::vector<uint32_t> forgotten;
void Forget(uint32_t id) {
  forgotten.push_back(id);
}

class NamesOldTest : public ::testing::Test {
 protected:
  void SetUp() override {
    forgotten.clear();
    ASSERT_EQ(PPROF_STATUS_OK, ppi_spool_create(&spool_, 4u << 20, "memory"));
    ASSERT_EQ(PPROF_STATUS_OK, ppi_names_create(&spool_, &names_));
  }
  void TearDown() override {
    ppi_names_destroy(names_);
    ppi_spool_destroy(&spool_, false);
  }
  uint32_t Add(const std::string &name, uint32_t category = 0) {
    return ppi_names_site(names_, name.c_str(), category, 0);
  }
  uint32_t Find(const std::string &name, uint32_t category = 0) {
    return ppi_names_find(names_, name.c_str(), name.size(), category,
                          ppi_names_hash(name.c_str(), name.size(), category));
  }
  std::vector<uint32_t> AddMany(const std::string &prefix, int num) {
    std::vector<uint32_t> ids;
    for (int i = 0; i < num; i++)
      ids.push_back(Add(prefix + std::to_string(i)));
    return ids;
  }
  // As recover does.
  std::map<uint32_t, std::string> Walk() {
    std::map<uint32_t, std::string> found;
    const uint64_t end = spool_.header->names_end;
    uint64_t cursor = 0;
    const ppi_definition_record *record;
    while ((record = ppi_names_next(&spool_, end, &cursor))) {
      if (record->kind != PPROF_DEFINITION_SITE) continue;
      EXPECT_EQ(0u, found.count(record->id)) << record->id;
      found[record->id] = record->name;
    }
    EXPECT_EQ(end, cursor);
    return found;
  }
  // The older half of what does not stay leaves each time.
  void GiveBack(size_t num) {
    while (forgotten.size() < num) {
      ppi_names_new_round(names_);
      ppi_names_retire(names_);
      ASSERT_TRUE(ppi_names_give(names_, Forget));
    }
    ASSERT_EQ(num, forgotten.size());
  }
  uint64_t Overflowed() {
    return spool_.header->names_overflowed;
  }

  ppi_spool spool_ = {};
  ppi_names *names_ = nullptr;
};

TEST_F(NamesOldTest, TheOlderHalfLeavesAndTheirIdsComeAgain) {
  const std::vector<uint32_t> ids = AddMany("n", 1000);
  ppi_names_new_round(names_);
  for (int i = 1; i < 1000; i += 2) ppi_names_used(names_, ids[i]);
  const uint32_t before = ppi_names_generation(names_);
  EXPECT_EQ(500u, ppi_names_retire(names_));
  EXPECT_NE(before, ppi_names_generation(names_));
  for (int i = 0; i < 1000; i++) {
    const uint32_t found = Find("n" + std::to_string(i));
    EXPECT_EQ(i % 2 ? ids[i] : 0, found) << i;
    EXPECT_EQ(i % 2 == 0, ppi_names_leaves(names_, ids[i])) << i;
  }
  // Recover has them still.
  EXPECT_EQ(1001u, Walk().size());
  ppi_names_give(names_, Forget);
  EXPECT_EQ(500u, forgotten.size());
  EXPECT_EQ(501u, Walk().size());
  const uint64_t end = spool_.header->names_end;
  std::set<uint32_t> again;
  for (uint32_t id : AddMany("m", 500)) again.insert(id);
  EXPECT_EQ(std::set<uint32_t>(forgotten.begin(), forgotten.end()), again);
  EXPECT_EQ(end, spool_.header->names_end);
  for (const auto &item : Walk())
    EXPECT_EQ(item.second == "<other>" ? 0 : item.first, Find(item.second));
  EXPECT_EQ(0u, Overflowed());
}

// One that comes back while its id is on its way is another site.
TEST_F(NamesOldTest, WhatComesBackHasAnIdOfItsOwn) {
  const uint32_t first = Add("comes back");
  ASSERT_EQ(1u, ppi_names_retire(names_));
  const uint32_t second = Add("comes back");
  EXPECT_NE(first, second);
  EXPECT_EQ(second, Find("comes back"));
  ppi_names_give(names_, Forget);
  EXPECT_EQ(std::vector<uint32_t>{first}, forgotten);
  EXPECT_EQ(second, Find("comes back"));
}

TEST_F(NamesOldTest, WhatIsHeldWaitsAndWhatStaysStays) {
  const uint32_t held = Add("held"), stays = Add("stays");
  const uint32_t late = Add("late"), goes = Add("goes");
  ppi_names_stay(names_, stays);
  for (int i = 0; i < 3; i++) ppi_names_retire(names_);
  EXPECT_FALSE(ppi_names_leaves(names_, stays));
  EXPECT_EQ(stays, Find("stays"));
  // A site found it in the table before it left.
  ppi_names_stay(names_, late);
  ppi_names_hold(names_, held);
  ppi_names_give(names_, Forget);
  EXPECT_EQ(std::vector<uint32_t>{goes}, forgotten);
  ppi_names_retire(names_);
  ppi_names_give(names_, Forget);
  EXPECT_EQ((std::vector<uint32_t>{goes, held}), forgotten);
  EXPECT_STREQ("late", ppi_names_text_of(names_, late));
  EXPECT_FALSE(ppi_names_leaves(names_, PPI_MAX_SITES + 7));
}

TEST_F(NamesOldTest, DefinitionsThatTookAPlaceAreToldInTheirOrder) {
  AddMany("n", 100);
  ppi_names_retire(names_);
  ppi_names_give(names_, Forget);
  EXPECT_EQ(0u, ppi_names_num_again(names_));
  AddMany("m", 30);
  ASSERT_EQ(30u, ppi_names_num_again(names_));
  uint64_t cursor = 0;
  for (int i = 0; i < 30; i++)
    EXPECT_EQ("m" + std::to_string(i), ppi_names_again(names_, &cursor)->name);
}

// Short names fill the area; where they were, there is room for long ones.
TEST_F(NamesOldTest, PlacesSideBySideBecomeOne) {
  for (int i = 0; Overflowed() == 0; i++) Add(std::to_string(i));
  GiveBack(Walk().size() - 1);  // but `<other>`
  const size_t bytes = spool_.header->names_end;
  const size_t size = sizeof(ppi_definition_record) + 4000;
  for (size_t i = 0; i < bytes / size * 9 / 10; i++)
    ASSERT_NE(0u, Add(std::to_string(i) + std::string(3990, 'x')));
  EXPECT_EQ(1u, Overflowed());
}

TEST_F(NamesOldTest, TheAreaDoesNotGrowWhereNamesGetLonger) {
  AddMany("n", 2000);
  GiveBack(2000);
  const uint64_t end = spool_.header->names_end;
  const size_t size = sizeof(ppi_definition_record) + 400;
  for (size_t i = 0; i < end / size * 9 / 10; i++)
    Add(std::to_string(i) + std::string(390, 'x'));
  EXPECT_EQ(end, spool_.header->names_end);
}

// Against a model: names of all lengths come, are used, and go.
TEST_F(NamesOldTest, TheAreaHoldsWhatHasAnId) {
  std::mt19937 random(5);
  std::map<uint32_t, std::string> model;
  uint64_t most = 0, added = 0;
  for (int round = 0; round < 300; round++) {
    ppi_names_new_round(names_);
    for (int i = 0; i < 200; i++, added++) {
      const size_t len = random() % 8 ? random() % 60 : random() % 1200;
      const std::string name = std::to_string(added) + std::string(len, 'x');
      const uint32_t id = Add(name, random() % 3);
      ASSERT_EQ(0u, Overflowed()) << added;
      ASSERT_EQ(0u, model.count(id));
      model[id] = name;
    }
    for (int i = 0; i < 20; i++) ppi_names_used(names_, model.rbegin()->first);
    if (model.size() > 700) {
      ppi_names_retire(names_);
      ppi_names_give(names_, Forget);
      for (uint32_t id : forgotten) model.erase(id);
      forgotten.clear();
    }
    std::map<uint32_t, std::string> found = Walk();
    for (auto it = found.begin(); it != found.end();)
      it = it->second == "<other>" ? found.erase(it) : std::next(it);
    ASSERT_EQ(model, found) << round;
    most = std::max(most, spool_.header->names_end);
  }
  // 60 000 names of 150 bytes are 9 MB.
  EXPECT_GE(spool_.header->names_size, most);
}

}  // namespace
}  // namespace pprof_test
