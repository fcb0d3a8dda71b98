// SPDX-License-Identifier: Apache-2.0
//
// A node with what is known of its inputs, as rules of operators see it: they
// fill its outputs, which are unknown before.
#ifndef PPI_COST_OP_H_
#define PPI_COST_OP_H_

#include "cost/shape/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// A function that is being expanded, called by a node of the one around it.
typedef struct ppi_call {
  const struct ppi_call *outer;
  const Ppi__Onnx__Node *node;
  const Ppi__Onnx__Function *function;
} ppi_call;

typedef struct ppi_op {
  ppi_shapes *shapes;
  const Ppi__Onnx__Node *node;
  const ppi_call *call;       // NULL: the node is of the model's graph
  int64_t opset;              // of its domain
  const char *name;           // for causes: the node's, or its operator
  ppi_tensor *const *inputs;  // NULL where one is left out
  ppi_tensor *outputs;
  size_t num_inputs, num_outputs;
} ppi_op;

// What is asked for and not there is NULL, or the fallback.
const Ppi__Onnx__Attribute *ppi_op_attribute(const ppi_op *op,
                                             const char *name);
int64_t ppi_op_int(const ppi_op *op, const char *name, int64_t fallback);
// ppi_op_is: the attribute is this text.
bool ppi_op_is(const ppi_op *op, const char *name, const char *text);

const ppi_tensor *ppi_op_input(const ppi_op *op, size_t i);
ppi_tensor *ppi_op_output(const ppi_op *op, size_t i);
// ppi_op_rank answers that of an input; -1 where it is unknown or not there.
int ppi_op_rank(const ppi_op *op, size_t i);
ppi_value ppi_op_dim(const ppi_op *op, size_t input, int axis);
// The axis that a negative one counts from the end; -1: there is none.
int ppi_op_axis(int64_t axis, int rank);

// A list of whole numbers that an attribute (NULL: none) or else an input
// (SIZE_MAX: none) holds.
typedef struct ppi_list {
  bool is_given;
  bool is_known;  // how many there are; each may still be unknown
  uint32_t cause;
  size_t num;
  ppi_value items[PPI_MAX_RANK * 2];
} ppi_list;
void ppi_op_list(const ppi_op *op, const char *attribute, size_t input,
                 ppi_list *out);

uint32_t ppi_op_cause(const ppi_op *op, ppi_cause_kind kind);
// ppi_op_fail: the inputs do not fit; all outputs are unknown for that.
void ppi_op_fail(const ppi_op *op);
// ppi_op_forget: all outputs are unknown for the cause.
void ppi_op_forget(const ppi_op *op, uint32_t cause);
// ppi_op_begin answers the first output with the type of input 0 and room for
// `rank` dimensions; NULL: no output, or no memory.
ppi_tensor *ppi_op_begin(const ppi_op *op, size_t rank);
// ppi_op_needs: the first `num` inputs are there and their ranks known;
// otherwise the outputs are unknown for the reason.
bool ppi_op_needs(const ppi_op *op, size_t num);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_OP_H_
