"""Reads and writes the sensor readings of a Barograph service. Only `read` and `fleet` as frames need pandas."""

from __future__ import annotations

import base64
import http.client
import io
import json
import sqlite3
import time as clock
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

__all__ = ["Barograph", "QueueFull", "Refused", "Written"]

BATCH_READINGS = 1_000
ERROR_BYTES_MAX = 10_000


class Refused(Exception):
    """The service refused a request; `status` is the HTTP status, the text is its answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class QueueFull(Exception):
    """The queue has as many readings as it may have, and the service takes none."""


class _Unavailable(Exception):
    """No answer, or one after which the same request may succeed later."""


@dataclass(frozen=True)
class Written:
    """Result of sending the queue: readings stored now, readings rejected with their reasons, readings still in the queue."""

    stored: int = 0
    rejects: list[dict[str, Any]] = field(default_factory=list)
    pending: int = 0


class Barograph:
    """One service with one credential: a device's name and password, or an API key; none where reads are open.

    `queue` is the path of a SQLite file for readings that are not stored yet. `timeout` is in seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        device: str | None = None,
        password: str | None = None,
        api_key: str | None = None,
        queue: str = ":memory:",
        queue_max: int = 1_000_000,
        timeout: float = 30,
    ) -> None:
        self._url = url.rstrip("/")
        self._device = device
        self._headers: dict[str, str] = {"user-agent": "barograph-python"}
        if api_key is not None:
            self._headers["x-api-key"] = api_key
        elif device is not None and password is not None:
            pair = base64.b64encode(f"{device}:{password}".encode()).decode()
            self._headers["authorization"] = f"Basic {pair}"
        self._queue_max = queue_max
        self._timeout = timeout
        self._queue = sqlite3.connect(queue, isolation_level=None)
        # Autocommit: a reading is on the disk of this machine before it is sent.
        self._queue.execute("CREATE TABLE IF NOT EXISTS pending (id INTEGER PRIMARY KEY AUTOINCREMENT, reading TEXT NOT NULL)")

    def close(self) -> None:
        """Closes the queue. Its file keeps readings that are not stored."""
        self._queue.close()

    def __enter__(self) -> Barograph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pending(self) -> int:
        """How many readings are in the queue."""
        return int(self._queue.execute("SELECT count(*) FROM pending").fetchone()[0])

    def write(
        self,
        device: str | None = None,
        time: datetime | float | None = None,
        **values: float | bool | None,
    ) -> Written:
        """Queues one reading and sends the queue.

        `time` is a datetime with a zone, or seconds since 1970; now where it is missing. Raises Refused, QueueFull, or
        ValueError for a time without a zone.
        """
        name = device if device is not None else self._device
        if name is None:
            raise ValueError("name the device: Barograph(device=…) or write(device=…)")
        if self.pending >= self._queue_max:
            self.flush()
            if self.pending >= self._queue_max:
                raise QueueFull(f"{self._queue_max} readings are not stored yet")
        reading = {"device": name, "timestamp": _milliseconds(time), **values}
        self._queue.execute("INSERT INTO pending (reading) VALUES (?)", (json.dumps(reading, allow_nan=False),))
        return self.flush()

    def flush(self) -> Written:
        """Sends the queue, oldest first, and returns when it is empty or the service takes no more. Raises Refused."""
        stored = 0
        rejects: list[dict[str, Any]] = []
        while True:
            rows = self._queue.execute(
                "SELECT id, reading FROM pending ORDER BY id LIMIT ?", (BATCH_READINGS,)
            ).fetchall()
            if not rows:
                break
            body = f"[{','.join(reading for _, reading in rows)}]".encode()
            try:
                answer = json.loads(self._ask("POST", "/api/log/batch", body))
            except _Unavailable:
                break
            stored += answer["stored"]
            rejects += answer["rejects"]
            self._queue.execute("DELETE FROM pending WHERE id <= ?", (rows[-1][0],))
        return Written(stored, rejects, self.pending)

    def read(
        self,
        device: str,
        days: float = 1,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        step: int | None = None,
        metrics: Sequence[str] | None = None,
    ) -> Any:
        """Readings of a device as a pandas DataFrame, indexed by `timestamp` (UTC), a column for each metric.

        The range is the last `days` before `end`, or begins with `start`; at most 366 days. With `step`, in seconds from 60 to
        86400, a row is a bucket with count, mean, min and max. Raises Refused, or OSError without an answer.
        """
        import pandas

        until = end if end is not None else datetime.now(timezone.utc)
        since = start if start is not None else until - timedelta(days=days)
        asked: dict[str, str] = {"format": "csv", "start": str(_milliseconds(since)), "end": str(_milliseconds(until))}
        if step is not None:
            asked["step"] = str(step)
        if metrics is not None:
            asked["metrics"] = ",".join(metrics)
        path = f"/api/readings/{urllib.parse.quote(device, safe='')}?{urllib.parse.urlencode(asked)}"
        frame = pandas.read_csv(io.BytesIO(self._read(path)), parse_dates=["timestamp"])
        return frame.set_index("timestamp").drop(columns="device", errors="ignore")

    def fleet(self, as_frame: bool = True) -> Any:
        """All devices that the credential may read, with state and last values: a DataFrame, or a list of dictionaries."""
        devices: list[dict[str, Any]] = []
        after: str | None = None
        while True:
            more = "" if after is None else f"&after={urllib.parse.quote(after, safe='')}"
            page = json.loads(self._read(f"/api/fleet?limit=200{more}"))
            devices += page["devices"]
            after = page.get("next")
            if after is None:
                break
        if not as_frame:
            return devices
        import pandas

        return pandas.json_normalize(devices)

    def _read(self, path: str) -> bytes:
        try:
            return self._ask("GET", path)
        except _Unavailable as error:
            raise OSError(f"no answer from {self._url}: {error}") from error

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        headers = dict(self._headers)
        if body is not None:
            headers["content-type"] = "application/json"
        request = urllib.request.Request(f"{self._url}{path}", body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                data: bytes = answer.read()
                return data
        except urllib.error.HTTPError as error:
            with error:
                text = error.read(ERROR_BYTES_MAX).decode(errors="replace")
            if error.code == 429 or error.code >= 500:
                raise _Unavailable(f"{error.code}: {text}") from None
            raise Refused(error.code, text) from None
        except (OSError, http.client.HTTPException) as error:
            raise _Unavailable(str(error)) from None


def _milliseconds(time: datetime | float | None) -> int:
    if time is None:
        return round(clock.time() * 1000)
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise ValueError("a time without a zone: give it one, such as datetime.now(timezone.utc)")
        return round(time.timestamp() * 1000)
    return round(time * 1000)
