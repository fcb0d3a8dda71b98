// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as another profiler's trace. The first byte picks the outputs.
#include "fuzz.h"
#include "import/import.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/import";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::File *file = new fuzz::File;
  if (size < 1) return 0;
  file->Write(data + 1, size - 1);
  ppi_import_is_trace(file->path());
  fuzz::Outputs outputs(data[0]);
  pprof_error error = {""};
  pprof_status status =
      ppi_import_read(file->path(), outputs.sink(), nullptr, &error);
  outputs.CheckMessage(status, error);
  outputs.Check();
  return 0;
}
