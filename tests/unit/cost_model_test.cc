// SPDX-License-Identifier: Apache-2.0
//
// What is read of an ONNX model's file: its structure, never its weights,
// within bounds.
#include "cost/onnx/model.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace {

// The wire format, typed: a tag, and what follows it.
std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string Number(unsigned field, uint64_t value) {
  return Varint(field << 3) + Varint(value);
}
std::string Bytes(unsigned field, const std::string &bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}

// Fields by ONNX's numbers.
enum { IR = 1, DOC = 6, GRAPH = 7, OPSETS = 8 };
enum { NODE = 1, INITIALIZER = 5 };
enum { TENSOR_DIMS = 1, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { ATTRIBUTE = 5, ATTRIBUTE_GRAPH = 6 };
const std::string kOpset = Bytes(OPSETS, Number(2, 17));

std::string Tensor(const std::string &name, const std::string &raw) {
  return Bytes(INITIALIZER, Number(TENSOR_DIMS, raw.size()) +
                                Bytes(TENSOR_NAME, name) +
                                Bytes(TENSOR_RAW, raw));
}

class CostModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char *folder = getenv("TEST_TMPDIR");
    path_ = std::string(folder ? folder : "/tmp") + "/model.onnx";
  }
  void TearDown() override {
    ppi_model_close(&model_);
  }

  pprof_status Open(const std::string &bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return ppi_model_open(path_.c_str(), &model_, &error_);
  }
  std::string Refused(const std::string &bytes) {
    EXPECT_EQ(Open(bytes), PPROF_STATUS_CORRUPT);
    EXPECT_EQ(model_.proto, nullptr);
    return error_.text;
  }

  std::string path_;
  ppi_model model_ = {};
  pprof_error error_ = {};
};

TEST_F(CostModelTest, KeepsSmallValuesAndDropsWeights) {
  const std::string weights(100000, 'w');
  ASSERT_EQ(Open(Number(IR, 8) + Bytes(DOC, weights) + kOpset +
                 Bytes(GRAPH, Tensor("axes", "12345678") +
                                  Tensor("weights", weights) +
                                  Bytes(NODE, Bytes(4, "Relu")))),
            PPROF_STATUS_OK);
  const Ppi__Onnx__Graph *graph = model_.proto->graph;
  ASSERT_EQ(graph->n_initializer, 2u);
  EXPECT_EQ(model_.proto->opset_import[0]->version, 17);
  EXPECT_STREQ(graph->node[0]->op_type, "Relu");
  char bytes[8];
  ASSERT_TRUE(ppi_model_bytes(&model_, graph->initializer[0], bytes, 8));
  EXPECT_EQ(std::string(bytes, 8), "12345678");
  EXPECT_FALSE(ppi_model_bytes(&model_, graph->initializer[1], bytes, 8));
  EXPECT_STREQ(graph->initializer[1]->name, "weights");
  EXPECT_EQ(graph->initializer[1]->dims[0], 100000);
}

// Its weights are a hole of the disk, which is never read.
TEST_F(CostModelTest, ReadsAModelOfFourGigabytes) {
  const uint64_t hole = uint64_t{4} << 30;
  const std::string before =
      Bytes(TENSOR_NAME, "w") + Varint(TENSOR_RAW << 3 | 2) + Varint(hole);
  const std::string head =
      kOpset + Varint(GRAPH << 3 | 2) +
      Varint(1 + Varint(before.size() + hole).size() + before.size() + hole) +
      Varint(INITIALIZER << 3 | 2) + Varint(before.size() + hole) + before;
  std::ofstream(path_, std::ios::binary) << head;
  ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(head.size() + hole)), 0);
  ASSERT_EQ(ppi_model_open(path_.c_str(), &model_, &error_), PPROF_STATUS_OK)
      << error_.text;
  EXPECT_STREQ(model_.proto->graph->initializer[0]->name, "w");
  EXPECT_LT((uint64_t{1} << 30) - model_.room_bytes, 100000u);
}

TEST_F(CostModelTest, ReadsValuesBesideTheModel) {
  const std::string folder = path_.substr(0, path_.rfind('/'));
  std::ofstream(folder + "/weights.bin", std::ios::binary) << "....abcdefgh";
  auto tensor = [](const std::string &location) {
    return Bytes(INITIALIZER,
                 Bytes(13, Bytes(1, "location") + Bytes(2, location)) +
                     Bytes(13, Bytes(1, "offset") + Bytes(2, "4")) +
                     Number(14, 1));
  };
  ASSERT_EQ(Open(kOpset +
                 Bytes(GRAPH, tensor("weights.bin") + tensor("../weights.bin") +
                                  tensor(folder + "/weights.bin") +
                                  tensor("missing.bin"))),
            PPROF_STATUS_OK);
  Ppi__Onnx__Tensor **tensors = model_.proto->graph->initializer;
  char bytes[8];
  ASSERT_TRUE(ppi_model_bytes(&model_, tensors[0], bytes, 8));
  EXPECT_EQ(std::string(bytes, 8), "abcdefgh");
  for (int i = 1; i < 4; i++)
    EXPECT_FALSE(ppi_model_bytes(&model_, tensors[i], bytes, 8)) << i;
}

TEST_F(CostModelTest, RefusesWhatIsNoModel) {
  EXPECT_EQ(Refused(""), "it is empty");
  EXPECT_EQ(Refused(Number(IR, 8)), "no ONNX model: it has no graph");
  EXPECT_EQ(Refused(Bytes(GRAPH, Bytes(2, "g"))),
            "no ONNX model: it has no opset_import");
  EXPECT_EQ(Refused(std::string("\0\0", 2)),
            "byte 1, in the model: no ONNX model: a field without a number");
  EXPECT_EQ(Refused(Number(GRAPH, 1)),
            "byte 1, in graph[0]: a number in the place of a message");
  EXPECT_EQ(Refused(Number(2, 1) + kOpset),
            "no ONNX model: a field of another kind");
  EXPECT_EQ(ppi_model_open("/nowhere/model.onnx", &model_, &error_),
            PPROF_STATUS_IO);
  EXPECT_STREQ(error_.text, "No such file or directory");
  const std::string folder = path_.substr(0, path_.rfind('/'));
  EXPECT_EQ(ppi_model_open(folder.c_str(), &model_, &error_), PPROF_STATUS_IO);
  EXPECT_STREQ(error_.text, "Is a directory");
}

TEST_F(CostModelTest, NamesTheFieldThatIsCut) {
  const std::string node = Bytes(NODE, Bytes(4, "Relu"));
  std::string graph = Bytes(GRAPH, node + node + Bytes(NODE, Number(4, 5)));
  graph[graph.size() - 2] = 4 << 3 | 2;  // a text of five bytes that are not
  EXPECT_EQ(Refused(graph),
            "byte 22, in graph[0].node[2].op_type[0]: it is cut");
}

TEST_F(CostModelTest, BoundsDepthTextAndRepetition) {
  std::string graph = Bytes(2, "g");
  for (int i = 0; i < 100; i++)
    graph = Bytes(NODE, Bytes(ATTRIBUTE, Bytes(ATTRIBUTE_GRAPH, graph)));
  EXPECT_NE(Refused(Bytes(GRAPH, graph)).find("too deep"), std::string::npos);
  EXPECT_NE(Refused(Bytes(GRAPH, Bytes(2, std::string(70000, 'n'))))
                .find("in graph[0].name[0]: a text or a list that is too long"),
            std::string::npos);
  EXPECT_EQ(Refused(Bytes(GRAPH, "") + Bytes(GRAPH, "")),
            "byte 4, in graph[1]: it is there twice");
}

}  // namespace
