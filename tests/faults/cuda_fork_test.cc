// SPDX-License-Identifier: Apache-2.0
//
// A fork with device ranges pending: the driver is the parent's alone.
#include <unistd.h>

#include "cuda_fixture.h"

// The leak checker of a forked child waits for ever for locks of the allocator
// that the parent's collector had at the fork.
extern "C" const char *__lsan_default_options();
extern "C" const char *__lsan_default_options() {
  return "leak_check_at_exit=0";
}

namespace pprof_test {
namespace {

class CudaForkTest : public CudaFaultTest {
 protected:
  void BeginWithPending() {
    ASSERT_NO_FATAL_FAILURE(UseAndBegin());
    fake->stream_hold(stream, true);
    Range();
  }

  void ExpectParentUnharmed() {
    EXPECT_EQ(fake->num_calls_of_children(), 0u);
    fake->stream_hold(stream, false);
    Range();
    Stop();
    ExpectHostWhole(0);
    EXPECT_TRUE(Notes().empty()) << table;
  }
};

// With all that is done at an exit.
TEST_F(CudaForkTest, ChildLeavesTheDriverAlone) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(BeginWithPending());
  pid_t pid = fork();
  if (pid == 0) {
    Range();
    pprof_device_range_end(
        pprof_device_range_begin(device, stream, &device_site), stream);
    pprof_stream_name(device, stream, "child");
    exit(17);
  }
  EXPECT_EQ(WaitFor(pid), 17);
  ExpectParentUnharmed();
}

// A session of the child's own has host times.
TEST_F(CudaForkTest, ChildsSessionLeavesTheDriverAlone) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(BeginWithPending());
  pid_t pid = fork();
  if (pid == 0) {
    LiveSession own;
    if (own.Start() != PPROF_STATUS_OK) _exit(2);
    Range();
    own.Flush();
    own.Stop();
    if (own.recording.Named("host").size() != 1) _exit(3);
    if (own.recording.Named("device").size() != 1) _exit(4);
    auto note = own.recording.notes.find("device");
    if (note == own.recording.notes.end() ||
        note->second.find("a forked child cannot use it") == std::string::npos)
      _exit(5);
    _exit(17);
  }
  EXPECT_EQ(WaitFor(pid), 17);
  ExpectParentUnharmed();
}

}  // namespace
}  // namespace pprof_test
