"""Reads discovery messages as Home Assistant does: topic, JSON, schema of the platform, unit, classes, and the key of the value."""

import json
import re
import sys

from homeassistant.components.mqtt import binary_sensor, sensor
from homeassistant.components.mqtt.discovery import TOPIC_MATCHER
from homeassistant.components.sensor.const import (
    DEVICE_CLASS_STATE_CLASSES,
    DEVICE_CLASS_UNITS,
)

SCHEMAS = {"sensor": sensor.DISCOVERY_SCHEMA, "binary_sensor": binary_sensor.DISCOVERY_SCHEMA}

with open(sys.argv[1], encoding="utf-8") as file:
    messages = json.load(file)
states = messages["states"]
checked = 0
for topic, payload in messages["configs"].items():
    match = TOPIC_MATCHER.match(re.sub("^homeassistant/", "", topic))
    assert match is not None, topic
    component, node_id, object_id = match.groups()
    assert node_id is not None and object_id is not None, topic
    config = SCHEMAS[component](json.loads(payload))
    unit, device_class, state_class = (
        config.get(key) for key in ("unit_of_measurement", "device_class", "state_class")
    )
    if component == "sensor" and device_class is not None:
        assert unit in DEVICE_CLASS_UNITS[device_class], (topic, device_class, unit)
        if state_class is not None:
            assert state_class in DEVICE_CLASS_STATE_CLASSES[device_class], (topic, device_class, state_class)
    assert config["device"]["identifiers"] and config["unique_id"], topic
    key = re.fullmatch(r"{{ value_json\.([a-z0-9_]+) }}", config["value_template"].template).group(1)
    assert key in json.loads(states[config["state_topic"]]), topic
    checked += 1
print(checked)
