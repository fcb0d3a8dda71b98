// SPDX-License-Identifier: Apache-2.0
//
// The workload's threads, and the reader of what is left of them. A record is
// known by its kind and by the last flow it carries, or by its value.
#include "workload.h"

#include <pprof/pprof.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <sstream>
#include <thread>
#include <unordered_set>
#include <vector>

#include "log/write/log_writer.h"
#include "mark/thread.h"
#include "session/capture/capture_session.h"
#include "session/state/session_impl.h"
#include "tests/support/capture_rules.h"

namespace kill_test {

namespace {

constexpr uint64_t kPerCycle = 8;

// Of begin `number` (from 1) of a worker; also a double without loss.
uint64_t Id(int worker, uint64_t number) {
  return static_cast<uint64_t>(worker + 1) << 32 | number;
}

class Begin {
 public:
  explicit Begin(Progress *progress) : progress_(progress) {
    __atomic_store_n(&progress->begun, progress->begun + 1, __ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~Begin() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&progress_->done, progress_->done + 1, __ATOMIC_SEQ_CST);
  }

 private:
  Progress *progress_;
};

PPROF_SITE(outer, "outer", PPROF_CATEGORY_CPU_TASK);
PPROF_SITE(inner, "inner", PPROF_CATEGORY_FORWARD);
PPROF_SITE(point, "point", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(level, "level", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(wander, "wander", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(on_device, "on device", PPROF_CATEGORY_INFERENCE);

struct Worker {
  int index;
  Memory *memory;
  pprof_device *device;
  pprof_cpu_stream *stream;

  Progress *progress() const {
    return &memory->workers[index];
  }
  uint64_t Next() const {
    return Id(index, progress()->begun);
  }

  void PushInner(uint64_t first) const {
    {
      Begin begin(progress());
      pprof_push_name((first & 64) ? "even" : "odd", 0);
      pprof_flow(Next());
    }
    {
      Begin begin(progress());
      PPROF_SCOPE("scope");
      pprof_flow(Next());
    }
    pprof_pop();
  }

  // kPerCycle begins.
  void Cycle() const {
    pprof_range range;
    {
      Begin begin(progress());
      pprof_push(&outer);
      pprof_flow(Next());
    }
    const uint64_t first = Next();
    {
      Begin begin(progress());
      pprof_mark(&point);
    }
    {
      Begin begin(progress());
      pprof_count(&level, static_cast<double>(Next()));
    }
    {
      Begin begin(progress());
      range = pprof_range_begin(&wander);
      pprof_range_flow(range, Next());
    }
    PushInner(first);
    {
      Begin begin(progress());
      pprof_device_push(device, stream, &on_device);
    }
    {
      Begin begin(progress());
      pprof_push(&inner);
      pprof_flow(Next());
    }
    pprof_device_pop(device, stream);
    pprof_pop();
    pprof_pop();
    pprof_range_end(range);
  }
};

struct Room {
  pthread_barrier_t before, after;
  const Load *load;
};

void StayingWorker(Room *room, Worker worker) {
  for (int round = 0; round < room->load->num_rounds; round++) {
    pthread_barrier_wait(&room->before);
    for (int i = 0; i < room->load->cycles_per_round; i++) {
      worker.Cycle();
      if (worker.index != 0) continue;
      Begin begin(&worker.memory->steps);
      pprof_step(1);
    }
    pthread_barrier_wait(&room->after);
  }
}

pprof_session *Start(const Load &load, Memory *memory) {
  static Memory *told;
  told = memory;
  static pprof_sink probe;
  probe.size = sizeof probe;
  probe.begin = [](pprof_sink *, const pprof_run_info *) {
    strcpy(told->spool, ppi_recorder_in_force.spool.path);
    return PPROF_STATUS_OK;
  };
  pprof_options options = {};
  options.size = sizeof options;
  options.spool_dir = load.spool_dir;
  options.memory_limit_bytes = load.memory_limit_bytes;
  options.drain_interval_us = load.drain_interval_us;
  options.stop_wait_ms = 10000;
  pprof_session *session = nullptr;
  pprof_sink *log = nullptr;
  ppi_log_rotation rotation = {};
  rotation.segment_bytes = load.segment_bytes;
  if (pprof_session_create(&options, &session, nullptr) != PPROF_STATUS_OK ||
      pprof_session_add_sink(session, &probe) != PPROF_STATUS_OK ||
      ppi_log_writer_create(load.log, &rotation, &log, nullptr) !=
          PPROF_STATUS_OK ||
      pprof_session_add_sink(session, log) != PPROF_STATUS_OK)
    _exit(5);
  const ppi_capture capture =
      load.windows ? pprof_test::Cycle(0, 0, 2, 3, 0) : ppi_capture{};
  ppi_session_set_capture(session, &capture);
  memory->windows = load.windows;
  memory->phase = kStarting;
  if (pprof_session_start(session) != PPROF_STATUS_OK) _exit(6);
  memory->phase = kRecording;
  return session;
}

}  // namespace

Memory *MakeMemory() {
  void *memory = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return static_cast<Memory *>(memory);
}

void RunLoad(const Load &load, Memory *memory) {
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  pprof_cpu_stream *stream = nullptr;
  if (pprof_cpu_stream_create(&stream) != PPROF_STATUS_OK) _exit(3);
  Room room = {};
  room.load = &load;
  pthread_barrier_init(&room.before, nullptr, kWorkers);
  pthread_barrier_init(&room.after, nullptr, kWorkers);
  std::vector<std::thread> threads;
  for (int i = 0; i < kWorkers - 1; i++)
    threads.emplace_back(StayingWorker, &room,
                         Worker{i, memory, device, stream});
  pprof_session *session = Start(load, memory);
  const Worker passing = {kWorkers - 1, memory, device, stream};
  for (int round = 0; round < load.num_rounds; round++) {
    pthread_barrier_wait(&room.before);
    std::thread([&passing] { passing.Cycle(); }).join();
    pthread_barrier_wait(&room.after);
    pprof_cpu_stream_synchronize(stream);
    if (load.flush) pprof_session_flush(session);
  }
  memory->phase = kStopping;
  raise(SIGURG);  // ignored; lets the tracer see the new phase
  memory->stop_status = pprof_session_stop(session, nullptr);
  memory->phase = kStopped;
  pprof_session_destroy(session);
  for (std::thread &thread : threads) thread.join();
  pprof_cpu_stream_destroy(stream);
}

void RunForever(const char *log, const char *spool_dir, Memory *memory) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv("PPROF_OUTPUT", log, 1);
  setenv("PPROF_SET", (std::string("spool=") + spool_dir).c_str(), 1);
  if (pprof_start(nullptr, nullptr) != PPROF_STATUS_OK) _exit(6);
  strcpy(memory->spool, ppi_recorder_in_force.spool.path);
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  pprof_cpu_stream *stream = nullptr;
  if (pprof_cpu_stream_create(&stream) != PPROF_STATUS_OK) _exit(3);
  const Worker first = {0, memory, device, stream};
  const Worker second = {1, memory, device, stream};
  std::thread other([&second] {
    for (;;) second.Cycle();
  });
  for (;;) first.Cycle();
}

uint64_t NumBegun(const Memory &memory) {
  uint64_t num = 0;
  for (const Progress &worker : memory.workers)
    num += __atomic_load_n(&worker.begun, __ATOMIC_ACQUIRE);
  return num;
}

namespace {

Death death_of_handler;

void Die(int) {
  volatile int *const nowhere = nullptr;
  if (death_of_handler == Death::kSegv) *nowhere = 1;
  if (death_of_handler == Death::kAbort) abort();
  _exit(0);
}

// A timer's signal comes in an interrupt, at any instruction of the workers.
void ArmDeath(Death death, uint32_t after_us) {
  if (death == Death::kFromOutside) return;
  death_of_handler = death;
  signal(SIGALRM, Die);
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = death == Death::kSigkill ? SIGKILL : SIGALRM;
  timer_t timer;
  itimerspec when = {};
  when.it_value.tv_nsec = 1 + after_us * 1000l;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      timer_settime(timer, 0, &when, nullptr) != 0)
    _exit(7);
}

[[noreturn]] void FaultForever() {
  constexpr size_t kBytes = 64u << 20, kPage = 4096;
  void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (auto *bytes = static_cast<volatile char *>(memory);;) {
    for (size_t at = 0; at < kBytes; at += kPage) bytes[at] = 1;
    madvise(memory, kBytes, MADV_DONTNEED);
  }
}

}  // namespace

void RunStorm(const Storm &storm, Memory *memory) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pprof_device *device = pprof_device_get(pprof_backend_cpu(), 0);
  pprof_cpu_stream *streams[2] = {};
  for (pprof_cpu_stream *&stream : streams)
    if (pprof_cpu_stream_create(&stream) != PPROF_STATUS_OK) _exit(3);
  Load load = {};
  load.log = storm.log;
  load.spool_dir = storm.spool_dir;
  load.memory_limit_bytes = storm.memory_limit_bytes;
  load.drain_interval_us = storm.drain_interval_us;
  Start(load, memory);
  static std::atomic<int> num_started{0};
  for (int i = 0; i < kStormWorkers; i++)
    std::thread([=] {
      const Worker worker = {i, memory, device, streams[i % 2]};
      worker.Cycle();
      // Each of them is in the midst of it then.
      if (++num_started == kStormWorkers) ArmDeath(storm.death, storm.after_us);
      for (;;) worker.Cycle();
    }).detach();
  if (storm.hog) std::thread(FaultForever).detach();
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);  // for a worker to take
  for (;;) pause();
}

// ---- the check ----

namespace {

struct Reading {
  pprof_sink base;
  std::map<uint32_t, std::string> names;
  std::unordered_multiset<std::string> keys;
  uint64_t lost, excluded, recorded, told, clipped_steps;
};

std::string Key(const char *kind, uint64_t id) {
  return std::string(kind) + " " + std::to_string(id >> 32) + "." +
         std::to_string(static_cast<uint32_t>(id));
}

// Which begin of a cycle makes ranges of that name, from 0.
uint64_t PlaceOf(const std::string &name) {
  return name == "outer"    ? 0
         : name == "wander" ? 3
         : name == "scope"  ? 5
         : name == "inner"  ? 7
                            : 4;
}

// The key of an event; "" when it has no id of its own, because its last flow
// is that of the range around it.
std::string KeyOf(const Reading &reading, const pprof_event &event) {
  if (event.kind == PPROF_KIND_COUNTER)
    return Key("count", static_cast<uint64_t>(event.value));
  if (event.num_flows == 0) return "";
  const uint64_t id = event.flows[event.num_flows - 1];
  if (event.kind == PPROF_KIND_MARK) return Key("mark", id);
  if (event.kind == PPROF_KIND_DEVICE_RANGE) return Key("device", id);
  const uint64_t place = PlaceOf(reading.names.at(event.site));
  return (id - 1) % kPerCycle == place ? Key("range", id) : "";
}

pprof_status OnDefine(pprof_sink *sink, const pprof_definition *definition) {
  auto *self = reinterpret_cast<Reading *>(sink);
  if (pprof_definition_get_kind(definition) == PPROF_DEFINITION_SITE)
    self->names[pprof_definition_id(definition)] =
        pprof_definition_name(definition);
  return PPROF_STATUS_OK;
}

pprof_status OnEvents(pprof_sink *sink, const pprof_batch *batch) {
  auto *self = reinterpret_cast<Reading *>(sink);
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event &event = *pprof_batch_at(batch, i);
    self->recorded++;
    if (!self->names.count(event.site)) {
      self->keys.insert("undefined site " + std::to_string(event.site));
    } else if (self->names[event.site] == "ProfileStep") {
      if (event.flags & PPROF_FLAG_CLIPPED)
        self->clipped_steps++;
      else
        self->keys.insert(Key("step", static_cast<uint64_t>(event.value)));
    } else {
      self->keys.insert(KeyOf(*self, event));
    }
  }
  return PPROF_STATUS_OK;
}

pprof_status OnFinish(pprof_sink *sink, const pprof_totals *totals) {
  auto *self = reinterpret_cast<Reading *>(sink);
  self->lost += pprof_totals_value(totals, PPROF_ALL_LANES, "lost");
  self->excluded += pprof_totals_value(totals, PPROF_ALL_LANES, "excluded");
  self->told += pprof_totals_value(totals, PPROF_ALL_LANES, "recorded");
  if (self->told != self->recorded)
    self->keys.insert("recorded says " + std::to_string(self->told) + ", not " +
                      std::to_string(self->recorded));
  return PPROF_STATUS_OK;
}

// The key of the `number`-th record that `worker` began.
std::string Expected(int worker, uint64_t number) {
  const uint64_t place = (number - 1) % kPerCycle;
  const uint64_t first = number - place;
  if (place == 1) return Key("mark", Id(worker, first));
  if (place == 2) return Key("count", Id(worker, number));
  if (place == 6) return Key("device", Id(worker, first));
  return Key("range", Id(worker, number));
}

class Checker {
 public:
  Checker(const Reading &reading, const Memory &memory, bool lossless)
      : left_(reading.keys),
        reading_(reading),
        memory_(memory),
        lossless_(lossless) {}

  Findings Check() {
    findings_ = {reading_.recorded, reading_.lost, reading_.excluded, 0, ""};
    uint64_t begun = 0, done = 0;
    for (int worker = 0; worker < kWorkers; worker++) {
      begun += memory_.workers[worker].begun;
      done += memory_.workers[worker].done;
      CheckWorker(worker);
    }
    CheckSteps(&begun, &done);
    for (const std::string &key : left_)
      if (lossless_ || !key.empty())
        Say("too much: " + (key.empty() ? "a record without an id" : key));
    const uint64_t found =
        reading_.recorded + reading_.lost + reading_.excluded;
    findings_.in_flight = begun - done;
    if (found < done || found > begun) {
      std::ostringstream text;
      text << "recorded " << reading_.recorded << " + lost " << reading_.lost
           << " + excluded " << reading_.excluded << " not in " << done << ".."
           << begun;
      Say(text.str());
    }
    if (lossless_ && reading_.lost) Say("lost where nothing may be");
    return findings_;
  }

 private:
  void Say(const std::string &problem) {
    if (findings_.problems.size() < 600) findings_.problems += problem + "\n";
  }

  bool Take(const std::string &key) {
    auto found = left_.find(key);
    if (found == left_.end()) return false;
    left_.erase(found);
    return true;
  }

  void CheckWorker(int worker) {
    const Progress &progress = memory_.workers[worker];
    for (uint64_t number = 1; number <= progress.begun; number++) {
      if (Take(Expected(worker, number))) continue;
      // In flight: begun, but without its flow yet.
      if (number > progress.done)
        Take("");
      else if (lossless_)
        Say("missing: " + Expected(worker, number));
    }
  }

  // After n calls n steps have ended and one is open; none without a call.
  uint64_t StepsBegun(uint64_t num_calls) const {
    if (!memory_.windows) return num_calls ? num_calls + 1 : 0;
    uint64_t begun = 0;
    for (uint64_t step = 0; step <= num_calls; step++) begun += step % 5 >= 2;
    return begun;
  }

  void CheckSteps(uint64_t *begun, uint64_t *done) {
    const Progress &steps = memory_.steps;
    for (uint64_t step = 0; step < steps.begun; step++)
      if (!Take(Key("step", step)) && step < steps.done && lossless_)
        Say("missing: " + Key("step", step));
    if (reading_.clipped_steps > 1) Say("more than one open step");
    *begun += StepsBegun(steps.begun);
    *done += StepsBegun(steps.done);
  }

  std::unordered_multiset<std::string> left_;
  const Reading &reading_;
  const Memory &memory_;
  bool lossless_;
  Findings findings_;
};

}  // namespace

Findings CheckLogs(const std::vector<std::string> &paths, const Memory &memory,
                   bool lossless) {
  Reading reading = {};
  reading.base.size = sizeof reading.base;
  reading.base.define = OnDefine;
  reading.base.events = OnEvents;
  reading.base.finish = OnFinish;
  std::string problems;
  for (const std::string &path : paths) {
    pprof_error error = {};
    const pprof_status status =
        pprof_log_read(path.c_str(), &reading.base, &error);
    if (status != PPROF_STATUS_OK)
      problems += "reading " + path + ": " + pprof_status_string(status) + " " +
                  error.text + "\n";
  }
  Findings findings = Checker(reading, memory, lossless).Check();
  findings.problems += problems;
  return findings;
}

Findings CheckLog(const std::string &path, const Memory &memory,
                  bool lossless) {
  return CheckLogs({path}, memory, lossless);
}

}  // namespace kill_test
