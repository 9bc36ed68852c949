/** Names of metrics, and the metric name for a sender's field. */

import { z } from 'zod'

const namePattern = /^[a-z][a-z0-9_]{0,47}$/

/**
 * Names that a metric cannot have: other fields of a reading, a path of the admin API, figures that the service derives from
 * metrics, and other keys beside metrics in an answer.
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

/** Fields in which senders give the time of a reading. */
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

/** Fields in which gateways and programs give the time when they created, received or changed a record. */
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

/** Classifies fields that hold a time. Such a field never becomes a metric. */
export function timeFieldOf(field: string): 'reading time' | 'record time' | undefined {
  const name = spelledName(field)
  if (name === undefined) return undefined
  if (readingTimes.has(name)) return 'reading time'
  return recordTimes.has(name) ? 'record time' : undefined
}

export function isMetricName(text: string): boolean {
  return namePattern.test(text) && !reserved.has(text)
}

/** The name is also a key of answers and a part of paths. It never changes. */
export const MetricName = z
  .string()
  .regex(namePattern, 'must be 1 to 48 of a-z, 0-9 and "_", and begin with a letter')
  .refine(name => !reserved.has(name), 'is a name that the service itself uses')

/** Rule for new metrics. Older metrics may have other names. */
export const NewMetricName = MetricName.refine(name => !isTimeName(name), 'is reserved for times')

/** A longer text cannot be a name. */
const fieldLengthMax = 64

/**
 * The name for a field, in the spelling of metrics: `windSpeed`, `Wind Speed` and `wind-speed` give `wind_speed`, `PM2.5` gives
 * `pm2_5`. Undefined for a text that cannot be a name.
 */
export function metricNameOf(field: string): string | undefined {
  const name = spelledName(field)
  return name !== undefined && isMetricName(name) && !isTimeName(name) ? name : undefined
}

function isTimeName(name: string): boolean {
  return readingTimes.has(name) || recordTimes.has(name)
}

/** A single pass over at most 64 characters. */
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
