// SPDX-License-Identifier: Apache-2.0
//
// Recover, with a spool made of plain arrays in place of
// sdk/src/recover/salvage.c.
#include "log/recover/log_recover.h"

#include <fcntl.h>

#include "tests/unit/recover_case.h"

namespace pplog {
namespace {

// Wherever the kill fell between staging, writing and releasing.
TEST_F(RecoverTest, EveryRecordOnceWhereverItDied) {
  for (size_t staged = 0; staged <= num_live_; staged++)
    for (size_t written = 0; written <= staged; written++)
      for (size_t released : {written, written > 0 ? written - 1 : 0}) {
        Spill(spool_path_, "spool");
        Lay(written, released, staged);
        ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK) << error_.text;
        ASSERT_EQ(result_.path, path_);
        ASSERT_EQ(result_.blocks_copied, written);
        ASSERT_EQ(result_.blocks_staged, staged - written);
        ExpectAll(path_);
        ASSERT_FALSE(Exists(part_));
        ASSERT_FALSE(Exists(spool_path_));
        unlink(path_.c_str());
      }
}

TEST_F(RecoverTest, HalfWrittenBlockComesFromTheRing) {
  Lay(4, 4, 9);
  std::string bytes = Slurp(part_);
  Spill(part_, bytes + blocks_.all[4].substr(0, 70));
  spool_.staging = nullptr;
  Lay(4, 4, 9);
  Spill(part_, bytes + blocks_.all[4].substr(0, 70));
  ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK);
  EXPECT_EQ(result_.bytes_unreadable, 70u);
  ExpectAll(path_);
}

TEST_F(RecoverTest, DamagedBlocksRecordsComeFromTheSpool) {
  Lay(num_live_, num_live_, num_live_);
  std::string bytes = Slurp(part_);
  bytes[bytes.size() - blocks_.all[num_live_ - 1].size() - 5] ^= 1;
  Spill(part_, bytes);
  ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK);
  pprof_status status;
  Lines lines = Read(path_, &status);
  EXPECT_EQ(Pick(lines, "event").size(), 135u);
  EXPECT_EQ(status, PPROF_STATUS_CORRUPT);  // one block's number is missing
}

TEST_F(RecoverTest, PartLeadsToItsSpool) {
  Lay(5, 5, 7);
  ASSERT_EQ(Recover(part_), PPROF_STATUS_OK);
  ExpectAll(path_);
  EXPECT_FALSE(Exists(spool_path_));
}

// Killed before its first block was in the file: an empty file, its header, or
// a part of the block that names the spool.
TEST_F(RecoverTest, PartThatNamesNoSpoolLeadsToIt) {
  for (off_t size : {0, 20, (int)PPI_LOG_FILE_HEADER_SIZE, 100}) {
    SCOPED_TRACE(size);
    Spill(spool_path_, "spool");
    Lay(1, 0, 7);
    ASSERT_EQ(truncate(part_.c_str(), size), 0);
    ASSERT_EQ(Recover(part_), PPROF_STATUS_OK) << error_.text;
    EXPECT_EQ(result_.spool_path, spool_path_);
    EXPECT_EQ(result_.path, path_);
    ExpectAll(path_);
    EXPECT_FALSE(Exists(part_));
    EXPECT_FALSE(Exists(spool_path_));
    unlink(path_.c_str());
  }
}

// Without a spool that is known to be its own it stays as it is, as a log of it
// would hold nothing.
TEST_F(RecoverTest, PartThatNamesNoSpoolTakesNoOther) {
  const std::string other = folder_ / "other.pplog.part";
  for (off_t size : {0, (int)PPI_LOG_FILE_HEADER_SIZE}) {
    SCOPED_TRACE(size);
    auto stays = [&](const std::string &part) {
      EXPECT_EQ(Recover(part), PPROF_STATUS_INVALID) << error_.text;
      EXPECT_NE(std::string(error_.text).find("recover its spool"),
                std::string::npos);
      EXPECT_EQ(Slurp(part).size(), (size_t)size);
      EXPECT_FALSE(Exists(path_));
      EXPECT_TRUE(Exists(spool_path_));
    };
    Lay(0, 0, 7);
    ASSERT_EQ(truncate(part_.c_str(), size), 0);
    Spill(other, Slurp(part_));
    if (size) stays(other);  // its header is a copy
    spool_.alive = true;
    stays(part_);
    spool_.alive = false;
    spool_.own = false;
    stays(part_);
    spool_.own = true;
    if (size == 0) continue;
    spool_.uuid = std::string(32, 'f');
    stays(part_);
  }
}

// As a process leaves it that is killed before its spool has a name: nothing
// can be in it, and the name is free.
TEST_F(RecoverTest, EmptyPartWithoutSpoolIsNothing) {
  const std::string other = folder_ / "other.pplog.part";
  const ppi_recover_options keeps = {nullptr, false, true, false, nullptr};
  for (bool is_there : {false, true}) {
    if (!is_there) unlink(spool_path_.c_str());
    if (is_there) Lay(0, 0, 7);
    if (is_there) Spill(spool_path_, "spool");
    Spill(other, "");
    EXPECT_EQ(Recover(other, &keeps), PPROF_STATUS_OK) << error_.text;
    EXPECT_TRUE(result_.was_nothing);
    EXPECT_TRUE(Exists(other));
    EXPECT_EQ(Recover(other), PPROF_STATUS_OK) << error_.text;
    EXPECT_TRUE(result_.was_nothing);
    EXPECT_FALSE(Exists(other));
    EXPECT_EQ(is_there, Exists(spool_path_));
  }
  // One that is just being made has its lock.
  Spill(other, "");
  const int fd = open(other.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(0, fcntl(fd, F_OFD_SETLK, &lock));
  EXPECT_EQ(Recover(other), PPROF_STATUS_BUSY);
  EXPECT_TRUE(Exists(other));
  close(fd);
}

// A marker costs 20 ns, two make a range, and 135 ranges were recorded.
TEST_F(RecoverTest, MarkersOwnCostIsOfAllRecords) {
  spool_.items.push_back({PPROF_ALL_LANES, PPI_TOTAL_OWN_COST, 20000});
  for (size_t staged : {size_t{0}, num_live_}) {
    Spill(spool_path_, "spool");
    Lay(0, 0, staged);
    ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK) << error_.text;
    EXPECT_EQ(Pick(Read(path_), "total lane=-1 own_cost_total_ns"),
              Lines{"total lane=-1 own_cost_total_ns=5400"});
    unlink(path_.c_str());
  }
}

TEST_F(RecoverTest, PartWithoutSpoolKeepsItsBlocks) {
  Lay(num_live_, num_live_, num_live_);
  unlink(spool_path_.c_str());
  ASSERT_EQ(Recover(part_), PPROF_STATUS_OK);
  Lines lines = Read(path_);
  EXPECT_EQ(Pick(lines, "event").size(), 120u);
  EXPECT_EQ(Pick(lines, "total lane=-1"),
            (Lines{"total lane=-1 recorded=120",
                   "total lane=-1 ended_without_stop=1"}));
  // Open at death: closed at the last known time.
  EXPECT_EQ(Pick(lines, "window index=0 closes"),
            Lines{"window index=0 closes time=3912"});
  EXPECT_FALSE(Exists(part_));
}

TEST_F(RecoverTest, SpoolOfAnotherRunIsNotUsed) {
  Lay(num_live_, num_live_, num_live_);
  spool_.uuid = std::string(32, 'f');
  ASSERT_EQ(Recover(part_), PPROF_STATUS_OK);
  EXPECT_EQ(Pick(Read(path_), "event").size(), 120u);
  EXPECT_TRUE(Exists(spool_path_));
}

TEST_F(RecoverTest, DiedBetweenTotalsAndRename) {
  size_t all = blocks_.all.size();
  Lay(all, all, all);
  ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK);
  Lines lines = Read(path_);
  EXPECT_EQ(Pick(lines, "event").size(), 120u);  // finish said: all there was
  EXPECT_TRUE(Pick(lines, "total").empty());
  EXPECT_FALSE(Exists(part_));
  Spill(spool_path_, "spool");
  Lay(3, 3, all);  // totals are in the ring
  unlink(path_.c_str());
  ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK);
  EXPECT_EQ(Pick(Read(path_), "event").size(), 120u);
}

// What recover leaves when it is killed after each of its steps.
TEST_F(RecoverTest, KilledRecoverIsRunAgain) {
  Lay(5, 5, 7);
  ppi_recover_options keep = {nullptr, false, true, false, nullptr};
  Spill(path_ + ".recovering", "half");
  ASSERT_EQ(Recover(spool_path_, &keep), PPROF_STATUS_OK);
  ExpectAll(path_);
  EXPECT_TRUE(Exists(part_));
  // Renamed, nothing removed.
  ASSERT_EQ(Recover(part_, &keep), PPROF_STATUS_OK);
  EXPECT_TRUE(result_.already_whole);
  ExpectAll(path_);
  // .part gone, spool there.
  std::string bytes = Slurp(part_);
  unlink(part_.c_str());
  ASSERT_EQ(Recover(spool_path_, &keep), PPROF_STATUS_OK);
  ExpectAll(path_);
  // Spool gone, .part there.
  Spill(part_, bytes);
  unlink(spool_path_.c_str());
  ASSERT_EQ(Recover(part_), PPROF_STATUS_OK);
  ExpectAll(path_);
  EXPECT_FALSE(Exists(part_));
}

// The spool is all that is left to remove; read for a look, it is the log.
TEST_F(RecoverTest, DiedAfterRename) {
  size_t all = blocks_.all.size();
  Lay(all, all, all);
  ASSERT_EQ(rename(part_.c_str(), path_.c_str()), 0);
  std::string out = folder_ / "joined.pplog";
  ppi_recover_options options = {out.c_str(), false, true, false, nullptr};
  ASSERT_EQ(Recover(spool_path_, &options), PPROF_STATUS_OK);
  EXPECT_EQ(Read(out), Read(path_));
  ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK);
  EXPECT_TRUE(result_.already_whole);
  EXPECT_FALSE(Exists(spool_path_));
  EXPECT_EQ(Pick(Read(path_), "event").size(), 120u);
}

TEST_F(RecoverTest, NewerRunsLogIsNotOverwritten) {
  pprof_sink *writer = Create(path_);
  ppi_text uuid = {"uuid", "ffffffffffffffffffffffffffffffff"};
  pprof_run_info info = {&uuid, 1, nullptr};
  writer->begin(writer, &info);
  ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  writer->destroy(writer);
  std::string before = Slurp(path_);
  Lay(5, 5, 7);
  ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK);
  EXPECT_EQ(result_.path, folder_ / "x.recovered.pplog");
  ExpectAll(folder_ / "x.recovered.pplog");
  EXPECT_EQ(Slurp(path_), before);
}

TEST_F(RecoverTest, GivenOutput) {
  Lay(5, 5, 7);
  std::string out = folder_ / "out.pplog";
  Spill(out, "something else");
  ppi_recover_options options = {out.c_str(), false, true, false, nullptr};
  EXPECT_EQ(Recover(spool_path_, &options), PPROF_STATUS_IO);
  EXPECT_EQ(std::string(error_.text), out + ": File exists");
  options.overwrite = true;
  ASSERT_EQ(Recover(spool_path_, &options), PPROF_STATUS_OK);
  ExpectAll(out);
}

TEST_F(RecoverTest, SpoolWithoutLog) {
  std::string out = folder_ / "out.pplog";
  ppi_recover_options options = {out.c_str(), false, false, false, nullptr};
  ASSERT_EQ(Recover(spool_path_, &options), PPROF_STATUS_OK);
  ExpectAll(out);
}

TEST_F(RecoverTest, OtherLogsStagedBlocksAreNotTaken) {
  Lay(5, 5, 5);
  std::string other = folder_ / "other.pplog.part";
  Spill(other, Slurp(part_));
  spool_.staging->claimed = 0;
  ASSERT_TRUE(ppi_staging_claim(spool_.staging, other.c_str()));
  ppi_staging_block block = {blocks_.all[7].data(),
                             (uint32_t)blocks_.all[7].size(), 7};
  ppi_staging_put(spool_.staging, &block, 1);
  ASSERT_EQ(Recover(part_), PPROF_STATUS_OK);
  EXPECT_EQ(result_.blocks_staged, 0u);
  ExpectAll(path_);
  EXPECT_TRUE(Exists(spool_path_));  // the other log needs it
}

TEST_F(RecoverTest, LivingProcessIsLeftAlone) {
  Lay(5, 5, 7);
  spool_.alive = true;
  EXPECT_EQ(Recover(spool_path_), PPROF_STATUS_BUSY);
  EXPECT_EQ(Recover(part_), PPROF_STATUS_BUSY);
  EXPECT_FALSE(Exists(path_));
}

TEST_F(RecoverTest, PartBeingWrittenIsLeftAlone) {
  std::string live = folder_ / "live.pplog";
  pprof_sink *writer = Create(live);
  Info info;
  writer->begin(writer, info.get());
  while (Slurp(live + ".part").size() < 65) sched_yield();
  EXPECT_EQ(Recover(live + ".part"), PPROF_STATUS_BUSY);
  ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  writer->destroy(writer);
  EXPECT_EQ(Recover(live), PPROF_STATUS_OK);
  EXPECT_TRUE(result_.already_whole);
}

// Recovering the first of them would lose the others.
TEST_F(RecoverTest, SeveralRunsAreLeftAlone) {
  std::string several = folder_ / "several.pplog";
  pprof_sink *writer = Create(several);
  Info info;
  for (int run = 0; run < 2; run++) {
    ASSERT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
    ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  }
  EXPECT_EQ(Recover(several), PPROF_STATUS_OK);
  EXPECT_TRUE(result_.already_whole);
  ASSERT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
  writer->destroy(writer);
  std::string part = several + ".part", bytes = Slurp(part);
  EXPECT_EQ(Recover(part), PPROF_STATUS_INVALID);
  EXPECT_NE(std::string(error_.text).find("'pprof-report merge'"),
            std::string::npos);
  EXPECT_EQ(Slurp(part), bytes);
}

TEST_F(RecoverTest, NeitherSpoolNorLog) {
  EXPECT_EQ(Recover(folder_ / "none"), PPROF_STATUS_IO);
  Spill(folder_ / "text", "hello");
  EXPECT_EQ(Recover(folder_ / "text"), PPROF_STATUS_INVALID);
}

}  // namespace
}  // namespace pplog
