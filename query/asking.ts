/** From a question to a kept answer: one flight per key, a thread of the pool, and a line in the log when it went wrong. */

import type { Logger } from 'pino'
import { type AnswerCode, bodyOf, type Kept } from './body.ts'
import type { BodyCache } from './body-cache.ts'
import { createFlights } from './flights.ts'
import type { Pool, PoolResult } from './pool.ts'
import type { LightQuestions } from './task.ts'

interface Asking<Name extends keyof LightQuestions> {
  readonly name: Name
  /** Under this the answer is kept. */
  readonly key: string
  /** The device's revision, where the answer depends on one; 0 elsewhere. */
  readonly revision: number
  readonly question: (askedAtMs: number) => LightQuestions[Name]
  /** Aborts when the client has left; without one the question is asked to its end. */
  readonly client?: AbortSignal | undefined
}

type Asked =
  | { readonly ok: true; readonly kept: Kept }
  | { readonly ok: false; readonly code: Exclude<AnswerCode, 'TOO_LARGE'> }

export type Ask = <Name extends keyof LightQuestions>(asking: Asking<Name>) => Promise<Asked>

export interface AskOptions {
  readonly pool: Pool
  readonly cache: BodyCache
  readonly now: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export function createAsk({ pool, cache, now, log }: AskOptions): Ask {
  const flights = createFlights<Asked>()
  const note = createNote(log)

  function ask<Name extends keyof LightQuestions>(asking: Asking<Name>): Promise<Asked> {
    const { name, key, revision, question, client } = asking
    const fly = async (signal: AbortSignal): Promise<Asked> => {
      const askedAtMs = now()
      const result = await pool.ask(name, question(askedAtMs), signal)
      note(result)
      if (!result.ok && result.code !== 'TOO_LARGE') return { ok: false, code: result.code }
      const kept: Kept = { body: result.ok ? bodyOf(result) : 'TOO_LARGE', askedAtMs, revision }
      cache.set(key, kept)
      return { ok: true, kept }
    }
    return flights.join(`${key}@${revision}`, fly, client)
  }

  return ask
}

/** Says when QuestDB stops answering and when it answers again, and is silent in between. */
function createNote(log: AskOptions['log']): (result: PoolResult) => void {
  let isAnswering = true
  return result => {
    if (result.ok && !isAnswering) log.info('QuestDB answers questions again')
    if (result.ok) isAnswering = true
    if (result.ok || (result.code !== 'DATABASE_AWAY' && result.code !== 'TIMED_OUT')) return
    const { code, reason } = result
    if (isAnswering) log.warn({ code, reason }, 'QuestDB did not answer a question')
    isAnswering = false
  }
}
