/** A machine whose clock is wrong: what the service says, and where it puts readings when the clock is right again. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { injecting } from '../faults/injection/settings.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const payload = (temperature: number) => ({ device: 'kitchen', temperature, humidity: 50, pressure: 1000 })
const clockIs = (jumps: string) => injecting({ FAULT_CLOCK: jumps })

async function reasonsOf({ url }: Service): Promise<string[]> {
  const body = (await (await fetch(`${url}/health/ready`)).json()) as { reasons?: string[] }
  return body.reasons ?? []
}

async function metric({ url }: Service, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(
    text
      .split('\n')
      .find(line => line.startsWith(`${name} `))
      ?.slice(name.length),
  )
}

let hours = 0

/** Whether a reading with this temperature lies in the last hours, of which another number is asked each time: answers are kept. */
async function isRecent({ url }: Service, temperature: number): Promise<boolean> {
  hours = (hours % 72) + 1
  return (await (await fetch(`${url}/api/latest/all/${hours}`)).text()).includes(String(temperature))
}

test('a clock that was an hour ahead, and is right after a restart', async t => {
  const ahead = await startService(t, { environment: clockIs('0:3600') })
  const { dataDirectory } = ahead
  const password = await ahead.addDevice('kitchen')
  t.equal((await ahead.put('kitchen', password, payload(11.25))).status, 200)
  await ahead.end('SIGTERM')

  const right = await startService(t, { dataDirectory })
  t.match(right.output(), /"msg":"newest stamp is ahead of the clock/)
  const said = (await reasonsOf(right)).filter(reason => /^the newest stamp of readings is \d{4} s ahead/.test(reason))
  t.equal(said.length, 1)
  t.ok((await metric(right, 'barograph_stamp_ahead_seconds')) > 1000)
  t.equal((await right.put('kitchen', password, payload(22.25))).status, 200)
  await until('the new reading is where it belongs', () => isRecent(right, 22.25))
  t.notOk(await isRecent(right, 11.25), 'the other one lies ahead')
  await right.end('SIGTERM')

  const clockFile = join(dataDirectory, 'clock')
  const jumping = await startService(t, { dataDirectory, environment: injecting({ FAULT_CLOCK_FILE: clockFile }) })
  const steps = () => metric(jumping, 'barograph_clock_steps_total')
  writeFileSync(clockFile, '7200')
  await until('the step forward is counted', async () => (await steps()) === 1)
  writeFileSync(clockFile, '0')
  await until('the step back is counted', async () => (await steps()) === 2)
  // Between looks at the two clocks a busy machine may do something else.
  t.match(jumping.output(), /"seconds":(7199|7200)\b[^\n]*"msg":"clock stepped forward"/)
  t.match(jumping.output(), /"seconds":-(7199|7200)\b[^\n]*"msg":"clock stepped back"/)
})

test('a clock that is not set yet', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  // Thirty years back.
  const started = startService(t, { dataDirectory, environment: clockIs('0:-946684800') })
  await t.rejects(started, { message: /The system clock is wrong \(199\d-.*\): set it/ })
})
