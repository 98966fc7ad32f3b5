# SPDX-License-Identifier: BSD-2-Clause
"""docs/configuration.md against the schema in docs/bindings: which properties there are, their types,
ranges and defaults.  differences() is a list of what the two do not agree on, a line each."""
import os
import re

import ruamel.yaml

# A table of the document, by its heading, and where in which schema its properties are.
TABLES = {
    "Root": ("faultline,config-1.yaml", ()),
    "`console`": ("faultline,line.yaml", ()),
    "`vms`": ("faultline,vm.yaml", ()),
    "Memory nodes": ("faultline,vm.yaml", ("patternProperties", "^memory(@[0-9a-f]+)?$")),
}
# Documented for all nodes at once, above the tables.
EVERYWHERE = {"status", "$nodename"}
NUMBER = r"(?:0x[0-9a-f]+|\d+)"


def schema_properties(bindings, name, where):
    with open(os.path.join(bindings, name), encoding="utf-8") as f:
        node = ruamel.yaml.YAML(typ="safe", pure=True).load(f)
    for key in where:
        node = node[key]
    # Sub-nodes have a schema of their own, or a table of their own.
    return {n: s for n, s in node["properties"].items() if n not in EVERYWHERE and not (
        isinstance(s, dict) and (s.get("type") == "object" or str(s.get("$ref", "")).startswith("faultline,")))}


def documented(text):
    """By heading: name -> cells of its row."""
    tables, heading = {}, None
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        row = re.match(r"\| `([#a-z][a-z0-9_#-]+)` \|(.*)\|$", line)
        if row:
            tables.setdefault(heading, {})[row[1]] = [c.strip() for c in row[2].split("|")]
    return tables


def kinds(schema):
    """How the type may be written in the document."""
    if schema is True:
        return {"pairs", "number"}
    if "const" in schema:
        return {"word"}
    if "contains" in schema:
        return {"strings"}
    refs = {r.get("$ref", "").rsplit("/", 1)[-1] for r in schema.get("oneOf", [schema])}
    if "string" in refs and len(refs) > 1:
        return {"string or number"}
    if "string-array" in refs:
        return {"paths"}
    if "string" in refs:
        pattern = schema.get("pattern", "")
        return {"word"} if "enum" in schema else {"path"} if pattern.startswith("^[/") else {"string"}
    return {"flag"} if "flag" in refs else {"numbers"} if "uint32-array" in refs else {"number", "address"}


def range_fault(schema, cell):
    """What the Range cell says otherwise than the schema; None: nothing."""
    if schema is True or "oneOf" in schema:
        return None
    words = [w for w in schema.get("enum", []) if isinstance(w, str)]
    if words:
        listed = re.findall(r'"([^"]+)"', cell)
        return None if listed == words else f"{listed}, the schema has {words}"
    length = re.match(r"\^\.\{0,(\d+)\}\$", schema.get("pattern", ""))
    if length:
        return None if length[1] in cell.split() else f"'{cell}', the schema has at most {length[1]} bytes"
    low, high = limits(schema)
    if low is None:
        return None
    said = re.fullmatch(f"({NUMBER}) to ({NUMBER})", cell)
    values = [int(v, 0) for v in said.groups()] if said else [int(v, 0) for v in re.findall(NUMBER, cell)]
    if not said and values == schema.get("enum"):
        return None
    return None if values == [low, high] else f"'{cell}', the schema has {low} to {high}"


def limits(schema):
    ref = schema.get("$ref", "")
    if "enum" in schema:
        return min(schema["enum"]), max(schema["enum"])
    if ref.endswith("string-array"):
        return schema.get("minItems", 1), schema["maxItems"]
    if ref.endswith("uint32-array"):
        schema = schema.get("items", {})
    elif not ref.endswith("uint32"):
        return None, None
    return schema.get("minimum", 0), schema.get("maximum", 0xFFFFFFFF)


def default_fault(schema, cell):
    if not cell:
        return "no default"
    if schema is True or "oneOf" in schema:
        return None
    word = re.fullmatch(r'`"([^"]+)"`', cell)
    if word and word[1] not in schema.get("enum", []):
        return f"the default {cell} is not in the schema"
    low, high = limits(schema) if re.fullmatch(NUMBER, cell) else (None, None)
    if low is not None and not low <= int(cell, 0) <= high:
        return f"the default {cell} is not {low} to {high}"
    return None


def differences(bindings, text):
    tables, found = documented(text), []
    for heading in tables.keys() - TABLES.keys():
        found.append(f"{heading}: has properties, and no schema")
    for heading, (name, where) in TABLES.items():
        schema, rows = schema_properties(bindings, name, where), tables.get(heading, {})
        found += [f"{heading}: {p} is not in the schema" for p in sorted(rows.keys() - schema.keys())]
        for p, s in schema.items():
            if p not in rows:
                # Cells are what every device tree may have.
                found += [f"{heading}: {p} is not documented"] if s is not True or "#" not in p else []
                continue
            kind, span, default = rows[p][:3]
            if not any(re.match(k + r"\b", kind) for k in kinds(s)):
                found.append(f"{heading}: {p}: type {kind}, the schema has {' or '.join(sorted(kinds(s)))}")
            found += [f"{heading}: {p}: {x}" for x in (range_fault(s, span), default_fault(s, default)) if x]
    return found
