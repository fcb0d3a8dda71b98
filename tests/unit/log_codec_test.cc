// SPDX-License-Identifier: Apache-2.0
//
// Varints, codecs, the nesting model and what hostile bytes do to them.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/mem.h"
#include "file/buffer.h"
#include "log/format/codec.h"
#include "log/format/log_decode.h"
#include "log/format/log_encode.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

std::string VarintBytes(uint64_t value) {
  uint8_t bytes[PPI_VARINT_MAX];
  return std::string(reinterpret_cast<char *>(bytes),
                     ppi_varint_store(bytes, value));
}

TEST(BufferTest, VarintsAreLeb128) {
  EXPECT_EQ(VarintBytes(0), std::string("\0", 1));
  EXPECT_EQ(VarintBytes(127), "\x7f");
  EXPECT_EQ(VarintBytes(128), "\x80\x01");
  EXPECT_EQ(VarintBytes(300), "\xac\x02");
  EXPECT_EQ(VarintBytes(UINT64_MAX),
            "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(BufferTest, ZigzagOfDifferences) {
  EXPECT_EQ(ppi_zigzag(0), 0u);
  EXPECT_EQ(ppi_zigzag(static_cast<uint64_t>(-1)), 1u);
  EXPECT_EQ(ppi_zigzag(1), 2u);
  EXPECT_EQ(ppi_unzigzag(3), static_cast<uint64_t>(-2));
}

TEST(BufferTest, CursorRefusesWhatIsNotThere) {
  ppi_cursor cut = ppi_cursor_of("\x80\x80", 2);
  EXPECT_EQ(ppi_cursor_varint(&cut), 0u);
  EXPECT_TRUE(cut.failed);
  // 65 bits.
  ppi_cursor wide =
      ppi_cursor_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
  ppi_cursor_varint(&wide);
  EXPECT_TRUE(wide.failed);
  ppi_cursor text = ppi_cursor_of(
      "\x05"
      "abc",
      4);
  size_t len;
  EXPECT_EQ(ppi_cursor_text(&text, &len), nullptr);
  EXPECT_TRUE(text.failed);
}

// With each library that this machine has; the test is of zlib where it has no
// other, which the name of the writer tells.
class CodecTest : public ::testing::TestWithParam<ppi_codec_library> {
 protected:
  void SetUp() override {
    ppi_codec_limit(GetParam());
    ASSERT_EQ(ppi_codec_create(1, &codec_), 0);
  }
  void TearDown() override {
    ppi_codec_destroy(codec_);
    ppi_codec_limit(PPI_CODEC_IGZIP);
  }
  ppi_codec *codec_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Libraries, CodecTest,
                         ::testing::Values(PPI_CODEC_ZLIB_ONLY,
                                           PPI_CODEC_LIBDEFLATE,
                                           PPI_CODEC_IGZIP));

TEST_P(CodecTest, ThereAndBack) {
  std::string text(5000, 'x'), out(5000, 0), back(5000, 0);
  size_t len;
  EXPECT_EQ(ppi_codec_deflate(codec_, text.data(), 5000, &out[0], &len),
            PPI_CODEC_ZLIB);
  EXPECT_LT(len, 100u);
  EXPECT_EQ(ppi_codec_inflate(codec_, 1, out.data(), len, &back[0], 5000),
            PPROF_STATUS_OK);
  EXPECT_EQ(back, text);
}

// Whatever writes and whatever reads: zlib reads it, and reads the same.
TEST_P(CodecTest, ZlibReadsWhatAnyLibraryWrites) {
  std::mt19937 random(2);
  for (size_t size : {1, 2, 3, 60, 61, 1000, 40000, 65536}) {
    std::string text, out(size, 0), back(size, 0);
    for (size_t i = 0; i < size; i++)
      text += static_cast<char>(i % 64 < 16 ? i / 64 : random() % 32);
    size_t len;
    ppi_codec_id id =
        ppi_codec_deflate(codec_, text.data(), size, &out[0], &len);
    ASSERT_LE(len, size);
    if (id == PPI_CODEC_RAW) {
      EXPECT_EQ(len, size);
      EXPECT_EQ(out, text);
      continue;
    }
    uLongf zlib_len = size;
    std::string zlib(size, 0);
    ASSERT_EQ(uncompress(reinterpret_cast<Bytef *>(&zlib[0]), &zlib_len,
                         reinterpret_cast<const Bytef *>(out.data()), len),
              Z_OK);
    EXPECT_EQ(zlib_len, size);
    EXPECT_EQ(zlib, text);
    EXPECT_EQ(ppi_codec_inflate(codec_, id, out.data(), len, &back[0], size),
              PPROF_STATUS_OK);
    EXPECT_EQ(back, text);
    EXPECT_EQ(id, size < 60 ? PPI_CODEC_RAW : PPI_CODEC_ZLIB) << size;
  }
}

TEST_P(CodecTest, NoiseStaysRaw) {
  std::mt19937 random(1);
  for (size_t size : {64, 65536}) {
    std::string text, out(size + 1, 'g');
    for (size_t i = 0; i < size; i++) text += static_cast<char>(random());
    size_t len;
    EXPECT_EQ(ppi_codec_deflate(codec_, text.data(), size, &out[0], &len),
              PPI_CODEC_RAW);
    EXPECT_EQ(len, size);
    EXPECT_EQ(out, text + 'g');
  }
}

TEST_P(CodecTest, WrongLengthsAreCorrupt) {
  std::string text(5000, 'x'), out(5000, 0), back(6000, 0);
  size_t len;
  ppi_codec_deflate(codec_, text.data(), 5000, &out[0], &len);
  for (size_t raw : {size_t{0}, size_t{4999}, size_t{5001}})
    EXPECT_EQ(ppi_codec_inflate(codec_, 1, out.data(), len, &back[0], raw),
              PPROF_STATUS_CORRUPT);
  EXPECT_EQ(ppi_codec_inflate(codec_, 1, out.data(), len - 1, &back[0], 5000),
            PPROF_STATUS_CORRUPT);
  // Bytes behind the stream.
  EXPECT_EQ(ppi_codec_inflate(codec_, 1, out.data(), len + 1, &back[0], 5000),
            PPROF_STATUS_CORRUPT);
  EXPECT_EQ(ppi_codec_inflate(codec_, 0, out.data(), 4, &back[0], 5),
            PPROF_STATUS_CORRUPT);
  EXPECT_EQ(ppi_codec_inflate(codec_, 9, out.data(), len, &back[0], 5000),
            PPROF_STATUS_UNSUPPORTED);
}

// One bit changed anywhere is found by every library: the stream ends in a
// checksum, and its first two bytes in one of their own.
TEST_P(CodecTest, EveryChangedBitIsCorrupt) {
  std::string text, out(900, 0), back(900, 0);
  for (int i = 0; i < 900; i++) text += static_cast<char>('a' + i * i % 23);
  size_t len;
  ASSERT_EQ(ppi_codec_deflate(codec_, text.data(), 900, &out[0], &len),
            PPI_CODEC_ZLIB);
  size_t accepted = 0;
  for (size_t bit = 0; bit < len * 8; bit++) {
    out[bit / 8] = static_cast<char>(out[bit / 8] ^ 1 << bit % 8);
    if (ppi_codec_inflate(codec_, 1, out.data(), len, &back[0], 900) ==
        PPROF_STATUS_OK) {
      EXPECT_EQ(back, text) << bit;
      accepted++;
    }
    out[bit / 8] = static_cast<char>(out[bit / 8] ^ 1 << bit % 8);
  }
  // What pads the last byte of the codes means nothing.
  EXPECT_LT(accepted, 8u);
}

// Which of them is used goes by what the machine has, and never beyond what is
// allowed.
TEST(CodecWriterTest, IsTheFastestThatIsAllowed) {
  const std::string best = ppi_codec_writer();
  EXPECT_TRUE(best == "igzip" || best == "libdeflate" || best == "zlib");
  ppi_codec_limit(PPI_CODEC_LIBDEFLATE);
  EXPECT_STRNE(ppi_codec_writer(), "igzip");
  ppi_codec_limit(PPI_CODEC_ZLIB_ONLY);
  EXPECT_STREQ(ppi_codec_writer(), "zlib");
  ppi_codec_limit(PPI_CODEC_IGZIP);
  EXPECT_EQ(ppi_codec_writer(), best);
}

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    encoder_ = ppi_run_encoder_create();
    ppi_run_encoder_start(encoder_, 3, 0, 0);
  }
  void TearDown() override {
    ppi_run_encoder_destroy(encoder_);
    ppi_run_decoder_clear(&decoder_);
    ppi_buffer_clear(&payload_);
  }
  void Add(const pprof_event &event) {
    ASSERT_EQ(ppi_run_encoder_add(encoder_, &event), PPROF_STATUS_OK);
  }
  std::string Column(ppi_log_column column) {
    const ppi_buffer &bytes = encoder_->columns[column];
    return std::string(reinterpret_cast<char *>(bytes.data), bytes.len);
  }
  pprof_status Decode(const ppi_log_run &run) {
    return ppi_run_decode(&decoder_, &run, payload_.data);
  }
  pprof_event At(size_t i) const {
    pprof_event room;
    const auto columns = ppi_run_decoder_columns(&decoder_, &encoder_->run);
    return *ppi_batch_at(&columns.batch, i, &room);
  }
  ppi_run_encoder *encoder_;
  ppi_run_decoder decoder_ = {};
  ppi_buffer payload_ = {};
};

// Leaf [100, 130], leaf [135, 150], their parent [90, 160].
TEST_F(RunTest, NestingIsGapDurationLeadTrail) {
  Add(Range(3, 2, 1, 100, 130));
  Add(Range(3, 2, 1, 135, 150));
  Add(Range(3, 1, 0, 90, 160));
  EXPECT_EQ(Column(PPI_COLUMN_GAP), "\x64\x05");
  EXPECT_EQ(Column(PPI_COLUMN_DURATION), "\x1e\x0f");
  EXPECT_EQ(Column(PPI_COLUMN_LEAD), "\x0a");
  EXPECT_EQ(Column(PPI_COLUMN_TRAIL), "\x0a");
  EXPECT_EQ(Column(PPI_COLUMN_START), "");
}

// The worked example of docs/log-format.md.
TEST_F(RunTest, DocumentedBytes) {
  const uint8_t bytes[] = {
      0x3f, 0x06, 0x10, 0x03, 0x04, 0x01, 0x01,        // mask, lengths
      0x00, 0x00, 0x00, 0x00, 0x00, 0x01,              // tokens
      0x01, 0x01, 0x00, 0x02, 0x01, 0x03, 0x00, 0x00,  // shape 0
      0x01, 0x01, 0x00, 0x01, 0x00, 0x03, 0x00, 0x00,  // shape 1
      0xe8, 0x07, 0x32,                                // gaps
      0xac, 0x02, 0x96, 0x01,                          // durations
      0x64, 0x64};                                     // lead, trail
  Add(Range(3, 2, 1, 1000, 1300));
  Add(Range(3, 2, 1, 1350, 1500));
  Add(Range(3, 1, 0, 900, 1600));
  ppi_run_encoder_finish(encoder_, &payload_);
  ASSERT_EQ(std::string(reinterpret_cast<char *>(payload_.data), payload_.len),
            std::string(reinterpret_cast<const char *>(bytes), sizeof bytes));
  ASSERT_EQ(ppi_run_decode(&decoder_, &encoder_->run, bytes), PPROF_STATUS_OK);
  EXPECT_EQ(At(1).start_ns, 1350u);
  EXPECT_EQ(At(1).end_ns, 1500u);
  EXPECT_EQ(At(2).start_ns, 900u);
  EXPECT_EQ(At(2).end_ns, 1600u);
  EXPECT_EQ(At(2).site, 1u);
}

TEST_F(RunTest, WhatDoesNotNestIsPlain) {
  pprof_event async = Range(3, 1, 0, 10, 20);
  async.flags = PPROF_FLAG_ASYNC;
  Add(async);                      // start +10, span 10
  Add(Range(4, 1, 0, 15, 20));     // another thread's: -5 from 20, 5
  Add(Range(3, 1, 0, 30, 25));     // ends before it starts: +10, -5
  Add(Range(3, 1, 5000, 30, 31));  // too deep: +5 from 25, 1
  EXPECT_EQ(Column(PPI_COLUMN_GAP), "");
  EXPECT_EQ(Column(PPI_COLUMN_START), std::string("\x14\x09\x14\x0a", 4));
  EXPECT_EQ(Column(PPI_COLUMN_SPAN), std::string("\x14\x0a\x09\x02", 4));
}

pprof_event DeviceRange(uint32_t stream, uint64_t start, uint64_t end,
                        uint64_t device_start, uint64_t device_end) {
  pprof_event event = Range(3, 1, 0, start, end);
  event.kind = PPROF_KIND_DEVICE_RANGE;
  event.stream = stream;
  event.device_start_ns = device_start;
  event.device_end_ns = device_end;
  return event;
}

TEST_F(RunTest, TimesFollowThoseOfTheirStream) {
  Add(DeviceRange(1, 100, 110, 200, 260));   // +100, +200
  Add(DeviceRange(2, 120, 125, 300, 340));   // +20 from 100, +40 from 260
  Add(DeviceRange(1, 130, 133, 270, 280));   // +20 from 110, +10 from 260
  Add(DeviceRange(65, 140, 141, 290, 291));  // as 1: +7 from 133, +10 from 280
  EXPECT_EQ(Column(PPI_COLUMN_SHAPES).substr(0, 2), "\x82\x02");  // 2 and 256
  EXPECT_EQ(Column(PPI_COLUMN_START), "\xc8\x01\x28\x28\x0e");
  EXPECT_EQ(Column(PPI_COLUMN_DEVICE_START), "\x90\x03\x50\x14\x14");
}

TEST_F(RunTest, WhatHasNoStreamFollowsTheNestedToo) {
  auto mark = [](uint64_t time) {
    pprof_event event = Range(3, 2, 0, time, time);
    event.kind = PPROF_KIND_MARK;
    return event;
  };
  Add(Range(3, 1, 0, 10, 50));
  Add(mark(52));  // +2 from 50
  Add(mark(55));  // +3 from 52
  Add(Range(3, 1, 0, 60, 90));
  Add(Range(4, 1, 0, 80, 85));  // -10 from 90
  Add(mark(91));                // +1 from 90, not from 85
  EXPECT_EQ(Column(PPI_COLUMN_START), "\x04\x06\x13\x02");
}

// Without bit 256, as logs had it first: +10, then +5 from the start before.
TEST_F(RunTest, TimesMayFollowTheEventBefore) {
  const uint8_t bytes[] = {0xc3, 0x01, 4,    8,   2, 2,  // columns 0, 1, 6, 7
                           0,    0,    0,    0,          // twice token 0
                           0,    1,    0,    1,   0, 4, 0, 0,  // form 0
                           0x14, 0x0a, 0x14, 0x0a};
  ppi_log_run run = {3, 0, 0, 2, 2, sizeof bytes};
  ASSERT_EQ(ppi_run_decode(&decoder_, &run, bytes), PPROF_STATUS_OK);
  EXPECT_EQ(At(0).start_ns, 10u);
  EXPECT_EQ(At(0).end_ns, 20u);
  EXPECT_EQ(At(1).start_ns, 15u);
  EXPECT_EQ(At(1).end_ns, 20u);
}

// Form 257, which would have a gap and a duration, and 512, which no reader
// knows and would have start and span.
TEST_F(RunTest, FormsThatMeanNothingAreRefused) {
  const uint8_t both[] = {0x0f, 2, 9, 1, 1, 0, 0,  // columns 0 to 3
                          0x81, 2, 1, 0, 1, 0, 3, 0, 0, 5, 5};
  const uint8_t unknown[] = {0xc3, 0x01, 2, 9, 1, 1, 0, 0,  // 0, 1, 6, 7
                             0x80, 4,    1, 0, 1, 0, 3, 0, 0, 5, 5};
  ppi_log_run run = {3, 0, 0, 1, 1, sizeof both};
  EXPECT_EQ(ppi_run_decode(&decoder_, &run, both), PPROF_STATUS_CORRUPT);
  run.payload_len = sizeof unknown;
  EXPECT_EQ(ppi_run_decode(&decoder_, &run, unknown), PPROF_STATUS_CORRUPT);
}

// 5, 5, none, 3: +5, 0, -2.
TEST_F(RunTest, AttributesAreDifferences) {
  for (uint32_t attributes : {5, 5, 0, 3}) {
    pprof_event event = Range(3, 1, 0, 10, 20);
    event.attributes = attributes;
    Add(event);
  }
  EXPECT_EQ(Column(PPI_COLUMN_ATTRIBUTES), std::string("\x0a\x00\x03", 3));
  ppi_run_encoder_finish(encoder_, &payload_);
  // Column 14 of the mask, and form bit 64.
  EXPECT_EQ(payload_.data[2] & 0x01, 0x01);
  EXPECT_EQ(Column(PPI_COLUMN_SHAPES)[0] & 0x40, 0x40);
  ASSERT_EQ(Decode(encoder_->run), PPROF_STATUS_OK);
  const uint32_t expected[] = {5, 5, 0, 3};
  for (size_t i = 0; i < 4; i++) EXPECT_EQ(At(i).attributes, expected[i]);
}

// One event of form 64, whose attributes are `id`.
TEST_F(RunTest, AttributesFitTheirId) {
  auto decode = [&](std::vector<uint8_t> zigzag) {
    // Mask: columns 0, 1, 6, 7, 14. Token 0 is new; start 0, span 0.
    std::vector<uint8_t> bytes = {
        0xc3, 0x81, 0x01, 2, 8, 1, 1, static_cast<uint8_t>(zigzag.size()),
        0,    0,    64,   1, 0, 1, 0, 3,
        0,    0,    0,    0};
    bytes.insert(bytes.end(), zigzag.begin(), zigzag.end());
    ppi_log_run run = {3, 0, 0, 1, 1, static_cast<uint32_t>(bytes.size())};
    return ppi_run_decode(&decoder_, &run, bytes.data());
  };
  // 2^32 - 1, 2^32 and -1.
  EXPECT_EQ(decode({0xfe, 0xff, 0xff, 0xff, 0x1f}), PPROF_STATUS_OK);
  EXPECT_EQ(At(0).attributes, UINT32_MAX);
  EXPECT_EQ(decode({0x80, 0x80, 0x80, 0x80, 0x20}), PPROF_STATUS_CORRUPT);
  EXPECT_EQ(decode({0x01}), PPROF_STATUS_CORRUPT);
}

// Nothing known, the times, and all of it.
TEST_F(RunTest, CpuUseIsAsMuchAsIsKnown) {
  pprof_cpu_use uses[3] = {};
  for (size_t i = 0; i < 3; i++) {
    uses[i] = {sizeof uses[i], 0, 0, 300, 5, 1, 9, 2, 0, 7, 128};
    uses[i].known = static_cast<uint32_t>(i ? 2 * i - 1 : 0);
    pprof_event event = Range(3, 1, 0, 10 * i, 10 * i + 5);
    event.cpu = &uses[i];
    Add(event);
  }
  Add(Range(3, 1, 0, 30, 35));
  EXPECT_EQ(Column(PPI_COLUMN_CPU),
            std::string("\x00"
                        "\x01\xac\x02\x05\x01\x02\x00\x07\x80\x01"
                        "\x03\xac\x02\x05\x01\x02\x00\x07\x80\x01\x09",
                        22));
  ppi_run_encoder_finish(encoder_, &payload_);
  EXPECT_EQ(payload_.data[2] & 0x02, 0x02);           // column 15 of the mask
  EXPECT_EQ(Column(PPI_COLUMN_SHAPES)[0] & 1, 0x01);  // form 129
  EXPECT_EQ(Column(PPI_COLUMN_SHAPES)[1], 0x01);
  ASSERT_EQ(Decode(encoder_->run), PPROF_STATUS_OK);
  const pprof_cpu_use *none = At(0).cpu;
  const pprof_cpu_use *times = At(1).cpu;
  const pprof_cpu_use *all = At(2).cpu;
  EXPECT_EQ(At(3).cpu, nullptr);
  ASSERT_TRUE(none && times && all);
  EXPECT_EQ(none->known, 0u);
  EXPECT_EQ(none->user_ns, 0u);
  EXPECT_EQ(times->known, 1u);
  EXPECT_EQ(times->user_ns, 300u);
  EXPECT_EQ(times->run_queue_ns, 0u);
  EXPECT_EQ(all->size, sizeof *all);
  EXPECT_EQ(all->known, 3u);
  EXPECT_EQ(all->sys_ns, 5u);
  EXPECT_EQ(all->inner_ns, 1u);
  EXPECT_EQ(all->run_queue_ns, 9u);
  EXPECT_EQ(all->voluntary_switches, 2u);
  EXPECT_EQ(all->involuntary_switches, 0u);
  EXPECT_EQ(all->minor_faults, 7u);
  EXPECT_EQ(all->major_faults, 128u);
}

// How many and how full, then differences from the event before it by place.
TEST_F(RunTest, NumbersOfANameAreDifferences) {
  const pprof_numbers numbers[] = {
      {sizeof *numbers, 2, PPROF_NAME_FOLDED, {300, 7, 0, 0}},
      {sizeof *numbers, 0, PPROF_NAME_TOO_MUCH, {0, 0, 0, 0}},
      {sizeof *numbers, 4, PPROF_NAME_IN_FULL, {301, 5, UINT64_MAX, 1}}};
  for (size_t i = 0; i < 3; i++) {
    pprof_event event = Range(3, 1, 0, 10 * i, 10 * i + 5);
    event.numbers = &numbers[i];
    Add(event);
  }
  EXPECT_EQ(Column(PPI_COLUMN_NUMBERS),
            std::string("\x02\xd8\x04\x0e\x10\x0c\x02\x03\x01\x02", 10));
  ppi_run_encoder_finish(encoder_, &payload_);
  ASSERT_EQ(Decode(encoder_->run), PPROF_STATUS_OK);
  for (size_t i = 0; i < 3; i++)
    EXPECT_EQ(memcmp(At(i).numbers, &numbers[i], sizeof *numbers), 0);
}

TEST_F(RunTest, NumbersOfANameAreWhole) {
  auto decode = [&](std::vector<uint8_t> numbers) {
    // Mask: columns 0, 1, 6, 7, 16. Token 0 is new; start 0, span 0.
    std::vector<uint8_t> bytes = {
        0xc3, 0x81, 0x04, 2, 9, 1, 1, static_cast<uint8_t>(numbers.size()),
        0,    0,    0x80, 4, 1, 0, 1, 0,
        3,    0,    0,    0, 0};
    bytes.insert(bytes.end(), numbers.begin(), numbers.end());
    ppi_log_run run = {3, 0, 0, 1, 1, static_cast<uint32_t>(bytes.size())};
    return ppi_run_decode(&decoder_, &run, bytes.data());
  };
  EXPECT_EQ(decode({0x14, 2, 4, 6, 8}), PPROF_STATUS_OK);
  EXPECT_EQ(decode({}), PPROF_STATUS_CORRUPT);
  EXPECT_EQ(decode({5, 0, 0, 0, 0, 0}), PPROF_STATUS_CORRUPT) << "five";
  EXPECT_EQ(decode({2, 2}), PPROF_STATUS_CORRUPT) << "one is missing";
}

// One event of form 128.
TEST_F(RunTest, CpuUseIsWhole) {
  auto decode = [&](std::vector<uint8_t> use) {
    // Mask: columns 0, 1, 6, 7, 15. Token 0 is new; start 0, span 0.
    std::vector<uint8_t> bytes = {
        0xc3, 0x81, 0x02, 2, 9, 1, 1, static_cast<uint8_t>(use.size()),
        0,    0,    0x80, 1, 1, 0, 1, 0,
        3,    0,    0,    0, 0};
    bytes.insert(bytes.end(), use.begin(), use.end());
    ppi_log_run run = {3, 0, 0, 1, 1, static_cast<uint32_t>(bytes.size())};
    return ppi_run_decode(&decoder_, &run, bytes.data());
  };
  EXPECT_EQ(decode({0}), PPROF_STATUS_OK);
  EXPECT_EQ(decode({1, 1, 2, 3, 4, 5, 6, 7}), PPROF_STATUS_OK);
  EXPECT_EQ(At(0).cpu->major_faults, 7u);
  EXPECT_EQ(decode({3, 1, 2, 3, 4, 5, 6, 7, 8}), PPROF_STATUS_OK);
  EXPECT_EQ(At(0).cpu->run_queue_ns, 8u);
  EXPECT_EQ(decode({}), PPROF_STATUS_CORRUPT);
  EXPECT_EQ(decode({0, 0}), PPROF_STATUS_CORRUPT);
  EXPECT_EQ(decode({1, 1, 2, 3, 4, 5, 6}), PPROF_STATUS_CORRUPT);
  EXPECT_EQ(decode({3, 1, 2, 3, 4, 5, 6, 7}), PPROF_STATUS_CORRUPT);
  EXPECT_EQ(decode({2, 8}), PPROF_STATUS_CORRUPT);
  EXPECT_EQ(decode({4}), PPROF_STATUS_CORRUPT);
  EXPECT_EQ(decode({5, 1, 2, 3, 4, 5, 6, 7, 8, 9}), PPROF_STATUS_CORRUPT);
}

TEST_F(RunTest, RepeatingOrderCostsNoTokens) {
  for (uint64_t i = 0; i < 1000; i++) {
    Add(Range(3, 2, 1, i * 10 + 2, i * 10 + 4));
    Add(Range(3, 3, 1, i * 10 + 5, i * 10 + 6));
    Add(Range(3, 1, 0, i * 10 + 1, i * 10 + 7));
  }
  EXPECT_LT(Column(PPI_COLUMN_TOKENS).size(), 20u);
  EXPECT_EQ(Column(PPI_COLUMN_SHAPES).size(), 3u * 8u);
}

TEST_F(RunTest, TooManyFlowsAreInvalid) {
  std::vector<uint64_t> flows(513);
  pprof_event event = Range(3, 1, 0, 1, 2);
  event.flows = flows.data();
  event.num_flows = 513;
  EXPECT_EQ(ppi_run_encoder_add(encoder_, &event), PPROF_STATUS_INVALID);
}

// The design's bound: 33 names, depth 3, log-normal durations, ns, blocks of
// 8 192 ranges of one lane.
TEST_F(RunTest, ThreeBytesARange) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> duration(std::log(6000.0), 1.3);
  uint64_t now = 1000000;
  auto jitter = [&] { return 20 + random() % 30; };
  uint32_t in_block = 0;
  size_t num = 0, bytes = 0, part_bytes = 0;
  ppi_codec *codec;
  ASSERT_EQ(ppi_codec_create(1, &codec), 0);
  std::vector<char> out(1 << 20);
  auto emit = [&](const pprof_event &event) {
    Add(event);
    num++;
    if (++in_block < 8192) return;
    payload_.len = 0;
    ppi_run_encoder_finish(encoder_, &payload_);
    size_t len;
    ppi_log_parts parts = {};
    ppi_run_encoder_parts(encoder_, &parts);
    ASSERT_GE(parts.varied, payload_.len / 4 * 3);
    ppi_codec_deflate(codec, payload_.data, payload_.len, out.data(), &len);
    bytes += len + PPI_LOG_HEADER_SIZE + PPI_LOG_RUN_SIZE;
    ppi_codec_deflate_parts(codec, payload_.data, parts.lens, parts.num,
                            out.data(), &len);
    part_bytes += len + PPI_LOG_HEADER_SIZE + PPI_LOG_RUN_SIZE;
    ppi_run_encoder_start(encoder_, 3, 0, 0);
    in_block = 0;
  };
  while (num < 8192 * 8) {
    uint64_t root = now;
    for (uint32_t stage = 0; stage < 4; stage++) {
      uint64_t start = now += jitter();
      for (uint32_t i = 0; i < 7; i++) {
        uint64_t leaf = now += jitter();
        now += std::min(std::max(duration(random), 100.0), 350000.0);
        emit(Range(3, 6 + stage * 7 + i, 2, leaf, now));
      }
      now += jitter();
      emit(Range(3, 2 + stage, 1, start, now));
    }
    now += jitter();
    emit(Range(3, 1, 0, root, now));
  }
  ppi_codec_destroy(codec);
  double each = static_cast<double>(bytes) / static_cast<double>(num);
  RecordProperty("bytes_per_range_x1000", static_cast<int>(each * 1000));
  EXPECT_LE(each, 3.0);
  // As the writer does it: a search finds nothing that codes do not.
  EXPECT_LE(part_bytes, bytes);
}

// Every byte of a payload changed to everything: refused or decoded, never
// beyond its bytes (the sanitizers watch).
TEST_F(RunTest, DecoderTakesAnyBytes) {
  std::vector<uint64_t> flows = {5, 6};
  pprof_work_amount work = {sizeof work, 1, 2, 3, 4};
  pprof_cpu_use cpu = {sizeof cpu, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  for (uint64_t i = 0; i < 12; i++) {
    pprof_event event = Range(3, 1 + i % 3, i % 2, i * 10, i * 10 + 4);
    if (i % 3 == 0) {
      event.flows = flows.data();
      event.num_flows = 2;
    }
    if (i % 4 == 0) event.work = &work;
    if (i % 5 == 0) event.device_start_ns = i;
    if (i % 6 == 0) event.value = 1.5;
    if (i % 3 == 1) event.attributes = static_cast<uint32_t>(200 + i);
    if (i % 4 == 3) event.cpu = &cpu;
    Add(event);
  }
  ppi_run_encoder_finish(encoder_, &payload_);
  for (size_t at = 0; at < payload_.len; at++) {
    uint8_t before = payload_.data[at];
    for (int value = 0; value < 256; value++) {
      payload_.data[at] = static_cast<uint8_t>(value);
      pprof_status status = Decode(encoder_->run);
      ASSERT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_CORRUPT);
    }
    payload_.data[at] = before;
  }
  ppi_log_run run = encoder_->run;
  for (run.payload_len = 0; run.payload_len < payload_.len; run.payload_len++)
    EXPECT_EQ(Decode(run), PPROF_STATUS_CORRUPT);
  run.num_events = UINT32_MAX;
  EXPECT_EQ(Decode(run), PPROF_STATUS_CORRUPT);
}

TEST_F(RunTest, OutOfMemoryIsSaid) {
  std::vector<uint64_t> flows = {5, 6};
  for (uint64_t n = 1;; n++) {
    ppi_run_encoder *encoder = ppi_run_encoder_create();
    ppi_run_encoder_start(encoder, 3, 0, 0);
    pprof_event event = Range(3, 1, 0, 1, 2);
    event.flows = flows.data();
    event.num_flows = 2;
    ppi_mem_fail_at(n);
    pprof_status status = ppi_run_encoder_add(encoder, &event);
    ppi_buffer payload = {};
    ppi_run_encoder_finish(encoder, &payload);
    ppi_mem_fail_at(0);
    bool done = status == PPROF_STATUS_OK && !payload.failed;
    ppi_buffer_clear(&payload);
    ppi_run_encoder_destroy(encoder);
    if (done) break;
    ASSERT_LT(n, 50u);
  }
}

}  // namespace
}  // namespace pplog
