/**
 * Brings memory level with PostgreSQL after a change whose outcome is unknown: the connection broke, and the change may
 * have been made all the same. Its sequence number is above all that memory knew when it began.
 */

export interface CatchUp {
  /** A change that began when memory was at this sequence number has failed. */
  failed(sequence: number): void
  close(): void
}

export interface CatchUpOptions {
  /** Takes in what has changed since; rejects while the database is away. */
  readSince: (sequence: number) => Promise<void>
  now: () => number
  retryMs: number
  /** After this time the server has ended a statement whose client is gone, one way or the other. */
  settledMs: number
}

const retryMsMax = 30_000

export function createCatchUp({ readSince, now, retryMs, settledMs }: CatchUpOptions): CatchUp {
  let open: { sequence: number; failedMs: number } | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function failed(sequence: number): void {
    open = { sequence: Math.min(open?.sequence ?? sequence, sequence), failedMs: now() }
    schedule(retryMs)
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    if (closed) return
    timer = setTimeout(() => void run(delayMs), delayMs).unref()
  }

  async function run(delayMs: number): Promise<void> {
    const asked = open
    if (asked === undefined) return
    const startedMs = now()
    try {
      await readSince(asked.sequence)
      if (open === asked && startedMs - asked.failedMs >= settledMs) {
        open = undefined
        return
      }
    } catch {
      // Still away: the next turn tries again.
    }
    if (open === asked) schedule(Math.min(delayMs * 2, retryMsMax))
  }

  function close(): void {
    closed = true
    clearTimeout(timer)
  }

  return { failed, close }
}
