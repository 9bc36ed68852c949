/** `GET /status`: how the service is, for a person at the command line. */

import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { z } from 'zod'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Ingest, IngestStatus, PointsIngest } from '../../ingest/ingest.ts'
import type { DiskUse } from '../../lifecycle/disk/disk-use.ts'
import { type WaitingDays, waitReasons } from '../../lifecycle/retention/due-days.ts'
import { dayText } from '../../lifecycle/retention/expired-days.ts'
import type { Retention, RetentionState } from '../../lifecycle/retention/retention.ts'
import type { Store } from '../../store/store.ts'
import { packageVersion } from '../../store/version.ts'
import { addPath } from './paths.ts'

const Database = z.object({
  /** Started here, or one that was given. */
  kind: z.enum(['own', 'given']),
  state: z.enum(['starting', 'up', 'away']),
  reason: z.string().nullable(),
  version: z.string().nullable(),
})

const journalFields = {
  bytes: z.number(),
  bytes_max: z.number(),
  /** Bytes that were cut off or put aside because they were damaged. */
  damaged_bytes: z.number(),
  /** Why it cannot be written, or read and trimmed, at present. */
  fault: z.string().nullable(),
}

export const Status = z.object({
  versions: z.object({ barograph: z.string(), node: z.string(), java: z.string().nullable() }),
  /** Of the process. */
  uptime_s: z.number(),
  devices: z.int(),
  questdb: Database.extend({
    /** `sync` when what it has applied survives a power cut. */
    commit_mode: z.string().nullable(),
    /** A suspended table of readings takes them and shows none of them. */
    suspended: z.boolean(),
    /** Why it takes nothing at present. */
    fault: z.string().nullable(),
  }),
  postgres: Database,
  journal: z.object({
    ...journalFields,
    /** Readings made durable since the start. */
    readings: z.number(),
  }),
  /** Readings in the journal that are not yet visible to queries, and the age of the oldest. */
  lag: z.object({ readings: z.number(), seconds: z.number() }),
  /** Of the readings. */
  dead_letters: z.int(),
  /** The same of the points of air-quality stations, which have a journal and a table of their own. */
  points: z.object({
    journal: z.object({ ...journalFields, points: z.number() }),
    lag: z.object({ points: z.number(), seconds: z.number() }),
    dead_letters: z.int(),
    suspended: z.boolean(),
    fault: z.string().nullable(),
  }),
  /** Of the raw readings. */
  retention: z.object({
    /** RETENTION_DAYS; null when they never expire, and then nothing is looked at. */
    days: z.int().nullable(),
    oldest_day: z.iso.date().nullable(),
    /** Days that were removed since the start. */
    expired_days: z.int(),
    last_run: z.iso.datetime().nullable(),
    /** Why that run failed. */
    fault: z.string().nullable(),
    /** Days that are due by the clock, and stay until a person confirms that they expire, or newer readings come. */
    waiting: z
      .object({
        /** The oldest one, and the day behind the last one. */
        ...{ from: z.iso.date(), before: z.iso.date() },
        /** Of these, those that have raw readings. */
        days: z.int(),
        reason: z.enum(waitReasons),
      })
      .nullable(),
  }),
  disk: z.object({
    ...{ path: z.string(), free_bytes: z.number(), total_bytes: z.number() },
    /** What is on this disk of ours, measured once an hour: null until then, and for an external database. */
    journal_bytes: z.number().nullable(),
    questdb_bytes: z.number().nullable(),
    postgres_bytes: z.number().nullable(),
    /** By the last two weeks; null while there are fewer than four days to tell by. */
    growth_bytes_per_day: z.number().nullable(),
    /** Null when it is not known, when nothing grows, and when the oldest readings expire before. */
    days_until_full: z.number().nullable(),
  }),
})
export type Status = z.infer<typeof Status>

export interface StatusOptions {
  devices: Pick<Devices, 'size'>
  ingest: Pick<Ingest, 'status'>
  pointsIngest: Pick<PointsIngest, 'status'>
  store: Store
  dataDirectory: string
  diskUse: Pick<DiskUse, 'read'>
  retention: Pick<Retention, 'state'>
  isPostgresManaged: boolean
}

export function registerStatus(scope: FastifyInstance, options: StatusOptions): void {
  addPath(scope, '/status', { GET: async (_request, reply) => reply.send(await readStatus(options)) })
}

async function readStatus({
  devices,
  ingest,
  pointsIngest,
  store,
  dataDirectory,
  diskUse,
  retention,
  isPostgresManaged,
}: StatusOptions): Promise<Status> {
  const readings = ingest.status()
  const points = pointsIngest.status()
  const versions = store.versions()
  const [postgresFault, disk] = await Promise.all([askPostgres(store.postgres), diskUse.read()])
  const { questdb } = store
  return {
    versions: { barograph: packageVersion(), node: process.versions.node, java: versions.java ?? null },
    uptime_s: Math.round(process.uptime()),
    devices: devices.size(),
    questdb: {
      ...{ kind: questdb.managed ? 'own' : 'given', state: questdb.state().state },
      ...{ reason: questdb.state().reason ?? null, version: versions.questdb ?? null },
      ...{ commit_mode: questdb.commitMode() ?? null },
      ...forwarderOf(readings),
    },
    postgres: {
      ...{ kind: isPostgresManaged ? 'own' : 'given', state: postgresFault === undefined ? 'up' : 'away' },
      ...{ reason: postgresFault ?? null, version: versions.postgres },
    },
    journal: { ...journalOf(readings), readings: readings.journal.records },
    lag: { readings: readings.lag.rows, seconds: readings.lag.seconds },
    dead_letters: readings.forwarder.deadLetters,
    points: {
      journal: { ...journalOf(points), points: points.journal.records },
      lag: { points: points.lag.rows, seconds: points.lag.seconds },
      dead_letters: points.forwarder.deadLetters,
      ...forwarderOf(points),
    },
    retention: retentionOf(retention.state()),
    disk: {
      ...{ path: dataDirectory, free_bytes: disk.freeBytes, total_bytes: disk.totalBytes },
      journal_bytes: disk.journalBytes ?? null,
      questdb_bytes: disk.questdbBytes ?? null,
      postgres_bytes: disk.postgresBytes ?? null,
      growth_bytes_per_day: disk.growthBytesPerDay ?? null,
      days_until_full: disk.daysUntilFull ?? null,
    },
  }
}

function retentionOf(state: RetentionState): Status['retention'] {
  const { days, oldestDayMs, expiredDays, lastRunMs, fault, waiting } = state
  return {
    days: days ?? null,
    oldest_day: oldestDayMs === undefined ? null : dayText(oldestDayMs),
    expired_days: expiredDays,
    last_run: lastRunMs === undefined ? null : new Date(lastRunMs).toISOString(),
    fault: fault ?? null,
    waiting: waiting === undefined ? null : waitingOf(waiting),
  }
}

function waitingOf({ fromMs, beforeMs, days, reason }: WaitingDays): Status['retention']['waiting'] {
  return { from: dayText(fromMs), before: dayText(beforeMs), days, reason }
}

function journalOf({ journal, forwarder }: IngestStatus) {
  return {
    ...{ bytes: journal.bytes, bytes_max: journal.bytesMax },
    damaged_bytes: journal.tornBytes + forwarder.damagedBytes,
    fault: journal.issue ?? forwarder.fileIssue ?? null,
  }
}

function forwarderOf({ forwarder }: IngestStatus) {
  return { suspended: forwarder.suspended, fault: forwarder.issue ?? null }
}

/** Undefined when it answers. */
async function askPostgres(pool: pg.Pool): Promise<string | undefined> {
  try {
    await pool.query('SELECT 1')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
