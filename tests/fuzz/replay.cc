// SPDX-License-Identifier: Apache-2.0
//
// A fuzz target as a plain test: every input of its corpus, and what a few
// thousand small changes make of them, within bounds of memory and time.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "fuzz.h"

namespace {

#ifdef PPROF_SANITIZED
enum { NUM_CHANGES = 300 };
#else
enum { NUM_CHANGES = 3000 };
#endif
constexpr rlim_t kMemory = 2ull << 30;  // mappings that are never touched, too
constexpr rlim_t kSeconds = 120;        // of the processor

std::vector<std::string> Corpus() {
  const std::string folder = fuzz::kCorpus;
  std::vector<std::string> names, inputs;
  if (DIR *entries = opendir(folder.c_str())) {
    while (const dirent *entry = readdir(entries))
      if (entry->d_name[0] != '.') names.push_back(entry->d_name);
    closedir(entries);
  }
  std::sort(names.begin(), names.end());
  for (const std::string &name : names) {
    std::ifstream in(folder + "/" + name, std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    inputs.push_back(bytes.str());
  }
  return inputs;
}

void Take(const std::string &input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.data()),
                         input.size());
}

void Bound(__rlimit_resource what, rlim_t most) {
  rlimit limit = {most, RLIM_INFINITY};
  ASSERT_EQ(0, setrlimit(what, &limit));
}

class Replay : public testing::Test {
 protected:
  void SetUp() override {
#ifndef PPROF_SANITIZED
    Bound(RLIMIT_AS, kMemory);
#endif
    Bound(RLIMIT_CPU, kSeconds);
    ASSERT_FALSE(corpus_.empty());
  }
  const std::vector<std::string> corpus_ = Corpus();
};

TEST_F(Replay, EveryInputIsBorne) {
  Take("");
  for (const std::string &input : corpus_) Take(input);
}

TEST_F(Replay, EveryChangeIsBorne) {
  std::mt19937 random(8);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int i = 0; i < NUM_CHANGES; i++) {
    std::string input = corpus_[below(corpus_.size())];
    for (size_t n = below(4) + 1; n > 0 && !input.empty(); n--) {
      const size_t at = below(input.size());
      switch (random() % 4) {
        case 0:
          input[at] = static_cast<char>(random());
          break;
        case 1:
          input.erase(at, below(16) + 1);
          break;
        case 2:
          input.insert(at, input.substr(below(input.size()), below(32)));
          break;
        default:
          input.resize(at);
      }
    }
    Take(input);
  }
}

}  // namespace
