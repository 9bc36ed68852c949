/** Facts about the service itself, for rules of its operators. */

import type { Condition, ServiceFact } from './condition.ts'

export interface Fact {
  readonly fact: ServiceFact
  /**
   * Seconds for which QuestDB has been away, the age of the oldest reading that it lacks in seconds, dead letters, days until the disk is full (Infinity: never), the share of the
   * journal that is full, steps of the clock within the last hour.
   */
  readonly value: number
  /** For people. */
  readonly text: string
}

const diskDays = 7
const journalShare = 0.5
/** Beyond this, `/health/ready` is degraded, too. */
const lateSeconds = 60

export function holds(condition: Extract<Condition, { kind: 'service' }>, { value }: Fact): boolean {
  if (condition.fact === 'disk_full') return value < (condition.days ?? diskDays)
  if (condition.fact === 'journal_full') return value > (condition.share ?? journalShare)
  if (condition.fact === 'forwarding_late') return value > lateSeconds
  return value > 0
}
