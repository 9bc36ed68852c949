/** Random numbers that are the same at each start: from a seed one after the other, or as a function of a seed and a step. */

export type Random = () => number

/** The same seed gives the same numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A number from the text of a name, so that each device has a seed of its own. */
export function seedOf(name: string): number {
  let seed = 0
  for (const character of name) seed = Math.imul(seed, 31) + (character.codePointAt(0) ?? 0)
  return seed
}

/** Uniform in [0, 1), by the finalizer of MurmurHash3; in whatever order the steps are asked for. */
export function uniformAt(seed: number, step: number): number {
  let mixed = (seed ^ Math.imul(step, 0x9e37_79b1)) >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}

/** Roughly normal, and never further out than three. */
export function bellAt(seed: number, step: number): number {
  return (uniformAt(seed, 3 * step) + uniformAt(seed, 3 * step + 1) + uniformAt(seed, 3 * step + 2) - 1.5) * 2
}

/** The result is -1 to 1. It changes smoothly, and is independent of its past after `period` steps. */
export function wanderAt(seed: number, step: number, period: number): number {
  const knot = Math.floor(step / period)
  const share = step / period - knot
  const weight = share * share * (3 - 2 * share)
  return 2 * (uniformAt(seed, knot) * (1 - weight) + uniformAt(seed, knot + 1) * weight) - 1
}
