/** Shows a station in this API and declares the columns that filter and sort lists of stations. */

import { z } from 'zod'
import { localText } from '../../analytics/time/iso-text.ts'
import type { Station } from '../../auth/stations/station.ts'
import type { Columns } from '../../query/conditions/select-rows.ts'

export const DeviceObject = z
  .object({
    city: z.string().nullable(),
    country: z.string().nullable().meta({ description: 'Two letters' }),
    last_updated: z.iso.datetime({ offset: true }).meta({ description: 'In the time zone of the device' }),
    latitude: z.string().nullable(),
    location: z.string().nullable(),
    longitude: z.string().nullable(),
    model: z.string(),
    outdoors: z.boolean().nullable(),
    sn: z.string(),
    timezone: z.string(),
    url: z.url(),
  })
  .meta({ id: 'AirQualityDevice' })
type DeviceObject = z.infer<typeof DeviceObject>

export interface DeviceView {
  /** Public address of the API. */
  base: string
  lastDataMs: (station: Station) => number | null
}

export function deviceObject(station: Station, view: DeviceView): DeviceObject {
  const { city, country, latitude, longitude, location, model, outdoors, sn, timezone } = station
  return {
    city,
    country,
    last_updated: lastUpdated(station, view),
    latitude: degrees(latitude),
    location,
    longitude: degrees(longitude),
    model,
    outdoors,
    sn,
    timezone,
    url: deviceUrl(view.base, sn),
  }
}

export function deviceUrl(base: string, sn: string): string {
  return `${base}/device/${sn}`
}

/** Time of its newest data, or of its last change without data. */
function lastUpdatedUs(station: Station, { lastDataMs }: DeviceView): number {
  return (lastDataMs(station) ?? station.updatedMs) * 1000
}

function lastUpdated(station: Station, view: DeviceView): string {
  return localText(lastUpdatedUs(station, view), station.timezone)
}

/** Writes all digits without an exponent. */
const decimal = new Intl.NumberFormat('en-US', { useGrouping: false, maximumFractionDigits: 20 })

function degrees(value: number | null): string | null {
  return value === null ? null : decimal.format(value)
}

export function deviceColumns(view: DeviceView): Columns<Station> {
  return {
    city: { type: 'text', value: ({ city }) => city },
    country: { type: 'text', value: ({ country }) => country },
    last_updated: {
      type: 'time',
      value: station => lastUpdatedUs(station, view),
      text: station => lastUpdated(station, view),
    },
    latitude: { type: 'number', value: ({ latitude }) => latitude, text: ({ latitude }) => degrees(latitude) ?? '' },
    location: { type: 'text', value: ({ location }) => location },
    longitude: {
      type: 'number',
      value: ({ longitude }) => longitude,
      text: ({ longitude }) => degrees(longitude) ?? '',
    },
    model: { type: 'text', value: ({ model }) => model },
    outdoors: { type: 'boolean', value: ({ outdoors }) => outdoors },
    sn: { type: 'text', value: ({ sn }) => sn },
    timezone: { type: 'text', value: ({ timezone }) => timezone },
    url: { type: 'text', value: ({ sn }) => deviceUrl(view.base, sn) },
  }
}
