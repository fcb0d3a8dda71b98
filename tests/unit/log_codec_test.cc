// SPDX-License-Identifier: Apache-2.0
//
// Varints, codecs, the nesting model and what hostile bytes do to them.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "buffer.h"
#include "codec.h"
#include "log_encode.h"
#include "mem.h"
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

class CodecTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ppi_codec_create(1, &codec_), 0);
  }
  void TearDown() override {
    ppi_codec_destroy(codec_);
  }
  ppi_codec *codec_ = nullptr;
};

TEST_F(CodecTest, ThereAndBack) {
  std::string text(5000, 'x'), out(5000, 0), back(5000, 0);
  size_t len;
  EXPECT_EQ(ppi_codec_deflate(codec_, text.data(), 5000, &out[0], &len),
            PPI_CODEC_ZLIB);
  EXPECT_LT(len, 100u);
  EXPECT_EQ(ppi_codec_inflate(codec_, 1, out.data(), len, &back[0], 5000),
            PPROF_STATUS_OK);
  EXPECT_EQ(back, text);
}

TEST_F(CodecTest, NoiseStaysRaw) {
  std::mt19937 random(1);
  std::string text, out(64, 0);
  for (int i = 0; i < 64; i++) text += static_cast<char>(random());
  size_t len;
  EXPECT_EQ(ppi_codec_deflate(codec_, text.data(), 64, &out[0], &len),
            PPI_CODEC_RAW);
  EXPECT_EQ(len, 64u);
  EXPECT_EQ(out, text);
}

TEST_F(CodecTest, WrongLengthsAreCorrupt) {
  std::string text(5000, 'x'), out(5000, 0), back(6000, 0);
  size_t len;
  ppi_codec_deflate(codec_, text.data(), 5000, &out[0], &len);
  for (size_t raw : {size_t{0}, size_t{4999}, size_t{5001}})
    EXPECT_EQ(ppi_codec_inflate(codec_, 1, out.data(), len, &back[0], raw),
              PPROF_STATUS_CORRUPT);
  EXPECT_EQ(ppi_codec_inflate(codec_, 1, out.data(), len - 1, &back[0], 5000),
            PPROF_STATUS_CORRUPT);
  EXPECT_EQ(ppi_codec_inflate(codec_, 0, out.data(), 4, &back[0], 5),
            PPROF_STATUS_CORRUPT);
  EXPECT_EQ(ppi_codec_inflate(codec_, 9, out.data(), len, &back[0], 5000),
            PPROF_STATUS_UNSUPPORTED);
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
  EXPECT_EQ(decoder_.events[1].start_ns, 1350u);
  EXPECT_EQ(decoder_.events[1].end_ns, 1500u);
  EXPECT_EQ(decoder_.events[2].start_ns, 900u);
  EXPECT_EQ(decoder_.events[2].end_ns, 1600u);
  EXPECT_EQ(decoder_.events[2].site, 1u);
}

TEST_F(RunTest, WhatDoesNotNestIsPlain) {
  pprof_event async = Range(3, 1, 0, 10, 20);
  async.flags = PPROF_FLAG_ASYNC;
  Add(async);                      // start +10, span 10
  Add(Range(4, 1, 0, 15, 20));     // another thread's: +5, 5
  Add(Range(3, 1, 0, 30, 25));     // ends before it starts: +15, -5
  Add(Range(3, 1, 5000, 30, 31));  // too deep: 0, 1
  EXPECT_EQ(Column(PPI_COLUMN_GAP), "");
  EXPECT_EQ(Column(PPI_COLUMN_START), std::string("\x14\x0a\x1e\x00", 4));
  EXPECT_EQ(Column(PPI_COLUMN_SPAN), std::string("\x14\x0a\x09\x02", 4));
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

// The design's bound, on the stream of reference/record-path.md: 33 names,
// depth 3, log-normal durations, ns, blocks of 8 192 ranges of one lane.
TEST_F(RunTest, ThreeBytesARange) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> duration(std::log(6000.0), 1.3);
  uint64_t now = 1000000;
  auto jitter = [&] { return 20 + random() % 30; };
  uint32_t in_block = 0;
  size_t num = 0, bytes = 0;
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
    ppi_codec_deflate(codec, payload_.data, payload_.len, out.data(), &len);
    bytes += len + PPI_LOG_HEADER_SIZE + PPI_LOG_RUN_SIZE;
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
}

// Every byte of a payload changed to everything: refused or decoded, never
// beyond its bytes (the sanitizers watch).
TEST_F(RunTest, DecoderTakesAnyBytes) {
  std::vector<uint64_t> flows = {5, 6};
  pprof_work_amount work = {sizeof work, 1, 2, 3, 4};
  for (uint64_t i = 0; i < 12; i++) {
    pprof_event event = Range(3, 1 + i % 3, i % 2, i * 10, i * 10 + 4);
    if (i % 3 == 0) {
      event.flows = flows.data();
      event.num_flows = 2;
    }
    if (i % 4 == 0) event.work = &work;
    if (i % 5 == 0) event.device_start_ns = i;
    if (i % 6 == 0) event.value = 1.5;
    Add(event);
  }
  ppi_run_encoder_finish(encoder_, &payload_);
  for (size_t at = 0; at < payload_.len; at++) {
    uint8_t before = payload_.data[at];
    for (int value = 0; value < 256; value++) {
      payload_.data[at] = static_cast<uint8_t>(value);
      pprof_status status =
          ppi_run_decode(&decoder_, &encoder_->run, payload_.data);
      ASSERT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_CORRUPT);
    }
    payload_.data[at] = before;
  }
  ppi_log_run run = encoder_->run;
  for (run.payload_len = 0; run.payload_len < payload_.len; run.payload_len++)
    EXPECT_EQ(ppi_run_decode(&decoder_, &run, payload_.data),
              PPROF_STATUS_CORRUPT);
  run.num_events = UINT32_MAX;
  EXPECT_EQ(ppi_run_decode(&decoder_, &run, payload_.data),
            PPROF_STATUS_CORRUPT);
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
