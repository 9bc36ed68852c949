/** The logger API's part of the published contract. */

import { z } from 'zod'
import { rejectCodes } from '../../ingest/formats/reject.ts'
import type { Ranges } from '../../ingest/reading.ts'
import { Comparison } from '../../query/shapes/compare.ts'
import { DailySummary } from '../../query/shapes/daily.ts'
import { DayReadings } from '../../query/shapes/day.ts'
import { DeviceDetail } from '../../query/shapes/detail.ts'
import { LatestReadings } from '../../query/shapes/latest.ts'
import { PastDays } from '../../query/shapes/past.ts'
import { Stats } from '../../query/shapes/stats.ts'
import type { Contract } from '../docs/contract.ts'
import { type PublishedRoute, publishRoutes } from '../docs/published-routes.ts'
import { devicesMax } from '../http/devices-parameter.ts'
import type { LoggerErrorCode } from '../http/status-errors.ts'
import { momentForm } from '../http/time-forms.ts'
import {
  ComparedDevices,
  CompareParameters,
  DailyParameters,
  DetailParameters,
  StatsParameters,
} from '../read/analysis-parameters.ts'
import { PublicDevice } from '../read/device-shape.ts'
import { eventsRoute } from '../read/events/contract.ts'
import { fleetReads } from '../read/fleet/contract.ts'
import { hoursMax } from '../read/latest-parameters.ts'
import { Device, errorsOf, LoggerError, ofReads, read } from '../read/published-reads.ts'
import { rangeFormats, stepMax, stepMin } from '../read/readings-parameters.ts'
import { RangeReadings } from '../read/readings-shape.ts'
import { strictWords } from '../write/batch-head.ts'
import { readingBody } from '../write/reading-body.ts'

const description =
  'Readings of devices, in and out. Every answer that is no success has a `status` other than `success`.' +
  ' `d` is local time on the clock of the service. '
const openReads = 'Everybody may read.'
const privateReads =
  'A device reads itself, a person the devices that they own, also by an API key with the scope read;' +
  ' viewers and administrators read all. A device of somebody else is answered like one that is unknown.'

/** With READS=private. */
const ofPrivateReads = ['session', 'bearer', 'apiKey', 'bearerKey', 'device', 'adminToken']

export function loggerContract(ranges: Ranges, areReadsPrivate = false): Contract {
  const allReads = [...fleetReads, ...reads, rangeRead, eventsRoute]
  const credentials = areReadsPrivate ? ofPrivateReads : []
  return publishRoutes({
    tag: { name: 'logger', description: `${description}${areReadsPrivate ? privateReads : openReads}` },
    routes: [...ingestRoutes(ranges), ...allReads.map(route => ({ ...route, credentials }))],
    error: { schema: LoggerError },
    refusals: { all: errorsOf('INTERNAL'), paths: errorsOf('BAD_REQUEST', 'URI_TOO_LONG') },
    securitySchemes: {
      device: { type: 'http', scheme: 'basic', description: 'The name and the password of a device.' },
    },
  })
}

const Stored = z
  .object({
    status: z.literal('success'),
    ignored: z.array(z.string()).optional().meta({ description: 'Names of fields that are not stored.' }),
  })
  .meta({ id: 'Stored' })

const Reject = z.object({
  line: z.int().optional().meta({ description: 'From 1, the header included.' }),
  index: z.int().optional().meta({ description: 'In the array, from 0.' }),
  device: z.string().optional(),
  code: z.enum(rejectCodes),
  reason: z.string(),
})

const counts = {
  stored: z.int(),
  rejected: z.int(),
  rejects: z.array(Reject),
  rejects_truncated: z.literal(true).optional().meta({ description: 'More were rejected than are listed.' }),
}

const BatchAnswer = z
  .object({ status: z.literal('success'), ...counts, ignored: z.array(z.string()).optional() })
  .meta({ id: 'BatchAnswer' })

/** Some of a body that breaks off may be stored. */
const BatchError = LoggerError.extend(z.object(counts).partial().shape).meta({ id: 'BatchError' })

const IdempotencyKey = z.object({
  'Idempotency-Key': z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'A request that is sent again with its key is stored once.' }),
})

/** Of everything that takes readings. */
const ofIngest: readonly LoggerErrorCode[] = [
  ...(['JSON_INVALID', 'PAYLOAD_INVALID', 'KEY_INVALID', 'UNAUTHORIZED', 'TIMEOUT', 'PAYLOAD_TOO_LARGE'] as const),
  ...(['MEDIA_TYPE_UNSUPPORTED', 'KEY_REUSED', 'TOO_MANY_ATTEMPTS', 'TOO_MANY_READINGS'] as const),
  ...(['TOO_MANY_IDEMPOTENCY_KEYS_OF_WRITER', 'TOO_MANY_IDEMPOTENCY_KEYS', 'STORAGE_FAILED'] as const),
  ...(['STORAGE_FULL', 'CLOSING'] as const),
  'DATABASE_AWAY',
]

function ingestRoutes(ranges: Ranges): PublishedRoute[] {
  const NewReading = readingBody(ranges)
  return [
    {
      ...{ method: 'put', path: '/api/log', name: 'log_reading', summary: 'Store a reading' },
      description:
        'Of a device, or by an API key with the scope ingest. The answer is sent when the reading is on disk.',
      credentials: ['device', 'apiKey', 'bearerKey'],
      parameters: { header: IdempotencyKey },
      body: { json: NewReading },
      success: { status: 200, description: 'The reading is on disk', json: Stored },
      refusals: errorsOf(
        ...ofIngest,
        ...(['FORBIDDEN', 'DEVICE_MISMATCH', 'LOGGING_DISABLED', 'TOO_MANY_OF_OWNER', 'DEVICE_UNKNOWN'] as const),
        'DEVICE_SUSPENDED',
      ),
    },
    {
      ...{ method: 'post', path: '/api/log/batch', name: 'log_batch', summary: 'Store readings that have times' },
      description:
        'Of a device, or by an API key with the scope ingest. As CSV, NDJSON or a JSON array, also compressed with gzip or zstd.' +
        ' Each reading has a timestamp.',
      credentials: ['device', 'apiKey', 'bearerKey'],
      parameters: { header: IdempotencyKey, query: BatchParameters },
      body: { json: z.array(NewReading), text: ['application/x-ndjson', 'text/csv'] },
      success: { status: 200, description: 'What it counts as stored is on disk', json: BatchAnswer },
      refusals: errorsOf(
        ...ofIngest,
        ...(['BODY_BROKEN', 'NO_READINGS', 'READINGS_REJECTED', 'FORBIDDEN', 'PARAMETER_INVALID'] as const),
        ...(['TOO_MANY_BATCHES_OF_ONE', 'TOO_MANY_BATCHES', 'LATER'] as const),
      ),
      error: BatchError,
    },
  ]
}

const BatchParameters = z.object({
  strict: z.enum(strictWords).optional().meta({ description: '1 or true stores all readings or none.' }),
})

/** Names that are not empty. */
const listedForm = `^[^,]+(?:,[^,]+){0,${devicesMax - 1}}$`

const LatestPath = z.object({
  hour: z.int().min(1).max(hoursMax).meta({ description: 'How many hours back' }),
})

const reads: PublishedRoute[] = [
  read({
    ...{ path: '/api/latest/all/{hour}', name: 'read_latest', summary: 'The latest readings of all active devices' },
    description: 'Means over `bucket_seconds` where the readings would be too many for one answer.',
    parameters: {
      path: LatestPath,
      query: z.object({
        devices: z
          .string()
          .optional()
          .meta({ pattern: listedForm, description: `Names with commas between them, at most ${devicesMax}` }),
      }),
    },
    answer: LatestReadings.meta({ id: 'LatestReadings' }),
    refusals: ['HOUR_INVALID', 'DEVICES_INVALID', 'DEVICE_UNKNOWN', 'TOO_MANY_DEVICES'],
  }),
  read({
    ...{ path: '/api/data/day/{device}/{date}', name: 'read_day', summary: 'The readings of a local day' },
    parameters: { path: Device.extend({ date: z.iso.date() }) },
    answer: DayReadings.meta({ id: 'DayReadings' }),
    refusals: ['DATE_INVALID', 'DEVICE_UNKNOWN', 'TOO_LARGE'],
  }),
  read({
    ...{ path: '/api/device/{device}', name: 'read_device', summary: 'What a device is' },
    parameters: { path: Device },
    answer: PublicDevice.meta({ id: 'PublicDevice' }),
    refusals: ['DEVICE_UNKNOWN'],
  }),
  read({
    ...{ path: '/api/compare_data', name: 'compare_devices', summary: 'Two devices, hour by hour' },
    parameters: { query: ComparedDevices.extend(CompareParameters.shape) },
    answer: Comparison.meta({ id: 'Comparison' }),
    refusals: ['DEVICE_UNKNOWN', 'TOO_LARGE'],
  }),
  read({
    ...{ path: '/api/detail_data/{device}', name: 'read_detail' },
    summary: 'The readings of the last 24 hours and the hours of 30 days',
    parameters: { path: Device, query: DetailParameters },
    answer: DeviceDetail.meta({ id: 'DeviceDetail' }),
    refusals: ['DEVICE_UNKNOWN', 'TOO_LARGE'],
  }),
  read({
    ...{ path: '/api/stats_data/{device}', name: 'read_statistics', summary: 'The statistics of a device' },
    description: 'Their definitions are at /docs/statistics.',
    parameters: { path: Device, query: StatsParameters },
    answer: Stats.meta({ id: 'Statistics' }),
    refusals: ['DEVICE_UNKNOWN', 'TOO_MANY_DAYS'],
  }),
  read({
    ...{ path: '/api/daily_summary/{device}', name: 'read_daily_summary', summary: 'A device, day by day' },
    parameters: { path: Device, query: DailyParameters },
    answer: DailySummary.meta({ id: 'DailySummary' }),
    refusals: ['DEVICE_UNKNOWN', 'TOO_MANY_DAYS'],
  }),
  read({
    ...{ path: '/api/past_window_data/{device}', name: 'read_past_days' },
    summary: 'Today, yesterday and the days 7, 30 and 365 days ago, hour by hour',
    parameters: { path: Device },
    answer: PastDays.meta({ id: 'PastDays' }),
    refusals: ['DEVICE_UNKNOWN', 'TOO_LARGE'],
  }),
]

const moment = (description: string) =>
  z.string().meta({ pattern: momentForm, description: `${description}: ISO 8601 with a zone, or milliseconds` })

const RangeParameters = z.object({
  start: moment('The first moment'),
  end: moment('Before this moment, without it before now').optional(),
  step: z.int().min(stepMin).max(stepMax).optional().meta({ description: 'Buckets of so many seconds' }),
  format: z.enum(rangeFormats).optional().meta({ description: 'Counts before Accept.' }),
})

const rangeRead: PublishedRoute = {
  ...{ method: 'get', path: '/api/readings/{device}', name: 'read_range', summary: 'The readings of a range' },
  description: 'Streamed, oldest first. An error in the middle breaks the connection.',
  parameters: { path: Device, query: RangeParameters },
  success: {
    ...{ status: 200, description: 'The readings, or their figures by buckets', json: RangeReadings },
    text: ['application/x-ndjson', 'text/csv'],
    bytes: ['application/vnd.apache.parquet'],
  },
  refusals: errorsOf(...ofReads, 'DEVICE_UNKNOWN', 'HTTP_VERSION'),
}
