/** What the published contract says of each operation, beside what follows from its path, method and permission. */

import type { z } from 'zod'
import { pointColumnTypes } from '../../../query/points/point-columns.ts'
import { AccountObject } from '../account-object.ts'
import { DeviceChangeBody, NewDeviceBody } from '../device-body.ts'
import { DeviceObject } from '../device-object.ts'
import type { AirQualityErrorCode } from '../errors.ts'
import { NewDataPoints } from '../point-body.ts'
import {
  DataPoint,
  DataPointList,
  DeviceDropped,
  DeviceList,
  EmptyList,
  KeyCheck,
  LatestDataPoint,
  LogEntry,
  StoredDataPoints,
} from './answers.ts'
import { formatArgument, listArguments, PageArguments } from './arguments.ts'

export interface PublishedAs {
  /** Of the function in clients that are made of the contract. */
  name: string
  summary: string
  description?: string
  query?: z.ZodType
  body?: z.ZodType
  success: { status: 200 | 201 | 202; description: string; schema: z.ZodType; location?: boolean; lines?: boolean }
  /** Beside those that every operation of its kind has. */
  refusals?: readonly AirQualityErrorCode[]
}

const reads = ['TIMED_OUT', 'QUEUE_FULL'] as const

const emptyList = (name: string, of: string): PublishedAs => ({
  name,
  summary: `An empty list of ${of}`,
  query: PageArguments,
  description: 'For clients of other servers of this interface; there is nothing to list here.',
  success: { status: 200, description: 'The list', schema: EmptyList },
  refusals: ['PAGE_UNKNOWN'],
})

export const operations = {
  checkKey: {
    name: 'check_key',
    summary: 'Whether the API key is good',
    success: { status: 200, description: 'It is', schema: KeyCheck },
  },
  getAccount: {
    name: 'get_account',
    summary: 'The account that the API key belongs to',
    success: { status: 200, description: 'The account', schema: AccountObject },
  },
  listDevices: {
    name: 'list_devices',
    summary: 'The devices that the API key may read',
    query: listArguments(Object.keys(DeviceObject.shape), 'sn'),
    success: { status: 200, description: 'A page of them, by sn', schema: DeviceList },
    refusals: ['PAGE_UNKNOWN'],
  },
  addDevice: {
    name: 'add_device',
    summary: 'Add a device',
    body: NewDeviceBody,
    success: { status: 201, description: 'The device', schema: DeviceObject, location: true },
    refusals: ['SN_TAKEN', 'REGISTRY_FULL', 'OUTCOME_UNKNOWN'],
  },
  getDevice: {
    name: 'get_device',
    summary: 'One device',
    success: { status: 200, description: 'The device', schema: DeviceObject },
  },
  changeDevice: {
    name: 'change_device',
    summary: 'Change a device',
    body: DeviceChangeBody,
    description: 'Takes one field or a whole device as it was read. What is absent stays; other fields are ignored.',
    success: { status: 200, description: 'The changed device', schema: DeviceObject },
    refusals: ['OUTCOME_UNKNOWN'],
  },
  removeDevice: {
    name: 'remove_device',
    summary: 'Remove a device, with its data points',
    success: { status: 202, description: 'It is removed', schema: DeviceDropped },
    refusals: ['OUTCOME_UNKNOWN'],
  },
  listPoints: {
    name: 'list_data_points',
    summary: 'The data points of a device',
    description:
      'A filter or sort on a running mean needs a lower and an upper bound on timestamp, at most 31 days apart.' +
      ' As CSV or NDJSON (by format or Accept), all rows that fit come instead of a page.',
    query: listArguments(Object.keys(pointColumnTypes), 'id').extend(formatArgument),
    success: { status: 200, description: 'A page of them, the oldest first', schema: DataPointList, lines: true },
    refusals: ['PAGE_UNKNOWN', 'FORMAT_INVALID', 'MEAN_UNBOUNDED', 'TOO_MANY_POINTS', ...reads],
  },
  addPoints: {
    name: 'add_data_points',
    summary: 'Store one data point, or up to 10,000',
    body: NewDataPoints,
    description: 'A point of the same device, parameter and timestamp replaces the old one.',
    success: { status: 201, description: 'The points that are valid are on disk', schema: StoredDataPoints },
    refusals: ['STORAGE_FULL', 'STORAGE_FAILED', 'TOO_MANY_BODIES', 'CLOSING'],
  },
  getPoint: {
    name: 'get_data_point',
    summary: 'One data point',
    success: { status: 200, description: 'The data point', schema: DataPoint },
    refusals: ['POINT_UNKNOWN', ...reads],
  },
  getLatestPoint: {
    name: 'get_latest_data_point',
    summary: 'The newest data point of a device',
    success: { status: 200, description: 'The data point, if there is one', schema: LatestDataPoint },
    refusals: reads,
  },
  listLog: emptyList('list_log', 'entries of the log'),
  getLog: {
    ...emptyList('get_log', 'entries of the log of a device'),
    success: { status: 200, description: 'The list; for a number, an entry without fields', schema: LogEntry },
  },
  listConnectionEvents: emptyList('list_connection_events', 'connections of a device'),
  listResearcherPoints: emptyList('list_researcher_data_points', 'data points for researchers'),
  listRawPoints: emptyList('list_raw_data_points', 'raw data points'),
} as const satisfies Record<string, PublishedAs>
