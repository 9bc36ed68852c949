/** Looks whether a QuestDB that answers has what it had, before it is read. */

import type { Log } from '../log.ts'
import type { QuestdbClient } from './client/questdb-client.ts'
import { isUnanswered } from './client/questdb-error.ts'
import type { Exec } from './until-applied.ts'

/** Why it must not be used although it answers; undefined where it may. Where it rejects, the reason of before holds. */
export type ContentCheck = (exec: Exec) => Promise<string | undefined>

interface ContentFault {
  state: 'starting' | 'away'
  reason: string
  /** Rows that it had are missing. */
  isLost?: boolean
}

const checkTimeoutMs = 10_000
const remindMsUsual = 60_000
const beingChecked: ContentFault = { state: 'starting', reason: 'what QuestDB has is being checked' }

export function createContentGuard(
  client: Pick<QuestdbClient, 'exec'>,
  { name, log, remindMs = remindMsUsual }: { name: string; log: Log; remindMs?: number },
) {
  const reminder = createReminder(
    reason => log.warn({ reason }, `what ${name} has cannot be checked, retrying`),
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
    /** It may be another one. */
    doubt(): void {
      if (check !== undefined) fault = beingChecked
    },
    async look(): Promise<void> {
      if (check === undefined) return
      try {
        await runCheck(check)
      } catch (error) {
        // That QuestDB does not answer shows by the next probe.
        if (!isUnanswered(error)) reminder.remind(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

/** Reports at once and then repeatedly: a wrong address stays wrong until an operator reads of it. */
export function createReminder(report: (reason: string | undefined) => void, everyMs: number) {
  let toldMs = Number.NEGATIVE_INFINITY
  return {
    remind(reason: string | undefined): void {
      if (performance.now() - toldMs < everyMs) return
      toldMs = performance.now()
      report(reason)
    },
    reset(): void {
      toldMs = Number.NEGATIVE_INFINITY
    },
  }
}
