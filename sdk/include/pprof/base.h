// SPDX-License-Identifier: Apache-2.0
//
// What every pprof header needs: visibility, status codes, error text, version.
// The defaults that the comments of all headers build on (pointers, ownership,
// threads, errors, units) stand in docs/conventions.md.
#ifndef PPROF_BASE_H_
#define PPROF_BASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PPROF_API __attribute__((visibility("default")))
#define PPROF_NODISCARD __attribute__((warn_unused_result))

// PPROF_STATUS_LIST is the one list of what a call can answer: name, value,
// text. Values never change; new ones are appended.
#define PPROF_STATUS_LIST(X)                         \
  X(OK, 0, "success")                                \
  X(NO_MEMORY, 1, "out of memory")                   \
  X(INVALID, 2, "invalid argument")                  \
  X(BUSY, 3, "already running, or not ready yet")    \
  X(UNAVAILABLE, 4, "not available on this machine") \
  X(IO, 5, "input or output failed")                 \
  X(CORRUPT, 6, "the log is damaged")                \
  X(VERSION, 7, "written by a newer version")        \
  X(CONFIG, 8, "the configuration is not valid")     \
  X(DEVICE, 9, "the device reported an error")       \
  X(UNSUPPORTED, 10, "not supported by this backend or format")
typedef enum pprof_status {
#define PPROF_STATUS_ENUM_(name, value, text) PPROF_STATUS_##name = value,
  PPROF_STATUS_LIST(PPROF_STATUS_ENUM_)
#undef PPROF_STATUS_ENUM_
} pprof_status;

// pprof_error says in words what a status cannot, e.g.
// "profile.yaml:12:3: unknown key 'buffr' (did you mean 'buffer'?)". The caller
// provides it; a call that succeeds leaves it untouched, but for pprof_stop.
typedef struct pprof_error {
  char text[256];  // zero-terminated, cut at 255 bytes
} pprof_error;

// pprof_status_string names a status in words.
//
// Result: a constant, for a value that is not in the list too.
PPROF_API const char *pprof_status_string(pprof_status status);

// pprof_version is the version of the library in use, e.g. "0.1.0". It is a
// constant.
PPROF_API const char *pprof_version(void);

#ifdef __cplusplus
}
#endif

#endif  // PPROF_BASE_H_
