/** How a metric is called: its name, and the name that a field of a sender stands for. */

import { z } from 'zod'

const namePattern = /^[a-z][a-z0-9_]{0,47}$/

/**
 * Names that no metric has: fields of a reading that are none, a path of the admin API, figures that the service makes of
 * other metrics and shows beside them, and what else stands beside metrics in an answer.
 */
const reserved: ReadonlySet<string> = new Set([
  'device',
  'timestamp',
  'ts',
  'catalogue',
  'dew_point',
  'absolute_humidity',
  'sea_level_pressure',
  'pressure_tendency',
  'gap_seconds',
  'downsampled',
  'date',
  'hours',
  'hour',
  'd',
  'a',
  'b',
  'time_zone',
  'generated_at',
  'preset',
  'start',
  'end',
  'step_seconds',
  'metrics',
])

/** Fields in which senders say when a reading was taken. */
const readingTimes: ReadonlySet<string> = new Set([
  'timestamp',
  'time_stamp',
  'ts',
  'time',
  'datetime',
  'date_time',
  'epoch',
  'epoch_ms',
  'epoch_time',
  'timestamp_ms',
  'unixtime',
  'unix_time',
  'unix_timestamp',
])

/** Fields in which gateways and programs say when they made, got or changed a record. */
const recordTimes: ReadonlySet<string> = new Set([
  'created_at',
  'updated_at',
  'modified_at',
  'received_at',
  'recorded_at',
  'reported_at',
  'published_at',
  'inserted_at',
  'stored_at',
  'logged_at',
  'sent_at',
  'seen_at',
  'last_seen',
  'last_update',
  'last_updated',
  'last_changed',
  'last_modified',
  'last_reported',
  'receive_time',
  'arrival_time',
  'server_time',
  'gateway_time',
  'device_time',
  'local_time',
  'utc_time',
])

/** Whether a field holds the time of its reading or another time; no such field is a metric. */
export function timeFieldOf(field: string): 'reading time' | 'record time' | undefined {
  const name = spelledName(field)
  if (name === undefined) return undefined
  if (readingTimes.has(name)) return 'reading time'
  return recordTimes.has(name) ? 'record time' : undefined
}

export function isMetricName(text: string): boolean {
  return namePattern.test(text) && !reserved.has(text)
}

/** It is also a key of answers and a part of paths, and never changes. */
export const MetricName = z
  .string()
  .regex(namePattern, 'must be 1 to 48 of a-z, 0-9 and "_", and begin with a letter')
  .refine(name => !reserved.has(name), 'is a name that the service itself uses')

/** Of a metric that is made; metrics with other names may be there from before. */
export const NewMetricName = MetricName.refine(name => !isTimeName(name), 'is a name of a time, which no metric has')

/** A longer text stands for no name. */
const fieldLengthMax = 64

/**
 * The name that a field stands for, in the spelling of metrics: `windSpeed`, `Wind Speed` and `wind-speed` give `wind_speed`,
 * `PM2.5` gives `pm2_5`. Undefined for what cannot be a name.
 */
export function metricNameOf(field: string): string | undefined {
  const name = spelledName(field)
  return name !== undefined && isMetricName(name) && !isTimeName(name) ? name : undefined
}

function isTimeName(name: string): boolean {
  return readingTimes.has(name) || recordTimes.has(name)
}

/** One pass over at most 64 characters. */
function spelledName(field: string): string | undefined {
  if (field.length > fieldLengthMax) return undefined
  let name = ''
  let before: 'small' | 'capital' | 'other' = 'other'
  for (const character of field) {
    const isCapital = character >= 'A' && character <= 'Z'
    if (!isCapital && !isSmallOrDigit(character)) {
      before = 'other'
      continue
    }
    const isNewWord = name !== '' && (before === 'other' || (isCapital && before === 'small'))
    name += (isNewWord ? '_' : '') + character.toLowerCase()
    before = isCapital ? 'capital' : 'small'
  }
  return name
}

function isSmallOrDigit(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9')
}

/** `wind_speed` gives `Wind speed`. */
export function titleOfName(name: string): string {
  const words = name.replaceAll('_', ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
