// SPDX-License-Identifier: Apache-2.0
//
// A running program is asked for its kernels, by the control socket; over a
// stand-in for libcupti.
#include <dlfcn.h>

#include <string>

#include "fake_cupti.h"
#include "pprof/log.h"
#include "pprof/mark.h"
#include "trigger_case.h"

namespace {

class TriggerKernelsTest : public TriggerTest {
 protected:
  void SetUp() override {
    TriggerTest::SetUp();
    void *library = dlopen(getenv("PPROF_CUPTI_PATH"), RTLD_NOW);
    ASSERT_NE(nullptr, library);
    cupti_ = reinterpret_cast<fake_cupti_get_type *>(
        dlsym(library, "fake_cupti_get"))();
    cupti_->records_a_buffer = 1000;
  }
  void TearDown() override {
    TriggerTest::TearDown();
    cupti_->call("cuLaunchKernel", 0, nullptr, nullptr);  // leaves
  }

  // A stage with a kernel of 10 us.
  void Launch() {
    PPROF_SITE(decode, "decode", PPROF_CATEGORY_USER_DEFINED);
    pprof_push(&decode);
    ppi_cupti_kernel record = {};
    record.kind = PPI_CUPTI_KIND_CONCURRENT_KERNEL;
    record.correlation = cupti_->call("cuLaunchKernel", 0, nullptr, nullptr);
    record.start = cupti_->now();
    record.end = record.start + 1;
    record.name = "gemm";
    cupti_->deliver(&record, sizeof record);
    pprof_pop();
  }

  // Kernels in a log, by the tool's own reader.
  int CountKernels(const std::string &path) {
    struct Counts {
      pprof_sink base = {};
      int kernels = 0;
    } counts;
    counts.base.size = sizeof counts.base;
    counts.base.events = [](pprof_sink *sink, const pprof_batch *batch) {
      auto *self = reinterpret_cast<Counts *>(sink);
      for (size_t i = 0; i < batch->num_events; i++)
        self->kernels +=
            pprof_batch_at(batch, i)->kind == PPROF_KIND_DEVICE_RANGE;
      return PPROF_STATUS_OK;
    };
    EXPECT_EQ(PPROF_STATUS_OK,
              pprof_log_read(path.c_str(), &counts.base, &error_))
        << error_.text;
    return counts.kernels;
  }

  fake_cupti *cupti_;
};

TEST_F(TriggerKernelsTest, InTheLogWhereAllIsRecorded) {
  Start("");
  int fd = Connect("trigger kernels=1\n");
  EXPECT_EQ("begun kernels file=" + folder_ + "/all.pplog.part", Receive(fd));
  Launch();
  EXPECT_EQ("done kernels file=" + folder_ + "/all.pplog.part", Receive(fd));
  close(fd);
  cupti_->call("cuLaunchKernel", 0, nullptr, nullptr);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error_)) << error_.text;
  EXPECT_EQ(1, CountKernels(folder_ + "/all.pplog"));
}

TEST_F(TriggerKernelsTest, InAWindowOfTheirOwn) {
  Start("capture: {on_demand: true}\n");
  std::string path = folder_ + "/own.pplog";
  int fd = Connect("trigger kernels=1 output=" + path + "\n");
  EXPECT_EQ("begun window=0 opens=now file=" + path, Receive(fd));
  Launch();
  EXPECT_EQ("done window=0 file=" + path, Receive(fd));
  close(fd);
  EXPECT_EQ(1, CountKernels(path));
}

TEST_F(TriggerKernelsTest, NothingIsARefusal) {
  Start("");
  int fd = Connect("trigger kernels=0.01\n");
  EXPECT_EQ("begun kernels file=" + folder_ + "/all.pplog.part", Receive(fd));
  EXPECT_EQ("failed unavailable " + folder_ +
                "/all.pplog.part: the program launched nothing on a device in "
                "that time",
            Receive(fd));
  close(fd);
  fd = Connect("trigger kernels=0.01 output=" + folder_ + "/own.pplog\n");
  EXPECT_EQ("failed busy everything is being recorded already, to " + folder_ +
                "/all.pplog.part; 'capture: {on_demand: true}' records only"
                " when asked",
            Receive(fd));
  close(fd);
}

// Their window is refused, and they are not recorded for a thousand seconds:
// the next one who asks has them.
TEST_F(TriggerKernelsTest, EndWhereTheirWindowIsRefused) {
  Start("capture: {on_demand: true}\n");
  int open_one = Connect("trigger seconds=1000\n");
  const std::string all = folder_ + "/all.pplog.part";
  EXPECT_EQ("begun window=0 opens=now file=" + all, Receive(open_one));
  int fd = Connect("trigger kernels=1000 output=" + folder_ + "/own.pplog\n");
  EXPECT_EQ(
      "failed busy a window is open or asked for already; try again later",
      Receive(fd));
  close(fd);
  std::string answer = "failed busy";
  while (answer.rfind("failed busy", 0) == 0) {
    fd = Connect("trigger kernels=0.01\n");
    answer = Receive(fd);
    close(fd);
  }
  EXPECT_EQ("begun kernels file=" + all, answer);
  close(open_one);
}

TEST_F(TriggerKernelsTest, AreThereAlready) {
  Start("devices: {kernels: true}\n");
  int fd = Connect("trigger kernels=0.01\n");
  EXPECT_EQ("failed busy kernels are being recorded already", Receive(fd));
  close(fd);
}

}  // namespace
