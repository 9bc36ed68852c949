/** Stretches of time in charts. */

export interface Stretch {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

/** The blocks that contain a moment, ascending. Shares and simultaneous blocks overlap. */
export function blocksAt<Block extends Stretch>(blocks: readonly Block[], atMs: number): Block[] {
  return blocks.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)
}
