// SPDX-License-Identifier: Apache-2.0
//
// Numbers that are not finite, which JSON does not have.
#include <algorithm>

#include "imported.h"
#include "json/json.h"

namespace pprof_test {
namespace {

// Python writes NaN, Infinity and -Infinity where it has no number.
TEST(ImportNumbersTest, TakesNumbersThatAreNotFiniteForNone) {
  const std::string text =
      "{\"x\":NaN,\"traceEvents\":["
      "{\"ph\":\"X\",\"name\":\"a, NaN, [-Infinity\",\"pid\":1,\"tid\":1,"
      "\"ts\":1,\"dur\":2,\"args\":{\"bytes\": NaN,\"flops\":-Infinity,"
      "\"NaN\":\":NaN\"}},"
      "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":2,\"args\":{"
      "\"value\":NaN,\"free\":3}},"
      "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":Infinity,"
      "\"dur\":1},"
      "{\"ph\":\"X\",\"name\":\"d\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":\n"
      "NaN}],\"y\":[-Infinity,NaN ,Infinity]}";
  Imported trace;
  trace.Read(text);
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("a, NaN, [-Infinity").event.end_ns, 2000u);
  EXPECT_EQ(run.The("a, NaN, [-Infinity").work.size, 0u);
  EXPECT_EQ(run.The("c").event.value, 3);
  EXPECT_EQ(run.events.size(), 2u);
  // Those without a time are no events.
  EXPECT_EQ(run.Total("lost"), 2u);
  EXPECT_TRUE(run.HasNote("9 numbers that are not finite taken for none"));
}

// However the text is cut into pieces.
TEST(ImportNumbersTest, FindsNumbersThatAreNotFiniteAcrossPieces) {
  const std::string text =
      "{\"a\":-Infinity,\"b\":[NaN],\"c\":\", NaN, \\\"\",\"d\":Infinity }";
  for (size_t piece = 1; piece < text.size(); piece++) {
    std::string kinds;
    auto take = [](void *context, const ppi_json_token *token) {
      *static_cast<std::string *>(context) += std::to_string(token->kind) + " ";
      return true;
    };
    ppi_json *json = ppi_json_create(take, &kinds);
    ppi_json_state state = PPI_JSON_MORE;
    for (size_t at = 0; at < text.size(); at += piece) {
      size_t used, len = std::min(piece, text.size() - at);
      state = ppi_json_write(json, text.data() + at, len, &used);
      ASSERT_EQ(used, len);
    }
    EXPECT_EQ(state, PPI_JSON_DONE) << piece << ppi_json_error(json);
    EXPECT_EQ(ppi_json_num_not_finite(json), 3u) << piece;
    // The string may come in parts.
    const std::string part = std::to_string(PPI_JSON_STRING_PART) + " ";
    for (size_t at; (at = kinds.find(part)) != std::string::npos;)
      kinds.erase(at, part.size());
    EXPECT_EQ(kinds, "0 4 10 4 2 10 3 4 6 4 10 1 ") << piece;
    ppi_json_destroy(json);
  }
}

}  // namespace
}  // namespace pprof_test
