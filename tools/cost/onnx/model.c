// SPDX-License-Identifier: Apache-2.0
//
// The file, its cut, and what protobuf-c makes of it.
#include "cost/onnx/model.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "cost/onnx/wire.h"

// A million nodes take a quarter of these.
#define MOST_KEPT_BYTES (UINT64_C(256) << 20)
#define MOST_TEXT_BYTES (UINT64_C(1) << 16)
// What exporters say of a node beside its name: scopes are short, stacks long.
#define MOST_PROPERTY_BYTES 2048

// Each block begins with its size, for the room that its end gives back.
#define HEAD_BYTES 16

static void *take(void *data, size_t size) {
  ppi_model *model = data;
  if (size > model->room_bytes || model->room_bytes - size < HEAD_BYTES)
    return NULL;
  unsigned char *block = ppi_alloc(size + HEAD_BYTES);
  if (!block) return NULL;
  memcpy(block, &size, sizeof size);
  model->room_bytes -= size + HEAD_BYTES;
  return block + HEAD_BYTES;
}

static void give(void *data, void *block) {
  ppi_model *model = data;
  size_t size;
  if (!block) return;
  unsigned char *start = (unsigned char *)block - HEAD_BYTES;
  memcpy(&size, start, sizeof size);
  model->room_bytes += size + HEAD_BYTES;
  ppi_free(start);
}

static int open_regular(const char *path, struct stat *out) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  if (fstat(fd, out) == 0 && S_ISREG(out->st_mode)) return fd;
  if (!S_ISREG(out->st_mode)) errno = S_ISDIR(out->st_mode) ? EISDIR : ESPIPE;
  int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

static pprof_status read_slim(const char *path, ppi_buffer *out,
                              pprof_error *error) {
  static const ppi_wire_form form = {&ppi__onnx__model__descriptor,
                                     &ppi__onnx__tensor__descriptor,
                                     &ppi__onnx__key_value__descriptor,
                                     {PPI_MODEL_VALUES, MOST_TEXT_BYTES,
                                      MOST_PROPERTY_BYTES, MOST_KEPT_BYTES}};
  struct stat info = {0};
  int fd = open_regular(path, &info);
  if (fd < 0)
    return ppi_fail(error, PPROF_STATUS_IO, "%s",
                    errno == ESPIPE ? "is no regular file" : strerror(errno));
  pprof_status status =
      info.st_size
          ? ppi_wire_slim(fd, (uint64_t)info.st_size, &form, out, error)
          : ppi_fail(error, PPROF_STATUS_CORRUPT, "it is empty");
  close(fd);
  return status;
}

static pprof_status unpack(ppi_model *model, const ppi_buffer *slim,
                           pprof_error *error) {
  model->allocator = (ProtobufCAllocator){take, give, model};
  model->room_bytes = PPI_MODEL_MEMORY;
  model->proto =
      ppi__onnx__model__unpack(&model->allocator, slim->len, slim->data);
  if (!model->proto)
    return ppi_fail(error, PPROF_STATUS_CORRUPT,
                    model->room_bytes < PPI_MODEL_MEMORY / 2
                        ? "too much, even without weights"
                        : "no ONNX model: a field of another kind");
  if (model->proto->graph && model->proto->n_opset_import) return 0;
  return ppi_fail(error, PPROF_STATUS_CORRUPT, "no ONNX model: it has no %s",
                  model->proto->graph ? "opset_import" : "graph");
}

pprof_status ppi_model_open(const char *path, ppi_model *out,
                            pprof_error *error) {
  ppi_buffer slim = {0};
  *out = (ppi_model){.path = ppi_strdup(path)};
  pprof_status status =
      out->path ? read_slim(path, &slim, error)
                : ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  if (!status) status = unpack(out, &slim, error);
  ppi_buffer_clear(&slim);
  if (status) ppi_model_close(out);
  return status;
}

void ppi_model_close(ppi_model *model) {
  if (model->proto)
    ppi__onnx__model__free_unpacked(model->proto, &model->allocator);
  ppi_free(model->path);
  *model = (ppi_model){0};
}

// ---- values ----

static const char *external(const Ppi__Onnx__Tensor *tensor, const char *key) {
  for (size_t i = 0; i < tensor->n_external_data; i++) {
    const Ppi__Onnx__KeyValue *pair = tensor->external_data[i];
    if (pair->key && strcmp(pair->key, key) == 0) return pair->value;
  }
  return NULL;
}

// A model names what lies beside it, or below.
static bool is_beside(const char *location) {
  if (!location || !*location || *location == '/') return false;
  for (const char *at = location; at; at = strchr(at, '/')) {
    at += *at == '/';
    size_t len = strcspn(at, "/");
    if (len == 2 && at[0] == '.' && at[1] == '.') return false;
  }
  return true;
}

static bool read_external(const ppi_model *model,
                          const Ppi__Onnx__Tensor *tensor, void *out,
                          size_t len) {
  const char *location = external(tensor, "location");
  const char *offset = external(tensor, "offset");
  const char *name = strrchr(model->path, '/');
  struct stat info = {0};
  char path[PATH_MAX];
  if (!is_beside(location)) return false;
  int folder = name ? (int)(name - model->path + 1) : 0;
  int n = snprintf(path, sizeof path, "%.*s%s", folder, model->path, location);
  if (n < 0 || n >= (int)sizeof path) return false;
  int fd = open_regular(path, &info);
  if (fd < 0) return false;
  long long at = offset ? strtoll(offset, NULL, 10) : 0;
  ssize_t got = at < 0 ? -1 : pread(fd, out, len, (off_t)at);
  close(fd);
  return got >= 0 && (size_t)got == len;
}

bool ppi_model_bytes(const ppi_model *model, const Ppi__Onnx__Tensor *tensor,
                     void *out, size_t len) {
  if (len > PPI_MODEL_VALUES) return false;
  if (tensor->data_location == 1) return read_external(model, tensor, out, len);
  if (!tensor->has_raw_data || tensor->raw_data.len < len) return false;
  memcpy(out, tensor->raw_data.data, len);
  return true;
}
