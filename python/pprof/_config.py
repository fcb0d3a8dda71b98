# SPDX-License-Identifier: Apache-2.0
"""Reads what `start` takes, and makes the configuration of a child with files of its own."""
import json
import os
import re

_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./%+~-]*")
# Of YAML, comments and texts in quotes; then what is in brackets, innermost first.
_HIDDEN = re.compile(
    r"""(?<!\S)\#.*|(?<![^\s\[{,:=])(?:"(?:\\.|[^"\\])*"|'(?:''|[^'])*')""")
_BRACKETS = re.compile(r"[{\[][^{}\[\]]*[}\]]")
_FIRST_KEY = re.compile(r"^( *)[^\s:][^:\n]*:(?!\S)", re.M)
# Templates of files that only one process may write; a child has its number in the name.
_FILES = {"output": "pprof.%h.%p.pplog", "flight_recorder.output": "", "metrics.file": ""}


def as_yaml(value):
    """YAML in its short form: JSON, with durations such as `5ms` unquoted."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (as_yaml(key), as_yaml(item))
                                  for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(as_yaml, value))
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def as_config(config):
    """(path, None), (None, text), or (None, None) for none."""
    if config is None:
        return None, None
    if isinstance(config, dict):
        return None, "".join("%s: %s\n" % (as_yaml(key), as_yaml(item))
                             for key, item in config.items())
    if isinstance(config, str) and ("\n" in config or ": " in config or config.startswith("{")):
        return None, config
    return os.fsdecode(config), None


def leads_into_proc(path):
    """True: `path` leads to a descriptor's number (/dev/stdin, /dev/fd/3), later perhaps another
    file."""
    for _ in range(40):
        folder = os.path.dirname(path)
        if path.startswith("/proc/") or (os.path.realpath(folder) + "/").startswith("/proc/"):
            return True
        try:
            path = os.path.join(folder, os.readlink(path))
        except OSError:
            return False
    return False


def _blank(match):
    return (" " if match[0][0] == "#" else "_") * len(match[0])


def _keys(text):
    """The outermost keys of YAML, each with its text."""
    shown = _HIDDEN.sub(_blank, text)
    if shown.lstrip()[:1] == "{":
        shown = shown.replace("{", ",", 1)
        shown = shown[:shown.rfind("}")]
        key, between = re.compile(r",\s*([^,:]*?)\s*:"), " \r\n,"
    else:
        first = _FIRST_KEY.search(shown)
        key = re.compile(r"^%s([^\s:][^:\n]*?) *:(?!\S)" % (first[1] if first else ""), re.M)
        between = " \r\n"
    found = 1
    while found:
        shown, found = _BRACKETS.subn(_blank, shown)
    keys = list(key.finditer(shown))
    ends = [following.start() for following in keys[1:]] + [len(shown)]
    return {text[one.start(1):one.end(1)].strip("\"'"):
            text[one.end():len(shown[:end].rstrip(between))]
            for one, end in zip(keys, ends)}


def settings():
    """PPROF_SET, with the keys of a mapping as single settings."""
    words, found, at = os.environ.get("PPROF_SET", ""), {}, 0
    shown = _HIDDEN.sub(_blank, words)
    for end in [match.start() for match in re.finditer(";", shown)] + [len(words)]:
        name, _, value = (part.strip() for part in words[at:end].partition("="))
        inner = _keys(value) if value.startswith("{") else {"": value}
        found.update((name + "." * bool(key) + key, item) for key, item in inner.items())
        at = end + 1
    found.pop("", None)
    return found


def as_settings(settings_):
    return ";".join("%s=%s" % setting for setting in settings_.items())


def of_child(folder, path, text):
    """PPROF_SET for a child of a process that has started with this configuration in `folder`."""
    if text is None and path:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    told, made = _keys(text or ""), settings()
    for name, default in _FILES.items():
        outer, _, inner = name.partition(".")
        value = told.get(outer, "")
        wanted = (made.get(name) or name == "output" and os.environ.get("PPROF_OUTPUT") or
                  (_keys(value).get(inner) if inner else value) or "").strip().strip("\"'")
        wanted = wanted or default
        if wanted and "%p" not in wanted:
            wanted = "%s.%%p%s" % os.path.splitext(wanted)
        if wanted:
            wanted = os.path.join(folder.replace("%", "%%"), wanted)
            made[name] = json.dumps(wanted, ensure_ascii=False)
    made.update(exports="[]", report="none")
    if not any(name.partition(".")[0] == "flight_recorder" for name in (*told, *made)):
        made["log"] = "true"  # its parent's may go to the exports alone
    return as_settings(made)
