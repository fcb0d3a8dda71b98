// SPDX-License-Identifier: Apache-2.0
//
// Whole, cut, damaged, foreign and newer logs.
#include "log/format/log_file.h"
#include "log/format/log_format.h"

#include <zlib.h>

#include <random>

#include "base/mem.h"
#include "log/format/log_block.h"
#include "log/read/log_reader.h"
#include "log/read/log_section.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

// A small log with blocks of every type; three event blocks.
std::string WriteLog(const std::string &path, bool finish = true) {
  pprof_sink *writer = Create(path);
  Info info(std::vector<ppi_text>{{"spool", "/dev/shm/none"}});
  EXPECT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
  EXPECT_EQ(writer->window(writer, 0, true, 0), PPROF_STATUS_OK);
  pprof_definition site = Site(1, "decode \xc3\xa9");
  EXPECT_EQ(writer->define(writer, &site), PPROF_STATUS_OK);
  for (uint64_t i = 0; i < 3; i++) {
    uint64_t t = i * 1000;
    std::vector<pprof_event> events = {Range(1, 1, 1, t + 10, t + 20),
                                       Range(1, 1, 0, t + 5, t + 30)};
    pprof_batch batch = Batch(1, i * 2, i * 2 + 2, events);
    EXPECT_EQ(writer->events(writer, &batch), PPROF_STATUS_OK);
    pprof_event open = Range(1, 1, 0, t + 40, t + 50);
    pprof_checkpoint checkpoint = {t + 50, &open, 1};
    EXPECT_EQ(writer->checkpoint(writer, &checkpoint), PPROF_STATUS_OK);
  }
  EXPECT_EQ(writer->window(writer, 0, false, 3000), PPROF_STATUS_OK);
  if (finish) {
    ppi_total items[] = {{1, PPI_TOTAL_RECORDED, 6},
                         {PPROF_ALL_LANES, PPI_TOTAL_RECORDED, 6},
                         {PPROF_ALL_LANES, PPI_TOTAL_CRASH_SAFE, 1}};
    ppi_text note = {"clock", "tsc"};
    pprof_totals totals = {items, 3, &note, 1};
    EXPECT_EQ(writer->finish(writer, &totals), PPROF_STATUS_OK);
  }
  writer->destroy(writer);
  return finish ? path : path + ".part";
}

struct Block {
  uint64_t offset, size;
  uint8_t type;
};

std::vector<Block> Scan(const std::string &path) {
  std::vector<Block> blocks;
  ppi_log_damage damage;
  EXPECT_EQ(ppi_log_scan(
                path.c_str(),
                [](void *user, const ppi_log_block *block) {
                  EXPECT_TRUE(block->ok);
                  static_cast<std::vector<Block> *>(user)->push_back(
                      {block->offset, block->size, block->header.type});
                  return PPROF_STATUS_OK;
                },
                &blocks, &damage, nullptr),
            PPROF_STATUS_OK);
  return blocks;
}

class LogReaderTest : public ::testing::Test {
 protected:
  Folder folder_;
  std::string path_ = folder_ / "x.pplog";
};

const char kEvent[] = "event 1 kind=1 site=1 lane=1 stream=0 ";
const char kRest[] = " device=0..0+-0 value=0000000000000000 flows=[] work=-";

TEST_F(LogReaderTest, SaysWhatTheWriterWasTold) {
  WriteLog(path_);
  std::string event = kEvent, rest = kRest, open = "open" + event.substr(7);
  Lines lines = Read(path_);
  ASSERT_GE(lines.size(), 11u);
  Lines head(lines.begin(), lines.begin() + 11);
  EXPECT_EQ(
      head,
      (Lines{"info uuid=0123456789abcdef0123456789abcdef", "info host=box",
             "info spool=/dev/shm/none", "begin", "window index=0 opens time=0",
             "define kind=1 id=1 parent=13 color=0 number=0 "
             "name=decode \\xc3\\xa9",
             "batch lane=1 seq=0..2 num=2",
             event + "depth=1 flags=0 window=0 host=10..20" + rest,
             event + "depth=0 flags=0 window=0 host=5..30" + rest,
             "checkpoint time=50",
             open + "depth=0 flags=0 window=0 host=40..50" + rest}));
  Lines tail(lines.end() - 6, lines.end());
  EXPECT_EQ(tail,
            (Lines{"window index=0 closes time=3000", "total lane=1 recorded=6",
                   "total lane=-1 recorded=6", "total lane=-1 crash_safe=1",
                   "note clock=tsc", "finish"}));
}

// Which library compressed a log stands in it, but is told to no sink: a live
// run has no such text.
TEST_F(LogReaderTest, CompressorIsOfTheLogNotOfTheRun) {
  WriteLog(path_);
  ppi_log_section section;
  ASSERT_EQ(ppi_log_peek(path_.c_str(), 0, &section), PPROF_STATUS_OK);
  EXPECT_STREQ(section.compressor, ppi_codec_writer());
  for (const std::string &line : Read(path_))
    EXPECT_EQ(line.find("compressor"), std::string::npos) << line;
}

// Skimming says all but events and checkpoints, whose bytes it does not need:
// here they are garbage.
TEST_F(LogReaderTest, SkimmingLeavesEventsOut) {
  WriteLog(path_);
  Lines wanted, whole = Read(path_);
  for (const std::string &line : whole)
    if (line.rfind("batch", 0) && line.rfind("event", 0) &&
        line.rfind("checkpoint", 0) && line.rfind("open", 0))
      wanted.push_back(line);
  ASSERT_EQ(whole.size() - wanted.size(), 3 * (1 + 2 + 1 + 1u));
  std::string bytes = Slurp(path_);
  for (const Block &block : Scan(path_))
    if (block.type == PPI_LOG_EVENTS || block.type == PPI_LOG_CHECKPOINT)
      for (uint64_t at = block.offset + PPI_LOG_HEADER_SIZE + PPI_LOG_RUN_SIZE;
           at < block.offset + block.size; at++)
        bytes[at] = 'P';
  Spill(path_, bytes);
  Collector collector;
  const char *path = path_.c_str();
  pprof_error error = {""};
  EXPECT_EQ(ppi_log_skim_all(&path, 1, collector.sink(), &error),
            PPROF_STATUS_OK)
      << error.text;
  EXPECT_EQ(collector.lines(), wanted);
}

// A block of events that is not all in the file is none, skimmed or not.
TEST_F(LogReaderTest, SkimmingSeesThatEventsAreCut) {
  WriteLog(path_);
  std::string bytes = Slurp(path_);
  uint64_t end = 0;
  for (const Block &block : Scan(path_))
    if (block.type == PPI_LOG_EVENTS) end = block.offset + block.size;
  Spill(path_, bytes.substr(0, end - 1));
  ppi_log_file *file;
  ASSERT_EQ(ppi_log_file_open(path_.c_str(), &file, nullptr), PPROF_STATUS_OK);
  ppi_log_file_skim(file);
  ppi_log_block block;
  int num = 0;
  while (ppi_log_file_next(file, &block)) num += block.header.type == 3;
  EXPECT_EQ(num, 2);
  EXPECT_GT(ppi_log_file_damage(file)->num_bytes, 0u);
  ppi_log_file_close(file);
}

// Written when the format had no attributes and a log no second run; what each
// call said was noted then.
TEST_F(LogReaderTest, FirstLogsAreStillRead) {
  const std::string none = "device=0..0+-0 value=0000000000000000 ";
  const std::string event = "event 3 kind=1 site=";
  EXPECT_EQ(
      Read("tests/data/logs/v1.pplog"),
      (Lines{
          "info uuid=0123456789abcdef0123456789abcdef",
          "info host=box",
          "info pid=4242",
          "info config=log: {path: run.pplog}",
          "begin",
          "window index=0 opens time=0",
          "define kind=2 id=13 parent=0 color=0 number=0 name=Inference",
          "define kind=1 id=1 parent=13 color=1122867 number=0 name=step",
          "define kind=1 id=2 parent=13 color=0 number=0 name=d\\xc3\\xa9code",
          "define kind=3 id=3 parent=0 color=0 number=4242 name=main",
          "define kind=4 id=1 parent=0 color=0 number=0 name=opencl:0",
          "define kind=5 id=1 parent=1 color=0 number=7 name=copies",
          "batch lane=3 seq=0..5 num=5",
          event +
              "2 lane=3 stream=0 depth=1 flags=0 window=0 host=1000..1300 " +
              none + "flows=[7,9] work=-",
          event +
              "2 lane=3 stream=0 depth=1 flags=0 window=0 host=1350..1500 " +
              none + "flows=[7,9] work=-",
          event + "1 lane=3 stream=0 depth=0 flags=0 window=0 host=900..1600 " +
              none + "flows=[] work=-",
          "event 3 kind=2 site=2 lane=3 stream=1 depth=1 flags=0 window=0 "
          "host=1310..1320 device=1400..1450+-5 value=0000000000000000 "
          "flows=[] work=4020000000000000,3fe0000000000000,41cdcd6500000000,"
          "0000000000000000",
          "event 3 kind=4 site=2 lane=3 stream=0 depth=0 flags=0 window=0 "
          "host=1700..1700 device=0..0+-0 value=4004000000000000 flows=[] "
          "work=-",
          "batch lane=3 seq=5..7 num=1",
          event +
              "2 lane=3 stream=0 depth=0 flags=33 window=1 host=800..1800 " +
              none + "flows=[] work=-",
          "checkpoint time=2000",
          "open kind=1 site=1 lane=3 stream=0 depth=0 flags=0 window=0 "
          "host=1900..2000 " +
              none + "flows=[] work=-",
          "window index=0 closes time=2100",
          "total lane=3 recorded=6",
          "total lane=3 lost=1",
          "total lane=-1 recorded=6",
          "total lane=-1 lost=1",
          "note clock=tsc",
          "finish"}));
}

TEST_F(LogReaderTest, AttributesComeBack) {
  std::string long_name = "{\"stack\":\"" + std::string(16 * 1024, 's') + "\"}";
  pprof_definition definitions[] = {
      {PPROF_DEFINITION_ATTRIBUTES, 1, 0, 0, 0, "{\"dims\":[[2,3]]}"},
      {PPROF_DEFINITION_ATTRIBUTES, 7, 0, 0, 0, long_name.c_str()},
  };
  pprof_sink *writer = Create(path_);
  Info info;
  ASSERT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
  for (const pprof_definition &definition : definitions)
    ASSERT_EQ(writer->define(writer, &definition), PPROF_STATUS_OK);
  std::vector<pprof_event> events = {Range(1, 1, 0, 1, 2), Range(1, 1, 0, 3, 4),
                                     Range(1, 1, 0, 5, 6)};
  events[0].attributes = 7;
  events[2].attributes = 1;
  pprof_batch batch = Batch(1, 0, 3, events);
  ASSERT_EQ(writer->events(writer, &batch), PPROF_STATUS_OK);
  ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  writer->destroy(writer);
  Lines lines = Read(path_);
  const std::string head = "event 1 kind=1 site=1 lane=1 stream=0 ";
  EXPECT_EQ(Pick(lines, "define"),
            (Lines{"define kind=6 id=1 parent=0 color=0 number=0 "
                   "name={\"dims\":[[2,3]]}",
                   "define kind=6 id=7 parent=0 color=0 number=0 name=" +
                       long_name}));
  EXPECT_EQ(Pick(lines, "event"),
            (Lines{head + "depth=0 flags=0 window=0 host=1..2" + kRest +
                       " attributes=7",
                   head + "depth=0 flags=0 window=0 host=3..4" + kRest,
                   head + "depth=0 flags=0 window=0 host=5..6" + kRest +
                       " attributes=1"}));
}

// A damaged log may claim any id, and readers have arrays by id.
TEST_F(LogReaderTest, IdsAndParentsHaveABound) {
  const uint32_t bound = 262144;  // and four for each definition before
  pprof_sink *writer = Create(path_);
  Info info;
  ASSERT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
  const pprof_definition definitions[] = {
      {PPROF_DEFINITION_SITE, bound - 1, bound - 1, 0, 0, "last"},
      {PPROF_DEFINITION_SITE, bound + 4, 0, 0, 0, "beyond"}};
  for (const pprof_definition &definition : definitions)
    ASSERT_EQ(writer->define(writer, &definition), PPROF_STATUS_OK);
  ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  writer->destroy(writer);
  pprof_status status;
  std::string error;
  Lines lines = Read(path_, &status, &error);
  EXPECT_EQ(status, PPROF_STATUS_CORRUPT) << error;
  EXPECT_EQ(Pick(lines, "define"),
            Lines{"define kind=1 id=262143 parent=262143 color=0 number=0 "
                  "name=last"});
  EXPECT_EQ(lines.back(), "finish");
  // The parent is a category's or a device's id.
  const pprof_definition beyond = {
      PPROF_DEFINITION_STREAM, 1, bound, 0, 0, "beyond"};
  writer = Create(path_ + "2");
  ASSERT_EQ(writer->begin(writer, info.get()), PPROF_STATUS_OK);
  ASSERT_EQ(writer->define(writer, &beyond), PPROF_STATUS_OK);
  ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  writer->destroy(writer);
  EXPECT_EQ(Pick(Read(path_ + "2", &status), "define"), Lines{});
  EXPECT_EQ(status, PPROF_STATUS_CORRUPT);
}

// The shortest blocks take less than a name may be: half an object would be
// none.
TEST_F(LogReaderTest, AttributesAreNeverCut) {
  std::string bytes;
  ppi_log_assembler assembler;
  ASSERT_EQ(ppi_log_assembler_init(
                &assembler,
                [](void *user, const uint8_t *blocks, size_t len) {
                  static_cast<std::string *>(user)->append(
                      reinterpret_cast<const char *>(blocks), len);
                  return PPROF_STATUS_OK;
                },
                &bytes, 16 * 1024, 0),
            PPROF_STATUS_OK);
  std::string name = "{\"a\":\"" + std::string(16000, 'x') + "\"}";
  pprof_definition attributes = {
      PPROF_DEFINITION_ATTRIBUTES, 1, 0, 0, 0, name.c_str()};
  pprof_definition site = Site(1, name.c_str());
  EXPECT_EQ(ppi_log_assembler_define(&assembler, &attributes), PPROF_STATUS_OK);
  EXPECT_EQ(ppi_log_assembler_define(&assembler, &site), PPROF_STATUS_OK);
  EXPECT_EQ(ppi_log_assembler_flush(&assembler), PPROF_STATUS_OK);
  ppi_log_assembler_clear(&assembler);
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, kUuid);
  Spill(path_,
        std::string(reinterpret_cast<char *>(header), sizeof header) + bytes);
  Lines lines = Pick(Read(path_), "define");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "define kind=6 id=1 parent=0 color=0 number=0 name={}");
  // Of other names readers keep what writers of sessions do.
  EXPECT_EQ(lines[1], "define kind=1 id=1 parent=13 color=0 number=0 name=" +
                          name.substr(0, 4096));
}

TEST_F(LogReaderTest, PartWithoutTotalsIsWholeButIncomplete) {
  std::string part = WriteLog(path_, false);
  Lines lines = Read(part);
  EXPECT_EQ(Pick(lines, "event").size(), 6u);
  EXPECT_EQ(Pick(lines, "total"),
            (Lines{"total lane=1 recorded=6", "total lane=-1 recorded=6",
                   "total lane=-1 ended_without_stop=1"}));
}

TEST_F(LogReaderTest, MissingEmptyForeign) {
  pprof_status status;
  std::string error;
  Read(folder_ / "none", &status, &error);
  EXPECT_EQ(status, PPROF_STATUS_IO);
  EXPECT_EQ(error, folder_ / "none" + ": No such file or directory");
  Read(folder_ / ".", &status, &error);
  EXPECT_EQ(status, PPROF_STATUS_IO);
  Spill(path_, "");
  Read(path_, &status, &error);
  EXPECT_EQ(status, PPROF_STATUS_INVALID);
  EXPECT_EQ(error, path_ + ": the file is empty");
  for (const char *text : {"P", "{\"traceEvents\":[]}"}) {
    Spill(path_, text);
    Read(path_, &status, &error);
    EXPECT_EQ(status, PPROF_STATUS_INVALID);
    EXPECT_EQ(error, path_ + ": not a pprof log");
  }
  Spill(path_, std::string(300000, 'x'));
  Read(path_, &status, &error);
  EXPECT_EQ(status, PPROF_STATUS_INVALID);
}

TEST_F(LogReaderTest, NewerVersionIsRefused) {
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(header, kUuid);
  header[8] = 2;
  // CRC-32 of the changed first sixty bytes, made by Python's zlib.crc32.
  const uint8_t crc[] = {0xce, 0xf4, 0x47, 0x46};
  memcpy(header + 60, crc, 4);
  Spill(path_, std::string(reinterpret_cast<char *>(header), sizeof header));
  pprof_status status;
  std::string error;
  Read(path_, &status, &error);
  EXPECT_EQ(status, PPROF_STATUS_VERSION);
  EXPECT_EQ(error, path_ + ": log version 2.0, this pprof reads up to 1");
}

TEST_F(LogReaderTest, CutFileKeepsWholeBlocks) {
  WriteLog(path_);
  std::string bytes = Slurp(path_), cut = folder_ / "cut";
  std::vector<Block> blocks = Scan(path_);
  for (size_t len = 8; len < bytes.size(); len++) {
    Spill(cut, bytes.substr(0, len));
    uint64_t whole = len < 64 ? 0 : 64;
    size_t events = 0;
    for (const Block &block : blocks)
      if (block.offset + block.size <= len) {
        whole = block.offset + block.size;
        events += block.type == PPI_LOG_EVENTS ? 2 : 0;
      }
    pprof_status status;
    std::string error;
    Lines lines = Read(cut, &status, &error);
    ASSERT_EQ(Pick(lines, "event").size(), events) << len;
    ASSERT_EQ(lines.back(), "finish");
    ASSERT_EQ(Pick(lines, "total lane=-1 ended_without_stop=1").size(), 1u);
    ASSERT_EQ(status, whole == len ? PPROF_STATUS_OK : PPROF_STATUS_CORRUPT);
    if (whole == len) continue;
    char text[64];
    snprintf(text, sizeof text, "@0x%llx: ended without stop, %llu bytes",
             (unsigned long long)whole, (unsigned long long)(len - whole));
    ASSERT_EQ(error, cut + text + " unreadable");
  }
}

TEST_F(LogReaderTest, DamageCostsTheDamagedBlockOnly) {
  WriteLog(path_);
  std::string bytes = Slurp(path_), bad = folder_ / "bad";
  std::vector<Block> blocks = Scan(path_);
  for (size_t at = 0; at < bytes.size(); at++) {
    for (int bit : {0, 7}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      Spill(bad, changed);
      uint8_t hit = 0;
      uint64_t begin = 0, size = 64;
      for (const Block &block : blocks)
        if (at >= block.offset && at < block.offset + block.size) {
          hit = block.type;
          begin = block.offset;
          size = block.size;
        }
      pprof_status status;
      std::string error;
      Lines lines = Read(bad, &status, &error);
      ASSERT_EQ(status, PPROF_STATUS_CORRUPT) << at;
      ASSERT_EQ(Pick(lines, "event").size(), hit == PPI_LOG_EVENTS ? 4u : 6u);
      ASSERT_EQ(Pick(lines, "checkpoint").size(),
                hit == PPI_LOG_CHECKPOINT ? 2u : 3u);
      ASSERT_EQ(Pick(lines, "finish").size(), 1u);
      char text[64];
      snprintf(text, sizeof text, "@0x%llx: ", (unsigned long long)begin);
      ASSERT_EQ(error.find(bad + text), 0u) << error;
      snprintf(text, sizeof text, ", %llu bytes unreadable",
               (unsigned long long)size);
      ASSERT_NE(error.find(text), std::string::npos) << error;
    }
  }
}

TEST_F(LogReaderTest, RemovedBlockIsMissed) {
  WriteLog(path_);
  std::string bytes = Slurp(path_);
  for (const Block &block : Scan(path_))
    if (block.type == PPI_LOG_EVENTS) {
      bytes.erase(block.offset, block.size);
      break;
    }
  Spill(path_, bytes);
  pprof_status status;
  std::string error;
  Lines lines = Read(path_, &status, &error);
  EXPECT_EQ(status, PPROF_STATUS_CORRUPT);
  EXPECT_EQ(error, path_ + ": 1 blocks are missing");
  EXPECT_EQ(Pick(lines, "event").size(), 4u);
}

TEST_F(LogReaderTest, RepeatedBlocksCountOnce) {
  WriteLog(path_);
  std::string bytes = Slurp(path_), doubled = bytes.substr(0, 64);
  for (const Block &block : Scan(path_))
    for (int i = 0; i < 2; i++)
      doubled += bytes.substr(block.offset, block.size);
  Spill(folder_ / "doubled", doubled);
  EXPECT_EQ(Read(folder_ / "doubled"), Read(path_));
}

TEST_F(LogReaderTest, UnknownBlockTypesAreSkipped) {
  WriteLog(path_);
  std::string bytes = Slurp(path_);
  ppi_log_header header = {};
  header.type = 99;
  header.number = 1000;
  std::string block(PPI_LOG_HEADER_SIZE, 0);
  ppi_log_header_store(reinterpret_cast<uint8_t *>(&block[0]), &header,
                       nullptr);
  // Its number comes after the others, as a later writer's would.
  Spill(folder_ / "new", bytes + block);
  pprof_status status;
  std::string error;
  Lines lines = Read(folder_ / "new", &status, &error);
  EXPECT_EQ(lines, Read(path_));
  EXPECT_NE(error.find("blocks are missing"), std::string::npos);
}

// Right checksums around any payload at all, for each type.
TEST_F(LogReaderTest, HostilePayloads) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; round++) {
    uint8_t head[PPI_LOG_FILE_HEADER_SIZE];
    ppi_log_file_header_store(head, kUuid);
    std::string bytes(reinterpret_cast<char *>(head), sizeof head);
    for (uint64_t number = 0; number < 12; number++) {
      std::string payload;
      for (uint32_t n = random() % 40; n > 0; n--)
        payload += static_cast<char>(random() % 3 ? random() % 6 : random());
      ppi_log_header header = {};
      header.type = static_cast<uint8_t>(1 + random() % 6);
      header.codec = random() % 8 == 0;
      header.flags = random() % 4 ? 0 : static_cast<uint16_t>(random() % 4);
      header.raw_len = header.stored_len =
          static_cast<uint32_t>(payload.size());
      if (random() % 8 == 0) header.raw_len = random() % 65537;
      header.number = number;
      ppi_log_run run = {
          1, 0, 0, 9, static_cast<uint32_t>(random() % 9), header.raw_len};
      header.num_runs =
          header.type == PPI_LOG_EVENTS || header.type == PPI_LOG_CHECKPOINT;
      header.num_events = header.num_runs ? run.num_events : 0;
      header.payload_crc = static_cast<uint32_t>(
          crc32(0, reinterpret_cast<const Bytef *>(payload.data()),
                static_cast<uInt>(payload.size())));
      std::string block(ppi_log_runs_end(&header), 0);
      ppi_log_header_store(reinterpret_cast<uint8_t *>(&block[0]), &header,
                           &run);
      bytes += block + payload;
    }
    Spill(path_, bytes);
    pprof_status status;
    Lines lines = Read(path_, &status);
    ASSERT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_CORRUPT);
    ASSERT_EQ(lines.back(), "finish");
  }
}

TEST_F(LogReaderTest, FailingSinkEndsTheReading) {
  WriteLog(path_);
  pprof_sink sink = {};
  sink.size = sizeof sink;
  sink.events = [](pprof_sink *, const pprof_batch *) {
    return PPROF_STATUS_UNSUPPORTED;
  };
  sink.finish = [](pprof_sink *, const pprof_totals *) {
    ADD_FAILURE() << "finish after a failure";
    return PPROF_STATUS_OK;
  };
  EXPECT_EQ(pprof_log_read(path_.c_str(), &sink, nullptr),
            PPROF_STATUS_UNSUPPORTED);
}

TEST_F(LogReaderTest, CallbacksMayBeNull) {
  WriteLog(path_);
  pprof_sink sink = {};
  sink.size = sizeof sink;
  EXPECT_EQ(pprof_log_read(path_.c_str(), &sink, nullptr), PPROF_STATUS_OK);
}

TEST_F(LogReaderTest, OutOfMemoryIsSaid) {
  WriteLog(path_);
  pprof_sink sink = {};
  sink.size = sizeof sink;
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  for (uint64_t n = 1; status != PPROF_STATUS_OK; n++) {
    ppi_mem_fail_at(n);
    status = pprof_log_read(path_.c_str(), &sink, nullptr);
    ppi_mem_fail_at(0);
    ASSERT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_NO_MEMORY)
        << n << ": " << pprof_status_string(status);
    ASSERT_LT(n, 500u);
  }
}

}  // namespace
}  // namespace pplog
