// SPDX-License-Identifier: Apache-2.0
//
// An ONNX model without its weights: of a tensor's values only those are there
// that are few enough to be shapes, axes and the like.
#ifndef PPI_COST_MODEL_H_
#define PPI_COST_MODEL_H_

#include "cost/onnx/onnx.pb-c.h"
#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// So many bytes of a tensor's values are kept: 1 024 numbers of 64 bits.
#define PPI_MODEL_VALUES 8192

// Bytes that a model may take.
#define PPI_MODEL_MEMORY (UINT64_C(1) << 30)

typedef struct ppi_model {
  Ppi__Onnx__Model *proto;
  char *path;
  ProtobufCAllocator allocator;
  uint64_t room_bytes;  // of memory that `proto` may still take
} ppi_model;

// ppi_model_open reads `path`. The model is the caller's to close; on failure
// there is none.
//
// Errors: CORRUPT with the byte and the field; IO; NO_MEMORY.
pprof_status ppi_model_open(const char *path, ppi_model *out,
                            pprof_error *error);
void ppi_model_close(ppi_model *model);

// ppi_model_bytes puts the first `len` bytes of a tensor's values into `out`,
// as the file has them, also of one whose values are in a file beside the
// model. False: they were not kept, or cannot be read.
bool ppi_model_bytes(const ppi_model *model, const Ppi__Onnx__Tensor *tensor,
                     void *out, size_t len);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_MODEL_H_
