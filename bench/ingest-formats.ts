/** The formats of bulk bodies, and where each is posted. */

import type { SentReading } from './fleet.ts'

/** The table of the same description as ours to which QuestDB alone writes. */
export const postedTable = 'posted'
/** The same for values without a column. */
export const postedCustomTable = 'posted_custom'

export interface BulkFormat {
  path: string
  contentType: string
  /** The answer's status. */
  status: number
  /** The lowest accepted share of QuestDB's own rate. */
  rateMin: number
  body(readings: Iterable<SentReading>): string
}

const columns = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage']

export const bulkFormats: Record<string, BulkFormat> = {
  'line-protocol': {
    path: '/api/v2/write?bucket=b&org=o',
    contentType: 'text/plain',
    status: 204,
    rateMin: 0.65,
    body: linesOf,
  },
  csv: { path: '/api/log/batch', contentType: 'text/csv', status: 200, rateMin: 0.6, body: csvOf },
  ndjson: { path: '/api/log/batch', contentType: 'application/x-ndjson', status: 200, rateMin: 0.45, body: ndjsonOf },
  json: { path: '/api/log/batch', contentType: 'application/json', status: 200, rateMin: 0.45, body: jsonOf },
}

/** A form that QuestDB, VictoriaMetrics and InfluxDB read alike: all numbers are floats. */
export function linesOf(readings: Iterable<SentReading>): string {
  let text = ''
  for (const { device, timeMs, values } of readings) {
    const fields = Object.entries(values).map(([name, value]) => `${name}=${value.toFixed(2)}`)
    text += `${postedTable},device=${device.replaceAll(' ', '\\ ')} ${fields.join()} ${timeMs}000000\n`
  }
  return text
}

/** Values of metrics beside the five, in each reading of `customLinesOf`. */
export const customCount = 5

export function customLinesOf(readings: readonly SentReading[]): string {
  return linesOf(
    readings.map(({ values, ...reading }) => {
      const custom = customValuesOf(values).map((value, place) => [`bench_${place}`, value])
      return { ...reading, values: { ...values, ...Object.fromEntries(custom) } }
    }),
  )
}

/** The same as rows of both tables. */
export function postedCustomLinesOf(readings: readonly SentReading[]): string {
  const lines = readings.map(reading => {
    const { device, timeMs, values } = reading
    const series = customCount * Number(device.split(' ').at(-1))
    const custom = customValuesOf(values).map(
      (value, place) => `${postedCustomTable} series=${series + place}i,value=${value.toFixed(2)} ${timeMs}000000\n`,
    )
    return linesOf([reading]) + custom.join('')
  })
  return lines.join('')
}

function customValuesOf({ temperature = 0 }: SentReading['values']): number[] {
  return Array.from({ length: customCount }, (_, place) => temperature + place)
}

function csvOf(readings: Iterable<SentReading>): string {
  let text = `timestamp,device,${columns.join()}\n`
  for (const { device, timeMs, values } of readings) {
    text += `${new Date(timeMs).toISOString()},${device},${columns.map(name => values[name]?.toFixed(2)).join()}\n`
  }
  return text
}

function ndjsonOf(readings: Iterable<SentReading>): string {
  let text = ''
  for (const reading of readings) text += `${objectOf(reading)}\n`
  return text
}

function jsonOf(readings: Iterable<SentReading>): string {
  return `[${Array.from(readings, objectOf).join()}]`
}

function objectOf({ device, timeMs, values }: SentReading): string {
  return JSON.stringify({ timestamp: new Date(timeMs).toISOString(), device, ...values })
}
