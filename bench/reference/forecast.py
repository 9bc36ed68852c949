"""Forecasts of 48 hours by statsmodels' ETS and SARIMAX, as one would fit them to hours with a day.

Takes commands as lines of JSON on standard input, with the hours before an origin, and answers each with a line: by model
the mean, the intervals of 80 and 95 % and the processor time of fit and forecast.
"""

import json
import sys
import time
import warnings

import numpy as np
import pandas as pd
import statsmodels
from statsmodels.tsa.exponential_smoothing.ets import ETSModel
from statsmodels.tsa.statespace.sarimax import SARIMAX

HORIZON = 48
DAY = 24
SHARES = {"80": 0.8, "95": 0.95}


def ets(values):
    """A level with a damped trend and a day, all additive."""
    model = ETSModel(values, error="add", trend="add", damped_trend=True, seasonal="add", seasonal_periods=DAY)
    prediction = model.fit(disp=False).get_prediction(start=len(values), end=len(values) + HORIZON - 1)
    return prediction.summary_frame(alpha=0.05)["mean"], lambda alpha: prediction.pred_int(alpha=alpha).to_numpy()


def sarimax(values):
    """An ARMA(2, 1) of the differences to the day before, which have a moving average of a day (Box and Jenkins' season)."""
    orders = {"order": (2, 0, 1), "seasonal_order": (0, 1, 1, DAY)}
    # A stationary start fails where the optimiser tries a root near 1.
    model = SARIMAX(values, **orders, concentrate_scale=True, initialization="approximate_diffuse")
    prediction = model.fit(disp=False, maxiter=50).get_forecast(HORIZON)
    return prediction.predicted_mean, lambda alpha: prediction.conf_int(alpha=alpha).to_numpy()


def answer(command):
    values = pd.Series(command["values"], dtype=float)
    result = {}
    for name, model in {"ets": ets, "sarimax": sarimax}.items():
        started = time.process_time()
        mean, interval = model(values)
        intervals = {share: interval(1 - part) for share, part in SHARES.items()}
        cpu_ms = (time.process_time() - started) * 1000
        result[name] = {"median": np.asarray(mean).tolist(), "cpu_ms": cpu_ms}
        for share, both in intervals.items():
            result[name][f"low{share}"], result[name][f"high{share}"] = both.T.tolist()
    return result


def main():
    warnings.simplefilter("ignore")
    print(json.dumps({"python": sys.version.split()[0], "statsmodels": statsmodels.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


main()
