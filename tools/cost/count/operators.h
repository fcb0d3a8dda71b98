// SPDX-License-Identifier: Apache-2.0
//
// The operators that are known: how the outputs of each follow from its inputs,
// and how much it computes.
#ifndef PPI_COST_OPERATORS_H_
#define PPI_COST_OPERATORS_H_

#include "cost/shape/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_work {
  ppi_value macs;   // multiplications each with an addition
  ppi_value flops;  // all else; of both together 2 macs + flops
} ppi_work;

// Domains: ONNX's own, and ONNX Runtime's.
typedef enum ppi_domain { PPI_DOMAIN_ONNX = 0, PPI_DOMAIN_ORT } ppi_domain;

typedef struct ppi_operator {
  const char *name;
  ppi_domain domain;
  ppi_shape_rule rule;
  void (*count)(const ppi_op *op, unsigned factor, ppi_work *out);
  unsigned factor;
} ppi_operator;

// NULL: it is none of ours. `domain` may be NULL.
const ppi_operator *ppi_operator_find(const char *domain, const char *name);
// ppi_operator_at lists them by name; NULL behind the last one.
const ppi_operator *ppi_operator_at(size_t i);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COST_OPERATORS_H_
