/** What the contract says of the body of a reading. The check itself is written out (ingest/reading.ts); a test compares the two. */

import { z } from 'zod'
import { earliestTimeMs, isoWithZone, type Range, type Ranges } from '../../ingest/reading.ts'

export function readingBody(ranges: Ranges) {
  const metric = ({ min, max }: Range, unit: string, alias?: string) => {
    const description = `In ${unit}; null or left out when it was not measured.`
    const also = alias === undefined ? '' : ` Also as ${alias}.`
    return z
      .number()
      .min(min)
      .max(max)
      .nullable()
      .optional()
      .meta({ description: description + also })
  }
  return z
    .object({
      device: z.string().min(1).meta({ description: 'The name of the device.' }),
      temperature: metric(ranges.temperature, '°C'),
      humidity: metric(ranges.humidity, '%'),
      pressure: metric(ranges.pressure, 'hPa'),
      'battery voltage': metric(ranges.battery_voltage, 'V', 'battery_voltage'),
      'battery percentage': metric(ranges.battery_percentage, '%', 'battery_percentage'),
      timestamp: z
        .union([z.string().regex(isoWithZone), z.number().min(earliestTimeMs)])
        .nullable()
        .optional()
        .meta({ description: time }),
    })
    .meta({ id: 'NewReading', description, patternProperties: otherSpellings(ranges), not: noValue })
}

const time =
  'Of the measurement: ISO 8601 with a zone, or milliseconds since 1970; from 2000 on, and little ahead of our clock.' +
  ' Without it, the reading has the time of its receipt.'
const description =
  'At least one metric is a number. Of two spellings the last one counts. Other numbers and booleans are values of further' +
  ' metrics; the answer names fields that are not stored. Of a device that lists its metrics, only those are stored.'

/** No properties: client generators make one name of both spellings. */
function otherSpellings({ battery_voltage, battery_percentage }: Ranges) {
  const metric = ({ min, max }: Range) => ({ type: ['number', 'null'], minimum: min, maximum: max })
  return { '^battery_voltage$': metric(battery_voltage), '^battery_percentage$': metric(battery_percentage) }
}

const metricNames = '^(?:temperature|humidity|pressure|battery[ _](?:voltage|percentage))$'
/** Numbers and booleans of other names are values of further metrics. */
const noValue = {
  properties: { device: {}, timestamp: {} },
  patternProperties: { [metricNames]: { enum: [null] } },
  additionalProperties: { not: { type: ['number', 'boolean'] } },
}
