/** Changes of rules in a transaction, with their effects on alerts. An import of the same file twice changes nothing. */

import { writeAudit } from '../../auth/audit.ts'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { bounds, type Waits } from '../core/bounds.ts'
import { type AlertErrorCode, accepted, type Outcome, type Owner, refused } from '../core/outcome.ts'
import { NewRule, type Rule, type RuleChange } from '../core/rule.ts'
import {
  addChannels,
  countRules,
  endRule,
  followChange,
  insertRule,
  lockRule,
  lockUsableChannels,
  markRemoved,
  readOwned,
  readRule,
  updateRule,
} from './rule-rows.ts'

/** Context of a change. */
export interface Context {
  transaction: Transaction
  who: Owner
  actor: string
  /** The ids of rules that it has changed. */
  touched: Set<number>
}

interface RuleChanges {
  add(context: Context, rule: NewRule): Promise<Outcome<Rule>>
  change(context: Context, id: number, change: RuleChange): Promise<Outcome<Rule>>
  disable(context: Context, id: number): Promise<Outcome>
  remove(context: Context, id: number): Promise<Outcome>
  /** Throws ImportRefused. */
  importAll(context: Context, rules: readonly NewRule[], prune: boolean): Promise<Outcome<Imported>>
}

export interface RuleChangesOptions {
  feed: ChangeFeed
  nowMs: () => number
  waits: Pick<Waits, 'groupWaitMs' | 'groupIntervalMs'>
  /** Value of the tag that separates groups of the rule. */
  groupValueOf: (groupBy: string | null, device: number) => string
  /** Other faults of a rule. `id` is the changed rule's. */
  refusalOf?: (rule: NewRule, owner: number | null, id: number | undefined) => AlertErrorCode | undefined
}

export function createRuleChanges(options: RuleChangesOptions): RuleChanges {
  const { feed, nowMs, waits, groupValueOf, refusalOf = () => undefined } = options
  const due = () => ({ nowMs: nowMs(), waits })

  async function add({ transaction, who, actor, touched }: Context, rule: NewRule): Promise<Outcome<Rule>> {
    if ((await countRules(transaction, who.account)) >= bounds.rulesPerOwner) return refused('TOO_MANY_RULES')
    const refusal = refusalOf(rule, who.account, undefined)
    if (refusal !== undefined) return refused(refusal)
    if (!(await areUsable(transaction, who, rule.channels))) return refused('CHANNELS_UNKNOWN')
    const id = await insertRule(transaction, rule, who.account, nowMs())
    await addChannels(transaction, id, rule.channels)
    await writeAudit(transaction, { actor, action: 'alert-rule.add', subject: subjectOf(id), details: { ...rule } })
    touched.add(id)
    return await found(transaction, who, id)
  }

  async function change(
    { transaction, who, actor, touched }: Context,
    id: number,
    wanted: RuleChange,
  ): Promise<Outcome<Rule>> {
    const before = await lockRule(transaction, { who, id })
    if (before === undefined) return refused('RULE_UNKNOWN')
    const parsed = NewRule.safeParse(fieldsOf({ ...before, ...present(wanted) }))
    if (!parsed.success) return refused('RULE_INVALID')
    const rule = parsed.data
    const differs = changedFields(before, rule)
    if (differs.length === 0) return accepted(before)
    const isNew = evaluated.some(field => differs.includes(field))
    const refusal = isNew || rule.enabled !== before.enabled ? refusalOf(rule, before.owner, id) : undefined
    if (refusal !== undefined) return refused(refusal)
    const added = rule.channels.filter(channel => !before.channels.includes(channel))
    if (!(await areUsable(transaction, who, added))) return refused('CHANNELS_UNKNOWN')
    await updateRule(transaction, id, rule, { isNew, nowMs: nowMs() })
    await followChange(
      transaction,
      feed,
      { before, rule, groupOf: device => groupValueOf(rule.group_by, device) },
      due(),
    )
    const details = Object.fromEntries(differs.map(field => [field, rule[field]]))
    await writeAudit(transaction, { actor, action: 'alert-rule.change', subject: subjectOf(id), details })
    touched.add(id)
    return await found(transaction, who, id)
  }

  async function remove({ transaction, who, actor, touched }: Context, id: number): Promise<Outcome> {
    const rule = await lockRule(transaction, { who, id })
    if (rule === undefined) return refused('RULE_UNKNOWN')
    await endRule(transaction, feed, rule, 'rule_removed', due())
    await markRemoved(transaction, id, nowMs())
    await writeAudit(transaction, {
      actor,
      action: 'alert-rule.remove',
      subject: subjectOf(id),
      details: { name: rule.name },
    })
    touched.add(id)
    return accepted(undefined)
  }

  async function importAll(context: Context, rules: readonly NewRule[], prune: boolean): Promise<Outcome<Imported>> {
    const { transaction, who } = context
    const existing = await readOwned(transaction, who.account)
    const steps = {
      add: (rule: NewRule) => add(context, rule),
      async change({ id }: Rule, rule: NewRule): Promise<Outcome<boolean>> {
        const outcome = await change(context, id, rule)
        return outcome.ok ? accepted(context.touched.has(id)) : outcome
      },
      remove: ({ id }: Rule) => remove(context, id),
    }
    return accepted(await importRules(existing, rules, { prune, steps }))
  }

  async function found(transaction: Transaction, who: Owner, id: number): Promise<Outcome<Rule>> {
    const rule = await readRule(transaction, { who, id })
    return rule === undefined ? refused('RULE_UNKNOWN') : accepted(rule)
  }

  return { add, change, disable: (context, id) => disableRule(options, context, id), remove, importAll }
}

/** The stored rule, which the present schema may refuse. */
async function disableRule(
  { feed, nowMs, waits }: RuleChangesOptions,
  { transaction, who, actor, touched }: Context,
  id: number,
): Promise<Outcome> {
  const rule = await lockRule(transaction, { who, id })
  if (rule === undefined) return refused('RULE_UNKNOWN')
  await updateRule(transaction, id, { ...rule, enabled: false }, { isNew: false, nowMs: nowMs() })
  await endRule(transaction, feed, rule, 'rule_disabled', { nowMs: nowMs(), waits })
  await writeAudit(transaction, {
    actor,
    action: 'alert-rule.change',
    subject: subjectOf(id),
    details: { enabled: false },
  })
  touched.add(id)
  return accepted(undefined)
}

/** Fields that evaluation depends on. */
const evaluated = ['selector', 'condition', 'for_seconds', 'keep_firing_seconds'] as const
const fields = [
  'name',
  ...evaluated,
  'severity',
  'channels',
  'group_by',
  'enabled',
  'note',
] as const satisfies (keyof NewRule)[]
type Field = (typeof fields)[number]

function fieldsOf(rule: NewRule): NewRule {
  return Object.fromEntries(fields.map(field => [field, rule[field]])) as NewRule
}

function present(change: RuleChange): Partial<NewRule> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

function changedFields(before: NewRule, after: NewRule): Field[] {
  return fields.filter(field => JSON.stringify(sorted(before[field])) !== JSON.stringify(sorted(after[field])))
}

/** PostgreSQL keeps the fields of an object in an order of its own, and channels have none. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.every(item => typeof item === 'number') ? value.toSorted((a, b) => a - b) : value
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

async function areUsable(transaction: Transaction, who: Owner, channels: readonly number[]): Promise<boolean> {
  return (await lockUsableChannels(transaction, who, channels)) === channels.length
}

function subjectOf(id: number): string {
  return `alert rule ${id}`
}

export interface Imported {
  added: number
  changed: number
  unchanged: number
  removed: number
}

/** Thrown, so that nothing of the import is kept. */
export class ImportRefused extends Error {
  readonly code: AlertErrorCode

  constructor(code: AlertErrorCode) {
    super(code)
    this.code = code
  }
}

interface ImportSteps {
  add(rule: NewRule): Promise<Outcome<Rule>>
  /** True where the import changes the rule. */
  change(before: Rule, rule: NewRule): Promise<Outcome<boolean>>
  remove(rule: Rule): Promise<Outcome>
}

/** Rules are the same by their names. `prune`: others are removed. Throws ImportRefused. */
async function importRules(
  existing: readonly Rule[],
  rules: readonly NewRule[],
  { prune, steps }: { prune: boolean; steps: ImportSteps },
): Promise<Imported> {
  const imported = { added: 0, changed: 0, unchanged: 0, removed: 0 }
  const known = new Map(existing.map(rule => [rule.name, rule]))
  const names = new Set(rules.map(({ name }) => name))
  // First, so that there is room for those that are new.
  for (const rule of prune ? existing.filter(({ name }) => !names.has(name)) : []) {
    valueIn(await steps.remove(rule))
    imported.removed++
  }
  for (const rule of rules) {
    const before = known.get(rule.name)
    if (before === undefined) {
      valueIn(await steps.add(rule))
      imported.added++
    } else if (valueIn(await steps.change(before, rule))) {
      imported.changed++
    } else {
      imported.unchanged++
    }
  }
  return imported
}

function valueIn<Value>(outcome: Outcome<Value>): Value {
  if (!outcome.ok) throw new ImportRefused(outcome.code)
  return outcome.value
}
