/** The order of findings: worst first, ongoing ones before ended ones, the newest first. */

import { type Finding, findingSeverities } from './finding.ts'

/** Longer lists are not read. */
export const findingsMax = 10

type Ranked = Pick<Finding, 'code' | 'severity' | 'metric' | 'sinceMs' | 'untilMs'> & {
  /** Set in a list of several devices. */
  readonly device?: string
}

/** Keeps one at a time for each device, code and metric: of two that overlap, the first in the order stays. */
export function rankFindings<Some extends Ranked>(all: readonly Some[], max = findingsMax): Some[] {
  const keptByKey = new Map<string, Some[]>()
  const kept: Some[] = []
  for (const finding of [...all].sort(inOrder)) {
    // A level that changes on may be a step first, and a ramp after some days.
    const code = finding.code === 'ramp' ? 'level_change' : finding.code
    const key = JSON.stringify([finding.device, code, finding.metric])
    const same = keptByKey.get(key) ?? []
    if (same.some(other => overlap(other, finding))) continue
    keptByKey.set(key, [...same, finding])
    kept.push(finding)
    if (kept.length === max) break
  }
  return kept
}

function inOrder(a: Ranked, b: Ranked): number {
  const [rankOfA, rankOfB] = [a, b].map(({ severity }) => findingSeverities.indexOf(severity)) as [number, number]
  return rankOfA - rankOfB || Number(a.untilMs !== null) - Number(b.untilMs !== null) || b.sinceMs - a.sinceMs
}

function overlap(a: Ranked, b: Ranked): boolean {
  const isBefore = (one: Ranked, other: Ranked) => one.untilMs !== null && one.untilMs < other.sinceMs
  return !isBefore(a, b) && !isBefore(b, a)
}
