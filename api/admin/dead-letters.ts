/** Readings that QuestDB refused, by HTTP: looked at, and sent again when the cause is mended. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { DeadLetters } from '../../ingest/ingest.ts'
import type { Outcome } from '../../ingest/journal/journal.ts'
import type { AdminErrorCode } from './errors.ts'
import { actorIn } from './guard.ts'
import type { WriteLateAudit } from './late-audit.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'

export interface DeadLettersOptions {
  deadLetters: DeadLetters
  audit: WriteLateAudit
}

const lettersPerPage = 100

const letterId = z.int().nonnegative()

export const DeadLetterPage = z.object({
  dead_letters: z.array(
    z.object({
      id: letterId,
      at: z.string(),
      reason: z.string(),
      symbol: z.string(),
      time: z.string(),
      values: z.record(z.string(), z.number().nullable()),
    }),
  ),
  /** For `?after=`, or null when there are no more. */
  next: letterId.nullable(),
})
export type DeadLetterPage = z.infer<typeof DeadLetterPage>

export const Replayed = z.object({ replayed: z.int() })

const ListQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the id of a dead letter')
    .transform(Number)
    .default(-1),
})
/** Without a body, or without ids, all of them. */
const Replay = z.strictObject({ ids: z.array(letterId).min(1, 'must hold at least one id').max(10_000).optional() })

const errorCodes = {
  full: 'REPLAY_JOURNAL_FULL',
  closing: 'CLOSING',
  unknown: 'STORAGE_FAILED',
} as const satisfies Record<Exclude<Outcome, 'stored'>, AdminErrorCode>

export function registerDeadLetters(scope: FastifyInstance, { deadLetters, audit }: DeadLettersOptions): void {
  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    // One more than is shown tells whether there is a next page.
    const letters = await deadLetters.list(query.data.after, lettersPerPage + 1)
    const shown = letters.slice(0, lettersPerPage)
    const next = letters.length > shown.length ? (shown.at(-1)?.id ?? null) : null
    const dead_letters = shown.map(({ id, at, reason, symbol, time, values }) => ({
      ...{ id, at, reason, symbol, time, values },
    }))
    return reply.send({ dead_letters, next } satisfies DeadLetterPage)
  }

  async function replay(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = Replay.safeParse(request.body ?? {})
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const { replayed, outcome } = await deadLetters.replay(wanted.data.ids)
    await audit({ actor: actorIn(request), action: 'dead-letters.replay', subject: '', details: { replayed } })
    if (outcome === 'stored') return reply.send({ replayed })
    const detail = `${replayed} were sent again, the others are still there`
    return sendProblem(reply, errorCodes[outcome], { detail })
  }

  addPath(scope, '/dead-letters', { GET: list })
  addPath(scope, '/dead-letters/replay', { POST: replay }, { bodyBytesMax: 256 * 1024 })
}
