"""Credentials by the security schemes of each operation, and bodies that are lines of text."""

import json
import os

import schemathesis

# By the name of a scheme or of an operation: the headers that it sends.
credentials = json.loads(os.environ["CREDENTIALS"])


@schemathesis.auth(refresh_interval=None)
class Credentials:
    """The operation's own credential, else the first of its schemes for which there is one."""

    def get(self, case, context):
        operation = case.operation.definition.raw
        schemes = [name for choice in operation.get("security", []) for name in choice]
        names = [operation["operationId"], *schemes]
        return next((credentials[name] for name in names if name in credentials), {})

    def set(self, case, data, context):
        case.headers.update(data)


@schemathesis.serializer("text/csv", "application/x-ndjson")
def serialize_lines(context, value):
    return value.encode("utf-8", errors="replace") if isinstance(value, str) else json.dumps(value).encode()
