/** The pool of bulk readers: a thread beside the main one, started by the first import and ended some minutes after the last. */

import type { Readable } from 'node:stream'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { threadLimits } from '../../store/thread-limits.ts'
import type { Format, LineLimits } from '../formats/lines.ts'
import type { DecimalMark } from '../formats/number.ts'
import type { RowCheckOptions } from '../formats/row-kind.ts'
import type { RowKindName } from '../formats/row-kinds.ts'
import type { TimeLimits } from '../reading.ts'
import type { BodyLimits, Coding } from './body-bytes.ts'
import type { BodyTask } from './import-worker.ts'
import type { FieldResolver, FindKnown } from './resolve-names.ts'
import { type ResolveNames, ThreadBody } from './thread-body.ts'

export interface ImportPoolOptions extends Omit<RowCheckOptions, 'defaultDevice' | 'earliestMs' | 'deviceOf'> {
  kind: RowKindName
  now: () => number
  /** Called as often as the clock. */
  earliestMs?: TimeLimits['earliestMs']
  /** Number of concurrent bodies. */
  bodiesMax: number
}

export interface BodySource {
  /** The arriving body. Destroyed when reading ends early. */
  body: Readable
  format: Format
  /** Decimal mark in CSV. By default the lines decide. */
  decimal?: DecimalMark | undefined
  /** Coding of the body. Default: `identity`. */
  coding?: Coding
  resolve: ResolveNames
  /** Finds devices whose names the thread has already resolved. Without it all names are resolved. */
  known?: FindKnown | undefined
  /** Resolves fields that may be stored without a column. */
  fields?: FieldResolver | undefined
  /** The device of readings that name none. */
  defaultDevice?: string | undefined
  /** Requests a SHA-256 of this and the uncompressed body. */
  digestPrefix?: string
}

export interface BodyBounds extends LineLimits, BodyLimits {
  /** Limit of the listed rejects. Others are only counted. */
  rejectsMax: number
}

export interface ImportPool {
  open(source: BodySource, bounds: BodyBounds): ThreadBody
  close(): Promise<void>
}

/** One thread reads about a million lines of CSV a second, more than the journal's disk and QuestDB accept. */
const threadsMax = 1
/**
 * Bodies arrive every few seconds or minutes. A new thread takes longer than most of them, and reads a million rows before V8 has
 * compiled all.
 */
export const idleMsMax = 5 * 60_000

export function createImportPool({ now, earliestMs, bodiesMax, ...checks }: ImportPoolOptions): ImportPool {
  const pool = new Piscina({
    filename: new URL('./import-worker.ts', import.meta.url).href,
    name: 'readBody',
    minThreads: 0,
    maxThreads: threadsMax,
    // A body mostly waits for its sender.
    concurrentTasksPerWorker: bodiesMax,
    // The thread has to close the resources of a body before the next one.
    atomics: 'disabled',
    idleTimeout: idleMsMax,
    maxQueue: bodiesMax,
    resourceLimits: threadLimits.readingsImport,
  })
  const times = () => ({ nowMs: now(), earliestMs: earliestMs?.() })

  function open({ body, resolve, known, fields, ...source }: BodySource, limits: BodyBounds): ThreadBody {
    const { port1, port2 } = new MessageChannel()
    const { format, decimal, coding = 'identity', defaultDevice, digestPrefix } = source
    const { bodyBytesMax = Number.POSITIVE_INFINITY, chunkBytes, lineBytesMax, rejectsMax } = limits
    const task: BodyTask = {
      ...checks,
      port: port2,
      format,
      decimal,
      coding,
      defaultDevice,
      digestPrefix,
      usesKnownNames: known !== undefined,
      bodyBytesMax,
      chunkBytes,
      lineBytesMax,
      rejectsMax,
    }
    const threadBody = new ThreadBody({ port: port1, body, limits, times, resolve, known, fields })
    // The port reports its end.
    pool.run(task, { transferList: [port2] }).catch((error: Error) => threadBody.fail(error))
    return threadBody
  }

  return { open, close: () => pool.destroy() }
}
