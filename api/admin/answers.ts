/** Answers of the admin API that the command line and the pages read, too. */

import { z } from 'zod'
import { DeviceDetails, DevicePage, Rotated } from '../../auth/devices/device.ts'
import { scopes } from '../../auth/keys/key.ts'
import { listPageFields } from '../../auth/list-page.ts'
import { TriedMessage } from '../../ingest/decoders/own-decoder.ts'
import { rejectCodes } from '../../ingest/formats/reject.ts'
import { rejectionWays } from '../../ingest/rejections/rejection.ts'
import { liveStates } from '../../query/live/live-state.ts'
import { metricKinds } from '../../store/metrics/metric.ts'
import { selfMonitoringColumns } from '../../store/tables.ts'

const ListedDevice = DeviceDetails.extend({
  state: z.enum(liveStates).nullable().meta({ description: 'Null until the state of the fleet is loaded.' }),
  last_reading: z.iso.datetime().nullable().meta({
    description: 'Time of the newest reading, or of the last sign-in until the state of the fleet is loaded.',
  }),
}).meta({ id: 'AdminListedDevice' })
export type ListedDevice = z.infer<typeof ListedDevice>

export const AdminDevicePage = DevicePage.extend({ devices: z.array(ListedDevice) }).meta({ id: 'AdminDevicePage' })
export type AdminDevicePage = z.infer<typeof AdminDevicePage>

/** Each change takes some milliseconds. */
export const bulkDevicesMax = 500
/** Reason for devices behind a failure that ends the whole request. */
export const notTried = 'not tried'

export const DeviceBulkAnswer = z.object({
  done: z.int().meta({ description: 'Changed devices' }),
  failed: z.array(z.object({ device: z.string(), reason: z.string() })),
  issued: z.array(Rotated).meta({ description: 'The new passwords, shown only once' }),
})
export type DeviceBulkAnswer = z.infer<typeof DeviceBulkAnswer>

const time = () => z.iso.datetime()

const AdminKey = z.object({
  id: z.int(),
  account: z.int(),
  email: z.string(),
  name: z.string(),
  prefix: z.string(),
  scopes: z.array(z.enum(scopes)),
  create_devices: z.boolean(),
  tags: z.array(z.string()),
  state: z.enum(['active', 'expired', 'revoked']),
  created_at: time(),
  last_used_at: time().nullable(),
  expires_at: time().nullable(),
  revoked_at: time().nullable(),
})

export const AdminKeyPage = z.object({
  keys: z.array(AdminKey),
  ...listPageFields,
})
export type AdminKeyPage = z.infer<typeof AdminKeyPage>

/** The key is shown only in this answer. */
export const AddedKey = AdminKey.extend({ key: z.string() })
export type AddedKey = z.infer<typeof AddedKey>

export const MetricCatalogue = z.object({
  metrics: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      /** Other names that find the metric. */
      aliases: z.array(z.string()),
      unit: z.string().nullable(),
      unit_sign: z.string().nullable(),
      kind: z.enum(metricKinds),
      decimals: z.int(),
      min: z.number().nullable(),
      max: z.number().nullable(),
    }),
  ),
  units: z.array(
    z.object({
      code: z.string(),
      sign: z.string(),
      /** Units of one dimension are converted into each other. */
      dimension: z.string(),
      aliases: z.array(z.string()),
    }),
  ),
})
export type MetricCatalogue = z.infer<typeof MetricCatalogue>

const Reject = z.object({
  /** Counts all lines of the body from 1, the header included. */
  line: z.int(),
  device: z.string().optional(),
  sn: z.string().optional(),
  code: z.enum(rejectCodes),
  reason: z.string(),
})

export const ImportAnswer = z.object({
  accepted: z.int(),
  /** Lines whose row replaced an earlier line with the same series and time. `accepted` excludes them. */
  replaced: z.int(),
  rejected: z.int(),
  rejects: z.array(Reject),
  /** True if more lines were rejected than are listed. */
  rejects_truncated: z.boolean(),
  /** Unknown columns of the header. */
  left_out: z.int().optional().meta({ description: 'Readings that are stored without values out of range.' }),
  left_out_lines: z.array(Reject).optional().meta({ description: 'The first 1,000 of them, with the reasons.' }),
  ignored_columns: z.array(z.string()),
})
export type ImportAnswer = z.infer<typeof ImportAnswer>

/** Each table has its own dead letters: an id belongs to one journal. */
export const letterTables = ['readings', 'points'] as const
export type LetterTable = (typeof letterTables)[number]

export const letterTable = z.enum(letterTables)
export const letterId = z.int().nonnegative()

export const DeadLetterPage = z.object({
  dead_letters: z.array(
    z.object({
      table: letterTable,
      id: letterId,
      at: z.string(),
      reason: z.string(),
      /** Series of the row: the device's symbol, or the station, its parameter and the unit. */
      symbol: z.string(),
      time: z.string(),
      values: z.record(z.string(), z.number().nullable()),
    }),
  ),
  /** Damaged files, and cut or undecodable rows of PostgreSQL. They can only be discarded. */
  damaged: z.array(
    z.object({
      table: letterTable,
      id: letterId,
      /** Name of the file in the journal's directory, or the topic and the id in PostgreSQL. */
      name: z.string(),
      reason: z.string(),
    }),
  ),
  /** Argument for `?after=`, or null on the last page. */
  next: letterId.nullable(),
})
export type DeadLetterPage = z.infer<typeof DeadLetterPage>
export type DeadLetter = DeadLetterPage['dead_letters'][number]
export type DamagedLetter = DeadLetterPage['damaged'][number]

export const Replayed = z.object({
  replayed: z.int(),
  /** Number of damaged dead letters, which are not replayed. */
  damaged: z.int(),
})
export type Replayed = z.infer<typeof Replayed>
export const Discarded = z.object({ discarded: z.int() })

export const rejectionWay = z.enum(rejectionWays)
const rejectionId = z.int().positive()

export const RejectionPage = z.object({
  /** The answering node: each node keeps its own rejections. */
  node: z.object({ id: z.string(), host: z.string() }).optional(),
  /** Start of the service, which begins the list. */
  since: z.string(),
  /** All since the start, including those beyond the list. */
  rejected: z.int().nonnegative(),
  rejections: z.array(
    z.object({
      id: rejectionId,
      /** Time of the latest one. */
      at: z.string(),
      first_at: z.string(),
      way: rejectionWay,
      /** The addressed device or station, as far as it is known. */
      device: z.string().nullable(),
      /** The device, key or address of the credential, or the client's address without a valid one. */
      sender: z.string(),
      reason: z.string(),
      /** Number of equal rejections. */
      count: z.int().positive(),
    }),
  ),
  /** Argument for `?after=`, or null on the last page. */
  next: rejectionId.nullable(),
})
export type RejectionPage = z.infer<typeof RejectionPage>
export type Rejection = RejectionPage['rejections'][number]

export const UnknownDevicePage = z.object({
  /** The answering node: each node keeps its own list. */
  node: z.object({ id: z.string(), host: z.string() }).optional(),
  /** Start of the service, which begins the list. */
  since: z.string(),
  devices: z.array(
    z.object({
      name: z.string(),
      way: rejectionWay,
      /** The key, or the broker. */
      sender: z.string(),
      /** The account of the key, which has to own the device. */
      owner: z.int().nullable(),
      /** The decoder of the latest message. */
      family: z.string(),
      /** Time of the latest message. */
      at: z.string(),
      first_at: z.string(),
      messages: z.int().positive(),
      metrics: z.array(z.string()),
    }),
  ),
  /** The list has one page. */
  next: z.null(),
})
export type UnknownDevicePage = z.infer<typeof UnknownDevicePage>

export type { DecoderDetails, DecoderPage, NewDecoder } from '../../ingest/decoders/own-decoder.ts'

const node = RejectionPage.shape.node

export const RecentMessagePage = z.object({
  /** The answering node: each node keeps its own messages. */
  node,
  places: z.array(
    z.object({
      ...TriedMessage.pick({ way: true, place: true }).shape,
      /** Kept messages. */
      count: z.int().positive(),
      /** Time of the latest one. */
      at: z.iso.datetime(),
    }),
  ),
  /** Messages of the topic or webhook of the query, latest first. */
  messages: z.array(TriedMessage.omit({ readings: true, reason: true })),
})
export type RecentMessagePage = z.infer<typeof RecentMessagePage>

export const TriedDecoder = z.object({ node, messages: z.array(TriedMessage) })
export type TriedDecoder = z.infer<typeof TriedDecoder>

const value = z.number().nullable()

export const StatusHistory = z.object({
  hours: z.int(),
  step_s: z.int(),
  /** Oldest first, without points of downtime. A step has its worst value, or a sum. */
  points: z.array(
    z.object({
      time: z.iso.datetime(),
      ...(Object.fromEntries(selfMonitoringColumns.map(({ name }) => [name, value])) as Record<
        (typeof selfMonitoringColumns)[number]['name'],
        typeof value
      >),
    }),
  ),
})
export type StatusHistory = z.infer<typeof StatusHistory>
