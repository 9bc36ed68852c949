"""The figures of stats_data by pandas, scipy, statsmodels and astropy: what one would write without the service.

Takes orders as lines of JSON on standard input and answers each with a line: the milliseconds of every part, and the
figures under the names that stats_data gives them. Where there is a choice it takes the quicker way: Parquet in place
of CSV (a third of the time) or the PostgreSQL port, and transforms of values and mask in place of statsmodels'
`acf(adjusted=True, missing="conservative")`, which gives the same numbers in some two hundred times the time; `slow_acf`
in an order measures that one too. Only the strongest cycle is sought, no quality flags and no text are made.
"""

import io
import json
import sys
import time
import urllib.parse
import urllib.request
from itertools import combinations

import numpy as np
import pandas as pd
from astropy.timeseries import LombScargle
from scipy import fft, stats
from scipy.optimize import minimize_scalar
from statsmodels.stats.multitest import multipletests
from statsmodels.tsa.seasonal import STL
from statsmodels.tsa.stattools import acf

# Resolutions of the bench's sensors.
QUANTA = {"temperature": 0.01, "humidity": 0.1, "pressure": 0.01, "battery_voltage": 0.001, "battery_percentage": 1}
NORMAL_975 = 1.959963984540054
SECOND = 1e6
DAY = 86_400 * SECOND
WINDOWS = {"24h": 1, "7d": 7, "30d": 30}
PAIRS_MIN = 20
NO_VERDICT = {"p_value": None, "ci95": None, "spearman_p_value": None, "significant": None}
NO_LAG = {"lag_seconds": None, "lag_r": None}


def fetch(order):
    """The readings as a frame with one row each, by time; an hour more, since a gap may reach into the window."""
    sql = (
        f"SELECT ts, {', '.join(order['metrics'])} FROM readings WHERE device = '{order['symbol']}'"
        f" AND ts > {order['from_us'] - 3_600_000_000} AND ts <= {order['through_us']}"
    )
    query = urllib.parse.urlencode({"query": sql, "fmt": "parquet"})
    request = urllib.request.Request(f"{order['questdb']}/exp?{query}")
    request.add_header("Authorization", order["authorization"])
    with urllib.request.urlopen(request) as response:
        frame = pd.read_parquet(io.BytesIO(response.read()))
    times = pd.to_datetime(frame.pop("ts"), utc=True)
    return frame.set_index(pd.DatetimeIndex(times)).astype(float)


def with_dew_point(frame):
    temperature, humidity = frame["temperature"], frame["humidity"]
    gamma = np.log(humidity / 100) + 17.62 * temperature / (243.12 + temperature)
    return frame.assign(dew_point=243.12 * gamma / (17.62 - gamma))


def micros_of(index):
    """Whole microseconds, which doubles hold exactly; in seconds their differences would be off in the tenth digit."""
    return index.as_unit("us").asi8.astype(float)


def cadence(times):
    between = np.diff(times[times > times[-1] - DAY])
    return np.median(between[between <= 1.5 * np.quantile(between, 0.1)])


def bridged(grid, reach):
    """Straight lines over gaps between cells that are at most so many cells apart."""
    place = pd.Series(np.arange(len(grid), dtype=float), grid.index)
    apart = grid.apply(lambda x: place.where(x.notna()).bfill() - place.where(x.notna()).ffill())
    return grid.where(~(apart <= reach), grid.interpolate(limit_area="inside"))


def thinned_count(times, distance):
    """Where nothing comes too soon nothing has to be dropped, and the quick way is the right one."""
    assert (np.diff(times) >= distance).all()
    return len(times)


def reliability(times, now, expected):
    gap_min = 2.5 * expected
    times = times[times < now]
    starts, ends = times, np.append(times[1:], now)
    is_gap = ends - starts > gap_min
    starts, ends = starts[is_gap], ends[is_gap]
    windows = {}
    for name, days in WINDOWS.items():
        start = max(now - days * DAY, times[0])
        inside = ends > start
        down = np.clip(ends[inside] - np.maximum(starts[inside] + expected, start), 0, None).sum()
        received = thinned_count(times[times >= start], 0.5 * expected)
        windows[name] = {
            "uptime": 1 - down / (now - start),
            "completeness": min(1, received / ((now - start) / expected)),
            "received": received,
            "gap_count": int(inside.sum()),
            "downtime_seconds": down / SECOND,
        }
    recent = np.diff(times[times >= now - 30 * DAY])
    recent = recent[recent <= gap_min]
    return {
        "windows": windows,
        "gap_threshold_seconds": gap_min / SECOND,
        "jitter_seconds": 1.4826 * np.median(np.abs(recent - np.median(recent))) / SECOND,
        "jitter_p95_seconds": np.quantile(np.abs(recent - expected), 0.95) / SECOND,
        "gaps_total": windows["30d"]["gap_count"],
    }


def aggregates(frame, times, gap_min):
    quantiles = frame.quantile([0.05, 0.5, 0.95])
    figures = frame.agg(["count", "mean", "min", "max", "std"])
    result = {}
    for name in frame:
        seen = frame[name].notna().to_numpy()
        values = frame[name].to_numpy()[seen]
        length = np.diff(times[seen])
        length[length > gap_min] = 0
        result[name] = {
            **figures[name].to_dict(),
            "tw_mean": (length * (values[:-1] + values[1:]) / 2).sum() / length.sum(),
            "p05": quantiles[name][0.05],
            "median": quantiles[name][0.5],
            "p95": quantiles[name][0.95],
        }
    return result


def lag_sums(products, size, count):
    return fft.irfft(products, size)[:count]


def autocorrelation(x, step):
    """With gaps, by transforms of values, squares and mask: the cells at either end count as the others have partners."""
    n = len(x)
    lags = int(min(168 * 3600 / step, n / 3))
    seen = ~np.isnan(x)
    size = fft.next_fast_len(n + lags, real=True)
    values = fft.rfft(np.where(seen, x - x[seen].mean(), 0), size)
    mask = fft.rfft(seen.astype(float), size)
    pairs = np.rint(lag_sums(np.abs(mask) ** 2, size, lags + 1))
    sums = lag_sums(np.abs(values) ** 2, size, lags + 1)
    k = np.arange(lags + 1)
    scale = sums[0] if seen.all() else pair_scales(x, seen, mask, pairs, size)
    r = np.where(pairs < PAIRS_MIN, np.nan, sums / scale)
    white = NORMAL_975 * np.sqrt((n - k) / (n * pairs))
    bartlett = np.sqrt(1 + 2 * np.concatenate([[0, 0], np.cumsum(np.nan_to_num(r[1:-1]) ** 2)]))
    per_hour = max(1, round(3600 / step))
    shown = np.concatenate([k[:per_hour], k[per_hour::per_hour]])
    return {
        "n": n,
        "n_observed": int(seen.sum()),
        "acf": r[shown],
        "band95": (white * bartlett)[shown],
        "band95_white": white[shown],
        "n_pairs": pairs[shown],
    }


def pair_scales(x, seen, mask, pairs, size):
    squares = np.where(seen, (x - x[seen].mean()) ** 2, 0)
    spectrum = fft.rfft(squares, size)
    lags = len(pairs)
    earlier = lag_sums(np.conj(spectrum) * mask, size, lags)
    later = lag_sums(np.conj(mask) * spectrum, size, lags)
    ends = lambda cells: np.concatenate([[0], np.cumsum(cells)[: lags - 1]])
    edge = lambda cells, there: ends(cells) * pairs / np.maximum(seen.sum() - ends(there), 1)
    last = edge(squares[::-1], seen[::-1].astype(float))
    first = edge(squares, seen.astype(float))
    return np.sqrt((earlier + last) * (later + first))


def slow_autocorrelation(x, step):
    lags = int(min(168 * 3600 / step, len(x) / 3))
    return acf(x, adjusted=True, missing="conservative", nlags=lags) * (1 - np.arange(lags + 1) / len(x))


def beyond_day(cells, step, zone):
    """Less the mean of the time of day by cells: with five values or more of each there is nothing to interpolate."""
    local = cells.index.tz_convert(zone)
    by_time = cells.groupby((local.hour * 3600 + local.minute * 60 + local.second) // step)
    assert by_time.count().to_numpy().min() >= 5
    return cells - by_time.transform("mean")


def cross_correlations(cells, step, zone):
    """Every pair's lag with the largest r within a day beyond the mean day, from one transform of each series and each mask."""
    raw, cells = cells, beyond_day(cells, step, zone)
    n = len(cells)
    lags = 86_400 // step
    size = fft.next_fast_len(n + lags, real=True)
    spectra = {}
    for name in cells:
        x = cells[name].to_numpy()
        seen = ~np.isnan(x)
        scaled = np.where(seen, (x - x[seen].mean()) / x[seen].std(), 0)
        spectra[name] = fft.rfft(scaled, size), fft.rfft(seen.astype(float), size)
    k = np.arange(-lags, lags + 1)
    result = {}
    for a, b in combinations(cells, 2):
        (x, x_mask), (y, y_mask) = spectra[a], spectra[b]
        sums = np.take(fft.irfft(np.conj(x) * y, size), k, mode="wrap")
        pairs = np.rint(np.take(fft.irfft(np.conj(x_mask) * y_mask, size), k, mode="wrap"))
        r = np.where(pairs < PAIRS_MIN, 0, sums / np.maximum(pairs, 1) * (n - np.abs(k)) / n)
        lag = int(k[np.argmax(np.abs(r))])
        tested, _ = correlation_at(cells, a, b, lag)
        lag_r, count = correlation_at(raw, a, b, lag)
        result[a, b] = {
            **{"lag_seconds": lag * step, "lag_r": lag_r, "tested_r": tested},
            **{"share": min(1, count / pairs[k == 0][0]), "lags": int((pairs >= PAIRS_MIN).sum())},
        }
    return result


def correlation_at(cells, a, b, lag):
    """Of the pairs at a lag, and their number."""
    here, later = cells[a].to_numpy(), cells[b].shift(-lag).to_numpy()
    seen = ~np.isnan(here) & ~np.isnan(later)
    return np.corrcoef(here[seen], later[seen])[0, 1], seen.sum()


def memory(x):
    """The lag-1 autocorrelation without its bias (Marriott and Pope 1954)."""
    seen = ~np.isnan(x)
    n = seen.sum()
    d = x - x[seen].mean()
    pairs = seen[1:] & seen[:-1]
    share = lambda inner: pairs.sum() / inner.sum()
    earlier = (d[:-1][pairs] ** 2).sum() + np.nan_to_num(d[-1]) ** 2 * share(seen[:-1])
    later = (d[1:][pairs] ** 2).sum() + np.nan_to_num(d[0]) ** 2 * share(seen[1:])
    a = np.nansum(d[1:] * d[:-1]) / np.sqrt(earlier * later)
    return min(0.9999, (n * a + 1) / (n - 3)) if a > 0 else a


def effective_count(n, product):
    return np.clip(n * (1 - product) / (1 + product), 2, n)


def p_value(r, n_eff):
    return 2 * stats.t.sf(abs(r) * np.sqrt((n_eff - 2) / (1 - r * r)), n_eff - 2)


def significant_lag(lag_seconds, lag_r, tested_r, share, lags, n_eff):
    """By Bonferroni's bound over all lags, with the effective count beyond the day."""
    with np.errstate(divide="ignore", invalid="ignore"):
        is_significant = p_value(tested_r, n_eff * share) * lags <= 0.05
    return {"lag_seconds": lag_seconds, "lag_r": lag_r} if is_significant else NO_LAG


def rounded(frame):
    """To twelve digits: else equal means differ in their last bit, and ties are lost."""
    digits = 10.0 ** (11 - np.floor(np.log10(np.abs(frame))))
    return np.round(frame * digits) / digits


def correlations(hourly, lags, zone):
    pearson, spearman = hourly.corr("pearson"), rounded(hourly).corr("spearman")
    local_hour = hourly.index.tz_convert(zone).hour
    memories = {name: memory(hourly[name].to_numpy()) for name in hourly}
    rests = beyond_day(hourly, 3600, zone)
    rest_memories = {name: memory(rests[name].to_numpy()) for name in hourly}
    days = len(hourly) / 24
    pairs = []
    for a, b in combinations(hourly, 2):
        both = hourly[[a, b]].dropna()
        rest = both - both.groupby(local_hour[hourly[a].notna() & hourly[b].notna()]).transform("mean")
        n, r, rank_r = len(both), pearson.loc[a, b], spearman.loc[a, b]
        n_eff = effective_count(n, memories[a] * memories[b])
        beyond = effective_count(n, rest_memories[a] * rest_memories[b]) * (1 - 1 / days)
        pairs.append(
            {
                **{"a": a, "b": b, "n": n, "n_eff": n_eff, "pearson": r, "spearman": rank_r},
                "r_deseasonalised": rest[a].corr(rest[b]),
                **(verdict(r, rank_r, n_eff) if is_enough(n, n_eff) else NO_VERDICT),
                **(significant_lag(**lags[a, b], n_eff=beyond) if is_enough(n, n_eff) else NO_LAG),
            }
        )
    tested = [pair for pair in pairs if pair["p_value"] is not None]
    for pair, is_significant in zip(tested, holm([pair["p_value"] for pair in tested])):
        pair["significant"] = bool(is_significant)
    return pairs


def is_enough(n, n_eff):
    """Fewer than five independent hours, or a single day of hours, give no verdict."""
    return n >= 33 and n_eff >= 5


def verdict(r, rank_r, n_eff):
    half = NORMAL_975 / np.sqrt(n_eff - 3)
    return {
        "p_value": p_value(r, n_eff),
        "ci95": [np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)],
        "spearman_p_value": p_value(rank_r, n_eff),
    }


def holm(p_values):
    return multipletests(p_values, 0.05, "holm")[0] if p_values else []


def medians(sorted_rows, counts):
    low = np.take_along_axis(sorted_rows, ((counts - 1) // 2)[:, None], 1)
    high = np.take_along_axis(sorted_rows, (counts // 2)[:, None], 1)
    return ((low + high) / 2)[:, 0]


def hampel(x):
    half = 12
    rows = np.lib.stride_tricks.sliding_window_view(np.pad(x, half, constant_values=np.nan), 2 * half + 1)
    counts = np.maximum(np.isfinite(rows).sum(axis=1), 1)
    middle = medians(np.sort(rows, axis=1), counts)
    mad = medians(np.sort(np.abs(rows - middle[:, None]), axis=1), counts)
    return np.where((mad > 0) & (np.abs(x - middle) > 3.5 * 1.4826 * mad), middle, x)


def detrended(x):
    seen = ~np.isnan(x)
    place = np.arange(len(x), dtype=float)
    slope, start = np.polyfit(place[seen], x[seen], 1)
    return slope, x - start - slope * place


def periodogram(x):
    n = len(x)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)
    return np.abs(fft.rfft(np.nan_to_num(x) * window, 1 << (2 * n - 1).bit_length())) ** 2


def strongest_cycle(x):
    """By astropy's quick scan of all frequencies up to Nyquist's, then the exact maximum beside the best one."""
    n = len(x)
    seen = ~np.isnan(x)
    scargle = LombScargle(np.arange(n, dtype=float)[seen], x[seen])
    frequencies, powers = scargle.autopower(minimum_frequency=3.95 / n, maximum_frequency=0.5)
    best = frequencies[np.argmax(powers)]
    step = frequencies[1] - frequencies[0]
    found = minimize_scalar(
        lambda frequency: -scargle.power(frequency, method="cython"),
        bounds=(best - step, best + step),
        method="bounded",
        options={"xatol": 1e-6 * best},
    )
    power = -found.fun
    return {
        "period_cells": 1 / found.x,
        "power": power,
        "fap": scargle.false_alarm_probability(power, method="baluev", maximum_frequency=0.5),
    }


def strengths(hourly, zone, quantum):
    profile = hourly.groupby(hourly.index.tz_convert(zone).hour).transform("mean")
    filled = (hourly - profile).interpolate(limit_direction="both") + profile
    fitted = STL(filled.to_numpy(), period=24, seasonal=11, trend=43, low_pass=25, robust=True).fit()
    seen = hourly.notna().to_numpy()
    # statsmodels has no least robust scale, which the service has in half of the sensor's step.
    if np.median(np.abs(fitted.resid)) < quantum / 2:
        return {}
    share = lambda part: max(0, 1 - np.var(fitted.resid[seen]) / np.var((fitted.resid + part)[seen]))
    return {"daily": share(fitted.seasonal), "trend": share(fitted.trend)}


def profiles(frame, zone):
    local = frame.index.tz_convert(zone)
    by_hour = frame.groupby(local.hour)
    count, mean, quantiles = by_hour.count(), by_hour.mean(), by_hour.quantile([0.1, 0.5, 0.9])
    week = frame.groupby([local.day_of_week, local.hour]).mean()
    return {
        name: {
            "daily_profile": [
                {
                    **{"hour": hour, "n": count[name][hour], "mean": mean[name][hour]},
                    **{"p10": quantiles[name][hour, 0.1], "median": quantiles[name][hour, 0.5]},
                    "p90": quantiles[name][hour, 0.9],
                }
                for hour in range(24)
            ],
            "weekly_profile": week[name].to_numpy().reshape(7, 24),
        }
        for name in frame
    }


class Clock:
    """How long each part took."""

    def __init__(self):
        self.ms = {}

    def measure(self, part, work):
        started = time.perf_counter()
        result = work()
        self.ms[part] = (time.perf_counter() - started) * 1000
        return result


def seasonality(clock, cells, step, hour_profiles, zone):
    names = list(cells)
    cleaned = clock.measure("hampel", lambda: cells.apply(hampel, raw=True))
    lines = {name: detrended(cleaned[name].to_numpy()) for name in names}
    clock.measure("periodogram", lambda: [periodogram(lines[name][1]) for name in names])
    cycles = clock.measure("lomb_scargle", lambda: {name: strongest_cycle(lines[name][1]) for name in names})
    hours = cleaned.resample("1h", origin="epoch").mean()
    strength = clock.measure("stl", lambda: {name: strengths(hours[name], zone, QUANTA[name]) for name in names})
    return {
        name: {
            "slope_per_day": lines[name][0] * 86_400 / step,
            "peaks": [
                {
                    "period_hours": cycles[name]["period_cells"] * step / 3600,
                    "power": cycles[name]["power"],
                    "fap": cycles[name]["fap"],
                }
            ],
            "strength": strength[name],
            **hour_profiles[name],
        }
        for name in names
    }


def answer(order):
    clock = Clock()
    started = time.perf_counter()
    zone, step = order["time_zone"], order["step_seconds"]
    frame = clock.measure("fetch", lambda: fetch(order))
    all_times = micros_of(frame.index)
    expected = cadence(all_times)
    frame = frame[all_times > order["from_us"]]
    times = micros_of(frame.index)
    with_dew = with_dew_point(frame)
    reach = 2.5 * expected / (step * SECOND)
    grid = clock.measure("grid", lambda: bridged(with_dew.resample(f"{step}s", origin="epoch").mean(), reach))
    cells = grid[order["metrics"]]
    hourly = with_dew.resample("1h", origin="epoch").mean()
    reliable = clock.measure("reliability", lambda: reliability(all_times, order["now_us"], expected))
    sums = clock.measure("aggregates", lambda: aggregates(with_dew, times, 2.5 * expected))
    auto = clock.measure(
        "autocorrelation", lambda: {name: autocorrelation(cells[name].to_numpy(), step) for name in cells}
    )
    lags = clock.measure("cross_correlation", lambda: cross_correlations(grid, step, zone))
    pairs = clock.measure("correlation", lambda: correlations(hourly, lags, zone))
    hour_profiles = clock.measure("profiles", lambda: profiles(frame, zone))
    seasons = seasonality(clock, cells, step, hour_profiles, zone)
    total = (time.perf_counter() - started) * 1000
    slow = None
    if order.get("slow_acf"):
        metric = cells["temperature"].to_numpy()
        clock.measure("slow_acf", lambda: slow_autocorrelation(metric, step))
        slow = clock.ms.pop("slow_acf")
    figures = {
        "n_samples": len(frame),
        "grid_seconds": step,
        "reliability": reliable,
        "aggregates": sums,
        "autocorrelation": auto,
        "correlations": {"n": int(hourly.notna().any(axis=1).sum()), "pairs": pairs},
        "seasonality": seasons,
    }
    return {"total_ms": total, "parts_ms": clock.ms, "slow_acf_ms": slow, "figures": figures}


def plain(value):
    """numpy's kinds as JSON has them, NaN as null."""
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value.tolist()]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def main():
    print(json.dumps({"python": sys.version.split()[0], "pandas": pd.__version__, "numpy": np.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(plain(answer(json.loads(line)))), flush=True)


main()
