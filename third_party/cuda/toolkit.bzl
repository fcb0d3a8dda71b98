"""Finds the CUDA toolkit: CUDA_HOME, then the usual place. Never required."""

# The generated BUILD: whether there is a toolkit, as a setting to select() on,
# and the library itself, empty without one.
_SETTING = """\
load("@pprof//third_party/cuda:toolkit.bzl", "found_setting")

package(default_visibility = ["//visibility:public"])

found_setting(
    name = "found",
    build_setting_default = {found},
)

config_setting(
    name = "present",
    flag_values = {{":found": "True"}},
)
"""

# What rules must know while targets are made: paths, "" for what is not there.
_FOUND = """\
NVCC = "{nvcc}"
INCLUDE = "{include}"
"""

_PRESENT = """
cc_library(
    name = "cuda",
    srcs = {archives},
    hdrs = glob([
        "include/*.h",
        "include/*.hpp",
        "include/crt/**",
        "include/nvtx3/**",
    ]),
    includes = ["include"],
    linkopts = [
        "-ldl",
        "-lpthread",
        "-lrt",
    ],
)
"""

_ABSENT = """
cc_library(name = "cuda")
"""

def _found_setting_impl(_ctx):
    return []

found_setting = rule(
    implementation = _found_setting_impl,
    build_setting = config.bool(),
    doc = "Whether the toolkit was found.",
)

def _find(ctx):
    for place in [ctx.os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]:
        if place and ctx.path(place + "/include/cuda_runtime_api.h").exists:
            return ctx.path(place)
    return None

def _archives(ctx, home):
    for folder in ["lib64", "lib"]:
        path = home.get_child(folder).get_child("libcudart_static.a")
        if path.exists:
            ctx.symlink(path, "lib/libcudart_static.a")
            return ["lib/libcudart_static.a"]
    return []

# A compiler without the runtime's archive can build no program.
def _nvcc(home, archives):
    nvcc = home.get_child("bin").get_child("nvcc")
    return str(nvcc) if nvcc.exists and archives else ""

def _cuda_toolkit_impl(ctx):
    home = _find(ctx)
    ctx.file("WORKSPACE", "")
    if not home:
        ctx.file("found.bzl", _FOUND.format(nvcc = "", include = ""))
        ctx.file("BUILD", _SETTING.format(found = False) + _ABSENT)
        return
    ctx.symlink(home.get_child("include"), "include")
    archives = _archives(ctx, home)
    ctx.file("found.bzl", _FOUND.format(
        nvcc = _nvcc(home, archives),
        include = home.get_child("include"),
    ))
    library = _PRESENT.format(archives = repr(archives))
    ctx.file("BUILD", _SETTING.format(found = True) + library)

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
