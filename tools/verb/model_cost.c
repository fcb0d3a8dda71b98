// SPDX-License-Identifier: Apache-2.0
#include "verb/model_cost.h"

#include "cli/say.h"
#include "launch/python.h"

int ppi_tool_model_cost(const char *who, const char *path, const char *dims,
                        ppi_cost *out) {
  const char *const words[] = {path, dims ? dims : "", NULL};
  ppi_buffer text = {0};
  pprof_error error = {""};
  *out = (ppi_cost){.num_rows = 0};
  pprof_status status = ppi_tool_python_read("pprof._model", words, &text);
  if (status == PPROF_STATUS_OK) status = ppi_cost_read(&text, out, &error);
  ppi_buffer_clear(&text);
  if (status == PPROF_STATUS_OK) return PPI_EXIT_DONE;
  if (status == PPROF_STATUS_UNAVAILABLE)
    ppi_tool_say(
        "cost needs Python 3.9 with the packages pprof and onnx, which '%s' "
        "lacks: python3 -m pip install 'pprof-pipeline[cost]', or set "
        "PPROF_PYTHON",
        ppi_tool_python());
  else
    ppi_tool_say("%s%s%s: %s", who, *who ? " " : "", path, error.text);
  return status == PPROF_STATUS_INVALID ? PPI_EXIT_USAGE : PPI_EXIT_INPUT;
}
