/** One piece of work at a time, against a model that is a list of works of which the first one runs. */

import fc from 'fast-check'
import { test } from 'tap'
import { createMutex } from '../../../store/limits/mutex.ts'
import { type Seen, settled, startWorks } from './works.ts'

const worksMax = 3

function startMutex() {
  const mutex = createMutex(worksMax)
  const { seen, ask, end } = startWorks()
  const askFor = (id: number, how: 'run' | 'tryRun') => ask(id, work => mutex[how](work))
  return { mutex, seen, ask: askFor, end: (isDone: boolean) => end(0, isDone) }
}

class Model {
  readonly seen: Seen = { started: [], outcomes: {} }
  #queue: number[] = []

  ask(id: number, how: 'run' | 'tryRun'): void {
    if (how === 'tryRun' && this.#queue.length >= worksMax) this.seen.outcomes[id] = 'full'
    else if (this.#queue.push(id) === 1) this.seen.started.push(id)
  }

  end(isDone: boolean): void {
    const [ended, next] = this.#queue
    if (ended !== undefined) this.seen.outcomes[ended] = isDone ? 'done' : 'failed'
    if (next !== undefined) this.seen.started.push(next)
    this.#queue = this.#queue.slice(1)
  }
}

test('works run one at a time in their order, and a failure belongs to its caller alone', async () => {
  const step = fc.constantFrom('run' as const, 'tryRun' as const, true, false)
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
    const works = startMutex()
    const model = new Model()
    for (const [id, what] of steps.entries()) {
      for (const each of [works, model]) {
        if (typeof what === 'boolean') each.end(what)
        else void each.ask(id, what)
      }
      await settled()
      if (JSON.stringify(works.seen) !== JSON.stringify(model.seen)) return false
    }
    return true
  })
  await fc.assert(property)
})

test('it is idle when all that was asked for has ended', async t => {
  const { mutex, ask, end } = startMutex()
  const asked = [ask(0, 'run'), ask(1, 'run'), ask(2, 'tryRun')]
  let isIdle = false
  const idle = mutex.idle().then(() => {
    isIdle = true
  })
  for (const isDone of [true, false, true]) {
    await settled()
    t.notOk(isIdle)
    end(isDone)
  }
  await Promise.all([idle, ...asked])
  await mutex.idle()
})
