// SPDX-License-Identifier: Apache-2.0
//
// Merging is associative and commutative to the byte, and each run counts once:
// any set of logs, in any order, through any tree of merges, gives one file.
#include <algorithm>
#include <random>

#include "log/read/log_merge.h"
#include "tests/support/log_events.h"
#include "tests/support/log_fixture.h"

namespace pplog {
namespace {

using Paths = std::vector<std::string>;

class Forest {
 public:
  explicit Forest(uint32_t seed) : random_(seed), maker_(seed) {}

  // Runs of random contents; some have no uuid, some no end.
  void MakeRuns(size_t num) {
    for (size_t i = 0; i < num; i++) {
      std::string path = Fresh(), uuid(4, static_cast<char>('a' + i));
      bool finish = random_() % 4 != 0;
      if (random_() % 5 == 0) uuid.clear();
      pprof_sink *writer = Create(path);
      ppi_text text = {"uuid", uuid.c_str()};
      pprof_run_info info = {&text, !uuid.empty(), nullptr};
      ASSERT_EQ(writer->begin(writer, &info), PPROF_STATUS_OK);
      Lane lane;
      for (uint32_t n = random_() % 4; n > 0; n--) {
        Events made = maker_.Make(&lane, 1, 1 + random_() % 300, 10);
        uint64_t first = lane.seq;
        lane.seq += made.events.size();
        pprof_batch batch = Batch(1, first, lane.seq, made.events);
        ASSERT_EQ(writer->events(writer, &batch), PPROF_STATUS_OK);
      }
      if (finish) {
        ASSERT_EQ(writer->finish(writer, &kNoTotals), PPROF_STATUS_OK);
      }
      writer->destroy(writer);
      runs_.push_back(finish ? path : path + ".part");
    }
  }

  // Files of some runs each, which together have all of them, some twice, some
  // behind one another without a merge.
  Paths Spread() {
    Paths files = runs_;
    for (uint32_t n = random_() % 4; n > 0; n--) {
      std::string bytes, path = Fresh();
      for (const std::string &run : runs_)
        if (random_() % 2) bytes += Slurp(run);
      if (bytes.empty()) continue;
      Spill(path, bytes);
      files.push_back(path);
    }
    return files;
  }

  // Merges random groups of files in any order, until one file is left.
  std::string MergeAll(Paths files) {
    while (files.size() > 1 || random_() % 3 == 0) {
      std::shuffle(files.begin(), files.end(), random_);
      size_t num = 1 + random_() % files.size();
      std::string merged = Merge(Paths(files.begin(), files.begin() + num));
      // A file may be used again.
      if (random_() % 4 || files.size() > 10)
        files.erase(files.begin(), files.begin() + num);
      files.push_back(merged);
    }
    return Merge(files);
  }

  std::string Merge(const Paths &paths) {
    std::vector<ppi_log_merge_input> inputs;
    for (const std::string &path : paths)
      inputs.push_back({path.c_str(), path.c_str(), false, {}, false, 0});
    std::string out = Fresh();
    pprof_error error = {""};
    EXPECT_EQ(ppi_log_merge(inputs.data(), inputs.size(), out.c_str(), &error),
              PPI_LOG_MERGED)
        << error.text;
    return out;
  }

  const Paths &runs() const {
    return runs_;
  }

 private:
  std::string Fresh() {
    return folder_ / std::to_string(next_++);
  }

  Folder folder_;
  std::mt19937 random_;
  Maker maker_;
  Paths runs_;
  int next_ = 0;
};

TEST(MergePropertyTest, AnyOrderAnyTree) {
  for (uint32_t seed = 1; seed <= 12; seed++) {
    Forest forest(seed);
    forest.MakeRuns(1 + seed % 6);
    const std::string expected = Slurp(forest.Merge(forest.runs()));
    size_t len = 0;
    for (const std::string &run : forest.runs()) {
      EXPECT_NE(expected.find(Slurp(run)), std::string::npos) << seed;
      len += Slurp(run).size();
    }
    EXPECT_LE(expected.size(), len);
    for (int i = 0; i < 6; i++)
      ASSERT_EQ(Slurp(forest.MergeAll(forest.Spread())), expected) << seed;
  }
}

}  // namespace
}  // namespace pplog
