// SPDX-License-Identifier: Apache-2.0
//
// Memory that runs out when it is told to: linked with --wrap, it stands
// between the library and whatever gives it memory, threads and streams, and
// knows what was not given back.
#pragma once

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <atomic>
#include <mutex>
#include <unordered_set>

extern "C" {
void *__real_calloc(size_t num, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__real_mmap(void *at, size_t len, int protection, int flags, int fd,
                  off_t offset);
int __real_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
FILE *__real_open_memstream(char **text, size_t *len);
FILE *__real_fdopen(int fd, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
}

namespace pprof_test {

class Supply {
 public:
  // The `n`th request from now on is refused, from 1; with `for_good`, all
  // after it, too.
  void FailAt(long n, bool for_good) {
    for_good_ = for_good;
    left_ = n;
  }
  // Answers whether anything was refused.
  bool Stop() {
    const long left = left_.exchange(0);
    return left < 0 || refused_.exchange(false);
  }
  bool Refuses() {
    if (left_ == 0) return false;
    if (left_ < 0) return for_good_;
    if (--left_ > 0) return false;
    refused_ = true;
    left_ = for_good_ ? -1 : 0;
    return true;
  }

  void *Given(void *memory) {
    if (!memory) return memory;
    std::lock_guard<std::mutex> lock(mutex_);
    out_.insert(memory);
    return memory;
  }
  void Back(void *memory) {
    std::lock_guard<std::mutex> lock(mutex_);
    out_.erase(memory);
  }
  size_t NumBytes() {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t sum = 0;
    for (void *memory : out_) sum += malloc_usable_size(memory);
    return sum;
  }
  size_t NumOut() {
    std::lock_guard<std::mutex> lock(mutex_);
    return out_.size();
  }

 private:
  std::atomic<long> left_{0};
  std::atomic<bool> for_good_{false}, refused_{false};
  std::mutex mutex_;
  std::unordered_set<void *> out_;
};

inline Supply *TheSupply() {
  static Supply *supply = new Supply;
  return supply;
}

}  // namespace pprof_test

#define PPT_REFUSED(answer, error)          \
  if (pprof_test::TheSupply()->Refuses()) { \
    errno = error;                          \
    return answer;                          \
  }

extern "C" {
void *__wrap_calloc(size_t num, size_t size) {
  PPT_REFUSED(nullptr, ENOMEM)
  return pprof_test::TheSupply()->Given(__real_calloc(num, size));
}
void *__wrap_realloc(void *memory, size_t size) {
  PPT_REFUSED(nullptr, ENOMEM)
  pprof_test::TheSupply()->Back(memory);
  return pprof_test::TheSupply()->Given(__real_realloc(memory, size));
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  PPT_REFUSED(nullptr, ENOMEM)
  return pprof_test::TheSupply()->Given(__real_aligned_alloc(alignment, size));
}
void __wrap_free(void *memory) {
  pprof_test::TheSupply()->Back(memory);
  __real_free(memory);
}
void *__wrap_mmap(void *at, size_t len, int protection, int flags, int fd,
                  off_t offset) {
  PPT_REFUSED(MAP_FAILED, ENOMEM)
  return __real_mmap(at, len, protection, flags, fd, offset);
}
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument) {
  PPT_REFUSED(EAGAIN, EAGAIN)
  return __real_pthread_create(out, attributes, run, argument);
}
FILE *__wrap_open_memstream(char **text, size_t *len) {
  PPT_REFUSED(nullptr, ENOMEM)
  return __real_open_memstream(text, len);
}
FILE *__wrap_fdopen(int fd, const char *mode) {
  PPT_REFUSED(nullptr, ENOMEM)
  return __real_fdopen(fd, mode);
}
FILE *__wrap_fopen(const char *path, const char *mode) {
  PPT_REFUSED(nullptr, ENOMEM)
  return __real_fopen(path, mode);
}
}
