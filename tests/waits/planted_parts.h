// SPDX-License-Identifier: Apache-2.0
//
// What planted programs consist of: naps, gates, threads that begin at once,
// and a queue.
#pragma once

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pprof/pprof.h"
#include "pprof/pprof.hpp"

namespace {

// Slow work that needs no processor, such as a request to a database.
void Ask(int naps) {
  for (int i = 0; i < naps; i++)
    std::this_thread::sleep_for(std::chrono::microseconds(500));
}

// Work on a processor, by the thread's own time.
void Compute(long microseconds) {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  for (long end = now.tv_nsec / 1000 + now.tv_sec * 1000000 + microseconds;
       now.tv_nsec / 1000 + now.tv_sec * 1000000 < end;)
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}

// Lets as many threads or processes pass as it was opened for. No recorded
// wait: the C library reads it inside.
class Gate {
 public:
  Gate() = default;
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;
  ~Gate() {
    close(fd_);
  }
  void Open(unsigned num = 1) {
    eventfd_write(fd_, num);
  }
  void Pass() {
    eventfd_t one;
    while (eventfd_read(fd_, &one) != 0) {
    }
  }

 private:
  int fd_ = eventfd(0, EFD_SEMAPHORE);
};

// Until the thread sleeps ('S') or, with 0, has ended.
void Until(pid_t thread, char wanted) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)thread);
  for (FILE *file; (file = fopen(path, "r")) != nullptr; Ask(1)) {
    char state = 0;
    int num = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    if (num == 1 && state == wanted) return;
  }
}
pid_t Self() {
  return (pid_t)syscall(SYS_gettid);
}

std::atomic<pid_t> workers[8];

// All begin at once, and record by then.
void Run(int num, const std::function<void(int)> &work) {
  std::vector<std::thread> threads;
  std::atomic<int> num_ready{0};
  Gate start;
  for (int i = 0; i < num; i++)
    threads.emplace_back([&, i] {
      pprof_thread_name(("worker " + std::to_string(i)).c_str());
      { PPROF_SCOPE("begin"); }
      workers[i] = Self();
      if (++num_ready == num) start.Open((unsigned)num);
      start.Pass();
      work(i);
    });
  for (std::thread &thread : threads) thread.join();
}

struct Queue {
  std::mutex mutex;
  std::condition_variable not_empty, not_full;
  std::deque<int> items;
  size_t most;

  Queue(const std::string &name, size_t room) : most(room) {
    pprof_name_object(&not_empty, (name + ", not empty").c_str());
    pprof_name_object(&not_full, (name + ", not full").c_str());
  }
  void Put(int item) {
    std::unique_lock<std::mutex> lock(mutex);
    not_full.wait(lock, [&] { return items.size() < most; });
    items.push_back(item);
    not_empty.notify_one();
  }
  int Take() {
    std::unique_lock<std::mutex> lock(mutex);
    not_empty.wait(lock, [&] { return !items.empty(); });
    int item = items.front();
    items.pop_front();
    not_full.notify_one();
    return item;
  }
};

}  // namespace
