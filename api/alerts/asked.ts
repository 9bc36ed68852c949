/** What the operations of alerts have in common: whose, which page, and how a refusal is answered. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { bounds } from '../../alerts/core/bounds.ts'
import type { AlertErrorCode, Owner } from '../../alerts/core/outcome.ts'
import { composed } from '../../auth/plain-text.ts'
import { bug } from '../../limits/bug.ts'
import type { Asked } from '../admin/operation.ts'
import { sendProblem } from '../admin/problem.ts'
import { recordId } from '../admin/record-id.ts'
import { ownerOf } from './guard-alerts.ts'

export function ownerIn({ principal }: Pick<Asked, 'principal'>): Owner {
  const owner = ownerOf(principal)
  if (owner === undefined) throw bug('the guard has let in somebody who has no alerts')
  return owner
}

const rowsUsual = 100
const rowsMax = 1000

export const pageLimit = z
  .string()
  .regex(/^[1-9]\d{0,3}$/, `must be a whole number from 1 to ${rowsMax}`)
  .default(String(rowsUsual))
  .transform(Number)
  .refine(limit => limit <= rowsMax, `must be a whole number from 1 to ${rowsMax}`)
  .meta({ type: 'integer', minimum: 1, maximum: rowsMax, pattern: undefined, default: rowsUsual })

/** Of lists by id. */
export const listFields = {
  limit: pageLimit,
  after: recordId.optional().meta({ description: '`next` of the page before' }),
}
export const ListQuery = z
  .strictObject(listFields)
  .transform(({ limit, after }) => (after === undefined ? { limit } : { limit, after }))

/** What the list says beside its rows: `next`, for the page behind them. */
export function nextOf<Id>(rows: readonly { id: Id }[], limit: number): Id | null {
  return rows.length < limit ? null : (rows.at(-1)?.id ?? null)
}

export const deviceName = z.string().min(1).max(512).overwrite(composed)

export const idPath = z.object({ id: recordId })

/** Of what there are more of than of records: as text, for it may be larger than a number that is exact. */
export const bigId = z.string().regex(/^[1-9]\d{0,17}$/, 'must be an id')

const details: Partial<Record<AlertErrorCode, string>> = {
  NAME_TAKEN: 'another one of the same owner has this name',
  CHANNELS_UNKNOWN: 'a channel is not there, or is one of somebody else',
  TOO_MANY_RULES: `an owner has at most ${bounds.rulesPerOwner} rules`,
  TOO_MANY_CHANNELS: `an owner has at most ${bounds.channelsPerOwner} channels`,
  TOO_MANY_SILENCES: `an owner has at most ${bounds.silencesPerOwner} silences`,
  TOO_MANY_PAIRS: `all rules together cover at most ${bounds.pairsMax} pairs of a rule and a device`,
  ALERT_RESOLVED: 'it has ended already',
}

export function sendRefusal(reply: FastifyReply, { code }: { code: AlertErrorCode }): FastifyReply {
  return sendProblem(reply, code, { detail: details[code] })
}
