/** Declares the body of a reading for the contract. ingest/reading.ts checks it by hand. A test compares both. */

import { z } from 'zod'
import { earliestTimeMs, epochText, isoWithZone, type Range, type Ranges } from '../../ingest/reading.ts'

export function readingBody(ranges: Ranges) {
  const metric = ({ min, max }: Range, unit: string, alias?: string) => {
    const also = alias === undefined ? '' : ` Also as ${alias}.`
    const description = `In ${unit}, from ${min} to ${max}; null or left out when it was not measured.${also}`
    return z.number().nullable().optional().meta({ description })
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
        .union([z.string().regex(isoWithZone), z.string().regex(epochText), z.number().min(earliestTimeMs / 1000)])
        .nullable()
        .optional()
        .meta({ description: time }),
    })
    .meta({
      id: 'NewReading',
      description,
      examples: [{ device: 'DEVICE', temperature: 21.4 }],
      patternProperties: otherSpellings,
      not: noValue(ranges),
    })
}

const time =
  'Time of the measurement: ISO 8601 with a zone, or seconds, milliseconds, microseconds or nanoseconds since 1970; from 2000' +
  ' on, and little ahead of our clock. Also as ts, time, datetime, date_time, epoch or unixtime. Without it, the reading' +
  ' has the time of its receipt.'
const description =
  'At least one metric is a number within its range; other values out of range are left out and named in the answer. Of two' +
  ' spellings the last one counts. Other numbers and booleans are values of custom metrics; the answer names fields that' +
  ' are not stored. Of a device that lists its metrics, only those are stored.'

/** Pattern instead of properties, because client generators merge both spellings into one name. */
const otherSpellings = {
  '^battery_voltage$': { type: ['number', 'null'] },
  '^battery_percentage$': { type: ['number', 'null'] },
}

/** Numbers and booleans under other names are values of custom metrics. */
function noValue({ temperature, humidity, pressure, battery_voltage, battery_percentage }: Ranges) {
  const missing = ({ min, max }: Range) => ({
    anyOf: [{ enum: [null] }, { type: 'number', exclusiveMaximum: min }, { type: 'number', exclusiveMinimum: max }],
  })
  return {
    properties: { device: {}, timestamp: {} },
    patternProperties: {
      '^temperature$': missing(temperature),
      '^humidity$': missing(humidity),
      '^pressure$': missing(pressure),
      '^battery[ _]voltage$': missing(battery_voltage),
      '^battery[ _]percentage$': missing(battery_percentage),
    },
    additionalProperties: { not: { type: ['number', 'boolean'] } },
  }
}
