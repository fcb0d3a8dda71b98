// SPDX-License-Identifier: Apache-2.0
//
// The one socket that there is cannot leave the machine.
#include <gtest/gtest.h>
#include <pprof/pprof.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "control/control_socket.h"
#include "log_fixture.h"

static std::atomic<int> num_local, num_other;
extern "C" int __real_socket(int domain, int type, int protocol);
extern "C" int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol) {
  ++(domain == AF_UNIX ? num_local : num_other);
  return __real_socket(domain, type, protocol);
}

namespace {

TEST(NetworkTest, SocketsAreLocal) {
  pplog::Folder folder;
  setenv("XDG_RUNTIME_DIR", (folder / "").c_str(), 1);
  pplog::Spill(folder / "p.yaml", "output: " + (folder / "run.pplog") +
                                      "\ncontrol: {socket: true}\n");
  pprof_error error = {""};
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start((folder / "p.yaml").c_str(), &error))
      << error.text;
  const int fd = ppi_control_connect(getpid(), &error);
  EXPECT_GE(fd, 0) << error.text;
  close(fd);
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
  EXPECT_GE(num_local, 2);
  EXPECT_EQ(0, num_other);
}

}  // namespace
