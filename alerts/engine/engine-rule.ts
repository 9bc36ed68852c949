/** A rule as its evaluation has it. */

import type { RuleCore, Severity } from '../core/rule.ts'

export interface EngineRule {
  readonly id: number
  readonly version: number
  readonly core: RuleCore
  readonly severity: Severity
  readonly metric: string | null
  /** Of the built-in metrics; `customColumn` for another one, and `noColumn` without a metric. */
  readonly column: number
}

export const noColumn = -1
export const customColumn = -2
