/** From a question to a body: a thread of a pool, and a line in the log when QuestDB did not answer. */

import type { LocalTime } from '../analytics/time/local-time.ts'
import type { Log } from '../store/log.ts'
import { fillStats } from './answers/stats-filling.ts'
import { bodyOf } from './kept/body.ts'
import type { Built } from './kept/kept-answers.ts'
import { liveBodyOf } from './kept/live-body.ts'
import type { Pool, PoolResult, QuestionsOf } from './pool.ts'
import type { Finished } from './task.ts'

export type Ask<Questions extends QuestionsOf<Questions>> = <Name extends keyof Questions & string>(
  name: Name,
  question: Questions[Name],
  signal: AbortSignal,
  /** From when on its deadline counts, by `performance.now()`; without it from now on. */
  sinceMs?: number,
) => Promise<Built>

/** Hears of every result, of whichever pool. */
export type Note = (result: PoolResult) => void

export interface AskOptions<Questions extends QuestionsOf<Questions>> {
  readonly pool: Pool<Questions>
  readonly note: Note
  readonly local: LocalTime
  /** Whether QuestDB answers a probe, so that nobody waits for one that is known not to. */
  readonly questdbAnswers: () => boolean | Promise<boolean>
}

const silent = { ok: false, code: 'DATABASE_AWAY', reason: 'it does not answer a probe' } as const

export function createAsk<Questions extends QuestionsOf<Questions>>(options: AskOptions<Questions>): Ask<Questions> {
  const { pool, note, local, questdbAnswers } = options

  function keptBody(finished: Finished) {
    if ('live' in finished) return liveBodyOf(finished, (live, nowMs) => fillStats(live, nowMs, local))
    return bodyOf(finished)
  }

  return async (name, question, signal, sinceMs = performance.now()) => {
    const answers = questdbAnswers()
    const result = answers === true || (await answers) ? await pool.ask(name, question, signal, sinceMs) : silent
    note(result)
    if (result.ok) return { ok: true, body: keptBody(result.finished) }
    // That there is no answer is one: it is kept, and not found out again and again.
    if (result.code === 'TOO_LARGE') return { ok: true, body: 'TOO_LARGE' }
    return { ok: false, code: result.code }
  }
}

/** Says when QuestDB stops answering and when it answers again, and is silent in between. */
export function createNote(log: Pick<Log, 'info' | 'warn'>): Note {
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
