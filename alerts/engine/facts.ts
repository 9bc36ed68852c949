/** Tells rules of the service what it knows of itself. */

import { type Fact, holds } from '../core/fact.ts'
import { noDevice, type Rule } from '../core/rule.ts'
import type { EngineRun } from './engine-run.ts'

export function observeFacts(
  run: Pick<EngineRun, 'observe'>,
  rules: Iterable<Rule>,
  facts: readonly Fact[],
  nowMs: number,
): void {
  for (const { id, condition } of rules) {
    if (condition.kind !== 'service') continue
    const fact = facts.find(({ fact }) => fact === condition.fact)
    if (fact === undefined) continue
    const { value, text } = fact
    run.observe(id, noDevice, { kind: 'fact', nowMs, holds: holds(condition, fact), value, text })
  }
}
