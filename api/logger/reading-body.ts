/** What the contract says of the body of a reading. The check itself is written out (ingest/reading.ts); a test compares the two. */

import { z } from 'zod'
import { isoWithZone, type Range, type Ranges } from '../../ingest/reading.ts'

export function readingBody(ranges: Ranges) {
  const metric = ({ min, max }: Range, unit: string) =>
    z
      .number()
      .min(min)
      .max(max)
      .nullable()
      .meta({ description: `In ${unit}; null when it was not measured.` })
  const voltage = metric(ranges.battery_voltage, 'V').optional()
  const percentage = metric(ranges.battery_percentage, '%').optional()
  return z
    .object({
      device: z.string().meta({ description: 'The name of the device.' }),
      temperature: metric(ranges.temperature, '°C'),
      humidity: metric(ranges.humidity, '%'),
      pressure: metric(ranges.pressure, 'hPa'),
      'battery voltage': voltage,
      'battery percentage': percentage,
      battery_voltage: voltage,
      battery_percentage: percentage,
      timestamp: z
        .union([z.string().regex(isoWithZone), z.number()])
        .nullable()
        .optional()
        .meta({ description: time }),
    })
    .meta({ id: 'NewReading', description, not: { properties: Object.fromEntries(metrics.map(nothing)) } })
}

const time =
  'Of the measurement: ISO 8601 with a zone, or milliseconds since 1970; from 2000 on, and little ahead of our clock.' +
  ' Without it, the reading has the time of its receipt.'
const description =
  'At least one metric is a number. The two of the battery are required of a device that has one; of two spellings the' +
  ' last one counts. Other fields are not stored, and the answer names them.'

const metrics = [
  ...['temperature', 'humidity', 'pressure', 'battery voltage', 'battery percentage'],
  ...['battery_voltage', 'battery_percentage'],
]

function nothing(name: string): [string, { type: 'null' }] {
  return [name, { type: 'null' }]
}
