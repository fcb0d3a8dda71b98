// SPDX-License-Identifier: Apache-2.0
//
// What a limit of the disk takes away and what it leaves, and files under names
// that others have.
#include "file/disk.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>

#include "file/part.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

TEST(Disk, OldestGoesFirstAndOnlyWhatMayGo) {
  Folder folder;
  ppi_disk *disk = ppi_disk_create(100);
  const std::string a = folder / "a", b = folder / "b", c = folder / "c";
  for (const auto &path : {a, b, c}) Spill(path, std::string(30, 'x'));
  EXPECT_TRUE(ppi_disk_add(disk, a.c_str(), 30, false));
  EXPECT_TRUE(ppi_disk_add(disk, b.c_str(), 30, true));
  EXPECT_TRUE(ppi_disk_add(disk, c.c_str(), 30, true));
  EXPECT_TRUE(ppi_disk_room(disk, 10));
  EXPECT_TRUE(Exists(b));
  EXPECT_FALSE(ppi_disk_room(disk, 71));  // a stays, so nothing goes
  EXPECT_TRUE(Exists(b));
  EXPECT_TRUE(ppi_disk_room(disk, 40));
  EXPECT_TRUE(Exists(a));
  EXPECT_FALSE(Exists(b));
  EXPECT_TRUE(Exists(c));
  EXPECT_EQ(ppi_disk_used(disk), 60u);
  // Taking waits with the removal.
  EXPECT_TRUE(ppi_disk_take(disk, a.c_str(), 50));
  EXPECT_TRUE(Exists(c));
  EXPECT_EQ(ppi_disk_used(disk), 80u);
  ppi_disk_sweep(disk);
  EXPECT_FALSE(Exists(c));
  EXPECT_FALSE(ppi_disk_take(disk, a.c_str(), 21));
  ppi_disk_forget(disk, a.c_str());
  EXPECT_EQ(ppi_disk_used(disk), 0u);
  ppi_disk_destroy(disk);
  EXPECT_TRUE(ppi_disk_room(nullptr, 1));
  EXPECT_TRUE(ppi_disk_take(nullptr, "x", 1));
}

// What yields goes first, and gets nothing that would have to be removed for
// it.
TEST(Disk, WhatYieldsGoesBeforeWhatIsDone) {
  Folder folder;
  ppi_disk *disk = ppi_disk_create(100);
  const std::string trace = folder / "t.part", whole = folder / "t";
  const std::string a = folder / "a", b = folder / "b";
  for (const auto &path : {trace, a, b}) Spill(path, "x");
  EXPECT_TRUE(ppi_disk_add_yielding(disk, trace.c_str()));
  EXPECT_TRUE(ppi_disk_add(disk, a.c_str(), 40, true));
  EXPECT_TRUE(ppi_disk_grow(disk, trace.c_str(), 50));
  EXPECT_TRUE(ppi_disk_take(disk, b.c_str(), 30));
  ppi_disk_sweep(disk);
  EXPECT_FALSE(Exists(trace));
  EXPECT_TRUE(Exists(a));
  EXPECT_EQ(ppi_disk_used(disk), 70u);
  EXPECT_FALSE(ppi_disk_grow(disk, trace.c_str(), 1));
  // Another that finds no room is gone at once, and no file for it.
  EXPECT_TRUE(ppi_disk_add_yielding(disk, trace.c_str()));
  EXPECT_TRUE(ppi_disk_grow(disk, trace.c_str(), 20));
  EXPECT_FALSE(ppi_disk_grow(disk, trace.c_str(), 20));
  EXPECT_TRUE(Exists(a));
  EXPECT_EQ(ppi_disk_used(disk), 70u);
  // One that is whole stays.
  EXPECT_TRUE(ppi_disk_add_yielding(disk, trace.c_str()));
  EXPECT_TRUE(ppi_disk_grow(disk, trace.c_str(), 30));
  ppi_disk_settle(disk, trace.c_str(), whole.c_str());
  EXPECT_TRUE(ppi_disk_take(disk, b.c_str(), 20));
  EXPECT_TRUE(ppi_disk_knows(disk, whole.c_str()));
  EXPECT_FALSE(ppi_disk_knows(disk, a.c_str()));
  EXPECT_EQ(ppi_disk_used(disk), 80u);
  ppi_disk_destroy(disk);
}

// Also where nobody knows which run it is of.
TEST(Disk, WhatHasTheNameMeanwhileStays) {
  Folder folder;
  ppi_disk *disk = ppi_disk_create(100);
  const std::string trace = folder / "t.part", table = folder / "table";
  const std::string segment = folder / "x.0001.pplog", other = folder / "other";
  for (const auto &path : {trace, table}) Spill(path, "mine");
  EXPECT_TRUE(ppi_disk_add_yielding(disk, trace.c_str()));
  EXPECT_TRUE(ppi_disk_add(disk, table.c_str(), 40, true));
  EXPECT_TRUE(ppi_disk_take(disk, segment.c_str(), 40));
  EXPECT_TRUE(ppi_disk_add_segment(disk, segment.c_str()));
  for (const auto &path : {trace, table, segment}) {
    Spill(other, "of somebody else");
    ASSERT_EQ(0, rename(other.c_str(), path.c_str()));
  }
  EXPECT_TRUE(ppi_disk_room(disk, 100));
  EXPECT_EQ(ppi_disk_used(disk), 0u);
  for (const auto &path : {trace, table, segment})
    EXPECT_EQ("of somebody else", Slurp(path));
  ppi_disk_destroy(disk);
}

TEST(Part, TwoOfOneNameGetOneFileEach) {
  Folder folder;
  const std::string path = folder / "trace.json.gz";
  ppi_part first, second, third;
  ASSERT_EQ(ppi_part_open(path.c_str(), nullptr, &first, nullptr),
            PPROF_STATUS_OK);
  ASSERT_EQ(ppi_part_open(path.c_str(), nullptr, &second, nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(first.path.text, path);
  EXPECT_EQ(second.path.text, folder / "trace.1.json.gz");
  EXPECT_EQ(ppi_part_commit(&first), 0);
  ppi_part_clear(&first, false);
  EXPECT_TRUE(Exists(path));
  ppi_part_clear(&second, true);
  EXPECT_FALSE(Exists(folder / "trace.1.json.gz.part"));
  // What a run that died left is of no use, or is spared.
  Spill(path + ".part", "left");
  ASSERT_EQ(ppi_part_open(path.c_str(), ppi_part_is_there, &third, nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(third.path.text, folder / "trace.1.json.gz");
  EXPECT_EQ(third.part_path.text, folder / "trace.1.json.gz.part");
  ppi_part_clear(&third, true);
  ASSERT_EQ(ppi_part_open(path.c_str(), nullptr, &first, nullptr),
            PPROF_STATUS_OK);
  EXPECT_EQ(Slurp(path + ".part"), "");
  ppi_part_clear(&first, true);
}

TEST(Path, WhatIsTooLongStaysTooLong) {
  const std::string longest(2 * PATH_MAX, 'x');
  const ppi_path path = ppi_path_beside("/tmp/y", longest.c_str());
  EXPECT_EQ(0u, std::string(path.text).find("/tmp/xxx"));
  EXPECT_EQ(-1, open(path.text, O_RDONLY));
  EXPECT_EQ(ENAMETOOLONG, errno);
}

TEST(Part, NumbersGoBeforeTheEnding) {
  struct {
    const char *path, *wanted;
  } cases[] = {{"runs.d/x", "runs.d/x.1"},
               {"x.pplog", "x.1.pplog"},
               {"a.b/x.tar.gz", "a.b/x.1.tar.gz"},
               {".hidden", ".hidden.1"}};
  for (const auto &each : cases) {
    EXPECT_STREQ(ppi_part_sibling(each.path, 1).text, each.wanted);
  }
}

}  // namespace
}  // namespace pplog
