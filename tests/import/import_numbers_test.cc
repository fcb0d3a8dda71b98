// SPDX-License-Identifier: Apache-2.0
//
// What writers put into their JSON that JSON does not have: numbers that are
// not finite, and control characters in strings.
#include <algorithm>
#include <cstring>

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

struct Counts {
  size_t num_nulls = 0, num_bytes = 0;
};

static bool CountToken(void *context, const ppi_json_token *token) {
  Counts *counts = static_cast<Counts *>(context);
  counts->num_nulls += token->kind == PPI_JSON_NULL;
  bool is_text =
      token->kind == PPI_JSON_STRING_PART || token->kind == PPI_JSON_STRING;
  if (is_text) counts->num_bytes += token->len;
  return true;
}

// Wherever in a large text, of which a parser may see a part at a time.
TEST(ImportNumbersTest, FindsNumbersThatAreNotFiniteAnywhere) {
  for (size_t shift = 0; shift < 20; shift++) {
    // Words in a string are text; a million of them take no longer than others.
    std::string text = "[\"" + std::string(shift, 'N') + "\"";
    const char *const words[] = {"NaN", "-Infinity", "\"-Infinity\"",
                                 "Infinity"};
    size_t num = shift ? 4000 : 1000000;
    for (size_t i = 0; i < num; i++) text.append(",").append(words[i % 4]);
    text += "]";
    Counts counts;
    ppi_json *json = ppi_json_create(CountToken, &counts);
    size_t used;
    EXPECT_EQ(ppi_json_write(json, text.data(), text.size(), &used),
              PPI_JSON_DONE)
        << shift << ppi_json_error(json);
    EXPECT_EQ(used, text.size());
    EXPECT_EQ(ppi_json_num_not_finite(json), num / 4 * 3);
    EXPECT_EQ(counts.num_nulls, num / 4 * 3);
    EXPECT_EQ(counts.num_bytes, shift + num / 4 * std::strlen("-Infinity"));
    ppi_json_destroy(json);
  }
}

// In names, keys and values; a quote behind a backslash ends no string, and
// white space between the values is none of them.
TEST(ImportNumbersTest, TakesRawControlCharacters) {
  const std::string text =
      "{\"traceEvents\":[\n\t{\"ph\":\"X\",\"name\":\"re [\n\t]\",\r\n"
      "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"args\":{\"k\ne\":\"\x01\"}},\n"
      "{\"ph\":\"X\",\"name\":\"q\\\"\b\",\"pid\":1,\"tid\":1,\"ts\":5,"
      "\"dur\":1}\n]}\n";
  Imported trace;
  trace.Read(text);
  ASSERT_EQ(trace.status, PPROF_STATUS_OK) << trace.message;
  const ImportedRun &run = trace.run();
  EXPECT_EQ(run.The("re [\n\t]").event.end_ns, 2000u);
  EXPECT_EQ(run.The("re [\n\t]").attributes, "{\"k\\u000ae\":\"\\u0001\"}");
  EXPECT_EQ(run.The("q\"\b").event.end_ns, 5000u);
  EXPECT_EQ(run.Total("lost"), 0u);
  EXPECT_TRUE(run.HasNote("5 control characters in texts"));
}

TEST(ImportNumbersTest, TakesRawControlCharactersAcrossPieces) {
  const std::string text =
      "[\"\n\", \"long enough\t for\\\"\n words\\\\\",\n1]";
  for (size_t piece = 1; piece < text.size(); piece++) {
    std::string got;
    auto take = [](void *context, const ppi_json_token *token) {
      static_cast<std::string *>(context)->append(token->text, token->len);
      return true;
    };
    ppi_json *json = ppi_json_create(take, &got);
    ppi_json_state state = PPI_JSON_MORE;
    for (size_t at = 0; at < text.size(); at += piece) {
      size_t used, len = std::min(piece, text.size() - at);
      state = ppi_json_write(json, text.data() + at, len, &used);
      ASSERT_EQ(used, len);
    }
    EXPECT_EQ(state, PPI_JSON_DONE) << piece << ppi_json_error(json);
    EXPECT_EQ(got, "\nlong enough\t for\"\n words\\1") << piece;
    EXPECT_EQ(ppi_json_num_raw_controls(json), 3u) << piece;
    ppi_json_destroy(json);
  }
}

// All that an import says of its events.
std::string Said(const Imported &trace) {
  std::string said = trace.message + "\n";
  for (const ImportedRun &run : trace.runs) {
    for (const ImportedEvent &each : run.events) {
      said += each.name + "|" + each.category + "|" + each.lane + "|" +
              each.stream + "|" + each.attributes;
      for (double number :
           {double(each.event.kind), double(each.event.start_ns),
            double(each.event.end_ns), double(each.event.device_start_ns),
            each.event.value, each.work.bytes, each.work.flops})
        said += "|" + std::to_string(number);
      for (uint64_t flow : each.flows) said += "|" + std::to_string(flow);
      said += "\n";
    }
    for (const std::string &note : run.notes) said += note + "\n";
  }
  return said;
}

// A key with an escape makes the parser read the event, token by token.
TEST(ImportTextTest, ReadsTheSameInPlaceAsByTokens) {
  const std::string head = "\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":";
  const std::vector<std::string> rests = {
      "1.5,\"dur\":2,\"name\":\"a\",\"cat\":\"cpu_op\"",
      "4441230472057415.123,\"dur\":7199.000,\"name\":\"b\"",
      "-3,\"dur\":1e1,\"name\":\"c\",\"dur\":12.25E+0,\"x\":[[1],{\"y\":{}}]",
      " 5 ,\n \"dur\" : 1 , \"name\" : 17 , \"args\" : { } ",
      "6,\"dur\":1,\"name\":\"d\",\"args\":{\"k\":[1, [2, \"x y\"], {}],"
      "\"l\":{\"m\": -1.50, \"n\": [ ]},\"bytes\":12.5,\"t\":true,\"u\":null}",
      "7,\"dur\":1,\"args\":{\"k\":1},\"name\":\"e\",\"args\":{\"l\":2}",
      "8,\"dur\":1,\"name\":\"\xc3\xa4\xff\",\"cat\":null,\"args\":7",
      "9,\"dur\":1,\"name\":\"f\",\"args\":{\"flows\":[1, 22],"
      "\"bytes\":\"5\",\"bytes\":123456789012345678901234567890}",
      "10,\"dur\":1,\"name\":\"g\",\"id2\":{\"local\":\"0x1\"},\"local\":3",
      "11,\"dur\":1,\"name\":\"" + std::string(5000, 'n') + "\"",
      "12,\"dur\":1,\"name\":\"h\",\"args\":{\"long\":\"" +
          std::string(17000, 'a') + "\",\"short\":\"b\"}",
      "13,\"ph\":\"C\",\"name\":\"i\",\"args\":{\"p\":0.1,\"q\":-7,"
      "\"r\":1e400,\"s\":\"x\"}",
      "14,\"dur\":01,\"name\":\"bad\"",
      "15,\"dur\":1.,\"name\":\"bad\"",
      "16,\"dur\":1,\"name\":\"bad\",\"args\":{\"x\":[1,]]}",
      "17,\"dur\":1,\"name\":\"bad\" \"x\":1",
      "18,\"dur\":1,\"name\":\"trailing\",",
  };
  for (const std::string &rest : rests) {
    const std::string event = head + rest + "}";
    Imported in_place, by_tokens;
    in_place.ReadEvents("{" + event + ",{" + event + ",\n{" + event);
    const std::string odd = "{\"\\u0041\":0,";
    by_tokens.ReadEvents(odd + event + "," + odd + event + ",\n" + odd + event);
    std::string expected = Said(by_tokens), got = Said(in_place);
    // Places of damage are not the same.
    for (std::string *text : {&expected, &got}) {
      size_t from = text->find('@'), to = text->find(": ");
      if (from < to && to != std::string::npos) text->erase(from, to - from);
      text->erase(0, text->find("pprof-import-test") == 0 ? 24 : 0);
      for (size_t at;
           (at = text->find("/tmp/pprof-import-test.")) != std::string::npos;)
        text->erase(at, 29);
      for (size_t at; (at = text->find("byte ")) != std::string::npos;)
        text->erase(at, text->find('\n', at) - at);
    }
    EXPECT_EQ(got, expected) << rest.substr(0, 200);
  }
}

}  // namespace
}  // namespace pprof_test
