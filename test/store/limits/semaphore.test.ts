/** A few works at a time and a fair queue before them, against a model that makes up its mind from a list of all works. */

import fc from 'fast-check'
import { test } from 'tap'
import { type Asker, createSemaphore } from '../../../store/limits/semaphore.ts'
import { runs } from '../../support/runs.ts'
import { type Seen, settled, startWorks } from './works.ts'

const limits = { runningMax: 2, waitingMax: 4, waitingOfAccountMax: 3 }

function startSemaphore() {
  const semaphore = createSemaphore({ ...limits, refusal: () => new Error('refused') })
  const { seen, ask, end } = startWorks()
  return { seen, end, ask: (id: number, asker: Asker) => ask(id, work => semaphore.run(asker, work)) }
}

interface Work extends Asker {
  id: number
}

class Model {
  readonly seen: Seen = { started: [], outcomes: {} }
  #running: Work[] = []
  #waiting: Work[] = []

  ask(id: number, asker: Asker): void {
    const work = { id, ...asker }
    if (this.#canStart(work)) this.#start(work)
    else if (this.#findPlace(work)) this.#waiting.push(work)
    else this.seen.outcomes[id] = 'refused'
  }

  end(at: number, isDone: boolean): void {
    const [ended] = this.#running.splice(at % this.#running.length, 1)
    if (ended === undefined) return
    this.seen.outcomes[ended.id] = isDone ? 'done' : 'failed'
    const next = this.#waiting.find(work => this.#canStart(work))
    this.#waiting = this.#waiting.filter(work => work !== next)
    if (next !== undefined) this.#start(next)
  }

  #canStart({ account, network }: Asker): boolean {
    const isItsOwn = (other: Asker) => other.account === account && other.network === network
    return this.#running.length < limits.runningMax && !this.#running.some(isItsOwn)
  }

  #start(work: Work): void {
    this.#running.push(work)
    this.seen.started.push(work.id)
  }

  #findPlace(work: Work): boolean {
    const ofAccount = this.#waiting.filter(other => other.account === work.account)
    if (ofAccount.length === limits.waitingOfAccountMax) return this.#displace(ofAccount, work)
    return this.#waiting.length < limits.waitingMax || this.#displace(this.#waiting, work)
  }

  /** Of the networks with most works among these, the one that has waited for longest loses its newest work. */
  #displace(among: Work[], { network }: Work): boolean {
    const countOf = (one: string) => among.filter(other => other.network === one).length
    const most = Math.max(...among.map(other => countOf(other.network)))
    if (most - countOf(network) < 2) return false
    const largest = among.find(other => countOf(other.network) === most)?.network
    const newest = among.findLast(other => other.network === largest)
    this.#waiting = this.#waiting.filter(other => other !== newest)
    if (newest !== undefined) this.seen.outcomes[newest.id] = 'refused'
    return true
  }
}

test('works start, wait and are refused as in the model', async () => {
  const asker = fc.record({ account: fc.constantFrom('ada', 'bob', 'eve'), network: fc.constantFrom('m', 'n', 'o') })
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ asker }) },
    { weight: 1, arbitrary: fc.record({ at: fc.nat(1), isDone: fc.boolean() }) },
  )
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
    const works = startSemaphore()
    const model = new Model()
    for (const [id, what] of steps.entries()) {
      for (const each of [works, model]) {
        if ('asker' in what) void each.ask(id, what.asker)
        else each.end(what.at, what.isDone)
      }
      await settled()
      if (JSON.stringify(works.seen) !== JSON.stringify(model.seen)) return false
    }
    return true
  })
  await fc.assert(property, runs(300, 1000))
})

test('a place that is free goes to who waits, not to who comes at that moment', async t => {
  const { seen, ask, end } = startSemaphore()
  const asked = [0, 1, 2].map(id => ask(id, { account: `a${id}`, network: 'n' }))
  await settled()
  end(0, false)
  await Promise.all(asked.slice(0, 1))
  asked.push(ask(3, { account: 'a3', network: 'n' }))
  for (let ended = 0; ended < 3; ended++) {
    await settled()
    end(0, true)
  }
  await Promise.all(asked)
  t.strictSame(seen, { started: [0, 1, 2, 3], outcomes: { 0: 'failed', 1: 'done', 2: 'done', 3: 'done' } })
})
