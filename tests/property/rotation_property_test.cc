// SPDX-License-Identifier: Apache-2.0
//
// Random programs write logs in segments. The report made in the process and
// the report of all segments are equal, byte for byte. Each segment alone is a
// whole log.
#include <gtest/gtest.h>
#include <pprof/pprof.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "log/read/log_merge.h"
#include "log/read/log_reader.h"
#include "log/write/log_writer.h"
#include "log/write/rotate.h"
#include "tests/support/long_run.h"
#include "tests/support/patient_flush.h"
#include "tests/support/report_text.h"

namespace {

using pprof_test::Report;
using Random = std::mt19937_64;

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_FORWARD);
PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(count_site, "count", PPROF_CATEGORY_USER_DEFINED);

uint64_t Pick(Random *random, uint64_t n) {
  return (*random)() % n;
}

void Work(uint64_t seed, size_t num, bool steps) {
  Random random(seed);
  size_t depth = 0;
  for (size_t i = 0; i < num; i++) {
    const uint64_t kind = Pick(&random, 20);
    if (kind < 8 && depth < 50) {
      pprof_push(kind < 4 ? &outer_site : &inner_site);
      depth++;
    } else if (kind < 16 && depth > 0) {
      pprof_pop();
      depth--;
    } else if (kind == 16) {
      pprof_count(&count_site, static_cast<double>(Pick(&random, 99)) / 7);
    } else if (kind == 17) {
      pprof_flow(1 + Pick(&random, 9));
    } else if (kind == 18 && steps) {
      pprof_step(2);
    } else if (kind == 19) {
      // Some come again and again, others once.
      const uint64_t one_of = Pick(&random, 2) ? 40 : 100000;
      const std::string name = "name" + std::to_string(Pick(&random, one_of));
      pprof_push_name(name.c_str(), PPROF_CATEGORY_CPU_TASK);
      pprof_pop();
    }
  }
  for (; depth > 1; depth--) pprof_pop();
}

class RotationPropertyTest : public testing::Test {
 protected:
  void SetUp() override {
    const char *base = getenv("TEST_TMPDIR");
    folder_ = std::string(base ? base : "/tmp") + "/rotationXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&folder_[0]));
  }

  void TearDown() override {
    for (const auto &path : paths_) unlink(path.c_str());
    EXPECT_EQ(0, rmdir(folder_.c_str()));
  }

  static void Note(void *user, const char *path, uint32_t) {
    static_cast<std::vector<std::string> *>(user)->push_back(path);
  }

  void List() {
    paths_.clear();
    ppi_segments_each((folder_ + "/x.pplog").c_str(), Note, &paths_);
    std::sort(paths_.begin(), paths_.end());
  }

  void Run(Random *random, Report *live) {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = Pick(random, 2) ? 2u << 20 : 16u << 20;
    options.drain_interval_us = Pick(random, 2) ? 100 : 20000;
    pprof_session *session = nullptr;
    pprof_sink *log = nullptr;
    const ppi_log_rotation rotation = {1u << (13 + Pick(random, 5)), 0,
                                       nullptr};
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_create(&options, &session, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_log_writer_create((folder_ + "/x.pplog").c_str(), &rotation,
                                    &log, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, live->sink()));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session, log));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
    const size_t num =
        (20000 + Pick(random, 60000)) / (pprof_test::kIsSanitized ? 4 : 1);
    std::thread other(Work, (*random)(), num, false);
    std::thread guests([seed = (*random)(), num] {
      Random own(seed);
      for (size_t left = num; left > 0;) {
        const size_t part = std::min<size_t>(left, 1 + Pick(&own, 2000));
        std::thread(Work, own(), part, false).join();
        left -= part;
      }
    });
    // A segment ends at a checkpoint only.
    for (int part = 0; part < 8; part++) {
      Work((*random)(), num / 8, true);
      EXPECT_EQ(PPROF_STATUS_OK, pprof_test::FlushPatiently(session));
    }
    other.join();
    guests.join();
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, &error))
        << error.text;
    pprof_session_destroy(session);
  }

  void ReadMerged(const std::vector<const char *> &names,
                  const std::string &expected) {
    const std::string path = folder_ + "/merged.pplog";
    std::vector<ppi_log_merge_input> inputs;
    for (const char *name : names) {
      ppi_log_merge_input input = {};
      input.path = input.name = name;
      inputs.push_back(input);
    }
    pprof_error error = {};
    Report merged;
    EXPECT_EQ(PPI_LOG_MERGED,
              ppi_log_merge(inputs.data(), inputs.size(), path.c_str(), &error))
        << error.text;
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_log_read(path.c_str(), merged.sink(), &error))
        << error.text;
    EXPECT_EQ(expected, merged.Json());
    unlink(path.c_str());
  }

  std::string folder_;
  std::vector<std::string> paths_;
};

TEST_F(RotationPropertyTest, SegmentsTogetherReportTheRun) {
  size_t num_segments = 0;
  for (uint64_t seed = 0; seed < pprof_test::Seeds(12) && !HasFailure();
       seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Report live, joined;
    Run(&random, &live);
    List();
    std::vector<const char *> names;
    for (const auto &path : paths_) names.push_back(path.c_str());
    pprof_error error = {};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_log_read_all(names.data(), names.size(),
                                                joined.sink(), &error))
        << error.text;
    EXPECT_EQ(live.Json(), joined.Json());
    EXPECT_EQ(live.Table(nullptr), joined.Table(nullptr));
    for (const char *name : names) {
      Report alone;
      EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(name, alone.sink(), &error))
          << error.text;
      // Undefined sites and categories have these names.
      EXPECT_EQ(std::string::npos, alone.Json().find("<site ")) << name;
      EXPECT_EQ(std::string::npos, alone.Json().find("<category ")) << name;
    }
    ReadMerged(names, live.Json());
    num_segments += names.size();
    for (const auto &path : paths_) unlink(path.c_str());
    paths_.clear();
  }
  EXPECT_GT(num_segments, pprof_test::Seeds(12));
}

}  // namespace
