// SPDX-License-Identifier: Apache-2.0
//
// The driver's library as the loader finds it, or does not: none, one that
// cannot be read, an old one, one without a device. And what is asked of it:
// linked with --wrap for dlopen and dlsym, so that both are seen.
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <mutex>
#include <set>

#include "cuda_fixture.h"

extern "C" {
void *__real_dlopen(const char *name, int flags);
void *__real_dlsym(void *handle, const char *name);
}

namespace pprof_test {
namespace {

std::mutex asked_mutex;
std::set<std::string> asked_libraries, asked_symbols;

class CudaLibraryTest : public CudaFaultTest {
 protected:
  // A program that does nothing with CUDA but what its marks say.
  void MarkAndStop() {
    Start();
    for (int i = 0; i < 5; i++) Range();
    Stop();
  }

  // Host times, and one line that the program can ask for, too.
  void ExpectUnavailable(const std::string &words) {
    MarkAndStop();
    pprof_error why = {};
    EXPECT_FALSE(pprof_device_available(device, &why));
    EXPECT_NE(std::string(why.text).find(words), std::string::npos) << why.text;
    EXPECT_EQ(device, pprof_device_get(pprof_backend_cuda(), 0));
    ExpectHostWhole(num_ranges);
    ExpectOneNote(words);
    ExpectOneNote(why.text);
  }

  // The stand-in, when somebody has loaded it.
  static const fake_cuda_controls *Loaded() {
    void *driver = __real_dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *find = driver ? __real_dlsym(driver, "fake_cuda") : nullptr;
    return find ? reinterpret_cast<const fake_cuda_controls *(*)()>(find)()
                : nullptr;
  }
};

// On a machine with a driver this is that driver.
TEST_F(CudaLibraryTest, WithoutADriver) {
  if (RanInside({"/nonexistent"})) return;
  if (__real_dlopen("libcuda.so.1", RTLD_NOW)) {
    MarkAndStop();
    ExpectHostWhole(num_ranges);
    EXPECT_EQ(Notes().size(), 1u) << table;
    return;
  }
  ExpectUnavailable("libcuda.so.1: cannot open shared object file");
}

TEST_F(CudaLibraryTest, FileThatIsNoLibrary) {
  if (!IsInside()) pplog::Spill(File("libcuda.so.1"), "no library at all");
  if (RanInside({File("")})) return;
  ExpectUnavailable("libcuda.so.1: ");
}

// Root reads everything; without this right it does not.
void ReadOnlyWhatIsAllowed() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct rights[2] = {};
  ASSERT_EQ(syscall(SYS_capget, &header, rights), 0);
  rights[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
  ASSERT_EQ(syscall(SYS_capset, &header, rights), 0);
}

TEST_F(CudaLibraryTest, LibraryThatCannotBeRead) {
  if (!IsInside()) {
    pplog::Spill(File("libcuda.so.1"),
                 pplog::Slurp(Driver() + "/libcuda.so.1"));
    ASSERT_EQ(chmod(File("libcuda.so.1").c_str(), 0), 0);
  }
  if (RanInside({File("")})) return;
  ReadOnlyWhatIsAllowed();
  ExpectUnavailable("libcuda.so.1: cannot open shared object file");
}

// CUDA 9.2 could not tell whether a stream captures.
TEST_F(CudaLibraryTest, DriverThatIsTooOldIsNamed) {
  if (RanInside({Driver("_9020")})) return;
  ExpectUnavailable(
      "libcuda.so.1 has no function cuStreamIsCapturing (too old");
}

// What came with CUDA 11 and 12 is used where it is there.
class CudaVersionTest : public CudaLibraryTest,
                        public testing::WithParamInterface<const char *> {};

TEST_P(CudaVersionTest, IsNewEnough) {
  if (RanInside({Driver(GetParam())})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  Range();
  Stop();
  ExpectHostWhole(0);
  EXPECT_TRUE(Notes().empty()) << table;
}

INSTANTIATE_TEST_SUITE_P(, CudaVersionTest,
                         testing::Values("_10020", "_12000", ""),
                         [](const testing::TestParamInfo<const char *> &it) {
                           return std::string("Driver") + it.param;
                         });

struct Refusal {
  const char *fault;
  const char *words;
};

class CudaRefusalTest : public CudaLibraryTest,
                        public testing::WithParamInterface<Refusal> {};

// No device, no right to it, or a driver that is not what the kernel runs.
TEST_P(CudaRefusalTest, IsSaidOnceAndTheDriverLeftAlone) {
  if (RanInside(
          {Driver(), 0, {std::string("FAKE_CUDA_FAIL=") + GetParam().fault}}))
    return;
  device = pprof_device_get(pprof_backend_cuda(), 0);
  fake = Loaded();
  ASSERT_NE(fake, nullptr);
  uint64_t calls = fake->num_calls(nullptr);
  ExpectUnavailable(GetParam().words);
  EXPECT_EQ(fake->num_calls(nullptr), calls);
}

INSTANTIATE_TEST_SUITE_P(
    , CudaRefusalTest,
    testing::Values(
        Refusal{"cuInit=100", "initialising: CUDA_ERROR_NO_DEVICE (100)"},
        Refusal{"cuInit=35",
                "initialising: CUDA_ERROR_INSUFFICIENT_DRIVER (35)"},
        Refusal{"cuInit=101", "initialising: CUDA_ERROR_INVALID_DEVICE (101)"},
        Refusal{"cuInit=802",
                "initialising: CUDA_ERROR_SYSTEM_NOT_READY (802)"},
        Refusal{"cuInit=803",
                "initialising: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"},
        Refusal{"cuInit=999", "initialising: CUDA_ERROR_UNKNOWN (999)"},
        Refusal{"cuDeviceGetCount=999",
                "counting devices: CUDA_ERROR_UNKNOWN (999)"}),
    [](const testing::TestParamInfo<Refusal> &it) {
      std::string name = it.param.fault;
      name[name.find('=')] = '_';
      return name;
    });

TEST_F(CudaLibraryTest, DeviceThatIsNotThere) {
  if (RanInside({Driver()})) return;
  UseCuda();
  pprof_error why = {};
  EXPECT_FALSE(
      pprof_device_available(pprof_device_get(pprof_backend_cuda(), 7), &why));
  EXPECT_STREQ(why.text, "cuda: there is no device 7; found 1");
}

// Nothing that waits is even looked for, and nothing of the CUDA Runtime, whose
// last error is the program's.
TEST_F(CudaLibraryTest, OnlyWhatAsksIsLookedFor) {
  if (RanInside({Driver()})) return;
  ASSERT_NO_FATAL_FAILURE(UseAndBegin());
  Stop();
  EXPECT_EQ(asked_libraries, std::set<std::string>{"libcuda.so.1"});
  EXPECT_GE(asked_symbols.size(), 17u);
  EXPECT_EQ(asked_symbols.count("cuEventRecord"), 1u);
  for (const std::string &symbol : asked_symbols) {
    if (symbol == "fake_cuda") continue;
    EXPECT_EQ(symbol.compare(0, 2, "cu"), 0) << symbol;
    EXPECT_TRUE(symbol.size() > 2 && isupper(symbol[2])) << symbol;
    for (const char *waits : {"Synchronize", "Wait", "HostFunc", "Callback",
                              "Query", "Mem", "Launch"})
      EXPECT_EQ(symbol.find(waits), std::string::npos) << symbol;
  }
}

}  // namespace
}  // namespace pprof_test

extern "C" void *__wrap_dlopen(const char *name, int flags) {
  std::lock_guard<std::mutex> lock(pprof_test::asked_mutex);
  pprof_test::asked_libraries.insert(name ? name : "");
  return __real_dlopen(name, flags);
}

extern "C" void *__wrap_dlsym(void *handle, const char *name) {
  std::lock_guard<std::mutex> lock(pprof_test::asked_mutex);
  pprof_test::asked_symbols.insert(name);
  return __real_dlsym(handle, name);
}
