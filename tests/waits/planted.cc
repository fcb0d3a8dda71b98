// SPDX-License-Identifier: Apache-2.0
//
// planted NAME: one small program of a table, each with waits that are known,
// or that look alike and are none. waits_test.py runs them under `run --waits`
// and has what each must say. The outcome follows from the program, also on a
// busy machine: no thread spins, order comes from gates, and all work consists
// of equal naps, which load stretches alike.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "planted_parts.h"

namespace {

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
          Ask(40);
        }
      }
      PPROF_SCOPE("answer");
      Ask(1);
    }
  });
}

// Readers wait for a writer, who goes first, and not for each other; `timed`:
// for a minute at most, by either clock.
void Share(bool writes, bool timed = false) {
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
      timespec until{};
      clock_gettime(i % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &until);
      until.tv_sec += 60;
      if (writes && i == 0) {
        if (timed)
          pthread_rwlock_timedwrlock(&table, &until);
        else
          pthread_rwlock_wrlock(&table);
        PPROF_SCOPE("write table");
        Ask(12);  // longer than readers that wake up late
      } else {
        if (timed && i % 2)
          pthread_rwlock_clockrdlock(&table, CLOCK_MONOTONIC, &until);
        else if (timed)
          pthread_rwlock_timedrdlock(&table, &until);
        else
          pthread_rwlock_rdlock(&table);
        PPROF_SCOPE("read table");
        Ask(1);
      }
      pthread_rwlock_unlock(&table);
    }
  });
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
        Ask(1 + 3 * k);
      }
    }
  });
}

// ---- queues ----

// A queue of two before a slow consumer, or one that has room for all. One item
// in ten takes long: what waits for it does not stand still.
void Produce(size_t room) {
  static Queue *queue = new Queue("queue", room);
  Run(2, [&](int i) {
    for (int n = 0; n < 100; n++) {
      if (i == 0) {
        PPROF_SCOPE("produce");
        queue->Put(n);
      } else {
        int item = queue->Take();
        PPROF_SCOPE("consume");
        Ask(item % 10 == 9 ? 80 : 4);
      }
    }
  });
}

// One thread makes what four use; it has no numbers of requests.
void Feed(int make_naps, int use_naps) {
  static Queue *box = new Queue("box", 60);
  Run(5, [&](int i) {
    for (int n = 1; n <= (i ? 15 : 60); n++) {
      if (i == 0) {
        {
          PPROF_SCOPE("make");
          Ask(make_naps);
        }
        PPROF_SCOPE("put");
        box->Put(n);
      } else {
        int item = 0;
        {
          PPROF_SCOPE("take");
          item = box->Take();
        }
        PPROF_SCOPE("use");
        pprof_flow((uint64_t)item);
        Ask(use_naps);
      }
    }
  });
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
          Ask(1);
        }
        requests->Put(n);
        asked->Put(n);
        if (alone) Ask(6);
        if (alone) weights->Put(n);
        done->Take();
      } else if (i == 1) {
        int request = requests->Take();
        weights->Take();
        {
          PPROF_SCOPE("infer");
          pprof_flow((uint64_t)request);
          Ask(1);
        }
        done->Put(n);
      } else {
        asked->Take();
        PPROF_SCOPE("refresh");
        Ask(6);
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
        Ask(2);
      }
      sem_post(&slots);
    }
  });
}

// The last one computes when the others wait. `num` 1: nobody waits for others.
void Meet(unsigned num) {
  static Gate computed;
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, num);
  pprof_name_object(&barrier, "layer");
  Run(4, [&](int i) {
    for (int n = 0; n < 20; n++) {
      for (int k = 0; i == 3 && k < 3; k++) computed.Pass();
      for (int k = 0; i == 3 && k < 3; k++) Until(workers[k], 'S');
      {
        PPROF_SCOPE("compute");
        if (i == 3) Ask(40);
      }
      if (i < 3) computed.Open();
      PPROF_SCOPE("meet");
      pthread_barrier_wait(&barrier);
    }
  });
}

// The task begins when it is waited for, or is asked for when its thread ended.
void Async(bool asks_early) {
  const pid_t self = Self();
  for (int n = 0; n < 10; n++) {
    PPROF_SCOPE("main");
    std::atomic<pid_t> worker{0};
    Gate begun;
    std::future<int> task = std::async(std::launch::async, [&] {
      PPROF_SCOPE("task");
      worker = Self();
      begun.Open();
      if (asks_early) Until(self, 'S');
      Ask(10);
      return 1;
    });
    begun.Pass();
    if (!asks_early) Until(worker, 0);
    PPROF_SCOPE("get");
    task.get();
  }
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
        Ask(4);
        done->Put(0);
        num_done++;
      }
      return;
    }
    for (int n = 0; n < 40; n++) {
      PPROF_SCOPE("submit and wait");
      for (int k = 0; k < 4; k++) tasks->Put(k);
      while (!waits && num_done < 4 * (n + 1)) Ask(1);
      for (int k = 0; k < 4; k++) done->Take();
    }
    for (int k = 0; k < num_threads; k++) tasks->Put(-1);
  });
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
        Ask(2);
        barrier();
      },
      nullptr, 2, 0);
}

// A lock that calls the system past the C library, as of a runtime of its own.
void OwnFutex() {
  static std::atomic<int> taken{0};
  auto call = [](long what, long num) {
#if defined(__x86_64__)
    register long no_time __asm__("r10") = 0;
    __asm__ volatile("mov $202, %%eax; syscall"
                     :
                     : "D"(&taken), "S"(what), "d"(num), "r"(no_time)
                     : "rax", "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x0 __asm__("x0") = (long)&taken, x1 __asm__("x1") = what;
    register long x2 __asm__("x2") = num, x3 __asm__("x3") = 0;
    __asm__ volatile("mov x8, #98; svc #0"
                     : "+r"(x0)
                     : "r"(x1), "r"(x2), "r"(x3)
                     : "x8", "memory");
#endif
  };
  Run(4, [&](int) {
    for (int n = 0; n < 20; n++) {
      PPROF_SCOPE("round");
      while (taken.exchange(1)) call(FUTEX_WAIT_PRIVATE, 1);
      Ask(1);
      taken = 0;
      call(FUTEX_WAKE_PRIVATE, 1);
    }
  });
}

// What has a low priority holds the lock that the important one needs.
void Invert(bool shares) {
  static std::mutex locks[2];
  static Gate locked, done;
  pprof_name_object(&locks[0], "state");
  Run(2, [&](int i) {
    if (i == 1) setpriority(PRIO_PROCESS, (id_t)Self(), 10);
    for (int n = 0; n < 20; n++) {
      pprof::scope around(i == 1 ? "background" : "important");
      if (i == 0) locked.Pass();
      {
        std::lock_guard<std::mutex> lock(locks[shares ? 0 : i]);
        if (i == 1) {
          locked.Open();
          Until(workers[0], 'S');
          Compute(1000);
          Ask(4);
        }
      }
      if (i == 0)
        done.Open();
      else
        done.Pass();
    }
  });
}

// ---- ends ----

// Each has one lock and waits for the other's. `cross` false: no cycle, but a
// holder that does not give its lock back.
std::mutex left_lock, right_lock;
void Hang(bool cross) {
  static Gate locked[2];
  pprof_name_object(&left_lock, "left");
  pprof_name_object(&right_lock, "right");
  Run(2, [&](int i) {
    PPROF_SCOPE_CAT("transfer", PPROF_CATEGORY_USER_DEFINED);
    std::mutex &own = i ? right_lock : left_lock;
    std::lock_guard<std::mutex> lock(own);
    locked[1 - i].Open();
    locked[i].Pass();
    if (i == 0) {
      PPROF_SCOPE("take both");
      std::lock_guard<std::mutex> other(right_lock);
    } else if (cross) {
      PPROF_SCOPE("take both");
      std::lock_guard<std::mutex> other(left_lock);
    } else {
      PPROF_SCOPE("long work");
      for (;;) Ask(20);
    }
  });
}

// A thread is joined under a lock that it needs, or while it works.
void JoinUnder(bool lock) {
  static std::mutex registry;
  pprof_name_object(&registry, "registry");
  pprof_thread_name("main");
  PPROF_SCOPE_CAT("shut down", PPROF_CATEGORY_USER_DEFINED);
  std::unique_lock<std::mutex> held(registry);
  if (!lock) held.unlock();
  std::thread reaper([] {
    pprof_thread_name("reaper");
    PPROF_SCOPE_CAT("reap", PPROF_CATEGORY_USER_DEFINED);
    std::lock_guard<std::mutex> own(registry);
    PPROF_SCOPE("long work");
    for (;;) Ask(20);
  });
  reaper.join();
}

// Another thread holds the lock at the fork: the child waits for ever, and is
// killed by its parent. With `held` false the child takes it at once.
void Fork(bool held) {
  static std::mutex lock;
  static Gate locked, may_go, begun;
  pprof_name_object(&lock, "held over fork");
  std::thread holder([&] {
    PPROF_SCOPE("holder");
    if (held) lock.lock();
    locked.Open();
    may_go.Pass();
    if (held) lock.unlock();
  });
  locked.Pass();
  {
    PPROF_SCOPE("parent");
    pid_t child = fork();
    if (child == 0) {
      PPROF_SCOPE("child");
      begun.Open();
      lock.lock();
      lock.unlock();
      pprof_stop(nullptr);
      _exit(0);
    }
    begun.Pass();
    if (held) Until(child, 'S');
    if (held) Ask(4);
    if (held) kill(child, SIGALRM);
    waitpid(child, nullptr, 0);
  }
  may_go.Open();
  holder.join();
}

// A thread that is cancelled in a wait ends its range.
void Cancel() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  pprof_name_object(&never, "never");
  pthread_t thread;
  static std::atomic<pid_t> self{0};
  static Gate begun;
  pthread_create(
      &thread, nullptr,
      [](void *) -> void * {
        PPROF_SCOPE("cancelled");
        pthread_mutex_lock(&mutex);
        self = Self();
        begun.Open();
        for (;;) pthread_cond_wait(&never, &mutex);
        return nullptr;
      },
      nullptr);
  begun.Pass();
  Until(self, 'S');
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
    {"convoy", [] { Serve(true); }},
    {"no_convoy", [] { Serve(false); }},
    {"writers", [] { Share(true); }},
    {"readers", [] { Share(false); }},
    {"timed_writers", [] { Share(true, true); }},
    {"timed_readers", [] { Share(false, true); }},
    {"two_locks", [] { TakeTurns(false); }},
    {"own_locks", [] { TakeTurns(true); }},
    {"endless_turns", [] { TakeTurns(false, 1 << 30); }},
    {"bounded_queue", [] { Produce(2); }},
    {"roomy_queue", [] { Produce(1000); }},
    {"slow_maker", [] { Feed(12, 1); }},
    {"slow_users", [] { Feed(1, 32); }},
    {"lost_wake_up", [] { Signal(false); }},
    {"kept_wake_up", [] { Signal(true); }},
    {"other_thread", [] { Refreshed(false); }},
    {"same_thread", [] { Refreshed(true); }},
    {"two_connections", [] { Allow(2); }},
    {"six_connections", [] { Allow(6); }},
    {"late_thread", [] { Meet(4); }},
    {"nobody_meets", [] { Meet(1); }},
    {"async_wait", [] { Async(true); }},
    {"async_done", [] { Async(false); }},
    {"small_pool", [] { Pool(1, true); }},
    {"asked_pool", [] { Pool(1, false); }},
    {"openmp", [] { OpenMp(true); }},
    {"no_openmp", [] { OpenMp(false); }},
    {"own_futex", OwnFutex},
    {"inversion", [] { Invert(true); }},
    {"no_inversion", [] { Invert(false); }},
    {"deadlock", [] { Hang(true); }},
    {"long_holder", [] { Hang(false); }},
    {"join_under_lock", [] { JoinUnder(true); }},
    {"long_join", [] { JoinUnder(false); }},
    {"fork_held", [] { Fork(true); }},
    {"fork_free", [] { Fork(false); }},
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
