/** Imports the bodies of `POST /api/log/batch`, bounded in total and for each credential. */

import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Device } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { BulkFields } from '../../auth/metrics/device-fields.ts'
import type { CredentialWriter, Writer } from '../../auth/writers.ts'
import type { Series } from '../../ingest/formats/row-kind.ts'
import type { Claims } from '../../ingest/idempotency/claims.ts'
import { importAllOrNothing } from '../../ingest/import/all-or-nothing.ts'
import { createBulkJournal } from '../../ingest/import/bulk-journal.ts'
import { createImporter, type Failure, type ImportResult, type ImportSource } from '../../ingest/import/import.ts'
import type { ResolveNames } from '../../ingest/import/thread-body.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { expiredReason, type Ranges, type TimeLimits } from '../../ingest/reading.ts'
import { Capacity } from '../../store/limits/capacity.ts'
import type { LoggerErrorCode } from '../http/status-operations.ts'
import type { BatchHead } from './batch-head.ts'
import { claimRefusals } from './find-writer.ts'
import { createFieldResolver, createFindKnown, known, resolveDevices } from './resolve-devices.ts'
import { createSender, type Sender } from './sender.ts'

export interface BatchImportOptions extends TimeLimits {
  devices: Pick<Devices, 'seen'>
  bulkFields: BulkFields
  ingest: Pick<Ingest, 'append' | 'term' | 'clockUs' | 'status'>
  ranges: Ranges
  /** Limit for an uncompressed body, and for the records of a strict one. */
  bodyBytesMax: number
  /** Holds records of large strict bodies. */
  spoolDirectory: string
  claims: Pick<Claims, 'claim' | 'once'>
  limits?: Partial<typeof defaultLimits>
}

const defaultLimits = {
  /** Limit for all senders: each body takes some 2 MiB of memory, and four of them up to 8. */
  sessionsMax: 32,
  /** Limit for one credential. */
  sessionsPerWriterMax: 2,
  silenceMsMax: 15_000,
  chunkBytes: 1 << 18,
  largeChunkBytes: 1 << 20,
  /** Listed rejects; further ones are only counted. */
  rejectsMax: 1_000,
  /** Records of a strict body beyond it are in a file. */
  spoolMemoryBytesMax: 4 << 20,
}

interface BatchResult extends ImportResult {
  /** Reason why no reading of a readable body was stored. */
  refusal?: { code: LoggerErrorCode; members?: object | undefined }
}

export interface BatchImporter {
  /** Returns `busy` at once, without opening a body, if the writer has its limit in progress. */
  run(writer: CredentialWriter, head: BatchHead, open: () => Readable): Promise<BatchResult> | 'busy'
  close(): Promise<void>
}

export function createBatchImporter(options: BatchImportOptions): BatchImporter {
  const { devices, bulkFields, ingest, ranges, aheadMsMax, earliestMs, bodyBytesMax, spoolDirectory, claims } = options
  const limits = { ...defaultLimits, ...options.limits }
  const nowMs = () => Math.floor(ingest.clockUs() / 1000)
  const earliestNowMs = () => earliestMs?.() ?? Number.NEGATIVE_INFINITY
  const { append, term, hasRoom } = createBulkJournal(ingest)
  const checks = { ranges, aheadMsMax, earliestMs }
  const importer = createImporter({
    kind: 'readings',
    append: records => append(records),
    now: nowMs,
    ...checks,
    limits: { ...limits, bodyBytesMax },
  })
  const spool = { directory: spoolDirectory, memoryBytesMax: limits.spoolMemoryBytesMax, bytesMax: bodyBytesMax }
  const running = new Capacity<BatchHead>({ max: Number.POSITIVE_INFINITY })

  function run(writer: CredentialWriter, head: BatchHead, open: () => Readable): Promise<BatchResult> | 'busy' {
    if (running.amountOf(writer.id) >= limits.sessionsPerWriterMax) return 'busy'
    running.take(head, [writer.id])
    return importBody(writer, head, open()).finally(() => running.release(head))
  }

  async function importBody(writer: CredentialWriter, head: BatchHead, body: Readable): Promise<BatchResult> {
    const { format, coding, isStrict, key } = head
    const sender = createSender(writer)
    const source: ImportSource = {
      body,
      format,
      coding,
      defaultDevice: writer.device?.name,
      resolve: names => resolve(names, sender.writer()),
      known: createFindKnown(sender.writer),
      fields: createFieldResolver(bulkFields, sender),
      refusal: series => refusalOf(sender, series),
      onStored: series => seeAll(devices, series, nowMs()),
    }
    return isStrict || key !== undefined ? await importWhole(source, sender, head) : await importer.run(source)
  }

  /** The end of the body decides about an idempotency key, so nothing is stored before. */
  async function importWhole(source: ImportSource, sender: Sender, head: BatchHead): Promise<BatchResult> {
    const { format, isStrict, key } = head
    let refusal: BatchResult['refusal']
    const refuse = (why: NonNullable<BatchResult['refusal']>) => {
      refusal = why
      return 'refused' as const
    }
    const keyed = key === undefined ? source : { ...source, digestPrefix: `POST /api/log/batch ${format}\n` }
    const result = await importAllOrNothing(keyed, {
      importer,
      append,
      term,
      hasRoom,
      spool,
      async decide({ report, digest, series, oldestMs }, store) {
        if (isStrict && report.rejected > 0) return 'refused'
        const storeNow = async () => {
          const ended = await refusalOf(sender, series)
          if (ended !== undefined) return ended
          return oldestMs < earliestNowMs() ? refuse(expired(isStrict, earliestNowMs())) : await store()
        }
        if (key === undefined) return await storeNow()
        // The readings have their own times.
        const request = { writer: sender.writer().id, key, fingerprint: Buffer.from(digest ?? []), needsStamp: false }
        const claim = await claims.claim(request)
        if (claim.kind !== 'claimed') return refuse(claimRefusals[claim.kind])
        // With rejects, a repeated body may store other readings.
        if (report.rejected > 0) return await storeNow()
        return await claims.once(claim, digestOf(series), storeNow)
      },
    })
    return refusal === undefined ? result : { ...result, refusal }
  }

  return { run, close: importer.close }
}

/**
 * A repeated strict body gets the same answer. Other bodies have their expired readings rejected and the rest stored.
 */
function expired(isStrict: boolean, earliestMs: number): NonNullable<BatchResult['refusal']> {
  const detail = `timestamps ${expiredReason(earliestMs)}`
  return { code: isStrict ? 'READINGS_REJECTED' : 'LATER', members: { detail } }
}

function seeAll(devices: Pick<Devices, 'seen'>, series: readonly Series[], timeMs: number): void {
  for (const device of series) devices.seen(device, timeMs)
}

/** `resolve` has found them, so they are devices of the registry. */
async function refusalOf(sender: Sender, series: readonly Series[]): Promise<Failure | undefined> {
  const refusal = await sender.refusal(series as readonly Device[])
  return refusal && failures[refusal]
}

/** The names of a repeated body may belong to other devices. */
function digestOf(series: readonly Series[]): string {
  return hash('sha256', series.map(({ number }) => number).join(), 'base64')
}

const failures = {
  UNAUTHENTICATED: { code: 'UNAUTHORIZED', reason: 'the credential is no longer valid' },
  FORBIDDEN: { code: 'FORBIDDEN', reason: 'the credential may no longer write these devices' },
  later: { code: 'DATABASE_AWAY', reason: 'a device was changed meanwhile, or PostgreSQL does not answer' },
} as const satisfies Record<string, Failure>

async function resolve(names: readonly (readonly string[])[], writer: Writer): ReturnType<ResolveNames> {
  const deviceNames = names.map(([name = '']) => name)
  return known(await resolveDevices(deviceNames, writer))
}
