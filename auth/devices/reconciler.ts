/**
 * Reconciles memory with PostgreSQL after a change with an unknown outcome, whose COMMIT was sent and not answered. It
 * queries the transaction until that has ended, then reads its changes.
 */

import { bug } from '../../store/limits/bug.ts'

/** There is at most one: no change begins while an outcome is unknown. */
interface UnknownOutcome {
  transaction: string
  /** The change's rows have higher sequence numbers. */
  sequence: number
  /** Called when memory has the outcome. */
  onReconciled: () => void
}

export interface Reconciler {
  outcomeUnknown(change: UnknownOutcome): void
  /** Queries now if an outcome is unknown; false while it stays unknown. */
  reconcile(): Promise<boolean>
  close(): void
}

export interface ReconcilerOptions {
  /** Rejects while the database is unavailable, like `readSince`. */
  hasEnded: (transaction: string) => Promise<boolean>
  /** Applies later changes to memory. */
  readSince: (sequence: number) => Promise<void>
  failed: (error: unknown) => void
  retryMs: number
}

const retryMsMax = 5_000

export function createReconciler({ hasEnded, readSince, failed, retryMs }: ReconcilerOptions): Reconciler {
  let open: UnknownOutcome | undefined
  let attempt: Promise<boolean> | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function outcomeUnknown(change: UnknownOutcome): void {
    if (open !== undefined) throw bug(`${change.transaction} is in doubt while ${open.transaction} is`)
    open = change
    schedule(retryMs)
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    if (closed) return
    timer = setTimeout(() => void retry(delayMs), delayMs).unref()
  }

  async function retry(delayMs: number): Promise<void> {
    if (!(await reconcile())) schedule(Math.min(delayMs * 2, retryMsMax))
  }

  async function reconcile(): Promise<boolean> {
    if (open === undefined) return true
    attempt ??= ask(open).finally(() => {
      attempt = undefined
    })
    return await attempt
  }

  async function ask({ transaction, sequence, onReconciled }: UnknownOutcome): Promise<boolean> {
    try {
      if (!(await hasEnded(transaction))) return false
      await readSince(sequence)
    } catch (error) {
      failed(error)
      return false
    }
    open = undefined
    onReconciled()
    return true
  }

  function close(): void {
    closed = true
    clearTimeout(timer)
  }

  return { outcomeUnknown, reconcile, close }
}
