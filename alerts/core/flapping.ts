/** Pairs that change too often: one notification says so, and then nothing until they keep still. */

/** One more than an hour may have. */
const changesMax = 7
const hourMs = 3_600_000
const stillMs = 1_800_000

export function withChange(changesMs: readonly number[], atMs: number): readonly number[] {
  return [...changesMs, atMs].slice(-changesMax)
}

export function isFlapping(changesMs: readonly number[]): boolean {
  return changesMs.length === changesMax && (changesMs.at(-1) as number) - (changesMs[0] as number) <= hourMs
}

/** From when on a pair that has changed no more has kept still. */
export function stillFromMs(changesMs: readonly number[]): number {
  return (changesMs.at(-1) ?? Number.NEGATIVE_INFINITY) + stillMs
}
