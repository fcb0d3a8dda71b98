// SPDX-License-Identifier: Apache-2.0
//
// A copy of the environment to answer from, and the numbers of windows in
// paths.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "base/mem.h"
#include "start/environment.h"

namespace {

class EnvironmentCopyTest : public testing::Test {
 protected:
  void TearDown() override {
    ppi_environment_answer_from(nullptr);
    ppi_environment_copy_clear(&copy_);
    for (const char *name : {"PPROF_CONFIG", "PPROF_OUTPUT", "PPROF_TEST_JOB"})
      unsetenv(name);
  }
  ppi_environment_copy copy_ = {};
  pprof_error error_ = {""};
};

TEST_F(EnvironmentCopyTest, AnswersWhatWas) {
  setenv("PPROF_CONFIG", "a.yaml", 1);
  setenv("PPROF_OUTPUT", "a.%q{PPROF_TEST_JOB}", 1);
  setenv("PPROF_TEST_JOB", "j", 1);
  ASSERT_TRUE(ppi_environment_copy_take(&copy_));
  setenv("PPROF_CONFIG", "b.yaml", 1);
  unsetenv("PPROF_OUTPUT");
  unsetenv("PPROF_TEST_JOB");
  ppi_environment_answer_from(&copy_);
  EXPECT_STREQ("a.yaml", ppi_environment_config_path());
  auto config = std::make_unique<ppi_config>();
  ASSERT_EQ(PPROF_STATUS_OK, ppi_config_defaults(config.get()));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_environment_apply(config.get(), &error_))
      << error_.text;
  EXPECT_STREQ("a.%q{PPROF_TEST_JOB}", config->output.text);
  char path[PATH_MAX];
  ASSERT_EQ(PPROF_STATUS_OK, ppi_expand_path(&config->output, path, &error_));
  EXPECT_STREQ("a.j", path);
  ppi_environment_answer_from(nullptr);
  EXPECT_STREQ("b.yaml", ppi_environment_config_path());
}

TEST_F(EnvironmentCopyTest, IsOneThreadsAffair) {
  setenv("PPROF_CONFIG", "a.yaml", 1);
  ASSERT_TRUE(ppi_environment_copy_take(&copy_));
  setenv("PPROF_CONFIG", "b.yaml", 1);
  ppi_environment_answer_from(&copy_);
  std::string elsewhere;
  std::thread([&] { elsewhere = ppi_environment_config_path(); }).join();
  EXPECT_EQ("b.yaml", elsewhere);
}

// A name that another begins with, and one without a value.
TEST_F(EnvironmentCopyTest, NamesAreWhole) {
  setenv("PPROF_CONFIG_2", "x", 1);
  unsetenv("PPROF_CONFIG");
  ASSERT_TRUE(ppi_environment_copy_take(&copy_));
  ppi_environment_answer_from(&copy_);
  EXPECT_EQ(nullptr, ppi_environment_config_path());
  unsetenv("PPROF_CONFIG_2");
}

TEST_F(EnvironmentCopyTest, NoMemoryIsNoCopy) {
  ppi_mem_fail_at(1);
  EXPECT_FALSE(ppi_environment_copy_take(&copy_));
  ppi_mem_fail_at(0);
  EXPECT_EQ(nullptr, copy_.texts);
}

TEST_F(EnvironmentCopyTest, OriginsNameTheVariable) {
  setenv("PPROF_OUTPUT", "a", 1);
  setenv("PPROF_SET", "log=false;flight_recorder.every=5s", 1);
  auto config = std::make_unique<ppi_config>();
  ASSERT_EQ(PPROF_STATUS_OK, ppi_config_defaults(config.get()));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_environment_apply(config.get(), &error_));
  unsetenv("PPROF_SET");
  EXPECT_EQ(1u, config->flight.given);
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    std::string path = key->path, origin = ppi_config_origin(config.get(), key);
    if (key->type == PPI_KEY_MAP) continue;
    std::string expected = path == "output"                  ? "PPROF_OUTPUT"
                           : path == "log"                   ? "PPROF_SET:1:5"
                           : path == "flight_recorder.every" ? "PPROF_SET:1:33"
                                                             : "default";
    EXPECT_EQ(expected, origin) << path;
  }
}

TEST_F(EnvironmentCopyTest, WindowsAreNumberedLast) {
  ppi_config_text from = {};
  char path[PATH_MAX], numbered[PATH_MAX];
  strcpy(from.text, "a%%w.%w.%w\x01z");
  ASSERT_EQ(PPROF_STATUS_OK, ppi_expand_path(&from, path, &error_));
  ASSERT_EQ(PPROF_STATUS_OK, ppi_expand_window(path, 17, numbered));
  EXPECT_STREQ("a%w.17.17_z", numbered);
  ASSERT_EQ(PPROF_STATUS_OK, ppi_expand_window("plain", 3, numbered));
  EXPECT_STREQ("plain", numbered);
  std::string longest(PATH_MAX - 2, 'x');
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_expand_window((longest + "\x01").c_str(), 7, numbered));
  EXPECT_EQ(longest + "7", numbered);
  EXPECT_EQ(PPROF_STATUS_CONFIG,
            ppi_expand_window((longest + "\x01").c_str(), 17, numbered));
}

}  // namespace
