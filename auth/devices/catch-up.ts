/**
 * Brings memory level with PostgreSQL after a change whose outcome is unknown: COMMIT was sent and not answered.
 * PostgreSQL is asked for the transaction until that has ended; then what it changed is read.
 */

/** There is one at a time, since no change begins while another one's outcome is unknown. */
interface Unsettled {
  transaction: string
  /** All that the change has made is above this sequence number. */
  sequence: number
  /** Called when memory has the outcome. */
  settled: () => void
}

export interface CatchUp {
  outcomeUnknown(change: Unsettled): void
  /** Asks now if there is anything to be asked; false while an outcome is still unknown. */
  settle(): Promise<boolean>
  close(): void
}

export interface CatchUpOptions {
  /** Rejects while the database is away, as does the next. */
  hasEnded: (transaction: string) => Promise<boolean>
  /** Takes in what has changed since. */
  readSince: (sequence: number) => Promise<void>
  failed: (error: unknown) => void
  retryMs: number
}

const retryMsMax = 5_000

export function createCatchUp({ hasEnded, readSince, failed, retryMs }: CatchUpOptions): CatchUp {
  let open: Unsettled | undefined
  let attempt: Promise<boolean> | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function outcomeUnknown(change: Unsettled): void {
    open = change
    schedule(retryMs)
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    if (closed) return
    timer = setTimeout(() => void retry(delayMs), delayMs).unref()
  }

  async function retry(delayMs: number): Promise<void> {
    if (!(await settle())) schedule(Math.min(delayMs * 2, retryMsMax))
  }

  async function settle(): Promise<boolean> {
    if (open === undefined) return true
    attempt ??= ask(open).finally(() => {
      attempt = undefined
    })
    return await attempt
  }

  async function ask({ transaction, sequence, settled }: Unsettled): Promise<boolean> {
    try {
      if (!(await hasEnded(transaction))) return false
      await readSince(sequence)
    } catch (error) {
      failed(error)
      return false
    }
    open = undefined
    settled()
    return true
  }

  function close(): void {
    closed = true
    clearTimeout(timer)
  }

  return { outcomeUnknown, settle, close }
}
