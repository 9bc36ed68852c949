/** Random numbers from a seed, so that a failed history can be repeated. */

export interface Random {
  next(): number
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly T[]): T
}

/** Mulberry32 costs one multiplication a step and suffices for tests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b_79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    chance: probability => next() < probability,
    pick: <T>(values: readonly T[]) => values[below(values.length)] as T,
  }
}
