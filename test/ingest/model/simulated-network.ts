/** The network to the simulated QuestDB: requests are delayed, lost on the way there or back, or executed after a timeout. */

import type { QuestdbConnection, WriteAnswer } from '../../../ingest/forwarder/questdb.ts'
import type { RequestBody } from '../../../ingest/forwarder/write-request.ts'
import type { SqlRow } from '../../../store/questdb/client/questdb-client.ts'
import type { Random } from '../../faults/seeded-random.ts'
import { bodyOf, bytesOf } from '../../support/request-body.ts'
import type { SimulatedQuestdb } from './simulated-questdb.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface SimulatedNetwork {
  /** Connections of one process. `isAlive` returns false once the process is gone. */
  connect(isAlive: () => boolean): QuestdbConnection
  /** Share of requests that go wrong on the way. */
  lossShare: number
  /** Stops QuestDB in the middle of whatever it does, until it goes on. */
  freeze(): void
  thaw(): void
  /** The process is gone, and its connections with it. */
  hangUp(): void
  /** Kills QuestDB: requests that it has not executed are lost. */
  kill(): void
  /** The longest time from a sender's end until QuestDB executes the request, unless it is frozen. */
  readonly limboMs: number
  /** Counts the requests that were carried out after their sender had given up. */
  readonly lateCount: number
}

const timeoutMs = 30_000
const limboMs = 1500

export function createSimulatedNetwork(questdb: SimulatedQuestdb, time: VirtualTime, random: Random): SimulatedNetwork {
  const inner = questdb.connect()
  const server = createServer(time)
  /** Time at which each process was gone. */
  const endsMs: number[] = []
  const wait = (ms: number) => new Promise<void>(resolve => time.after(ms, resolve))

  async function write(body: RequestBody, isAlive: () => boolean): Promise<WriteAnswer> {
    if (questdb.away) return unsent
    const request = bodyOf(bytesOf(body))
    const isLost = random.chance(network.lossShare)
    const never = isLost && random.chance(0.3)
    const isLate = isLost && random.chance(0.5)
    const giveUpMs = isLost && random.chance(0.5) ? 20 : timeoutMs
    const executeMs = isLate ? giveUpMs + random.below(limboMs) : 1 + random.below(10)
    const process = endsMs.length
    let gaveUp = false
    const isDropped = () => time.nowMs() > (endsMs[process] ?? Number.POSITIVE_INFINITY) + limboMs
    const work = () => {
      if (gaveUp || !isAlive()) lateCount++
      return inner.write(request)
    }
    const served = never ? new Promise<undefined>(() => undefined) : server.serve(executeMs, work, isDropped)
    const givenUp = wait(giveUpMs).then(() => {
      gaveUp = true
      return noAnswer
    })
    const answer = isLost ? givenUp : Promise.race([served, givenUp])
    return (await answer) ?? noAnswer
  }

  async function query(sql: string): Promise<readonly SqlRow[]> {
    if (questdb.away) throw new Error('connection refused')
    const served = server.serve(1 + random.below(5), () => inner.query(sql))
    const rows = await Promise.race([served, wait(timeoutMs)])
    if (rows === undefined) throw new Error('there was no answer')
    await wait(random.below(5))
    return rows
  }

  let lateCount = 0
  const network: SimulatedNetwork = {
    lossShare: 0,
    limboMs,
    get lateCount() {
      return lateCount
    },
    connect: isAlive => ({
      write: body => answerTo(isAlive, write(body, isAlive)),
      query: sql => answerTo(isAlive, query(sql)),
      close: () => undefined,
    }),
    freeze: server.freeze,
    thaw: server.thaw,
    kill: server.kill,
    hangUp: () => {
      endsMs.push(time.nowMs())
    },
  }
  return network
}

/** QuestDB's process: it works, stands still, or is killed with all that it has not done. */
function createServer(time: VirtualTime) {
  /** Raised by a kill: work of an earlier life is not done. */
  let life = 0
  let frozen = false
  let held: (() => void)[] = []

  /** QuestDB executes the work after this time if it is alive, else the result is undefined. */
  function serve<T>(ms: number, work: () => Promise<T>, isDropped = () => false): Promise<T | undefined> {
    const born = life
    return new Promise(resolve => {
      const finish = () => {
        if (born === life) void work().then(resolve, () => resolve(undefined))
        else resolve(undefined)
      }
      const run = () => {
        if (isDropped()) resolve(undefined)
        else if (frozen) held.push(finish)
        else finish()
      }
      time.after(ms, run)
    })
  }

  return {
    serve,
    freeze: () => {
      frozen = true
    },
    thaw: () => {
      frozen = false
      for (const goOn of held) goOn()
      held = []
    },
    kill: () => {
      life++
    },
  }
}

const unsent: WriteAnswer = { kind: 'failed', status: undefined, message: 'connection refused' }
const noAnswer: WriteAnswer = { kind: 'unanswered', message: 'there was no answer' }

/** The answer never arrives at a process that is gone. */
function answerTo<T>(isAlive: () => boolean, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    answer.then(
      value => isAlive() && resolve(value),
      error => isAlive() && reject(error),
    )
  })
}
