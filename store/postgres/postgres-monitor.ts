/** Probes PostgreSQL periodically, so that readiness can be reported without waiting for it. */

import type pg from 'pg'

export interface PostgresMonitor {
  /** Why PostgreSQL is unavailable; undefined while it is available. */
  fault(): string | undefined
  close(): void
}

const answerMsMax = 3000

export function monitorPostgres(pool: pg.Pool, probeMs = 2000): PostgresMonitor {
  let fault: string | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function probe(): Promise<void> {
    try {
      await pool.query({ text: 'SELECT 1', query_timeout: answerMsMax } as pg.QueryConfig)
      fault = undefined
    } catch (error) {
      fault = `PostgreSQL does not answer: ${error instanceof Error ? error.message || error.name : String(error)}`
    }
    if (!closed) plan()
  }

  function plan(): void {
    timer = setTimeout(() => void probe(), probeMs)
    timer.unref()
  }

  plan()
  return {
    fault: () => fault,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
