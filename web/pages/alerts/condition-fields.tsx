/** The fields of a rule that say when it fires; which ones, the kind of the condition says. */

import { useIsOperator } from '../../client/use-role.ts'
import { conditionNames } from '../../text/condition-words.ts'
import { ChoiceField } from './choice-field.tsx'
import { type ConditionFieldsProps, KindFields } from './kind-fields.tsx'
import { DurationField } from './number-field.tsx'
import type { ConditionKind, RuleForm } from './rule-form.ts'

export function ConditionFields(props: ConditionFieldsProps) {
  const { form, onChange } = props
  const isOperator = useIsOperator()
  const isOfHours = form.kind === 'completeness' || form.kind === 'suspect'
  return (
    <>
      <ChoiceField
        label="When"
        value={form.kind}
        names={offeredFor(form.kind, isOperator)}
        onChange={(kind: ConditionKind) => onChange({ kind, ...usualFor(kind, form.metric) })}
      />
      <KindFields {...props} />
      <DurationField
        label="Fires after"
        hint={isOfHours ? 'Counted between the ends of hours.' : 'The condition must hold this long.'}
        seconds={form.forSeconds}
        onChange={forSeconds => onChange({ forSeconds })}
      />
      <DurationField
        label="Resolves after"
        hint="The condition must be over this long."
        seconds={form.keepSeconds}
        onChange={keepSeconds => onChange({ keepSeconds })}
      />
    </>
  )
}

/** The API refuses rules of the service to all but the operator. The kind of a rule that is there can be read. */
function offeredFor(kind: ConditionKind, isOperator: boolean): Partial<Record<ConditionKind, string>> {
  const isOffered = (name: string) => name === kind || name !== 'service' || isOperator
  return Object.fromEntries(Object.entries(conditionNames).filter(([name]) => isOffered(name)))
}

/** Defaults of a kind. The share is in percent. */
function usualFor(kind: ConditionKind, metric: string): Partial<RuleForm> {
  if (kind === 'completeness') return { share: '90' }
  if (kind === 'suspect') return { share: '10', metric: '' }
  return { share: '50', metric: metric === '' ? 'temperature' : metric }
}
