/** Noise as a function of time: a seed and a step give the same number, in whatever order they are asked for. */

/** Uniform in [0, 1), by the finalizer of MurmurHash3. */
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

/** From -1 to 1; it changes smoothly, and has forgotten its past after `period` steps. */
export function wanderAt(seed: number, step: number, period: number): number {
  const knot = Math.floor(step / period)
  const share = step / period - knot
  const weight = share * share * (3 - 2 * share)
  return 2 * (uniformAt(seed, knot) * (1 - weight) + uniformAt(seed, knot + 1) * weight) - 1
}
