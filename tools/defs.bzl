"""All rules of this tree come through here.

One place holds the flags and features that every target shares, so that moving
to another Bazel is this file plus MODULE.bazel.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_import", "cc_library", "cc_test")

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wshadow",
]

# Internal headers are written "name.h", and found by that form alone: our
# yaml.h must not stand before libyaml's. Which of them a target may include is
# decided by its deps: the sandbox shows no others, and clang's layering_check
# refuses indirect ones.
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
    "-iquotetests/support",
]

_COPTS = _WARNINGS + ["-D_GNU_SOURCE", "-fvisibility=hidden"] + _PUBLIC_INCLUDES

_FEATURES = ["layering_check"]

_LINKOPTS = ["-Wl,--as-needed"]

def pprof_cc_library(name, copts = [], features = [], **kwargs):
    """A library of ours: warnings are errors, symbols are hidden."""
    cc_library(
        name = name,
        copts = _COPTS + _INTERNAL_INCLUDES + copts,
        features = _FEATURES + features,
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
    """A GoogleTest program, linked statically with our libraries."""
    cc_test(
        name = name,
        size = size,
        copts = _COPTS + _INTERNAL_INCLUDES + copts,
        features = _FEATURES + features,
        linkopts = _LINKOPTS + linkopts,
        linkstatic = True,
        deps = deps + ["//third_party/googletest:gtest_main"],
        **kwargs
    )

def pprof_cc_tests(srcs, deps, hdrs = [], overrides = {}, **kwargs):
    """One pprof_cc_test for each source, named after its file.

    Args:
      srcs: the sources, `noun_test.cc`.
      hdrs: headers beside them, which any of them may include.
      deps: what every one of them depends on.
      overrides: attributes of single tests, by name.
      **kwargs: attributes of all of them.
    """
    for src in srcs:
        name = src.split("/")[-1].rpartition(".")[0]
        attrs = dict(kwargs)
        attrs.update(overrides.get(name, {}))
        pprof_cc_test(
            name = name,
            srcs = [src] + hdrs + attrs.pop("srcs", []),
            deps = deps + attrs.pop("deps", []),
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
            "-Wl,--whole-archive,$(location %s),--no-whole-archive" % archive,
        ],
        linkshared = True,
        deps = deps,
        **kwargs
    )

def pprof_cc_import(**kwargs):
    """A library that is already built."""
    cc_import(**kwargs)

def pprof_sh_test(size = "small", **kwargs):
    """A test that is a shell script."""
    native.sh_test(size = size, **kwargs)

def pprof_py_test(size = "small", tags = [], **kwargs):
    """A test that is an executable Python file, standard library only.

    Not py_test: its launcher asks for `python`, which Debian does not have.
    """
    native.sh_test(
        size = size,
        tags = tags + ["no-sanitizer"],
        **kwargs
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
