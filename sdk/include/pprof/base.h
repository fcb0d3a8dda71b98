// SPDX-License-Identifier: Apache-2.0
//
// What every pprof header needs: visibility, status codes, error text, version.
// The defaults that the comments of all headers build on (pointers, ownership,
// threads, errors, units) are in docs/markers.md. So is the order of a comment:
// result, errors, ownership, threads, cost, units, source.
//
// The text after `Example:` is the body of a function; a test compiles each.
#ifndef PPROF_BASE_H_
#define PPROF_BASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// PPROF_API is on all that libpprof.so exports. With PPROF_DISABLE, its calls
// need no library: PPROF_OFF_ gives their answer, and only the code of their
// arguments is left. So a program compiles in both ways or in none. Only calls
// that do a program's own work stay. PPROF_NODISCARD is on calls with a status
// that the caller must check.
#define PPROF_EXPORTED_ __attribute__((visibility("default")))
#ifdef PPROF_DISABLE
#define PPROF_API static inline
#define PPROF_OFF_(answer) \
  { return answer; }       \
  struct pprof_nothing_
#define PPROF_QUIET_             \
  _Pragma("GCC diagnostic push") \
      _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")
#define PPROF_LOUD_ _Pragma("GCC diagnostic pop")
#else
#define PPROF_API PPROF_EXPORTED_
#define PPROF_OFF_(answer)
#define PPROF_QUIET_
#define PPROF_LOUD_
#endif
#define PPROF_NODISCARD __attribute__((warn_unused_result))

// Declarations between them are C for a C++ compiler, too.
#ifdef __cplusplus
#define PPROF_BEGIN_C_ PPROF_QUIET_ extern "C" {
#define PPROF_END_C_ \
  }                  \
  PPROF_LOUD_
#else
#define PPROF_BEGIN_C_ PPROF_QUIET_
#define PPROF_END_C_ PPROF_LOUD_
#endif

PPROF_BEGIN_C_

// For inline code only, which is compiled with its user's warnings.
#ifdef __cplusplus
#define PPROF_CAST_(type, value) reinterpret_cast<type>(value)
#define PPROF_NULL_ nullptr
#else
#define PPROF_CAST_(type, value) ((type)(value))
#define PPROF_NULL_ NULL
#endif

// pprof_status is what a call answers; 0 is success, so that
// `if (pprof_start(...))` asks for failure. Calls that record answer nothing:
// what they could not keep is counted in pprof_stats.
//
// A call that fails leaves its outputs and its objects as they were.
//
//   status       what to do
//   NO_MEMORY    free some; nothing is half done
//   INVALID      repair the call: NULL, a wrong size, a number out of range
//   BUSY         try again later: another run is on, or this one not ready
//   UNAVAILABLE  go on without: this machine lacks a library or a device
//   IO           see the error's text: a file, a full disk, a missing right
//   CORRUPT      use what came: all that is readable was delivered
//   VERSION      read it with a newer library
//   CONFIG       repair the file at the line and column that the error names
//   DEVICE       host times are right, the device's may be missing
//   UNSUPPORTED  go on without: this backend or format has no such thing
//
// PPROF_STATUS_LIST is the one list of them: name, value, text. Values never
// change and new ones are appended, so treat one that you do not know as a
// failure.
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
// provides it, or NULL; a call that succeeds leaves it untouched, but for
// pprof_stop.
//
// Example:
//   pprof_error error;
//   pprof_status status = pprof_start("profile.yaml", &error);
//   if (status)
//     fprintf(stderr, "%s: %s\n", pprof_status_string(status), error.text);
typedef struct pprof_error {
  char text[256];  // zero-terminated, cut at 255 bytes
} pprof_error;

#ifdef PPROF_DISABLE
static inline const char *pprof_status_text_(pprof_status status) {
#define PPROF_STATUS_TEXT_(name, value, text) \
  if (status == PPROF_STATUS_##name) return text;
  PPROF_STATUS_LIST(PPROF_STATUS_TEXT_)
#undef PPROF_STATUS_TEXT_
  return "unknown status";
}
static inline pprof_status pprof_refuse_(pprof_error *error) {
  static const pprof_error text = {"compiled with PPROF_DISABLE"};
  if (error) *error = text;
  return PPROF_STATUS_UNAVAILABLE;
}
static inline pprof_status pprof_accept_(pprof_error *error) {
  if (error) error->text[0] = '\0';
  return PPROF_STATUS_OK;
}
#endif

// pprof_status_string names a status in words.
//
// Result: a constant, for a value that is not in the list too.
//
// Example:
//   pprof_status status = pprof_stop(NULL);
//   if (status) fprintf(stderr, "pprof: %s\n", pprof_status_string(status));
PPROF_API const char *pprof_status_string(pprof_status status)
    PPROF_OFF_(pprof_status_text_(status));

// pprof_version is the version of the library in use, e.g. "0.2.0". With
// libpprof.so it may be newer than these headers, never older: what a header
// declares, the library that is found at the start of the program has. It is a
// constant.
//
// Example:
//   printf("recorded by pprof %s\n", pprof_version());
PPROF_API const char *pprof_version(void) PPROF_OFF_("disabled");

PPROF_END_C_

#endif  // PPROF_BASE_H_
