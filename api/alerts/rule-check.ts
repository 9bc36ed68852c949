/** Which rules somebody may have, and which of them something evaluates. */

import type { FastifyReply } from 'fastify'
import type { Condition } from '../../alerts/core/condition.ts'
import type { NewRule } from '../../alerts/core/rule.ts'
import type { Principal } from '../../auth/policy.ts'
import { type Issue, sendProblem } from '../admin/problem.ts'

type Checked = Pick<NewRule, 'condition'>

/** Only the operator and whoever has the machine are told what the service says of itself. */
export function refuseForeign(
  reply: FastifyReply,
  rules: readonly Checked[],
  principal: Principal,
): FastifyReply | undefined {
  const isOperator =
    principal.kind === 'admin-token' || ('account' in principal && principal.account.role === 'operator')
  if (isOperator || rules.every(({ condition }) => condition.kind !== 'service')) return undefined
  return sendProblem(reply, 'OPERATOR_ONLY', { detail: 'rules of the kind service are the operator’s' })
}

/** A rule that nothing evaluates would be silent for ever, and look as if all were well. */
export function refuseUnevaluated(
  reply: FastifyReply,
  rules: readonly { readonly rule: Checked; readonly place: string }[],
): FastifyReply | undefined {
  const errors = rules.flatMap(({ rule, place }) => notEvaluated(rule.condition, place))
  return errors.length === 0 ? undefined : sendProblem(reply, 'BODY_INVALID', { errors })
}

function notEvaluated(condition: Condition, place: string): Issue[] {
  if (condition.kind === 'suspect') return [{ path: `${place}condition.kind`, message: 'is not evaluated' }]
  const isOfDays = condition.kind === 'battery' && condition.days !== undefined
  return isOfDays ? [{ path: `${place}condition.days`, message: 'is not evaluated' }] : []
}
