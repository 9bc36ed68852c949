/**
 * Decoders that people write. All of them are in memory. A change commits in PostgreSQL and is in effect before its
 * call returns.
 */

import type pg from 'pg'
import { writeAudit } from '../../auth/audit.ts'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import { createRecordCache } from '../../auth/record-cache.ts'
import type { Log } from '../../store/log.ts'
import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import { hasEnded, type Transaction } from '../../store/postgres/transaction.ts'
import { createDecoder, createTopicReader, type Decode } from './decode.ts'
import { decoderOf, familyNames } from './decoders.ts'
import { DecoderDeclaration, type DecoderDetails, type NewDecoder, ownDecodersMax, ownFamily } from './own-decoder.ts'

/** A decoder and the name of its family. */
export interface NamedDecoder {
  readonly family: string
  readonly decode: Decode
}

/** Decoders of the families and of people. */
export interface Decoders {
  /** Undefined for a name without a decoder. */
  named(name: string): Decode | undefined
  /** The first own decoder, by name, with this topic. */
  ofTopic(topic: string): NamedDecoder | undefined
  /** True if an own decoder has topics. */
  haveTopics(): boolean
}

/** Decoders without those that people write. */
export const familyDecoders: Decoders = { named: decoderOf, ofTopic: () => undefined, haveTopics: () => false }

export type DecoderRefusal = { ok: false; code: 'DECODER_UNKNOWN' | 'NAME_TAKEN' | 'TOO_MANY_DECODERS' }
type Changed<Value> = { ok: true; value: Value } | DecoderRefusal

export interface OwnDecoders extends Decoders {
  /** The list is sorted by name. */
  list(): readonly DecoderDetails[]
  get(name: string): DecoderDetails | undefined
  /** `by` is the principal for the audit. */
  add(decoder: NewDecoder, by: string): Promise<Changed<DecoderDetails>>
  /** Replaces its declaration. */
  change(name: string, declaration: DecoderDeclaration, by: string): Promise<Changed<DecoderDetails>>
  remove(name: string, by: string): Promise<Changed<undefined>>
  close(): void
}

export interface OwnDecodersOptions {
  pool: pg.Pool
  nowMs: () => number
  log: Pick<Log, 'error'>
  feed: ChangeFeed
}

interface Row {
  name: string
  declaration: unknown
  updated_at: Date
}

interface OwnDecoder extends NamedDecoder {
  readonly details: DecoderDetails
  /** Undefined for one without topics. */
  readonly readTopic: ((topic: string) => object | undefined) | undefined
}

const stepMs = 4_000
const retryMs = 1_000
const everything = 'all'
const unknown = { ok: false, code: 'DECODER_UNKNOWN' } as const

/** Rejects as PostgreSQL does while it is away. */
export async function openOwnDecoders(options: OwnDecodersOptions): Promise<OwnDecoders> {
  const { nowMs } = options
  const { all, transact, close } = await openMemory(options)
  const detailsOf = (name: string) => all().get(name)?.details
  async function changed(name: string, work: (transaction: Transaction) => Promise<DecoderRefusal | undefined>) {
    const refusal = await transact<undefined>(async transaction => {
      return (await work(transaction)) ?? { ok: true, value: undefined }
    })
    const value = detailsOf(name)
    return refusal.ok && value !== undefined ? ({ ok: true, value } as const) : refusal.ok ? unknown : refusal
  }

  return {
    named: name => decoderOf(name) ?? all().get(name)?.decode,
    ofTopic(topic) {
      for (const decoder of all().values()) if (decoder.readTopic?.(topic) !== undefined) return decoder
      return undefined
    },
    haveTopics: () => [...all().values()].some(({ readTopic }) => readTopic !== undefined),
    list: () => [...all().values()].map(({ details }) => details),
    get: detailsOf,
    async add({ name, ...declaration }, by) {
      if (familyNames.includes(name)) return { ok: false, code: 'NAME_TAKEN' }
      const added = changed(name, async (transaction): Promise<DecoderRefusal | undefined> => {
        const { rowCount } = await transaction.query(insertSql, [name, declaration, nowMs(), ownDecodersMax])
        if (rowCount === 0) return { ok: false, code: 'TOO_MANY_DECODERS' }
        await audit(transaction, 'decoder.add', name, by, { declaration })
        return undefined
      })
      return await added.catch((error: unknown): DecoderRefusal => {
        if (isUniqueViolation(error, 'decoders_pkey')) return { ok: false, code: 'NAME_TAKEN' }
        throw error
      })
    },
    change: (name, declaration, by) =>
      changed(name, async transaction => {
        const { rowCount } = await transaction.query(updateSql, [name, declaration, nowMs()])
        if (rowCount === 0) return unknown
        await audit(transaction, 'decoder.change', name, by, { declaration })
        return undefined
      }),
    remove: (name, by) =>
      transact<undefined>(async transaction => {
        const { rowCount } = await transaction.query('DELETE FROM decoders WHERE name = $1', [name])
        if (rowCount === 0) return unknown
        await audit(transaction, 'decoder.remove', name, by)
        return { ok: true, value: undefined }
      }),
    close,
  }
}

/** Rejects as PostgreSQL does while it is away. */
async function openMemory({ pool, log, feed }: OwnDecodersOptions) {
  /** Keys are names, in their order. */
  let decoders: ReadonlyMap<string, OwnDecoder> = new Map()
  let retry: NodeJS.Timeout | undefined
  const records = createRecordCache<typeof everything, ReadonlyMap<string, OwnDecoder>>({
    recordsMax: 1,
    async read() {
      const { rows } = await pool.query<Row>('SELECT name, declaration, updated_at FROM decoders ORDER BY name')
      return new Map(rows.flatMap(row => compile(row, log)).map(decoder => [decoder.family, decoder]))
    },
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
  })

  async function refresh(): Promise<void> {
    decoders = (await records.get(everything)) ?? decoders
  }

  /** Reads the decoders again after a change whose outcome is unknown. */
  function refreshLater(): void {
    clearTimeout(retry)
    retry = setTimeout(() => void refresh().catch(refreshLater), retryMs)
  }

  async function transact<Value>(work: (transaction: Transaction) => Promise<Changed<Value>>): Promise<Changed<Value>> {
    try {
      const changed = await records.change(everything, () =>
        feed.commit({ pool, stepMs }, transaction => {
          feed.note(transaction, 'decoder')
          return work(transaction)
        }),
      )
      await refresh()
      await feed.settle()
      return changed
    } catch (error) {
      refreshLater()
      throw error
    }
  }

  feed.onChange('decoder', async () => {
    records.forget(everything)
    await refresh()
  })
  await refresh()
  return { all: () => decoders, transact, close: () => clearTimeout(retry) }
}

/** Concurrent additions of administrators may exceed the limit by their number. */
const insertSql = `INSERT INTO decoders (name, declaration, updated_at)
  SELECT $1::text, $2::jsonb, to_timestamp($3::float8 / 1000) WHERE (SELECT count(*) FROM decoders) < $4::int`
const updateSql = `UPDATE decoders SET declaration = $2, updated_at = to_timestamp($3::float8 / 1000) WHERE name = $1`

async function audit(
  transaction: Transaction,
  action: string,
  name: string,
  by: string,
  details: Record<string, unknown> = {},
): Promise<void> {
  await writeAudit(transaction, { actor: by, action, subject: `decoder ${name}`, details })
}

/** None for a declaration of another version of the service, which the others must not fail with. */
function compile({ name, declaration, updated_at }: Row, log: OwnDecodersOptions['log']): OwnDecoder[] {
  const read = DecoderDeclaration.safeParse(declaration)
  if (!read.success) {
    log.error({ decoder: name, reason: read.error.issues[0]?.message }, 'a decoder has an invalid declaration')
    return []
  }
  const family = ownFamily(name, read.data)
  const readTopic = read.data.topics === undefined ? undefined : createTopicReader(family)
  const details = { name, ...read.data, updated_at: updated_at.toISOString() }
  return [{ family: name, decode: createDecoder(family), details, readTopic }]
}
