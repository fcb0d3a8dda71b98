// SPDX-License-Identifier: Apache-2.0
//
// What a long log says of itself at its end, and when that is believed.
#include "log/format/log_contents.h"

#include <zlib.h>

#include <algorithm>

#include "file/buffer.h"
#include "log/read/log_reader.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

struct Block {
  uint64_t offset, size;
  ppi_log_header header;
};

std::vector<Block> Scan(const std::string &path) {
  std::vector<Block> blocks;
  ppi_log_damage damage;
  EXPECT_EQ(ppi_log_scan(
                path.c_str(),
                [](void *user, const ppi_log_block *block) {
                  static_cast<std::vector<Block> *>(user)->push_back(
                      {block->offset, block->size, block->header});
                  return PPROF_STATUS_OK;
                },
                &blocks, &damage, nullptr),
            PPROF_STATUS_OK);
  return blocks;
}

bool IsLeftOut(const Block &block) {
  return block.header.type == PPI_LOG_EVENTS ||
         block.header.type == PPI_LOG_CHECKPOINT;
}

size_t CountContents(const std::string &path) {
  size_t num = 0;
  for (const Block &block : Scan(path))
    num += block.header.type == PPI_LOG_CONTENTS;
  return num;
}

Lines Skim(const std::string &path, pprof_status want = PPROF_STATUS_OK) {
  Collector collector;
  const char *paths = path.c_str();
  pprof_error error = {""};
  EXPECT_EQ(ppi_log_skim_all(&paths, 1, collector.sink(), &error), want)
      << error.text;
  return collector.lines();
}

// All that is read but events and checkpoints.
Lines ReadTheRest(const std::string &path) {
  Lines rest;
  for (const std::string &line : Read(path))
    if (line.rfind("batch", 0) && line.rfind("event", 0) &&
        line.rfind("checkpoint", 0) && line.rfind("open", 0))
      rest.push_back(line);
  return rest;
}

class LogContentsTest : public ::testing::Test {
 protected:
  // Each checkpoint closes a block of events; definitions and a window edge
  // come now and then.
  void WriteRun(pprof_sink *sink, int num_checkpoints) {
    Info info;
    ASSERT_EQ(sink->begin(sink, info.get()), PPROF_STATUS_OK);
    ASSERT_EQ(sink->window(sink, 0, true, 0), PPROF_STATUS_OK);
    for (uint64_t i = 0; i < static_cast<uint64_t>(num_checkpoints); i++) {
      if (i % 100 == 0) {
        const std::string name = "site " + std::to_string(i);
        const pprof_definition site =
            Site(static_cast<uint32_t>(i + 1), name.c_str());
        ASSERT_EQ(sink->define(sink, &site), PPROF_STATUS_OK);
      }
      const std::vector<pprof_event> events = {
          Range(1, 1, 1, 100 * i + 10, 100 * i + 20),
          Range(1, 1, 0, 100 * i, 100 * i + 30 + i % 7)};
      const pprof_batch batch = Batch(1, 2 * i, 2 * i + 2, events);
      ASSERT_EQ(sink->events(sink, &batch), PPROF_STATUS_OK);
      const pprof_checkpoint checkpoint = {100 * i + 50, nullptr, 0};
      ASSERT_EQ(sink->checkpoint(sink, &checkpoint), PPROF_STATUS_OK);
    }
    ASSERT_EQ(sink->finish(sink, &kNoTotals), PPROF_STATUS_OK);
  }
  void Write(const std::string &path, int num_checkpoints) {
    pprof_sink *sink = Create(path);
    WriteRun(sink, num_checkpoints);
    sink->destroy(sink);
  }
  bool Find(const std::string &path) {
    return ppi_log_contents_find(path.c_str(), &contents_);
  }
  Folder folder_;
  std::string path_ = folder_ / "x.pplog";
  ppi_log_contents contents_ = {};
};

constexpr int kLong = 2000, kShort = 400;

TEST_F(LogContentsTest, SayWhatTheBlocksSay) {
  Write(path_, kLong);
  ASSERT_TRUE(Find(path_));
  ppi_log_sums sums[PPI_LOG_CONTENTS_NUM_TYPES] = {};
  std::vector<uint64_t> offsets;
  uint64_t last = 0;
  for (const Block &block : Scan(path_)) {
    const ppi_log_header &header = block.header;
    last = std::max(last, header.max_end_ns);
    if (!IsLeftOut(block)) {
      offsets.push_back(block.offset);
      continue;
    }
    ppi_log_sums *to = &sums[header.type == PPI_LOG_CHECKPOINT];
    to->num_blocks++;
    to->num_events += header.num_events;
    to->raw_bytes += header.raw_len;
    to->stored_bytes += block.size;
  }
  ASSERT_GE(offsets.size(), 2u);
  offsets.resize(offsets.size() - 2);  // contents and totals
  EXPECT_EQ(offsets,
            std::vector<uint64_t>(contents_.offsets,
                                  contents_.offsets + contents_.num_offsets));
  EXPECT_EQ(contents_.max_end_ns, last);
  EXPECT_EQ(sums[0].num_events, 2u * kLong);
  for (size_t i = 0; i < PPI_LOG_CONTENTS_NUM_TYPES; i++) {
    EXPECT_EQ(sums[i].num_blocks, contents_.sums[i].num_blocks);
    EXPECT_EQ(sums[i].num_events, contents_.sums[i].num_events);
    EXPECT_EQ(sums[i].raw_bytes, contents_.sums[i].raw_bytes);
    EXPECT_EQ(sums[i].stored_bytes, contents_.sums[i].stored_bytes);
  }
}

TEST_F(LogContentsTest, AShortLogHasNone) {
  Write(path_, kShort);
  EXPECT_EQ(CountContents(path_), 0u);
  EXPECT_FALSE(Find(path_));
  EXPECT_EQ(Skim(path_), ReadTheRest(path_));
}

// Not even the headers of what is left out: they are garbage here.
TEST_F(LogContentsTest, SkimmingReadsWhatTheyName) {
  Write(path_, kLong);
  const Lines rest = ReadTheRest(path_);
  EXPECT_EQ(Skim(path_), rest);
  std::string bytes = Slurp(path_);
  for (const Block &block : Scan(path_))
    if (IsLeftOut(block))
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(block.offset),
                  block.size, 'P');
  Spill(path_, bytes);
  EXPECT_EQ(Skim(path_), rest);
}

TEST_F(LogContentsTest, OfOtherBlocksThanThereAreAreNotBelieved) {
  Write(path_, kLong);
  // Behind all that are named.
  const std::vector<Block> blocks = Scan(path_);
  const Block &block = blocks[blocks.size() - 4];
  ASSERT_TRUE(IsLeftOut(block));
  const std::string bytes = Slurp(path_);
  Spill(path_, std::string(bytes).erase(block.offset, block.size));
  EXPECT_FALSE(Find(path_));
  Skim(path_, PPROF_STATUS_CORRUPT);
  Spill(path_, std::string(bytes).insert(block.offset, 100, 'P'));
  EXPECT_FALSE(Find(path_));
  Skim(path_, PPROF_STATUS_CORRUPT);
}

TEST_F(LogContentsTest, ThatDoNotAddUpAreNotBelieved) {
  Write(path_, kLong);
  ASSERT_TRUE(Find(path_));
  const ppi_log_contents good = contents_;
  const std::string bytes = Slurp(path_);
  const std::vector<Block> blocks = Scan(path_);
  const Block &block = blocks[blocks.size() - 2];
  ASSERT_EQ(block.header.type, PPI_LOG_CONTENTS);
  const auto claim = [&](const ppi_log_contents &claimed) {
    std::string claims;
    ppi_log_assembler assembler;
    EXPECT_EQ(ppi_log_assembler_init(
                  &assembler,
                  [](void *user, const uint8_t *some, size_t len) {
                    static_cast<std::string *>(user)->append(
                        reinterpret_cast<const char *>(some), len);
                    return PPROF_STATUS_OK;
                  },
                  &claims, 0, block.header.number),
              PPROF_STATUS_OK);
    EXPECT_EQ(ppi_log_contents_put(&claimed, &assembler), PPROF_STATUS_OK);
    ppi_log_assembler_clear(&assembler);
    Spill(path_, std::string(bytes).replace(block.offset, block.size, claims));
    return Find(path_);
  };
  EXPECT_TRUE(claim(good));
  for (uint64_t ppi_log_sums::*field :
       {&ppi_log_sums::num_blocks, &ppi_log_sums::num_events,
        &ppi_log_sums::raw_bytes, &ppi_log_sums::stored_bytes}) {
    ppi_log_contents false_ones = good;
    false_ones.sums[0].*field = UINT64_MAX;
    EXPECT_FALSE(claim(false_ones));
  }
  ppi_log_contents fewer = good;
  fewer.num_offsets--;
  EXPECT_FALSE(claim(fewer));
}

TEST_F(LogContentsTest, ThatNameWhatIsDamagedAreNotBelieved) {
  Write(path_, kLong);
  ASSERT_TRUE(Find(path_));
  std::string bytes = Slurp(path_);
  bytes[contents_.offsets[contents_.num_offsets / 2] + 60] ^= 1;
  Spill(path_, bytes);
  EXPECT_FALSE(Find(path_));
  Skim(path_, PPROF_STATUS_CORRUPT);
}

// Before the first block that they name.
TEST_F(LogContentsTest, OfALogWithoutItsHeaderAreNotBelieved) {
  Write(path_, kLong);
  const std::string bytes = Slurp(path_);
  for (size_t at : {0u, 20u, 61u}) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    Spill(path_, damaged);
    EXPECT_FALSE(Find(path_)) << at;
    Skim(path_, PPROF_STATUS_CORRUPT);
  }
}

// Those of a second run speak of no run that stands before it.
TEST_F(LogContentsTest, OfALaterRunAreNotTheLogs) {
  Write(path_, kShort);
  const std::string other = folder_ / "other.pplog";
  Write(other, kLong);
  Spill(path_, Slurp(path_) + Slurp(other));
  EXPECT_FALSE(Find(path_));
  EXPECT_EQ(Skim(path_), ReadTheRest(path_));
}

std::string RawBlock(ppi_log_type type, uint64_t number,
                     const ppi_buffer &payload) {
  ppi_log_header header = {};
  header.type = static_cast<uint8_t>(type);
  header.number = number;
  header.raw_len = header.stored_len = static_cast<uint32_t>(payload.len);
  header.payload_crc = static_cast<uint32_t>(
      crc32(0, payload.data, static_cast<uInt>(payload.len)));
  std::string bytes(PPI_LOG_HEADER_SIZE, 0);
  ppi_log_header_store(reinterpret_cast<uint8_t *>(&bytes[0]), &header,
                       nullptr);
  return bytes.append(reinterpret_cast<const char *>(payload.data),
                      payload.len);
}

// False ones name blocks of numbers that were seen: the walk goes on to what is
// new, and comes by each byte once all the same.
TEST_F(LogContentsTest, NeverLeadBack) {
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, kUuid);
  std::string bytes(reinterpret_cast<char *>(header), sizeof header);
  ppi_buffer named = {}, payload = {};
  constexpr uint64_t kNamed = 20, kJunk = 300;
  // The greatest end, the codecs, and sums that add up.
  for (uint64_t value : {uint64_t{0}, uint64_t{1}, kNamed, uint64_t{0},
                         uint64_t{0}, kNamed * PPI_LOG_HEADER_SIZE + kJunk})
    ppi_buffer_varint(&named, value);
  for (int i = 0; i < 4; i++) ppi_buffer_varint(&named, 0);
  const ppi_buffer empty = {};
  for (uint64_t i = 0; i < kNamed; i++) {
    ppi_buffer_varint(&named, i ? size_t{PPI_LOG_HEADER_SIZE} : bytes.size());
    bytes += RawBlock(PPI_LOG_DEFINITIONS, i ? i : 100, empty);
  }
  bytes.append(kJunk, 'P');
  for (uint64_t i = 0; i < kNamed; i++)
    bytes += RawBlock(PPI_LOG_DEFINITIONS, 101 + i, empty);
  ppi_buffer_varint(&payload, 2 * kNamed);
  ppi_buffer_varint(&payload, bytes.size() - sizeof header);
  ppi_buffer_bytes(&payload, named.data, named.len);
  bytes += RawBlock(PPI_LOG_CONTENTS, 101 + kNamed, payload);
  ppi_buffer_clear(&named);
  ppi_buffer_clear(&payload);
  Spill(path_, bytes);
  ppi_log_file *file;
  ASSERT_EQ(ppi_log_file_open(path_.c_str(), &file, nullptr), PPROF_STATUS_OK);
  EXPECT_TRUE(ppi_log_contents_skim(path_.c_str(), file, &contents_));
  ppi_log_block block;
  while (ppi_log_file_next(file, &block)) continue;
  EXPECT_EQ(ppi_log_file_damage(file)->num_bytes, kJunk);
  ppi_log_file_close(file);
}

TEST_F(LogContentsTest, ASecondRunOfOneWriterHasItsOwn) {
  pprof_sink *sink = Create(path_);
  WriteRun(sink, kShort);
  WriteRun(sink, kLong);
  sink->destroy(sink);
  EXPECT_EQ(CountContents(path_), 1u);
  std::string bytes = Slurp(path_);
  Spill(path_, bytes.substr(bytes.find("PPROFLOG", 1)));
  EXPECT_TRUE(Find(path_));
}

}  // namespace
}  // namespace pplog
