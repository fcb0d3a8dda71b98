// SPDX-License-Identifier: Apache-2.0
//
// Small files that claim, or become, very large ones: read within 512 MiB of
// address space, without hours of the processor, or refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <ctime>

#include "base/mem.h"
#include "import/import.h"
#include "log/format/log_format.h"
#include "log/read/log_section.h"
#include "log_fixture.h"
#include "pprof/report.h"
#include "recover/salvage.h"
#include "schema/schema.h"
#include "spool/spool.h"
#include "tests/support/patience.h"

namespace {

using pplog::Spill;

class BombTest : public testing::Test {
 protected:
  void SetUp() override {
    const rlimit memory = {512u << 20, RLIM_INFINITY};
    // The tests before this one have used some of the process's time.
    const rlimit seconds = {
        static_cast<rlim_t>(clock() / CLOCKS_PER_SEC) + PPROF_PATIENCE_SECONDS,
        RLIM_INFINITY};
    ASSERT_EQ(0, setrlimit(RLIMIT_AS, &memory));
    ASSERT_EQ(0, setrlimit(RLIMIT_CPU, &seconds));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_report_create(&report_));
  }
  void TearDown() override {
    pprof_report_destroy(report_);
  }
  pprof_status Import(const std::string &name) {
    const std::string path = folder_ / name;
    return ppi_import_read(path.c_str(), pprof_report_sink(report_), nullptr,
                           &error_);
  }
  pprof_status Read(const std::string &name) {
    const std::string path = folder_ / name;
    return pprof_log_read(path.c_str(), pprof_report_sink(report_), &error_);
  }
  // `times` copies of `piece` between the two ends, compressed as they come.
  void Gzip(const std::string &name, const std::string &head,
            const std::string &piece, int times, const std::string &tail) {
    gzFile out = gzopen((folder_ / name).c_str(), "wb9");
    auto put = [&](const std::string &text) {
      gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    };
    put(head);
    for (int i = 0; i < times; i++) put(piece);
    put(tail);
    gzclose(out);
  }

  pplog::Folder folder_;
  pprof_report *report_ = nullptr;
  pprof_error error_ = {""};
};

const char kHead[] = "{\"traceEvents\":[";
const std::string kMegabyte(1u << 20, ' ');

TEST_F(BombTest, GzipOfBlanks) {
  Gzip("t.json.gz", kHead, kMegabyte, 300, "]}");
  EXPECT_EQ(PPROF_STATUS_OK, Import("t.json.gz"));
}

TEST_F(BombTest, GzipOfOneName) {
  Gzip("t.json.gz",
       std::string(kHead) +
           "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,"
           "\"dur\":1,\"name\":\"",
       std::string(1u << 20, 'x'), 200, "\"}]}");
  EXPECT_EQ(PPROF_STATUS_OK, Import("t.json.gz")) << error_.text;
}

TEST_F(BombTest, GzipOfArguments) {
  Gzip("t.json.gz",
       std::string(kHead) +
           "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,"
           "\"dur\":1,\"name\":\"a\",\"args\":{\"a\":0",
       ",\"" + std::string(1u << 20, 'k') + "\":[1,2,[3]]", 100, "}}]}");
  EXPECT_EQ(PPROF_STATUS_OK, Import("t.json.gz")) << error_.text;
}

TEST_F(BombTest, GzipOfNesting) {
  Gzip("t.json.gz", "{\"a\":", std::string(1u << 20, '['), 100, "");
  EXPECT_EQ(PPROF_STATUS_INVALID, Import("t.json.gz"));
  EXPECT_NE(nullptr, strstr(error_.text, "nested deeper")) << error_.text;
}

TEST_F(BombTest, GzipInGzip) {
  Gzip("inner.json.gz", kHead, kMegabyte, 100, "]}");
  const std::string inner = pplog::Slurp(folder_ / "inner.json.gz");
  Gzip("t.json.gz", inner, "", 0, "");
  EXPECT_EQ(PPROF_STATUS_INVALID, Import("t.json.gz"));
}

TEST_F(BombTest, NumbersWithoutEnd) {
  Spill(folder_ / "t.json", std::string(kHead) + "{\"ph\":\"X\",\"ts\":1" +
                                std::string(10u << 20, '0') +
                                "e999999999,\"dur\":1}]}");
  const pprof_status status = Import("t.json");
  EXPECT_TRUE(status == PPROF_STATUS_OK || error_.text[0]) << status;
}

TEST_F(BombTest, ProcessesAndThreadsWithoutEnd) {
  std::string events = kHead;
  for (int i = 0; i < 200000; i++)
    events +=
        (i ? "," : "") +
        ("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,"
         "\"pid\":" +
         std::to_string(i % 5000) + ",\"tid\":" + std::to_string(i) + "}");
  Spill(folder_ / "t.json", events + "]}");
  const pprof_status status = Import("t.json");
  EXPECT_TRUE(status == PPROF_STATUS_OK || error_.text[0]) << status;
}

// One block of a log with the checksums it should have.
std::string Block(ppi_log_header header, const std::string &stored) {
  header.stored_len = static_cast<uint32_t>(stored.size());
  header.payload_crc = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef *>(stored.data()),
            static_cast<uInt>(stored.size())));
  uint8_t bytes[PPI_LOG_HEADER_SIZE];
  ppi_log_header_store(bytes, &header, nullptr);
  return std::string(reinterpret_cast<char *>(bytes), sizeof bytes) + stored;
}

std::string FileHeader() {
  uint8_t bytes[PPI_LOG_FILE_HEADER_SIZE];
  ppi_log_file_header_store(bytes, pplog::kUuid);
  return std::string(reinterpret_cast<char *>(bytes), sizeof bytes);
}

TEST_F(BombTest, BlocksThatInflateToMoreThanTheySay) {
  const std::string raw(8u << 20, '\0');
  uLongf len = compressBound(raw.size());
  std::string packed(len, '\0');
  ASSERT_EQ(Z_OK,
            compress(reinterpret_cast<Bytef *>(&packed[0]), &len,
                     reinterpret_cast<const Bytef *>(raw.data()), raw.size()));
  packed.resize(len);
  std::string log = FileHeader();
  for (uint64_t number = 0; number < 2000; number++) {
    ppi_log_header header = {};
    header.type = number ? PPI_LOG_DEFINITIONS : PPI_LOG_INFO;
    header.codec = 1;
    header.raw_len = PPI_LOG_MAX_RAW;
    header.number = number;
    log += Block(header, packed);
  }
  Spill(folder_ / "run.pplog", log);
  EXPECT_EQ(PPROF_STATUS_CORRUPT, Read("run.pplog"));
}

TEST_F(BombTest, LengthsBeyondTheFileAndAnyLimit) {
  for (uint32_t len : {1000u, 65536u, 65537u, 0x7fffffffu, 0xffffffffu}) {
    ppi_log_header header = {};
    header.type = PPI_LOG_INFO;
    header.raw_len = len;
    std::string block = Block(header, "");
    for (int i = 0; i < 4; i++)
      block[20 + i] = static_cast<char>(len >> (8 * i));
    const auto crc = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef *>(&block[8]), 48));
    for (int i = 0; i < 4; i++)
      block[4 + i] = static_cast<char>(crc >> (8 * i));
    Spill(folder_ / "run.pplog", FileHeader() + block);
    EXPECT_EQ(PPROF_STATUS_CORRUPT, Read("run.pplog")) << len;
  }
}

// A gigabyte of beginnings of blocks.
TEST_F(BombTest, LogOfHolesAndMagics) {
  const std::string path = folder_ / "run.pplog";
  Spill(path, FileHeader());
  const int fd = open(path.c_str(), O_WRONLY);
  for (off_t at = 64; at < off_t{1} << 30; at += 1 << 20)
    ASSERT_EQ(4, pwrite(fd, PPI_LOG_BLOCK_MAGIC, 4, at));
  close(fd);
  EXPECT_EQ(PPROF_STATUS_CORRUPT, Read("run.pplog"));
  ppi_log_section *sections = nullptr;
  size_t num = 0;
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_log_sections(path.c_str(), &sections, &num, nullptr));
  ppi_free(sections);
}

// A spool says how large it is; the file need not hold that.
TEST_F(BombTest, SpoolWithoutEnd) {
  ppi_spool_header header = {};
  memcpy(header.magic, PPI_SPOOL_MAGIC, sizeof header.magic);
  header.version = PPI_SPOOL_VERSION;
  header.num_chunks = UINT32_MAX;
  header.pool_first = UINT32_MAX - 1;
  header.ticks_per_second = 1000000000;
  header.names_size = uint64_t{1} << 40;
  header.names_end = header.names_size;
  header.staging_offset = PPI_CHUNK_SIZE;
  header.staging_size = uint64_t{1} << 40;
  header.num_lane_slots = UINT32_MAX;
  const std::string path = folder_ / "pprof-x.spool";
  Spill(path, std::string(reinterpret_cast<char *>(&header), sizeof header));
  for (off_t size : {off_t{65536}, off_t{64} << 20, off_t{1} << 42}) {
    if (truncate(path.c_str(), size) != 0) continue;  // beyond the file system
    ppi_salvage *salvage = nullptr;
    EXPECT_NE(PPROF_STATUS_OK,
              ppi_salvage_open(path.c_str(), &salvage, &error_))
        << size;
    EXPECT_NE(0, error_.text[0]);
  }
}

TEST_F(BombTest, YamlOfAliases) {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; c++) {
    const std::string before(1, static_cast<char>(c - 1));
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; i++) text += "*" + before + ",";
    text += "]\n";
  }
  Spill(folder_ / "p.yaml", text);
  static ppi_config config;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_config_defaults(&config));
  EXPECT_EQ(PPROF_STATUS_CONFIG,
            ppi_config_read(&config, (folder_ / "p.yaml").c_str(), &error_));
  EXPECT_NE(nullptr, strstr(error_.text, "anchors")) << error_.text;
}

}  // namespace
