// SPDX-License-Identifier: Apache-2.0
//
// Recover, with a spool made of plain arrays in place of
// sdk/src/recover/salvage.c (this test defines its functions).
#include "log/recover/log_recover.h"

#include <fcntl.h>

#include <cstdlib>
#include <fstream>
#include <memory>

#include "log/format/log_block.h"
#include "log/read/log_reader.h"
#include "log/write/log_writer.h"
#include "log/write/rotate.h"
#include "recover/salvage.h"
#include "tests/support/log_fixture.h"

struct ppi_salvage {
  std::vector<ppi_text> texts;
  pprof_run_info info;
};

namespace pplog {
namespace {

struct FakeSpool {
  std::string uuid = kUuid;
  std::vector<std::vector<pprof_event>> lanes;  // seq = index
  std::vector<uint64_t> ring;
  ppi_staging *staging = nullptr;
  std::vector<ppi_total> items;
  bool alive = false, own = true;
} * spool;

}  // namespace
}  // namespace pplog

using pplog::spool;

// A spool is a file that says so; what is in it is `spool`.
extern "C" pprof_status ppi_salvage_open(const char *path, ppi_salvage **out,
                                         pprof_error *error) {
  (void)error;
  char start[6] = "";  // others of this machine may be large
  std::ifstream(path).read(start, 5);
  if (strcmp(start, "spool") != 0)
    return pplog::Exists(path) ? PPROF_STATUS_INVALID : PPROF_STATUS_IO;
  if (spool->alive) return PPROF_STATUS_BUSY;
  *out = new ppi_salvage;
  (*out)->texts = {{"uuid", spool->uuid.c_str()}, {"host", "box"}};
  (*out)->info = {(*out)->texts.data(), 2, nullptr};
  return PPROF_STATUS_OK;
}
extern "C" void ppi_salvage_close(ppi_salvage *salvage) {
  delete salvage;
}
extern "C" bool ppi_salvage_claim(const ppi_salvage *) {
  return true;
}
extern "C" bool ppi_salvage_is_own(const ppi_salvage *) {
  return spool->own;
}
extern "C" const pprof_run_info *ppi_salvage_run_info(
    const ppi_salvage *salvage) {
  return &salvage->info;
}
extern "C" const ppi_staging *ppi_salvage_staging(const ppi_salvage *) {
  return spool->staging;
}
extern "C" const ppi_ring *ppi_salvage_ring(const ppi_salvage *) {
  return nullptr;
}
extern "C" pprof_status ppi_salvage_deliver(ppi_salvage *,
                                            uint64_t (*kept)(void *, uint32_t),
                                            void *user, bool windows,
                                            pprof_sink *sink) {
  EXPECT_TRUE(windows);
  pprof_definition site = pplog::Site(1, "decode");
  EXPECT_EQ(sink->define(sink, &site), PPROF_STATUS_OK);
  EXPECT_EQ(sink->window(sink, 0, true, 0), PPROF_STATUS_OK);
  for (uint32_t lane = 0; lane < spool->lanes.size(); lane++) {
    const auto &all = spool->lanes[lane];
    uint64_t first = kept(user, lane);
    if (first >= all.size()) continue;
    std::vector<pprof_event> rest(all.begin() + (long)first, all.end());
    pprof_batch batch = pplog::Batch(lane, first, all.size(), rest);
    pprof_status status = sink->events(sink, &batch);
    if (status != PPROF_STATUS_OK) return status;
  }
  return sink->window(sink, 0, false, 9000);
}
extern "C" const pprof_totals *ppi_salvage_totals(const ppi_salvage *) {
  static pprof_totals totals;
  totals = {spool->items.data(), spool->items.size(), nullptr, 0};
  return &totals;
}
extern "C" uint64_t ppi_salvage_dropped(const ppi_salvage *, uint32_t) {
  return 0;
}
extern "C" uint64_t ppi_salvage_first(const ppi_salvage *, uint32_t) {
  return 0;
}

extern "C" uint64_t ppi_salvage_last_time_ns(const ppi_salvage *) {
  return 9000;
}

namespace pplog {
namespace {

struct Blocks {
  std::vector<std::string> all;

  static pprof_status Put(void *user, const uint8_t *bytes, size_t len) {
    while (len > 0) {
      ppi_log_header header;
      EXPECT_TRUE(ppi_log_header_load(bytes, &header));
      size_t size = ppi_log_block_size(&header);
      static_cast<Blocks *>(user)->all.emplace_back(
          reinterpret_cast<const char *>(bytes), size);
      bytes += size;
      len -= size;
    }
    return PPROF_STATUS_OK;
  }
};

// A run of three lanes: blocks of ten events a lane, then what no block has.
class RecoverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    spool = &spool_;
    // One of the folders where spools are by themselves.
    const std::string spools = spool_path_.substr(0, spool_path_.rfind('/'));
    setenv("XDG_RUNTIME_DIR", spools.c_str(), 1);
    Spill(spool_path_, "spool");
    for (uint32_t lane = 0; lane < 3; lane++) {
      spool_.lanes.emplace_back();
      for (uint64_t i = 0; i < 45; i++)
        spool_.lanes[lane].push_back(
            Range(lane, 1, 0, i * 100, i * 100 + 10 + lane));
    }
    spool_.items = {{1, PPI_TOTAL_LOST, 4},
                    {PPROF_ALL_LANES, PPI_TOTAL_LOST, 4},
                    {PPROF_ALL_LANES, PPI_TOTAL_CLOCK_ERROR_NS, 77}};
    MakeBlocks();
  }

  void TearDown() override {
    unsetenv("XDG_RUNTIME_DIR");
  }

  void MakeBlocks() {
    ppi_log_assembler assembler;
    ASSERT_EQ(ppi_log_assembler_init(&assembler, Blocks::Put, &blocks_, 0, 0),
              PPROF_STATUS_OK);
    Info info(std::vector<ppi_text>{{"spool", spool_path_.c_str()}});
    ppi_log_assembler_info(&assembler, info.get());
    ppi_log_assembler_window(&assembler, 0, true, 0);
    pprof_definition site = Site(1, "decode");
    ppi_log_assembler_define(&assembler, &site);
    for (size_t i = 0; i < 4; i++) {
      for (uint32_t lane = 0; lane < 3; lane++) {
        const auto &all = spool_.lanes[lane];
        std::vector<pprof_event> part(all.begin() + (long)i * 10,
                                      all.begin() + (long)i * 10 + 10);
        pprof_batch batch = Batch(lane, i * 10, i * 10 + 10, part);
        ppi_log_assembler_events(&assembler, &batch);
      }
      pprof_checkpoint checkpoint = {i * 1000 + 910, nullptr, 0};
      ppi_log_assembler_checkpoint(&assembler, &checkpoint);
    }
    num_live_ = blocks_.all.size();
    ppi_log_assembler_window(&assembler, 0, false, 4000);
    ppi_log_assembler_totals(&assembler, &kNoTotals);
    ppi_log_assembler_clear(&assembler);
  }

  // The .part holds [0, written), the ring [released, staged).
  void Lay(size_t written, size_t released, size_t staged) {
    uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
    ppi_log_file_header_store(header, kUuid);
    std::string bytes(reinterpret_cast<char *>(header), sizeof header);
    for (size_t i = 0; i < written; i++) bytes += blocks_.all[i];
    Spill(part_, bytes);
    spool_.ring.assign((sizeof(ppi_staging) + (1 << 20)) / 8, 0);
    spool_.staging =
        ppi_staging_init(spool_.ring.data(), spool_.ring.size() * 8);
    ppi_staging_claim(spool_.staging, part_.c_str());
    for (size_t i = released; i < staged; i++) {
      ppi_staging_block block = {blocks_.all[i].data(),
                                 (uint32_t)blocks_.all[i].size(), i};
      ASSERT_TRUE(ppi_staging_put(spool_.staging, &block, 1));
    }
  }

  pprof_status Recover(const std::string &path,
                       const ppi_recover_options *options = nullptr) {
    error_ = {};
    return ppi_recover(path.c_str(), options, &result_, &error_);
  }

  // All 45 of each lane, once, in order.
  void ExpectAll(const std::string &path) {
    Collector wanted;
    for (uint32_t lane = 0; lane < 3; lane++) {
      pprof_batch batch = Batch(lane, 0, 45, spool_.lanes[lane]);
      wanted.sink()->events(wanted.sink(), &batch);
    }
    Lines read = Read(path);
    for (const char *lane : {"event 0", "event 1", "event 2"})
      ASSERT_EQ(Pick(read, lane), Pick(wanted.lines(), lane));
    ASSERT_EQ(Pick(read, "window index=0 opens").size(), 1u);
    ASSERT_EQ(Pick(read, "window index=0 closes").size(), 1u);
    ASSERT_EQ(Pick(read, "info uuid").size(), 1u);
    ASSERT_EQ(Pick(read, "total"),
              (Lines{"total lane=0 recorded=45", "total lane=1 recorded=45",
                     "total lane=1 lost=4", "total lane=2 recorded=45",
                     "total lane=-1 recorded=135", "total lane=-1 lost=4",
                     "total lane=-1 clock_error_ns=77",
                     "total lane=-1 ended_without_stop=1"}));
  }

  FakeSpool spool_;
  Folder folder_;
  std::string path_ = folder_ / "x.pplog", part_ = path_ + ".part";
  std::string spool_path_ = folder_ / "pprof-12345.0.spool";
  Blocks blocks_;
  size_t num_live_ = 0;
  ppi_recover_result result_;
  pprof_error error_;
};

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
    stays(other);  // its header is a copy
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
  Spill(folder_ / "empty.pplog.part", "");
  EXPECT_EQ(Recover(folder_ / "empty.pplog.part"), PPROF_STATUS_INVALID);
  EXPECT_NE(std::string(error_.text).find("recover its spool"),
            std::string::npos);
  EXPECT_TRUE(Exists(folder_ / "empty.pplog.part"));
}

// The same run as a log of five segments, ten events of each lane in each.
class RotatedRecoverTest : public RecoverTest {
 protected:
  struct Groups {
    std::vector<std::string> all;
    std::vector<size_t> ends;  // where a put ended
  };

  static pprof_status Put(void *user, const uint8_t *bytes, size_t len) {
    auto *groups = static_cast<Groups *>(user);
    Blocks blocks;
    Blocks::Put(&blocks, bytes, len);
    for (const auto &block : blocks.all) groups->all.push_back(block);
    groups->ends.push_back(groups->all.size());
    return PPROF_STATUS_OK;
  }

  void SetUp() override {
    RecoverTest::SetUp();
    ppi_log_assembler assembler;
    ppi_rotate rotate = {};
    ASSERT_EQ(ppi_log_assembler_init(&assembler, Put, &groups_, 0, 0),
              PPROF_STATUS_OK);
    Info info(std::vector<ppi_text>{{"spool", spool_path_.c_str()}});
    ppi_rotate_begin(&rotate, info.get());
    ppi_rotate_info(&rotate, &assembler);
    ppi_rotate_window_edge(&rotate, 0, true, 0);
    ppi_log_assembler_window(&assembler, 0, true, 0);
    pprof_definition site = Site(1, "decode");
    bool now;
    ppi_rotate_define(&rotate, &site, &now);
    for (size_t i = 0; i < 4; i++) {
      starts_.push_back(i == 0 ? 0 : Start());
      AddEvents(&rotate, &assembler, i * 10);
      ppi_log_assembler_flush(&assembler);
      ASSERT_EQ(ppi_rotate_end(&rotate, &assembler), PPROF_STATUS_OK);
      ASSERT_EQ(ppi_rotate_start(&rotate, &assembler), PPROF_STATUS_OK);
      ASSERT_EQ(ppi_rotate_tell(&rotate, &assembler), PPROF_STATUS_OK);
    }
    starts_.push_back(Start());
    ppi_log_assembler_clear(&assembler);
    ppi_rotate_clear(&rotate);
  }

  // The latest block that begins a segment.
  size_t Start() const {
    for (size_t i = groups_.all.size(); i-- > 0;)
      if (groups_.all[i][8] == PPI_LOG_INFO) return i;
    return 0;
  }

  void AddEvents(ppi_rotate *rotate, ppi_log_assembler *assembler,
                 size_t from) {
    for (uint32_t lane = 0; lane < 3; lane++) {
      const auto &all = spool_.lanes[lane];
      std::vector<pprof_event> part(all.begin() + (long)from,
                                    all.begin() + (long)from + 10);
      pprof_batch batch = Batch(lane, from, from + 10, part);
      ppi_rotate_deliver(rotate, &batch);
      ppi_rotate_tell_events(rotate, &batch, assembler);
      ppi_rotate_count(rotate, &batch);
      ppi_log_assembler_events(assembler, &batch);
    }
  }

  std::string Header() const {
    uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
    ppi_log_file_header_store(header, kUuid);
    return std::string(reinterpret_cast<char *>(header), sizeof header);
  }

  std::string Segment(size_t number) const {
    char name[32];
    snprintf(name, sizeof name, "x.%04zu.pplog", number);
    return folder_ / name;
  }

  std::string Bytes(size_t from, size_t to) const {
    std::string bytes = Header();
    for (size_t i = from; i < to; i++) bytes += groups_.all[i];
    return bytes;
  }

  // How far the I/O thread came with the next segment's file.
  enum Turn { kNone, kNext, kNamed, kSwapped, kNumTurns };

  // Files hold [0, written), the ring [released, staged). False: this turn
  // cannot be where the thread is.
  bool LayRotated(size_t written, size_t released, size_t staged, Turn turn) {
    size_t segment = starts_.size();
    while (segment > 1 && starts_[segment - 1] >= written) segment--;
    const bool at_start = segment < starts_.size() &&
                          starts_[segment] == written && staged > written;
    // It turns when all before is released.
    if (turn != kNone && (!at_start || released != written)) return false;
    for (size_t i = 1; i < segment; i++)
      Spill(Segment(i), Bytes(starts_[i - 1], starts_[i]));
    const std::string now = Bytes(starts_[segment - 1], written);
    Spill(part_, turn == kSwapped ? Header() : now);
    if (turn == kNext || turn == kNamed) Spill(part_ + ".next", Header());
    if (turn == kNamed || turn == kSwapped) Spill(Segment(segment), now);
    Stage(released, staged);
    return true;
  }

  void Stage(size_t released, size_t staged) {
    spool_.ring.assign((sizeof(ppi_staging) + (1 << 20)) / 8, 0);
    spool_.staging =
        ppi_staging_init(spool_.ring.data(), spool_.ring.size() * 8);
    ppi_staging_claim(spool_.staging, part_.c_str());
    for (size_t i = released; i < staged; i++) {
      ppi_staging_block block = {groups_.all[i].data(),
                                 (uint32_t)groups_.all[i].size(), i};
      ASSERT_TRUE(ppi_staging_put(spool_.staging, &block, 1));
    }
  }

  // Each segment alone is whole, and all of them together are the run.
  void ExpectTogether() {
    std::vector<std::string> paths;
    for (size_t i = 1; i <= 5; i++)
      if (Exists(Segment(i))) paths.push_back(Segment(i));
    std::vector<const char *> names;
    for (const auto &path : paths) {
      names.push_back(path.c_str());
      Read(path);
    }
    Collector wanted, joined;
    for (uint32_t lane = 0; lane < 3; lane++) {
      pprof_batch batch = Batch(lane, 0, 45, spool_.lanes[lane]);
      wanted.sink()->events(wanted.sink(), &batch);
    }
    pprof_error error = {{0}};
    ASSERT_EQ(
        ppi_log_read_all(names.data(), names.size(), joined.sink(), &error),
        PPROF_STATUS_OK)
        << error.text;
    const Lines read = joined.lines();
    for (const char *lane : {"event 0", "event 1", "event 2"})
      ASSERT_EQ(Pick(read, lane), Pick(wanted.lines(), lane));
    ASSERT_EQ(Pick(read, "window index=0 opens").size(), 1u);
    ASSERT_EQ(Pick(read, "window index=0 closes").size(), 1u);
    ASSERT_EQ(Pick(read, "total"),
              (Lines{"total lane=0 recorded=45", "total lane=1 recorded=45",
                     "total lane=1 lost=4", "total lane=2 recorded=45",
                     "total lane=-1 recorded=135", "total lane=-1 lost=4",
                     "total lane=-1 clock_error_ns=77",
                     "total lane=-1 ended_without_stop=1"}));
  }

  Groups groups_;
  std::vector<size_t> starts_;
};

TEST_F(RotatedRecoverTest, EveryRecordOnceWhereverItDied) {
  size_t num = 0;
  ASSERT_EQ(starts_.size(), 5u);
  for (size_t staged : groups_.ends)
    for (size_t written = 1; written <= staged; written++)
      for (size_t released : {written, written - 1})
        for (int turn = kNone; turn < kNumTurns; turn++) {
          SCOPED_TRACE(std::to_string(written) + " of " +
                       std::to_string(staged) + ", " + std::to_string(turn));
          for (size_t i = 1; i <= 5; i++) unlink(Segment(i).c_str());
          Spill(spool_path_, "spool");
          if (!LayRotated(written, released, staged, (Turn)turn)) continue;
          ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK) << error_.text;
          ExpectTogether();
          if (HasFatalFailure()) return;
          ASSERT_FALSE(Exists(part_));
          ASSERT_FALSE(Exists(part_ + ".next"));
          ASSERT_FALSE(Exists(path_));
          ASSERT_FALSE(Exists(spool_path_));
          num++;
        }
  EXPECT_GT(num, 300u);
}

TEST_F(RotatedRecoverTest, PartWithoutItsFirstBlockLeadsToItsSpool) {
  for (size_t start = 1; start < starts_.size(); start++)
    for (off_t size : {0, (int)PPI_LOG_FILE_HEADER_SIZE}) {
      SCOPED_TRACE(std::to_string(start) + ", " + std::to_string(size));
      for (size_t i = 1; i <= 5; i++) unlink(Segment(i).c_str());
      Spill(spool_path_, "spool");
      ASSERT_TRUE(LayRotated(starts_[start], starts_[start],
                             groups_.ends.back(), kSwapped));
      ASSERT_EQ(truncate(part_.c_str(), size), 0);
      ASSERT_EQ(Recover(part_), PPROF_STATUS_OK) << error_.text;
      ExpectTogether();
      if (HasFatalFailure()) return;
      ASSERT_FALSE(Exists(part_));
      ASSERT_FALSE(Exists(path_));
      ASSERT_FALSE(Exists(spool_path_));
    }
}

// The first recover was killed when it had named some of the segments.
TEST_F(RotatedRecoverTest, KilledRecoverIsRunAgainWhereverItWas) {
  const ppi_recover_options keep = {nullptr, false, true, false, nullptr};
  size_t num = 0;
  for (size_t written = 1; written <= groups_.ends.back(); written++)
    for (int turn = kNone; turn < kNumTurns; turn++)
      for (size_t named = 1; named <= 5; named++) {
        SCOPED_TRACE(std::to_string(written) + ", " + std::to_string(turn) +
                     ", " + std::to_string(named));
        for (size_t i = 1; i <= 5; i++) unlink(Segment(i).c_str());
        Spill(spool_path_, "spool");
        if (!LayRotated(written, written, groups_.ends.back(), (Turn)turn))
          continue;
        size_t before = 1;  // those that the run itself has named
        while (before < 5 && Exists(Segment(before + 1))) before++;
        if (named < before) continue;
        ASSERT_EQ(Recover(spool_path_, &keep), PPROF_STATUS_OK) << error_.text;
        for (size_t i = named + 1; i <= 5; i++) unlink(Segment(i).c_str());
        ASSERT_EQ(Recover(spool_path_), PPROF_STATUS_OK) << error_.text;
        ExpectTogether();
        if (HasFatalFailure()) return;
        ASSERT_FALSE(Exists(part_));
        ASSERT_FALSE(Exists(spool_path_));
        num++;
      }
  EXPECT_GT(num, 100u);
}

// A reader of the spool wants all of it in one file, and nothing else changed.
TEST_F(RotatedRecoverTest, NamedOutputHoldsTheSegments) {
  const std::string output = folder_ / "made.pplog";
  ppi_recover_options keep = {output.c_str(), false, true, false, nullptr};
  ASSERT_TRUE(
      LayRotated(starts_[3] - 2, starts_[3] - 2, groups_.ends.back(), kNone));
  unlink(Segment(1).c_str());
  ASSERT_EQ(Recover(spool_path_, &keep), PPROF_STATUS_OK) << error_.text;
  EXPECT_TRUE(Exists(part_));
  EXPECT_FALSE(Exists(Segment(3)));
  const Lines read = Read(output);
  EXPECT_EQ(Pick(read, "begin").size(), 1u);
  EXPECT_EQ(Pick(read, "event").size(), 3u * 25);
  EXPECT_EQ(Pick(read, "note segments"),
            Lines{"note segments=3 to 5, without the 2 before (60 records)"});
}

TEST_F(RotatedRecoverTest, WithoutItsSpoolTheSegmentStands) {
  ASSERT_TRUE(LayRotated(starts_[2] - 3, 0, 0, kNone));
  unlink(spool_path_.c_str());
  ASSERT_EQ(Recover(part_), PPROF_STATUS_OK) << error_.text;
  EXPECT_EQ(std::string(result_.path), Segment(2));
  EXPECT_FALSE(Exists(part_));
}

}  // namespace
}  // namespace pplog
