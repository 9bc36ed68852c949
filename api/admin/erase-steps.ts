/**
 * The steps of an erase, in an order in which it may stop anywhere and begin again: first nothing of the device can come to
 * QuestDB any more, then what is there goes, then the journal lets its bytes go.
 */

import { deadLettersMax } from '../../ingest/forwarder/dead-letters.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Log } from '../../store/log.ts'
import { refreshHourlyView } from '../../store/questdb/hourly-view.ts'
import type { Store } from '../../store/store.ts'
import { countReadings, type Exec, eraseReadings } from './erase-readings.ts'
import type { EraseJob } from './erase-records.ts'

export interface EraseStepsOptions {
  ingest: Pick<Ingest, 'status' | 'deadLetters' | 'erase'>
  store: Pick<Store, 'questdb'>
  log: Log
  exec: Exec
  /** Rejects when the signal is raised. */
  pause: (ms: number) => Promise<void>
  signal: AbortSignal
}

export interface EraseSteps {
  /** For devices that are removed. Gives the number of readings that are erased. */
  erase(job: EraseJob): Promise<number>
  /** Erases what has come back after all. */
  eraseAgain(symbols: readonly string[]): Promise<void>
  untilQuestdbIsUp(): Promise<void>
}

const pauseMs = 100
const symbolsPerStatement = 100
/** Whoever still writes after so many rounds will not stop by himself. */
const roundsMax = 10

/** The job cannot end well, so it is not tried again. */
export class EraseFailure extends Error {}

export function createEraseSteps(options: EraseStepsOptions): EraseSteps {
  const { ingest, store, log, exec, pause, signal } = options

  async function erase({ numbers, symbols }: EraseJob): Promise<number> {
    const end = await unlessAborted(ingest.erase(numbers), signal)
    await discardLetters(ingest.deadLetters, new Set(symbols))
    await untilQuestdbIsUp()
    const rows = await eraseRows(symbols)
    await untilJournalIsBehind(end)
    return rows
  }

  async function eraseRows(symbols: readonly string[]): Promise<number> {
    for (let round = 0; round < roundsMax; round++) {
      const txn = await eraseReadings(exec, symbols, () => pause(pauseMs))
      const { present, erased } = await countReadings(exec, symbols)
      if (present > 0) continue
      // It holds what the readings are no more.
      await refreshHourlyView(exec, txn, () => pause(pauseMs))
      return erased
    }
    throw new EraseFailure('new readings of the device kept coming in')
  }

  /** For a QuestDB that does not sync the journal keeps its bytes for hours, and the devices' readings are passed over. */
  async function untilJournalIsBehind(end: number): Promise<void> {
    const holds = () => {
      const { start, isSynced } = ingest.status().forwarder
      return isSynced && start < end
    }
    while (holds()) await pause(pauseMs)
  }

  async function untilQuestdbIsUp(): Promise<void> {
    while (store.questdb.state().state !== 'up') await pause(pauseMs)
  }

  return {
    erase,
    untilQuestdbIsUp,
    async eraseAgain(symbols) {
      for (let from = 0; from < symbols.length; from += symbolsPerStatement) {
        const some = symbols.slice(from, from + symbolsPerStatement)
        const { present } = await countReadings(exec, some)
        if (present === 0) continue
        await eraseRows(some)
        log.warn({ readings: present }, 'erased readings reappeared in QuestDB, deleting them again')
      }
    },
  }
}

/** A dead letter holds a reading too, and a replay would bring it back. */
async function discardLetters(deadLetters: Ingest['deadLetters'], symbols: ReadonlySet<string>): Promise<void> {
  const letters = await deadLetters.list(-1, deadLettersMax)
  await deadLetters.discard(letters.filter(letter => symbols.has(letter.symbol)).map(letter => letter.id))
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
