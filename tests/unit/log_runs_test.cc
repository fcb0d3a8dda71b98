// SPDX-License-Identifier: Apache-2.0
//
// Logs of several runs: written one behind the other, read one after the other,
// and what damage around the second one's beginning costs.
#include "log/format/log_file.h"
#include "log/format/log_format.h"

#include <zlib.h>

#include <algorithm>

#include "base/mem.h"
#include "log/read/log_section.h"
#include "log/write/rotate.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

const char kFirst[] = "11111111111111111111111111111111";
const char kSecond[] = "22222222222222222222222222222222";
const char kThird[] = "33333333333333333333333333333333";

// Two events in a block each; times tell runs apart.
void WriteRun(pprof_sink *writer, const char *uuid, uint64_t start,
              bool finish = true, const char *segment = nullptr) {
  ppi_text texts[] = {{"uuid", uuid},
                      {"time_base_realtime_ns", "1000"},
                      {PPI_SEGMENT_KEY, segment}};
  pprof_run_info info = {texts, segment ? 3u : 2u, nullptr};
  ASSERT_EQ(writer->begin(writer, &info), PPROF_STATUS_OK);
  pprof_definition site = Site(1, uuid);
  ASSERT_EQ(writer->define(writer, &site), PPROF_STATUS_OK);
  for (uint64_t i = 0; i < 2; i++) {
    std::vector<pprof_event> events = {
        Range(1, 1, 0, start + i * 10, start + i * 10 + 5)};
    pprof_batch batch = Batch(1, i, i + 1, events);
    ASSERT_EQ(writer->events(writer, &batch), PPROF_STATUS_OK);
    pprof_checkpoint checkpoint = {start + i * 10 + 5, nullptr, 0};
    ASSERT_EQ(writer->checkpoint(writer, &checkpoint), PPROF_STATUS_OK);
  }
  ppi_total items[] = {{1, PPI_TOTAL_RECORDED, 2},
                       {PPROF_ALL_LANES, PPI_TOTAL_RECORDED, 2}};
  ppi_text note = {"of", uuid};
  pprof_totals totals = {items, 2, &note, 1};
  if (!finish) return;
  ASSERT_EQ(writer->finish(writer, &totals), PPROF_STATUS_OK);
}

std::string WriteOne(const std::string &path, const char *uuid, uint64_t start,
                     bool finish = true, const char *segment = nullptr) {
  pprof_sink *writer = Create(path);
  WriteRun(writer, uuid, start, finish, segment);
  writer->destroy(writer);
  return Slurp(finish ? path : path + ".part");
}

// What the reader says of one such run.
Lines LinesOf(const char *uuid, uint64_t start) {
  auto line = [](const char *what, uint64_t from) {
    return std::string(what) +
           "kind=1 site=1 lane=1 stream=0 depth=0 flags=0 window=0 host=" +
           std::to_string(from) + ".." + std::to_string(from + 5) +
           " device=0..0+-0 value=0000000000000000 flows=[] work=-";
  };
  return {
      std::string("info uuid=") + uuid,
      "info time_base_realtime_ns=1000",
      "begin",
      std::string("define kind=1 id=1 parent=13 color=0 number=0 name=") + uuid,
      "batch lane=1 seq=0..1 num=1",
      line("event 1 ", start),
      "checkpoint time=" + std::to_string(start + 5),
      "batch lane=1 seq=1..2 num=1",
      line("event 1 ", start + 10),
      "checkpoint time=" + std::to_string(start + 15),
      "total lane=1 recorded=2",
      "total lane=-1 recorded=2",
      std::string("note of=") + uuid,
      "finish"};
}

Lines Joined(std::initializer_list<Lines> parts) {
  Lines all;
  for (const Lines &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

class LogRunsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    first_ = WriteOne(folder_ / "1.pplog", kFirst, 100);
    second_ = WriteOne(folder_ / "2.pplog", kSecond, 200);
    third_ = WriteOne(folder_ / "3.pplog", kThird, 300);
  }
  Lines ReadBytes(const std::string &bytes, pprof_status *status = nullptr,
                  std::string *error = nullptr) {
    Spill(path_, bytes);
    return Read(path_, status, error);
  }

  Folder folder_;
  std::string path_ = folder_ / "x.pplog";
  std::string first_, second_, third_;
};

TEST_F(LogRunsTest, OneAfterTheOther) {
  EXPECT_EQ(ReadBytes(first_ + second_ + third_),
            Joined({LinesOf(kFirst, 100), LinesOf(kSecond, 200),
                    LinesOf(kThird, 300)}));
}

TEST_F(LogRunsTest, WriterAppendsARun) {
  pprof_sink *writer = Create(path_);
  WriteRun(writer, kFirst, 100);
  EXPECT_EQ(Slurp(path_), first_);
  WriteRun(writer, kSecond, 200);
  EXPECT_EQ(Slurp(path_), first_ + second_);
  EXPECT_FALSE(Exists(path_ + ".part"));
  WriteRun(writer, kThird, 300, false);
  EXPECT_FALSE(Exists(path_));
  writer->destroy(writer);
  // What was finished before is whole in the unfinished file, too.
  std::string part = Slurp(path_ + ".part");
  EXPECT_EQ(part.substr(0, first_.size() + second_.size()), first_ + second_);
  EXPECT_EQ(Pick(Read(path_ + ".part"), "finish").size(), 3u);
}

// Whether others between them are missing or not.
TEST_F(LogRunsTest, ASegmentCountsOnce) {
  std::string one = WriteOne(folder_ / "a.pplog", kFirst, 100, true, "1");
  std::string two = WriteOne(folder_ / "b.pplog", kFirst, 200, true, "2");
  std::string four = WriteOne(folder_ / "d.pplog", kFirst, 400, true, "4");
  const struct {
    std::string bytes, note;
    size_t num_events, num_runs;
    pprof_status status;
  } cases[] = {
      {one + two + two, "segments=1 to 2, 1 of them twice", 4, 1,
       PPROF_STATUS_OK},
      {one + four + four,
       "segments=1 to 4, 2 between them missing, 1 of them twice", 4, 1,
       PPROF_STATUS_CORRUPT},
      {one + four + one + four,
       "segments=1 to 4, 2 between them missing, 2 of them twice", 4, 1,
       PPROF_STATUS_CORRUPT},
      {one + four + two, "segments=1 to 4, 2 between them missing", 6, 2,
       PPROF_STATUS_CORRUPT},
  };
  for (const auto &each : cases) {
    pprof_status status;
    Lines lines = ReadBytes(each.bytes, &status);
    EXPECT_EQ(status, each.status) << each.note;
    EXPECT_EQ(Pick(lines, "event ").size(), each.num_events) << each.note;
    EXPECT_EQ(Pick(lines, "finish").size(), each.num_runs) << each.note;
    EXPECT_EQ(Pick(lines, "note segments").at(0), "note " + each.note);
  }
}

TEST_F(LogRunsTest, WriterLeavesAnothersPartAlone) {
  pprof_sink *writer = Create(path_);
  WriteRun(writer, kFirst, 100);
  Spill(path_ + ".part", "another's");
  Info info;
  EXPECT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_IO);
  writer->destroy(writer);
  EXPECT_EQ(Slurp(path_ + ".part"), "another's");
  EXPECT_EQ(Slurp(path_), first_);
}

TEST_F(LogRunsTest, SinkOfOneRunEndsTheReading) {
  struct OneRun {
    pprof_sink base;
    int num_begun, num_finished;
  } sink = {};
  sink.base.size = sizeof sink.base;
  sink.base.begin = [](pprof_sink *base, const pprof_run_info *) {
    return reinterpret_cast<OneRun *>(base)->num_begun++ == 0
               ? PPROF_STATUS_OK
               : PPROF_STATUS_BUSY;
  };
  sink.base.finish = [](pprof_sink *base, const pprof_totals *) {
    reinterpret_cast<OneRun *>(base)->num_finished++;
    return PPROF_STATUS_OK;
  };
  Spill(path_, first_ + second_ + third_);
  EXPECT_EQ(pprof_log_read(path_.c_str(), &sink.base, nullptr),
            PPROF_STATUS_BUSY);
  EXPECT_EQ(sink.num_begun, 2);
  EXPECT_EQ(sink.num_finished, 1);
}

// Cut anywhere in the second run: the first is whole, of the second there is
// what stands before the cut.
TEST_F(LogRunsTest, CutSecondRun) {
  for (size_t len = 0; len <= second_.size(); len += len < 70 ? 1 : 7) {
    pprof_status status;
    Lines lines = ReadBytes(first_ + second_.substr(0, len), &status);
    Lines whole = LinesOf(kFirst, 100);
    ASSERT_GE(lines.size(), whole.size());
    ASSERT_TRUE(std::equal(whole.begin(), whole.end(), lines.begin())) << len;
    ASSERT_EQ(Pick(lines, "begin").size(), len < 64 ? 1u : 2u) << len;
    ASSERT_EQ(Pick(lines, "finish").size(), len < 64 ? 1u : 2u) << len;
    if (len <= 64) {
      ASSERT_EQ(status, len % 64 ? PPROF_STATUS_CORRUPT : PPROF_STATUS_OK);
    }
  }
}

// Any bit of three runs: the two that are not hit are as ever, and of the one
// that is, no event comes out wrong.
TEST_F(LogRunsTest, DamageCostsOneRunOnly) {
  const Lines runs[] = {LinesOf(kFirst, 100), LinesOf(kSecond, 200),
                        LinesOf(kThird, 300)};
  const std::string bytes = first_ + second_ + third_;
  const Lines all = Pick(Joined({runs[0], runs[1], runs[2]}), "event");
  size_t step = 1;
  for (size_t at = 0; at < bytes.size(); at += step) {
    bool near_header = at + 100 > first_.size() && at < first_.size() + 150;
    step = near_header ? 1 : 7;
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    size_t hit = at < first_.size()                    ? 0
                 : at < first_.size() + second_.size() ? 1
                                                       : 2;
    pprof_status status;
    Lines lines = ReadBytes(changed, &status);
    ASSERT_EQ(status, PPROF_STATUS_CORRUPT) << at;
    ASSERT_EQ(Pick(lines, "begin").size(), 3u) << at;
    for (size_t i = 0; i < 3; i++) {
      bool whole = std::search(lines.begin(), lines.end(), runs[i].begin(),
                               runs[i].end()) != lines.end();
      ASSERT_TRUE(whole || i == hit) << at << " " << i;
    }
    Lines events = Pick(lines, "event");
    ASSERT_TRUE(
        std::includes(all.begin(), all.end(), events.begin(), events.end()))
        << at;
    ASSERT_GE(events.size(), 5u) << at;
  }
}

// The second run without its header and any number of bytes behind it: its
// blocks, whose numbers the first run has, too, are not taken for the first's.
TEST_F(LogRunsTest, BeginningOfSecondRunIsGone) {
  const Lines first = LinesOf(kFirst, 100), third = LinesOf(kThird, 300);
  for (size_t gone = 1; gone < second_.size(); gone += gone < 70 ? 1 : 3) {
    for (bool zeroes : {false, true}) {
      std::string rest = (zeroes ? std::string(gone, '\0') : std::string()) +
                         second_.substr(gone);
      pprof_status status;
      Lines lines = ReadBytes(first_ + rest + third_, &status);
      ASSERT_TRUE(std::equal(first.begin(), first.end(), lines.begin()))
          << gone;
      ASSERT_TRUE(std::equal(third.rbegin(), third.rend(), lines.rbegin()))
          << gone;
      // Without its header alone it is all there.
      ASSERT_EQ(status,
                !zeroes && gone == 64 ? PPROF_STATUS_OK : PPROF_STATUS_CORRUPT)
          << gone;
    }
  }
}

// Numbers go on where the first run's end: they are of the second all the same.
TEST_F(LogRunsTest, UnfinishedFirstRun) {
  std::string part = WriteOne(folder_ / "4.pplog", kFirst, 100, false);
  Lines lines = ReadBytes(part + second_);
  Lines begins = Pick(lines, "begin");
  EXPECT_EQ(begins.size(), 2u);
  EXPECT_EQ(Pick(lines, "total lane=-1 ended_without_stop=1").size(), 1u);
  Lines second = LinesOf(kSecond, 200);
  EXPECT_TRUE(std::equal(second.rbegin(), second.rend(), lines.rbegin()));
}

// What a run lacks is not taken from the one before it.
TEST_F(LogRunsTest, RunsWithoutInfoAndTotals) {
  std::string part = WriteOne(folder_ / "4.pplog", kFirst, 100, false);
  std::string other = WriteOne(folder_ / "5.pplog", kSecond, 200, false);
  other[64 + PPI_LOG_HEADER_SIZE] ^= 1;  // the payload of its run info
  pprof_status status;
  Lines lines = ReadBytes(part + other, &status);
  EXPECT_EQ(status, PPROF_STATUS_CORRUPT);
  EXPECT_EQ(Pick(lines, "info"), (Lines{std::string("info uuid=") + kFirst,
                                        "info time_base_realtime_ns=1000",
                                        std::string("info uuid=") + kSecond}));
  EXPECT_EQ(Pick(lines, "total lane=1 "),
            (Lines{"total lane=1 recorded=2", "total lane=1 recorded=2"}));
  std::string bare = second_.substr(0, 64);
  EXPECT_EQ(Pick(ReadBytes(first_ + bare), "total"),
            (Lines{"total lane=1 recorded=2", "total lane=-1 recorded=2",
                   "total lane=-1 ended_without_stop=1"}));
}

// Both magics, in a payload that is stored as it is.
TEST_F(LogRunsTest, MagicsInsidePayloads) {
  std::string noise;
  for (uint32_t i = 0, value = 1; i < 4000; i++) {
    value = value * 1664525 + 1013904223;
    noise += static_cast<char>(1 + (value >> 24) % 255);
  }
  std::string name = noise + "PPROFLOG\xb1PPB" + noise;
  pprof_sink *writer = Create(path_);
  Info info;
  ASSERT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
  pprof_definition site = Site(1, name.c_str());
  ASSERT_EQ(writer->define(writer, &site), PPROF_STATUS_OK);
  ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  writer->destroy(writer);
  EXPECT_EQ(Pick(Read(path_), "begin").size(), 1u);
  EXPECT_EQ(Pick(Read(path_), "define").size(), 1u);
  // With the payload damaged the block is passed over as a whole.
  std::string bytes = Slurp(path_);
  bytes[bytes.find("PPROFLOG", 64) + 20] ^= 1;
  pprof_status status;
  EXPECT_EQ(Pick(ReadBytes(bytes, &status), "begin").size(), 1u);
  EXPECT_EQ(status, PPROF_STATUS_CORRUPT);
}

// The bytes of a run's header and first block as a raw payload, whose block is
// whole or not.
TEST_F(LogRunsTest, RunInsideABlock) {
  for (bool whole : {true, false}) {
    std::string payload = second_.substr(0, 300);
    ppi_log_header header = {};
    header.type = 99;
    header.number = 1000;
    header.raw_len = header.stored_len = static_cast<uint32_t>(payload.size());
    header.payload_crc = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef *>(payload.data()),
              static_cast<uInt>(payload.size())) +
        !whole);
    std::string block(PPI_LOG_HEADER_SIZE, 0);
    ppi_log_header_store(reinterpret_cast<uint8_t *>(&block[0]), &header,
                         nullptr);
    pprof_status status;
    Lines lines = ReadBytes(first_ + block + payload + third_, &status);
    EXPECT_EQ(lines, Joined({LinesOf(kFirst, 100), LinesOf(kThird, 300)}));
    EXPECT_EQ(status, PPROF_STATUS_CORRUPT);
  }
}

TEST_F(LogRunsTest, NewerSecondRunEndsTheReading) {
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, kUuid);
  header[8] = 2;
  // CRC-32 of the changed first sixty bytes, made by Python's zlib.crc32.
  const uint8_t crc[] = {0xce, 0xf4, 0x47, 0x46};
  memcpy(header + 60, crc, 4);
  pprof_status status;
  std::string error;
  Lines lines = ReadBytes(
      first_ + std::string(reinterpret_cast<char *>(header), sizeof header),
      &status, &error);
  EXPECT_EQ(lines, LinesOf(kFirst, 100));
  EXPECT_EQ(status, PPROF_STATUS_VERSION);
  EXPECT_EQ(error, path_ + ": log version 2.0, this pprof reads up to 1");
}

TEST_F(LogRunsTest, ScanCountsAllRuns) {
  std::string bytes = first_ + second_ + third_;
  bytes[first_.size() + second_.size() - 1] ^= 1;  // the second's totals
  Spill(path_, bytes);
  std::vector<uint32_t> runs;
  ppi_log_damage damage;
  pprof_error error;
  EXPECT_EQ(
      ppi_log_scan(
          path_.c_str(),
          [](void *user, const ppi_log_block *block) {
            static_cast<std::vector<uint32_t> *>(user)->push_back(block->run);
            return PPROF_STATUS_OK;
          },
          &runs, &damage, &error),
      PPROF_STATUS_CORRUPT);
  // Info, definitions, two of events, two checkpoints, totals.
  std::vector<uint32_t> expected;
  for (uint32_t run = 0; run < 3; run++)
    expected.insert(expected.end(), 7, run);
  EXPECT_EQ(runs, expected);
  EXPECT_GT(damage.num_bytes, 0u);
  EXPECT_EQ(damage.num_missing, 0u);
}

TEST_F(LogRunsTest, SectionsAreTheBytes) {
  Spill(path_, first_ + second_ + third_);
  ppi_log_section *sections;
  size_t num;
  ASSERT_EQ(ppi_log_sections(path_.c_str(), &sections, &num, nullptr),
            PPROF_STATUS_OK);
  ASSERT_EQ(num, 3u);
  const std::string *runs[] = {&first_, &second_, &third_};
  const char *uuids[] = {kFirst, kSecond, kThird};
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(sections[i].len, runs[i]->size());
    EXPECT_STREQ(sections[i].uuid, uuids[i]);
    EXPECT_EQ(sections[i].base_ns, 1000u);
    EXPECT_TRUE(sections[i].complete);
    ppi_log_pieces pieces;
    ASSERT_EQ(
        ppi_log_pieces_open(&pieces, path_.c_str(), &sections[i], nullptr),
        PPROF_STATUS_OK);
    std::string bytes;
    const uint8_t *at;
    for (size_t len; ppi_log_pieces_next(&pieces, &at, &len);)
      bytes.append(reinterpret_cast<const char *>(at), len);
    ppi_log_pieces_close(&pieces);
    EXPECT_EQ(bytes, *runs[i]);
  }
  ppi_free(sections);
}

TEST_F(LogRunsTest, OutOfMemoryIsSaid) {
  Spill(path_, first_ + second_);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  for (uint64_t n = 1; status != PPROF_STATUS_OK; n++) {
    ppi_log_section *sections = nullptr;
    size_t num;
    ppi_mem_fail_at(n);
    status = ppi_log_sections(path_.c_str(), &sections, &num, nullptr);
    ppi_mem_fail_at(0);
    ASSERT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_NO_MEMORY);
    if (status == PPROF_STATUS_OK) ppi_free(sections);
    ASSERT_LT(n, 200u);
  }
}

}  // namespace
}  // namespace pplog
