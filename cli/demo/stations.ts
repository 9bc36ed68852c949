/** The eight devices of the demo: three replay the record of a real station, five follow a simple model. */

import type { Profile } from '../../auth/devices/device.ts'
import type { Battery } from './battery.ts'
import { freezer, greenhouse, kitchen, type Room } from './weather.ts'

interface Place {
  name: string
  location_short: string
  location_desc: string
  altitude_m: number
  /** Coordinates are in degrees. Real stations are shown about where they stood, others in made places. */
  latitude: number
  longitude: number
  tags: readonly string[]
  expected_interval_seconds: number
  profile: Profile
  /** The interval of its history, and its length at the first start. */
  stepMs: number
  historyDays: number
}

export interface RecordedStation extends Place {
  /** The file is in `cli/demo/data`. `fileStepMs` is the time between two of its lines. */
  file: string
  fileStepMs: number
  /** A record that is short gets other weather each day: so many °C warmer or colder. */
  weather?: number
  /** The record has the same pressure in each hour, a placeholder of its makers: a model varies it. */
  isPressureModelled?: boolean
}

export interface ModelledStation extends Place {
  /** The region of its weather. Devices without one share it. */
  region?: number
  /** Devices without a room are outdoors. */
  room?: Room
  battery?: Battery
  /** Its humidity stands still from some days before the first start on. */
  isStuck?: boolean
  /** It is silent from some hours before a start on, comes back after that, and falls silent again and again. */
  isSilentAtTimes?: boolean
}

export type Station = RecordedStation | ModelledStation

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Most devices use these. The live sensors only send more. */
const usual = { expected_interval_seconds: 300, stepMs: 5 * minuteMs, historyDays: 90 }
const hourly = { expected_interval_seconds: 3600, stepMs: hourMs, historyDays: 365, fileStepMs: hourMs }
const atHome = 'site:home'
const reference = ['site:reference', 'place:outdoors']

export const recordedStations: readonly RecordedStation[] = [
  {
    ...usual,
    name: 'alamosa',
    location_short: 'Alamosa',
    location_desc: 'San Luis Valley, Colorado; a day of NOAA SURFRAD, replayed, with other weather each day',
    altitude_m: 2317,
    latitude: 37.6977,
    longitude: -105.9229,
    tags: reference,
    profile: 'weather',
    file: 'alamosa-minutes.csv',
    fileStepMs: minuteMs,
    weather: 4,
  },
  {
    ...hourly,
    name: 'sand-point',
    location_short: 'Sand Point',
    location_desc: 'Popof Island, Alaska; a typical year of NREL TMY3, replayed, with a modelled pressure',
    altitude_m: 6,
    latitude: 55.3167,
    longitude: -160.5167,
    tags: reference,
    profile: 'weather',
    file: 'sand-point-hours.csv',
    isPressureModelled: true,
  },
  {
    ...hourly,
    name: 'greensboro',
    location_short: 'Greensboro',
    location_desc: 'Piedmont Triad, North Carolina; a typical year of NREL TMY3, replayed',
    altitude_m: 273,
    latitude: 36.1,
    longitude: -79.95,
    tags: reference,
    profile: 'weather',
    file: 'greensboro-hours.csv',
  },
]

const modelledStations: readonly ModelledStation[] = [
  {
    ...usual,
    name: 'kitchen',
    location_short: 'Kitchen',
    location_desc: 'On the shelf above the table, ground floor; with a sensor of CO₂',
    altitude_m: 34,
    latitude: 52.5163,
    longitude: 13.3045,
    tags: [atHome, 'place:indoors'],
    profile: 'indoor',
    room: kitchen,
  },
  {
    ...usual,
    name: 'freezer',
    location_short: 'Freezer',
    location_desc: 'Chest freezer in the cellar',
    altitude_m: 31,
    latitude: 52.5163,
    longitude: 13.3046,
    tags: [atHome, 'place:indoors'],
    profile: 'cold_chain',
    room: freezer,
  },
  {
    ...usual,
    name: 'greenhouse',
    location_short: 'Greenhouse',
    location_desc: 'Between the tomatoes, 1 m above the ground, at the edge of the Wi-Fi',
    altitude_m: 33,
    latitude: 52.5165,
    longitude: 13.3049,
    tags: [atHome, 'place:outdoors'],
    profile: 'greenhouse',
    room: greenhouse,
    battery: { type: 'li-ion', charge: 68, percentPerDay: 0.2 },
    isSilentAtTimes: true,
  },
  {
    ...usual,
    name: 'roof',
    location_short: 'Roof',
    location_desc: 'Mast on the roof, in a radiation shield; with an anemometer',
    altitude_m: 49,
    latitude: 52.5164,
    longitude: 13.3045,
    tags: [atHome, 'place:outdoors'],
    profile: 'weather',
    battery: { type: 'li-ion', charge: 81, percentPerDay: 0.15 },
    isStuck: true,
  },
  {
    ...usual,
    name: 'mountain-hut',
    location_short: 'Mountain hut',
    location_desc: 'Lee side of the hut, above the tree line; with an anemometer',
    altitude_m: 2105,
    latitude: 47.41,
    longitude: 11.02,
    tags: ['site:mountains', 'place:outdoors'],
    profile: 'weather',
    region: 1,
    battery: { type: 'li-ion', charge: 9, percentPerDay: 1.01 },
  },
]

export const stations: readonly Station[] = [...recordedStations, ...modelledStations]
