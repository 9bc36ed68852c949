/**
 * How many of several shards a process takes. It takes its first one at once, and one more only where that has been free for some
 * time, the longer the more it has: so that processes that run side by side share the shards, and one that is alone has all.
 */

interface ShardClaim {
  /** `isLocked`: whether any process has the shard now. With true it counts as one that this process has, until `failed`. */
  mayTry(isLocked: boolean): boolean
  /** Another process has it, or it is no longer this one's. May be called twice. */
  failed(): void
}

export interface ShardShare {
  /** Of one shard. */
  claim(): ShardClaim
}

/** Several times what passes between two attempts to get a lock. */
const pauseMsUsual = 3000

export function createShardShare(
  nowMs: () => number = performance.now.bind(performance),
  pauseMs = pauseMsUsual,
): ShardShare {
  let held = 0
  return {
    claim() {
      let isHeld = false
      let freeSinceMs: number | undefined
      return {
        mayTry(isLocked) {
          if (isLocked) {
            freeSinceMs = undefined
            return false
          }
          freeSinceMs ??= nowMs()
          if (nowMs() - freeSinceMs < held * pauseMs) return false
          if (!isHeld) held++
          isHeld = true
          return true
        },
        failed() {
          if (isHeld) held--
          isHeld = false
        },
      }
    },
  }
}
