/** Runs the erase jobs, one after the other, behind everything else; what stands in the way is waited for. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Changed } from '../../auth/commits.ts'
import type { Devices } from '../../auth/devices.ts'
import { deadLettersMax } from '../../ingest/dead-letters.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { createQuestdbClient } from '../../store/questdb-client.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../log.ts'
import { countReadings, type Exec, eraseReadings } from './erase-readings.ts'
import {
  type EraseEnd,
  type EraseJob,
  type EraseReport,
  endJob,
  insertJob,
  noteDelay,
  readReport,
  takeJob,
} from './erase-records.ts'

export interface EraseJobs {
  /**
   * Has the readings erased of every device that has the name or had it when it was removed; one that has it is removed
   * before this resolves.
   */
  request(name: string, by: string): Promise<Changed<EraseReport>>
  /** Finds out what came of the last request; false while it cannot be found out. */
  settle(): Promise<boolean>
  /** Of the newest job for this name. */
  report(name: string): Promise<EraseReport | undefined>
  /** Takes up what the last process left. */
  resume(): void
  /** What is under way goes on after the next start. */
  close(): Promise<void>
}

export interface EraseJobsOptions {
  devices: Pick<Devices, 'removeNamed' | 'settle'>
  ingest: Pick<Ingest, 'status' | 'deadLetters'>
  store: Pick<Store, 'postgres' | 'questdb'>
  log: Log
  /** A reading that was let in before the removal is on disk after this time, or refused. */
  settleMs?: number
}

const execTimeoutMs = 60_000
const pauseMs = 100
const retryMsMin = 1_000
const retryMsMax = 60_000
/** Whoever still writes after so many rounds will not stop by himself. */
const roundsMax = 10

/** The job cannot end well, so it is not tried again. */
class EraseFailure extends Error {}

export function createEraseJobs(options: EraseJobsOptions): EraseJobs {
  const { devices, store, log } = options
  const { postgres } = store
  const questdb = createQuestdbClient(store.questdb.address)
  const closing = new AbortController()
  const pause = async (ms: number) => {
    await sleep(ms, undefined, { signal: closing.signal, ref: false })
  }
  let running: Promise<void> | undefined

  /** Once more when a job was asked for while the last one ended. */
  let asked = false
  function resume(): void {
    asked = true
    running ??= runAll().finally(() => {
      running = undefined
    })
  }

  async function runAll(): Promise<void> {
    let retryMs = retryMsMin
    while (asked && !closing.signal.aborted) {
      asked = false
      try {
        await runWaiting()
        retryMs = retryMsMin
      } catch (error) {
        if (closing.signal.aborted) return
        log.warn({ err: error }, 'an erase job waits and is tried again')
        asked = true
        await pause(retryMs).catch(() => undefined)
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  async function runWaiting(): Promise<void> {
    for (;;) {
      const job = await takeJob(postgres)
      if (job === undefined) return
      const end = await runJob(job)
      await endJob(postgres, job.id, end)
      log.info({ symbols: job.symbols, ...end }, 'an erase job has ended')
    }
  }

  /** How it ended, well or badly; rejects for what may pass, which is noted in the report. */
  async function runJob(job: EraseJob): Promise<EraseEnd> {
    try {
      return { rows: await erase(job, { ...options, exec: sql => questdb.exec(sql, execTimeoutMs), pause }) }
    } catch (error) {
      if (error instanceof EraseFailure) return { error: error.message }
      const reason = error instanceof Error ? error.message : String(error)
      if (!closing.signal.aborted) await noteDelay(postgres, job.id, reason).catch(() => undefined)
      throw error
    }
  }

  async function request(name: string, by: string): Promise<Changed<EraseReport>> {
    const requested = await devices.removeNamed(
      name,
      (transaction, namesakes) => insertJob(transaction, name, namesakes, by),
      by,
    )
    // There may be a job where the outcome is unknown, too.
    if (requested.ok || requested.code === 'OUTCOME_UNKNOWN') resume()
    return requested
  }

  return {
    request,
    settle: devices.settle,
    report: name => readReport(postgres, name),
    resume,
    close: async () => {
      closing.abort()
      questdb.close()
      await running
    },
  }
}

interface EraseSteps extends Required<Pick<EraseJobsOptions, 'devices' | 'ingest' | 'store'>> {
  settleMs?: number
  exec: Exec
  pause: (ms: number) => Promise<void>
}

/** Gives the number of readings that are erased. */
async function erase(job: EraseJob, steps: EraseSteps): Promise<number> {
  const { devices, ingest, store, settleMs = 10_000, exec, pause } = steps
  // The job was written together with the removal; where that was not confirmed, memory has to learn of it first.
  if (!(await devices.settle())) throw new Error('it is not known yet whether the device is removed')
  await pause(settleMs)
  // All that the devices ever sent is in the journal by now; from there it has to be in the table, or a dead letter.
  const { end } = ingest.status().journal
  while (ingest.status().forwarder.applied < end || store.questdb.state().state !== 'up') await pause(pauseMs)
  await discardLetters(ingest.deadLetters, new Set(job.symbols))
  for (let round = 0; round < roundsMax; round++) {
    await eraseReadings(exec, job.symbols, () => pause(pauseMs))
    const { present, erased } = await countReadings(exec, job.symbols)
    if (present === 0) return erased
  }
  throw new EraseFailure('new readings of the device kept coming in')
}

/** A dead letter holds a reading too, and a replay would bring it back. */
async function discardLetters(deadLetters: Ingest['deadLetters'], symbols: ReadonlySet<string>): Promise<void> {
  const letters = await deadLetters.list(-1, deadLettersMax)
  await deadLetters.discard(letters.filter(letter => symbols.has(letter.symbol)).map(letter => letter.id))
}
