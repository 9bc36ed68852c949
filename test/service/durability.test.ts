/** What an acknowledgement is worth when processes are killed. */

import { test } from 'tap'
import { isRunning, recordedPid, serverPid, until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

/** Temperatures of today that the service shows for the device. */
async function shownToday(service: Service, device: string): Promise<number[]> {
  const today = new Date().toISOString().slice(0, 10)
  const response = await fetch(`${service.url}/api/data/day/${device}/${today}`)
  if (response.status !== 200) return []
  const day = (await response.json()) as { temperature: { v: number }[] }
  return day.temperature.map(point => point.v)
}

const payload = (device: string, temperature: number) => ({ device, temperature, humidity: 50, pressure: 1000 })

test('a reading can be read after a kill of everything right after its 200', async t => {
  const first = await startService(t)
  const password = await first.addDevice('kitchen')
  const response = await first.put('kitchen', password, payload('kitchen', 21.5))
  t.equal(response.status, 200)
  await first.killAll()
  const second = await startService(t, { dataDirectory: first.dataDirectory })
  await until('the reading is shown', async () => (await shownToday(second, 'kitchen')).includes(21.5))
  t.equal((await second.put('kitchen', password, payload('kitchen', 22))).status, 200, 'the credential still counts')
})

test('QuestDB killed under load comes back, and nothing is missing', async t => {
  const service = await startService(t)
  const password = await service.addDevice('cellar')
  const taken: number[] = []
  let sending = true
  const sender = (async () => {
    for (let temperature = 0; sending && temperature < 80; temperature = Math.round((temperature + 0.01) * 100) / 100) {
      const response = await service.put('cellar', password, payload('cellar', temperature))
      if (response.status === 200) taken.push(temperature)
    }
  })()
  for (let kills = 0; kills < 2; kills++) {
    await until('some were taken', () => taken.length > 150 * (kills + 1))
    // No pid is recorded for the moment between two starts.
    let questdb: number | undefined
    await until('QuestDB runs', () => {
      questdb = recordedPid({ path: service.dataDirectory }, 'questdb')
      return questdb !== undefined && isRunning(questdb)
    })
    if (questdb !== undefined) process.kill(questdb, 'SIGKILL')
  }
  await until('more were taken meanwhile', () => taken.length > 600)
  sending = false
  await sender
  await until('all are shown', async () => (await shownToday(service, 'cellar')).length >= taken.length)
  t.strictSame(
    (await shownToday(service, 'cellar')).sort((a, b) => a - b),
    taken,
    'each once',
  )
})

test('PostgreSQL killed comes back, and known devices never notice', async t => {
  const service = await startService(t)
  const password = await service.addDevice('attic')
  process.kill(serverPid({ path: service.dataDirectory }, 'postgres'), 'SIGKILL')
  t.equal((await service.put('attic', password, payload('attic', 20))).status, 200)
  await until('a device can be added again', async () => {
    const { status } = await service.admin('POST', '/devices', { name: 'porch' })
    return status === 201
  })
  t.equal((await service.put('attic', password, payload('attic', 21))).status, 200)
})

test('a full journal answers 503, loses nothing, and heals', async t => {
  const service = await startService(t, { environment: { JOURNAL_MAX: '1MiB' } })
  const password = await service.addDevice('barn')
  const questdb = serverPid({ path: service.dataDirectory }, 'questdb')
  t.equal((await service.put('barn', password, payload('barn', 1))).status, 200)
  process.kill(questdb, 'SIGSTOP')
  let taken = 1
  let refused: Response | undefined
  while (refused === undefined && taken < 30_000) {
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => service.put('barn', password, payload('barn', 2))),
    )
    taken += responses.filter(response => response.status === 200).length
    refused = responses.find(response => response.status !== 200)
  }
  t.equal(refused?.status, 503)
  t.match(refused?.headers.get('retry-after'), /^\d+$/)
  t.strictSame(await refused?.json(), { status: 'storage full' })
  t.equal((await fetch(`${service.url}/health/ready`)).status, 503)
  process.kill(questdb, 'SIGCONT')
  await until('it takes readings again', async () => {
    const { status } = await service.put('barn', password, payload('barn', 3))
    if (status === 200) taken++
    return status === 200
  })
  await until('all are shown', async () => (await shownToday(service, 'barn')).length >= taken)
  t.equal((await shownToday(service, 'barn')).length, taken)
})
