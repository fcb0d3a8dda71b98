// SPDX-License-Identifier: Apache-2.0
//
// Where a thread that is traced instruction by instruction begins and ends.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/types.h>

namespace pprof_test {

inline void Trap() {
#if defined(__x86_64__)
  __asm__ volatile("int3");
#else
  __asm__ volatile("brk #0\n\t");
#endif
}

// A trap raised by the instruction itself, not by the step. On x86 the step
// over a system call is a TRAP_BRKPT, too.
inline bool IsAtTrap(pid_t thread) {
#if defined(__x86_64__)
  const int of_the_instruction = SI_KERNEL;
#else
  const int of_the_instruction = TRAP_BRKPT;
#endif
  siginfo_t info = {};
  ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info);
  return info.si_code == of_the_instruction;
}

}  // namespace pprof_test
