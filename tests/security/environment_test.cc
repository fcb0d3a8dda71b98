// SPDX-License-Identifier: Apache-2.0
//
// A program with other rights than its caller (setuid, setgid, file
// capabilities) takes nothing from the caller's environment. The loader says so
// through getauxval and secure_getenv, which stand in for it here; see
// tests/BUILD.
#include <gtest/gtest.h>
#include <pprof/pprof.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "control/control_socket.h"
#include "log_fixture.h"
#include "session/state/session_impl.h"
#include "start/compose.h"
#include "start/environment.h"

static bool is_secure;
extern "C" {
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
char *__real_secure_getenv(const char *name);
char *__wrap_secure_getenv(const char *name);
}

unsigned long __wrap_getauxval(unsigned long type) {
  return type == AT_SECURE ? is_secure : __real_getauxval(type);
}
char *__wrap_secure_getenv(const char *name) {
  return is_secure ? nullptr : __real_secure_getenv(name);
}

namespace {

class SecureTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string output = folder_ / "theirs.pplog";
    const std::string config = folder_ / "p.yaml";
    pplog::Spill(config, "drain_interval: 7ms\n");
    setenv("PPROF_ENABLE", "0", 1);
    setenv("PPROF_CONFIG", config.c_str(), 1);
    setenv("PPROF_OUTPUT", output.c_str(), 1);
    setenv("PPROF_SET", "spool=/nowhere;memory_limit=4MiB", 1);
    setenv("PPROF_LOG_LEVEL", "debug", 1);
    setenv("PPROF_NVTX", "1", 1);
    setenv("XDG_RUNTIME_DIR", (folder_ / "run").c_str(), 1);
    setenv("RANK", "7", 1);
  }
  void TearDown() override {
    is_secure = false;
    for (const char *name :
         {"PPROF_ENABLE", "PPROF_CONFIG", "PPROF_OUTPUT", "PPROF_SET",
          "PPROF_LOG_LEVEL", "PPROF_NVTX", "XDG_RUNTIME_DIR", "RANK"})
      unsetenv(name);
  }
  // What a start would act on.
  void Load() {
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_compose_load(nullptr, config_.get(), &error_))
        << error_.text;
  }
  pplog::Folder folder_;
  std::unique_ptr<ppi_config> config_ = std::make_unique<ppi_config>();
  pprof_error error_ = {""};
};

TEST_F(SecureTest, OrdinaryProgramsListen) {
  bool enabled = true;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_environment_enabled(&enabled, &error_));
  EXPECT_FALSE(enabled);
  Load();
  EXPECT_EQ(7000u, config_->drain_interval_us);
  EXPECT_STREQ("/nowhere", config_->spool.text);
  EXPECT_STREQ("1", ppi_environment_nvtx());
}

TEST_F(SecureTest, NothingIsListenedTo) {
  is_secure = true;
  bool enabled = false;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_environment_enabled(&enabled, &error_));
  EXPECT_TRUE(enabled);
  EXPECT_EQ(nullptr, ppi_environment_config_path());
  EXPECT_EQ(nullptr, ppi_environment_nvtx());
  ppi_message_level level = PPI_MESSAGE_OFF;
  ASSERT_EQ(PPROF_STATUS_OK, ppi_environment_log_level(&level, &error_));
  EXPECT_EQ(PPI_MESSAGE_OFF, level);
  Load();
  auto defaults = std::make_unique<ppi_config>();
  ASSERT_EQ(PPROF_STATUS_OK, ppi_config_defaults(defaults.get()));
  EXPECT_STREQ(defaults->output.text, config_->output.text);
  EXPECT_STREQ(defaults->spool.text, config_->spool.text);
  EXPECT_EQ(defaults->drain_interval_us, config_->drain_interval_us);
  EXPECT_EQ(defaults->memory_limit_bytes, config_->memory_limit_bytes);
  char path[PATH_MAX];
  strcpy(config_->output.text, "%q{RANK}");
  EXPECT_EQ(PPROF_STATUS_CONFIG,
            ppi_expand_path(&config_->output, path, &error_));
  strcpy(config_->output.text, "r%r");
  ASSERT_EQ(PPROF_STATUS_OK, ppi_expand_path(&config_->output, path, &error_));
  EXPECT_STREQ("r0", path);
}

TEST_F(SecureTest, NorIsACopyOfIt) {
  is_secure = true;
  ppi_environment_copy copy = {};
  ASSERT_TRUE(ppi_environment_copy_take(&copy));
  EXPECT_EQ(0u, copy.len);
  ppi_environment_answer_from(&copy);
  EXPECT_EQ(nullptr, ppi_environment_config_path());
  ppi_environment_copy_clear(&copy);
}

TEST_F(SecureTest, SocketAndSpoolLieWhereTheCallerDoesNotSay) {
  is_secure = true;
  char path[PPI_CONTROL_PATH_MAX];
  const int fd = ppi_control_listen(path, &error_);
  ASSERT_GE(fd, 0) << error_.text;
  EXPECT_EQ(0, strncmp(path, "/tmp/pprof-", 11)) << path;
  close(fd);
  unlink(path);
}

// A name that somebody chose to lead elsewhere, or to speak to a terminal.
TEST(HostName, IsSafeInPaths) {
  const struct {
    std::string host, path;
  } cases[] = {{"plain-1.example", "plain-1.example"},
               {"a\033[31m/b\n\x7f", "a_[31m_b__"},
               {"..", "_."},
               {"caf\xc3\xa9 \xff", "caf____"}};
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWUTS) != 0 &&
        unshare(CLONE_NEWUSER | CLONE_NEWUTS) != 0)
      _exit(77);
    for (const auto &each : cases) {
      const ppi_config_text wanted = {"%h/x.pplog", "output"};
      char path[PATH_MAX];
      if (sethostname(each.host.data(), each.host.size()) != 0) _exit(78);
      EXPECT_EQ(PPROF_STATUS_OK, ppi_expand_path(&wanted, path, nullptr));
      EXPECT_EQ(each.path + "/x.pplog", path);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status) << "77, 78 in the high byte: no host name can be set";
}

}  // namespace
