/** Tells who runs the service what is wrong with a client: the client itself may not learn it, or nobody may look there. */

import type { Log } from '../../../store/log.ts'

/** Once a minute a client, which `key` stands for. */
export type ClientLog = (key: string, level: 'warn' | 'error', fields: object, text: string) => void

const everyMs = 60_000
/** So many lines a minute at most; what the others do is in the metrics. */
const clientsMax = 1000

export function createClientLog(log: Pick<Log, 'warn' | 'error'>, nowMs: () => number): ClientLog {
  /** In the order of time. */
  const loggedAtMs = new Map<string, number>()
  return (key, level, fields, text) => {
    const now = nowMs()
    for (const [logged, atMs] of loggedAtMs) {
      if (now - atMs < everyMs) break
      loggedAtMs.delete(logged)
    }
    if (loggedAtMs.has(key) || loggedAtMs.size >= clientsMax) return
    loggedAtMs.set(key, now)
    log[level](fields, text)
  }
}
