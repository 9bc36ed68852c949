/** Decides by QuestDB's position of a journal whether it has the applied rows, and how the forwarder continues. */

import type { FoundPosition } from './applied-positions.ts'

/** Positions of the journal. */
export interface JournalPlace {
  /** All rows before it were applied once, and may have left the journal. */
  committed: number
  /** The journal has all records from here on. */
  start: number
  /** Times at which the first and the committed position were written. */
  sinceMs: number
  untilMs: number
}

/**
 * `filling`: lost rows are being sent again and are incomplete. `again`: rows from `from` on have to be sent again.
 * `lost`: they are not in the journal. Rows received in that time are missing. Nothing is missing where nothing was
 * committed.
 */
export type Verdict =
  | { kind: 'whole' }
  | { kind: 'filling' }
  | { kind: 'again'; from: number; isMissing: boolean }
  | { kind: 'lost'; fromMs: number; toMs: number; isOfOthers: boolean }

export function judgePosition({ applied, isOfOthers }: FoundPosition, place: JournalPlace): Verdict {
  const { committed, start, sinceMs, untilMs } = place
  if (applied !== undefined && applied.position >= committed) {
    return { kind: applied.position < applied.wholeFrom ? 'filling' : 'whole' }
  }
  const from = applied?.position ?? 0
  if (!isOfOthers && from >= start) return { kind: 'again', from, isMissing: from < committed }
  const fromMs = applied?.recordedMs ?? sinceMs
  return { kind: 'lost', fromMs, toMs: Math.max(fromMs, untilMs), isOfOthers }
}

/** For people. Undefined where nothing is missing. `rows`: readings or points. */
export function verdictText(rows: string, verdict: Verdict): string | undefined {
  if (verdict.kind === 'whole' || (verdict.kind === 'again' && !verdict.isMissing)) return undefined
  if (verdict.kind !== 'lost') return `QuestDB has lost ${rows}, which are being sent again`
  const { fromMs, toMs, isOfOthers } = verdict
  const what = isOfOthers ? 'belongs to another service' : 'is empty or an older copy'
  const missing = `${rows} that were received from ${timeText(fromMs)} to ${timeText(toMs)}`
  const remedy = `put its files back, or set QUESTDB_ACCEPT_LOSS=${timeText(toMs)} to go on without them`
  return `QuestDB ${what}: it lacks ${missing}. Readings wait in the journal: ${remedy}`
}

/** `acceptedMs`: from the setting, in whole seconds. It does not accept later losses. */
export function isAccepted({ toMs }: Verdict & { kind: 'lost' }, acceptedMs: number | undefined): boolean {
  return acceptedMs !== undefined && acceptedMs >= Math.floor(toMs / 1000) * 1000
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
