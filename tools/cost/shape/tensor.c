// SPDX-License-Identifier: Apache-2.0
#include "cost/shape/tensor.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

// By ONNX's numbers.
static const struct {
  const char *name;
  unsigned char bits;
  bool is_float;
} types[PPI_NUM_TYPES] = {
    [1] = {"f32", 32, true},          [2] = {"uint8", 8, false},
    [3] = {"int8", 8, false},         [4] = {"uint16", 16, false},
    [5] = {"int16", 16, false},       [6] = {"int32", 32, false},
    [7] = {"int64", 64, false},       [8] = {"text", 0, false},
    [9] = {"bool", 8, false},         [10] = {"f16", 16, true},
    [11] = {"f64", 64, true},         [12] = {"uint32", 32, false},
    [13] = {"uint64", 64, false},     [14] = {"complex64", 64, true},
    [15] = {"complex128", 128, true}, [16] = {"bf16", 16, true},
    [17] = {"fp8", 8, true},          [18] = {"fp8", 8, true},
    [19] = {"fp8", 8, true},          [20] = {"fp8", 8, true},
    [21] = {"uint4", 4, false},       [22] = {"int4", 4, false},
    [23] = {"fp4", 4, true},          [24] = {"fp8", 8, true},
    [25] = {"uint2", 2, false},       [26] = {"int2", 2, false}};

static bool is_type(int type) {
  return type > 0 && type < PPI_NUM_TYPES;
}

const char *ppi_type_name(int type) {
  return is_type(type) ? types[type].name : "?";
}

unsigned ppi_type_bits(int type) {
  return is_type(type) ? types[type].bits : 0;
}

bool ppi_type_is_float(int type) {
  return is_type(type) && types[type].is_float;
}

uint32_t ppi_cause_of(ppi_shapes *shapes, ppi_cause_kind kind,
                      const char *name) {
  // One node or dimension is asked for again and again, mostly the last one.
  for (size_t i = shapes->num_causes; i > 1 && i + 16 > shapes->num_causes; i--)
    if (shapes->causes[i - 1].kind == kind &&
        strcmp(shapes->causes[i - 1].name, name) == 0)
      return (uint32_t)(i - 1);
  size_t num = shapes->num_causes ? shapes->num_causes : 1;
  ppi_cause *causes = ppi_grow(shapes->causes, &shapes->causes_capacity,
                               num + 1, sizeof *causes);
  if (!causes || num >= UINT32_MAX) {
    shapes->arena.failed = true;
    return 0;
  }
  shapes->causes = causes;
  causes[0] = (ppi_cause){PPI_CAUSE_NONE, ""};
  causes[num] = (ppi_cause){kind, name};
  shapes->num_causes = num + 1;
  return (uint32_t)num;
}

// ---- numbers ----

ppi_value ppi_known(int64_t value) {
  return (ppi_value){.known = true, .i = value};
}

ppi_value ppi_unknown(uint32_t cause) {
  return (ppi_value){.known = false, .cause = cause};
}

static ppi_value overflow(ppi_shapes *shapes) {
  return ppi_unknown(ppi_cause_of(shapes, PPI_CAUSE_OVERFLOW, ""));
}

ppi_value ppi_value_add(ppi_shapes *shapes, ppi_value a, ppi_value b) {
  int64_t sum;
  if (!a.known) return a;
  if (!b.known) return b;
  if (__builtin_add_overflow(a.i, b.i, &sum)) return overflow(shapes);
  return ppi_known(sum);
}

ppi_value ppi_value_multiply(ppi_shapes *shapes, ppi_value a, ppi_value b) {
  int64_t product;
  // Nothing of whatever it is, is nothing.
  if ((a.known && a.i == 0) || (b.known && b.i == 0)) return ppi_known(0);
  if (!a.known) return a;
  if (!b.known) return b;
  if (__builtin_mul_overflow(a.i, b.i, &product)) return overflow(shapes);
  return ppi_known(product);
}

ppi_value ppi_value_divide(ppi_value a, int64_t b) {
  if (!a.known) return a;
  return ppi_known(a.i / b - (a.i % b < 0));
}

// ---- shapes ----

bool ppi_tensor_shape(ppi_shapes *shapes, ppi_tensor *tensor, size_t rank) {
  tensor->rank = -1;
  if (rank > PPI_MAX_RANK) return false;
  tensor->dims =
      ppi_arena_take(&shapes->arena, rank ? rank : 1, sizeof *tensor->dims);
  if (!tensor->dims) return false;
  tensor->rank = (int)rank;
  return true;
}

void ppi_tensor_copy(ppi_tensor *tensor, const ppi_tensor *from,
                     bool with_values) {
  tensor->rank = from->rank;
  tensor->cause = from->cause;
  tensor->dims = from->dims;
  tensor->is_sequence = from->is_sequence;
  tensor->num_items = from->num_items;
  tensor->values = with_values ? from->values : NULL;
  tensor->is_float = from->is_float;
}

void ppi_tensor_forget(ppi_tensor *tensor, uint32_t cause) {
  tensor->rank = -1;
  tensor->cause = cause;
  tensor->dims = tensor->values = NULL;
}

ppi_value ppi_tensor_product(ppi_shapes *shapes, const ppi_tensor *tensor,
                             size_t first, size_t end) {
  ppi_value product = ppi_known(1);
  if (tensor->rank < 0) return ppi_unknown(tensor->cause);
  for (size_t i = first; i < end && i < (size_t)tensor->rank; i++)
    product = ppi_value_multiply(shapes, product, tensor->dims[i]);
  return product;
}

ppi_value ppi_tensor_elements(ppi_shapes *shapes, const ppi_tensor *tensor) {
  if (tensor->is_sequence) {
    ppi_value one = ppi_tensor_product(shapes, tensor, 0, PPI_MAX_RANK);
    if (tensor->num_items < 0) return ppi_unknown(tensor->cause);
    return ppi_value_multiply(shapes, one, ppi_known(tensor->num_items));
  }
  return ppi_tensor_product(shapes, tensor, 0, PPI_MAX_RANK);
}

ppi_value ppi_tensor_bytes(ppi_shapes *shapes, const ppi_tensor *tensor) {
  ppi_value num = ppi_tensor_elements(shapes, tensor);
  unsigned bits = ppi_type_bits(tensor->type);
  if (!num.known) return num;
  if (bits % 8 == 0)
    return ppi_value_multiply(shapes, num, ppi_known(bits / 8));
  return ppi_known(num.i / (8 / bits) + (num.i % (8 / bits) > 0));
}

ppi_value *ppi_tensor_values(ppi_shapes *shapes, ppi_tensor *tensor) {
  ppi_value num = ppi_tensor_elements(shapes, tensor);
  tensor->values = NULL;
  tensor->is_float = ppi_type_is_float(tensor->type);
  if (!num.known || num.i < 0 || num.i > PPI_MAX_VALUES) return NULL;
  if (tensor->is_sequence) return NULL;
  tensor->values = ppi_arena_take(&shapes->arena, num.i ? (size_t)num.i : 1,
                                  sizeof *tensor->values);
  return tensor->values;
}

ppi_value ppi_tensor_whole(const ppi_tensor *tensor, size_t at) {
  ppi_value value = tensor->values[at];
  if (!value.known || !tensor->is_float) return value;
  if (!(fabs(value.f) < 9e18)) return ppi_unknown(0);
  return ppi_known((int64_t)value.f);
}

// ---- constants ----

// The i-th of what is stored as the file has it: little-endian.
static bool take_raw(const unsigned char *bytes, int type, size_t i,
                     ppi_value *out) {
  unsigned size = ppi_type_bits(type) / 8;
  uint64_t word = 0;
  for (unsigned b = 0; b < size; b++)
    word |= (uint64_t)bytes[i * size + b] << (8 * b);
  unsigned shift = 64 - 8 * size;
  bool is_signed = type == PPI_TYPE_I8 || type == 5 || type == PPI_TYPE_I32;
  *out =
      ppi_known(is_signed ? (int64_t)(word << shift) >> shift : (int64_t)word);
  if (type == PPI_TYPE_F32) {
    uint32_t half = (uint32_t)word;
    float value;
    memcpy(&value, &half, sizeof value);
    out->f = (double)value;
  } else if (type == PPI_TYPE_F64) {
    memcpy(&out->f, &word, sizeof out->f);
  } else {
    return !ppi_type_is_float(type);
  }
  return true;
}

static bool take_listed(const Ppi__Onnx__Tensor *from, int type, size_t i,
                        ppi_value *out) {
  *out = ppi_known(0);
  if (type == PPI_TYPE_F32 && i < from->n_float_data)
    out->f = (double)from->float_data[i];
  else if (type == PPI_TYPE_F64 && i < from->n_double_data)
    out->f = from->double_data[i];
  else if (type == PPI_TYPE_I64 && i < from->n_int64_data)
    out->i = from->int64_data[i];
  else if (!ppi_type_is_float(type) && i < from->n_int32_data)
    out->i = from->int32_data[i];
  else if (!ppi_type_is_float(type) && i < from->n_uint64_data)
    out->i = (int64_t)from->uint64_data[i];
  else
    return false;
  return true;
}

static bool read_values(ppi_shapes *shapes, const Ppi__Onnx__Tensor *from,
                        ppi_tensor *out, size_t num) {
  unsigned char bytes[PPI_MODEL_VALUES];
  unsigned bits = ppi_type_bits(out->type);
  bool is_raw = bits >= 8 && bits <= 64 && num > 0 &&
                ppi_model_bytes(shapes->model, from, bytes, num * (bits / 8));
  for (size_t i = 0; i < num; i++)
    if (!(is_raw ? take_raw(bytes, out->type, i, &out->values[i])
                 : take_listed(from, out->type, i, &out->values[i])))
      return false;
  return true;
}

void ppi_tensor_read(ppi_shapes *shapes, const Ppi__Onnx__Tensor *from,
                     ppi_tensor *out) {
  *out = (ppi_tensor){.type = from->data_type, .rank = -1};
  if (!ppi_tensor_shape(shapes, out, from->n_dims)) return;
  for (size_t i = 0; i < from->n_dims; i++)
    out->dims[i] =
        from->dims[i] >= 0
            ? ppi_known(from->dims[i])
            : ppi_unknown(ppi_cause_of(shapes, PPI_CAUSE_INVALID,
                                       from->name ? from->name : ""));
  if (!ppi_tensor_values(shapes, out)) return;
  size_t num = (size_t)ppi_tensor_elements(shapes, out).i;
  if (!read_values(shapes, from, out, num)) out->values = NULL;
}
