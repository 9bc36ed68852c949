/**
 * Memory, processor time and disk of a service with its databases, for devices with a reading per minute. The source of
 * the table in docs/operations.md.
 *
 * Usage: node bench/machine.ts [--devices 10,1000,100000] [--seconds 60]
 */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sum } from 'simple-statistics'
import { familyOf, serverPid } from '../test/support/processes.ts'
import { type Service, startService } from '../test/support/service.ts'
import { startBench } from './bounds.ts'
import { round, sleep } from './measure.ts'
import { addDevices, deviceName } from './service.ts'
import { threadTimes } from './thread-times.ts'

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '10,1000,100000' },
    seconds: { type: 'string', default: '60' },
  },
})
const deviceCounts = options.devices.split(',').map(Number)
const seconds = Number(options.seconds)
/** Each device sends at this interval. */
const intervalSeconds = 60
/** The garbage of the start is collected after this time. */
const settleMs = 15_000

const parts = ['service', 'questdb', 'postgres'] as const
type Part = (typeof parts)[number]

const { hooks, bounds, run } = startBench()

function pidsOf({ child, dataDirectory }: Service): Record<Part, number[]> {
  const of = (server: 'questdb' | 'postgres') => familyOf(serverPid({ path: dataDirectory }, server))
  return { service: [child.pid ?? 0], questdb: of('questdb'), postgres: of('postgres') }
}

/** Pages that processes share count once, in parts. */
function proportionalMegabytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return (Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) * 1024) / 1e6
}

function processorSeconds(pids: readonly number[]): number {
  return sum(pids.flatMap(pid => [0, ...Object.values(threadTimes(pid))]))
}

function folderMegabytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  // Databases allocate files in advance, so blocks are counted, not lengths.
  return sum([0, ...entries.map(entry => statSync(join(entry.parentPath, entry.name)).blocks * 512)]) / 1e6
}

/** Sends one reading of every device in each interval, evenly. Returns their number. */
async function sendReadings(service: Service, deviceCount: number): Promise<number> {
  let sent = 0
  const startedMs = performance.now()
  for (let second = 1; second <= seconds; second += 1) {
    const due = Math.floor((second * deviceCount) / intervalSeconds)
    const lines = Array.from({ length: due - sent }, (_, index) => lineOf((sent + index) % deviceCount))
    if (lines.length > 0) await service.import(`device,timestamp,temperature,humidity,pressure\n${lines.join('\n')}\n`)
    sent = due
    await sleep(Math.max(0, startedMs + second * 1000 - performance.now()))
  }
  return sent
}

function lineOf(index: number): string {
  return `${deviceName(index)},${Date.now()},21.5,48,1013.2`
}

async function measure(dataDirectory: string | undefined, deviceCount: number, present: number) {
  const before = await startService(hooks, dataDirectory === undefined ? {} : { dataDirectory })
  await addDevices(before, deviceCount, present)
  await before.end('SIGTERM')
  const service = await startService(hooks, { dataDirectory: before.dataDirectory })
  await sleep(settleMs)
  const pids = pidsOf(service)
  const secondsBefore = parts.map(part => processorSeconds(pids[part]))
  const startedMs = performance.now()
  const readings = await sendReadings(service, deviceCount)
  const elapsed = (performance.now() - startedMs) / 1000
  const later = pidsOf(service)
  const perPart = (figureOf: (part: Part, at: number) => number) =>
    Object.fromEntries(parts.map((part, at) => [part, round(figureOf(part, at))]))
  const figures = {
    devices: deviceCount,
    readingsPerSecond: round(readings / elapsed),
    memoryMb: perPart(part => sum(later[part].map(proportionalMegabytes))),
    cores: perPart((part, at) => (processorSeconds(later[part]) - (secondsBefore[at] ?? 0)) / elapsed),
    diskMb: {
      questdb: round(folderMegabytes(join(service.dataDirectory, 'questdb'))),
      postgres: round(folderMegabytes(join(service.dataDirectory, 'postgres'))),
    },
  }
  await service.end('SIGTERM')
  return { figures, dataDirectory: service.dataDirectory }
}

async function bench(): Promise<void> {
  const results: object[] = []
  let dataDirectory: string | undefined
  let present = 0
  for (const deviceCount of deviceCounts) {
    const { figures, dataDirectory: used } = await measure(dataDirectory, deviceCount, present)
    const interval = deviceCount / intervalSeconds
    bounds.must(`${deviceCount} devices: all readings were taken in time`, figures.readingsPerSecond >= interval * 0.9)
    results.push(figures)
    dataDirectory = used
    present = deviceCount
  }
  bounds.conclude({ bench: 'machine', intervalSeconds, results })
}

await run(bench)
