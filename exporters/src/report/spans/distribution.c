// SPDX-License-Identifier: Apache-2.0
//
// Measures how long communication and computation overlap. The overlap of A and
// B is |A| + |B| - |A united with B|. Checkpoints can settle these three
// unions, but not an intersection.
#include "report/spans/distribution.h"

#include "report/spans/scope.h"

static bool is_communication(const pprof_event *event, uint32_t category) {
  return category == PPROF_CATEGORY_COMMUNICATION ||
         (event->flags & PPROF_FLAG_COMMUNICATION);
}

static bool unite(ppi_union *set, const ppi_span *span) {
  return ppi_union_add(set, span->start_ns, span->end_ns);
}

// All unions are settled together, so one may begin as a copy of another.
static bool communicate(ppi_distribution *distribution, bool on_device,
                        const ppi_span *span) {
  bool done = true;
  for (int i = 0; i <= on_device && done; i++) {
    ppi_communication *side = &distribution->sides[i];
    if (!side->is_any)
      done = ppi_union_copy(&side->either, &distribution->computation);
    side->is_any |= done;
    done = done && unite(&side->either, span) && unite(&side->own, span);
  }
  distribution->device_calls += on_device;
  return done;
}

static bool compute(ppi_distribution *distribution, const ppi_span *span) {
  bool done = unite(&distribution->computation, span);
  for (int i = 0; i < 2 && done; i++)
    if (distribution->sides[i].is_any)
      done = unite(&distribution->sides[i].either, span);
  distribution->computation_calls++;
  return done;
}

static bool turn_to_kernels(ppi_distribution *distribution) {
  bool done = true;
  ppi_union_clear(&distribution->computation);
  ppi_union_settle(&distribution->computation, distribution->horizon_ns);
  distribution->computation_calls = 0;
  distribution->has_kernels = true;
  for (int i = 0; i < 2 && done; i++) {
    ppi_communication *side = &distribution->sides[i];
    if (side->is_any) done = ppi_union_copy(&side->either, &side->own);
  }
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
  ppi_device_class class = ppi_device_class_of(category);
  bool is_kernel =
      class == PPI_DEVICE_KERNEL && !(event->flags & PPROF_FLAG_PAIRED);
  if (is_kernel && !distribution->has_kernels) {
    if (!turn_to_kernels(distribution)) return false;
  }
  ppi_span span = {event->device_start_ns, event->device_end_ns};
  if (communicates) return communicate(distribution, true, &span);
  bool computes =
      distribution->has_kernels ? is_kernel : class != PPI_DEVICE_COPY;
  return !computes || compute(distribution, &span);
}

bool ppi_distribution_open(ppi_distribution *distribution,
                           const pprof_event *event, uint32_t category) {
  if (!is_communication(event, category)) return true;
  ppi_span span = {event->start_ns, event->end_ns};
  return communicate(distribution, false, &span);
}

void ppi_distribution_settle(ppi_distribution *distribution,
                             uint64_t horizon_ns) {
  distribution->horizon_ns = PPI_MAX(distribution->horizon_ns, horizon_ns);
  ppi_union_settle(&distribution->computation, horizon_ns);
  for (int i = 0; i < 2; i++) {
    ppi_union_settle(&distribution->sides[i].own, horizon_ns);
    ppi_union_settle(&distribution->sides[i].either, horizon_ns);
  }
}

static void fill_side(ppi_communication *side, uint64_t computation_ns,
                      uint64_t *out_ns, uint64_t *out_overlap_ns) {
  *out_ns = ppi_union_measure(&side->own);
  if (side->is_any)
    *out_overlap_ns =
        *out_ns + computation_ns - ppi_union_measure(&side->either);
}

void ppi_distribution_fill(ppi_distribution *distribution,
                           ppi_report_distribution *out) {
  uint64_t computation_ns = ppi_union_measure(&distribution->computation);
  out->host_calls = distribution->host_calls;
  out->device_calls = distribution->device_calls;
  out->computation_calls = distribution->computation_calls;
  out->computation_ns = computation_ns;
  fill_side(&distribution->sides[0], computation_ns, &out->communication_ns,
            &out->overlap_ns);
  fill_side(&distribution->sides[1], computation_ns,
            &out->device_communication_ns, &out->device_overlap_ns);
}

void ppi_distribution_clear(ppi_distribution *distribution) {
  ppi_union_clear(&distribution->computation);
  for (int i = 0; i < 2; i++) {
    ppi_union_clear(&distribution->sides[i].own);
    ppi_union_clear(&distribution->sides[i].either);
  }
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
  return communicate(distribution, false, &span);
}

// A kernel of a range inside a communicating range counts as both, as in
// Paddle.
bool ppi_paddle_take(ppi_distribution *distribution,
                     const ppi_paddle_kernel *kernel) {
  ppi_span span = {kernel->start_ns, kernel->end_ns};
  bool computes = !kernel->innermost_communicates && !kernel->is_collective;
  bool done = true;
  if (kernel->any_communicates || !computes)
    done = communicate(distribution, true, &span);
  if (computes && done) done = compute(distribution, &span);
  return done;
}
