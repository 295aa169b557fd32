"""The schemas of an OpenAPI document that others refer to, each under one name."""

import json
import re
from typing import Final

from braid.operation import Json
from braid.wire import schema_of

_REFERENCE: Final = re.compile(r'"#/\$defs/([^"]+)"')


class Components:
    """The schemas that others refer to. Of two that are called alike the second bears its operation's name."""

    def __init__(self) -> None:
        self.schemas: dict[str, Json] = {}
        self._raw: dict[str, Json] = {}

    def take(self, type_: type, operation: str) -> Json:
        """Return the schema of a type, with what it refers to among the components."""
        schema, named = schema_of(type_)
        names = {name: self._free(name, one, operation) for name, one in named.items()}
        for name, one in named.items():
            self._raw[names[name]] = one
            self.schemas[names[name]] = _moved(one, names)
        return _moved(schema, names)

    def named(self, reference: Json) -> Json:
        """Return the schema that a reference leads to."""
        return self.schemas[reference["$ref"].rpartition("/")[2]]

    def _free(self, name: str, schema: Json, operation: str) -> str:
        return name if self._raw.get(name, schema) == schema else f"{name}_{operation}"


def _moved(schema: Json, names: dict[str, str]) -> Json:
    """Return a schema whose references lead to the document's components."""
    text = _REFERENCE.sub(lambda found: f'"#/components/schemas/{names[found[1]]}"', json.dumps(schema))
    return json.loads(text)
