/** The eight devices of the demo: three replay what a real station measured, five follow a simple model. */

import type { BatteryType, Profile } from '../auth/devices/device-profile.ts'

interface Climate {
  /** °C over a day. */
  temperatureMean: number
  temperatureSwing: number
  /** % at the mean temperature; it falls as the air warms. */
  humidityMean: number
  humidityPerDegree: number
}

interface Place {
  name: string
  location_short: string
  location_desc: string
  altitude_m: number
  expected_interval_seconds: number
  battery: boolean
  battery_type?: BatteryType
  profile: Profile
}

export interface RecordedStation extends Place {
  /** In `demo/data`, with the time between two of its lines. */
  file: string
  stepMs: number
}

export interface ModelledStation extends Place {
  climate: Climate
  /** How long a cell lasts; without it a month. */
  cellMs?: number
  /** Of each so long, the last part is without readings. */
  pauses?: { everyMs: number; lastMs: number }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** They report as often as their records do; the live sensors only send more. */
export const recordedStations: readonly RecordedStation[] = [
  {
    name: 'alamosa',
    location_short: 'Alamosa',
    location_desc: 'San Luis Valley, Colorado; a day of NOAA SURFRAD, replayed',
    altitude_m: 2317,
    expected_interval_seconds: 60,
    battery: false,
    profile: 'weather',
    file: 'alamosa-minutes.csv',
    stepMs: minuteMs,
  },
  {
    name: 'sand-point',
    location_short: 'Sand Point',
    location_desc: 'Popof Island, Alaska; a typical year of NREL TMY3, replayed',
    altitude_m: 6,
    expected_interval_seconds: 3600,
    battery: false,
    profile: 'weather',
    file: 'sand-point-hours.csv',
    stepMs: hourMs,
  },
  {
    name: 'greensboro',
    location_short: 'Greensboro',
    location_desc: 'Piedmont Triad, North Carolina; a typical year of NREL TMY3, replayed',
    altitude_m: 273,
    expected_interval_seconds: 3600,
    battery: false,
    profile: 'weather',
    file: 'greensboro-hours.csv',
    stepMs: hourMs,
  },
]

export const modelledStations: readonly ModelledStation[] = [
  {
    name: 'kitchen',
    location_short: 'Kitchen',
    location_desc: 'On the shelf above the table, ground floor',
    altitude_m: 34,
    expected_interval_seconds: 10,
    battery: false,
    profile: 'indoor',
    climate: { temperatureMean: 21, temperatureSwing: 1.5, humidityMean: 45, humidityPerDegree: 2 },
  },
  {
    name: 'cellar',
    location_short: 'Cellar',
    location_desc: 'North wall, beside the meters',
    altitude_m: 31,
    expected_interval_seconds: 10,
    battery: false,
    profile: 'indoor',
    climate: { temperatureMean: 12, temperatureSwing: 0.3, humidityMean: 72, humidityPerDegree: 3 },
    // It has something to alert of.
    pauses: { everyMs: 30 * minuteMs, lastMs: 5 * minuteMs },
  },
  {
    name: 'greenhouse',
    location_short: 'Greenhouse',
    location_desc: 'Between the tomatoes, 1 m above the ground',
    altitude_m: 33,
    expected_interval_seconds: 10,
    battery: true,
    battery_type: 'li-ion',
    profile: 'greenhouse',
    climate: { temperatureMean: 19, temperatureSwing: 9, humidityMean: 68, humidityPerDegree: 2.2 },
  },
  {
    name: 'roof',
    location_short: 'Roof',
    location_desc: 'Mast on the roof, in a radiation shield',
    altitude_m: 49,
    expected_interval_seconds: 10,
    battery: true,
    battery_type: 'li-ion',
    profile: 'weather',
    climate: { temperatureMean: 11, temperatureSwing: 5, humidityMean: 70, humidityPerDegree: 3 },
  },
  {
    name: 'mountain-hut',
    location_short: 'Mountain hut',
    location_desc: 'Lee side of the hut, above the tree line',
    altitude_m: 2105,
    expected_interval_seconds: 10,
    battery: true,
    battery_type: 'li-ion',
    profile: 'weather',
    climate: { temperatureMean: 2, temperatureSwing: 4, humidityMean: 65, humidityPerDegree: 4 },
    cellMs: 2 * hourMs,
  },
]
