/** The two air-quality stations of the demo, and the parameters of their instruments. */

import type { Parameter } from '../../../auth/stations/station.ts'

export interface AirStation {
  sn: string
  model: string
  city: string
  country: string
  location: string
  latitude: number
  longitude: number
  outdoors: boolean
  timezone: string
  private: boolean
  /** Neither zone has daylight saving time. */
  utcOffsetMinutes: number
  /** The emissions around it, relative to a quiet street. */
  emissions: number
}

export const airStations: readonly AirStation[] = [
  {
    sn: 'DEL-01',
    model: 'AQ-8',
    city: 'Delhi',
    country: 'IN',
    location: 'Roadside, 3 m above the ground; simulated',
    latitude: 28.6257,
    longitude: 77.2197,
    outdoors: true,
    timezone: 'Asia/Kolkata',
    private: false,
    utcOffsetMinutes: 330,
    emissions: 2.4,
  },
  {
    sn: 'NBO-02',
    model: 'AQ-8',
    city: 'Nairobi',
    country: 'KE',
    location: 'Courtyard of a school; simulated',
    latitude: -1.2921,
    longitude: 36.8219,
    outdoors: true,
    timezone: 'Africa/Nairobi',
    private: true,
    utcOffsetMinutes: 180,
    emissions: 0.9,
  },
]

export interface Instrument {
  parameter: Parameter
  unit: 'ppm' | 'ppb' | 'ugm3'
  /** Digits behind the point. */
  digits: number
  /** Standard deviation of its noise in clean air, in its unit. */
  noise: number
}

export const instruments: readonly Instrument[] = [
  { parameter: 'pm1', unit: 'ugm3', digits: 1, noise: 0.3 },
  { parameter: 'pm25', unit: 'ugm3', digits: 1, noise: 0.4 },
  { parameter: 'pm10', unit: 'ugm3', digits: 1, noise: 0.8 },
  { parameter: 'no', unit: 'ppb', digits: 1, noise: 0.4 },
  { parameter: 'no2', unit: 'ppb', digits: 1, noise: 0.5 },
  { parameter: 'o3', unit: 'ppb', digits: 1, noise: 0.6 },
  { parameter: 'so2', unit: 'ppb', digits: 1, noise: 0.2 },
  { parameter: 'co', unit: 'ppm', digits: 3, noise: 0.01 },
]
