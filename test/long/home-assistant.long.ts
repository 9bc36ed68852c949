/** Home Assistant's schemas (its last version for Python 3.11) parse the messages for all metrics of the catalogue. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { configMessages, stateMessages, topicsOf } from '../../service/home-assistant/discovery.ts'
import { catalogue } from '../../store/metrics/catalogue.ts'
import { temporaryFolder } from '../support/databases.ts'
import { makePython } from './python.ts'

const folder = join(import.meta.dirname, 'home-assistant')

test('Home Assistant accepts the configuration of each metric', async t => {
  const python = await makePython(t, join(folder, 'requirements.txt'))
  const own = [
    { name: 'hive_weight', title: 'Hive weight', unit: null, kind: 'gauge', decimals: 2, max: null },
    { name: 'mode', title: 'Mode', unit: null, kind: 'state', decimals: 0, max: null },
  ] as const
  const metrics = [...catalogue, ...own]
  const topics = topicsOf('barograph')
  const device = {
    symbol: 'porch-1',
    name: 'Küche "1"',
    metrics,
    values: Object.fromEntries(metrics.map(({ name }) => [name, 1.5])),
    isAvailable: true,
    url: 'http://10.0.0.1:8080/device/K%C3%BCche',
  }
  const byTopic = (messages: { topic: string; payload: string }[]) =>
    Object.fromEntries(messages.map(({ topic, payload }) => [topic, payload]))
  const messages = {
    configs: byTopic(configMessages(topics, device)),
    states: byTopic(stateMessages(topics, device)),
  }
  const home = temporaryFolder(t)
  writeFileSync(join(home, 'messages.json'), JSON.stringify(messages))
  writeFileSync(join(home, 'check.py'), readFileSync(join(folder, 'check.py')))
  const { status, stdout, stderr } = await python.run(['python', 'check.py', 'messages.json'], { folder: home })
  t.equal(stdout.trim(), String(metrics.length), stderr)
  t.equal(status, 0)
})
