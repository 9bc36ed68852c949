/** Adds, changes and removes rules. Their alerts end with them, in the same transaction. */

import type pg from 'pg'
import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import { type Outcome, type Owner, refused } from '../core/outcome.ts'
import type { NewRule, Rule, RuleChange } from '../core/rule.ts'
import {
  type Context,
  createRuleChanges,
  type Imported,
  ImportRefused,
  type RuleChangesOptions,
} from './rule-changes.ts'
import { type RuleVersion, readRule, readRules, readVersions } from './rule-rows.ts'

/** All reject while PostgreSQL is unavailable. A rule of another owner counts as unknown. */
export interface AlertRules {
  /** Ids ascend. */
  list(who: Owner, page: { after?: number | undefined; limit: number }): Promise<Rule[]>
  get(who: Owner, id: number): Promise<Rule | undefined>
  all(): Promise<Rule[]>
  /** The versions show that a rule was removed with its account, or was changed elsewhere. */
  versions(): Promise<RuleVersion[]>
  add(who: Owner, rule: NewRule, actor: string): Promise<Outcome<Rule>>
  change(who: Owner, id: number, change: RuleChange, actor: string): Promise<Outcome<Rule>>
  /** Whatever is in it: also a rule that the schema would refuse by now. */
  disable(id: number, actor: string): Promise<Outcome>
  remove(who: Owner, id: number, actor: string): Promise<Outcome>
  /** Rules of who asks, by their names, all or none. `prune`: others of theirs are removed. */
  importAll(who: Owner, rules: readonly NewRule[], prune: boolean, actor: string): Promise<Outcome<Imported>>
  /** Called after the commit, for changes by other nodes too. */
  onChange(listener: (ids: readonly number[]) => void): void
}

export interface AlertRulesOptions extends RuleChangesOptions {
  pool: pg.Pool
  /** Groups may be due. */
  wake: () => void
}

/** All alerts of a rule may end in one statement. */
const stepMs = 30_000
const rulesPerRead = 1_000
// Any fixed number serves. It is "barorule" in ASCII.
const rulesLock = '7089073111444335717'

export function createAlertRules(options: AlertRulesOptions): AlertRules {
  const { pool, feed, wake } = options
  const changes = createRuleChanges(options)
  const listeners: ((ids: readonly number[]) => void)[] = []
  const changed = (ids: readonly number[]) => {
    for (const listener of listeners) listener(ids)
  }
  feed.onChange('alert-rule', changed)

  /** One change at a time, so that counts stay valid. */
  async function commit<Value>(
    who: Owner,
    actor: string,
    work: (context: Context) => Promise<Outcome<Value>>,
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
    add: (who, rule, actor) => commit(who, actor, context => changes.add(context, rule)),
    change: (who, id, change, actor) => commit(who, actor, context => changes.change(context, id, change)),
    disable: (id, actor) => commit(everybody, actor, context => changes.disable(context, id)),
    remove: (who, id, actor) => commit(who, actor, context => changes.remove(context, id)),
    importAll: (who, rules, prune, actor) => commit(who, actor, context => changes.importAll(context, rules, prune)),
    onChange: listener => void listeners.push(listener),
  }
}

const everybody: Owner = { all: true, account: null }
