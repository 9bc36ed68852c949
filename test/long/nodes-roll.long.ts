/** A rolling restart: processes are replaced one by one, as for a new version, while readings arrive (docs/upgrading.md). */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { readingsTable } from '../../store/tables.ts'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import { until } from '../support/processes.ts'
import type { Service } from '../support/service.ts'

const nodes = await openKafkaNodes(t)
const [forwarders, apis] = await Promise.all([
  Promise.all([nodes.start('forward'), nodes.start('forward')]),
  Promise.all([nodes.start(), nodes.start()]),
])
/** The process that is stopping and not replaced yet. */
let going: Service | undefined

const devices = ['porch', 'roof', 'attic', 'cellar']
const passwords: string[] = []
for (const name of devices) passwords.push(await (apis[0] as Service).addDevice(name))

const acknowledged: number[] = []
let sent = 0
const faults: string[] = []
let isSending = true

/** Encodes the number of a reading as a valid temperature. */
const temperatureOf = (value: number) => value / 1e4 - 90

/** Resolves to the status. Records responses that a load balancer could not have avoided. */
async function put(node: Service, at: number, value: number): Promise<number | 'no answer'> {
  const wasGoing = node === going
  const body = { device: devices[at], temperature: temperatureOf(value), humidity: 50, pressure: 1000 }
  const status = await node.put(devices[at] ?? '', passwords[at] ?? '', body).then(
    async answer => {
      await answer.body?.cancel()
      return answer.status
    },
    () => 'no answer' as const,
  )
  if (status === 200) acknowledged.push(value)
  const isGoing = wasGoing || node === going || !apis.includes(node)
  const isUsual = status === 200 || (isGoing && (status === 503 || status === 'no answer'))
  if (!isUsual) faults.push(`${status} of ${isGoing ? 'the process that goes' : 'another one'}`)
  return status
}

/** Emulates a load balancer: readings go to the nodes in turn, after a rejection to the next one. */
async function send(at: number): Promise<void> {
  for (let turn = at; isSending; turn++) {
    const value = ++sent
    for (let attempt = 0; attempt < apis.length; attempt++) {
      const status = await put(apis[(turn + attempt) % apis.length] as Service, at, value)
      // The reading may be stored without a response. Another node would assign another time.
      if (status !== 503) break
    }
    await sleep(5)
  }
}

async function untilMore(): Promise<void> {
  const before = acknowledged.length
  await until('readings are acknowledged', () => acknowledged.length >= before + 50)
}

const isReady = async ({ url }: Service) => {
  const response = await fetch(`${url}/health/ready`)
  await response.body?.cancel()
  return response.status === 200
}

const storedTemperatures = async () =>
  (await nodes.databases.sql(`SELECT temperature FROM ${readingsTable}`)).map(([value]) =>
    Math.round((Number(value) + 90) * 1e4),
  )

t.test('replacing each process neither loses nor duplicates an acknowledged reading', async t => {
  const sending = Promise.all(devices.map((_, at) => send(at)))
  await untilMore()
  for (const [of, role] of [
    [forwarders, 'forward'],
    [apis, 'api'],
  ] as const) {
    for (const [at, old] of of.entries()) {
      going = old
      t.equal(await old.end('SIGTERM'), 0, `${role} ${at + 1} stops`)
      await untilMore()
      const next = await nodes.start(role)
      await until('it is ready', () => isReady(next))
      of[at] = next
      going = undefined
      await untilMore()
    }
  }
  isSending = false
  await sending
  t.strictSame(faults, [], 'only the process that goes refuses')
  await nodes.untilForwarded()
  const stored = await storedTemperatures()
  t.equal(new Set(stored).size, stored.length, 'nothing is stored twice')
  t.ok(new Set(stored).isSupersetOf(new Set(acknowledged)), 'nothing is lost')
  t.ok(acknowledged.length > 400)
})
