// SPDX-License-Identifier: Apache-2.0
//
// The program's domains, strings and events inside libpprof_nvtx.so. Nothing
// here is ever freed: a handler may run after everything else in the process.
#pragma once

#include "abi.h"
#include "base/guard.h"
#include "inject/inject.h"
#include "pprof/event.h"

#define PPI_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define PPI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define PPI_NVTX_MAX_TEXT ((size_t)4096)

// A domain handle. The default domain has one, too, though programs say NULL.
typedef struct ppi_nvtx_domain {
  uint32_t number;   // 0: the default domain; published last
  int32_t users;     // creations less destructions; atomic
  const char *name;  // NULL: the default domain
  // (epoch << 32 | category of events without one) + 1; PPI_NVTX_RESOLVE: not
  // known, or to be looked at each time. Atomic.
  uint64_t category;
  void *next;  // the chained tool's handle
  // Categories met lately, by the low bits of their ids: id << 32 | category
  // << 16 | low half of the epoch. Atomic.
  uint64_t recent[4];
} ppi_nvtx_domain;

#define PPI_NVTX_RESOLVE UINT64_C(0)

// A name with one category and colour.
typedef struct ppi_nvtx_site {
  pprof_site site;
  pprof_numbers numbers;  // reserved_[1] of the site leads here
  struct ppi_nvtx_site *next;
} ppi_nvtx_site;

// A registered string's handle.
typedef struct ppi_nvtx_string {
  const char *text;
  const ppi_nvtx_domain *domain;
  ppi_nvtx_site *sites;  // atomic
  void *next;            // the chained tool's handle
} ppi_nvtx_string;

// An event as described by a call.
typedef struct ppi_nvtx_event {
  pprof_site *site;  // of a registered name, else NULL
  const char *name;
  uint64_t style;  // color << 32 | category
} ppi_nvtx_event;

// The start of an event. A call is passed on as kind, domain (NULL: the handle
// is unknown) and attributes (NULL: the call has none).
typedef enum ppi_nvtx_kind {
  PPI_NVTX_PUSH,
  PPI_NVTX_MARK,
  PPI_NVTX_START
} ppi_nvtx_kind;

// core.c, naming.c: the functions for a unit's slots.
typedef struct ppi_nvtx_handler {
  uint8_t module, call;
  nvtx_function function;
} ppi_nvtx_handler;
#define PPI_NVTX_HANDLER(module, call, handler) \
  { NVTX_MODULE_##module, NVTX_##module##_##call, (nvtx_function)handler }
extern const ppi_nvtx_handler ppi_nvtx_core_handlers[];
extern const size_t ppi_nvtx_num_core_handlers;
extern const ppi_nvtx_handler ppi_nvtx_naming_handlers[];
extern const size_t ppi_nvtx_num_naming_handlers;
