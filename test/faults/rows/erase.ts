/** Row 21: a device is erased with all its readings, the service dies meanwhile or is started again, and none comes back. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { EraseReport } from '../../../api/admin/erase-records.ts'
import { serverPid, until } from '../../support/processes.ts'
import { type ExperimentOptions, experiment, type Harness, type TestBed } from '../experiment.ts'
import { type ErasePoint, erasePoints, injecting } from '../injection/settings.ts'
import type { Tally } from '../tally.ts'

const aftermaths = ['killed at once', 'killed after a rest', 'stopped', 'replayed'] as const
type Aftermath = (typeof aftermaths)[number]

const restMs = 1500

/** In turns with a QuestDB that syncs and with one that does not, to which each start sends all again that is kept. */
export async function eraseDevices(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
  points: readonly ErasePoint[] = erasePoints,
): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const isSynced = cycle % 2 === 0
    const common = { seed: seed + cycle, tally, devices: 20, importEveryMs: 700 }
    const options: ExperimentOptions = isSynced
      ? common
      : { ...common, ownDatabases: true, environment: { QUESTDB_COMMIT_MODE: 'nosync' } }
    await experiment(harness, options, async bed => {
      await bed.untilAcknowledged(500)
      // In front of those that are erased stands the one that is busy, and behind them the one of the imports.
      const victims = bed.devices.slice(1)
      const next = () => victims.shift()?.name ?? ''
      for (const point of points) await dieWhileErasing(bed, next(), point)
      await bed.untilAcknowledged(100)
      await bed.load.stop()
      const isPossible = (aftermath: Aftermath) => aftermath !== 'replayed' || !isSynced
      for (const aftermath of aftermaths.filter(isPossible)) await eraseThen(bed, next(), aftermath)
      await eraseThen(bed, victims.at(-1)?.name ?? '', 'stopped')
    })
  }
}

/** One device, with nothing coming in, from a QuestDB that does not sync. */
export async function eraseUnsynced(harness: Harness, tally: Tally, seed: number): Promise<void> {
  const environment = { QUESTDB_COMMIT_MODE: 'nosync' }
  await experiment(harness, { seed, tally, devices: 5, ownDatabases: true, environment }, async bed => {
    await bed.untilAcknowledged(100)
    await bed.load.stop()
    await eraseThen(bed, bed.devices[2]?.name ?? '', 'stopped')
  })
}

async function eraseThen(bed: TestBed, device: string, aftermath: Aftermath): Promise<void> {
  const { service } = bed
  await untilShown(bed)
  await request(bed, device)
  await untilErased(bed, device)
  if (aftermath === 'killed after a rest') await sleep(restMs)
  if (aftermath === 'replayed') {
    process.kill(serverPid({ path: service.dataDirectory }, 'questdb'), 'SIGKILL')
    bed.tally.crashes++
    await until('replaying the journal', () => service.output().includes('replaying the journal'))
  } else {
    if (aftermath === 'stopped') await service.end('SIGTERM')
    else await bed.kill()
    await service.start()
  }
  await untilShown(bed)
}

/** The service is up before and after it. */
async function dieWhileErasing(bed: TestBed, device: string, point: ErasePoint): Promise<void> {
  const { service } = bed
  await service.end('SIGTERM')
  await service.start(injecting({ FAIL_POINT: `${point}:1` }))
  await untilShown(bed)
  // It may die before it answers.
  await request(bed, device).catch(() => undefined)
  await service.ended(`a death at ${point}`)
  bed.noteCrash()
  await service.start()
  await untilErased(bed, device)
}

/** QuestDB is there, and has what it was sent up to now, or what is sent again after a start. */
async function untilShown({ service }: TestBed): Promise<void> {
  await until('QuestDB is up', async () => (await service.status()).questdb.state === 'up')
  await sleep(restMs)
}

async function request({ service }: TestBed, device: string): Promise<void> {
  const { status } = await service.admin('POST', `/devices/${device}/erase`)
  if (status !== 202) throw new Error(`the erase of ${device} is answered ${status}`)
}

/** From here on nothing of it may be read. */
async function untilErased({ service, erased }: TestBed, device: string): Promise<void> {
  let report: EraseReport | undefined
  await until(`${device} is erased`, async () => {
    const { status, body } = await service.admin('GET', `/devices/${device}/erase`)
    if (status === 200) report = body as EraseReport
    if (report?.state !== 'done') await sleep(50)
    return report?.state === 'done'
  })
  for (const symbol of report?.symbols ?? []) erased.set(symbol, device)
}
