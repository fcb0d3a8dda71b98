// SPDX-License-Identifier: Apache-2.0
//
// Measures how long communication and computation overlap. The overlap of A and
// B is |A| + |B| - |A united with B|. Checkpoints can settle these three
// unions, but not an intersection.
#include "report/spans/distribution.h"

#include <string.h>

#include "base/base.h"

static bool is_communication(const pprof_event *event, uint32_t category) {
  return category == PPROF_CATEGORY_COMMUNICATION ||
         (event->flags & PPROF_FLAG_COMMUNICATION);
}

// All unions are settled together, so one may begin as a copy of another.
static bool communicate(ppi_distribution *distribution, const ppi_span *span) {
  bool done = true;
  if (!distribution->has_communication)
    done = ppi_union_copy(&distribution->either, &distribution->computation);
  if (!done) return false;
  distribution->has_communication = true;
  if (!ppi_union_add(&distribution->either, span->start_ns, span->end_ns))
    return false;
  return ppi_union_add(&distribution->communication, span->start_ns,
                       span->end_ns);
}

static bool communicate_on_device(ppi_distribution *distribution,
                                  const ppi_span *span) {
  distribution->device_calls++;
  bool done = communicate(distribution, span);
  if (done && !distribution->has_device_communication)
    done = ppi_union_copy(&distribution->device_either,
                          &distribution->computation);
  if (!done) return false;
  distribution->has_device_communication = true;
  if (!ppi_union_add(&distribution->device_either, span->start_ns,
                     span->end_ns))
    return false;
  return ppi_union_add(&distribution->device_communication, span->start_ns,
                       span->end_ns);
}

static bool compute(ppi_distribution *distribution, const ppi_span *span) {
  distribution->computation_calls++;
  bool done =
      ppi_union_add(&distribution->computation, span->start_ns, span->end_ns);
  if (done && distribution->has_communication)
    done = ppi_union_add(&distribution->either, span->start_ns, span->end_ns);
  if (done && distribution->has_device_communication)
    done = ppi_union_add(&distribution->device_either, span->start_ns,
                         span->end_ns);
  return done;
}

static bool turn_to_kernels(ppi_distribution *distribution) {
  ppi_union_clear(&distribution->computation);
  ppi_union_settle(&distribution->computation, distribution->horizon_ns);
  distribution->computation_calls = 0;
  distribution->has_kernels = true;
  bool done = true;
  if (distribution->has_communication)
    done = ppi_union_copy(&distribution->either, &distribution->communication);
  if (distribution->has_device_communication && done)
    done = ppi_union_copy(&distribution->device_either,
                          &distribution->device_communication);
  return done;
}

bool ppi_distribution_take(ppi_distribution *distribution,
                           const pprof_event *event, uint32_t category) {
  bool communicates = is_communication(event, category);
  if (event->kind == PPROF_KIND_RANGE) {
    if (!communicates) return true;
    distribution->host_calls += !(event->flags & PPROF_FLAG_CLIPPED);
    return ppi_distribution_open(distribution, event, category);
  }
  if (event->flags & PPROF_FLAG_PROJECTED) return true;
  bool is_kernel =
      category == PPROF_CATEGORY_KERNEL && !(event->flags & PPROF_FLAG_PAIRED);
  if (is_kernel && !distribution->has_kernels) {
    if (!turn_to_kernels(distribution)) return false;
  }
  ppi_span span = {event->device_start_ns, event->device_end_ns};
  if (communicates) return communicate_on_device(distribution, &span);
  bool is_copy =
      category == PPROF_CATEGORY_MEMCPY || category == PPROF_CATEGORY_MEMSET;
  bool computes = distribution->has_kernels ? is_kernel : !is_copy;
  return !computes || compute(distribution, &span);
}

bool ppi_distribution_open(ppi_distribution *distribution,
                           const pprof_event *event, uint32_t category) {
  if (!is_communication(event, category)) return true;
  ppi_span span = {event->start_ns, event->end_ns};
  return communicate(distribution, &span);
}

void ppi_distribution_settle(ppi_distribution *distribution,
                             uint64_t horizon_ns) {
  distribution->horizon_ns = PPI_MAX(distribution->horizon_ns, horizon_ns);
  ppi_union_settle(&distribution->communication, horizon_ns);
  ppi_union_settle(&distribution->device_communication, horizon_ns);
  ppi_union_settle(&distribution->computation, horizon_ns);
  ppi_union_settle(&distribution->either, horizon_ns);
  ppi_union_settle(&distribution->device_either, horizon_ns);
}

void ppi_distribution_fill(ppi_distribution *distribution,
                           ppi_report_distribution *out) {
  out->host_calls = distribution->host_calls;
  out->device_calls = distribution->device_calls;
  out->computation_calls = distribution->computation_calls;
  out->communication_ns = ppi_union_measure(&distribution->communication);
  out->computation_ns = ppi_union_measure(&distribution->computation);
  out->device_communication_ns =
      ppi_union_measure(&distribution->device_communication);
  if (distribution->has_communication)
    out->overlap_ns = out->communication_ns + out->computation_ns -
                      ppi_union_measure(&distribution->either);
  if (distribution->has_device_communication)
    out->device_overlap_ns = out->device_communication_ns +
                             out->computation_ns -
                             ppi_union_measure(&distribution->device_either);
}

void ppi_distribution_clear(ppi_distribution *distribution) {
  ppi_union_clear(&distribution->communication);
  ppi_union_clear(&distribution->device_communication);
  ppi_union_clear(&distribution->computation);
  ppi_union_clear(&distribution->either);
  ppi_union_clear(&distribution->device_either);
  *distribution = (ppi_distribution){0};
}

bool ppi_paddle_communicates(uint32_t category, const char *name) {
  if (category == PPROF_CATEGORY_COMMUNICATION) return true;
  return category == PPROF_CATEGORY_OPERATOR &&
         (strcasestr(name, "allreduce") || strcasestr(name, "broadcast") ||
          strcasestr(name, "rpc"));
}

bool ppi_paddle_is_collective(const char *name) {
  return strcasestr(name, "nccl") || strcasestr(name, "xccl");
}

bool ppi_paddle_host(ppi_distribution *distribution, const pprof_event *event,
                     bool is_open) {
  distribution->host_calls += !is_open && !(event->flags & PPROF_FLAG_CLIPPED);
  ppi_span span = {event->start_ns, event->end_ns};
  return communicate(distribution, &span);
}

// A kernel of a range inside a communicating range counts as both, as in
// Paddle.
bool ppi_paddle_take(ppi_distribution *distribution,
                     const ppi_paddle_kernel *kernel) {
  ppi_span span = {kernel->start_ns, kernel->end_ns};
  bool computes = !kernel->innermost_communicates && !kernel->is_collective;
  bool done = true;
  if (kernel->any_communicates || !computes)
    done = communicate_on_device(distribution, &span);
  if (computes && done) done = compute(distribution, &span);
  return done;
}
