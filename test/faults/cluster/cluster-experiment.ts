/** An experiment on two api processes and two forwarders, with topics as the journals. */

import { freePort } from '../../../store/process/free-port.ts'
import { isRunning, until } from '../../support/processes.ts'
import { type ExperimentOptions, experiment, type Harness, type TestBed } from '../experiment.ts'
import { createHooks } from '../hooks.ts'
import type { ServiceProcess } from '../service-process.ts'
import type { FaultKafka } from './fault-kafka.ts'
import {
  type ApiProcess,
  apiSettings,
  apiWords,
  type Forwarder,
  holderOf,
  startBeside,
  startForwarders,
} from './processes.ts'

export interface ClusterBed extends TestBed {
  kafka: FaultKafka
  apis: ApiProcess[]
  forwarders: Forwarder[]
  counts: Map<string, number>
}

/** From the end of the last fault: the lock of the replica, the wait for late requests, a new leader, and a busy machine. */
const shownMsMax = 120_000

/** The environment of the options is that of all processes. */
export async function clusterExperiment(
  harness: Harness,
  options: ExperimentOptions,
  work: (bed: ClusterBed) => Promise<void>,
): Promise<void> {
  const { kafka } = harness
  if (kafka === undefined) throw new Error('a row of the cluster needs brokers')
  const hooks = createHooks()
  try {
    const ports = [await freePort(), await freePort()] as const
    const publicUrl = `http://127.0.0.1:${ports[0]}`
    const first = await apiSettings(hooks, harness.databases, kafka, publicUrl)
    const second = await apiSettings(hooks, harness.databases, kafka, publicUrl)
    const { environment = {} } = options
    const api = { points: true, words: apiWords, ...options, ports }
    await experiment(harness, { ...api, environment: { ...first.environment, ...environment } }, async bed => {
      const beside = { ...second, environment: { ...second.environment, ...environment } }
      const apis = [{ ...bed.service, link: first.link }, await startBeside(bed, beside, ports[1])]
      const forwarders = await startForwarders(kafka, bed, environment)
      await withCluster({ ...bed, kafka, apis, forwarders, counts: new Map<string, number>() }, work)
    })
  } finally {
    await hooks.undo()
  }
}

async function withCluster(bed: ClusterBed, work: (bed: ClusterBed) => Promise<void>): Promise<void> {
  const { tally } = bed
  await holderOf(bed.forwarders)
  await bed.untilAcknowledged(100)
  await work(bed)
  const endedMs = performance.now()
  await bed.untilAcknowledged(100)
  await bed.load.stop()
  await untilShown(bed)
  const shownMs = Math.round(performance.now() - endedMs)
  tally.shownMs.push(shownMs)
  if (shownMs > shownMsMax) tally.problems.push(`all is shown ${shownMs} ms after the last fault`)
  tally.notes.push([...bed.counts].map(([name, count]) => `${name} ${count}`).join(', '))
  for (const [name, process] of processesOf(bed)) complainOfEnd(bed, name, process)
}

/** At both: each follows the topics by itself. */
async function untilShown({ apis }: ClusterBed): Promise<void> {
  for (const api of apis) {
    await until('all is shown', async () => {
      const { lag, points } = await api.status()
      return lag.readings === 0 && points.lag.points === 0
    })
  }
}

const processesOf = ({ apis, forwarders }: ClusterBed) => [
  ...apis.map((api, index) => [`api ${index + 1}`, api] as const),
  ...forwarders.map((forwarder, index) => [`forwarder ${index + 1}`, forwarder] as const),
]

function complainOfEnd({ tally }: ClusterBed, name: string, process: ServiceProcess): void {
  if (!isRunning(process.pid())) tally.problems.push(`${name} has ended by itself: ${process.output().slice(-1500)}`)
}
