"""The folders of tools, from the ground up."""

TOOLS = [
    "//tools/cli",
    "//tools/clocks",
    "//tools/compare",
    "//tools/duckdb",
    "//tools/expect",
    "//tools/export",
    "//tools/fleet",
    "//tools/import",
    "//tools/input",
    "//tools/json",
    "//tools/launch",
    "//tools/live",
    "//tools/spans",
    "//tools/sqlite",
    "//tools/verb",
]
