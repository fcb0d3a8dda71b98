// SPDX-License-Identifier: Apache-2.0
//
// Logs in segments: what each holds alone, what all are together, how many
// there are, and what a limit leaves.
#include "log/write/rotate.h"

#include <fcntl.h>

#include <random>

#include "base/mem.h"
#include "file/part.h"
#include "log/read/log_reader.h"
#include "log/read/log_section.h"
#include "log/write/log_writer.h"
#include "spool/staging.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

constexpr uint64_t kSmall = 16 * 1024;

pprof_sink *CreateRotated(const std::string &path, uint64_t bytes,
                          uint32_t keep, ppi_disk *disk = nullptr) {
  ppi_log_rotation rotation = {bytes, keep, disk};
  pprof_sink *sink = nullptr;
  pprof_error error = {{0}};
  EXPECT_EQ(ppi_log_writer_create(path.c_str(), &rotation, &sink, &error),
            PPROF_STATUS_OK)
      << error.text;
  return sink;
}

// A pseudo-random walk that zlib cannot make small.
std::vector<pprof_event> Noise(uint32_t lane, size_t n, uint64_t from) {
  std::vector<pprof_event> events;
  uint64_t at = from, state = from * 2654435761u + lane + 1;
  for (size_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    at += 10 + (state >> 40);
    events.push_back(Range(lane, 1, 0, at, at + 1 + (state >> 44)));
  }
  return events;
}

class RotateTest : public ::testing::Test {
 protected:
  ~RotateTest() override {
    ppi_disk_destroy(disk_);
  }

  void Begin(uint64_t bytes, uint32_t keep, ppi_staging *staging = nullptr) {
    writer_ = CreateRotated(path_, bytes, keep, disk_);
    Info info({}, staging);
    ASSERT_EQ(writer_->begin(writer_, info.get()), PPROF_STATUS_OK);
    pprof_definition site = Site(1, "decode");
    ASSERT_EQ(writer_->define(writer_, &site), PPROF_STATUS_OK);
    ASSERT_EQ(writer_->window(writer_, 0, true, 5), PPROF_STATUS_OK);
  }

  // 1000 records of lane 3 and of lane 4.
  void Feed(size_t round) {
    for (uint32_t lane : {3u, 4u}) {
      const auto events = Noise(lane, 1000, round * 100000000);
      pprof_batch batch =
          Batch(lane, round * 1000, round * 1000 + 1000, events);
      ASSERT_EQ(writer_->events(writer_, &batch), PPROF_STATUS_OK);
      num_fed_ += events.size();
    }
    pprof_checkpoint checkpoint = {(round + 1) * 100000000 - 1, nullptr, 0};
    ASSERT_EQ(writer_->checkpoint(writer_, &checkpoint), PPROF_STATUS_OK);
  }

  // The totals that a session would tell.
  pprof_status End() {
    EXPECT_EQ(writer_->window(writer_, 0, false, 9000000000), PPROF_STATUS_OK);
    const ppi_total items[] = {{3, PPI_TOTAL_RECORDED, num_fed_ / 2},
                               {3, PPI_TOTAL_LOST, 7},
                               {4, PPI_TOTAL_RECORDED, num_fed_ / 2},
                               {PPROF_ALL_LANES, PPI_TOTAL_RECORDED, num_fed_},
                               {PPROF_ALL_LANES, PPI_TOTAL_LOST, 7},
                               {PPROF_ALL_LANES, PPI_TOTAL_CRASH_SAFE, 1}};
    const ppi_text note = {"clock", "steady"};
    const pprof_totals totals = {items, 6, &note, 1};
    const pprof_status status = writer_->finish(writer_, &totals);
    error_ = ppi_log_writer_error(writer_);
    writer_->destroy(writer_);
    return status;
  }

  std::string Segment(unsigned number) {
    char name[32];
    snprintf(name, sizeof name, "x.%04u.pplog", number);
    return folder_ / name;
  }

  std::vector<std::string> Segments() {
    std::vector<std::string> found;
    for (unsigned i = 1; i < 1000; i++)
      if (Exists(Segment(i))) found.push_back(Segment(i));
    return found;
  }

  Lines ReadAll(const std::vector<std::string> &paths,
                pprof_status expected = PPROF_STATUS_OK) {
    std::vector<const char *> names;
    for (const auto &path : paths) names.push_back(path.c_str());
    Collector collector;
    pprof_error text = {{0}};
    EXPECT_EQ(
        ppi_log_read_all(names.data(), names.size(), collector.sink(), &text),
        expected)
        << text.text;
    error_ = text.text;
    return collector.lines();
  }

  Folder folder_;
  std::string path_ = folder_ / "x.pplog", error_;
  pprof_sink *writer_ = nullptr;
  ppi_disk *disk_ = nullptr;
  uint64_t num_fed_ = 0;
};

TEST_F(RotateTest, SegmentsTogetherAreTheLog) {
  Begin(kSmall, 0);
  for (size_t round = 0; round < 20; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  const auto segments = Segments();
  EXPECT_FALSE(Exists(path_));
  EXPECT_FALSE(Exists(path_ + ".part"));
  EXPECT_FALSE(Exists(path_ + ".part.next"));
  ASSERT_GE(segments.size(), 5u);
  const Lines joined = ReadAll(segments);
  // The same once more in one file.
  path_ = folder_ / "whole.pplog";
  num_fed_ = 0;
  writer_ = Create(path_);
  Info info;
  ASSERT_EQ(writer_->begin(writer_, info.get()), PPROF_STATUS_OK);
  pprof_definition site = Site(1, "decode");
  ASSERT_EQ(writer_->define(writer_, &site), PPROF_STATUS_OK);
  ASSERT_EQ(writer_->window(writer_, 0, true, 5), PPROF_STATUS_OK);
  for (size_t round = 0; round < 20; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  const Lines whole = Read(path_);
  EXPECT_EQ(Pick(whole, "event"), Pick(joined, "event"));
  EXPECT_EQ(Pick(whole, "window"), Pick(joined, "window"));
  EXPECT_EQ(Pick(whole, "checkpoint"), Pick(joined, "checkpoint"));
  EXPECT_EQ(Pick(whole, "total"), Pick(joined, "total"));
  EXPECT_EQ(Pick(whole, "finish"), Pick(joined, "finish"));
  EXPECT_EQ(Pick(whole, "note"), Pick(joined, "note"));
  EXPECT_EQ(Pick(joined, "begin").size(), 1u);
}

TEST_F(RotateTest, EachSegmentStandsAlone) {
  Begin(kSmall, 0);
  for (size_t round = 0; round < 8; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  const auto segments = Segments();
  ASSERT_GE(segments.size(), 3u);
  size_t num_events = 0;
  for (size_t i = 0; i < segments.size(); i++) {
    SCOPED_TRACE(segments[i]);
    const Lines lines = Read(segments[i]);
    const size_t num = Pick(lines, "event").size();
    num_events += num;
    EXPECT_EQ(Pick(lines, "info segment"),
              Lines{"info segment=" + std::to_string(i + 1)});
    EXPECT_EQ(Pick(lines, "info host"), Lines{"info host=box"});
    EXPECT_EQ(Pick(lines, "define").size(), 1u);
    EXPECT_EQ(Pick(lines, "window index=0 opens"),
              Lines{"window index=0 opens time=5"});
    EXPECT_EQ(Pick(lines, "total lane=-1 recorded"),
              Lines{"total lane=-1 recorded=" + std::to_string(num)});
  }
  EXPECT_EQ(num_events, num_fed_);
  // What no event says is told once, at the end.
  EXPECT_TRUE(Pick(Read(segments[0]), "total lane=3 lost").empty());
  EXPECT_EQ(Pick(Read(segments.back()), "total lane=3 lost"),
            Lines{"total lane=3 lost=7"});
  EXPECT_EQ(Pick(Read(segments[1]), "note segments"),
            Lines{"note segments=2, without the 1 before (" +
                  std::to_string(Pick(Read(segments[0]), "event").size()) +
                  " records), without those that follow"});
}

TEST_F(RotateTest, KeepsTheLatest) {
  Begin(kSmall, 3);
  for (size_t round = 0; round < 20; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  const auto segments = Segments();
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_FALSE(Exists(Segment(1)));
  const Lines joined = ReadAll(segments);
  const size_t num = Pick(joined, "event").size();
  EXPECT_LT(num, num_fed_);
  EXPECT_GT(num, 2000u);
  EXPECT_EQ(Pick(joined, "total lane=-1 recorded"),
            Lines{"total lane=-1 recorded=" + std::to_string(num)});
  ASSERT_EQ(Pick(joined, "note segments").size(), 1u);
  EXPECT_NE(Pick(joined, "note segments")[0].find(", without the "),
            std::string::npos);
}

TEST_F(RotateTest, MissingSegmentInBetweenIsDamage) {
  Begin(kSmall, 0);
  for (size_t round = 0; round < 8; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  const Lines joined = ReadAll({Segment(1), Segment(3)}, PPROF_STATUS_CORRUPT);
  EXPECT_EQ(error_, Segment(3) + ": segments missing before it: 1");
  EXPECT_EQ(Pick(joined, "begin").size(), 1u);
  EXPECT_EQ(Pick(joined, "finish").size(), 1u);
}

TEST_F(RotateTest, OtherOrderIsOtherRuns) {
  Begin(kSmall, 0);
  for (size_t round = 0; round < 8; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  EXPECT_EQ(Pick(ReadAll({Segment(2), Segment(1)}), "begin").size(), 2u);
}

// Whatever segment an earlier run has left: its name is used.
TEST_F(RotateTest, NameOfAnEarlierRunsSegmentsIsPassedOver) {
  Spill(folder_ / "x.0077.pplog", "earlier");
  Spill(folder_ / "x.1.pplog", "earlier");
  Spill(folder_ / "x.2.pplog.part", "earlier");
  Begin(kSmall, 0);
  for (size_t round = 0; round < 4; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  EXPECT_TRUE(Exists(folder_ / "x.3.0001.pplog"));
  EXPECT_TRUE(Exists(folder_ / "x.3.0002.pplog"));
  EXPECT_FALSE(Exists(folder_ / "x.3.pplog"));
  for (const char *name : {"x.0077.pplog", "x.1.pplog", "x.2.pplog.part"})
    EXPECT_EQ("earlier", Slurp(folder_ / name));
}

TEST_F(RotateTest, TwoOfOneNameDoNotMeet) {
  Begin(kSmall, 0);
  pprof_sink *first = writer_;
  Begin(kSmall, 0);
  for (size_t round = 0; round < 4; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  EXPECT_TRUE(Exists(folder_ / "x.1.0001.pplog"));
  EXPECT_TRUE(Exists(folder_ / "x.1.0002.pplog"));
  EXPECT_FALSE(Exists(Segment(1)));
  writer_ = first;
  num_fed_ = 0;
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  EXPECT_TRUE(Exists(Segment(1)));
}

TEST_F(RotateTest, SpoolRingTurnsToo) {
  std::vector<uint64_t> memory((sizeof(ppi_staging) + (256 << 10)) / 8);
  ppi_staging *staging = ppi_staging_init(memory.data(), memory.size() * 8);
  Begin(kSmall, 0, staging);
  for (size_t round = 0; round < 8; round++) {
    Feed(round);
    uint64_t kept = 0;
    EXPECT_TRUE(writer_->kept(writer_, 3, &kept));
    EXPECT_LE(kept, (round + 1) * 1000);
  }
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  EXPECT_EQ(Pick(ReadAll(Segments()), "event").size(), num_fed_);
}

// ---- what a segment begins with ----

pprof_definition Definition(pprof_definition_kind kind, uint32_t id,
                            uint32_t parent, const char *name) {
  return {kind, id, parent, 0, 0, name};
}

std::string Defines(const Lines &lines, pprof_definition_kind kind,
                    uint32_t id) {
  const Lines found = Pick(lines, "define kind=" + std::to_string(kind) +
                                      " id=" + std::to_string(id) + " ");
  std::string names;
  for (const auto &line : found) {
    const auto at = line.find("name=") + 5;
    names += (names.empty() ? "" : ",") + line.substr(at);
  }
  return names;
}

TEST_F(RotateTest, SegmentDefinesWhatItUses) {
  Begin(kSmall, 0);
  const pprof_definition told[] = {
      Definition(PPROF_DEFINITION_CATEGORY, 7, 0, "used"),
      Definition(PPROF_DEFINITION_CATEGORY, 8, 0, "idle"),
      Definition(PPROF_DEFINITION_SITE, 2, 7, "early"),
      Definition(PPROF_DEFINITION_SITE, 3, 8, "never"),
      Definition(PPROF_DEFINITION_SITE, 4, 7, "open"),
      Definition(PPROF_DEFINITION_LANE, 3, 0, "worker"),
      Definition(PPROF_DEFINITION_LANE, 9, 0, "guest"),
      Definition(PPROF_DEFINITION_DEVICE, 1, 0, "gpu"),
      Definition(PPROF_DEFINITION_STREAM, 5, 1, "copies"),
      Definition(PPROF_DEFINITION_ATTRIBUTES, 6, 0, "{\"a\":1}")};
  for (const auto &each : told)
    ASSERT_EQ(writer_->define(writer_, &each), PPROF_STATUS_OK);
  // Of the process's table: events of other lanes.
  std::vector<pprof_event> events = {Range(9, 2, 0, 1, 2)};
  events[0].stream = 5;
  events[0].attributes = 6;
  pprof_batch batch = Batch(0, 0, 1, events);
  ASSERT_EQ(writer_->events(writer_, &batch), PPROF_STATUS_OK);
  for (size_t round = 0; round < 8; round++) Feed(round);
  const pprof_event open = Range(9, 4, 0, 800000000, 900000000);
  const pprof_checkpoint checkpoint = {900000000, &open, 1};
  ASSERT_EQ(writer_->checkpoint(writer_, &checkpoint), PPROF_STATUS_OK);
  events = {Range(3, 1, 0, 900000001, 900000002)};
  batch = Batch(3, 8000, 8001, events);
  ASSERT_EQ(writer_->events(writer_, &batch), PPROF_STATUS_OK);
  writer_->finish(writer_, &kNoTotals);
  writer_->destroy(writer_);
  const auto segments = Segments();
  ASSERT_GE(segments.size(), 3u);
  struct {
    pprof_definition_kind kind;
    uint32_t id;
    const char *first, *second, *last;
  } expected[] = {{PPROF_DEFINITION_CATEGORY, 7, "used", "", "used"},
                  {PPROF_DEFINITION_CATEGORY, 8, "", "", ""},
                  {PPROF_DEFINITION_SITE, 1, "decode", "decode", "decode"},
                  {PPROF_DEFINITION_SITE, 2, "early", "", ""},
                  {PPROF_DEFINITION_SITE, 3, "", "", ""},
                  {PPROF_DEFINITION_SITE, 4, "", "", "open"},
                  {PPROF_DEFINITION_LANE, 3, "worker", "worker", "worker"},
                  {PPROF_DEFINITION_LANE, 9, "guest", "", "guest"},
                  {PPROF_DEFINITION_DEVICE, 1, "gpu", "gpu", "gpu"},
                  {PPROF_DEFINITION_STREAM, 5, "copies", "", ""},
                  {PPROF_DEFINITION_ATTRIBUTES, 6, "{\"a\":1}", "", ""}};
  for (const auto &each : expected) {
    SCOPED_TRACE(std::string(each.first) + each.last);
    EXPECT_EQ(each.first, Defines(Read(segments[0]), each.kind, each.id));
    EXPECT_EQ(each.second, Defines(Read(segments[1]), each.kind, each.id));
    EXPECT_EQ(each.last, Defines(Read(segments.back()), each.kind, each.id));
  }
}

// The newest name of an id; one that a segment has already, at once.
TEST_F(RotateTest, NewNameOfAnIdIsInTheSegmentsAfterIt) {
  Begin(kSmall, 0);
  for (size_t round = 0; round < 4; round++) Feed(round);
  const pprof_definition renamed = Site(1, "renamed");
  ASSERT_EQ(writer_->define(writer_, &renamed), PPROF_STATUS_OK);
  for (size_t round = 4; round < 8; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  const auto segments = Segments();
  EXPECT_EQ("decode", Defines(Read(segments[0]), PPROF_DEFINITION_SITE, 1));
  EXPECT_EQ("renamed",
            Defines(Read(segments.back()), PPROF_DEFINITION_SITE, 1));
  EXPECT_EQ("decode,renamed", [&] {
    for (const auto &path : segments) {
      const auto names = Defines(Read(path), PPROF_DEFINITION_SITE, 1);
      if (names.find(',') != std::string::npos) return names;
    }
    return std::string();
  }());
}

// Where lanes stand is told of those that the spool had at the last look.
TEST_F(RotateTest, LanesThatAreGoneAreNotTold) {
  Begin(kSmall, 0);
  uint64_t kept;
  for (uint32_t lane = 10; lane < 500; lane++) {
    const auto events = Noise(lane, 10, lane * 1000000);
    pprof_batch batch = Batch(lane, 0, 10, events);
    ASSERT_EQ(writer_->events(writer_, &batch), PPROF_STATUS_OK);
    // The collector frees the lane with the next look.
    for (uint32_t live : {0u, 3u, lane}) writer_->kept(writer_, live, &kept);
  }
  for (size_t round = 0; round < 8; round++) {
    Feed(round);
    for (uint32_t live : {0u, 3u, 4u}) writer_->kept(writer_, live, &kept);
  }
  writer_->finish(writer_, &kNoTotals);
  writer_->destroy(writer_);
  for (const auto &path : Segments()) {
    size_t num = 0;
    for (const auto &line : Pick(Read(path), "batch "))
      num += line.find(" num=0") != std::string::npos;
    EXPECT_LE(num, 4u) << path;
  }
  EXPECT_EQ(1u, Pick(Read(Segments().back()), "batch lane=3 seq=0..").size());
}

// At least half of a segment is events, however much it has to begin with.
TEST_F(RotateTest, LongBeginningMakesLongSegments) {
  std::mt19937_64 random(1);
  std::string config;
  for (int i = 0; i < 60000; i++)
    config += static_cast<char>('!' + random() % 90);
  writer_ = CreateRotated(path_, kSmall, 0);
  Info info(std::vector<ppi_text>{{"config", config.c_str()}});
  ASSERT_EQ(writer_->begin(writer_, info.get()), PPROF_STATUS_OK);
  for (size_t round = 0; round < 60; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  uint64_t bytes = 0;
  for (const auto &path : Segments()) bytes += Slurp(path).size();
  EXPECT_GE(bytes, Segments().size() * 2 * 40000);
  EXPECT_GT(Segments().size(), 2u);
}

// Nor is one that only says what is open longer than asked for.
TEST_F(RotateTest, CheckpointsFillSegmentsToo) {
  Begin(kSmall, 0);
  std::vector<pprof_event> open;
  for (uint32_t i = 0; i < 300; i++) open.push_back(Noise(3, 1, i * 7919)[0]);
  for (uint64_t i = 1; i < 60; i++) {
    const pprof_checkpoint checkpoint = {i * 1000000000, open.data(),
                                         open.size()};
    ASSERT_EQ(writer_->checkpoint(writer_, &checkpoint), PPROF_STATUS_OK);
  }
  ASSERT_EQ(End(), PPROF_STATUS_OK);
  EXPECT_EQ(59u, Pick(ReadAll(Segments()), "checkpoint").size());
  for (const auto &path : Segments()) EXPECT_LT(Slurp(path).size(), 2 * kSmall);
}

// ---- the disk's limit ----

// Too little for two segments: the log ends, what is told stays.
TEST_F(RotateTest, NewestWholeSegmentStays) {
  constexpr uint64_t kSize = 128 * 1024;
  disk_ = ppi_disk_create(250 * 1024);
  Begin(kSize, 0);
  for (size_t round = 0; round < 60; round++) Feed(round);
  EXPECT_EQ(End(), PPROF_STATUS_IO);
  const auto segments = Segments();
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0], Segment(1));
  const Lines joined = ReadAll(segments);
  const size_t num = Pick(joined, "event").size();
  EXPECT_GT(num, 2000u);
  EXPECT_EQ(Pick(joined, "total lane=-1 lost"),
            Lines{"total lane=-1 lost=" + std::to_string(num_fed_ - num + 7)});
}

TEST_F(RotateTest, RecordsOfRemovedSegmentsAreTold) {
  disk_ = ppi_disk_create(200 * 1024);
  Begin(kSmall, 0);
  for (size_t round = 0; round < 40; round++) Feed(round);
  ASSERT_EQ(End(), PPROF_STATUS_OK) << error_;
  const Lines joined = ReadAll(Segments());
  const size_t num = Pick(joined, "event").size();
  ASSERT_LT(num, num_fed_);
  ASSERT_EQ(1u, Pick(joined, "note segments").size());
  EXPECT_NE(std::string::npos,
            Pick(joined, "note segments")[0].find(
                " before (" + std::to_string(num_fed_ - num) + " records)"));
}

TEST_F(RotateTest, OldestSegmentsGoForNewOnes) {
  constexpr uint64_t kLimit = 200 * 1024;
  disk_ = ppi_disk_create(kLimit);
  Begin(kSmall, 0);
  for (size_t round = 0; round < 40; round++) {
    Feed(round);
    EXPECT_LE(ppi_disk_used(disk_), kLimit);
  }
  ASSERT_EQ(End(), PPROF_STATUS_OK) << error_;
  const auto segments = Segments();
  EXPECT_FALSE(Exists(Segment(1)));
  ASSERT_GE(segments.size(), 2u);
  size_t bytes = 0;
  for (const auto &path : segments) bytes += Slurp(path).size();
  EXPECT_LE(bytes, kLimit);
  const Lines joined = ReadAll(segments);
  EXPECT_EQ(Pick(joined, "total lane=-1 recorded"),
            Lines{"total lane=-1 recorded=" +
                  std::to_string(Pick(joined, "event").size())});
}

TEST_F(RotateTest, LogThatMayNotGrowEndsThereAndSaysSo) {
  disk_ = ppi_disk_create(100 * 1024);
  Begin(0, 0);
  for (size_t round = 0; round < 40; round++) {
    Feed(round);
    uint64_t kept = 0;
    EXPECT_TRUE(writer_->kept(writer_, 3, &kept));
    // Nothing waits for room that does not come.
    if (round > 30) {
      EXPECT_EQ(kept, (round + 1) * 1000);
    }
  }
  EXPECT_EQ(End(), PPROF_STATUS_IO);
  const Lines lines = Read(path_);
  const size_t num = Pick(lines, "event").size();
  EXPECT_GT(num, 1000u);
  EXPECT_LT(num, num_fed_);
  EXPECT_LE(Slurp(path_).size(), 100u * 1024);
  const std::string dropped = std::to_string(num_fed_ - num);
  EXPECT_EQ(error_, path_ + ": the disk limit left no room for " + dropped +
                        " records");
  EXPECT_EQ(Pick(lines, "note disk_limit"),
            Lines{"note disk_limit=left no room for " + dropped + " records"});
  EXPECT_EQ(Pick(lines, "total lane=-1 recorded"),
            Lines{"total lane=-1 recorded=" + std::to_string(num)});
  EXPECT_EQ(Pick(lines, "total lane=-1 lost"),
            Lines{"total lane=-1 lost=" + std::to_string(num_fed_ - num + 7)});
}

TEST_F(RotateTest, NoRoomAtAllIsAnEmptyLog) {
  disk_ = ppi_disk_create(1);
  Begin(0, 0);
  Feed(0);
  EXPECT_EQ(End(), PPROF_STATUS_IO);
  EXPECT_TRUE(Pick(Read(path_), "event").empty());
}

}  // namespace
}  // namespace pplog
