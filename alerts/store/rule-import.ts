/** Rules from a file: the same file a second time changes nothing. */

import type { AlertErrorCode, Outcome } from '../core/outcome.ts'
import type { NewRule, Rule } from '../core/rule.ts'

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

export interface ImportSteps {
  add(rule: NewRule): Promise<Outcome<Rule>>
  /** True where the import changes the rule. */
  change(before: Rule, rule: NewRule): Promise<Outcome<boolean>>
  remove(rule: Rule): Promise<Outcome>
}

/** Rules are the same by their names. `prune`: others are removed. Throws ImportRefused. */
export async function importRules(
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
