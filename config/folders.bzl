"""The folders of config/src, from the ground up."""

CONFIG = [
    "//config/src/control",
    "//config/src/schema",
    "//config/src/start",
    "//config/src/yaml",
]
