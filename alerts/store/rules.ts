/** Rules: who makes, changes and removes them. What they have found ends with them, in the same transaction. */

import type pg from 'pg'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { bounds, type Waits } from '../core/bounds.ts'
import { type AlertErrorCode, accepted, type Outcome, type Owner, refused } from '../core/outcome.ts'
import { NewRule, type Rule, type RuleChange } from '../core/rule.ts'
import { deleteGroups } from '../outbox/group-rows.ts'
import { endRule, oweOpen } from './rule-ends.ts'
import { type Imported, ImportRefused, importRules } from './rule-import.ts'
import {
  addChannels,
  countRules,
  insertRule,
  lockRule,
  lockUsableChannels,
  markRemoved,
  type RuleVersion,
  readOwned,
  readRule,
  readRules,
  readVersions,
  takeOffChannels,
  updateRule,
} from './rule-rows.ts'
import type { WriteAudit } from './audit.ts'

/** All reject as PostgreSQL does when it is away. Somebody else's rule is as one that is not there. */
export interface AlertRules {
  /** By their ids. */
  list(who: Owner, page: { after?: number; limit: number }): Promise<Rule[]>
  get(who: Owner, id: number): Promise<Rule | undefined>
  all(): Promise<Rule[]>
  /** By which it is seen that one has gone with its account, or was changed elsewhere. */
  versions(): Promise<RuleVersion[]>
  add(who: Owner, rule: NewRule, actor: string): Promise<Outcome<Rule>>
  change(who: Owner, id: number, change: RuleChange, actor: string): Promise<Outcome<Rule>>
  remove(who: Owner, id: number, actor: string): Promise<Outcome>
  /** Rules of who asks, by their names, all or none. `prune`: others of theirs are removed. */
  importAll(who: Owner, rules: readonly NewRule[], prune: boolean, actor: string): Promise<Outcome<Imported>>
  /** Told after the commit, of changes by other nodes too. */
  onChange(listener: (ids: readonly number[]) => void): void
}

export interface AlertRulesOptions {
  pool: pg.Pool
  feed: ChangeFeed
  nowMs: () => number
  waits: Pick<Waits, 'groupWaitMs' | 'groupIntervalMs'>
  /** The value of the tag by which alerts of a rule are told apart. */
  groupValueOf: (groupBy: string | null, device: number) => string
  audit: WriteAudit
  /** What else speaks against a rule. `id` is that of the one that is changed. */
  refusalOf?: (rule: NewRule, owner: number | null, id: number | undefined) => AlertErrorCode | undefined
  /** There may be something to tell. */
  wake: () => void
}

/** What a change is made with. */
interface Asked {
  transaction: Transaction
  who: Owner
  actor: string
  /** The ids of rules that it has changed. */
  touched: Set<number>
}

/** All alerts of a rule may end in one statement. */
const stepMs = 30_000
const rulesPerRead = 1_000
// Any fixed number serves; it is "barorule" in ASCII.
const rulesLock = '7089073111444335717'

export function createAlertRules(options: AlertRulesOptions): AlertRules {
  const { pool, feed, nowMs, waits, groupValueOf, audit, refusalOf = () => undefined, wake } = options
  const listeners: ((ids: readonly number[]) => void)[] = []
  const changed = (ids: readonly number[]) => {
    for (const listener of listeners) listener(ids)
  }
  feed.onChange('alert-rule', changed)

  /** One at a time, so that what is counted stays so. */
  async function commit<Value>(
    who: Owner,
    actor: string,
    work: (asked: Asked) => Promise<Outcome<Value>>,
  ): Promise<Outcome<Value>> {
    const touched = new Set<number>()
    try {
      const outcome = await feed.commit({ pool, stepMs, lock: rulesLock }, async transaction => {
        touched.clear()
        const outcome = await work({ transaction, who, actor, touched })
        if (touched.size > 0) feed.note(transaction, 'alert-rule', [...touched])
        return outcome
      })
      if (touched.size === 0) return outcome
      changed([...touched])
      wake()
      await feed.settle()
      return outcome
    } catch (error) {
      if (isUniqueViolation(error, 'alert_rules_name')) return refused('NAME_TAKEN')
      if (error instanceof ImportRefused) return refused(error.code)
      throw error
    }
  }

  async function addIn({ transaction, who, actor, touched }: Asked, rule: NewRule): Promise<Outcome<Rule>> {
    if ((await countRules(transaction, who.account)) >= bounds.rulesPerOwner) return refused('TOO_MANY_RULES')
    const refusal = refusalOf(rule, who.account, undefined)
    if (refusal !== undefined) return refused(refusal)
    if (!(await areUsable(transaction, who, rule.channels))) return refused('CHANNELS_UNKNOWN')
    const id = await insertRule(transaction, rule, who.account, nowMs())
    await addChannels(transaction, id, rule.channels)
    await audit(transaction, { actor, action: 'alert-rule.add', subject: subjectOf(id), details: { ...rule } })
    touched.add(id)
    return await found(transaction, who, id)
  }

  async function changeIn({ transaction, who, actor, touched }: Asked, id: number, change: RuleChange): Promise<Outcome<Rule>> {
    const before = await lockRule(transaction, { who, id })
    if (before === undefined) return refused('RULE_UNKNOWN')
    const parsed = NewRule.safeParse(fieldsOf({ ...before, ...present(change) }))
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
    await changeChannels(transaction, before, rule, added)
    const details = Object.fromEntries(differs.map(field => [field, rule[field]]))
    await audit(transaction, { actor, action: 'alert-rule.change', subject: subjectOf(id), details })
    touched.add(id)
    return await found(transaction, who, id)
  }

  /** Who is new among the channels is told what fires; who is not any more is told nothing. */
  async function changeChannels(
    transaction: Transaction,
    before: Rule,
    rule: NewRule,
    added: readonly number[],
  ): Promise<void> {
    const due = { nowMs: nowMs(), waits }
    const gone = before.channels.filter(channel => !rule.channels.includes(channel))
    await takeOffChannels(transaction, before.id, gone)
    await addChannels(transaction, before.id, added)
    if (before.enabled && !rule.enabled) await endRule(transaction, feed, before, 'rule_disabled', due)
    await deleteGroups(transaction, before.id, gone)
    if (!rule.enabled || added.length === 0) return
    const valueOf = (device: number) => groupValueOf(rule.group_by, device)
    await oweOpen(transaction, { rule: before.id, channels: added, valueOf }, due)
  }

  async function removeIn({ transaction, who, actor, touched }: Asked, id: number): Promise<Outcome> {
    const rule = await lockRule(transaction, { who, id })
    if (rule === undefined) return refused('RULE_UNKNOWN')
    await endRule(transaction, feed, rule, 'rule_removed', { nowMs: nowMs(), waits })
    await markRemoved(transaction, id, nowMs())
    await audit(transaction, { actor, action: 'alert-rule.remove', subject: subjectOf(id), details: { name: rule.name } })
    touched.add(id)
    return accepted(undefined)
  }

  async function importIn(asked: Asked, rules: readonly NewRule[], prune: boolean): Promise<Outcome<Imported>> {
    const { transaction, who } = asked
    const existing = await readOwned(transaction, who.account)
    const steps = {
      add: (rule: NewRule) => addIn(asked, rule),
      async change({ id }: Rule, rule: NewRule): Promise<Outcome<boolean>> {
        const outcome = await changeIn(asked, id, rule)
        return outcome.ok ? accepted(asked.touched.has(id)) : outcome
      },
      remove: ({ id }: Rule) => removeIn(asked, id),
    }
    return accepted(await importRules(existing, rules, { prune, steps }))
  }

  async function found(transaction: Transaction, who: Owner, id: number): Promise<Outcome<Rule>> {
    const rule = await readRule(transaction, { who, id })
    return rule === undefined ? refused('RULE_UNKNOWN') : accepted(rule)
  }

  return {
    list: (who, { after = 0, limit }) => readRules(pool, who, after, limit),
    get: (who, id) => readRule(pool, { who, id }),
    async all() {
      const rules: Rule[] = []
      for (;;) {
        const read = await readRules(pool, everybody, rules.at(-1)?.id ?? 0, rulesPerRead)
        rules.push(...read)
        if (read.length < rulesPerRead) return rules
      }
    },
    versions: () => readVersions(pool),
    add: (who, rule, actor) => commit(who, actor, asked => addIn(asked, rule)),
    change: (who, id, change, actor) => commit(who, actor, asked => changeIn(asked, id, change)),
    remove: (who, id, actor) => commit(who, actor, asked => removeIn(asked, id)),
    importAll: (who, rules, prune, actor) => commit(who, actor, asked => importIn(asked, rules, prune)),
    onChange: listener => void listeners.push(listener),
  }
}

const everybody: Owner = { all: true, account: null }

/** What evaluation depends on. */
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
  if (Array.isArray(value)) return value.every(item => typeof item === 'number') ? value.toSorted((a, b) => a - b) : value
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

async function areUsable(transaction: Transaction, who: Owner, channels: readonly number[]): Promise<boolean> {
  return (await lockUsableChannels(transaction, who, channels)) === channels.length
}

function subjectOf(id: number): string {
  return `alert rule ${id}`
}
