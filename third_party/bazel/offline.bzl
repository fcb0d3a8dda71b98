"""Repositories that Debian's Bazel 4.2.3 would otherwise download.

That build prints no version, which is how it is recognised; newer Bazels bring
or fetch their own rules.
"""

_CC = [
    "cc_binary",
    "cc_import",
    "cc_library",
    "cc_proto_library",
    "cc_test",
    "cc_toolchain",
    "cc_toolchain_suite",
]

_JAVA = [
    "java_binary",
    "java_import",
    "java_library",
    "java_package_configuration",
    "java_plugin",
    "java_runtime",
    "java_test",
    "java_toolchain",
]

def _native_rules_impl(ctx):
    ctx.file("WORKSPACE", "")
    ctx.file(ctx.attr.package + "/BUILD", "")
    ctx.file(
        ctx.attr.package + "/defs.bzl",
        "".join(["%s = native.%s\n" % (r, r) for r in ctx.attr.rules]),
    )

_native_rules = repository_rule(
    implementation = _native_rules_impl,
    attrs = {
        "package": attr.string(mandatory = True),
        "rules": attr.string_list(mandatory = True),
    },
)

def _no_coverage_impl(ctx):
    ctx.file("WORKSPACE", "")
    ctx.file("BUILD", """\
filegroup(
    name = "coverage_report_generator",
    visibility = ["//visibility:public"],
)
""")

_no_coverage = repository_rule(implementation = _no_coverage_impl)

def offline_rules():
    """Declares the rule repositories where Bazel has no version."""
    if native.bazel_version:
        return
    _native_rules(name = "rules_cc", package = "cc", rules = _CC)
    _native_rules(name = "rules_java", package = "java", rules = _JAVA)
    _no_coverage(name = "remote_coverage_tools")
