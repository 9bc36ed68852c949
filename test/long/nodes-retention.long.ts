/** Days that expire while two nodes are read: each shows a day with all its readings or with none, and its hours always. */

import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { dayMs } from '../../service/lifecycle/retention/horizon.ts'
import { type Change, copySource } from '../faults/copy-source.ts'
import { temporaryFolder } from '../support/databases.ts'
import { freezeProcess } from '../support/frozen.ts'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import { until } from '../support/processes.ts'
import type { Service } from '../support/service.ts'

const days = 3
/** Of those that are due, the last one stays: it may only need the first reading of today. */
const dayCount = 7
const perDay = 200
const today = Math.floor(Date.now() / dayMs) * dayMs
const firstDay = today - dayCount * dayMs

/** In seconds what takes hours. While a node hears of the others it does not look by itself, as a minute is longer than this lasts. */
const quick: Change[] = [
  { file: 'service/open-retention.ts', from: 'const marginMs = 60 * minuteMs', to: 'const marginMs = 1000' },
  { file: 'service/open-retention.ts', from: 'const nodeCheckEveryMs = 20_000', to: 'const nodeCheckEveryMs = 500' },
  { file: 'service/open-retention.ts', from: 'const knownMs = 45_000', to: 'const knownMs = 1000' },
  {
    file: 'service/open-retention.ts',
    from: 'graceMs: config.QUERY_TIMEOUT_SECONDS * 1000 + minuteMs',
    to: 'graceMs: config.QUERY_TIMEOUT_SECONDS * 1000 + 1500',
  },
  {
    file: 'service/lifecycle/retention/retention-run.ts',
    from: '      await atEach(up, faults, replica => replica.look())\n',
    to: '      if (!nodes?.isCurrent() || !up[0]?.isKnown()) await atEach(up, faults, replica => replica.look())\n',
  },
  // Each answer is made anew.
  { file: 'query/query.ts', from: 'createBodyCache(limits.cacheBytesMax)', to: 'createBodyCache(1)' },
]
const root = join(temporaryFolder(t), 'quick')
copySource(resolve(import.meta.dirname, '..', '..'), root, quick)
const nodes = await openKafkaNodes(t, { root, environment: { QUERY_TIMEOUT_SECONDS: '3' } })
await nodes.start('forward')

const isoOf = (ms: number) => new Date(ms).toISOString()

/** How many readings a node shows of a day; undefined where it does not answer. */
async function readingsOf({ url }: Service, startMs: number): Promise<number | undefined> {
  const range = `start=${isoOf(startMs)}&end=${isoOf(startMs + dayMs - 1)}`
  try {
    const response = await fetch(`${url}/api/readings/porch?${range}&format=ndjson`)
    const text = await response.text()
    return response.status === 200 ? text.split('\n').filter(line => line !== '').length : undefined
  } catch {
    return undefined
  }
}

/** What a node makes of the hours of all days; undefined where it does not answer. */
async function hoursOf({ url }: Service): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/api/compare_data?a=porch&b=roof&preset=30d&t=1`)
    const answer = (await response.json()) as { temperature?: unknown; humidity?: unknown }
    return response.status === 200 ? JSON.stringify([answer.temperature, answer.humidity]) : undefined
  } catch {
    return undefined
  }
}

/** Once it answers. */
async function answered<Found>(ask: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    await sleep(50)
  }
}

interface Status {
  retention: { oldest_day: string | null; waiting: { before: string } | null; fault: string | null }
}
const retentionOf = async ({ admin }: Service) => ((await admin('GET', '/status')).body as Status).retention

t.test('days expire at all nodes alike, whichever of them is asked, killed or frozen', async t => {
  const before = await nodes.start()
  for (const name of ['porch', 'roof']) {
    await before.addDevice(name)
    const rows = Array.from({ length: dayCount * perDay }, (_, at) => {
      return `${firstDay + Math.floor((at * dayMs) / perDay)},${name},${at % 40},50,1000`
    })
    await before.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}`)
  }
  await nodes.untilForwarded()
  const hours = await answered(() => hoursOf(before))
  t.match(hours, /"v":/)
  await before.end('SIGTERM')
  const limited = { RETENTION_DAYS: String(days) }
  const pair = [await nodes.start('api', limited), await nodes.start('api', limited)] as const
  const leader = await nodes.leader(pair)
  const follower = leader === pair[0] ? pair[1] : pair[0]
  for (const node of pair) {
    await until('days wait', async () => (await retentionOf(node)).waiting !== null)
    t.equal(await answered(() => readingsOf(node, firstDay)), perDay)
    t.equal(await answered(() => hoursOf(node)), hours)
  }

  const shown = new Set<string>()
  let isOver = false
  async function read(node: Service): Promise<void> {
    while (!isOver) {
      for (let day = 0; day < dayCount - days; day++) {
        const count = await readingsOf(node, firstDay + day * dayMs)
        if (count !== undefined && count !== 0 && count !== perDay) shown.add(`${count} readings of a day`)
      }
      const found = await hoursOf(node)
      if (found !== undefined && found !== hours) shown.add(`other hours: ${found.slice(0, 2000)}`)
    }
  }
  const reading = pair.map(read)
  const confirm = async (node: Service, ms: number) =>
    (await node.admin('POST', '/retention/confirm', { before: isoOf(ms).slice(0, 10) })).status
  const oldestAt = async (node: Service) => Date.parse((await retentionOf(node)).oldest_day ?? '')

  t.equal(await confirm(follower, firstDay + dayMs), 200, 'by a node that does not lead')
  for (const node of pair) await until('the first day is gone', async () => (await oldestAt(node)) === firstDay + dayMs)

  await until('the rest waits', async () => (await retentionOf(leader)).waiting !== null)
  freezeProcess(follower.child.pid ?? 0)
  t.equal(await confirm(leader, firstDay + 2 * dayMs), 200)
  await until('the second day is gone', async () => (await oldestAt(leader)) === firstDay + 2 * dayMs)
  follower.child.kill('SIGCONT')
  await until('the other node knows', async () => (await readingsOf(follower, firstDay + dayMs)) === 0)

  await until('the rest waits', async () => (await retentionOf(follower)).waiting !== null)
  t.equal(await confirm(leader, firstDay + 3 * dayMs), 200)
  await until('the third day is marked', async () => (await readingsOf(leader, firstDay + 2 * dayMs)) === 0)
  await leader.end('SIGKILL')
  await until('the third day is gone', async () => (await oldestAt(follower)) === firstDay + 3 * dayMs)
  await sleep(500)
  isOver = true
  await Promise.all(reading)
  t.strictSame([...shown], [])
  t.equal(await answered(() => hoursOf(follower)), hours)
  t.equal((await retentionOf(follower)).fault, null)
})
