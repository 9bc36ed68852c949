/** Stretches of time in charts. */

export interface Stretch {
  readonly fromMs: number
  /** Not included. */
  readonly toMs: number
}

/** Those that a moment is in: more than one where they are shares, or at the same time. Ascending, as they are. */
export function blocksAt<Block extends Stretch>(blocks: readonly Block[], atMs: number): Block[] {
  return blocks.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)
}
