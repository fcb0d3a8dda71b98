// SPDX-License-Identifier: Apache-2.0
//
// The interface of libpprof.so for libpprof_nvtx.so: markers of an NVTX
// domain's stack, the life of the session that injection starts, and the
// configuration of NVTX. Exported for that library only.
#pragma once

#include "pprof/device.h"

PPROF_BEGIN_C_

#define PPI_NVTX_MAX_RULES 64u
#define PPI_NVTX_MAX_NAME 64u

// The use of the number that comes with an event.
typedef enum ppi_nvtx_payload_use {
  PPI_NVTX_PAYLOAD_COUNTER = 0,  // the counter "EVENT.payload"
  PPI_NVTX_PAYLOAD_FLOW,         // the request that the range serves
  PPI_NVTX_PAYLOAD_BYTES,        // bytes of the range's work
  PPI_NVTX_PAYLOAD_ITEMS,        // items of the range's work
  PPI_NVTX_PAYLOAD_IGNORE
} ppi_nvtx_payload_use;

typedef enum ppi_nvtx_device {
  PPI_NVTX_DEVICE_OFF = 0,
  PPI_NVTX_DEVICE_DEFAULT = 1  // default stream and named streams
} ppi_nvtx_device;

typedef enum ppi_nvtx_fork {
  PPI_NVTX_FORK_FOLLOW = 0,  // a child records from its first marker on
  PPI_NVTX_FORK_OFF = 1
} ppi_nvtx_fork;

// `from` is the name of a domain, or of an NVTX category. For a domain's
// streams `category` is "own" or "default".
typedef struct ppi_nvtx_rule {
  char from[PPI_NVTX_MAX_NAME];
  char category[PPI_NVTX_MAX_NAME];
} ppi_nvtx_rule;

// Every value is a uint64_t, so that the table of keys can point at it.
typedef struct ppi_nvtx_options {
  uint64_t payload, fields, device, fork, cut_names, emit;
  uint64_t num_domains, num_categories, num_streams;
  ppi_nvtx_rule domains[PPI_NVTX_MAX_RULES];
  ppi_nvtx_rule categories[PPI_NVTX_MAX_RULES];
  ppi_nvtx_rule streams[PPI_NVTX_MAX_RULES];
} ppi_nvtx_options;

void ppi_nvtx_defaults(ppi_nvtx_options *out);
// ppi_nvtx_set_options is in force from then on; before a session's start. With
// `emit` it attaches an NVTX tool, for that session only.
void ppi_nvtx_set_options(const ppi_nvtx_options *options);
bool ppi_nvtx_follows_forks(void);
void ppi_inject_in_forked_child(void);
// ppi_inject_note and ppi_inject_foreign_note state the part of this session's
// NVTX input that the log lacks; NULL: nothing. Before the session's end.
const char *ppi_inject_note(void);
const char *ppi_inject_foreign_note(void);
// ppi_inject_streams_note names the domains with ranges that were not timed
// because their work is on streams of their own. One thread at a time.
const char *ppi_inject_streams_note(void);

// A name as a call gives it: `site` of a registered one, else NULL and `name`.
// By value and in registers: what is stored in pieces and loaded whole right
// after costs more than all the rest of a marker.
#define PPROF_INJECT_STYLE_(category, color) \
  ((uint64_t)(color) << 32 | (uint32_t)(category))
#define PPROF_INJECT_LABEL_ pprof_site *site, const char *name, uint64_t style

#define PPROF_INJECT_BAD_ (-1)      // nothing to pop, or not kept
#define PPROF_INJECT_NO_TOOL_ (-2)  // nothing records

// pprof_inject_push_ and pprof_inject_pop_ open and end a range on the calling
// thread's stack in `domain`. Domain 0 is the stack of pprof_push.
//
// Result: the range's level, from 0, or PPROF_INJECT_...
PPROF_API int pprof_inject_push_(uint32_t domain, PPROF_INJECT_LABEL_);
PPROF_API int pprof_inject_pop_(uint32_t domain);
PPROF_API void pprof_inject_mark_(uint32_t domain, PPROF_INJECT_LABEL_);
// pprof_inject_begin_ answers a range for pprof_range_end; id 0: not kept.
PPROF_API pprof_range pprof_inject_begin_(uint32_t domain, PPROF_INJECT_LABEL_);
PPROF_API void pprof_inject_count_(uint32_t domain, const char *name,
                                   uint64_t style, double value);
// For the innermost open range of that stack.
PPROF_API void pprof_inject_flow_(uint32_t domain, uint64_t flow);
PPROF_API void pprof_inject_work_(uint32_t domain,
                                  const pprof_work_amount *work);
// pprof_inject_device_begin_ times the innermost range of the stack, which is
// at `level`, on a stream, too; its pop ends that.
typedef struct pprof_inject_place_ {
  uint32_t domain;
  int level;
  pprof_device *device;
  void *stream;
} pprof_inject_place_;
PPROF_API void pprof_inject_device_begin_(const pprof_inject_place_ *place);
// pprof_inject_bad_ counts a call that made no sense as `invalid`.
PPROF_API void pprof_inject_bad_(void);
// pprof_inject_foreign_ counts as `invalid` a call with events in times of
// other clocks, which are not recorded; the log says why.
PPROF_API void pprof_inject_foreign_(void);

// pprof_inject_domain_ answers the domain's number, the same one for the same
// name. 0: there are too many.
PPROF_API uint32_t pprof_inject_domain_(const char *name);
// pprof_inject_category_ answers the category of events of this domain (NULL:
// the default one) and this NVTX category (NULL: none, or one without a name).
PPROF_API uint32_t pprof_inject_category_(const char *domain,
                                          const char *category);
PPROF_API bool pprof_inject_name_thread_(uint32_t tid, const char *name);
// pprof_inject_name_len_ answers how much of an event's name is kept; too much
// for that is counted.
PPROF_API size_t pprof_inject_name_len_(const char *name);

// The part of the options that the handlers need.
typedef struct pprof_inject_settings_ {
  uint32_t payload, fields, device, cut_names;
} pprof_inject_settings_;
PPROF_API const pprof_inject_settings_ *pprof_inject_get_settings_(void);

// pprof_inject_owner_ answers the owner of NVTX in this process: `claim`, or an
// earlier copy of the library.
PPROF_API const void *pprof_inject_owner_(const void *claim);
// pprof_inject_is_own_ answers whether code at this address is this library's;
// never, where it is part of the program.
PPROF_API bool pprof_inject_is_own_(const void *address);

PPROF_END_C_
