"""All rules of this tree come through here.

One place holds the flags and features that every target shares, so that moving
to another Bazel is this file plus MODULE.bazel.
"""

load("@cuda_toolkit//:found.bzl", "INCLUDE", "NVCC")
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_import", "cc_library", "cc_test")

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
]

# Internal headers are written "folder/name.h", and found by that form alone:
# our yaml.h must not stand before libyaml's. A target may include the headers of
# its deps: Bazel refuses others that the compiler read, and clang's
# layering_check refuses those of indirect deps.
_PUBLIC_INCLUDES = [
    "-Isdk/include",
    "-Iexporters/include",
    "-Iconfig/include",
]

_INTERNAL_INCLUDES = [
    "-iquotesdk/src",
    "-iquotesdk/backends",
    "-iquoteexporters/src",
    "-iquoteconfig/src",
    "-iquotetools",
    "-iquotetests/support",
]

_COPTS = _WARNINGS + ["-D_GNU_SOURCE", "-fvisibility=hidden"] + _PUBLIC_INCLUDES

_FEATURES = ["layering_check"]

_LINKOPTS = ["-Wl,--as-needed"]

def pprof_cc_library(name, copts = [], features = [], **kwargs):
    """A library of ours: symbols are hidden.

    An archive alone: what is hidden is not seen from one shared part to another.
    """
    cc_library(
        name = name,
        copts = _COPTS + _INTERNAL_INCLUDES + copts,
        features = _FEATURES + features,
        linkstatic = True,
        **kwargs
    )

# The roots above each root, itself included. tests/code/walls.txt lists which of
# their folders may use which.
_ABOVE = {
    "config": ["config", "tools"],
    "exporters": ["exporters", "config", "tools"],
    "sdk": ["sdk", "exporters", "config", "tools"],
    "tools": ["tools"],
}

def pprof_folder(deps = [], made = [], **kwargs):
    """All of a folder as one library of its name.

    Those above see it, and tests; which of them use it is in
    tests/code/walls.txt. `made` are sources that a rule writes.
    """
    root = native.package_name().split("/")[0]
    sources = native.glob([
        "*.c",
        "*.cc",
    ])
    headers = native.glob(["*.h"])
    native.filegroup(
        name = "sources",
        srcs = sources + headers + native.glob(["*.proto"]),
        visibility = ["//:__subpackages__"],
    )
    pprof_cc_library(
        name = native.package_name().split("/")[-1],
        srcs = sources + made,
        hdrs = headers,
        visibility = [
            "//%s:__subpackages__" % user
            for user in _ABOVE[root] + ["bench", "tests"]
        ],
        deps = deps,
        **kwargs
    )

def pprof_cc_binary(name, copts = [], linkopts = [], features = [], **kwargs):
    """A program of ours, linked statically with our libraries."""
    cc_binary(
        name = name,
        copts = _COPTS + _INTERNAL_INCLUDES + copts,
        features = _FEATURES + features,
        linkopts = _LINKOPTS + linkopts,
        **kwargs
    )

def pprof_cc_example(name, copts = [], linkopts = [], features = [], **kwargs):
    """A program that sees the public headers only, as a user's does."""
    cc_binary(
        name = name,
        copts = _COPTS + copts,
        features = _FEATURES + features,
        linkopts = _LINKOPTS + linkopts,
        **kwargs
    )

def pprof_cc_test(
        name,
        copts = [],
        linkopts = [],
        features = [],
        deps = [],
        size = "small",
        **kwargs):
    """A GoogleTest program, linked statically with our libraries.

    One that dies leaves the stacks of its threads in its log, and a core.
    """
    cc_test(
        name = name,
        size = size,
        copts = _COPTS + _INTERNAL_INCLUDES + copts,
        features = _FEATURES + features,
        linkopts = _LINKOPTS + linkopts,
        linkstatic = True,
        deps = deps + [
            "//tests:files_main",
            "//tests:last_words",
        ],
        **kwargs
    )

def _name_of(src):
    return src.split("/")[-1].rpartition(".")[0]

def _unity(name, srcs):
    native.genrule(
        name = name + "_source",
        testonly = True,
        srcs = srcs,
        outs = [name + ".cc"],
        cmd = "$(location //tools:unity.py) $(SRCS) > $@",
        tools = ["//tools:unity.py"],
    )

def pprof_cc_tests(
        name,
        srcs,
        deps,
        hdrs = [],
        copts = [],
        tags = [],
        overrides = {},
        size = "medium",
        **kwargs):
    """The tests of one area as one program, `NAME_tests`.

    gtest's headers take the compiler longer than most tests. Each file runs in a
    process of its own (tests/support/files_main.cc), and is a suite of its own
    name, so that `bazel test //tests:log_reader_test` finds it.

    Args:
      name: of the area.
      srcs: the sources, `noun_test.cc`.
      hdrs: headers beside them, which any of them may include.
      deps: what every one of them depends on. Overrides' come before, as the linker
        takes the first definition.
      copts: for all of them.
      tags: of all of them.
      overrides: attributes of single tests, by name. Those of like tags share a
        program; one with other attributes has its own.
      size: of each program.
      **kwargs: attributes of all of them.
    """
    groups = {}
    for src in srcs:
        attrs = overrides.get(_name_of(src), {})
        extra = "_".join(attrs.get("tags", [])).replace("-", "_")
        group = "_".join([name] + ([extra] if extra else []))
        if [key for key in attrs if key != "tags"]:
            group = src
        groups.setdefault(group, []).append(src)
    for group, members in groups.items():
        attrs = dict(kwargs)
        attrs.update(overrides.get(_name_of(members[0]), {}))
        folders = {src.rpartition("/")[0]: None for src in members}
        program = _name_of(members[0])
        sources = members
        if len(members) > 1:
            program = group + "_tests"
            sources = [program + ".cc"]
            _unity(program, members)
            for src in members:
                # A wildcard takes what a suite names, too.
                native.test_suite(
                    name = _name_of(src),
                    tags = [tag for tag in tags if tag == "manual"],
                    tests = [program],
                )
        pprof_cc_test(
            name = program,
            srcs = sources + hdrs + attrs.pop("srcs", []),
            copts = copts + attrs.pop("copts", []) + [
                "-iquotetests/" + folder
                for folder in folders
            ],
            size = size,
            tags = tags + attrs.pop("tags", []),
            deps = attrs.pop("deps", []) + deps,
            **attrs
        )

def pprof_shared_library(
        name,
        soname,
        version_script,
        archive,
        deps,
        **kwargs):
    """A whole archive as a shared library that exports what its script says."""
    cc_binary(
        name = name,
        additional_linker_inputs = [
            archive,
            version_script,
        ],
        linkopts = _LINKOPTS + [
            "-Wl,-soname," + soname,
            "-Wl,--version-script,$(location %s)" % version_script,
            "-Wl,--exclude-libs,libz.a:libyaml.a",
            "-Wl,-z,defs",
            # Threads that marked call the library at their end.
            "-Wl,-z,nodelete",
            "-Wl,--whole-archive,$(location %s),--no-whole-archive" % archive,
        ],
        linkshared = True,
        deps = deps,
        **kwargs
    )

def pprof_injected_library(
        name,
        soname,
        version_script,
        library,
        copts = [],
        **kwargs):
    """A shared library that programs are made to load.

    It stays, finds `library` beside itself, and calls itself first, should
    there be a second copy. Linked by the file: as a dependency it would bring
    Bazel's folders into the run path.
    """
    cc_binary(
        name = name,
        additional_linker_inputs = [
            library,
            version_script,
        ],
        copts = _COPTS + _INTERNAL_INCLUDES + copts,
        features = _FEATURES,
        linkopts = _LINKOPTS + [
            "-Wl,-soname," + soname,
            "-Wl,--version-script,$(location %s)" % version_script,
            "-Wl,-z,defs",
            "-Wl,-z,nodelete",
            "-Wl,-Bsymbolic",
            "-Wl,--enable-new-dtags",
            "-Wl,-rpath,'$$ORIGIN'",
            "$(location %s)" % library,
        ],
        linkshared = True,
        **kwargs
    )

def pprof_cc_import(**kwargs):
    """A library that is already built."""
    cc_import(**kwargs)

def pprof_sh_test(size = "small", given = [], args = [], data = [], **kwargs):
    """A test that is a script; `given` are data whose paths are its arguments."""
    native.sh_test(
        size = size,
        args = ["$(location %s)" % file for file in given] + args,
        data = given + data,
        **kwargs
    )

def pprof_py_test(tags = [], **kwargs):
    """A test that is an executable Python file, standard library only.

    Not py_test: its launcher asks for `python`, which Debian does not have.
    """
    pprof_sh_test(tags = tags + ["no-sanitizer"], **kwargs)

def pprof_test_sources(patterns):
    """For the test of sizes."""
    native.filegroup(
        name = "test_sources",
        testonly = True,
        srcs = native.glob(patterns),
        visibility = ["//tests:__pkg__"],
    )

def system_library(name, linkopts, **kwargs):
    """A library that the system provides, headers included."""
    cc_library(name = name, linkopts = linkopts, **kwargs)

def _archive_objects(dep):
    files = []
    for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                files.append(archive)
    return files

def _static_archive_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    archives = []
    for dep in ctx.attr.deps:
        archives += _archive_objects(dep)
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    lines = ["create " + out.path]
    lines += ["addlib " + archive.path for archive in archives]
    ctx.actions.write(script, "\n".join(lines + ["save", "end", ""]))
    ctx.actions.run_shell(
        outputs = [out],
        inputs = archives + [script],
        command = 'rm -f "$1" && ar -M < "$2" && ranlib -D "$1"',
        arguments = [out.path, script.path],
        mnemonic = "MergeArchives",
    )
    return [DefaultInfo(
        files = depset([out]),
        runfiles = ctx.runfiles(files = [out]),
    )]

pprof_static_archive = rule(
    implementation = _static_archive_impl,
    doc = "One archive with the objects of its deps and all they depend on.",
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)

# Machine code for one generation, and PTX from which the driver makes it for
# every later one and for some before.
_NVCC_FLAGS = [
    "-std=c++17",
    "-O2",
    "-gencode=arch=compute_90,code=sm_90",
    "-gencode=arch=compute_75,code=compute_75",
    "-cudart=static",
    "-Werror=all-warnings",
    "-Xcompiler=" + ",".join(_WARNINGS + ["-fvisibility=hidden", "-fPIC"]),
] + _PUBLIC_INCLUDES

def _cuda_object_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".o")
    args = ctx.actions.args()
    args.add_all(_NVCC_FLAGS)
    args.add("-c", ctx.file.src)
    args.add("-o", out)
    ctx.actions.run(
        executable = NVCC,
        arguments = [args],
        inputs = depset(
            [ctx.file.src] + ctx.files.hdrs,
            transitive = [
                dep[CcInfo].compilation_context.headers
                for dep in ctx.attr.deps
            ],
        ),
        outputs = [out],
        mnemonic = "CudaCompile",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]))]

_cuda_object = rule(
    implementation = _cuda_object_impl,
    doc = "One CUDA source, compiled.",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = [".h"]),
        "src": attr.label(allow_single_file = [".cu"]),
    },
)

def _cuda_program(rule, name, srcs, deps, testonly = False, **kwargs):
    rest = [src for src in srcs if not src.endswith(".cu")]
    for src in srcs:
        if src.endswith(".cu"):
            compiled = "%s_%s" % (name, src.split("/")[-1][:-len(".cu")])
            _cuda_object(
                name = compiled,
                testonly = testonly,
                src = src,
                hdrs = [src for src in rest if src.endswith(".h")],
                deps = deps,
            )
            rest.append(compiled)
    rule(
        name = name,
        testonly = testonly,
        srcs = rest,
        deps = deps + [
            "//third_party/cuda",
            "//third_party/libc:stdcxx_archive",
        ],
        **kwargs
    )

# Without a CUDA toolkit these make no target. The targets need the C library
# alone, so they are built here and run on a machine with a GPU.

def pprof_cuda_binary(name, srcs, deps, **kwargs):
    """A program of ours with CUDA sources among its sources."""
    if NVCC:
        _cuda_program(pprof_cc_binary, name, srcs, deps, **kwargs)

def pprof_cuda_example(name, srcs, deps, **kwargs):
    """A CUDA program that sees the public headers only, as a user's does."""
    if NVCC:
        _cuda_program(pprof_cc_example, name, srcs, deps, **kwargs)

def cuda_targets(labels):
    """These labels, or none where there is no CUDA toolkit."""
    return labels if NVCC else []

# The folder of the CUDA headers for tests that run compilers; none, or one.
CUDA_INCLUDE = [INCLUDE] if INCLUDE else []
