#!/usr/bin/env python3
"""Writes session.jsonl: the recorded session that `concertina demo` plays.

Everything in it is invented: the project, the people, the logs. Each line is one
message in the shape of the Anthropic Messages API, so the file can be imported
too. Large outputs are generated, always the same way; files that the agent edits
are edited here too, so that reading one again shows what a tool would show.

    python3 demo/compose.py
"""

import base64
import json
import math
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent
MESSAGES = []
CALLS = 0


# --- The invented project ----------------------------------------------------

FILES = {}

FILES["tidebook/calendar.py"] = '''\
"""Days of a tide table, in the local time of a harbour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tidebook.predict import Extreme, Predictor
from tidebook.stations import Station

#: Rows are looked for a little before and after the day, so that a high water
#: just past midnight is not lost to rounding.
MARGIN = timedelta(minutes=20)


@dataclass(frozen=True)
class Row:
    """One line of the printed table."""

    local: datetime
    height_m: float
    is_high: bool

    @property
    def clock(self) -> str:
        return self.local.strftime("%H:%M")


@dataclass(frozen=True)
class Day:
    """All extremes of one local day, in order."""

    date: date
    rows: tuple[Row, ...]

    @property
    def range_m(self) -> float:
        heights = [row.height_m for row in self.rows]
        return max(heights) - min(heights) if heights else 0.0


class Calendar:
    """Splits predicted extremes into the local days of a station."""

    def __init__(self, station: Station, predictor: Predictor) -> None:
        self.station = station
        self.predictor = predictor
        self.zone = ZoneInfo(station.zone)

    def day(self, day: date) -> Day:
        start = datetime.combine(day, time.min)
        end = start + timedelta(days=1)
        rows = [self._row(extreme) for extreme in self._extremes(start, end)]
        return Day(day, tuple(row for row in rows if start <= row.local < end))

    def month(self, year: int, month: int) -> list[Day]:
        days = []
        current = date(year, month, 1)
        while current.month == month:
            days.append(self.day(current))
            current += timedelta(days=1)
        return days

    def _extremes(self, start: datetime, end: datetime) -> list[Extreme]:
        offset = self._offset(start)
        return self.predictor.extremes(start - offset - MARGIN, end - offset + MARGIN)

    def _row(self, extreme: Extreme) -> Row:
        local = extreme.utc + self._offset(extreme.utc)
        return Row(local, round(extreme.height_m, 2), extreme.is_high)

    def _offset(self, moment: datetime) -> timedelta:
        # The offset at noon of that day: good enough for a table of a day.
        noon = datetime.combine(moment.date(), time(12), self.zone)
        return noon.utcoffset() or timedelta(0)
'''

FILES["tidebook/predict.py"] = '''\
"""Harmonic prediction: heights, and the extremes between two moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from tidebook.cache import ExtremeCache
from tidebook.stations import Constituent, Station

EPOCH = datetime(2000, 1, 1)
STEP = timedelta(minutes=6)
TOLERANCE_S = 5.0


@dataclass(frozen=True)
class Extreme:
    utc: datetime
    height_m: float
    is_high: bool


class Predictor:
    """Sums a station's constituents. All moments are UTC, without a zone."""

    def __init__(self, station: Station, cache: ExtremeCache | None = None) -> None:
        self.station = station
        self.cache = cache

    def height(self, utc: datetime) -> float:
        hours = (utc - EPOCH).total_seconds() / 3600.0
        return self.station.mean_m + sum(self._term(c, hours) for c in self.station.constituents)

    def extremes(self, start: datetime, end: datetime) -> list[Extreme]:
        if self.cache is not None:
            cached = self.cache.get(self.station.name, start, end)
            if cached is not None:
                return cached
        found = self._search(start, end)
        if self.cache is not None:
            self.cache.put(self.station.name, start, end, found)
        return found

    def _search(self, start: datetime, end: datetime) -> list[Extreme]:
        found = []
        moment = start
        before, here = self.height(moment - STEP), self.height(moment)
        while moment <= end:
            after = self.height(moment + STEP)
            if before < here >= after or before > here <= after:
                found.append(self._refine(moment, here > after or here > before))
            before, here = here, after
            moment += STEP
        return [extreme for extreme in found if start <= extreme.utc <= end]

    def _refine(self, near: datetime, is_high: bool) -> Extreme:
        low, high = near - STEP, near + STEP
        sign = 1.0 if is_high else -1.0
        while (high - low).total_seconds() > TOLERANCE_S:
            third = (high - low) / 3
            if sign * self.height(low + third) < sign * self.height(high - third):
                low += third
            else:
                high -= third
        middle = low + (high - low) / 2
        return Extreme(middle, self.height(middle), is_high)

    @staticmethod
    def _term(c: Constituent, hours: float) -> float:
        return c.amplitude_m * math.cos(math.radians(c.speed_deg_h * hours - c.phase_deg))
'''

FILES["tidebook/stations.py"] = '''\
"""Stations and their harmonic constituents, read from `data/stations.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DATA = Path(__file__).parent / "data" / "stations.json"


@dataclass(frozen=True)
class Constituent:
    name: str
    amplitude_m: float
    phase_deg: float
    speed_deg_h: float


@dataclass(frozen=True)
class Station:
    name: str
    zone: str
    mean_m: float
    constituents: tuple[Constituent, ...]


@lru_cache(maxsize=1)
def _all() -> dict[str, Station]:
    stations = {}
    for entry in json.loads(DATA.read_text(encoding="utf-8")):
        constituents = tuple(Constituent(**c) for c in entry["constituents"])
        stations[entry["name"]] = Station(
            entry["name"], entry["zone"], entry["mean_m"], constituents
        )
    return stations


def station(name: str) -> Station:
    try:
        return _all()[name]
    except KeyError:
        known = ", ".join(sorted(_all()))
        raise LookupError(f"no station {name!r}; known are {known}") from None
'''

FILES["tidebook/cache.py"] = '''\
"""Extremes that were searched before, one file per station."""

from __future__ import annotations

import pickle
from datetime import datetime
from pathlib import Path


class ExtremeCache:
    """Keeps what `Predictor.extremes` found. Keys are exact intervals."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, station: str, start: datetime, end: datetime):
        return self._load(station).get((start, end))

    def put(self, station: str, start: datetime, end: datetime, extremes) -> None:
        entries = self._load(station)
        entries[(start, end)] = extremes
        self._path(station).write_bytes(pickle.dumps(entries))

    def _load(self, station: str) -> dict:
        path = self._path(station)
        return pickle.loads(path.read_bytes()) if path.exists() else {}

    def _path(self, station: str) -> Path:
        return self.folder / f"{station}.pickle"
'''

FILES["tidebook/chart.py"] = '''\
"""The curve of a day, as a small PNG for the printed page."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from tidebook.calendar import Calendar, Day
from tidebook.canvas import Canvas

WIDTH, HEIGHT, PAD = 320, 160, 18
LABEL_WIDTH = 34


def draw(calendar: Calendar, day: Day) -> bytes:
    canvas = Canvas(WIDTH, HEIGHT)
    canvas.frame(PAD)
    start = datetime.combine(day.date, time.min)
    points = []
    for minute in range(0, 24 * 60 + 1, 10):
        moment = start + timedelta(minutes=minute)
        height = calendar.predictor.height(moment)
        points.append((x_of(minute), y_of(height)))
    canvas.line(points)
    for row in day.rows:
        minute = (row.local - start).seconds // 60
        canvas.text(x_of(minute) - LABEL_WIDTH // 2, y_of(row.height_m) - 8, row.clock)
    return canvas.png()


def x_of(minute: int) -> int:
    return PAD + minute * (WIDTH - 2 * PAD) // (24 * 60)


def y_of(height_m: float) -> int:
    return HEIGHT - PAD - int(height_m * (HEIGHT - 2 * PAD) / 6.0)
'''

FILES["tidebook/nightly.py"] = '''\
"""The nightly job: tables and charts of the next fourteen months, all stations."""

from __future__ import annotations

import logging
from datetime import date, timedelta
from pathlib import Path

from tidebook import chart, stations, table
from tidebook.cache import ExtremeCache
from tidebook.calendar import Calendar
from tidebook.predict import Predictor

log = logging.getLogger("tidebook.nightly")
DAYS = 425


def run(out: Path, names: list[str]) -> None:
    cache = ExtremeCache(out / ".cache")
    for name in names:
        station = stations.station(name)
        calendar = Calendar(station, Predictor(station, cache))
        first = date.today()
        for number in range(DAYS):
            day = calendar.day(first + timedelta(days=number))
            (out / name).mkdir(parents=True, exist_ok=True)
            (out / name / f"{day.date}.txt").write_text(table.render(day), encoding="utf-8")
            (out / name / f"{day.date}.png").write_bytes(chart.draw(calendar, day))
        log.info("station %s done", name)
'''

FILES["tests/test_calendar.py"] = '''\
from datetime import date

import pytest

from tidebook.calendar import Calendar
from tidebook.predict import Predictor
from tidebook.stations import station


def calendar(name: str) -> Calendar:
    here = station(name)
    return Calendar(here, Predictor(here))


@pytest.mark.parametrize("name", ["saltmarsh-quay", "north-skerry", "port-lorne"])
def test_a_day_has_three_to_five_extremes(name):
    for number in range(1, 29):
        assert 3 <= len(calendar(name).day(date(2026, 2, number)).rows) <= 5


def test_highs_and_lows_alternate():
    rows = calendar("saltmarsh-quay").day(date(2026, 2, 3)).rows
    assert all(a.is_high != b.is_high for a, b in zip(rows, rows[1:]))


def test_rows_are_in_order():
    rows = calendar("port-lorne").day(date(2026, 2, 17)).rows
    assert [row.local for row in rows] == sorted(row.local for row in rows)
'''

STATIONS = ["saltmarsh-quay", "north-skerry", "port-lorne", "egret-bay", "old-lighthouse", "vessel-sound"]
ZONES = ["Europe/London", "Europe/Oslo", "Europe/Lisbon", "America/Halifax", "Europe/Dublin", "Australia/Hobart"]
CONSTITUENTS = [("M2", 28.9841042), ("S2", 30.0), ("N2", 28.4397295), ("K2", 30.0821373), ("K1", 15.0410686),
                ("O1", 13.9430356), ("P1", 14.9589314), ("Q1", 13.3986609), ("M4", 57.9682084), ("MS4", 58.9841042)]


def noise(*key):
    """A number from 0 to 1 that is the same for the same key."""
    return zlib.crc32(repr(key).encode()) / 0xFFFFFFFF


def stations_json():
    entries = []
    for name, zone in zip(STATIONS, ZONES):
        constituents = [
            {"name": c, "amplitude_m": round(0.04 + 1.6 * noise(name, c, "a") / (1 + at), 4),
             "phase_deg": round(360 * noise(name, c, "p"), 2), "speed_deg_h": speed}
            for at, (c, speed) in enumerate(CONSTITUENTS)
        ]
        entries.append({"name": name, "zone": zone, "mean_m": round(2 + 2 * noise(name), 2), "constituents": constituents})
    return json.dumps(entries, indent=2) + "\n"


FILES["tidebook/data/stations.json"] = stations_json()


def verbose_test_log(failing):
    """What `pytest -vv -o log_cli=true --log-cli-level=DEBUG` prints: far too much."""
    lines = ["=" * 30 + " test session starts " + "=" * 30, "platform linux -- Python 3.12.4, pytest-8.3.2",
             "collected 48 items", ""]
    for test in range(48):
        where = f"tests/test_{['calendar', 'predict', 'chart', 'table'][test % 4]}.py::test_case_{test:02d}"
        lines.append(f"{where}")
        lines.append("-" * 32 + " live log call " + "-" * 32)
        for step in range(22):
            height = 3 + 2.4 * math.sin(test + step / 3)
            lines.append(f"DEBUG    tidebook.predict:predict.py:{44 + step % 9} {STATIONS[test % 6]} "
                         f"2026-03-{1 + step:02d}T{(test * 7 + step) % 24:02d}:{(step * 6) % 60:02d} height={height:.4f} step={step}")
        lines.append(f"{'FAILED' if where in failing else 'PASSED'}  [{(test + 1) * 100 // 48:3d}%]")
    lines += ["", "=" * 34 + " FAILURES " + "=" * 34]
    for where in failing:
        lines += [f"_____ {where.split('::')[1]} _____", "", "    def test_no_clock_time_twice():",
                  '        rows = calendar("saltmarsh-quay").day(date(2026, 3, 29)).rows',
                  ">       assert len({row.clock for row in rows}) == len(rows)",
                  "E       AssertionError: assert 3 == 4", "E        +  where 3 = len({'01:12', '07:31', '19:52'})",
                  "", f"{where.split('::')[0]}:41: AssertionError"]
    lines += ["=" * 25 + " short test summary info " + "=" * 25] + [f"FAILED {where} - AssertionError: assert 3 == 4" for where in failing]
    lines.append(f"==== {len(failing)} failed, {48 - len(failing)} passed in 31.40s ====")
    return "\n".join(lines)


def nightly_log():
    lines = []
    second = 0.0
    for name_at, name in enumerate(STATIONS[:4]):
        for day in range(0, 425, 2):
            took = 0.02 + day * 0.0009 + 0.004 * noise(name, day)
            second += took * 2
            lines.append(f"02:{int(second // 60) % 60:02d}:{second % 60:06.3f} DEBUG tidebook.cache {name} load entries={name_at * 3 + day} "
                         f"bytes={(day + 1) * 2871} took={took:.3f}s miss")
        lines.append(f"02:{int(second // 60) % 60:02d}:{second % 60:06.3f} INFO  tidebook.nightly station {name} done")
    return "\n".join(lines)


# --- The picture -------------------------------------------------------------

def png(overlap):
    """The chart that the story is about: a tide curve with its labels."""
    width, height = 320, 160
    pixels = [bytearray([255] * width) for _ in range(height)]

    def dot(x, y, shade):
        if 0 <= x < width and 0 <= y < height:
            pixels[y][x] = shade

    for x in range(18, 303):
        dot(x, 142, 120)
        y = int(80 - 52 * math.cos((x - 60) / 36.0))
        for thick in range(2):
            dot(x, y + thick, 30)
    for y in range(18, 143):
        dot(18, y, 120)
    labels = [(60, 14), (172, 136), (286, 14)] + ([(66, 16)] if overlap else [(120, 60)])
    for left, top in labels:
        for column in range(30):
            for row in range(7):
                if noise(left, column, row) > 0.5:
                    dot(left + column - 15, top + row, 0)
    raw = b"".join(b"\0" + bytes(row) for row in pixels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def image(overlap):
    data = base64.b64encode(png(overlap)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


# --- Telling the story -------------------------------------------------------

def user(*content):
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    MESSAGES.append({"role": "user", "content": blocks})


def say(text):
    MESSAGES.append({"role": "assistant", "content": [{"type": "text", "text": text}]})


def act(text, *calls):
    """An assistant message with calls, and the message with their results."""
    global CALLS
    blocks = [{"type": "text", "text": text}] if text else []
    results = []
    for name, arguments, (output, failed) in calls:
        CALLS += 1
        call = f"call_{CALLS:03d}"
        blocks.append({"type": "tool_use", "id": call, "name": name, "input": arguments})
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        if failed:
            result["is_error"] = True
        results.append(result)
    MESSAGES.append({"role": "assistant", "content": blocks})
    MESSAGES.append({"role": "user", "content": results})


def read(path):
    numbered = "\n".join(f"{at + 1:6}\t{line}" for at, line in enumerate(FILES[path].splitlines()))
    return "read_file", {"path": path}, (numbered, False)


def run(command, output, failed=False):
    return "run_command", {"command": command}, (output, failed)


def search(pattern, hits):
    return "search_text", {"pattern": pattern, "path": "."}, ("\n".join(hits), False)


def edit(path, old, new):
    arguments = {"path": path, "old_text": old, "new_text": new}
    if FILES[path].count(old) != 1:
        return "edit_file", arguments, (f"error: old_text occurs {FILES[path].count(old)} times in {path}, expected once", True)
    FILES[path] = FILES[path].replace(old, new)
    return "edit_file", arguments, (f"edited {path}: 1 replacement", False)


def hits(pattern):
    return [f"{path}:{at + 1}:{line}" for path, text in sorted(FILES.items())
            for at, line in enumerate(text.splitlines()) if pattern in line and not path.endswith(".json")]


def table(day, rows):
    return f"Saltmarsh Quay, {day}\n" + "\n".join(f"  {clock}  {height:5.2f} m  {kind}" for clock, height, kind in rows)


BROKEN = table("29 March 2026", [("01:12", 5.31, "high"), ("01:12", 5.30, "high"), ("07:31", 0.92, "low"), ("19:52", 1.04, "low")])
MENDED = table("29 March 2026", [("00:12", 5.31, "high"), ("07:31", 0.92, "low"), ("13:38", 5.12, "high"), ("19:52", 1.04, "low")])


def story():
    user("The printed table for Saltmarsh Quay on 29 March 2026 lists high water at 01:12 twice and has none in the "
         "afternoon. The harbour master noticed, and he is not amused. Please find out why and fix it.")
    act("I will look at the project first.",
        ("list_files", {"path": "."}, ("\n".join(sorted(FILES) + ["pyproject.toml", "CHANGELOG.md", "var/nightly.log"]), False)),
        search("timedelta", hits("timedelta")))
    act("The days are made in `calendar.py`; it leans on the predictor and on the stations.",
        read("tidebook/calendar.py"), read("tidebook/predict.py"), read("tidebook/stations.py"))
    act("Let me see the fault with my own eyes.",
        run("python -m tidebook table saltmarsh-quay 2026-03-29", BROKEN),
        run("python -m tidebook table saltmarsh-quay 2026-03-28",
            table("28 March 2026", [("05:40", 1.11, "low"), ("11:52", 5.02, "high"), ("18:02", 1.20, "low")])))
    act("The 28th is right and the 29th is wrong: that is the night on which the clocks go forward. Which zone does the station have?",
        read("tidebook/data/stations.json"))
    act("Europe/London, so the suspicion stands. Where else are zones handled?", search("ZoneInfo", hits("ZoneInfo")),
        search("utcoffset", hits("utcoffset")))
    act("Only in `calendar.py`. I read it again with that in mind.", read("tidebook/calendar.py"))
    act("`_offset` takes the offset at noon for the whole day, so everything between 00:00 and 01:00 UTC on the 29th is moved "
        "by an hour too much. A test first; then the whole suite, loudly.",
        edit("tests/test_calendar.py", "def test_rows_are_in_order():",
             'def test_no_clock_time_twice():\n    rows = calendar("saltmarsh-quay").day(date(2026, 3, 29)).rows\n'
             "    assert len({row.clock for row in rows}) == len(rows)\n\n\ndef test_rows_are_in_order():"))
    act("", run("pytest -vv -o log_cli=true --log-cli-level=DEBUG",
                verbose_test_log(["tests/test_calendar.py::test_case_40"]), True))
    act("The new test fails as it should. Now the fix: real zone arithmetic instead of one offset a day.",
        edit("tidebook/calendar.py", "        local = extreme.utc + self.offset(extreme.utc)\n",
             "        local = extreme.utc.replace(tzinfo=UTC).astimezone(self.zone)\n"))
    act("I misremembered the line. Reading it again before I edit.", read("tidebook/calendar.py"))
    act("", edit("tidebook/calendar.py",
                 "        local = extreme.utc + self._offset(extreme.utc)\n        return Row(local, round(extreme.height_m, 2), extreme.is_high)\n",
                 "        local = extreme.utc.replace(tzinfo=UTC).astimezone(self.zone)\n        return Row(local, round(extreme.height_m, 2), extreme.is_high)\n"))
    act("", run("pytest -q tests/test_calendar.py",
                "E   NameError: name 'UTC' is not defined\n\ntidebook/calendar.py:76: NameError\n5 failed in 0.31s", True))
    act("The import is missing, and `start` and `end` must bear the zone too, or they cannot be compared.",
        edit("tidebook/calendar.py", "from datetime import date, datetime, time, timedelta\n",
             "from datetime import UTC, date, datetime, time, timedelta\n"),
        edit("tidebook/calendar.py", "        start = datetime.combine(day, time.min)\n        end = start + timedelta(days=1)\n",
             "        start = datetime.combine(day, time.min, self.zone)\n        end = datetime.combine(day + timedelta(days=1), time.min, self.zone)\n"))
    act("", edit("tidebook/calendar.py",
                 "        offset = self._offset(start)\n        return self.predictor.extremes(start - offset - MARGIN, end - offset + MARGIN)\n",
                 "        return self.predictor.extremes(_naive_utc(start) - MARGIN, _naive_utc(end) + MARGIN)\n"),
        edit("tidebook/calendar.py",
             "    def _offset(self, moment: datetime) -> timedelta:\n        # The offset at noon of that day: good enough for a table of a day.\n"
             "        noon = datetime.combine(moment.date(), time(12), self.zone)\n        return noon.utcoffset() or timedelta(0)\n",
             "\ndef _naive_utc(moment: datetime) -> datetime:\n    return moment.astimezone(UTC).replace(tzinfo=None)\n"))
    act("", run("pytest -q tests/test_calendar.py", ".......                                          [100%]\n7 passed in 0.44s"),
        run("python -m tidebook table saltmarsh-quay 2026-03-29", MENDED))
    say("Found and fixed. `Calendar._offset` used the offset at noon for the whole day. On 29 March the clocks go forward at "
        "01:00 UTC, so a high water at 00:12 was printed an hour late and the afternoon one fell out of the day. Every moment is now "
        "converted on its own. The table shows 00:12, 07:31, 13:38 and 19:52.")

    user("Good. Now tests for both nights on which clocks change, and for a harbour in another zone: egret-bay and vessel-sound. "
         "In Hobart the seasons are the other way round.")
    act("", read("tests/test_calendar.py"), read("tidebook/data/stations.json"))
    act("Three zones, two nights each.", edit(
        "tests/test_calendar.py", "def test_no_clock_time_twice():\n    rows = calendar(\"saltmarsh-quay\").day(date(2026, 3, 29)).rows\n",
        "CHANGES = [\n    (\"saltmarsh-quay\", date(2026, 3, 29)),\n    (\"saltmarsh-quay\", date(2026, 10, 25)),\n"
        "    (\"egret-bay\", date(2026, 3, 8)),\n    (\"egret-bay\", date(2026, 11, 1)),\n    (\"vessel-sound\", date(2026, 4, 5)),\n"
        "    (\"vessel-sound\", date(2026, 10, 4)),\n]\n\n\n@pytest.mark.parametrize((\"name\", \"day\"), CHANGES)\n"
        "def test_no_clock_time_twice(name, day):\n    rows = calendar(name).day(day).rows\n"))
    act("", run("pytest -q tests/test_calendar.py", "F.....\nE   AssertionError: assert 4 == 5\nE    +  where the clock times are "
                "['00:48', '01:05', '01:05', '07:20', '13:31']\n\ntests/test_calendar.py:37: AssertionError\n1 failed, 11 passed in 0.61s", True))
    act("In October 01:05 comes twice, and rightly so: once in summer time and once an hour later. The test is wrong there, not the "
        "table. Let me look at both files once more before I touch them.", read("tidebook/calendar.py"), read("tests/test_calendar.py"))
    act("The moments must differ, not what the clock shows.",
        edit("tests/test_calendar.py", "    assert len({row.clock for row in rows}) == len(rows)\n",
             "    assert len({row.local.timestamp() for row in rows}) == len(rows)\n"))
    act("", run("pytest -q tests/test_calendar.py", "............                                     [100%]\n12 passed in 0.58s"))
    say("Twelve tests pass, six of them for nights on which clocks change. One thing to know: in autumn an hour comes twice, so a table "
        "may rightly show the same clock time twice. You may want to print the zone's abbreviation beside it.")

    user("Yes, do print it. And this is the chart of the same day: two labels lie on top of each other.", image(True))
    act("The picture shows it well. I read the drawing code.", read("tidebook/chart.py"), read("tidebook/calendar.py"))
    act("Two faults: labels are never moved apart, and the curve is drawn at UTC while its labels are local.",
        search("row.clock", hits("row.clock")), run("python -m tidebook chart saltmarsh-quay 2026-03-29 --explain",
        "\n".join(f"label {at}: clock={clock} x={60 + at * 3} y={14 + at} width=34 collides_with={at - 1 if at else None}"
                  for at, clock in enumerate(["00:12", "01:12", "07:31", "13:38"]))))
    act("", edit("tidebook/chart.py", "        height = calendar.predictor.height(moment)\n",
                 "        height = calendar.predictor.height(_naive_utc(moment))\n"),
        edit("tidebook/chart.py", "    start = datetime.combine(day.date, time.min)\n", "    start = datetime.combine(day.date, time.min, calendar.zone)\n"))
    act("Now the labels: each one goes below the last where they would touch.",
        edit("tidebook/chart.py", "    for row in day.rows:\n", "    free_from = 0\n    for row in day.rows:\n"),
        edit("tidebook/calendar.py", '        return self.local.strftime("%H:%M")\n', '        return self.local.strftime("%H:%M %Z")\n'))
    act("", run("python -m tidebook chart saltmarsh-quay 2026-03-29 -o var/chart.png", "wrote var/chart.png (1,412 bytes)"))
    CALLS_BEFORE = CALLS + 1
    MESSAGES.append({"role": "assistant", "content": [{"type": "tool_use", "id": f"call_{CALLS_BEFORE:03d}", "name": "view_image",
                                                      "input": {"path": "var/chart.png"}}]})
    MESSAGES.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"call_{CALLS_BEFORE:03d}", "content": [image(False)]}]})
    globals()["CALLS"] = CALLS_BEFORE
    say("The labels are apart now, the curve and its labels use the same time, and every row names its zone (`00:12 GMT`).")

    user("Much better. Something else: the nightly job took 40 minutes last night instead of 2. The log is in var/nightly.log. What is slow?")
    act("I read the log.", ("read_file", {"path": "var/nightly.log"}, (nightly_log(), False)))
    act("Every line is a cache miss, and loading takes longer from day to day. The cache itself, then.",
        read("tidebook/cache.py"), read("tidebook/nightly.py"), read("tidebook/predict.py"))
    act("Each `get` reads and unpickles everything that the station ever had, and each `put` writes it all again: the work grows with "
        "the square of the days. Keys are exact intervals, and since my fix these differ by the margin, so none is ever hit. I measure "
        "before I change it.",
        run("python -m cProfile -s cumtime -m tidebook nightly --days 60 saltmarsh-quay | head -40",
            "\n".join(f"{60 * 4 - at * 3:8d}    {3.2 / (at + 1):6.3f}    {0.01:6.3f}   {41.0 / (at + 1):7.3f}   {0.2:6.3f} "
                      f"tidebook/{name}.py:{20 + at * 7}({function})" for at, (name, function) in enumerate(
                          [("nightly", "run"), ("calendar", "day"), ("predict", "extremes"), ("cache", "get"), ("cache", "_load"),
                           ("cache", "put"), ("predict", "_search"), ("predict", "height"), ("predict", "_term"), ("chart", "draw")] * 3))))
    act("As expected: `_load` is nearly all of it. One load per station, one write at the end, and whole UTC days as keys.",
        edit("tidebook/cache.py", "        return self._load(station).get((start, end))\n",
             "        return self._loaded(station).get((start, end))\n"),
        edit("tidebook/cache.py", "        entries = self._load(station)\n        entries[(start, end)] = extremes\n        self._path(station).write_bytes(pickle.dumps(entries))\n",
             "        self._loaded(station)[(start, end)] = extremes\n\n    def save(self) -> None:\n        for station, entries in self._entries.items():\n"
             "            self._path(station).write_bytes(pickle.dumps(entries))\n\n    def _loaded(self, station: str) -> dict:\n"
             "        return self._entries.setdefault(station, self._load(station))\n"))
    act("", edit("tidebook/cache.py", "        self.folder.mkdir(parents=True, exist_ok=True)\n",
                 "        self.folder.mkdir(parents=True, exist_ok=True)\n        self._entries: dict[str, dict] = {}\n"),
        edit("tidebook/nightly.py", '        log.info("station %s done", name)\n', '        log.info("station %s done", name)\n    cache.save()\n'))
    act("`setdefault` would evaluate `_load` each time. I check what I wrote.", read("tidebook/cache.py"), read("tidebook/nightly.py"))
    act("", edit("tidebook/cache.py", "        return self._entries.setdefault(station, self._load(station))\n",
                 "        if station not in self._entries:\n            self._entries[station] = self._load(station)\n        return self._entries[station]\n"))
    act("", run("python -m tidebook nightly --days 425 --all", "\n".join(f"INFO  tidebook.nightly station {name} done" for name in STATIONS)
                + "\n6 stations, 2,550 tables, 1 min 48 s"))
    say("It was the cache: it read and rewrote a whole file for every single day, so its cost grew with the square of the days. It now "
        "loads once per station and writes once at the end. 1 min 48 s for all six stations.")

    user("Are there other places that use naive datetimes for local time? Please look through everything.")
    act("", search("datetime.combine", hits("datetime.combine")), search("date.today", hits("date.today")), search(".seconds", hits(".seconds")))
    act("Four candidates. I read them together.", read("tidebook/chart.py"), read("tidebook/nightly.py"), read("tidebook/calendar.py"),
        read("tidebook/predict.py"))
    act("`nightly.py` asks for today's date on the machine, not at the station, and `chart.py` takes `.seconds` of a difference, which "
        "is wrong by an hour on such a day.",
        edit("tidebook/nightly.py", "        first = date.today()\n", "        first = datetime.now(calendar.zone).date()\n"),
        edit("tidebook/chart.py", "        minute = (row.local - start).seconds // 60\n",
             "        minute = int((row.local.timestamp() - start.timestamp()) // 60)\n"))
    act("", edit("tidebook/nightly.py", "from datetime import date, timedelta\n", "from datetime import datetime, timedelta\n"))
    act("The whole suite once more, loudly, to be sure.", run("pytest -vv -o log_cli=true --log-cli-level=DEBUG", verbose_test_log([])))
    say("Two more places, both mended: the nightly job used the machine's date, and the chart lost an hour on days of 23 or 25 hours. "
        "`predict.py` is naive on purpose: it is UTC throughout and says so.")

    user("Great work. Write a changelog entry, then tell me in three sentences what the harbour master should be told.")
    act("", run("git diff --stat", " CHANGELOG.md            |  0\n tests/test_calendar.py  | 18 ++++++++++---\n tidebook/cache.py       | 16 +++++++---\n"
                " tidebook/calendar.py    | 17 ++++++------\n tidebook/chart.py       |  9 ++++---\n tidebook/nightly.py     |  6 +++--"))
    FILES["CHANGELOG.md"] = "# Changelog\n\n## Unreleased\n"
    act("", edit("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- Tables and charts are right on days on which clocks change.\n"
                 "- Rows name their zone.\n- The nightly job takes two minutes again.\n"))
    say("The table of 29 March was wrong because the program moved the whole day to summer time although the clocks change at one in the "
        "morning. It now converts every tide on its own, and tests watch over both such nights in three time zones. Corrected tables for "
        "the next fourteen months were made tonight.")


def main():
    story()
    lines = [json.dumps(message, ensure_ascii=False, separators=(",", ":")) for message in MESSAGES]
    (HERE / "session.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
