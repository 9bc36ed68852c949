/** From a question to a body: a thread of a pool, and a line in the log when QuestDB did not answer. */

import type { Logger } from 'pino'
import { bodyOf } from './body.ts'
import type { Built } from './kept-answers.ts'
import type { Pool, PoolResult, QuestionsOf } from './pool.ts'

export type Ask<Questions extends QuestionsOf<Questions>> = <Name extends keyof Questions & string>(
  name: Name,
  question: Questions[Name],
  signal: AbortSignal,
) => Promise<Built>

/** Hears of every result, of whichever pool. */
export type Note = (result: PoolResult) => void

export function createAsk<Questions extends QuestionsOf<Questions>>(pool: Pool<Questions>, note: Note): Ask<Questions> {
  return async (name, question, signal) => {
    const result = await pool.ask(name, question, signal)
    note(result)
    if (result.ok) return { ok: true, body: bodyOf(result.finished) }
    // That there is no answer is one: it is kept, and not found out again and again.
    if (result.code === 'TOO_LARGE') return { ok: true, body: 'TOO_LARGE' }
    return { ok: false, code: result.code }
  }
}

/** Says when QuestDB stops answering and when it answers again, and is silent in between. */
export function createNote(log: Pick<Logger, 'info' | 'warn'>): Note {
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
