// SPDX-License-Identifier: Apache-2.0
//
// What a log says that its disk has ended, once more than the stop comes into
// it: a death behind its last words, and segments that stayed.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "log/recover/log_recover.h"
#include "log/write/log_writer.h"
#include "tests/faults/disk_shim.h"
#include "tests/support/log_fixture.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(value_site, "value", PPROF_CATEGORY_USER_DEFINED);

// A sink whose end is the process's.
pprof_sink *EndOfTheProcess() {
  static pprof_sink sink = {};
  sink.size = sizeof sink;
  sink.finish = [](pprof_sink *, const pprof_totals *) -> pprof_status {
    _exit(0);
  };
  return &sink;
}

class DiskLossTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(0, mkdir(spools_.c_str(), 0700));
    void *memory = mmap(nullptr, sizeof *num_made_, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(MAP_FAILED, memory);
    num_made_ = static_cast<size_t *>(memory);
    live_.options.memory_limit_bytes = 4u << 20;
    live_.options.spool_dir = spools_.c_str();
  }
  void TearDown() override {
    TheDisk()->Reset();
    live_.Destroy();
    munmap(num_made_, sizeof *num_made_);
  }

  void Start(const ppi_log_rotation *rotation, pprof_sink *behind_it) {
    ASSERT_NE(nullptr, live_.Create());
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_log_writer_create(path_.c_str(), rotation, &log_, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live_.session(), log_));
    if (behind_it) {
      ASSERT_EQ(PPROF_STATUS_OK,
                pprof_session_add_sink(live_.session(), behind_it));
    }
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  // Values that do not compress.
  void Mark(size_t num) {
    for (size_t i = 0; i < num; i++)
      pprof_count(&value_site,
                  static_cast<double>(++*num_made_ * 0x9e3779b97f4a7c15u));
  }
  void MarkUntilFailure() {
    for (int i = 0; i < 400; i++) {
      Mark(500);
      if (live_.Flush() == PPROF_STATUS_IO) return;
    }
    FAIL() << "the disk took all";
  }

  Recording Read(const std::string &path) {
    Recording read;
    pprof_sink *sink = RecordingSink::Make(&read);
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), sink, &error))
        << error.text;
    sink->destroy(sink);
    return read;
  }
  // In whole segments; with `part`, in the one that is being written, too.
  size_t NumInFiles(bool part) {
    size_t num = 0;
    for (const auto &file : std::filesystem::directory_iterator(runs_)) {
      if (!part && file.path().extension() == ".part") continue;
      Recording read;
      pprof_sink *sink = RecordingSink::Make(&read);
      (void)!pprof_log_read(file.path().c_str(), sink, nullptr);
      sink->destroy(sink);
      num += read.events.size();
    }
    return num;
  }

  pplog::Folder folder_;
  const std::string spools_ = folder_ / "spools", runs_ = folder_ / "runs";
  std::string path_ = folder_ / "x.pplog";
  size_t *num_made_ = nullptr;
  pprof_sink *log_ = nullptr;
  LiveSession live_;
};

// The spool still holds blocks that did not get into the file; what the file
// says of them stands, and none of them counts twice.
TEST_F(DiskLossTest, DeathBehindTheLastWordsChangesNothing) {
  const pid_t pid = fork();
  if (pid == 0) {
    TheDisk()->FailBeyond(131072, ENOSPC, true);
    Start(nullptr, EndOfTheProcess());
    MarkUntilFailure();
    Mark(700);
    live_.Stop();
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  ASSERT_EQ(0, status);
  const Recording before = Read(path_ + ".part");
  ppi_recover_result result = {};
  pprof_error error = {};
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_recover((path_ + ".part").c_str(), nullptr, &result, &error))
      << error.text;
  EXPECT_TRUE(std::filesystem::is_empty(spools_));
  const Recording after = Read(path_);
  EXPECT_GT(after.events.size(), 0u);
  EXPECT_LT(after.events.size(), *num_made_);
  EXPECT_EQ(before.events.size(), after.events.size());
  EXPECT_EQ(before.totals, after.totals);
  EXPECT_EQ(after.events.size(), after.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(*num_made_, after.events.size() + after.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(1u, after.notes.count("disk"));
  EXPECT_EQ(1u, after.num_finished);
}

// Only what was in the file that is gone, and what came after it, is missing.
TEST_F(DiskLossTest, SegmentsStayWhenTheLastOneIsRemoved) {
  ASSERT_EQ(0, mkdir(runs_.c_str(), 0700));
  path_ = runs_ + "/x.pplog";
  const ppi_log_rotation rotation = {48 * 1024, 0, nullptr};
  Start(&rotation, nullptr);
  Mark(30000);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  while (NumInFiles(true) < *num_made_) {
  }
  const size_t num = NumInFiles(false);
  ASSERT_GT(num, 0u);
  ASSERT_LT(num, *num_made_);
  ASSERT_EQ(0, unlink((path_ + ".part").c_str()));
  MarkUntilFailure();
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  EXPECT_EQ(num, NumInFiles(false));
  EXPECT_EQ(path_ + ".part: removed while it was written; " +
                std::to_string(*num_made_ - num) + " records are not in it",
            ppi_log_writer_error(log_));
  EXPECT_EQ(*num_made_, live_.recording.events.size()) << "the other sink";
}

}  // namespace
}  // namespace pprof_test
