/** Takes the bodies of `POST /api/log/batch`: some at a time, and a few of each credential. */

import { createHash } from 'node:crypto'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Writer } from '../../auth/writers.ts'
import { importAllOrNothing } from '../../ingest/import/all-or-nothing.ts'
import { createBulkJournal } from '../../ingest/import/bulk-journal.ts'
import { createImporter } from '../../ingest/import/import.ts'
import {
  type ImportReport,
  type ImportResult,
  type ImportSource,
  NamesUnavailable,
} from '../../ingest/import/import-session.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Ranges, TimeLimits } from '../../ingest/reading.ts'
import type { ClaimRefusal } from '../idempotency/claim-group.ts'
import type { Claims } from '../idempotency/claims.ts'
import type { LoggerErrorCode } from './errors.ts'
import { claimRefusals } from './key-errors.ts'
import { resolveDevices } from './resolve-devices.ts'

export interface BatchImportOptions extends TimeLimits {
  devices: Pick<Devices, 'seen'>
  ingest: Pick<Ingest, 'append' | 'clockUs' | 'status'>
  ranges: Ranges
  /** Of a body without its compression, and of the records of a strict one. */
  bodyBytesMax: number
  /** For the records of large strict bodies. */
  spoolDirectory: string
  claims: Pick<Claims, 'claim'>
  limits?: Partial<typeof defaultLimits>
}

const defaultLimits = {
  /** Of all senders: each body takes some 2 MiB of memory, and four of them up to 8. */
  sessionsMax: 32,
  /** Of one credential. */
  sessionsPerWriterMax: 2,
  silenceMsMax: 15_000,
  /** Rejects that are listed; more are only counted. */
  rejectsMax: 1_000,
  /** Of the records of a strict body; beyond it they are in a file. */
  spoolMemoryBytesMax: 4 << 20,
}

const chunkBytes = 1 << 18
const largeChunkBytes = 1 << 20

interface BatchBody extends Pick<ImportSource, 'body' | 'format'> {
  isStrict: boolean
  /** Its idempotency key. */
  key: string | undefined
}

interface BatchResult extends ImportResult {
  /** Why the body was not stored though it could be read. */
  refusal?: LoggerErrorCode
}

export interface BatchImporter {
  /** Says `busy` at once when the writer has as many bodies under way as it may. */
  run(writer: Writer, body: BatchBody): Promise<BatchResult> | 'busy'
  close(): Promise<void>
}

export function createBatchImporter(options: BatchImportOptions): BatchImporter {
  const { devices, ingest, ranges, aheadMsMax, earliestMs, bodyBytesMax, spoolDirectory, claims } = options
  const limits = { ...defaultLimits, ...options.limits }
  const { sessionsMax, silenceMsMax, rejectsMax, spoolMemoryBytesMax } = limits
  const nowMs = () => Math.floor(ingest.clockUs() / 1000)
  const { append, hasRoom } = createBulkJournal(ingest)
  const importer = createImporter({
    ...{ kind: 'readings', append, now: nowMs, ranges, aheadMsMax, earliestMs },
    limits: { chunkBytes, largeChunkBytes, rejectsMax, sessionsMax, bodyBytesMax, silenceMsMax },
  })
  const spool = { directory: spoolDirectory, memoryBytesMax: spoolMemoryBytesMax, bytesMax: bodyBytesMax }
  const running = new Map<string, number>()

  function run(writer: Writer, body: BatchBody): Promise<BatchResult> | 'busy' {
    const count = running.get(writer.id) ?? 0
    if (count >= limits.sessionsPerWriterMax) return 'busy'
    running.set(writer.id, count + 1)
    return importBody(writer, body).finally(() => release(writer.id))
  }

  async function importBody(writer: Writer, { isStrict, key, ...body }: BatchBody): Promise<BatchResult> {
    const source = { ...sourceOf(writer), ...body }
    const storing = { importer, append, hasRoom, spool }
    const isAccepted = ({ rejected }: ImportReport) => !isStrict || rejected === 0
    if (key === undefined && !isStrict) return await importer.run(source)
    if (key === undefined) {
      return await importAllOrNothing(source, { ...storing, mayStore: async report => isAccepted(report) })
    }
    // What the key belongs to is known at the end of the body, so nothing is stored before.
    const fingerprint = createHash('sha256').update(`POST /api/log/batch ${body.format}\n`)
    let refusal: ClaimRefusal | undefined
    const mayStore = async (report: ImportReport) => {
      if (!isAccepted(report)) return false
      // Its readings have times of their own.
      const request = { writer: writer.id, key, fingerprint: fingerprint.digest(), needsStamp: false }
      const { kind } = await claims.claim(request)
      if (kind !== 'claimed') refusal = kind
      return kind === 'claimed'
    }
    const onBytes = (bytes: Uint8Array) => void fingerprint.update(bytes)
    const result = await importAllOrNothing({ ...source, onBytes }, { ...storing, mayStore })
    return refusal === undefined ? result : { ...result, refusal: claimRefusals[refusal].code }
  }

  function sourceOf(writer: Writer): Pick<ImportSource, 'resolve' | 'onStored' | 'defaultDevice'> {
    return {
      resolve: names => resolve(names, writer),
      onStored(series) {
        for (const { number } of series) devices.seen({ number }, nowMs())
      },
      defaultDevice: writer.device?.name,
    }
  }

  function release(id: string): void {
    const count = (running.get(id) ?? 1) - 1
    if (count > 0) running.set(id, count)
    else running.delete(id)
  }

  return { run, close: importer.close }
}

async function resolve(names: readonly (readonly string[])[], writer: Writer) {
  const deviceNames = names.map(([name = '']) => name)
  const resolved = await resolveDevices(deviceNames, writer)
  if (resolved === 'later') throw new NamesUnavailable('a device is being changed, or PostgreSQL does not answer')
  return resolved
}
