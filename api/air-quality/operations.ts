/** Declares the operations of this API as in its contract. The other files answer them. */

import { z } from 'zod'
import { operators } from '../../query/conditions/select-rows.ts'
import { pointColumnTypes } from '../../query/points/point-columns.ts'
import { AccountObject } from './account-object.ts'
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
import { DeviceChangeBody, NewDeviceBody } from './device-body.ts'
import { DeviceObject } from './device-object.ts'
import { type Declared, declare, location } from './operation.ts'
import { NewDataPoints, typeOf } from './point-body.ts'
import { perPageDefault, perPageMax } from './query/paging.ts'

const paging = {
  page: z.int().min(1).default(1),
  per_page: z
    .int()
    .min(1)
    .max(perPageMax)
    .default(perPageDefault)
    .meta({ description: 'Rows of a page; more than the maximum counts as the maximum.' }),
}

/** Arguments of lists. query/ parses them by hand, because invalid numbers count as missing. A test compares both. */
const PageArguments = z.object(paging)

/** Every order ends with the column `last`. */
function listArguments(columns: readonly string[], last: string) {
  const names = columns.join(', ')
  const filter =
    'column,operator,value; several are joined by ";", and all have to be true; in takes several values.' +
    ` Columns: ${names}. Operators: ${operators.join(', ')}.`
  const sort = `column,asc or column,desc; several are joined by ";". Columns: ${names}. Every order ends with ${last}.`
  return z.object({
    filter: z.string().optional().meta({ description: filter }),
    sort: z.string().optional().meta({ description: sort }),
    ...paging,
    limit: z.int().min(1).optional().meta({ description: 'The most rows on all pages together.' }),
    until: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'Links in meta carry it, so that records added while a client reads the pages stay out.' }),
  })
}

const formatArgument = {
  format: z
    .enum(Object.keys(typeOf) as (keyof typeof typeOf)[])
    .optional()
    .meta({ description: 'Takes precedence over Accept.' }),
}

export const checkKey = declare({
  method: 'GET',
  path: '/auth',
  slash: 'required',
  permission: 'read',
  name: 'check_key',
  summary: 'Check the API key',
  success: { status: 200, description: 'The key is valid', json: KeyCheck },
})

export const getAccount = declare({
  method: 'GET',
  path: '/account',
  slash: 'either',
  permission: 'read',
  name: 'get_account',
  summary: 'The account that the API key belongs to',
  success: { status: 200, description: 'The account', json: AccountObject },
})

export const listDevices = declare({
  method: 'GET',
  path: '/device',
  slash: 'required',
  permission: 'read',
  name: 'list_devices',
  summary: 'The devices that the API key may read',
  parameters: { query: listArguments(Object.keys(DeviceObject.shape), 'sn') },
  success: { status: 200, description: 'A page of them, by sn', json: DeviceList },
  refusals: ['PAGE_UNKNOWN'],
})

export const addDevice = declare({
  method: 'POST',
  path: '/device',
  slash: 'required',
  permission: 'add',
  name: 'add_device',
  summary: 'Add a device',
  body: { json: NewDeviceBody },
  success: { status: 201, description: 'The device', json: DeviceObject, headers: location },
  refusals: ['SN_TAKEN', 'REGISTRY_FULL', 'OUTCOME_UNKNOWN'],
})

export const getDevice = declare({
  method: 'GET',
  path: '/device/:sn',
  slash: 'none',
  permission: 'read',
  name: 'get_device',
  summary: 'One device',
  success: { status: 200, description: 'The device', json: DeviceObject },
})

export const changeDevice = declare({
  method: 'PUT',
  path: '/device/:sn',
  slash: 'none',
  permission: 'change',
  name: 'change_device',
  summary: 'Change a device',
  description:
    'Takes one field or a whole device as it was read. Absent fields stay unchanged, and unknown fields are ignored.',
  body: { json: DeviceChangeBody },
  success: { status: 200, description: 'The changed device', json: DeviceObject },
  refusals: ['OUTCOME_UNKNOWN'],
})

export const removeDevice = declare({
  method: 'DELETE',
  path: '/device/:sn',
  slash: 'none',
  permission: 'remove',
  name: 'remove_device',
  summary: 'Remove a device, with its data points',
  success: { status: 202, description: 'It is removed', json: DeviceDropped },
  refusals: ['OUTCOME_UNKNOWN'],
})

const reads = ['TIMED_OUT', 'QUEUE_FULL'] as const
const lineTypes = [typeOf.csv, typeOf.ndjson].map(type => type.split(';')[0] ?? '')

export const listPoints = declare({
  method: 'GET',
  path: '/device/:sn/data',
  slash: 'required',
  permission: 'read',
  name: 'list_data_points',
  summary: 'The data points of a device',
  description:
    'A filter or sort on a running mean needs a lower and an upper bound on timestamp, at most 31 days apart.' +
    ' As CSV or NDJSON (by format or Accept), all rows that fit come instead of a page.',
  parameters: { query: listArguments(Object.keys(pointColumnTypes), 'id').extend(formatArgument) },
  success: { status: 200, description: 'A page of them, the oldest first', json: DataPointList, text: lineTypes },
  refusals: ['PAGE_UNKNOWN', 'FORMAT_INVALID', 'MEAN_UNBOUNDED', 'TOO_MANY_POINTS', ...reads],
})

export const addPoints = declare({
  method: 'POST',
  path: '/device/:sn/data',
  slash: 'required',
  permission: 'points.add',
  name: 'add_data_points',
  summary: 'Store one data point, or up to 10,000',
  description: 'A point of the same device, parameter and timestamp replaces the old one.',
  body: { json: NewDataPoints, isRaw: true },
  // Room for 400 bytes a point.
  bodyBytesMax: 4_000_000,
  success: { status: 201, description: 'The points that are valid are on disk', json: StoredDataPoints },
  refusals: ['STORAGE_FULL', 'STORAGE_FAILED', 'TOO_MANY_BODIES', 'CLOSING'],
})

export const getPoint = declare({
  method: 'GET',
  path: '/device/:sn/data/:id',
  slash: 'either',
  permission: 'read',
  name: 'get_data_point',
  summary: 'One data point',
  success: { status: 200, description: 'The data point', json: DataPoint },
  refusals: ['POINT_UNKNOWN', ...reads],
})

export const getLatestPoint = declare({
  method: 'GET',
  path: '/device/:sn/latest',
  slash: 'none',
  permission: 'read',
  name: 'get_latest_data_point',
  summary: 'The newest data point of a device',
  success: { status: 200, description: 'The data point, if there is one', json: LatestDataPoint },
  refusals: reads,
})

/** The log is listed by `sn`, or read by number. */
export const getLog = emptyList(
  { path: '/log/:which', slash: 'either', name: 'get_log', of: 'entries of the log of a device' },
  { description: 'The list; for a number, an entry without fields', json: LogEntry },
)

export const emptyLists: Declared[] = [
  emptyList({ path: '/log', slash: 'required', name: 'list_log', of: 'entries of the log' }),
  emptyList({
    path: '/connection_event/:sn',
    slash: 'either',
    name: 'list_connection_events',
    of: 'connections of a device',
  }),
  emptyList({
    path: '/researcher/device/:sn/data',
    slash: 'required',
    name: 'list_researcher_data_points',
    of: 'data points for researchers',
  }),
  emptyList({ path: '/device/:sn/data/raw', slash: 'required', name: 'list_raw_data_points', of: 'raw data points' }),
]

function emptyList(
  { of, ...address }: Pick<Declared, 'path' | 'slash' | 'name'> & { of: string },
  answer: Pick<Declared['success'], 'description' | 'json'> = { description: 'The list', json: EmptyList },
): Declared {
  return declare({
    method: 'GET',
    ...address,
    permission: 'read',
    summary: `An empty list of ${of}`,
    description: 'For clients of other servers of this interface; there is nothing to list here.',
    parameters: { query: PageArguments },
    success: { status: 200, ...answer },
    refusals: ['PAGE_UNKNOWN'],
  })
}
