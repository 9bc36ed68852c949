/** A clock that was an hour ahead: the service's report after the correction, and steps while it runs. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { injecting } from '../faults/injection/settings.ts'
import { until } from '../support/processes.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

test('stamps ahead of the clock are reported after a restart, which also counts steps', async t => {
  const start = (faults: Record<string, string>, directory: { dataDirectory?: string } = {}) =>
    startService(t, { ...directory, environment: { ...withoutQuestdb, ...injecting(faults) } })
  const ahead = await start({ FAULT_CLOCK: '0:3600' })
  const { dataDirectory } = ahead
  const password = await ahead.addDevice('kitchen')
  t.equal((await ahead.put('kitchen', password, { device: 'kitchen', temperature: 11.25 })).status, 200)
  await ahead.end('SIGTERM')

  const clockFile = join(dataDirectory, 'clock')
  const right = await start({ FAULT_CLOCK_FILE: clockFile }, { dataDirectory })
  const metric = async (name: string) => {
    const text = await (await fetch(`${right.url}/metrics`)).text()
    return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
  }
  t.match(right.output(), /"msg":"newest stamp is ahead of the clock/)
  const { reasons = [] } = (await (await fetch(`${right.url}/health/ready`)).json()) as { reasons?: string[] }
  t.ok(reasons.some(reason => /^the newest stamp of readings is \d{4} s ahead/.test(reason)))
  t.ok((await metric('barograph_stamp_ahead_seconds')) > 1000)
  t.equal((await right.put('kitchen', password, { device: 'kitchen', temperature: 22.25 })).status, 200)

  const steps = () => metric('barograph_clock_steps_total')
  writeFileSync(clockFile, '7200')
  await until('the step forward is counted', async () => (await steps()) === 1)
  writeFileSync(clockFile, '0')
  await until('the step back is counted', async () => (await steps()) === 2)
  // A busy machine may do something else between looks at the two clocks.
  t.match(right.output(), /"seconds":(7199|7200)\b[^\n]*"msg":"clock stepped forward"/)
  t.match(right.output(), /"seconds":-(7199|7200)\b[^\n]*"msg":"clock stepped back"/)
})
