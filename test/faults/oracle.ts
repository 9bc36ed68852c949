/**
 * The oracle: compares what was attempted and answered with what is stored. A pure function, so that it can be tried on
 * made-up ledgers: an oracle that cannot see a violation proves nothing.
 */

import { type ClockPeriod, offsetsAt, periodOf } from './clock.ts'
import { type Identity, type RowValues, readingIdentity } from './identity.ts'
import { type Attempt, isAcknowledged, type Ledger } from './ledger.ts'

export interface StoredRow {
  device: string
  /** Undefined where the route that was asked does not tell it to the microsecond. */
  timeUs: number | undefined
  values: RowValues
}

export const violationNames = [
  'lost',
  'duplicated',
  'phantom',
  'wrong',
  'leaked',
  'disordered',
  'stale',
  'undead',
] as const
export type ViolationName = (typeof violationNames)[number]

export interface Verdict {
  violations: Record<ViolationName, string[]>
  acknowledged: number
  /** Attempts without an answer, and how many of those are stored. */
  unknown: number
  unknownStored: number
}

export interface JudgeOptions {
  identity?: Identity
  /** Stamps lie within the attempt, give or take this much. */
  stampToleranceMs?: number | undefined
  /** What the service's clock said, where it was wrong on purpose: its stamps follow it. */
  clock?: readonly ClockPeriod[]
  /** Acknowledged readings that were damaged on purpose: they need not be there, and must not be there wrongly. */
  exempt?: ReadonlySet<number>
  /** Devices whose erase was reported as done: nothing of theirs may be readable, and nothing else is asked of them. */
  erased?: ReadonlySet<string>
  /** Until when values of a metric of a device may be missing, as they were erased then; undefined for one that has all. Epoch milliseconds. */
  erasedUntilMs?: (device: string, metric: string) => number | undefined
}

/** Answers that promise that nothing was stored. */
const isRefused = ({ status }: Attempt): boolean =>
  status !== undefined && ((status >= 400 && status < 500) || status === 503)

/** `rows` in the order of time for each device. */
export function judge(all: Ledger, allRows: readonly StoredRow[], options: JudgeOptions = {}): Verdict {
  const { identity = readingIdentity } = options
  const isErased = ({ device }: { device: string }) => options.erased?.has(device) === true
  const ledger = { ...all, attempts: all.attempts.filter(attempt => !isErased(attempt)) }
  const rows = allRows.filter(row => !isErased(row))
  const attempts = new Map(ledger.attempts.map(attempt => [attempt.sequence, attempt]))
  const violations: Verdict['violations'] = {
    lost: [],
    duplicated: [],
    phantom: [],
    wrong: [],
    leaked: [],
    disordered: [],
    stale: [],
    undead: allRows.filter(row => isErased(row) && hasValue(row)).map(row => `was erased: ${JSON.stringify(row)}`),
  }
  const stored = new Map<number, number>()
  for (const row of rows) {
    const attempt = attemptOf(row, identity, attempts, violations)
    if (attempt === undefined) continue
    const { sequence } = attempt
    stored.set(sequence, (stored.get(sequence) ?? 0) + 1)
    const wrong = wrongIn(row, attempt, options)
    if (wrong !== undefined) violations.wrong.push(wrong)
    if (isRefused(attempt)) violations.leaked.push(`${nameOf(attempt)} was answered ${attempt.status} and is stored`)
  }
  for (const [sequence, times] of stored) {
    if (times > 1) violations.duplicated.push(`${sequence} is stored ${times} times`)
  }
  judgeLive(ledger, stored, options.exempt ?? new Set(), violations.lost)
  judgeTimed(ledger, stored, options.exempt ?? new Set(), violations)
  judgeOrder(rows, attempts, options, violations.disordered)
  judgeStale(ledger, violations.stale)
  const unknown = ledger.attempts.filter(attempt => !isAcknowledged(attempt) && !isRefused(attempt))
  return {
    violations,
    acknowledged: all.attempts.filter(isAcknowledged).length,
    unknown: unknown.length,
    unknownStored: unknown.filter(({ sequence }) => stored.has(sequence)).length,
  }
}

/** The row of what was erased stays, without any. */
function hasValue({ values }: StoredRow): boolean {
  return Object.values(values).some(value => value !== '' && !Number.isNaN(value))
}

const nameOf = ({ sequence, device, kind }: Attempt): string => `${sequence} (${kind}, ${device})`

function attemptOf(
  row: StoredRow,
  identity: Identity,
  attempts: Map<number, Attempt>,
  violations: Verdict['violations'],
): Attempt | undefined {
  const sequence = identity.sequenceOf(row.values)
  if (sequence === undefined) {
    violations.wrong.push(`a row has values that nobody sent: ${JSON.stringify(row)}`)
    return undefined
  }
  const attempt = attempts.get(sequence)
  if (attempt === undefined) violations.phantom.push(`${sequence} was never attempted: ${JSON.stringify(row)}`)
  return attempt
}

function wrongIn(row: StoredRow, attempt: Attempt, options: JudgeOptions): string | undefined {
  if (row.device !== attempt.device) return `${nameOf(attempt)} is stored under ${row.device}`
  const { identity = readingIdentity, erasedUntilMs = () => undefined } = options
  for (const [name, value] of Object.entries(identity.valuesOf(attempt.sequence))) {
    const found = row.values[name]
    if (Number.isNaN(found) && attempt.startMs < (erasedUntilMs(row.device, name) ?? Number.NEGATIVE_INFINITY)) continue
    if (found !== undefined && !Object.is(found, value)) return `${nameOf(attempt)} has ${name} ${found}, not ${value}`
  }
  if (row.timeUs === undefined) return undefined
  if (attempt.timeMs !== undefined) {
    const isSame = row.timeUs === attempt.timeMs * 1000
    return isSame ? undefined : `${nameOf(attempt)} is stored at ${row.timeUs}, not at ${attempt.timeMs} ms`
  }
  return isStampedWithin(attempt, row.timeUs, options)
    ? undefined
    : `${nameOf(attempt)} is stamped ${row.timeUs}, outside of its attempt`
}

const rightClock: readonly ClockPeriod[] = [{ fromMs: Number.NEGATIVE_INFINITY, offsetMs: 0 }]

/** What is bad because it comes from the future is taken by a clock that is there already. */
const hasOwnTime = (kind: Attempt['kind'], timeUs: number | undefined) =>
  kind === 'bad' && (timeUs === undefined || timeUs % 1000 === 0)

/** A request whose connection ended without an answer may still lie before a busy service, and be taken later. */
function lastMomentOf({ status, endMs }: Attempt): number {
  return status === undefined || endMs === undefined ? Number.POSITIVE_INFINITY : endMs
}

function isStampedWithin(attempt: Attempt, timeUs: number, options: JudgeOptions): boolean {
  const { kind, startMs } = attempt
  const endMs = lastMomentOf(attempt)
  const { stampToleranceMs, clock = rightClock } = options
  if (stampToleranceMs === undefined || hasOwnTime(kind, timeUs)) return true
  return offsetsAt(clock, startMs, endMs).some(offsetMs => {
    const timeMs = timeUs / 1000 - offsetMs
    return timeMs >= startMs - stampToleranceMs && timeMs <= endMs + stampToleranceMs
  })
}

/** Each acknowledged reading without a time of its own has its own row. */
function judgeLive({ attempts }: Ledger, stored: Map<number, number>, exempt: ReadonlySet<number>, lost: string[]) {
  for (const attempt of attempts) {
    if (attempt.timeMs !== undefined || !isAcknowledged(attempt)) continue
    if (!stored.has(attempt.sequence) && !exempt.has(attempt.sequence)) lost.push(`${nameOf(attempt)} is missing`)
  }
}

/**
 * Of those with one device and time the last acknowledged counts; one without an answer may have superseded it. What is
 * exempt leaves all of its place open: the one before it may show again.
 */
function judgeTimed(
  { attempts }: Ledger,
  stored: Map<number, number>,
  exempt: ReadonlySet<number>,
  violations: Verdict['violations'],
): void {
  const timed = attempts.filter(attempt => attempt.timeMs !== undefined)
  for (const sameKey of Map.groupBy(timed, ({ device, timeMs }) => `${device} ${timeMs}`).values()) {
    const found = sameKey.filter(({ sequence }) => stored.has(sequence))
    if (found.length > 1) violations.duplicated.push(`${found.map(nameOf).join(' and ')} share one key`)
    const last = sameKey.findLast(isAcknowledged)
    if (last === undefined || sameKey.some(({ sequence }) => exempt.has(sequence))) continue
    const isThere = found.some(
      other => other.sequence >= last.sequence || (!isAcknowledged(other) && !isRefused(other)),
    )
    if (isThere) continue
    violations.lost.push(
      found.length === 0
        ? `${nameOf(last)} is missing`
        : `${nameOf(last)} is overwritten by the older ${found.map(nameOf).join(', ')}`,
    )
  }
}

/** Later acknowledged means a later stamp, for each device and as long as the clock is not set. */
function judgeOrder(
  rows: readonly StoredRow[],
  attempts: Map<number, Attempt>,
  { clock = rightClock, identity = readingIdentity }: JudgeOptions,
  disordered: string[],
): void {
  const highest = new Map<string, number>()
  for (const row of rows) {
    const attempt = attempts.get(identity.sequenceOf(row.values) ?? -1)
    if (attempt === undefined || attempt.timeMs !== undefined || !isAcknowledged(attempt)) continue
    if (hasOwnTime(attempt.kind, row.timeUs)) continue
    const period = periodOf(clock, attempt.startMs, attempt.endMs ?? Number.POSITIVE_INFINITY)
    if (period === undefined) continue
    const key = `${period} ${attempt.device}`
    const before = highest.get(key) ?? -1
    if (attempt.sequence < before) disordered.push(`${nameOf(attempt)} is stamped behind ${before}`)
    else highest.set(key, attempt.sequence)
  }
}

/** Taken with a password that was revoked before the attempt began. */
function judgeStale({ attempts, revocations }: Ledger, stale: string[]): void {
  const revokedAt = new Map(revocations.map(({ device, atMs }) => [device, atMs]))
  for (const attempt of attempts) {
    if (attempt.kind !== 'revoked' || !isAcknowledged(attempt)) continue
    if (attempt.startMs > (revokedAt.get(attempt.device) ?? Number.POSITIVE_INFINITY))
      stale.push(`${nameOf(attempt)} was taken with a revoked password`)
  }
}

export function violationCount({ violations }: Verdict): number {
  return violationNames.reduce((sum, name) => sum + violations[name].length, 0)
}
