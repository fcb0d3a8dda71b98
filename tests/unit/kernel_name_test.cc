// SPDX-License-Identifier: Apache-2.0
//
// Names of kernels as frameworks have them, and what is left of each.
#include "view/fit.h"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string Short(const char *name) {
  ppi_page page = {};
  ppi_kernel_name_short(&page, name);
  std::string text(page.bytes, page.len);
  ppi_page_clear(&page);
  return text;
}

TEST(KernelNameTest, PlainNamesStay) {
  EXPECT_EQ("gemm", Short("gemm"));
  EXPECT_EQ("nvjet_sm90_hsh_8x64_64x16_4x1_v_bz_bias_TNN",
            Short("nvjet_sm90_hsh_8x64_64x16_4x1_v_bz_bias_TNN"));
  EXPECT_EQ("<other>", Short("<other>"));
  EXPECT_EQ("?", Short("?"));
}

TEST(KernelNameTest, NamespacesReturnsAndParametersGo) {
  EXPECT_EQ("add", Short("void mine::add(float const*, int)"));
  EXPECT_EQ("softmax_warp_forward",
            Short("void (anonymous namespace)::softmax_warp_forward<float, "
                  "float, float, 10, true, false>(float*, int, bool)"));
  EXPECT_EQ("fmha_cutlassF_f32",
            Short("fmha_cutlassF_f32(MemEff::Kernel<float, cutlass::arch::"
                  "Sm80, true>::Params)"));
}

TEST(KernelNameTest, TheArgumentThatIsANameStays) {
  EXPECT_EQ("Kernel2<cutlass_80_simt_sgemm_256x128>",
            Short("void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128>("
                  "cutlass_80_simt_sgemm_256x128::Params)"));
  EXPECT_EQ("vectorized_elementwise_kernel<CUDAFunctor_add>",
            Short("void at::native::vectorized_elementwise_kernel<4, at::"
                  "native::CUDAFunctor_add<float>, std::array<char*, 3ul> >("
                  "int)"));
  EXPECT_EQ("multi_tensor_apply_kernel<BinaryOpScalarFunctor>",
            Short("void at::native::(anonymous namespace)::multi_tensor_apply_"
                  "kernel<at::native::(anonymous namespace)::TensorListMetadata"
                  "<1>, at::native::(anonymous namespace)::"
                  "BinaryOpScalarFunctor<float, 1, 1, 0>, float>(int)"));
}

TEST(KernelNameTest, OfNestedOnesTheInnermost) {
  EXPECT_EQ("elementwise_kernel<direct_copy_kernel_cuda>",
            Short("void at::native::elementwise_kernel<128, 2, at::native::gpu_"
                  "kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::"
                  "TensorIteratorBase&)::{lambda()#3}::operator()() const::"
                  "{lambda(float)#1}>(int)::{lambda(int)#1}>(int)"));
  EXPECT_EQ("reduce_kernel<sum_functor>",
            Short("void at::native::reduce_kernel<128, 4, at::native::ReduceOp<"
                  "float, at::native::func_wrapper_t<float, at::native::sum_"
                  "functor<float, float, float>::operator()(at::TensorIterator&"
                  ")::{lambda(float, float)#1}>, unsigned int> >(int)"));
  EXPECT_EQ("vectorized_elementwise_kernel<MulFunctor>",
            Short("void at::native::vectorized_elementwise_kernel<4, at::native"
                  "::BinaryFunctor<float, float, float, at::native::binary_"
                  "internal::MulFunctor<float> >, std::array<char*, 3ul> >()"));
}

// Cut or odd, whatever comes of it is text of the name.
TEST(KernelNameTest, BracketsThatDoNotClose) {
  EXPECT_EQ("a<c>", Short("a<b<c<1"));
  EXPECT_EQ("x", Short("x<("));
  EXPECT_EQ(")>", Short(")>"));
  EXPECT_EQ("", Short(""));
}

}  // namespace
