// SPDX-License-Identifier: Apache-2.0
//
// Recover of a log in segments, with a spool made of plain arrays in place of
// sdk/src/recover/salvage.c.
#include "log/read/log_reader.h"
#include "log/recover/log_recover.h"
#include "log/write/rotate.h"
#include "tests/unit/recover_case.h"

namespace pplog {
namespace {

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
      ASSERT_EQ(ppi_rotate_notify(&rotate, &assembler), PPROF_STATUS_OK);
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
      ppi_rotate_notify_events(rotate, &batch, assembler);
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
