/**
 * Reconciles memory with PostgreSQL after a change whose outcome is unknown: COMMIT was sent and not answered. PostgreSQL is
 * asked for the transaction until that has ended; then what it changed is read.
 */

import { bug } from '../../store/limits/bug.ts'

/** There is one at a time, since no change begins while another one's outcome is unknown. */
interface UnknownOutcome {
  transaction: string
  /** All that the change has made is above this sequence number. */
  sequence: number
  /** Called when memory has the outcome. */
  onReconciled: () => void
}

export interface Reconciler {
  outcomeUnknown(change: UnknownOutcome): void
  /** Asks now if there is anything to be asked; false while an outcome is still unknown. */
  reconcile(): Promise<boolean>
  close(): void
}

export interface ReconcilerOptions {
  /** Rejects while the database is away, as does the next. */
  hasEnded: (transaction: string) => Promise<boolean>
  /** Applies to memory what has changed since. */
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
