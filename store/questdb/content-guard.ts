/** Checks before reads that an answering QuestDB has all its earlier content. */

import type { Log } from '../log.ts'
import type { QuestdbClient } from './client/questdb-client.ts'
import { isUnanswered } from './client/questdb-error.ts'
import type { Exec } from './until-applied.ts'

/** Returns why QuestDB must not be used although it answers, or undefined. If it rejects, the previous reason stays. */
export type ContentCheck = (exec: Exec) => Promise<string | undefined>

interface ContentFault {
  state: 'starting' | 'away'
  reason: string
  /** Earlier rows are missing. */
  isLost?: boolean
}

const checkTimeoutMs = 10_000
const remindMsUsual = 60_000
const beingChecked: ContentFault = { state: 'starting', reason: 'the content of QuestDB is being checked' }

export function createContentGuard(
  client: Pick<QuestdbClient, 'exec'>,
  { name, log, remindMs = remindMsUsual }: { name: string; log: Log; remindMs?: number },
) {
  const reminder = createReminder(
    reason => log.warn({ reason }, `cannot check the content of ${name}, retrying`),
    remindMs,
  )
  let check: ContentCheck | undefined
  let fault: ContentFault | undefined

  async function runCheck(made: ContentCheck): Promise<void> {
    const reason = await made(sql => client.exec(sql, checkTimeoutMs))
    const before = fault?.state === 'away' ? fault.reason : undefined
    fault = reason === undefined ? undefined : { state: 'away', reason, isLost: true }
    if (reason !== undefined && reason !== before) log.error({ reason }, `${name} lacks rows that it had`)
    if (reason === undefined && before !== undefined) log.info({}, `${name} has all rows that it had`)
  }

  return {
    fault: () => fault,
    isBeingChecked: () => fault === beingChecked,
    set(given: ContentCheck): void {
      check = given
      fault = beingChecked
    },
    /** Marks the content as unchecked: it may be another QuestDB. */
    doubt(): void {
      if (check !== undefined) fault = beingChecked
    },
    async look(): Promise<void> {
      if (check === undefined) return
      try {
        await runCheck(check)
      } catch (error) {
        // The next probe reports that QuestDB does not answer.
        if (!isUnanswered(error)) reminder.remind(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

/** Reports at once and then repeatedly: a wrong address stays wrong until an operator reads the log. */
export function createReminder(report: (reason: string | undefined) => void, everyMs: number) {
  let reportedMs = Number.NEGATIVE_INFINITY
  return {
    remind(reason: string | undefined): void {
      if (performance.now() - reportedMs < everyMs) return
      reportedMs = performance.now()
      report(reason)
    },
    reset(): void {
      reportedMs = Number.NEGATIVE_INFINITY
    },
  }
}
