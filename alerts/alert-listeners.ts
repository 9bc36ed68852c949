/** Calls listeners with alerts that have changed: in this process after the commit, in others when the feed has it. */

import type { ChangeFeed } from '../auth/nodes/change-feed.ts'
import type { Log } from '../store/log.ts'
import type { AlertRow } from './core/alert.ts'

export interface AlertListeners {
  changed(ids: readonly number[]): void
  onAlert(listener: (alerts: readonly AlertRow[]) => void): void
  close(): Promise<void>
}

export interface AlertListenersOptions {
  readonly feed: Pick<ChangeFeed, 'onChange'>
  readonly byIds: (ids: readonly number[]) => Promise<readonly AlertRow[]>
  readonly log: Pick<Log, 'warn'>
}

const idsPerRead = 1000
/** Beyond this, listeners see a change when they read the list again. */
const waitingMax = 100_000

export function createAlertListeners({ feed, byIds, log }: AlertListenersOptions): AlertListeners {
  const listeners: ((alerts: readonly AlertRow[]) => void)[] = []
  const waiting = new Set<number>()
  let isClosed = false
  let running: Promise<void> | undefined
  feed.onChange('alert', changed)

  function changed(ids: readonly number[]): void {
    if (listeners.length === 0 || isClosed) return
    for (const id of ids) if (waiting.size < waitingMax) waiting.add(id)
    running ??= notify().finally(() => {
      running = undefined
    })
  }

  async function notify(): Promise<void> {
    while (waiting.size > 0 && !isClosed) {
      const ids = [...waiting].slice(0, idsPerRead)
      for (const id of ids) waiting.delete(id)
      try {
        const alerts = await byIds(ids)
        for (const listener of listeners) listener(alerts)
      } catch (error) {
        log.warn({ err: error, alerts: ids.length }, 'changes of alerts cannot be shown at once')
      }
    }
  }

  return {
    changed,
    onAlert: listener => void listeners.push(listener),
    async close() {
      isClosed = true
      await running
    },
  }
}
