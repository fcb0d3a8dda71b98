// SPDX-License-Identifier: Apache-2.0
//
// What is known of a tensor before the model runs: its type, its shape, and of
// a small one its values. What is not known says why.
#ifndef PPI_COST_TENSOR_H_
#define PPI_COST_TENSOR_H_

#include <stdbool.h>
#include <stdint.h>

#include "cost/onnx/model.h"
#include "cost/shape/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

// Why something is not known.
typedef enum ppi_cause_kind {
  PPI_CAUSE_NONE = 0,
  PPI_CAUSE_DIM,       // of this name, which nobody has set
  PPI_CAUSE_OPERATOR,  // of this kind, which is not in our table
  PPI_CAUSE_DATA,      // this tensor, whose size values decide
  PPI_CAUSE_INVALID,   // this node's inputs do not fit it
  PPI_CAUSE_INPUT,     // a tensor of this name, which nothing makes
  PPI_CAUSE_OVERFLOW   // more than 2^63
} ppi_cause_kind;

typedef struct ppi_cause {
  ppi_cause_kind kind;
  const char *name;  // the model's
} ppi_cause;

// A number, or the place of its cause among ppi_shapes.causes.
typedef struct ppi_value {
  bool known;
  uint32_t cause;
  union {
    int64_t i;
    double f;  // of a tensor's values where it is_float
  };
} ppi_value;

// ONNX's numbers of element types.
typedef enum ppi_type {
  PPI_TYPE_NONE = 0,
  PPI_TYPE_F32 = 1,
  PPI_TYPE_U8 = 2,
  PPI_TYPE_I8 = 3,
  PPI_TYPE_I32 = 6,
  PPI_TYPE_I64 = 7,
  PPI_TYPE_BOOL = 9,
  PPI_TYPE_F16 = 10,
  PPI_TYPE_F64 = 11,
  PPI_TYPE_BF16 = 16,
  PPI_NUM_TYPES = 27
} ppi_type;

#define PPI_MAX_RANK 32
#define PPI_MAX_VALUES 1024

typedef struct ppi_tensor {
  int type;           // ppi_type
  int rank;           // -1: unknown
  uint32_t cause;     // of an unknown rank
  bool is_sequence;   // the rest is of its elements
  bool is_float;      // its values are
  bool is_weight;     // an initialiser's
  bool was_used;      // as a parameter of a node
  int stored;         // ppi_type of what a DequantizeLinear made it of
  int64_t num_items;  // of a sequence; -1: unknown
  ppi_value *dims;    // rank
  ppi_value *values;  // as many as elements; NULL: unknown
} ppi_tensor;

// What all tensors of a model share.
typedef struct ppi_shapes {
  const ppi_model *model;
  ppi_arena arena;
  ppi_cause *causes;  // [0]: none
  size_t num_causes, causes_capacity;
} ppi_shapes;

uint32_t ppi_cause_of(ppi_shapes *shapes, ppi_cause_kind kind,
                      const char *name);

// "f32", "int8"; "?" for none. Bits of an element, 0 for those without a size.
const char *ppi_type_name(int type);
unsigned ppi_type_bits(int type);
bool ppi_type_is_float(int type);

ppi_value ppi_known(int64_t value);
ppi_value ppi_unknown(uint32_t cause);
// Unknown where one of both is, or where the result leaves 64 bits.
ppi_value ppi_value_add(ppi_shapes *shapes, ppi_value a, ppi_value b);
ppi_value ppi_value_multiply(ppi_shapes *shapes, ppi_value a, ppi_value b);
// Towards minus infinity; by a positive `b`.
ppi_value ppi_value_divide(ppi_value a, int64_t b);

// ppi_tensor_shape makes room for `rank` dimensions, each unknown without a
// cause; false: out of memory, or more than PPI_MAX_RANK.
bool ppi_tensor_shape(ppi_shapes *shapes, ppi_tensor *tensor, size_t rank);
// ppi_tensor_copy gives `tensor` the shape, and with `with_values` the values.
void ppi_tensor_copy(ppi_tensor *tensor, const ppi_tensor *from,
                     bool with_values);
void ppi_tensor_forget(ppi_tensor *tensor, uint32_t cause);
ppi_value ppi_tensor_elements(ppi_shapes *shapes, const ppi_tensor *tensor);
// Bytes, rounded up.
ppi_value ppi_tensor_bytes(ppi_shapes *shapes, const ppi_tensor *tensor);
// The product of dimensions from `first` to before `end`.
ppi_value ppi_tensor_product(ppi_shapes *shapes, const ppi_tensor *tensor,
                             size_t first, size_t end);
// ppi_tensor_values makes room for values where they are few and their number
// is known. NULL: there are none.
ppi_value *ppi_tensor_values(ppi_shapes *shapes, ppi_tensor *tensor);
// ppi_tensor_read makes a tensor of a constant, with its values where they are
// few.
void ppi_tensor_read(ppi_shapes *shapes, const Ppi__Onnx__Tensor *from,
                     ppi_tensor *out);
// A value as a whole number; unknown for a float without one.
ppi_value ppi_tensor_whole(const ppi_tensor *tensor, size_t at);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_TENSOR_H_
