"""The package in clients/python against a service: round.py write|outage|read URL DEVICE PASSWORD QUEUE."""

import datetime
import sys
import time

from barograph import Barograph, QueueFull, Refused

step, url, device, password, queue = sys.argv[1:]
started = datetime.datetime(2026, 5, 1, tzinfo=datetime.timezone.utc)


def at(minute: int) -> datetime.datetime:
    return started + datetime.timedelta(minutes=minute)


if step == "write":
    with Barograph(url, device=device, password=password, queue=queue) as porch:
        written = porch.write(time=at(0), temperature=20, humidity=48, co2=412)
        assert (written.stored, written.rejects, written.pending) == (1, [], 0), written
        written = porch.write(time=at(1), humidity=480)
        assert written.stored == 0 and len(written.rejects) == 1 and written.pending == 0, written
        try:
            porch.write(time=datetime.datetime(2026, 5, 1), temperature=20)
            raise AssertionError("a time without a zone was taken")
        except ValueError:
            pass
    with Barograph(url, device=device, password="wrong") as stranger:
        try:
            stranger.write(temperature=20)
            raise AssertionError("a wrong password was taken")
        except Refused as refused:
            assert refused.status == 401, refused
        assert stranger.pending == 1
if step == "outage":
    with Barograph(url, device=device, password=password, queue=queue, queue_max=1500, timeout=5) as porch:
        for minute in range(1, 1501):
            assert porch.write(time=at(minute), temperature=minute / 100).pending == minute
        try:
            porch.write(time=at(1501), temperature=1)
            raise AssertionError("the queue has no bound")
        except QueueFull:
            pass
if step == "read":
    with Barograph(url, device=device, password=password, queue=queue) as porch:
        assert porch.pending == 1500
        written = porch.flush()
        assert (written.stored, written.rejects, written.pending) == (1500, [], 0), written
        for _ in range(6_000):
            try:
                frame = porch.read(device, start=at(0), end=at(2000))
                if len(frame) == 1501:
                    break
            except OSError:
                pass  # QuestDB is starting
            time.sleep(0.1)
        assert len(frame) == 1501, frame
        assert str(frame.index.tz) == "UTC" and frame.index[0] == at(0), frame.index
        assert list(frame["temperature"].tail(2)) == [14.99, 15.0], frame
        assert frame["co2"].iloc[0] == 412 and frame["co2"].isna().sum() == 1500, frame
        hours = porch.read(device, start=at(0), end=at(2000), step=3600, metrics=["temperature"])
        assert hours["temperature_count"].sum() == 1501 and len(hours) == 26, hours
        fleet = porch.fleet()
        assert list(fleet["device"]) == [device], fleet
        assert porch.fleet(as_frame=False)[0]["device"] == device
