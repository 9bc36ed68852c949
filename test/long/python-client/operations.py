"""Calls each operation of the generated client once: operations.py URL CREDENTIALS. Prints the statuses.

Each status has to be in the contract, and the model of an answer has to write the JSON that it was made of.
"""

import datetime
import enum
import importlib
import inspect
import io
import json
import pkgutil
import re
import sys
import types
import typing
import urllib.request
from collections import Counter

import attrs
import barograph_client.api
import barograph_client.models
import httpx
from barograph_client import Client
from barograph_client.types import File, Unset

url, credentials = sys.argv[1], json.loads(sys.argv[2])
document = json.load(urllib.request.urlopen(f"{url}/openapi.json"))
models = vars(barograph_client.models)
now = datetime.datetime.now(datetime.UTC)
# A stream does not end.
endless = {"read_events"}
texts = {
    "metric": "temperature",
    "metrics": "temperature",
    "group_by": "tag",
    "start": (now - datetime.timedelta(days=1)).isoformat(),
    "end": now.isoformat(),
    "email": "grace@example.com",
    "presets": "24h",
}


def value_of(hint: typing.Any, name: str) -> typing.Any:
    """A value of a type, by the name of a parameter where any text will not do."""
    choices = typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return value_of(next((one for one in choices if one not in (Unset, type(None))), None), name)
    if typing.get_origin(hint) is list:
        return [value_of(choices[0], name)]
    if hint is str:
        return texts.get(name, "porch")
    if hint is File:
        return File(payload=io.BytesIO(b""))
    if hint in (datetime.datetime, datetime.date):
        return now if hint is datetime.datetime else now.date()
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return next(iter(hint))
    if hasattr(hint, "from_dict"):
        hints = typing.get_type_hints(hint, localns=models)
        return hint(**{one.name: value_of(hints[one.name], one.name) for one in attrs.fields(hint) if is_required(one)})
    return {int: 1, float: 1.5, bool: True}.get(hint)


def is_required(field: typing.Any) -> bool:
    return field.init and field.default is attrs.NOTHING


def arguments_of(function: typing.Any) -> dict[str, typing.Any]:
    hints = typing.get_type_hints(function, localns=models)
    parameters = inspect.signature(function).parameters.values()
    wanted = [one for one in parameters if one.name != "client" and one.default is inspect.Parameter.empty]
    return {one.name: value_of(hints[one.name], one.name) for one in wanted}


def same(written: typing.Any, sent: typing.Any) -> bool:
    """Moments may be written in another form."""
    if isinstance(sent, dict) and isinstance(written, dict):
        return written.keys() == sent.keys() and all(same(written[key], sent[key]) for key in sent)
    if isinstance(sent, list) and isinstance(written, list):
        return len(written) == len(sent) and all(map(same, written, sent))
    if isinstance(sent, str) and isinstance(written, str) and written != sent:
        return datetime.datetime.fromisoformat(written) == datetime.datetime.fromisoformat(sent)
    return bool(written == sent)


def credential_of(operation: dict[str, typing.Any]) -> dict[str, str]:
    schemes = [name for choice in operation["security"] for name in choice]
    return next((credentials[name] for name in [operation["operationId"], *schemes] if name in credentials), {})


modules = {
    module.name.rsplit(".", 1)[-1]: module.name
    for module in pkgutil.walk_packages(barograph_client.api.__path__, "barograph_client.api.")
    if not module.ispkg
}
# What is removed is read first.
order = ["get", "put", "post", "patch", "delete"]
operations = [(method, one) for path in document["paths"].values() for method, one in path.items()]
statuses: Counter[int] = Counter()
faults = []
for method, operation in sorted(operations, key=lambda each: order.index(each[0])):
    name = operation["operationId"]
    try:
        function = importlib.import_module(modules[re.sub("_+", "_", name)]).sync_detailed
        timeout = httpx.Timeout(3 if name in endless else 60)
        client = Client(
            base_url=url, headers=credential_of(operation), timeout=timeout, raise_on_unexpected_status=True
        )
        answer = function(client=client, **arguments_of(function))
        statuses[int(answer.status_code)] += 1
        if hasattr(answer.parsed, "to_dict") and not same(answer.parsed.to_dict(), json.loads(answer.content)):
            faults.append(f"{name}: {answer.parsed.to_dict()} is not {answer.content.decode()}")
    except httpx.ReadTimeout:
        if name not in endless:
            faults.append(f"{name}: no answer")
    except Exception as error:
        faults.append(f"{name}: {error!r}")

print(json.dumps(statuses))
sys.exit("\n".join(faults) if faults else 0)
