// SPDX-License-Identifier: Apache-2.0
//
// Limits of cgroups, as made-up trees have them.
#include "base/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace pprof_test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class MemoryLimitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char *base = getenv("TEST_TMPDIR");
    root_ = std::string(base ? base : "/tmp") + "/memory_limit_test.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&root_[0]));
  }
  void TearDown() override {
    std::filesystem::remove_all(root_);
  }

  void Put(const std::string &path, const std::string &text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void PutNumber(const std::string &path, uint64_t number) {
    Put(path, std::to_string(number) + "\n");
  }
  // What /proc says: the cgroups, and lines of mounts.
  void Process(const std::string &cgroup, const std::string &mounts) {
    Put("/proc/self/cgroup", cgroup);
    Put("/proc/self/mountinfo",
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n" + mounts);
  }
  static std::string V2(const std::string &root, const std::string &at) {
    return "30 22 0:26 " + root + " " + at +
           " rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  }
  static std::string V1(const std::string &root, const std::string &at) {
    return "31 22 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
           "32 22 0:28 " +
           root + " " + at + " rw,nosuid - cgroup cgroup rw,memory\n";
  }
  uint64_t Limit() const {
    return ppi_cgroup_limit(root_.c_str());
  }

  std::string root_;
};

TEST_F(MemoryLimitTest, TheLeastOfAllAboveCounts) {
  Process("0::/a/b/c\n", V2("/", "/sys/fs/cgroup"));
  EXPECT_EQ(PPI_NO_LIMIT, Limit());
  PutNumber("/sys/fs/cgroup/a/b/c/memory.max", 512 * kMiB);
  EXPECT_EQ(512 * kMiB, Limit());
  PutNumber("/sys/fs/cgroup/a/memory.max", 96 * kMiB);
  Put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(96 * kMiB, Limit());
  PutNumber("/sys/fs/cgroup/a/b/c/memory.max", 64 * kMiB);
  EXPECT_EQ(64 * kMiB, Limit());
  // Beside it, or below it, is not above it.
  PutNumber("/sys/fs/cgroup/a/x/memory.max", kMiB);
  PutNumber("/sys/fs/cgroup/a/b/c/d/memory.max", kMiB);
  EXPECT_EQ(64 * kMiB, Limit());
}

TEST_F(MemoryLimitTest, FirstVersion) {
  Process("5:cpu:/other\n9:hugetlb,memory:/pod/one\n0::/\n",
          V1("/", "/sys/fs/cgroup/memory"));
  PutNumber("/sys/fs/cgroup/memory/memory.limit_in_bytes",
            9223372036854771712u);
  EXPECT_EQ(PPI_NO_LIMIT, Limit());
  PutNumber("/sys/fs/cgroup/memory/pod/memory.limit_in_bytes", 80 * kMiB);
  PutNumber("/sys/fs/cgroup/memory/pod/one/memory.limit_in_bytes", 90 * kMiB);
  PutNumber("/sys/fs/cgroup/cpu/other/memory.limit_in_bytes", kMiB);
  EXPECT_EQ(80 * kMiB, Limit());
}

// Above what a container sees there may be less: this says so.
TEST_F(MemoryLimitTest, FirstVersionTellsOfWhatIsHidden) {
  Process("9:memory:/docker/1\n", V1("/docker/1", "/sys/fs/cgroup/memory"));
  PutNumber("/sys/fs/cgroup/memory/memory.limit_in_bytes", 900 * kMiB);
  Put("/sys/fs/cgroup/memory/memory.stat",
      "cache 0\nhierarchical_memory_limit 67108864\n"
      "hierarchical_memsw_limit 9223372036854771712\n");
  EXPECT_EQ(64 * kMiB, Limit());
}

TEST_F(MemoryLimitTest, BothVersionsAtOnce) {
  Process("9:memory:/m\n0::/u\n",
          V1("/", "/sys/fs/cgroup/memory") + V2("/", "/sys/fs/cgroup/unified"));
  PutNumber("/sys/fs/cgroup/memory/m/memory.limit_in_bytes", 70 * kMiB);
  EXPECT_EQ(70 * kMiB, Limit());
  PutNumber("/sys/fs/cgroup/unified/u/memory.max", 60 * kMiB);
  EXPECT_EQ(60 * kMiB, Limit());
}

// In a namespace of its own, a bind mount, or seen from below its root.
TEST_F(MemoryLimitTest, WhatHidesTheRoot) {
  PutNumber("/sys/fs/cgroup/memory.max", 40 * kMiB);
  PutNumber("/sys/fs/cgroup/b/memory.max", 30 * kMiB);
  Process("0::/\n", V2("/", "/sys/fs/cgroup"));
  EXPECT_EQ(40 * kMiB, Limit());
  Process("0::/a/b\n", V2("/a", "/sys/fs/cgroup"));
  EXPECT_EQ(30 * kMiB, Limit());
  Process("0::/elsewhere\n", V2("/a", "/sys/fs/cgroup"));
  EXPECT_EQ(40 * kMiB, Limit());
  Process("0::/ab\n", V2("/a", "/sys/fs/cgroup"));
  EXPECT_EQ(40 * kMiB, Limit());
  Process("0::/../../b\n", V2("/..", "/sys/fs/cgroup"));
  EXPECT_EQ(40 * kMiB, Limit());
}

TEST_F(MemoryLimitTest, WhatCannotBeReadIsNoLimit) {
  EXPECT_EQ(PPI_NO_LIMIT, Limit());
  for (const char *cgroup :
       {"", "\n", "0:", "0::", ":::", "x", "0::/a\0b", "9:memory\n"}) {
    Process(cgroup, V2("/", "/sys/fs/cgroup") + "30 22 - cgroup2\n - \n\n");
    EXPECT_EQ(PPI_NO_LIMIT, Limit()) << cgroup;
  }
  Process("0::/a\n", V2("/", "/sys/fs/cgroup"));
  for (const char *text : {"", "\n", "-1\n", "0\n", "12 x\n", "1e9\n", "max",
                           "99999999999999999999999\n", "\xff\xfe"}) {
    Put("/sys/fs/cgroup/a/memory.max", text);
    EXPECT_EQ(PPI_NO_LIMIT, Limit()) << text;
  }
  std::filesystem::remove(root_ + "/sys/fs/cgroup/a/memory.max");
  std::filesystem::create_directory(root_ + "/sys/fs/cgroup/a/memory.max");
  EXPECT_EQ(PPI_NO_LIMIT, Limit());
}

TEST_F(MemoryLimitTest, LinesOfAnyLength) {
  const std::string path = "/" + std::string(3000, 'p');
  Process("0::" + path + "\n", V2("/", "/sys/fs/cgroup"));
  EXPECT_EQ(PPI_NO_LIMIT, Limit());
  PutNumber("/sys/fs/cgroup/a/memory.max", 64 * kMiB);
  Process("0::/a\n", "40 22 0:9 / /o rw - overlay overlay lowerdir=" +
                         std::string(20000, 'l') + "\n" +
                         V2("/", "/sys/fs/cgroup"));
  EXPECT_EQ(64 * kMiB, Limit());
}

}  // namespace
}  // namespace pprof_test
