// SPDX-License-Identifier: Apache-2.0
//
// A disk that fails as it is told to: linked with --wrap, it stands between a
// file's writer and the calls that write, for files whose name has ".pplog" in
// it, or what a test says. What it does not refuse, the real file gets.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

extern "C" {
ssize_t __real_write(int fd, const void *bytes, size_t len);
int __real_fallocate(int fd, int mode, off_t offset, off_t len);
long __real_syscall(long number, ...);
}

namespace pprof_test {

class Disk {
 public:
  // Nothing is accepted beyond `bytes` of a file; at once, or only once the
  // write comes there, when the disk cannot put room by.
  void FailBeyond(long bytes, int error, bool reserves) {
    error_ = error;
    reserves_ = reserves;
    limit_ = bytes;
  }
  // Files with `name` in theirs, and no others.
  void Fail(const char *name) {
    name_ = name;
  }
  void FailRename(int error) {
    rename_error_ = error;
  }
  void Interrupt(bool on) {
    interrupts_ = on;
  }
  // Whoever writes waits until Open.
  void Block() {
    std::lock_guard<std::mutex> lock(mutex_);
    blocked_ = true;
  }
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    blocked_ = false;
    changed_.notify_all();
  }
  void AwaitWriter() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return num_waiting_ > 0; });
  }
  void Reset() {
    Open();
    limit_ = -1;
    rename_error_ = 0;
    interrupts_ = false;
    name_ = ".pplog";
  }

  ssize_t Write(int fd, const void *bytes, size_t len) {
    if (!IsLog(fd)) return __real_write(fd, bytes, len);
    Wait();
    if (interrupts_ && num_writes_++ % 3 != 2) {
      if (num_writes_ % 3 == 1) return Fail(EINTR);
      len = (len + 1) / 2;
    }
    const long limit = limit_, at = lseek(fd, 0, SEEK_CUR);
    if (limit >= 0 && at >= limit) return Fail(error_);
    if (limit >= 0 && at + static_cast<long>(len) > limit)
      len = static_cast<size_t>(limit - at);
    return __real_write(fd, bytes, len);
  }

  int Allocate(int fd, int mode, off_t offset, off_t len) {
    const long limit = limit_;
    if (!IsLog(fd) || limit < 0) return __real_fallocate(fd, mode, offset, len);
    if (!reserves_) return Fail(EOPNOTSUPP);
    return offset + len > limit ? Fail(error_) : 0;
  }

  long Call(long number, const long (&with)[6]) {
    if (number == SYS_renameat2 && rename_error_ &&
        strstr(reinterpret_cast<const char *>(with[1]), name_))
      return Fail(rename_error_);
    return __real_syscall(number, with[0], with[1], with[2], with[3], with[4],
                          with[5]);
  }

 private:
  static int Fail(int error) {
    errno = error;
    return -1;
  }

  // The thread that writes may have a table of descriptors of its own.
  bool IsLog(int fd) const {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
    const ssize_t len = readlink(link, path, sizeof path - 1);
    if (len <= 0) return false;
    path[len] = '\0';
    return strstr(path, name_) != nullptr;
  }

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!blocked_) return;
    num_waiting_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !blocked_; });
    num_waiting_--;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool blocked_ = false;
  int num_waiting_ = 0;
  std::atomic<long> limit_{-1};
  std::atomic<int> error_{0}, rename_error_{0};
  std::atomic<bool> reserves_{true}, interrupts_{false};
  std::atomic<unsigned> num_writes_{0};
  std::atomic<const char *> name_{".pplog"};
};

inline Disk *TheDisk() {
  static Disk *disk = new Disk;
  return disk;
}

}  // namespace pprof_test

extern "C" {
ssize_t __wrap_write(int fd, const void *bytes, size_t len) {
  return pprof_test::TheDisk()->Write(fd, bytes, len);
}
int __wrap_fallocate(int fd, int mode, off_t offset, off_t len) {
  return pprof_test::TheDisk()->Allocate(fd, mode, offset, len);
}
long __wrap_syscall(long number, ...) {
  long with[6];
  va_list list;
  va_start(list, number);
  for (long &one : with) one = va_arg(list, long);
  va_end(list);
  return pprof_test::TheDisk()->Call(number, with);
}
}
