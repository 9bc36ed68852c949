/** Takes the readings of a decoded message, one after the other, and answers when all of them have an outcome. */

import type { CredentialWriter, Writer } from '../../auth/writers.ts'
import type { Fields } from '../../ingest/field-names.ts'
import type { Intake, LeftOut, StoredReading } from '../../ingest/intake/intake.ts'
import type { Refusal } from '../../ingest/intake/refusal.ts'
import { loggerErrors } from '../http/status-operations.ts'
import { renewed } from './log.ts'

export interface RefusedReading {
  readonly device: string
  readonly refusal: Refusal
  readonly fields: Fields
}

export interface TakenReadings {
  /** Number of readings on disk. */
  readonly stored: number
  readonly refused: readonly RefusedReading[]
  readonly leftOut: readonly (LeftOut & { device: string })[]
}

type Outcome = Refusal | StoredReading

export async function takeReadings(
  intake: Intake,
  admitted: CredentialWriter,
  readings: readonly Fields[],
): Promise<TakenReadings> {
  const outcomes: (Outcome | Promise<Outcome>)[] = []
  let writer = await renewed(admitted)
  for (const reading of readings) {
    const preparing = 'code' in writer ? undefined : intake.prepare(writer, reading)
    const unprepared = await preparing
    // A key may have ended while a device or a metric was made.
    if (preparing !== undefined) writer = await renewed(admitted)
    outcomes.push(takeOne(intake, writer, unprepared, reading))
  }
  return outcomeOf(readings, await Promise.all(outcomes))
}

function takeOne(
  intake: Intake,
  writer: Writer | Refusal,
  unprepared: Refusal | undefined,
  reading: Fields,
): Outcome | Promise<Outcome> {
  if (unprepared !== undefined) return unprepared
  return 'code' in writer ? writer : intake.take(writer, reading)
}

function outcomeOf(readings: readonly Fields[], outcomes: readonly Outcome[]): TakenReadings {
  const refused: RefusedReading[] = []
  const leftOut: TakenReadings['leftOut'][number][] = []
  for (const [at, outcome] of outcomes.entries()) {
    const fields = readings[at] ?? {}
    const device = String(fields['device'])
    if ('reason' in outcome) refused.push({ device, refusal: outcome, fields })
    else leftOut.push(...outcome.leftOut.map(part => ({ ...part, device })))
  }
  return { stored: outcomes.length - refused.length, refused, leftOut }
}

/**
 * The refusal that answers the whole message: one that may pass, so that the sender repeats the message, or the first where
 * nothing is stored.
 */
export function refusalOf({ stored, refused }: TakenReadings): Refusal | undefined {
  const passing = refused.find(({ refusal }) => loggerErrors[refusal.code].status >= 429)
  return passing?.refusal ?? (stored === 0 ? refused[0]?.refusal : undefined)
}
