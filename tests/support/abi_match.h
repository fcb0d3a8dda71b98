// SPDX-License-Identifier: Apache-2.0
//
// Checks that a function pointer of our own declaration calls a vendor's
// function rightly: as many parameters, each passed in the same way. Handles
// are pointers and enums are int, as in the backends.
#pragma once

#include <type_traits>

namespace pprof_test {

// One result or parameter: the same type, an integer or enum of the same size,
// or a pointer to such.
template <typename Ours, typename Theirs>
struct AbiMatchOne {
  static constexpr bool value =
      std::is_same<Ours, Theirs>::value ||
      (std::is_integral<Ours>::value &&
       (std::is_integral<Theirs>::value || std::is_enum<Theirs>::value) &&
       sizeof(Ours) == sizeof(Theirs));
};

template <typename Ours, typename Theirs>
struct AbiMatchOne<Ours *, Theirs *> : AbiMatchOne<Ours, Theirs> {};

// A handle: a pointer to a structure without a definition.
template <typename Theirs>
struct AbiMatchOne<void *, Theirs *> : std::is_class<Theirs> {};

template <typename Ours, typename Theirs>
struct AbiMatch : std::false_type {};

template <typename Ours, typename Theirs>
struct AbiMatch<Ours (*)(), Theirs (*)()> : AbiMatchOne<Ours, Theirs> {};

// Parameter by parameter.
template <typename OurResult, typename Ours, typename... OurRest,
          typename TheirResult, typename Theirs, typename... TheirRest>
struct AbiMatch<OurResult (*)(Ours, OurRest...),
                TheirResult (*)(Theirs, TheirRest...)> {
  static constexpr bool value =
      AbiMatchOne<Ours, Theirs>::value &&
      AbiMatch<OurResult (*)(OurRest...), TheirResult (*)(TheirRest...)>::value;
};

// AbiMatch separates what the calling convention separates.
static_assert(AbiMatch<int (*)(void *, int *),
                       int (*)(struct handle *, unsigned *)>::value,
              "handles and numbers of a size");
static_assert(!AbiMatch<int (*)(void *), int (*)(void *, int)>::value,
              "one parameter more");
static_assert(!AbiMatch<int (*)(void *), int (*)(int)>::value,
              "a number for a handle");
static_assert(!AbiMatch<int (*)(int *), int (*)(long *)>::value,
              "a larger result");
static_assert(!AbiMatch<int (*)(float *), int (*)(int *)>::value,
              "another kind of result");

}  // namespace pprof_test
