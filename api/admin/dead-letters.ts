/** Rows that QuestDB refused, by HTTP: looked at, sent again when the cause is mended, or given up. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { DeadLetters } from '../../ingest/ingest.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import { type DeadLetterPage, type LetterTable, letterId, letterTable, letterTables } from './dead-letter-answers.ts'
import type { AdminErrorCode } from './errors.ts'
import { actorIn } from './guard.ts'
import type { WriteLateAudit } from './late-audit.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'

export interface DeadLettersOptions {
  deadLetters: Record<LetterTable, DeadLetters>
  /** What is to be shown for the numbers of series, instead of the symbols that are in the row. */
  seriesNames: Record<LetterTable, (() => Promise<ReadonlyMap<number, string>>) | undefined>
  audit: WriteLateAudit
}

const lettersPerPage = 100
const idsMax = 10_000
const bodyBytesMax = 256 * 1024

const ListQuery = z.strictObject({
  table: letterTable.default('readings'),
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the id of a dead letter')
    .transform(Number)
    .default(-1),
})
/** As many digits as `after` takes. */
export const afterMax = 999_999_999_999_999
const ids = z.array(letterId).min(1, 'must hold at least one id').max(idsMax, `must hold at most ${idsMax} ids`)
/** Ids are those of the table, `readings` unless it is named. Without a table and ids, all of both; without ids, all of it. */
export const Replay = z.strictObject({ table: letterTable.optional(), ids: ids.optional() })
export const Discard = z.strictObject({ table: letterTable.default('readings'), ids })

const errorCodes = {
  full: 'REPLAY_JOURNAL_FULL',
  closing: 'CLOSING',
  unknown: 'STORAGE_FAILED',
} as const satisfies Record<Exclude<Outcome, 'stored'>, AdminErrorCode>

export function registerDeadLetters(scope: FastifyInstance, options: DeadLettersOptions): void {
  const { deadLetters, seriesNames, audit } = options

  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    const { table, after } = query.data
    // One more than is shown tells whether there is a next page.
    const letters = await deadLetters[table].list(after, lettersPerPage + 1)
    const shown = letters.slice(0, lettersPerPage)
    const next = letters.length > shown.length ? (shown.at(-1)?.id ?? null) : null
    // They are wanted when PostgreSQL is away, too.
    const names = shown.length === 0 ? undefined : await seriesNames[table]?.().catch(() => undefined)
    const dead_letters = shown.map(({ id, at, reason, symbol, series, time, values }) => ({
      ...{ table, id, at, reason, time, values },
      symbol: seriesNames[table] === undefined ? symbol : `${names?.get(series) ?? `series ${series}`} ${symbol}`,
    }))
    return reply.send({ dead_letters, next } satisfies DeadLetterPage)
  }

  async function replay(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { body = {} } = request
    const wanted = Replay.safeParse(body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const { ids, table = ids === undefined ? undefined : 'readings' } = wanted.data
    const tables = table === undefined ? letterTables : [table]
    let replayed = 0
    let outcome: Outcome = 'stored'
    for (const each of tables) {
      const done = await deadLetters[each].replay(ids)
      replayed += done.replayed
      if (done.outcome !== 'stored') outcome = done.outcome
    }
    await audit({ actor: actorIn(request), action: 'dead-letters.replay', subject: table ?? '', details: { replayed } })
    if (outcome === 'stored') return reply.send({ replayed })
    const detail = `${replayed} were sent again, the others are still there`
    return sendProblem(reply, errorCodes[outcome], { detail })
  }

  async function discard(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = Discard.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const { table, ids } = wanted.data
    const discarded = await deadLetters[table].discard(ids)
    const details = { discarded, ids }
    await audit({ actor: actorIn(request), action: 'dead-letters.discard', subject: table, details })
    return reply.send({ discarded })
  }

  addPath(scope, '/dead-letters', { GET: list })
  addPath(scope, '/dead-letters/replay', { POST: replay }, { bodyBytesMax })
  addPath(scope, '/dead-letters/discard', { POST: discard }, { bodyBytesMax })
}
