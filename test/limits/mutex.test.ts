/** One piece of work at a time, against a model that is a list of works of which the first one runs. */

import fc from 'fast-check'
import { test } from 'tap'
import { createMutex } from '../../limits/mutex.ts'

const worksMax = 3

interface Seen {
  /** In their order. */
  started: number[]
  /** By work. */
  outcomes: Record<number, string>
}

/** Works of a mutex that end when they are told to. */
function startWorks() {
  const mutex = createMutex(worksMax)
  const seen: Seen = { started: [], outcomes: {} }
  const ends: ((isDone: boolean) => void)[] = []

  const work = (id: number) => async () => {
    seen.started.push(id)
    if (await new Promise<boolean>(end => ends.push(end))) return 'done'
    throw new Error('failed')
  }

  async function ask(id: number, how: 'run' | 'tryRun'): Promise<void> {
    seen.outcomes[id] = await mutex[how](work(id)).catch((error: Error) => error.message)
  }

  return { mutex, seen, ask, end: (isDone: boolean) => ends.shift()?.(isDone) }
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

const settled = () => new Promise(setImmediate)

test('works run one at a time in their order, and a failure belongs to its caller alone', async t => {
  const step = fc.constantFrom('run' as const, 'tryRun' as const, true, false)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const works = startWorks()
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
    }),
  )
  t.pass('for every order of steps')
})

test('it is idle when all that was asked for has ended', async t => {
  const { mutex, ask, end } = startWorks()
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
