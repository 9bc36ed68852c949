/** Admits requests to alerts: their owner, their permissions, and the checks of a rule. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { bounds } from '../../alerts/core/bounds.ts'
import type { AlertErrorCode, Owner } from '../../alerts/core/outcome.ts'
import type { NewRule } from '../../alerts/core/rule.ts'
import { createScopeCheck, type ScopedDevice } from '../../auth/devices/selector.ts'
import { type Principal, readScopeOf } from '../../auth/policy.ts'
import { bug } from '../../store/limits/bug.ts'
import { composed } from '../../store/plain-text.ts'
import { requesterOf } from '../admin/guard.ts'
import type { OperationInput } from '../admin/operation.ts'
import { type Occurrence, sendProblem } from '../admin/problem.ts'
import { recordId, rowCount } from '../admin/request-fields.ts'
import type { Scope } from '../http/route-family.ts'

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

interface AlertRefusal extends Occurrence {
  readonly ok: false
  readonly code: AlertErrorCode | 'BODY_INVALID' | 'OPERATOR_ONLY'
}

export function sendRefusal(reply: FastifyReply, { code, detail, errors }: AlertRefusal): FastifyReply {
  return sendProblem(reply, code, { detail: detail ?? details[code], errors })
}

/**
 * Administrators and the admin token see all. Undefined before the address of an account is confirmed, and for a key
 * that is limited to devices with tags: rules belong to an account, for any of its devices.
 */
export function ownerOf(principal: Principal): Owner | undefined {
  if (principal.kind === 'view-link') return undefined
  if (!('account' in principal)) return { all: true, account: null }
  const { id, role } = principal.account
  const scope = readScopeOf(principal)
  if (scope === 'EMAIL_UNVERIFIED' || scope.tags !== undefined) return undefined
  return { all: role !== 'user', account: id }
}

/** A principal may read a device that its own rules may cover. */
export function mayRead(principal: Principal, device: ScopedDevice): boolean {
  const scope = readScopeOf(principal)
  return scope !== 'EMAIL_UNVERIFIED' && createScopeCheck(scope)(device)
}

/** Runs behind the guard of the family. */
export function refuseOthers(scope: Scope): void {
  scope.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (ownerOf(requesterOf(request)) !== undefined) return undefined
    const detail = 'alerts need an e-mail address that is verified, and a key without tags'
    return await sendProblem(reply.header('connection', 'close'), 'FORBIDDEN', { detail })
  })
}

type Checked = Pick<NewRule, 'condition'>

/** Only the operator and the machine's owner receive facts of the service. */
export function foreign(rules: readonly Checked[], principal: Principal): AlertRefusal | undefined {
  const isOperator =
    principal.kind === 'admin-token' || ('account' in principal && principal.account.role === 'operator')
  if (isOperator || rules.every(({ condition }) => condition.kind !== 'service')) return undefined
  return { ok: false, code: 'OPERATOR_ONLY', detail: 'rules of the kind service are the operator’s' }
}
