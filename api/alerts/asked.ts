/** Declares the common parts of alert operations: owner, page and refusals. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { bounds } from '../../alerts/core/bounds.ts'
import type { AlertErrorCode, Owner } from '../../alerts/core/outcome.ts'
import { bug } from '../../store/limits/bug.ts'
import { composed } from '../../store/plain-text.ts'
import type { OperationInput } from '../admin/operation.ts'
import { type Occurrence, sendProblem } from '../admin/problem.ts'
import { rowCount } from '../admin/query-fields.ts'
import { recordId } from '../admin/record-id.ts'
import { ownerOf } from './guard-alerts.ts'

export function ownerIn({ principal }: Pick<OperationInput, 'principal'>): Owner {
  const owner = ownerOf(principal)
  if (owner === undefined) throw bug('the guard has let in a caller without alerts')
  return owner
}

export const pageLimit = rowCount(1000).prefault('100')

/** Arguments of lists by id. */
export const listFields = {
  limit: pageLimit,
  after: recordId.optional().meta({ description: '`next` of the page before' }),
}
export const ListQuery = z
  .strictObject(listFields)
  .transform(({ limit, after }) => (after === undefined ? { limit } : { limit, after }))

/** `next` of a list: the id that starts the next page. */
export function nextOf<Id>(rows: readonly { id: Id }[], limit: number): Id | null {
  return rows.length < limit ? null : (rows.at(-1)?.id ?? null)
}

export const deviceName = z.string().min(1).max(512).overwrite(composed)

/** These ids may exceed the exact integers of a number, so they are texts. */
export const bigId = z.string().regex(/^[1-9]\d{0,17}$/, 'must be an id')

/** Paths of records by id. */
export const byId = { list: '/', key: 'id', id: recordId } as const
export const byBigId = { ...byId, id: bigId } as const

const details: Partial<Record<AlertRefusal['code'], string>> = {
  NAME_TAKEN: 'another one of the same owner has this name',
  CHANNELS_UNKNOWN: 'a channel does not exist, or belongs to another account',
  TOO_MANY_RULES: `an owner has at most ${bounds.rulesPerOwner} rules`,
  TOO_MANY_CHANNELS: `an owner has at most ${bounds.channelsPerOwner} channels`,
  TOO_MANY_SILENCES: `an owner has at most ${bounds.silencesPerOwner} silences`,
  TOO_MANY_PAIRS: `the rules of an account cover at most as many pairs of a rule and a device as ALERT_PAIRS_PER_OWNER says, and name as many devices; all rules ${bounds.pairsMax}`,
  ALERT_RESOLVED: 'it has ended already',
}

export interface AlertRefusal extends Occurrence {
  readonly ok: false
  readonly code: AlertErrorCode | 'BODY_INVALID' | 'OPERATOR_ONLY'
}

export function sendRefusal(reply: FastifyReply, { code, detail, errors }: AlertRefusal): FastifyReply {
  return sendProblem(reply, code, { detail: detail ?? details[code], errors })
}
