// SPDX-License-Identifier: Apache-2.0
//
// What merging logs keeps, drops and refuses.
#include "log/read/log_merge.h"

#include <dirent.h>

#include "base/mem.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

// Messages are cut where names grow long.
const char *NameOf(const std::string &path) {
  return path.c_str() + path.rfind('/') + 1;
}

// A log of one run; `size` events tell contents apart.
std::string MakeRun(const std::string &path, const char *uuid, size_t size,
                    bool finish = true) {
  pprof_sink *writer = Create(path);
  ppi_text text = {"uuid", uuid};
  pprof_run_info info = {&text, uuid[0] ? 1u : 0u, nullptr};
  EXPECT_EQ(writer->begin(writer, &info), PPROF_STATUS_OK);
  std::vector<pprof_event> events(size, Range(1, 1, 0, 10, 20));
  pprof_batch batch = Batch(1, 0, size, events);
  EXPECT_EQ(writer->events(writer, &batch), PPROF_STATUS_OK);
  if (finish) {
    EXPECT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
  }
  writer->destroy(writer);
  return finish ? path : path + ".part";
}

class MergeTest : public ::testing::Test {
 protected:
  ppi_log_merge_end Merge(const std::vector<std::string> &paths) {
    inputs_.clear();
    for (const std::string &path : paths)
      inputs_.push_back({path.c_str(), NameOf(path), false, {}, false, 0});
    return ppi_log_merge(inputs_.data(), inputs_.size(), out_.c_str(), &error_);
  }
  // Merging leaves nothing but its output behind.
  void ExpectNoOutput() {
    EXPECT_FALSE(Exists(out_));
    DIR *folder = opendir((folder_ / "").c_str());
    while (const dirent *entry = readdir(folder))
      EXPECT_EQ(std::string(entry->d_name).find("out"), std::string::npos)
          << entry->d_name;
    closedir(folder);
  }

  Folder folder_;
  std::string out_ = folder_ / "out.pplog";
  std::string a_ = MakeRun(folder_ / "a.pplog", "aaaa", 3);
  std::string b_ = MakeRun(folder_ / "b.pplog", "bbbb", 5);
  std::vector<ppi_log_merge_input> inputs_;
  pprof_error error_ = {""};
};

TEST_F(MergeTest, RunsVerbatimByUuid) {
  EXPECT_EQ(Merge({b_, a_}), PPI_LOG_MERGED);
  EXPECT_EQ(Slurp(out_), Slurp(a_) + Slurp(b_));
  EXPECT_TRUE(inputs_[0].complete && inputs_[1].complete);
}

TEST_F(MergeTest, TheSameRunCountsOnce) {
  Spill(folder_ / "both", Slurp(a_) + Slurp(b_));
  EXPECT_EQ(Merge({a_, folder_ / "both", a_}), PPI_LOG_MERGED);
  EXPECT_EQ(Slurp(out_), Slurp(a_) + Slurp(b_));
}

TEST_F(MergeTest, OneUuidTwoContents) {
  std::string other = MakeRun(folder_ / "c.pplog", "aaaa", 4);
  EXPECT_EQ(Merge({a_, b_, other}), PPI_LOG_MERGE_CONFLICT);
  const std::string said = error_.text;
  const std::string tail = ": both hold run aaaa, with different bytes";
  EXPECT_TRUE(said == "a.pplog and c.pplog" + tail ||
              said == "c.pplog and a.pplog" + tail)
      << said;
  ExpectNoOutput();
}

// Equal in length, so that nothing but the bytes tells them apart.
TEST_F(MergeTest, ConflictOfEqualLength) {
  std::string bytes = Slurp(a_), other = folder_ / "c.pplog";
  bytes[10] = 1;  // the minor version, which any reader takes
  // CRC-32 of the changed first sixty bytes, made by Python's zlib.crc32.
  const unsigned char crc[] = {0x06, 0x40, 0x4e, 0x58};
  bytes.replace(60, 4, reinterpret_cast<const char *>(crc), 4);
  Spill(other, bytes);
  EXPECT_EQ(Merge({a_, other}), PPI_LOG_MERGE_CONFLICT);
  EXPECT_EQ(Merge({other}), PPI_LOG_MERGED);
  EXPECT_EQ(Slurp(out_), bytes);
}

// Without a uuid nothing says that two runs belong together.
TEST_F(MergeTest, RunsWithoutUuid) {
  std::string one = MakeRun(folder_ / "1", "", 3);
  std::string two = MakeRun(folder_ / "2", "", 700);
  EXPECT_EQ(Merge({one, two, one}), PPI_LOG_MERGED);
  std::string merged = Slurp(out_);
  EXPECT_EQ(merged, Slurp(one) + Slurp(two));
  unlink(out_.c_str());
  EXPECT_EQ(Merge({two, one}), PPI_LOG_MERGED);
  EXPECT_EQ(Slurp(out_), merged);
}

TEST_F(MergeTest, UnfinishedIsCopied) {
  std::string part = MakeRun(folder_ / "p", "pppp", 3, false);
  EXPECT_EQ(Merge({part, a_}), PPI_LOG_MERGED);
  EXPECT_EQ(Slurp(out_), Slurp(a_) + Slurp(part));
  EXPECT_FALSE(inputs_[0].complete);
  EXPECT_TRUE(inputs_[1].complete);
  EXPECT_EQ(inputs_[0].damage.num_bytes, 0u);
}

// Of a damaged run come its whole blocks; merged again they are the same run.
TEST_F(MergeTest, DamagedIsCopiedAsFarAsItGoes) {
  std::string bytes = Slurp(a_), bad = folder_ / "bad";
  Spill(bad, bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(Merge({bad, b_}), PPI_LOG_MERGED);
  EXPECT_GT(inputs_[0].damage.num_bytes, 0u);
  std::string merged = Slurp(out_);
  EXPECT_EQ(merged.size() - Slurp(b_).size(),
            bytes.size() - 1 - inputs_[0].damage.num_bytes);
  EXPECT_EQ(bytes.substr(0, merged.size() - Slurp(b_).size()) + Slurp(b_),
            merged);
  Spill(folder_ / "again", merged);
  EXPECT_EQ(Merge({folder_ / "again", bad, b_}), PPI_LOG_MERGED);
  EXPECT_EQ(Slurp(out_), merged);
}

// The run info says whose run it is.
TEST_F(MergeTest, DamagedHeaderIsMadeAnew) {
  std::string bytes = Slurp(a_);
  bytes[20] ^= 1;
  Spill(folder_ / "bad", bytes);
  EXPECT_EQ(Merge({folder_ / "bad", b_}), PPI_LOG_MERGED);
  EXPECT_EQ(inputs_[0].damage.num_bytes, 64u);
  EXPECT_EQ(Slurp(out_), Slurp(a_) + Slurp(b_));
}

TEST_F(MergeTest, UnreadableInputsLeaveNoOutput) {
  EXPECT_EQ(Merge({a_, folder_ / "none"}), PPI_LOG_MERGE_BAD_INPUT);
  EXPECT_EQ(error_.text, folder_ / "none" + ": No such file or directory");
  Spill(folder_ / "text", "hello");
  EXPECT_EQ(Merge({a_, folder_ / "text"}), PPI_LOG_MERGE_BAD_INPUT);
  EXPECT_EQ(error_.text, folder_ / "text" + ": not a pprof log");
  Spill(folder_ / "head", Slurp(a_).substr(0, 40));
  EXPECT_EQ(Merge({folder_ / "head"}), PPI_LOG_MERGE_BAD_INPUT);
  EXPECT_STREQ(error_.text, "there is no run to merge");
  ExpectNoOutput();
}

TEST_F(MergeTest, OutputIsReplacedWhenItIsWhole) {
  Spill(out_, "before");
  EXPECT_EQ(Merge({folder_ / "none"}), PPI_LOG_MERGE_BAD_INPUT);
  EXPECT_EQ(Slurp(out_), "before");
  EXPECT_EQ(Merge({a_}), PPI_LOG_MERGED);
  EXPECT_EQ(Slurp(out_), Slurp(a_));
}

TEST_F(MergeTest, UnwritableOutput) {
  out_ = folder_ / "nowhere/out.pplog";
  EXPECT_EQ(Merge({a_}), PPI_LOG_MERGE_BAD_OUTPUT);
  out_ = "/dev/full";
  EXPECT_EQ(Merge({a_}), PPI_LOG_MERGE_BAD_OUTPUT);
  EXPECT_STREQ(error_.text, "/dev/full: cannot write: No space left on device");
}

TEST_F(MergeTest, OutOfMemoryIsSaid) {
  ppi_log_merge_end end = PPI_LOG_MERGE_BAD_INPUT;
  for (uint64_t n = 1; end != PPI_LOG_MERGED; n++) {
    ppi_mem_fail_at(n);
    end = Merge({b_, a_, b_});
    ppi_mem_fail_at(0);
    ASSERT_TRUE(end == PPI_LOG_MERGED || end == PPI_LOG_MERGE_BAD_INPUT) << n;
    if (end != PPI_LOG_MERGED) ExpectNoOutput();
    ASSERT_LT(n, 300u);
  }
  EXPECT_EQ(Slurp(out_), Slurp(a_) + Slurp(b_));
}

}  // namespace
}  // namespace pplog
