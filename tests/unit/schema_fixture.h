// SPDX-License-Identifier: Apache-2.0
//
// A configuration that texts are applied to one after the other, and the
// refusals in their exact words.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "schema/schema.h"
#include "tests/support/capture_rules.h"

inline std::string Read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename Print>
std::string Printed(Print print) {
  char *text = nullptr;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  print(out);
  fclose(out);
  std::string copy(text, len);
  free(text);
  return copy;
}

class SchemaTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(PPROF_STATUS_OK, ppi_config_defaults(&config()));
  }
  ppi_config &config() {
    return *config_;
  }
  pprof_status Apply(const std::string &text) {
    ppi_yaml yaml;
    ppi_yaml_init(&yaml, "p.yaml");
    pprof_status status = ppi_yaml_parse(&yaml, text.data(), text.size(),
                                         {1, 1}, &yaml.root, &error_);
    if (status == PPROF_STATUS_OK)
      status = ppi_config_apply(&config(), &yaml, &error_);
    ppi_yaml_clear(&yaml);
    return status;
  }
  std::string Refusal(const std::string &text) {
    EXPECT_EQ(PPROF_STATUS_CONFIG, Apply(text)) << text;
    return error_.text;
  }
  // The states of steps 0, 1, ... as letters: C closed, Y warm-up, R recorded.
  std::string States(const std::string &text, uint64_t num) {
    EXPECT_EQ(PPROF_STATUS_OK, Apply(text)) << error_.text;
    ppi_capture capture;
    ppi_config_capture(&config(), &capture);
    std::string states;
    for (uint64_t step = 0; step < num; step++)
      states += "CYR"[pprof_test::AtStep(capture, step).phase];
    return states;
  }

  pprof_error error_ = {""};

 private:
  std::unique_ptr<ppi_config> config_ = std::make_unique<ppi_config>();
};
