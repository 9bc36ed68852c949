/** Logs the faults of senders for the operator. The sender itself may get no answer, or have no reader for it. */

import type { Log } from '../../store/log.ts'

/** Logs a sender at most once a minute. */
export type SenderLog = (sender: string, level: 'warn' | 'error', fields: object, text: string) => void

const everyMs = 60_000
/** Limit of lines a minute. The metrics count the other senders. */
const sendersMax = 1000

export function createSenderLog(log: Pick<Log, 'warn' | 'error'>, nowMs: () => number): SenderLog {
  /** In the order of time. */
  const loggedAtMs = new Map<string, number>()
  return (sender, level, fields, text) => {
    const now = nowMs()
    for (const [logged, atMs] of loggedAtMs) {
      if (now - atMs < everyMs) break
      loggedAtMs.delete(logged)
    }
    if (loggedAtMs.has(sender) || loggedAtMs.size >= sendersMax) return
    loggedAtMs.set(sender, now)
    log[level](fields, text)
  }
}
