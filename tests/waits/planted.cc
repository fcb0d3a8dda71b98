// SPDX-License-Identifier: Apache-2.0
//
// planted NAME: one small program of a table, each with waits that are known,
// or that look alike and are none. waits_test.py runs them under `run --waits`
// and has what each must say. No result depends on how fast a thread is: who
// must wait is known to wait before whoever ends the wait goes on.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pprof/pprof.h"
#include "pprof/pprof.hpp"

namespace {

using Clock = std::chrono::steady_clock;

// Works, by the clock.
void Spin(int microseconds) {
  auto end = Clock::now() + std::chrono::microseconds(microseconds);
  while (Clock::now() < end) {
  }
}

// Slow work that needs no processor, such as a request to a database.
void Ask(int microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

// All begin at once, and record by then.
void Run(int num, const std::function<void(int)> &work) {
  std::vector<std::thread> threads;
  std::atomic<int> num_ready{0};
  for (int i = 0; i < num; i++)
    threads.emplace_back([&, i] {
      pprof_thread_name(("worker " + std::to_string(i)).c_str());
      { PPROF_SCOPE("begin"); }
      for (num_ready++; num_ready < num;) std::this_thread::yield();
      work(i);
    });
  for (std::thread &thread : threads) thread.join();
}

// ---- locks ----

// Eight workers share a cache under one mutex that is held over slow work; one
// request in a hundred misses.
void Serve(bool holds_over_miss) {
  static std::mutex cache;
  static std::atomic<int> next{0};
  pprof_name_object(&cache, "cache");
  Run(8, [&](int) {
    for (int n; (n = next++) < 1600;) {
      PPROF_SCOPE("request");
      pprof_flow(n + 1);
      {
        PPROF_SCOPE("lookup");
        std::unique_lock<std::mutex> lock(cache);
        if (n % 100 == 99) {
          if (!holds_over_miss) lock.unlock();
          PPROF_SCOPE("refill");
          Ask(20000);
        }
      }
      PPROF_SCOPE("answer");
      Ask(500);
    }
  });
}
void Convoy() {
  Serve(true);
}
void NoConvoy() {
  Serve(false);
}

// Readers wait for a writer, who goes first, and not for each other.
void Share(bool writes) {
  static pthread_rwlock_t table;
  pthread_rwlockattr_t how;
  pthread_rwlockattr_init(&how);
  pthread_rwlockattr_setkind_np(&how,
                                PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&table, &how);
  pprof_name_object(&table, "table");
  Run(4, [&](int i) {
    for (int n = 0; n < 60; n++) {
      PPROF_SCOPE("request");
      pprof_flow((uint64_t)(1000 * i + n + 1));
      if (writes && i == 0) {
        pthread_rwlock_wrlock(&table);
        PPROF_SCOPE("write table");
        Ask(2000);
      } else {
        pthread_rwlock_rdlock(&table);
        PPROF_SCOPE("read table");
        Ask(200);
      }
      pthread_rwlock_unlock(&table);
    }
  });
}
void Writers() {
  Share(true);
}
void Readers() {
  Share(false);
}

// Two locks in turn; `own`: each thread has its own two.
void TakeTurns(bool own, int num = 50) {
  static std::mutex locks[8][2];
  pprof_name_object(&locks[0][0], "first");
  pprof_name_object(&locks[0][1], "second");
  Run(4, [&](int i) {
    for (int n = 0; n < num; n++) {
      PPROF_SCOPE("round");
      pprof_flow((uint64_t)num * i + n + 1);
      for (int k = 0; k < 2; k++) {
        std::lock_guard<std::mutex> lock(locks[own ? i : 0][k]);
        PPROF_SCOPE("part");
        Ask(300 + 700 * k);
      }
    }
  });
}

// ---- queues ----

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

// A queue of two before a slow consumer, or one that has room for all.
void Produce(size_t room, int consume_us) {
  static Queue *queue = new Queue("queue", room);
  Run(2, [&](int i) {
    for (int n = 0; n < 100; n++) {
      if (i == 0) {
        PPROF_SCOPE("produce");
        Spin(100);
        queue->Put(n);
      } else {
        int item = queue->Take();
        PPROF_SCOPE("consume");
        if (item >= 0) Ask(consume_us);
      }
    }
  });
}
void BoundedQueue() {
  Produce(2, 2000);
}
void RoomyQueue() {
  Produce(1000, 2000);
}

// The signal comes when nobody waits: only the time ends the wait.
void Signal(bool looks_first) {
  static std::mutex mutex;
  static std::condition_variable ready;
  static bool is_ready = false;
  pprof_name_object(&ready, "ready");
  Run(1, [&](int) {
    for (int n = 0; n < 20; n++) {
      PPROF_SCOPE("round");
      is_ready = true;
      ready.notify_one();
      std::unique_lock<std::mutex> lock(mutex);
      if (looks_first && is_ready) continue;
      ready.wait_for(lock, std::chrono::milliseconds(5));
    }
  });
}
void LostWakeUp() {
  Signal(false);
}
void KeptWakeUp() {
  Signal(true);
}

// `infer` needs what another thread makes, which has no number; or `alone` what
// the request's own thread makes behind its range. One request at a time.
void Refreshed(bool alone) {
  static Queue *requests = new Queue("requests", 1000);
  static Queue *asked = new Queue("asked", 1000);
  static Queue *weights = new Queue("weights", 1000);
  static Queue *done = new Queue("done", 1000);
  Run(3, [&](int i) {
    for (int n = 1; n <= 60; n++) {
      if (i == 0) {
        {
          PPROF_SCOPE("receive");
          pprof_flow((uint64_t)n);
          Ask(500);
        }
        requests->Put(n);
        asked->Put(n);
        if (alone) Ask(3000);
        if (alone) weights->Put(n);
        done->Take();
      } else if (i == 1) {
        int request = requests->Take();
        weights->Take();
        {
          PPROF_SCOPE("infer");
          pprof_flow((uint64_t)request);
          Ask(500);
        }
        done->Put(n);
      } else {
        asked->Take();
        PPROF_SCOPE("refresh");
        Ask(3000);
        if (!alone) weights->Put(n);
      }
    }
  });
}

// ---- others ----

void Allow(int num) {
  static sem_t slots;
  sem_init(&slots, 0, (unsigned)num);
  pprof_name_object(&slots, "connections");
  Run(6, [&](int) {
    for (int n = 0; n < 30; n++) {
      PPROF_SCOPE("query");
      sem_wait(&slots);
      {
        PPROF_SCOPE("connection");
        Ask(1000);
      }
      sem_post(&slots);
    }
  });
}
void TwoConnections() {
  Allow(2);
}
void SixConnections() {
  Allow(6);
}

// `num` 1: nobody waits for others there.
void Meet(unsigned num) {
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, num);
  pprof_name_object(&barrier, "layer");
  Run(4, [&](int i) {
    for (int n = 0; n < 8; n++) {
      {
        PPROF_SCOPE("compute");
        Ask(i == 3 ? 5000 : 500);
      }
      PPROF_SCOPE("meet");
      pthread_barrier_wait(&barrier);
    }
  });
}
void LateThread() {
  Meet(4);
}
void NobodyMeets() {
  Meet(1);
}

// The task's end is a futex of libstdc++.
void Async(bool asks_early) {
  for (int n = 0; n < 10; n++) {
    PPROF_SCOPE("main");
    std::atomic<bool> is_done{false};
    std::future<int> task = std::async(std::launch::async, [&] {
      PPROF_SCOPE("task");
      Ask(5000);
      is_done = true;
      return 1;
    });
    while (!asks_early && !is_done) std::this_thread::yield();
    PPROF_SCOPE("get");
    task.get();
  }
}
void AsyncWait() {
  Async(true);
}
void AsyncDone() {
  Async(false);
}

// Requests wait for one of too few threads.
void Pool(int num_threads, bool waits) {
  static std::atomic<int> num_done{0};
  static Queue *done = new Queue("done", 1000);
  static Queue *tasks = new Queue("tasks", 1000);
  Run(num_threads + 1, [&](int i) {
    if (i > 0) {
      while (tasks->Take() >= 0) {
        PPROF_SCOPE("task");
        Ask(2000);
        done->Put(0);
        num_done++;
      }
      return;
    }
    for (int n = 0; n < 40; n++) {
      PPROF_SCOPE("submit and wait");
      for (int k = 0; k < 4; k++) tasks->Put(k);
      while (!waits && num_done < 4 * (n + 1)) Ask(100);
      for (int k = 0; k < 4; k++) done->Take();
    }
    for (int k = 0; k < num_threads; k++) tasks->Put(-1);
  });
}
void SmallPool() {
  Pool(1, true);
}
void AskedPool() {
  Pool(1, false);
}

// libgomp's barriers go past the C library.
void OpenMp(bool uses) {
  using Work = void (*)(void *);
  using Parallel = void (*)(Work, void *, unsigned, unsigned);
  void *gomp = uses ? dlopen("libgomp.so.1", RTLD_NOW) : nullptr;
  auto parallel =
      gomp ? (Parallel)dlsym(gomp, "GOMP_parallel")
           : [](Work work, void *data, unsigned, unsigned) { work(data); };
  static void (*barrier)() =
      gomp ? (void (*)())dlsym(gomp, "GOMP_barrier") : [] {};
  parallel(
      [](void *) {
        PPROF_SCOPE("region");
        Ask(1000);
        barrier();
      },
      nullptr, 2, 0);
}
void Gomp() {
  OpenMp(true);
}
void NoGomp() {
  OpenMp(false);
}

// What has a low priority holds the lock that the important one needs.
void Invert(bool shares) {
  static std::mutex locks[2];
  pprof_name_object(&locks[0], "state");
  Run(2, [&](int i) {
    static std::atomic<bool> is_held{false};
    static std::atomic<int> num_done{0};
    if (i == 1) setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
    for (int n = 0; n < 30; n++) {
      pprof::scope around(i == 1 ? "background" : "important");
      while (i == 0 && !is_held) std::this_thread::yield();
      {
        std::lock_guard<std::mutex> lock(locks[shares ? 0 : i]);
        is_held = i == 1;
        if (i == 1) Spin(3000);
      }
      if (i == 0) num_done++;
      while (i == 1 && num_done <= n) std::this_thread::yield();
    }
  });
}
void Inversion() {
  Invert(true);
}
void NoInversion() {
  Invert(false);
}

// ---- ends ----

// Each has one lock and waits for the other's. `cross` false: no cycle, but a
// holder that does not give its lock back.
std::mutex left_lock, right_lock;
std::atomic<int> num_locked{0};
void Hang(bool cross) {
  pprof_name_object(&left_lock, "left");
  pprof_name_object(&right_lock, "right");
  Run(2, [&](int i) {
    PPROF_SCOPE_CAT("transfer", PPROF_CATEGORY_USER_DEFINED);
    std::mutex &own = i ? right_lock : left_lock;
    std::lock_guard<std::mutex> lock(own);
    for (num_locked++; num_locked < 2;) std::this_thread::yield();
    if (i == 0) {
      PPROF_SCOPE("take both");
      std::lock_guard<std::mutex> other(right_lock);
    } else if (cross) {
      PPROF_SCOPE("take both");
      std::lock_guard<std::mutex> other(left_lock);
    } else {
      PPROF_SCOPE("long work");
      for (;;) Ask(10000);
    }
  });
}
void Deadlock() {
  Hang(true);
}
void LongHolder() {
  Hang(false);
}

// Another thread holds the lock at the fork: the child waits for ever, and is
// killed by its parent. With `held` false the child takes it at once.
void Fork(bool held) {
  static std::mutex lock;
  static std::atomic<bool> is_locked{false}, may_go{false};
  pprof_name_object(&lock, "held over fork");
  std::thread holder([&] {
    PPROF_SCOPE("holder");
    if (held) lock.lock();
    is_locked = true;
    while (!may_go) std::this_thread::yield();
    if (held) lock.unlock();
  });
  while (!is_locked) std::this_thread::yield();
  {
    PPROF_SCOPE("parent");
    pid_t child = fork();
    if (child == 0) {
      PPROF_SCOPE("child");
      alarm(1);
      lock.lock();
      lock.unlock();
      pprof_stop(nullptr);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  may_go = true;
  holder.join();
}
void ForkHeld() {
  Fork(true);
}
void ForkFree() {
  Fork(false);
}

// A thread that is cancelled in a wait ends its range.
void Cancel() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  pprof_name_object(&never, "never");
  pthread_t thread;
  static std::atomic<bool> waits{false};
  pthread_create(
      &thread, nullptr,
      [](void *) -> void * {
        PPROF_SCOPE("cancelled");
        pthread_mutex_lock(&mutex);
        waits = true;
        for (;;) pthread_cond_wait(&never, &mutex);
        return nullptr;
      },
      nullptr);
  while (!waits) std::this_thread::yield();
  Ask(20000);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
}

// Waits in an allocator, beside signal handlers that post, forks with handlers
// that lock, and libraries that come and go.
std::mutex hostile_lock;
sem_t hostile_posts;
void Hostile() {
  const int num = 4, rounds = 200;
  const bool may_fork = !getenv("NO_FORKS");
  static std::atomic<int> left{num};
  static std::mutex at_fork;
  sem_init(&hostile_posts, 0, 0);
  signal(SIGUSR1, [](int) { sem_post(&hostile_posts); });
  pthread_atfork([] { at_fork.lock(); }, [] { at_fork.unlock(); },
                 [] { at_fork.unlock(); });
  { PPROF_SCOPE("begin"); }  // forks come when the session has begun
  std::thread forks([&] {
    PPROF_SCOPE("forks");
    for (int n = 0; left || n < 10; n++) {
      pid_t child = may_fork ? fork() : -1;
      if (child == 0) {
        { PPROF_SCOPE("child"); }
        pprof_stop(nullptr);
        _exit(0);
      }
      waitpid(child, nullptr, 0);
      if (void *library = dlopen("libm.so.6", RTLD_NOW)) dlclose(library);
    }
  });
  Run(num, [&](int) {
    for (int n = 0; n < rounds; n++) {
      PPROF_SCOPE("work");
      std::vector<std::string> texts(20, std::string(200, 'x'));
      pthread_kill(pthread_self(), SIGUSR1);
      while (sem_wait(&hostile_posts) != 0) {
      }
      std::lock_guard<std::mutex> first(at_fork);
      std::lock_guard<std::mutex> second(hostile_lock);
      texts.emplace_back(1000, 'y');
    }
    left--;
  });
  forks.join();
}

struct Program {
  const char *name;
  void (*run)();
};
const Program programs[] = {
    {"convoy", Convoy},
    {"no_convoy", NoConvoy},
    {"writers", Writers},
    {"readers", Readers},
    {"two_locks", [] { TakeTurns(false); }},
    {"own_locks", [] { TakeTurns(true); }},
    {"endless_turns", [] { TakeTurns(false, 1 << 30); }},
    {"bounded_queue", BoundedQueue},
    {"roomy_queue", RoomyQueue},
    {"lost_wake_up", LostWakeUp},
    {"kept_wake_up", KeptWakeUp},
    {"other_thread", [] { Refreshed(false); }},
    {"same_thread", [] { Refreshed(true); }},
    {"two_connections", TwoConnections},
    {"six_connections", SixConnections},
    {"late_thread", LateThread},
    {"nobody_meets", NobodyMeets},
    {"async_wait", AsyncWait},
    {"async_done", AsyncDone},
    {"small_pool", SmallPool},
    {"asked_pool", AskedPool},
    {"openmp", Gomp},
    {"no_openmp", NoGomp},
    {"inversion", Inversion},
    {"no_inversion", NoInversion},
    {"deadlock", Deadlock},
    {"long_holder", LongHolder},
    {"fork_held", ForkHeld},
    {"fork_free", ForkFree},
    {"cancel", Cancel},
    {"hostile", Hostile},
};

}  // namespace

int main(int argc, char **argv) {
  for (const Program &program : programs) {
    if (argc != 2 || strcmp(argv[1], program.name) != 0) continue;
    program.run();
    return 0;
  }
  return 2;
}
