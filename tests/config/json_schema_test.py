#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of configurations: json_schema_test.py PPROF_REPORT, from the
repository's root. What is checked in is what the tool prints; the ready files
and the corpus of good ones validate against it, and of the bad ones those do
not whose fault a schema can express. YAML and the schema are read by programs
of this test's own, so that it needs no package; where the package jsonschema is
there, it is asked, too."""
import glob
import json
import os
import re
import subprocess
import sys
import unittest

TOOL = None

# Faults that lie between keys, or in the YAML itself: the loader's affair.
NOT_IN_SCHEMA = {
    "every_below_duration", "windows_overlap", "windows_overlap_in_time",
    "steps_backwards", "marker_backwards", "on_demand_false",
    "repeat_without_every", "time_31_february", "rule_without_unit",
    "rule_misspelt", "recorder_too_large", "recorder_of_default_size",
    "timer_only_and_capture", "keep_without_size", "limit_below_segments",
    "nothing_to_write", "path_window_missing", "path_window_of_run", "size_overflow",
    "exports_of_one_path", "export_over_the_log",
    "duration_overflow"
}
NOT_READ = {
    "key_twice", "two_documents", "anchor", "alias", "tag", "anchor_bomb",
    "deep", "not_closed", "tabs", "control_character", "nul", "not_utf8",
    "overlong", "utf16", "log", "many_values"
}


class Yaml:
    """The part of YAML that the corpus uses, to Python's values. Text that is
    plain becomes a number or a truth value where it looks like one."""

    def __init__(self, text):
        lines = []
        for line in text.lstrip("\ufeff").splitlines():
            line = self.without_comment(line)
            if line.strip() and line.strip() not in ("---", "..."):
                lines.append(line)
        self.lines = lines
        self.at = 0

    @staticmethod
    def without_comment(line):
        quote = None
        for i, letter in enumerate(line):
            if quote:
                if letter == quote and line[i - 1] != "\\":
                    quote = None
            elif letter in "\"'" and line[:i].rstrip()[-1:] in ("", ":", "[",
                                                               "{", ",", "-"):
                quote = letter
            elif letter == "#" and (i == 0 or line[i - 1] in " \t"):
                return line[:i].rstrip()
        return line.rstrip()

    def document(self):
        if not self.lines:
            return None
        if self.lines[0].lstrip()[0] in "{[":
            return self.flow(" ".join(self.lines))
        value = self.block(self.indent())
        if self.at != len(self.lines):
            raise ValueError("cannot read: " + self.lines[self.at])
        return value

    def indent(self):
        line = self.lines[self.at]
        return len(line) - len(line.lstrip(" "))

    def block(self, indent):
        is_list = self.lines[self.at].lstrip().startswith("- ")
        out = [] if is_list else {}
        while self.at < len(self.lines) and self.indent() == indent:
            line = self.lines[self.at].strip()
            if is_list:
                inner = indent + 2
                self.lines[self.at] = " " * inner + line[2:].lstrip()
                if re.match(r"[\w.]+:( |$)", line[2:].lstrip()):
                    out.append(self.block(inner))
                else:
                    out.append(self.value(line[2:].lstrip(), inner))
                continue
            key, _, rest = line.partition(":")
            out[self.scalar(key)] = self.value(rest.strip(), indent)
        return out

    def value(self, text, indent):
        self.at += 1
        if text in (">-", "|-"):
            parts = []
            while self.at < len(self.lines) and self.indent() > indent:
                parts.append(self.lines[self.at].strip())
                self.at += 1
            return " ".join(parts)
        if not text:
            if self.at < len(self.lines) and self.indent() > indent:
                return self.block(self.indent())
            return None
        # A flow value may go on in further lines.
        while text[0] in "[{" and not self.is_closed(text):
            text += " " + self.lines[self.at].strip()
            self.at += 1
        return self.flow(text) if text[0] in "[{" else self.scalar(text)

    @staticmethod
    def is_closed(text):
        try:
            Yaml.flow(text)
            return True
        except IndexError:
            return False

    @staticmethod
    def flow(text):
        value, end = Yaml.flow_at(text, 0)
        if text[end:].strip():
            raise ValueError("cannot read: " + text[end:])
        return value

    @staticmethod
    def flow_at(text, at):
        while text[at] == " ":
            at += 1
        if text[at] in "[{":
            is_map = text[at] == "{"
            out = {} if is_map else []
            at += 1
            while True:
                while text[at] in " ,":
                    at += 1
                if text[at] in "]}":
                    return out, at + 1
                item, at = Yaml.flow_at(text, at)
                if not is_map:
                    out.append(item)
                    continue
                while text[at] in " :":
                    at += 1
                out[item], at = Yaml.flow_at(text, at)
        if text[at] in "\"'":
            end = at + 1
            while text[end] != text[at]:
                end += 2 if text[end] == "\\" and text[at] == '"' else 1
            return Yaml.scalar(text[at:end + 1]), end + 1
        end = at
        while text[end] not in ",]}" and not (text[end] == ":" and
                                              text[end + 1] == " "):
            end += 1
        return Yaml.scalar(text[at:end].strip()), end

    @staticmethod
    def scalar(text):
        if text[:1] == '"':
            return json.loads(text)
        if text[:1] == "'":
            return text[1:-1].replace("''", "'")
        if text in ("true", "false"):
            return text == "true"
        if re.fullmatch(r"-?[0-9]+", text):
            return int(text)
        if re.fullmatch(r"-?[0-9]+\.[0-9]+", text):
            return float(text)
        return text


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}


def faults(schema, value, root, path="$"):
    """Where `value` is not what `schema` says; the words that ours uses."""
    known = {
        "$schema", "title", "description", "default", "type", "enum", "minimum",
        "maximum", "pattern", "minLength", "maxLength", "properties",
        "additionalProperties", "required", "items", "minItems", "maxItems",
        "uniqueItems", "maxProperties", "oneOf", "$ref", "$defs"
    }
    unknown = set(schema) - known
    assert not unknown, unknown
    if "$ref" in schema:
        return faults(root["$defs"][schema["$ref"].split("/")[-1]], value, root,
                      path)
    found = []
    kind = schema.get("type")
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if kind == "integer" and not is_number:
        return [path + ": no integer"]
    if kind in TYPES and not isinstance(value, TYPES[kind]):
        return [path + ": no " + kind]
    if "enum" in schema and value not in schema["enum"]:
        found.append(path + ": none of " + str(schema["enum"]))
    if is_number and not (schema.get("minimum", value) <= value <= schema.get(
            "maximum", value)):
        found.append(path + ": out of range")
    if isinstance(value, str):
        if not re.search(schema.get("pattern", ""), value):
            found.append(path + ": does not match")
        if not (schema.get("minLength", 0) <= len(value) <= schema.get(
                "maxLength", len(value))):
            found.append(path + ": its length")
    if isinstance(value, list):
        found += list_faults(schema, value, root, path)
    if isinstance(value, dict):
        found += map_faults(schema, value, root, path)
    if "oneOf" in schema:
        fits = sum(not faults(one, value, root, path)
                   for one in schema["oneOf"])
        if fits != 1:
            found.append("%s: fits %d of oneOf" % (path, fits))
    return found


def list_faults(schema, value, root, path):
    found = []
    if not (schema.get("minItems", 0) <= len(value) <= schema.get(
            "maxItems", len(value))):
        found.append(path + ": number of items")
    if schema.get("uniqueItems") and len(set(value)) != len(value):
        found.append(path + ": twice")
    for i, item in enumerate(value):
        found += faults(schema.get("items", {}), item, root,
                        "%s[%d]" % (path, i))
    return found


def map_faults(schema, value, root, path):
    found = []
    if len(value) > schema.get("maxProperties", len(value)):
        found.append(path + ": too many")
    for name in schema.get("required", []):
        if name not in value:
            found.append(path + ": without " + name)
    rest = schema.get("additionalProperties", {})
    for name, item in value.items():
        below = schema.get("properties", {}).get(name, rest)
        if below is False:
            found.append(path + ": unknown key " + name)
        elif below is not True:
            found += faults(below, item, root, path + "." + name)
    return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def corpus(pattern):
    paths = sorted(glob.glob(pattern))
    assert paths, pattern
    return [(os.path.splitext(os.path.basename(path))[0], path)
            for path in paths]


class JsonSchemaTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(
            subprocess.check_output([TOOL, "config", "schema"]))

    def faults(self, path):
        value = Yaml(read(path)).document()
        return [] if value is None else faults(self.schema, value, self.schema)

    def test_it_is_a_schema_of_2020_12(self):
        self.assertEqual("https://json-schema.org/draft/2020-12/schema",
                         self.schema["$schema"])
        self.assertFalse(self.schema["additionalProperties"])
        try:
            import jsonschema
        except ImportError:
            return
        checker = jsonschema.Draft202012Validator
        checker.check_schema(self.schema)
        for _, path in corpus("examples/config/*.yaml"):
            checker(self.schema).validate(Yaml(read(path)).document())

    def test_every_default_is_valid(self):

        def walk(schema, path):
            if "default" in schema:
                self.assertEqual([], faults(schema, schema["default"],
                                            self.schema, path))
            for name, below in schema.get("properties", {}).items():
                walk(below, path + "." + name)
            for below in schema.get("oneOf", []):
                walk(below, path)

        walk(self.schema, "$")
        walk(self.schema["$defs"]["window"], "$.capture")

    def test_ready_files_name_it_and_validate(self):
        for name, path in corpus("examples/config/*.yaml"):
            first = read(path).split("\n")[0]
            if name != "pipeline":
                self.assertEqual("# yaml-language-server: $schema="
                                 "profile.schema.json", first, path)
            self.assertEqual([], self.faults(path), path)

    def test_good_ones_validate(self):
        for _, path in corpus("tests/data/yaml/good/*.yaml"):
            self.assertEqual([], self.faults(path), path)

    def test_bad_ones_do_not(self):
        for name, path in corpus("tests/data/yaml/bad/*.yaml"):
            if name in NOT_READ:
                continue
            if name in NOT_IN_SCHEMA:
                self.assertEqual([], self.faults(path), path)
            else:
                self.assertNotEqual([], self.faults(path), path)

    def test_the_tool_agrees(self):
        for folder, code in (("good", 0), ("bad", 2)):
            for _, path in corpus("tests/data/yaml/%s/*.yaml" % folder):
                done = subprocess.run([TOOL, "config", "validate", path],
                                      stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
                self.assertEqual(code, done.returncode, path)
                said = done.stdout if code == 0 else done.stderr
                self.assertEqual(1, said.count(b"\n"), path)


if __name__ == "__main__":
    TOOL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
