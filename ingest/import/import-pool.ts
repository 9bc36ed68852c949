/** Where bulk bodies are read: a thread beside the main one, started by the first import and gone some minutes after the last. */

import type { Readable } from 'node:stream'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { threadLimits } from '../../store/thread-limits.ts'
import type { DecimalMark } from '../formats/decimal-mark.ts'
import type { Format } from '../formats/line-reader.ts'
import type { LineLimits } from '../formats/lines.ts'
import type { RowCheckOptions } from '../formats/row-kind.ts'
import type { RowKindName } from '../formats/row-kinds.ts'
import type { TimeLimits } from '../reading.ts'
import type { Coding } from './content-coding.ts'
import type { BodyTask } from './import-worker.ts'
import type { BodyLimits } from './limited-body.ts'
import type { FieldResolver } from './resolve-fields.ts'
import type { FindKnown } from './resolve-names.ts'
import { type ResolveNames, ThreadBody } from './thread-body.ts'

export interface ImportPoolOptions extends Omit<RowCheckOptions, 'defaultDevice' | 'earliestMs' | 'deviceOf'> {
  kind: RowKindName
  now: () => number
  /** Asked as often as the clock is. */
  earliestMs?: TimeLimits['earliestMs']
  /** Bodies at a time. */
  bodiesMax: number
}

export interface BodySource {
  /** As it comes in. Destroyed when its reading ends before it does. */
  body: Readable
  format: Format
  /** Of numbers in CSV; without one, the lines decide. */
  decimal?: DecimalMark | undefined
  /** Of the body; none is `identity`. */
  coding?: Coding
  resolve: ResolveNames
  /** Of names of devices that the thread has had resolved before; without it all are resolved. */
  known?: FindKnown | undefined
  /** Of rows that may have fields without a column. */
  fields?: FieldResolver | undefined
  /** The device of readings that name none. */
  defaultDevice?: string | undefined
  /** Asks for a SHA-256 of this and the body without its compression. */
  digestPrefix?: string
}

export interface BodyBounds extends LineLimits, BodyLimits {
  /** Rejects that are listed; more are only counted. */
  rejectsMax: number
}

export interface ImportPool {
  open(source: BodySource, bounds: BodyBounds): ThreadBody
  close(): Promise<void>
}

/** One thread reads about a million lines of CSV a second, which is more than the journal's disk and QuestDB take. */
const threadsMax = 1
/** Bodies come every few seconds or minutes. A new thread takes longer than most of them, and reads a million rows before V8 has compiled all. */
export const idleMsMax = 5 * 60_000

export function createImportPool({ now, earliestMs, bodiesMax, ...checks }: ImportPoolOptions): ImportPool {
  const pool = new Piscina({
    filename: new URL('./import-worker.ts', import.meta.url).href,
    name: 'readBody',
    minThreads: 0,
    maxThreads: threadsMax,
    // Most of the time a body waits for its sender.
    concurrentTasksPerWorker: bodiesMax,
    // Between two bodies the thread still has to close what they have opened.
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
    // Its end is told over the port.
    pool.run(task, { transferList: [port2] }).catch((error: Error) => threadBody.fail(error))
    return threadBody
  }

  return { open, close: () => pool.destroy() }
}
