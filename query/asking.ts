/** From a question to its result: one flight per key, a thread of the pool, and a line in the log when it went wrong. */

import type { Logger } from 'pino'
import { createFlights } from './flights.ts'
import type { Pool, PoolResult } from './pool.ts'
import type { LightQuestions } from './task.ts'

/** `client` aborts when the client has left; without one the question is asked to its end. */
export type Ask = <Name extends keyof LightQuestions>(
  key: string,
  name: Name,
  question: () => LightQuestions[Name],
  client?: AbortSignal,
) => Promise<PoolResult>

type Trouble = 'DATABASE_AWAY' | 'TIMED_OUT'

export function createAsk(pool: Pool, log: Pick<Logger, 'info' | 'warn'>): Ask {
  const flights = createFlights<PoolResult>()
  /** What the last result was; only a change of it is worth a line. */
  let trouble: Trouble | undefined

  function note(result: PoolResult): PoolResult {
    if (result.ok && trouble !== undefined) {
      trouble = undefined
      log.info('QuestDB answers questions again')
    } else if (!result.ok && isTrouble(result.code) && result.code !== trouble) {
      trouble = result.code
      log.warn({ code: result.code, reason: result.reason }, 'QuestDB did not answer a question')
    }
    return result
  }

  return (key, name, question, client) => {
    return flights.join(key, signal => pool.ask(name, question(), signal).then(note), client)
  }
}

function isTrouble(code: string): code is Trouble {
  return code === 'DATABASE_AWAY' || code === 'TIMED_OUT'
}
