"""The folders of exporters/src, from the ground up."""

EXPORTERS = [
    "//exporters/src/chrome",
    "//exporters/src/file",
    "//exporters/src/flight",
    "//exporters/src/html",
    "//exporters/src/live",
    "//exporters/src/log/format",
    "//exporters/src/log/read",
    "//exporters/src/log/recover",
    "//exporters/src/log/write",
    "//exporters/src/print",
    "//exporters/src/view",
]
