// SPDX-License-Identifier: Apache-2.0
//
// More names than a session holds, where a name is not what it is given as:
// hashed ones, ones of which a part is kept, and those of C++ objects. Each
// record has the name that it was made under, though ids and room go from one
// to another.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "base/sha256.h"
#include "names/names.h"
#include "names/names_area.h"
#include "pprof/log.h"
#include "pprof/mark.h"
#include "pprof/pprof.h"
#include "pprof/pprof.hpp"
#include "pprof/session.h"
#include "tests/support/patient_flush.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

// FIPS 180-4, the first 12 hexadecimal digits.
std::string Hashed(const std::string &name) {
  uint8_t digest[32];
  ppi_sha256(name.data(), name.size(), digest);
  std::string text = "#";
  for (int i = 0; i < 6; i++) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", digest[i]);
    text += digits;
  }
  return text;
}

class NamesKindsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/kindsXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&folder_[0]));
  }
  void TearDown() override {
    unlink((folder_ + "/p.yaml").c_str());
    unlink((folder_ + "/run.pplog").c_str());
    rmdir(folder_.c_str());
  }
  void Start(const std::string &more) {
    std::ofstream(folder_ + "/p.yaml")
        << "output: " << folder_ << "/run.pplog\n"
        << more;
    pprof_error error = {};
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_start((folder_ + "/p.yaml").c_str(), &error))
        << error.text;
  }
  void Use(const std::string &name) {
    pprof_push_name(name.c_str(), PPROF_CATEGORY_FORWARD);
    pprof_pop();
    num_made_++;
  }
  void Flush() {
    FlushPatiently(pprof_session_current());
  }
  Recording Read() {
    Recording read;
    pprof_sink *sink = RecordingSink::Make(&read);
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_log_read((folder_ + "/run.pplog").c_str(), sink, &error))
        << error.text;
    RecordingSink::Destroy(sink);
    EXPECT_EQ(num_made_, read.events.size());
    EXPECT_EQ(0u, read.Total(PPI_TOTAL_LOST));
    EXPECT_EQ(0u, read.Total(PPI_TOTAL_NAMES_OVERFLOWED));
    return read;
  }

  std::string folder_;
  size_t num_made_ = 0;
};

TEST_F(NamesKindsTest, Hashed) {
  constexpr int kNum = 2 * PPI_MAX_SITES;
  Start("privacy: {names: hash, allow: [plain*]}\n");
  for (int i = 0; i < kNum; i++) {
    Use("user " + std::to_string(i % (kNum - 1000)));  // the first come again
    if (i % 10 == 0) Use("plain " + std::to_string(i));
    if (i % 500 == 0) Flush();
  }
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  const Recording read = Read();
  size_t at = 0;
  for (int i = 0; i < kNum && at < read.events.size(); i++) {
    ASSERT_EQ(Hashed("user " + std::to_string(i % (kNum - 1000))),
              read.events[at++].name);
    if (i % 10) continue;
    ASSERT_EQ("plain " + std::to_string(i), read.events[at++].name);
  }
}

TEST_F(NamesKindsTest, OfObjects) {
  constexpr int kNum = 2 * PPI_MAX_SITES;
  Start("");
  for (int i = 0; i < kNum; i += 2) {
    { pprof::scope scope("call " + std::to_string(i)); }
    pprof::mark("mark " + std::to_string(i));
    if (i % 500 == 0) Flush();
  }
  num_made_ = kNum;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  const Recording read = Read();
  for (size_t i = 0; i + 1 < read.events.size(); i += 2) {
    ASSERT_EQ("call " + std::to_string(i), read.events[i].name);
    ASSERT_EQ("mark " + std::to_string(i), read.events[i + 1].name);
  }
}

TEST_F(NamesKindsTest, CutWhereTheyAreTooLong) {
  constexpr int kNum = 10000;
  const std::string rest(2 * PPI_MAX_NAME, 'x');
  Start("memory_limit: 16MiB\n");
  for (int i = 0; i < kNum; i++) {
    Use(std::to_string(i) + rest);
    if (i % 20 == 0) Flush();
  }
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  const Recording read = Read();
  for (size_t i = 0; i < read.events.size(); i++)
    ASSERT_EQ((std::to_string(i) + rest).substr(0, PPI_MAX_NAME),
              read.events[i].name);
}

}  // namespace
}  // namespace pprof_test
