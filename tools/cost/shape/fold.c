// SPDX-License-Identifier: Apache-2.0
#include "cost/shape/fold.h"

#include <math.h>
#include <string.h>

static ppi_value real(double value) {
  return (ppi_value){.known = true, .f = value};
}

static bool is(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

ppi_value ppi_fold_one(const char *op_type, ppi_value value, bool is_float) {
  static const struct {
    const char *name;
    double (*make)(double);
  } reals[] = {{"Floor", floor}, {"Ceil", ceil},    {"Sqrt", sqrt},
               {"Round", rint},  {"Exp", exp},      {"Log", log},
               {"Abs", fabs},    {"Identity", NULL}};
  if (!value.known || is(op_type, "Identity")) return value;
  if (is(op_type, "Not") && !is_float) return ppi_known(!value.i);
  if (is(op_type, "Neg")) {
    if (is_float) return real(-value.f);
    return value.i == INT64_MIN ? ppi_unknown(0) : ppi_known(-value.i);
  }
  if (is(op_type, "Reciprocal") && is_float) return real(1 / value.f);
  if (is(op_type, "Abs") && !is_float && value.i != INT64_MIN)
    return ppi_known(value.i < 0 ? -value.i : value.i);
  for (size_t i = 0; is_float && reals[i].make; i++)
    if (is(op_type, reals[i].name)) return real(reals[i].make(value.f));
  return ppi_unknown(0);
}

static ppi_value two_reals(const char *name, double a, double b) {
  if (is(name, "Add") || is(name, "Sum")) return real(a + b);
  if (is(name, "Sub")) return real(a - b);
  if (is(name, "Mul")) return real(a * b);
  if (is(name, "Div")) return real(a / b);
  if (is(name, "Pow")) return real(pow(a, b));
  if (is(name, "Min")) return real(fmin(a, b));
  if (is(name, "Max")) return real(fmax(a, b));
  if (is(name, "Mod")) return real(fmod(a, b));
  if (is(name, "Greater")) return ppi_known(a > b);
  if (is(name, "Less")) return ppi_known(a < b);
  if (is(name, "GreaterOrEqual")) return ppi_known(a >= b);
  if (is(name, "LessOrEqual")) return ppi_known(a <= b);
  return ppi_unknown(0);
}

static ppi_value compare(const char *name, int64_t a, int64_t b) {
  if (is(name, "Equal")) return ppi_known(a == b);
  if (is(name, "Greater")) return ppi_known(a > b);
  if (is(name, "Less")) return ppi_known(a < b);
  if (is(name, "GreaterOrEqual")) return ppi_known(a >= b);
  if (is(name, "LessOrEqual")) return ppi_known(a <= b);
  if (is(name, "And")) return ppi_known(a && b);
  if (is(name, "Or")) return ppi_known(a || b);
  if (is(name, "Xor")) return ppi_known(!a != !b);
  return ppi_unknown(0);
}

static ppi_value power(ppi_shapes *shapes, int64_t base, int64_t exponent) {
  ppi_value out = ppi_known(1);
  if (exponent < 0 || exponent > 64) return ppi_unknown(0);
  for (int64_t i = 0; i < exponent; i++)
    out = ppi_value_multiply(shapes, out, ppi_known(base));
  return out;
}

// ONNX's division of whole numbers goes towards zero, its Mod has the divisor's
// sign.
static ppi_value divide(const char *name, int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return ppi_unknown(0);
  if (is(name, "Div")) return ppi_known(a / b);
  int64_t rest = a % b;
  return ppi_known(rest && (rest < 0) != (b < 0) ? rest + b : rest);
}

ppi_value ppi_fold_two(ppi_shapes *shapes, const char *name, ppi_value a,
                       ppi_value b, bool is_float) {
  if (!a.known || !b.known) return a.known ? ppi_unknown(b.cause) : a;
  if (is_float) return two_reals(name, a.f, b.f);
  if (is(name, "Add") || is(name, "Sum")) return ppi_value_add(shapes, a, b);
  if (is(name, "Mul")) return ppi_value_multiply(shapes, a, b);
  if (is(name, "Sub")) {
    int64_t out;
    if (__builtin_sub_overflow(a.i, b.i, &out)) return ppi_unknown(0);
    return ppi_known(out);
  }
  if (is(name, "Div") || is(name, "Mod")) return divide(name, a.i, b.i);
  if (is(name, "Min")) return ppi_known(a.i < b.i ? a.i : b.i);
  if (is(name, "Max")) return ppi_known(a.i > b.i ? a.i : b.i);
  if (is(name, "Pow")) return power(shapes, a.i, b.i);
  return compare(name, a.i, b.i);
}

ppi_value ppi_fold_to(ppi_value value, bool from_float, int type) {
  if (!value.known) return value;
  if (type == PPI_TYPE_BOOL)
    return ppi_known(from_float ? value.f != 0 : value.i != 0);
  if (ppi_type_is_float(type) == from_float) return value;
  if (!from_float) return real((double)value.i);
  if (!(fabs(value.f) < 9e18)) return ppi_unknown(0);
  return ppi_known((int64_t)value.f);
}
