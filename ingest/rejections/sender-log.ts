/** Tells who runs the service what is wrong with a sender: the sender itself may not learn it, or nobody may look there. */

import type { Log } from '../../store/log.ts'

/** Once a minute a sender. */
export type SenderLog = (sender: string, level: 'warn' | 'error', fields: object, text: string) => void

const everyMs = 60_000
/** So many lines a minute at most; what the others do is in the metrics. */
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
