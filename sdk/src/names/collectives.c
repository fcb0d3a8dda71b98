// SPDX-License-Identifier: Apache-2.0
//
// Recognizes communication by the names of kernels and operators.
#include "names/collectives.h"

#include <string.h>

// The allowed places of a pattern in a name: anywhere, at the begin of a word,
// as a whole word.
typedef enum place { ANYWHERE, WORD_BEGIN, WORD } place;

// Compared without case; `-` and `_` are one.
static const struct {
  const char *text;
  place place;
} patterns[] = {
    // Libraries
    {"nccl", ANYWHERE},
    {"rccl", ANYWHERE},
    {"xccl", ANYWHERE},
    {"hccl", ANYWHERE},
    {"oneccl", ANYWHERE},
    {"msccl", ANYWHERE},
    {"mccl", WORD_BEGIN},
    {"cncl", WORD_BEGIN},
    {"bkcl", WORD_BEGIN},
    {"ccl::", WORD_BEGIN},
    {"hcom_", WORD_BEGIN},
    {"ucc", WORD},
    {"nvshmem", ANYWHERE},
    {"rocshmem", ANYWHERE},
    {"ishmem", WORD_BEGIN},
    {"symm_mem", ANYWHERE},
    {"symmetric_memory", ANYWHERE},
    {"multimem", ANYWHERE},
    {"put_signal", WORD_BEGIN},
    {"wait_signal", WORD_BEGIN},
    {"nvls", WORD_BEGIN},
    {"mnnvl", ANYWHERE},
    {"lamport", ANYWHERE},
    {"deep_ep", ANYWHERE},
    {"deepep", ANYWHERE},
    {"mori::", WORD_BEGIN},
    {"pplx", WORD_BEGIN},
    {"userbuffers", ANYWHERE},
    {"quickreduce", ANYWHERE},
    {"quick_reduce", ANYWHERE},
    {"cross_device_reduce", ANYWHERE},
    // Collectives
    {"allreduce", ANYWHERE},
    {"all_reduce", ANYWHERE},
    {"allgather", ANYWHERE},
    {"all_gather", ANYWHERE},
    {"reducescatter", ANYWHERE},
    {"reduce_scatter", ANYWHERE},
    {"alltoall", ANYWHERE},
    {"all_to_all", ANYWHERE},
    {"all2all", ANYWHERE},
    {"collective_permute", ANYWHERE},
    {"collectivepermute", ANYWHERE},
    {"collective_broadcast", ANYWHERE},
    {"collectivebroadcast", ANYWHERE},
};

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char folded(char c) {
  if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

static bool fits(const char *name, size_t len, size_t at, size_t pattern) {
  const char *text = patterns[pattern].text;
  place where = patterns[pattern].place;
  size_t i = 0;
  for (; text[i]; i++)
    if (at + i == len || folded(name[at + i]) != text[i]) return false;
  if (where != ANYWHERE && at > 0 && is_letter(name[at - 1])) return false;
  return where != WORD || at + i == len || !is_letter(name[at + i]);
}

// Inductor names a kernel by the operators that it computes beside, such as
// triton_poi_fused_all_gather_into_tensor_0.
static bool is_fused(const char *name, size_t len) {
  return len > 7 && memcmp(name, "triton_", 7) == 0 &&
         memmem(name, len, "_fused_", 7);
}

bool ppi_is_collective(const char *name, size_t len) {
  if (is_fused(name, len)) return false;
  for (size_t at = 0; at < len; at++)
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
      if (fits(name, len, at, i)) return true;
  return false;
}
