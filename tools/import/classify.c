// SPDX-License-Identifier: Apache-2.0
//
// Maps category texts and names to categories, once for each pair.
#include "import/classify.h"

#include <strings.h>

#include "import/fields.h"
#include "names/collectives.h"
#include "names/names.h"
#include "names/tails.h"

const char *ppi_import_category_name(uint32_t category) {
  static const char *const names[] = {
      "GpuUserAnnotation",  "Overhead",       "DygraphKernelLaunch",
      "StaticKernelLaunch", "PythonFunction", "CudaSync"};
  uint32_t at = category - PPROF_CATEGORY_FIRST_REGISTERED;
  return at < sizeof names / sizeof *names ? names[at]
                                           : ppi_category_name(category);
}

// Texts of Kineto, ONNX Runtime and Paddle, then our own names that need more
// than a category. Case does not count. Only texts that no other profiler
// writes make a trace PyTorch's.
static const struct {
  const char *cat;
  ppi_class class;
} cats[] = {
    {"cpu_op", {PPROF_CATEGORY_OPERATOR, PPI_IS_OWNER | PPI_IS_PYTORCH}},
    {"user_annotation",
     {PPROF_CATEGORY_PYTHON_USER_DEFINED, PPI_IS_OWNER | PPI_IS_PYTORCH}},
    {"python_function",
     {PPROF_CATEGORY_PYTHON_OP, PPI_IS_PYTHON_FRAME | PPI_IS_PYTORCH}},
    {"cuda_runtime", {PPROF_CATEGORY_RUNTIME, PPI_IS_LAUNCH}},
    {"cuda_driver", {PPROF_CATEGORY_RUNTIME, PPI_IS_LAUNCH}},
    {"kernel", {PPROF_CATEGORY_KERNEL, PPI_IS_DEVICE}},
    {"gpu_memcpy", {PPROF_CATEGORY_MEMCPY, PPI_IS_DEVICE}},
    {"gpu_memset", {PPROF_CATEGORY_MEMSET, PPI_IS_DEVICE}},
    {"gpu_user_annotation",
     {PPI_CATEGORY_GPU_ANNOTATION,
      PPI_IS_DEVICE | PPI_IS_PROJECTED | PPI_IS_PYTORCH}},
    {"gpuuserannotation",
     {PPI_CATEGORY_GPU_ANNOTATION, PPI_IS_DEVICE | PPI_IS_PROJECTED}},
    {"cuda_sync", {PPI_CATEGORY_CUDA_SYNC, PPI_IS_DEVICE | PPI_IS_PROJECTED}},
    {"overhead", {PPI_CATEGORY_OVERHEAD, PPI_IS_OVERHEAD}},
    {"cpu_instant_event", {PPROF_CATEGORY_USER_DEFINED, PPI_IS_PYTORCH}},
    {"trace", {PPROF_CATEGORY_USER_DEFINED, PPI_IS_FRAME}},
    {"memcpy", {PPROF_CATEGORY_MEMCPY, PPI_IS_DEVICE_WITH_IDS}},
    {"memset", {PPROF_CATEGORY_MEMSET, PPI_IS_DEVICE_WITH_IDS}},
    {"cudaruntime", {PPROF_CATEGORY_RUNTIME, PPI_IS_LAUNCH}},
    {"mluruntime", {PPROF_CATEGORY_RUNTIME, PPI_IS_LAUNCH}},
    {"runtime", {PPROF_CATEGORY_RUNTIME, PPI_IS_LAUNCH}},
    {"dygraphkernellaunch", {PPI_CATEGORY_DYGRAPH_LAUNCH, 0}},
    {"statickernellaunch", {PPI_CATEGORY_STATIC_LAUNCH, 0}},
    {"session", {PPROF_CATEGORY_USER_DEFINED, PPI_IS_ORT}},
    {"node", {PPROF_CATEGORY_USER_DEFINED, PPI_IS_ORT}},
    {"api", {PPROF_CATEGORY_USER_DEFINED, PPI_IS_ORT}},
};

// Names from programs that are phases of a step.
static const struct {
  const char *name;
  uint32_t category;
} phases[] = {
    {"forward", PPROF_CATEGORY_FORWARD},
    {"backward", PPROF_CATEGORY_BACKWARD},
    {"optimizer", PPROF_CATEGORY_OPTIMIZATION},
    {"optimizer_step", PPROF_CATEGORY_OPTIMIZATION},
    {"optimizer step", PPROF_CATEGORY_OPTIMIZATION},
    {"optimizer.step", PPROF_CATEGORY_OPTIMIZATION},
    {"optimization", PPROF_CATEGORY_OPTIMIZATION},
    {"dataloader", PPROF_CATEGORY_DATALOADER},
    {"data_loader", PPROF_CATEGORY_DATALOADER},
    {"preprocess", PPROF_CATEGORY_PREPROCESS},
    {"inference", PPROF_CATEGORY_INFERENCE},
    {"postprocess", PPROF_CATEGORY_POSTPROCESS},
};

static bool is_text(const char *text, size_t len, const char *wanted) {
  return strlen(wanted) == len && strncasecmp(text, wanted, len) == 0;
}

static bool begins(const ppi_label *label, const char *with) {
  size_t len = strlen(with);
  return label->name_len >= len && memcmp(label->name, with, len) == 0;
}

static bool has(const ppi_label *label, const char *word) {
  size_t len = strlen(word);
  for (size_t i = 0; i + len <= label->name_len; i++)
    if (strncasecmp(label->name + i, word, len) == 0) return true;
  return false;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The whole word: "interpConv" does not have "rpc", "sender" not "send".
static bool has_word(const ppi_label *label, const char *word) {
  size_t len = strlen(word);
  for (size_t i = 0; i + len <= label->name_len; i++)
    if (strncasecmp(label->name + i, word, len) == 0 &&
        (i == 0 || !is_letter(label->name[i - 1])) &&
        (i + len == label->name_len || !is_letter(label->name[i + len])))
      return true;
  return false;
}

static bool is_collective(const ppi_label *label) {
  // Paddle's operators.
  static const char *const parts[] = {
      "c_broadcast",  "c_reduce_",    "send_v2", "recv_v2",
      "partial_send", "partial_recv", "p_send",  "p_recv"};
  if (ppi_is_collective(label->name, label->name_len)) return true;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (has(label, parts[i])) return true;
  return has_word(label, "rpc") ||
         is_text(label->name, label->name_len, "broadcast");
}

static void look_at_operator(const ppi_label *label, ppi_class *class) {
  if (begins(label, "autograd::engine::evaluate_function: "))
    class->category = PPROF_CATEGORY_BACKWARD;
  if (begins(label, "c10d::") || begins(label, "record_param_comms") ||
      begins(label, "_c10d_functional::") || begins(label, "nccl:") ||
      is_collective(label))
    class->is |= PPI_IS_COMMUNICATION;
}

static void look_at_annotation(const ppi_label *label, ppi_class *class) {
  for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
    if (is_text(label->name, label->name_len, phases[i].name))
      class->category = phases[i].category;
  // PyTorch ends these ranges with their work, and counts them as asynchronous.
  if (begins(label, "nccl:") || begins(label, "gloo:")) {
    class->category = PPROF_CATEGORY_COMMUNICATION;
    class->is |= PPI_IS_ASYNC;
  }
}

// Some versions of PyTorch write these as operators, others as annotations.
static void look_at_both(const ppi_label *label, ppi_class *class) {
  if (begins(label, "enumerate(DataLoader)#"))
    class->category = PPROF_CATEGORY_DATALOADER;
  if (begins(label, "Optimizer.step#"))
    class->category = PPROF_CATEGORY_OPTIMIZATION;
  // ppi_label_clean has cut the step's number.
  if (is_text(label->name, label->name_len, "ProfilerStep*"))
    class->category = PPROF_CATEGORY_PROFILE_STEP;
}

static bool ends(const ppi_label *label, const char *with) {
  size_t len = strlen(with);
  return label->name_len >= len &&
         memcmp(label->name + label->name_len - len, with, len) == 0;
}

static void look_at_ort(const ppi_label *label, ppi_class *class) {
  bool is_node = is_text(label->cat, label->cat_len, "node");
  if (is_node && ends(label, "_kernel_time"))
    class->category = PPROF_CATEGORY_OPERATOR;
  else if (is_node &&
           (ends(label, "_fence_before") || ends(label, "_fence_after")))
    class->category = PPROF_CATEGORY_OPERATOR_INNER;
  else if (begins(label, "model_run"))
    class->category = PPROF_CATEGORY_INFERENCE;
}

bool ppi_import_category(const ppi_label *label, uint32_t *out) {
  for (uint32_t i = 0; i <= PPROF_CATEGORY_IDLE; i++) {
    const char *name = ppi_category_name(i);
    if (strlen(name) != label->cat_len ||
        memcmp(name, label->cat, label->cat_len) != 0)
      continue;
    *out = i;
    return true;
  }
  return false;
}

static bool find_cat(const ppi_label *label, ppi_class *out) {
  for (size_t i = 0; i < sizeof cats / sizeof *cats; i++) {
    if (!is_text(label->cat, label->cat_len, cats[i].cat)) continue;
    *out = cats[i].class;
    return true;
  }
  for (uint32_t i = 0; i <= PPROF_CATEGORY_IDLE; i++) {
    if (!is_text(label->cat, label->cat_len, ppi_category_name(i))) continue;
    *out = (ppi_class){i, 0};
    return true;
  }
  // Runtimes of other makers: hip_runtime, privateuse1_driver, ...
  ppi_label cat = {NULL, label->cat, 0, label->cat_len};
  if (!ends(&cat, "_runtime") && !ends(&cat, "_driver")) return false;
  *out = (ppi_class){PPROF_CATEGORY_RUNTIME, PPI_IS_LAUNCH};
  return true;
}

// Most calls with other names submit no work.
static bool always_submits(const ppi_label *label) {
  return has(label, "LaunchKernel") || has(label, "KernelLaunch") ||
         has(label, "GraphLaunch") || has(label, "LaunchCooperativeKernel") ||
         has(label, "MemcpyAsync") || has(label, "MemsetAsync");
}

ppi_class ppi_classify(const ppi_label *label) {
  ppi_class class = {PPROF_CATEGORY_USER_DEFINED, 0};
  if (!find_cat(label, &class)) return class;
  if (class.is & PPI_IS_LAUNCH && always_submits(label))
    class.is |= PPI_IS_WORK;
  // Kineto's "Trace" ranges are the times its profilers recorded. In other
  // traces a category "trace" has work.
  if (class.is & PPI_IS_FRAME && memcmp(label->cat, "Trace", 5) != 0 &&
      !begins(label, "PyTorch Profiler"))
    class.is = 0;
  if (class.is & PPI_IS_ORT) look_at_ort(label, &class);
  if (class.category == PPROF_CATEGORY_OPERATOR ||
      class.category == PPROF_CATEGORY_OPERATOR_INNER)
    look_at_operator(label, &class);
  else if (class.is & PPI_IS_OWNER)
    look_at_annotation(label, &class);
  if (class.is & PPI_IS_OWNER) look_at_both(label, &class);
  if (class.category == PPROF_CATEGORY_KERNEL &&
      ppi_is_collective(label->name, label->name_len))
    class.is |= PPI_IS_COMMUNICATION;
  return class;
}

// Paddle: "matmul[12.345 us]".
static void cut_duration(ppi_label *label) {
  int64_t ns;
  const char *name = label->name;
  size_t at = label->name_len;
  if (at == 0 || name[--at] != ']') return;
  size_t end = at;
  while (at > 0 && name[at] != '[' && end - at < 48) at--;
  if (name[at] != '[' || at == 0 || name[at + 1] == ']' ||
      !ppi_duration_ns(name + at + 1, end - at - 1, &ns) ||
      name[end - 1] != 's')
    return;
  label->name_len = at;
}

void ppi_label_clean(ppi_label *label, bool is_paddle, int64_t *out_step) {
  *out_step = -1;
  if (is_paddle) cut_duration(label);
  size_t end = ppi_name_end(label->name);
  if (end && end < label->name_len) label->name_len = end;
  bool is_pytorch = begins(label, "ProfilerStep#");
  if (!is_pytorch && !begins(label, "ProfileStep#")) return;
  size_t stem = is_pytorch ? 12 : 11;
  if (!ppi_integer(label->name + stem + 1, label->name_len - stem - 1,
                   out_step) ||
      *out_step < 0) {
    *out_step = -1;
    return;
  }
  label->name = is_pytorch ? "ProfilerStep*" : "ProfileStep";
  label->name_len = is_pytorch ? 13 : 11;
}

// ---- who writes them ----

const ppi_dialect *ppi_dialect_of(uint32_t bits) {
  static const ppi_dialect dialects[] = {
      {PPI_IS_PADDLE, "a Paddle trace", .has_day_times = true,
       .has_device_rows = true},
      {PPI_IS_PYTORCH, "a PyTorch trace", .has_device_rows = true},
      {PPI_IS_ORT, "an ONNX Runtime trace", .has_coarse_times = true},
      {UINT32_MAX, "a Chrome trace", .has_device_rows = true},
  };
  unsigned i = 0;
  while (!(dialects[i].is & (bits | 1u << 31))) i++;
  return &dialects[i];
}
