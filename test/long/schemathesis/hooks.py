"""Credentials by the security schemes of each operation, and bodies that are lines of text."""

import json
import os

import schemathesis

# The headers of each scheme, or of an operation.
credentials = json.loads(os.environ["CREDENTIALS"])


@schemathesis.auth(refresh_interval=None)
class Credentials:
    """The operation's credential, otherwise the first available one of its schemes."""

    def get(self, case, context):
        operation = case.operation.definition.raw
        schemes = [name for choice in operation.get("security", []) for name in choice]
        names = [operation["operationId"], *schemes]
        return next((credentials[name] for name in names if name in credentials), {})

    def set(self, case, data, context):
        case.headers.update(data)


protobuf = "application/x-protobuf"


@schemathesis.serializer("text/csv", "application/x-ndjson", protobuf, f"{protobuf};proto=prometheus.WriteRequest")
def serialize_lines(context, value):
    if isinstance(value, bytes):
        return value
    return value.encode("utf-8", errors="replace") if isinstance(value, str) else json.dumps(value).encode()
