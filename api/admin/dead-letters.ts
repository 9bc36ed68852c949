/** Lists, replays and discards dead letters: rows that QuestDB refused. */

import { z } from 'zod'
import type { WriteLateAudit } from '../../auth/audit.ts'
import { isWhole } from '../../ingest/forwarder/dead-letters.ts'
import type { DeadLetters } from '../../ingest/ingest.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import {
  DeadLetterPage,
  Discarded,
  type LetterTable,
  letterId,
  letterTable,
  letterTables,
  Replayed,
} from './answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type AdminErrorCode, sendProblem } from './problem.ts'
import { wholeNumber } from './request-fields.ts'

export interface DeadLettersOptions {
  deadLetters: Record<LetterTable, DeadLetters>
  /** Names to show for series numbers in place of the row's symbols. */
  seriesNames: Record<LetterTable, (() => Promise<ReadonlyMap<number, string>>) | undefined>
  audit: WriteLateAudit
}

const lettersPerPage = 100
const idsMax = 10_000
const bodyBytesMax = 256 * 1024

const ListQuery = z.strictObject({
  table: letterTable.default('readings'),
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'must be the id of a dead letter')
    .default(-1)
    .meta({ default: undefined, description: '`next` of the page before' }),
})
const ids = z.array(letterId).min(1, 'must hold at least one id').max(idsMax, `must hold at most ${idsMax} ids`)
/** Ids belong to the table, `readings` by default. Without ids, the whole table is taken; without a table, both. */
const Replay = z.strictObject({ table: letterTable.optional(), ids: ids.optional() })
const Discard = z.strictObject({ table: letterTable.default('readings'), ids })

const errorCodes = {
  full: 'STORAGE_FULL',
  closing: 'CLOSING',
  unknown: 'STORAGE_FAILED',
} as const satisfies Record<Exclude<Outcome, 'stored'>, AdminErrorCode>

export function deadLetterOperations(options: DeadLettersOptions): AdminOperation[] {
  return [listOperation(options), replayOperation(options), discardOperation(options)]
}

function listOperation({ deadLetters, seriesNames }: DeadLettersOptions): AdminOperation {
  return operation({
    method: 'GET',
    path: '/dead-letters',
    name: 'admin_list_dead_letters',
    summary: 'Rows that QuestDB refused',
    parameters: { query: ListQuery },
    success: { status: 200, description: 'A page of them', json: DeadLetterPage.meta({ id: 'DeadLetterPage' }) },
    async handle({ query: { table, after } }, reply) {
      // One more row than is shown reveals whether there is a next page.
      const letters = await deadLetters[table].list(after, lettersPerPage + 1)
      const shown = letters.slice(0, lettersPerPage)
      const next = letters.length > shown.length ? (shown.at(-1)?.id ?? null) : null
      // Dead letters are shown without names while PostgreSQL is unavailable.
      const names = shown.length === 0 ? undefined : await seriesNames[table]?.().catch(() => undefined)
      const dead_letters = shown.filter(isWhole).map(({ id, at, reason, symbol, series, time, values }) => ({
        table,
        id,
        at,
        reason,
        time,
        values,
        symbol: seriesNames[table] === undefined ? symbol : `${names?.get(series) ?? `series ${series}`} ${symbol}`,
      }))
      const damaged = shown.flatMap(letter =>
        isWhole(letter) ? [] : [{ table, id: letter.id, name: letter.name, reason: letter.damage }],
      )
      return reply.send({ dead_letters, damaged, next } satisfies DeadLetterPage)
    },
  })
}

function replayOperation({ deadLetters, audit }: DeadLettersOptions): AdminOperation {
  async function replay(tables: readonly LetterTable[], ids: number[] | undefined) {
    let replayed = 0
    let damaged = 0
    let outcome: Outcome = 'stored'
    for (const each of tables) {
      const done = await deadLetters[each].replay(ids)
      replayed += done.replayed
      damaged += done.damaged
      if (done.outcome !== 'stored') outcome = done.outcome
    }
    return { replayed, damaged, outcome }
  }

  return operation({
    method: 'POST',
    path: '/dead-letters/replay',
    name: 'admin_replay',
    summary: 'Replay dead letters',
    body: { json: Replay.meta({ id: 'DeadLetterReplay' }), isOptional: true },
    bodyBytesMax,
    success: { status: 200, description: 'How many', json: Replayed.meta({ id: 'DeadLettersReplayed' }) },
    refusals: ['STORAGE_FULL', 'CLOSING', 'STORAGE_FAILED'],
    async handle({ body: { ids, table = ids === undefined ? undefined : 'readings' }, actor }, reply) {
      const { replayed, damaged, outcome } = await replay(table === undefined ? letterTables : [table], ids)
      await audit({ actor, action: 'dead-letters.replay', subject: table ?? '', details: { replayed } })
      if (outcome === 'stored') return reply.send({ replayed, damaged } satisfies Replayed)
      const detail = `${replayed} were replayed, the others are still stored`
      return sendProblem(reply, errorCodes[outcome], { detail })
    },
  })
}

function discardOperation({ deadLetters, audit }: DeadLettersOptions): AdminOperation {
  return operation({
    method: 'POST',
    path: '/dead-letters/discard',
    name: 'admin_discard',
    summary: 'Discard dead letters',
    body: { json: Discard.meta({ id: 'DeadLetterDiscard' }) },
    bodyBytesMax,
    success: { status: 200, description: 'How many', json: Discarded.meta({ id: 'DeadLettersDiscarded' }) },
    async handle({ body: { table, ids }, actor }, reply) {
      const discarded = await deadLetters[table].discard(ids)
      await audit({ actor, action: 'dead-letters.discard', subject: table, details: { discarded, ids } })
      return reply.send({ discarded })
    },
  })
}
