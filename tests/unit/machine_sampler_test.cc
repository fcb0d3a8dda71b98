// SPDX-License-Identifier: Apache-2.0
//
// What the machine's sampler records, over made-up files and a stand-in NVML.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "machine/source.h"
#include "pprof/pprof.h"
#include "recording_sink.h"

namespace pprof_test {
namespace {

constexpr char kNvml[] = "tests/libfake_nvml.so";

class MachineSamplerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char *base = getenv("TEST_TMPDIR");
    root_ = std::string(base ? base : "/tmp") + "/machine_test.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&root_[0]));
    setenv("FAKE_NVML", (root_ + "/nvml").c_str(), 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    ppi_machine_set_places(root_.c_str(), kNvml);
  }
  void TearDown() override {
    ppi_machine_set_places(nullptr, nullptr);
    std::filesystem::remove_all(root_);
  }

  void Put(const std::string &path, const std::string &text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }

  // User and idle ticks of all, user ticks of this process, and what its one
  // thread waited.
  void PutProcessors(int user, int idle, int steal, int own, long waited_ns) {
    Put("/proc/stat", "cpu  " + std::to_string(user) + " 0 0 " +
                          std::to_string(idle) + " 0 0 0 " +
                          std::to_string(steal) + " 0 0\n");
    Put("/proc/self/stat",
        "7 (a) b) R 1 1 1 0 -1 0 5 0 3 0 " + std::to_string(own) + " 0 0 0\n");
    Put("/proc/self/task/7/schedstat",
        "100 " + std::to_string(waited_ns) + " 3\n");
    Put("/sys/devices/system/cpu/online", "0-1\n");
    Put("/proc/loadavg", "0.10 0.20 0.30 3/120 99\n");
  }

  void PutV2(int throttled, long throttled_us) {
    Put("/proc/self/cgroup", "0::/job/task\n");
    Put("/proc/self/mountinfo",
        "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    Put("/sys/fs/cgroup/job/task/cpu.stat", "nr_throttled 0\n");
    Put("/sys/fs/cgroup/job/task/cpu.max", "max 100000\n");
    Put("/sys/fs/cgroup/job/task/memory.events",
        "low 0\nhigh 4\nmax 1\noom 0\noom_kill 0\n");
    Put("/sys/fs/cgroup/job/cpu.max", "200000 100000\n");
    Put("/sys/fs/cgroup/job/cpu.stat",
        "usage_usec 1\nnr_periods 9\nnr_throttled " +
            std::to_string(throttled) + "\nthrottled_usec " +
            std::to_string(throttled_us) + "\n");
  }

  static void Note(void *user, const char *key, const char *text) {
    (*static_cast<std::map<std::string, std::string> *>(user))[key] = text;
  }

  // Samples, with what `change` does before each further one, and answers the
  // values of each counter.
  std::map<std::string, std::vector<double>> Values(
      const std::vector<std::function<uint64_t()>> &changes,
      uint64_t without = 0) {
    ppi_machine_options options = {};
    options.is_by_hand = true;
    options.without = without;
    options.note = Note;
    options.user = &notes_;
    LiveSession session;
    session.Start();
    EXPECT_TRUE(ppi_machine_start(&options));
    for (const auto &change : changes) ppi_machine_sample(change());
    ppi_machine_stop(1000);
    session.Stop();
    std::map<std::string, std::vector<double>> values;
    for (const auto &event : session.recording.events) {
      EXPECT_EQ(PPROF_KIND_COUNTER, event.event.kind);
      EXPECT_EQ(
          "Machine",
          session.recording
              .categories[session.recording.site_categories[event.event.site]]);
      values[event.name].push_back(event.event.value);
    }
    return values;
  }

  std::string root_;
  std::map<std::string, std::string> notes_;
};

using Series = std::vector<double>;

// A level is recorded when it changes, and once more at the end.
TEST_F(MachineSamplerTest, ADeviceHasClocksPowerAndReasons) {
  Put("/nvml",
      "devices 1 0.power_mw 500000 0.limit_mw 700000 0.energy_mj 1000 "
      "0.sm_mhz 1980 0.sm_max_mhz 1980 0.reasons 0 0.celsius 40 "
      "0.memory_bytes 1000000");
  auto values = Values({[this] {
                          Put("/nvml",
                              "devices 1 0.power_mw 700000 0.limit_mw 700000 "
                              "0.energy_mj 71000 0.sm_mhz 1410 "
                              "0.sm_max_mhz 1980 0.reasons 4 0.celsius 40 "
                              "0.memory_bytes 1000000");
                          return 0;
                        },
                        [] { return 0; }});
  EXPECT_EQ((Series{500, 700, 700}), values["gpu:0.power_w"]);
  EXPECT_EQ((Series{700, 700}), values["gpu:0.power_limit_w"]);
  EXPECT_EQ((Series{1980, 1410, 1410}), values["gpu:0.sm_mhz"]);
  EXPECT_EQ((Series{1980, 1980}), values["gpu:0.sm_max_mhz"]);
  EXPECT_EQ((Series{0, 4, 4}), values["gpu:0.event_reasons"]);
  EXPECT_EQ((Series{1, 71, 71}), values["gpu:0.energy_j"]);
  EXPECT_EQ((Series{1e6, 1e6}), values["gpu:0.memory_bytes"]);
  EXPECT_EQ(0u, values.count("gpu:0.memory_mhz"));
}

// Who is not listed cannot see others: unknown, which is not none.
TEST_F(MachineSamplerTest, OtherProcessesAreCountedOrUnknown) {
  Put("/nvml", "devices 2 0.others 0 1.hidden 1");
  auto values = Values({[this] {
    Put("/nvml", "devices 2 0.others 2 1.hidden 1");
    return 0;
  }});
  EXPECT_EQ((Series{0, 2, 2}), values["gpu:0.other_processes"]);
  EXPECT_EQ((Series{-1, -1}), values["gpu:1.other_processes"]);
}

// A process that comes or goes moves the memory in use, which costs little to
// ask; without that the list is asked for once in nine answers.
TEST_F(MachineSamplerTest, ProcessesAreListedWhenMemoryMoves) {
  auto put = [this](int others, int bytes) {
    Put("/nvml", "devices 1 0.others " + std::to_string(others) +
                     " 0.memory_bytes " + std::to_string(bytes));
    return 0;
  };
  put(0, 100);
  auto values =
      Values({[&] { return put(1, 700); }, [&] { return put(0, 100); },
              [&] { return put(2, 100); }});
  EXPECT_EQ((Series{0, 1, 0, 0}), values["gpu:0.other_processes"]);
  std::vector<std::function<uint64_t()>> nine(9, [&] { return put(2, 100); });
  put(0, 100);
  values = Values(nine);
  EXPECT_EQ((Series{0, 2, 2}), values["gpu:0.other_processes"]);
}

// The first answer, which loads a driver's state, silenced a source for
// minutes.
TEST_F(MachineSamplerTest, TheFirstAnswerMayBeSlow) {
  ppi_machine_source source = {};
  source.period_ns = 1000;
  source.share = 10;  // 1 in 10 000
  ppi_machine_costs costs = {};
  EXPECT_EQ(1000u, ppi_machine_rest_ns(&source, &costs, 50000000));
  EXPECT_EQ(400000u, ppi_machine_rest_ns(&source, &costs, 40));
  // One slow one among others is a quarter of the mean.
  EXPECT_EQ(1300000u, ppi_machine_rest_ns(&source, &costs, 400));
  EXPECT_EQ(970000u, ppi_machine_rest_ns(&source, &costs, 0));
}

// With what the thread does beside asking: where that costs more, it wakes
// less often.
TEST_F(MachineSamplerTest, AllSharesAreAThousandthOfACore) {
  uint32_t sum = ppi_machine_wakes.share;
#define SHARE(name, ...) sum += ppi_machine_##name.share;
  PPI_MACHINE_SOURCES(SHARE)
#undef SHARE
  EXPECT_GE(100u, sum);
  ppi_machine_costs costs = {};
  EXPECT_EQ(50000000u,
            ppi_machine_rest_ns(&ppi_machine_wakes, &costs, 1u << 30));
  EXPECT_EQ(95000000u, ppi_machine_rest_ns(&ppi_machine_wakes, &costs, 38000));
  EXPECT_EQ(71250000u, ppi_machine_rest_ns(&ppi_machine_wakes, &costs, 0));
}

TEST_F(MachineSamplerTest, DevicesAreThoseThatCudaSees) {
  Put("/nvml", "devices 3 0.celsius 30 1.celsius 31 2.celsius 32");
  setenv("CUDA_VISIBLE_DEVICES", "2,GPU-0", 1);
  auto values = Values({});
  EXPECT_EQ((Series{32, 32}), values["gpu:0.temperature_c"]);
  EXPECT_EQ((Series{30, 30}), values["gpu:1.temperature_c"]);
  EXPECT_EQ(0u, values.count("gpu:2.temperature_c"));
}

// The quota of two processors is the parent's, so are the throttled times. In
// two periods of 100 ms 3.2 processors were wanted, and lost 240 ms together.
TEST_F(MachineSamplerTest, TheNearestQuotaOfCgroupV2Counts) {
  PutV2(3, 1000);
  auto values = Values({[this] {
    PutV2(5, 241000);
    return 0;
  }});
  EXPECT_EQ((Series{1000, 241000, 241000}), values["cgroup.throttled_sum_us"]);
  EXPECT_EQ((Series{0, 75000, 75000}), values["cgroup.throttled_us"]);
  EXPECT_EQ((Series{3, 5, 5}), values["cgroup.throttled_periods"]);
  EXPECT_EQ((Series{2, 2}), values["cgroup.cpu_max"]);
  EXPECT_EQ((Series{4, 4}), values["cgroup.memory_high"]);
}

TEST_F(MachineSamplerTest, CgroupV1HasNanoseconds) {
  Put("/proc/self/cgroup", "3:cpu,cpuacct:/job\n");
  Put("/proc/self/mountinfo",
      "30 22 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  Put("/sys/fs/cgroup/cpu/job/cpu.stat",
      "nr_periods 8\nnr_throttled 4\nthrottled_time 5000000\n");
  Put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
  Put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  auto values = Values({});
  EXPECT_EQ((Series{5000, 5000}), values["cgroup.throttled_sum_us"]);
  EXPECT_EQ((Series{0, 0}), values["cgroup.throttled_us"]);
  EXPECT_EQ((Series{0.5, 0.5}), values["cgroup.cpu_max"]);
}

// 100 ticks a second: of 200 ticks of two processors others have 150, this
// process 40, and 10 are idle. Its thread waited 0.5 s meanwhile.
TEST_F(MachineSamplerTest, OthersCrowdThisProcessOut) {
  PutProcessors(1000, 1000, 0, 100, 0);
  auto values = Values({[this] {
                          PutProcessors(1190, 1010, 20, 140, 500000000);
                          return 0;
                        },
                        // The same with idle processors crowds nobody.
                        [this] {
                          PutProcessors(1290, 1110, 20, 140, 600000000);
                          return 0;
                        }});
  EXPECT_EQ((Series{0, 1.5e6, 2.5e6, 2.5e6}), values["processors.others_us"]);
  EXPECT_EQ((Series{0, 1e5, 1e5}), values["processors.stolen_us"]);
  EXPECT_EQ((Series{0, 5e5, 6e5, 6e5}), values["process.waited_us"]);
  EXPECT_EQ((Series{0, 5e5, 5e5}), values["process.crowded_us"]);
  EXPECT_EQ((Series{2, 2}), values["processors.number"]);
  EXPECT_EQ((Series{3, 3}), values["processors.run_queue"]);
  EXPECT_EQ((Series{3, 3}), values["process.major_faults"]);
}

// Of 200 ticks its two workers have 140, itself 40: 20 are left for others.
TEST_F(MachineSamplerTest, WorkersAreNoNeighbours) {
  auto put = [this](int user, int own, int worker, long waited_ns) {
    PutProcessors(user, 1000, 0, own, waited_ns);
    Put("/proc/self/task/" + std::to_string(getpid()) + "/children", "11 12 ");
    for (const char *child : {"11", "12"})
      Put(std::string("/proc/") + child + "/stat",
          "9 (w) R 1 1 1 0 -1 0 5 0 3 0 " + std::to_string(worker) +
              " 1 0 0\n");
  };
  put(1000, 100, 50, 0);
  auto values = Values({[&] {
    put(1200, 140, 120, 500000000);
    return 0;
  }});
  EXPECT_EQ((Series{0, 2e5, 2e5}), values["processors.others_us"]);
  EXPECT_EQ((Series{0, 0}), values["process.crowded_us"]);
}

// Its threads may use one of two processors. That one has 120 ticks, of which
// this process uses 40 and the hypervisor takes 20; the other is idle.
TEST_F(MachineSamplerTest, ProcessorsThatThreadsMayNotUseDoNotCount) {
  cpu_set_t before, one;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof before, &before));
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before)) cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
  auto put = [&](int user, int idle, int steal, int own, long waited_ns) {
    PutProcessors(user, idle, steal, own, waited_ns);
    std::filesystem::remove_all(root_ + "/proc/self/task");
    Put("/proc/self/task/" + std::to_string(gettid()) + "/schedstat",
        "100 " + std::to_string(waited_ns) + " 3\n");
    auto line = [&](int number, int used, int unused, int stolen) {
      std::ofstream(root_ + "/proc/stat", std::ios::app)
          << "cpu" << number << " " << used << " 0 0 " << unused << " 0 0 0 "
          << stolen << " 0 0\n";
    };
    line(cpu, user, 0, steal);
    line(cpu + 1, 0, idle, 0);
  };
  put(1000, 1000, 0, 100, 0);
  auto values = Values({[&] {
    put(1100, 1120, 20, 140, 500000000);
    return 0;
  }});
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ((Series{0, 6e5, 6e5}), values["processors.others_us"]);
  EXPECT_EQ((Series{0, 2e5, 2e5}), values["processors.stolen_us"]);
  EXPECT_EQ((Series{0, 5e5, 5e5}), values["process.crowded_us"]);
  EXPECT_EQ((Series{1, 1}), values["processors.number"]);
}

// Where cpufreq is absent; of the first eight processors.
TEST_F(MachineSamplerTest, CpuinfoHasAClock) {
  std::string text;
  for (int i = 0; i < 9; i++)
    text += "processor\t: " + std::to_string(i) + "\ncpu MHz\t\t: " +
            (i < 4   ? "2000.5"
             : i < 8 ? "3000.500"
                     : "9000") +
            "\n\n";
  Put("/proc/cpuinfo", text);
  EXPECT_EQ((Series{2500.5, 2500.5}), Values({})["processors.mhz"]);
}

TEST_F(MachineSamplerTest, PressureFrequencyAndPackages) {
  Put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 total=70\n");
  Put("/proc/pressure/memory",
      "some avg10=0.00 total=5\nfull avg10=0.00 total=9\n");
  Put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  Put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
  Put("/sys/class/powercap/intel-rapl:0/energy_uj", "900\n");
  Put("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000\n");
  auto values = Values({[this] {
    Put("/sys/class/powercap/intel-rapl:0/energy_uj", "400\n");
    return 0;
  }});
  EXPECT_EQ((Series{70, 70}), values["pressure.cpu_us"]);
  EXPECT_EQ((Series{9, 9}), values["pressure.memory_us"]);
  EXPECT_EQ((Series{2500, 2500}), values["processors.mhz"]);
  ASSERT_EQ(3u, values["processors.energy_j"].size());
  EXPECT_DOUBLE_EQ(500e-6, values["processors.energy_j"][1]);
}

// A sample that comes 120 ms late while the process used no processor.
TEST_F(MachineSamplerTest, ALateSampleSaysThatAllStoodStill) {
  auto values = Values(
      {[] { return 0; }, [] { return 120000000; }, [] { return 49000000; }});
  EXPECT_EQ((Series{0, 120000, 120000}), values["process.stood_still_us"]);
  EXPECT_EQ((Series{0, 0}), values["process.stood_ready_us"]);
}

// A thread that is late and waited for no processor was stopped with all
// others, whatever they did just before. One that waited says nothing of them.
TEST_F(MachineSamplerTest, AStoppedThreadWaitsForNoProcessor) {
  const uint64_t late_ns = 120000000;
  auto use = [] {
    for (clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;) {
    }
  };
  Put("/proc/thread-self/schedstat", "5000 7000000 3\n");
  auto values =
      Values({[&] {
                use();
                return late_ns;
              },
              [&] {
                use();
                Put("/proc/thread-self/schedstat", "5000 126000000 4\n");
                return late_ns;
              }});
  EXPECT_EQ((Series{0, 120000, 120000}), values["process.stood_still_us"]);
  EXPECT_EQ((Series{0, 0}), values["process.stood_ready_us"]);
}

// Named once, with what was looked for.
TEST_F(MachineSamplerTest, AbsentSourcesAreNamed) {
  auto values = Values({}, 1u << 8 | 1u << 6);
  EXPECT_EQ(2u, values.size());  // of the thread itself
  EXPECT_EQ(
      "processors (/proc/stat), process (/proc/self), cgroup (cpu.stat), "
      "pressure (/proc/pressure), frequency (cpufreq, \"cpu MHz\" of "
      "/proc/cpuinfo), cpu_energy (RAPL, "
      "readable by root alone on most systems), gpu_state (libnvidia-ml.so.1), "
      "gpu_use (libnvidia-ml.so.1)",
      notes_["machine absent"]);
}

// A child opens the driver's library anew, and samples by a thread of its own.
TEST_F(MachineSamplerTest, AForkedChildSamplesAnew) {
  Put("/nvml", "devices 1 0.celsius 40");
  ppi_machine_options options = {};
  options.is_by_hand = true;
  ASSERT_TRUE(ppi_machine_start(&options));
  pid_t child = fork();
  if (child == 0) {
    ppi_machine_in_forked_child();
    bool starts = ppi_machine_start(&options);
    ppi_machine_sample(0);
    ppi_machine_stop(1000);
    _exit(starts ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  ppi_machine_stop(1000);
}

TEST_F(MachineSamplerTest, AThreadOfItsOwnSamples) {
  Put("/nvml", "devices 1 0.celsius 40");
  ppi_machine_options options = {};
  LiveSession session;
  session.Start();
  ASSERT_TRUE(ppi_machine_start(&options));
  EXPECT_FALSE(ppi_machine_start(&options));
  ppi_machine_stop(60000);
  session.Stop();
  EXPECT_EQ(2u, session.recording.Named("gpu:0.temperature_c").size());
}

}  // namespace
}  // namespace pprof_test
