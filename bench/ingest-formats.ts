/** The formats of bulk bodies, and where each is posted. */

import type { SentReading } from './fleet.ts'

/** The table of the same description as ours to which QuestDB alone writes. */
export const postedTable = 'posted'

export interface BulkFormat {
  path: string
  contentType: string
  /** Of the answer. */
  status: number
  /** At least so much of the rate of QuestDB alone. */
  rateMin: number
  body(readings: Iterable<SentReading>): string
}

const columns = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage']

export const bulkFormats: Record<string, BulkFormat> = {
  'line-protocol': {
    path: '/api/v2/write?bucket=b&org=o',
    contentType: 'text/plain',
    status: 204,
    rateMin: 0.5,
    body: linesOf,
  },
  csv: { path: '/api/log/batch', contentType: 'text/csv', status: 200, rateMin: 0.5, body: csvOf },
  ndjson: { path: '/api/log/batch', contentType: 'application/x-ndjson', status: 200, rateMin: 0.4, body: ndjsonOf },
  json: { path: '/api/log/batch', contentType: 'application/json', status: 200, rateMin: 0.4, body: jsonOf },
}

/** What QuestDB, VictoriaMetrics and InfluxDB read too: every number is a float. */
export function linesOf(readings: Iterable<SentReading>): string {
  let text = ''
  for (const { device, timeMs, values } of readings) {
    const fields = Object.entries(values).map(([name, value]) => `${name}=${value.toFixed(2)}`)
    text += `${postedTable},device=${device.replaceAll(' ', '\\ ')} ${fields.join()} ${timeMs}000000\n`
  }
  return text
}

/** Values of metrics beside the five, in each reading of `furtherLinesOf`. */
export const furtherCount = 5

export function furtherLinesOf(readings: readonly SentReading[]): string {
  const further = ({ temperature = 0 }: SentReading['values'], place: number) => [`bench_${place}`, temperature + place]
  return linesOf(
    readings.map(({ values, ...reading }) => {
      const names = Array.from({ length: furtherCount }, (_, place) => further(values, place))
      return { ...reading, values: { ...values, ...Object.fromEntries(names) } }
    }),
  )
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
