/** Decides which rules a principal may have. */

import type { NewRule } from '../../alerts/core/rule.ts'
import type { Principal } from '../../auth/policy.ts'
import type { AlertRefusal } from './asked.ts'

type Checked = Pick<NewRule, 'condition'>

/** Only the operator and the machine's owner receive facts of the service. */
export function foreign(rules: readonly Checked[], principal: Principal): AlertRefusal | undefined {
  const isOperator =
    principal.kind === 'admin-token' || ('account' in principal && principal.account.role === 'operator')
  if (isOperator || rules.every(({ condition }) => condition.kind !== 'service')) return undefined
  return { ok: false, code: 'OPERATOR_ONLY', detail: 'rules of the kind service are the operator’s' }
}
