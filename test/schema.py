# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Validates output of --json by the schemas in spec/schema.

    python3 test/schema.py schemas           checks the schemas themselves
    python3 test/schema.py COMMAND FILE...   checks that each file is output of this command
    python3 test/schema.py any FILE...       checks each file by the schema that it names

A file may have other text after its objects, as golden files have. Prints a line for each mistake, and fails if there is
one. Members that a schema does not describe are allowed (doc/compatibility.md); --strict reports them as well.
"""
import json
import os
import pathlib
import sys

try:
    import jsonschema
except ImportError:  # another Python comes first in PATH; scripts/setup.sh installs the package of Debian's
    DEBIAN = "/usr/bin/python3"
    if sys.executable == DEBIAN or not os.path.exists(DEBIAN):
        sys.exit("the Python package jsonschema is missing: scripts/setup.sh check")
    os.execv(DEBIAN, [DEBIAN, *sys.argv])

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "spec" / "schema"


def read_schemas():
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}


def close(schema):
    """Returns a schema that allows no other members in objects whose members it lists."""
    if isinstance(schema, list):
        return [close(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


def objects(path):
    """Yields the objects at the beginning of a file."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    decoder = json.JSONDecoder()
    at = 0
    while text[at:at + 1] == "{":
        value, at = decoder.raw_decode(text, at)
        yield value
        at += len(text[at:]) - len(text[at:].lstrip("\n"))


def check_schemas(schemas):
    for name, schema in schemas.items():
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            yield f"{name}.json: {error.message}"
        named = schema.get("properties", {}).get("schema", {}).get("const", "")
        if named != schema.get("$id") or not named.startswith(f"ktrace-{name}/"):
            yield f"{name}.json: the constant of 'schema', $id and the name of the file differ"


def check_file(schemas, command, path, strict):
    found = list(objects(path))
    name = found[0].get("schema", "") if found else ""
    if command == "any":
        command = name.removeprefix("ktrace-").split("/")[0]
    if command not in schemas:
        yield f"{path}: there is no schema '{command}'"
        return
    schema = schemas[command]
    if name != schema["$id"]:
        yield f"{path}: the first object does not name the schema {schema['$id']}, but '{name}'"
    validator = jsonschema.Draft202012Validator(close(schema) if strict else schema)
    for number, value in enumerate(found, 1):
        # only the first object has the members "schema" and "strings"
        for error in validator.iter_errors({**value, "schema": schema["$id"], "strings": "untrusted"}):
            yield f"{path}: object {number}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"


def main():
    words = [word for word in sys.argv[1:] if word != "--strict"]
    schemas = read_schemas()
    if words == ["schemas"]:
        mistakes = list(check_schemas(schemas))
    else:
        mistakes = [line for path in words[1:]
                    for line in check_file(schemas, words[0], pathlib.Path(path), "--strict" in sys.argv)]
    for line in mistakes:
        print(line)
    return 1 if mistakes else 0


sys.exit(main())
