"""C of .proto files, by protobuf-c's compiler (Debian: protobuf-c-compiler)."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def pprof_proto(src):
    """`NAME.proto` of this folder as the library NAME_proto.

    What uses it includes "FOLDER/NAME.pb-c.h", from the layer's root on, as any
    header of ours. CMake makes the same of every .proto in a folder of
    folders.bzl.

    Args:
      src: the file. A folder that has one names it in its `protos`.
    """
    layer = native.package_name().split("/")[0]
    name = src.rpartition(".")[0]
    native.genrule(
        name = name + "_pb_c",
        srcs = [src],
        outs = [
            name + ".pb-c.c",
            name + ".pb-c.h",
        ],
        cmd = "protoc-c --proto_path={0} --c_out=$(BINDIR)/{0} $<".format(layer),
        message = "Generating C of",
    )
    cc_library(
        name = name + "_proto",
        srcs = [name + ".pb-c.c"],
        hdrs = [name + ".pb-c.h"],
        copts = ["-fvisibility=hidden"],
        linkstatic = True,
        strip_include_prefix = "/" + layer,
        visibility = ["//%s:__subpackages__" % layer, "//tests:__subpackages__"],
        deps = ["//third_party/protobuf_c"],
    )
