// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a configuration: refused with a reason, or taken; and what is
// taken, written out, is the same configuration again.
#include <cstdlib>
#include <memory>
#include <string>

#include "fuzz.h"
#include "schema/schema.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/yaml";

namespace {

std::string Written(const ppi_config &config) {
  char *text = nullptr;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  ppi_config_write(&config, out);
  fclose(out);
  std::string written(text, len);
  free(text);
  return written;
}

bool Take(const char *bytes, size_t len, ppi_config *config,
          pprof_error *error) {
  ppi_yaml yaml;
  ppi_yaml_init(&yaml, "fuzz.yaml");
  pprof_status status = ppi_config_defaults(config);
  if (status == PPROF_STATUS_OK)
    status = ppi_yaml_parse(&yaml, bytes, len, {1, 1}, &yaml.root, error);
  if (status == PPROF_STATUS_OK)
    status = ppi_config_apply(config, &yaml, error);
  if (status == PPROF_STATUS_OK) status = ppi_config_check(config, error);
  ppi_yaml_clear(&yaml);
  Require((status == PPROF_STATUS_OK) == (error->text[0] == 0),
          "a refusal without a reason, or the other way round");
  return status == PPROF_STATUS_OK;
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto config = std::make_unique<ppi_config>();
  pprof_error error = {""};
  const char *bytes = reinterpret_cast<const char *>(data);
  if (!fuzz::Take(bytes, size, config.get(), &error)) {
    fuzz::Require(fuzz::IsVisible(error.text), "a reason that acts");
    return 0;
  }
  const std::string once = fuzz::Written(*config);
  fuzz::Require(fuzz::IsVisible(once), "a configuration that acts");
  fuzz::Require(fuzz::Take(once.data(), once.size(), config.get(), &error),
                once.c_str());
  fuzz::Require(fuzz::Written(*config) == once, "not what was written");
  return 0;
}
