/** Which rules somebody may have, and which of them something evaluates. */

import type { FastifyReply } from 'fastify'
import type { NewRule } from '../../alerts/core/rule.ts'
import type { Principal } from '../../auth/policy.ts'
import { sendProblem } from '../admin/problem.ts'

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
  const errors = rules
    .filter(({ rule }) => rule.condition.kind === 'suspect')
    .map(({ place }) => ({ path: `${place}condition.kind`, message: 'is not evaluated' }))
  return errors.length === 0 ? undefined : sendProblem(reply, 'BODY_INVALID', { errors })
}
