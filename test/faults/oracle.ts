/**
 * The oracle compares attempts and their responses with the stored rows. It is a pure function, so that tests can run it on
 * made-up ledgers.
 */

import { type ClockPeriod, offsetsAt, periodOf } from './clock.ts'
import { type Identity, type RowValues, readingIdentity } from './identity.ts'
import { type Attempt, isAcknowledged, type Ledger } from './ledger.ts'

export interface StoredRow {
  device: string
  /** Undefined if the route does not return microseconds. */
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
  /** Attempts without a response. `unknownStored` counts the stored ones. */
  unknown: number
  unknownStored: number
}

export interface JudgeOptions {
  identity?: Identity
  /** Stamps lie within the attempt, with this tolerance. */
  stampToleranceMs?: number | undefined
  /** The offsets of the service's clock, if wrong on purpose. Stamps follow them. */
  clock?: readonly ClockPeriod[]
  /** Acknowledged readings that were damaged on purpose: they may be missing, but must not have wrong values. */
  exempt?: ReadonlySet<number>
  /** Devices with a completed erase: none of their rows may be readable. Other rules do not apply to them. */
  erased?: ReadonlySet<string>
  /** Epoch milliseconds of the erase of a metric: earlier values may be missing. Undefined if the metric was not erased. */
  erasedUntilMs?: (device: string, metric: string) => number | undefined
}

/** These responses guarantee that nothing was stored. */
const isRefused = ({ status }: Attempt): boolean =>
  status !== undefined && ((status >= 400 && status < 500) || status === 503)

/** `rows` are sorted by time for each device. */
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

/** The row of an erased metric remains, without values. */
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
    violations.wrong.push(`a row has values of no attempt: ${JSON.stringify(row)}`)
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

/** Readings rejected for a future time are accepted by a clock that is ahead. */
const hasOwnTime = (kind: Attempt['kind'], timeUs: number | undefined) =>
  kind === 'bad' && (timeUs === undefined || timeUs % 1000 === 0)

/** A request without a response may still wait in the socket of a busy service, and be accepted later. */
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

/** Each acknowledged reading without a time has a separate row. */
function judgeLive({ attempts }: Ledger, stored: Map<number, number>, exempt: ReadonlySet<number>, lost: string[]) {
  for (const attempt of attempts) {
    if (attempt.timeMs !== undefined || !isAcknowledged(attempt)) continue
    if (!stored.has(attempt.sequence) && !exempt.has(attempt.sequence)) lost.push(`${nameOf(attempt)} is missing`)
  }
}

/**
 * Of attempts with the same device and time, the last acknowledged one counts, unless one without a response superseded it. An
 * exempt attempt allows any earlier one.
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

/** Acknowledged later means stamped later, for each device and while the clock is not set. */
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

/** Finds attempts accepted with a password that was revoked before they began. */
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
