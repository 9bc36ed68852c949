"""A program that uses the generated client: round.py URL TOKEN."""

import base64
import datetime
import importlib
import pkgutil
import sys
import time

import barograph_client
from barograph_client import AuthenticatedClient, Client
from barograph_client.api.admin import admin_add_devices
from barograph_client.api.logger import log_batch, log_reading, read_latest_of_device
from barograph_client.models import (
    AdminNewDevice,
    BatchAnswer,
    IssuedPassword,
    LatestOfDevice,
    LoggerError,
    NewReading,
    Stored,
)

attempts_max = 600

for module in pkgutil.walk_packages(barograph_client.__path__, "barograph_client."):
    importlib.import_module(module.name)

url, token = sys.argv[1:]
device = "porch"

admin = AuthenticatedClient(base_url=url, token=token)
issued = admin_add_devices.sync(client=admin, body=AdminNewDevice(name=device))
assert isinstance(issued, IssuedPassword), issued

credential = base64.b64encode(f"{device}:{issued.password}".encode()).decode()
sensor = AuthenticatedClient(base_url=url, token=credential, prefix="Basic")
reading = NewReading(device=device, temperature=21.4, humidity=48, pressure=1013.2)
reading["co2"] = 412
stored = log_reading.sync(client=sensor, body=reading)
assert isinstance(stored, Stored), stored

hot = NewReading(device=device, temperature=1000)
refused = log_reading.sync(client=sensor, body=hot)
assert isinstance(refused, LoggerError), refused

hour_ago = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
earlier = [
    NewReading(device=device, temperature=20 + minute, humidity=48, pressure=1013.2, timestamp=moment.isoformat())
    for minute in range(3)
    for moment in [hour_ago + datetime.timedelta(minutes=minute)]
]
batch = log_batch.sync(client=sensor, body=earlier)
assert isinstance(batch, BatchAnswer), batch
assert (batch.stored, batch.rejected) == (3, 0), batch

# Reads answer 503 until QuestDB is up.
anybody = Client(base_url=url)
for _ in range(attempts_max):
    latest = read_latest_of_device.sync(device, client=anybody)
    if isinstance(latest, LatestOfDevice):
        break
    time.sleep(0.1)
assert isinstance(latest, LatestOfDevice), latest
temperature = latest.values.temperature
assert temperature is not None and temperature.v == 21.4, latest
