"""The folders of sdk/src, from the ground up."""

SDK = [
    "//sdk/src/base",
    "//sdk/src/deliver",
    "//sdk/src/device",
    "//sdk/src/event",
    "//sdk/src/inject",
    "//sdk/src/kernels",
    "//sdk/src/machine",
    "//sdk/src/mark",
    "//sdk/src/names",
    "//sdk/src/recover",
    "//sdk/src/rules",
    "//sdk/src/session",
    "//sdk/src/session/capture",
    "//sdk/src/session/collect",
    "//sdk/src/session/state",
    "//sdk/src/spool",
    "//sdk/src/waits",
    "//sdk/src/window",
]
