/** An experiment on an api process and two forwarders, with topics as the journals. */

import { isRunning, until } from '../../support/processes.ts'
import { type ExperimentOptions, experiment, type Harness, type TestBed } from '../experiment.ts'
import type { ServiceProcess } from '../service-process.ts'
import type { FaultKafka } from './fault-kafka.ts'
import { type Forwarder, holderOf, startForwarders } from './forwarders.ts'

export interface ClusterBed extends TestBed {
  kafka: FaultKafka
  forwarders: Forwarder[]
  /** How often each fault has happened. */
  counts: Map<string, number>
}

/** From the end of the last fault: the lock of the shard, the wait for late requests, a new leader, and a busy machine. */
const shownMsMax = 120_000

export async function clusterExperiment(
  harness: Harness,
  options: ExperimentOptions,
  work: (bed: ClusterBed) => Promise<void>,
): Promise<void> {
  const { kafka } = harness
  if (kafka === undefined) throw new Error('a row of the cluster needs brokers')
  const { tally } = options
  const api = { points: true, words: ['--role', 'api'], environment: kafka.settings.api }
  await experiment(harness, { ...api, ...options }, async bed => {
    const forwarders = await startForwarders(harness, kafka, bed)
    const clusterBed = { ...bed, kafka, forwarders, counts: new Map<string, number>() }
    await holderOf(forwarders)
    await bed.untilAcknowledged(100)
    await work(clusterBed)
    const endedMs = performance.now()
    await bed.untilAcknowledged(100)
    await bed.load.stop()
    await untilShown(clusterBed)
    const shownMs = Math.round(performance.now() - endedMs)
    tally.notes.push(`all shown ${shownMs} ms after the last fault`)
    if (shownMs > shownMsMax) tally.problems.push(`all is shown ${shownMs} ms after the last fault`)
    tally.notes.push([...clusterBed.counts].map(([name, count]) => `${name} ${count}`).join(', '))
    for (const [name, process] of processesOf(clusterBed)) complainOfEnd(clusterBed, name, process)
  })
}

function untilShown({ service }: ClusterBed): Promise<void> {
  return until('all is shown', async () => {
    const { lag, points } = await service.status()
    return lag.readings === 0 && points.lag.points === 0
  })
}

const processesOf = ({ service, forwarders }: ClusterBed) => [
  ['api', service] as const,
  ...forwarders.map((forwarder, index) => [`forwarder ${index + 1}`, forwarder] as const),
]

function complainOfEnd({ tally }: ClusterBed, name: string, process: ServiceProcess): void {
  if (!isRunning(process.pid())) tally.problems.push(`${name} has ended by itself: ${process.output().slice(-1500)}`)
}
