/** The process that forwards is killed, and frozen: when the one that stands by has taken a reading to QuestDB that came after that. */

import { max } from 'simple-statistics'
import { readingsTable } from '../store/tables.ts'
import { isRunning } from '../test/support/processes.ts'
import type { Service } from '../test/support/service.ts'
import type { Bounds } from './bounds.ts'
import type { ClusterServices } from './cluster-services.ts'
import { round, sleep } from './measure.ts'

/** `idle_session_timeout` of the session that has the lock. */
const sessionSeconds = 5
const sessionsMax = 2
const pollMs = 20
const settleMs = 3000
/** Higher than all other temperatures in the bench. */
const markAbove = 45

export async function measureTakeovers(bounds: Bounds, services: ClusterServices, runs: number): Promise<void> {
  const device = 'takeover'
  const password = await services.api.service.addDevice(device)
  let sent = 0
  const count = async () => {
    const sql = `SELECT count() FROM ${readingsTable} WHERE temperature > ${markAbove}`
    return Number((await services.api.store.query(sql))[0]?.[0])
  }
  const put = async () => {
    const reading = { device, temperature: markAbove + 1, humidity: 50, pressure: 1000 }
    const { status } = await services.api.service.put(device, password, reading)
    if (status !== 200) throw new Error(`a reading was answered with ${status}`)
    sent++
  }
  const untilShown = async () => {
    while ((await count()) < sent) await sleep(pollMs)
  }

  async function takeover(stop: (holder: Service) => void): Promise<number> {
    const holder = await services.holder()
    await services.addForwarder()
    await put()
    await untilShown()
    const startedMs = performance.now()
    stop(holder)
    await put()
    await untilShown()
    const seconds = (performance.now() - startedMs) / 1000
    // One that was frozen goes on, finds that it has lost the replica, and stands by.
    holder.child.kill('SIGCONT')
    await sleep(settleMs)
    await endOf(holder)
    return seconds
  }

  const waysOf = { killed: 'SIGKILL', frozen: 'SIGSTOP' } as const
  for (const [way, signal] of Object.entries(waysOf)) {
    const seconds: number[] = []
    for (let run = 0; run < runs; run++) seconds.push(await takeover(({ child }) => void child.kill(signal)))
    const name = `forwarder ${way}, until a later reading is in QuestDB, times the session timeout of the lock`
    bounds.atMost(name, max(seconds) / sessionSeconds, sessionsMax, { seconds: seconds.map(round) })
  }
  bounds.must('all readings around takeovers are stored, once', (await count()) === sent)
}

async function endOf({ child, end }: Service): Promise<void> {
  if (isRunning(child.pid ?? 0)) await end('SIGTERM')
}
