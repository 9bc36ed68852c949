/** The examples of docs/sensors.md give the readings that stand below them, and each family has one. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { decoderOf, familyNames } from '../../../ingest/decoders/decoders.ts'
import type { Message } from '../../../ingest/decoders/family.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'sensors.md'), 'utf8')

function payload(text: string): unknown {
  if (text.startsWith('{')) return JSON.parse(text)
  return text.includes('=') ? Object.fromEntries(new URLSearchParams(text)) : text
}

/** `MQTT topic payload`, `GET address` or `POST address payload`. */
function messageOf(line: string): Message {
  const [, way, place = '', text = ''] = /^(MQTT|GET|POST) (\S+) ?(.*)$/.exec(line) ?? []
  if (way === 'MQTT') return { topic: place, body: payload(text) }
  const parameters = Object.fromEntries(new URLSearchParams(place.split('?')[1]))
  return { body: way === 'GET' ? parameters : payload(text), parameters }
}

t.test('examples', async t => {
  for (const family of familyNames) {
    const [, section = ''] = page.split(`\n### ${family}\n`)
    const [own = ''] = section.split('\n### ')
    const lines = own.split('\n')
    const examples = lines.flatMap((line, at) => (line.startsWith('→ ') ? [[lines[at - 1] ?? '', line.slice(2)]] : []))
    t.ok(examples.length > 0, `${family} has an example`)
    t.match(own, /\[Source\]\(https:/, `${family} names its source`)
    for (const [sent = '', reading = ''] of examples) {
      t.strictSame(decoderOf(family)?.(messageOf(sent)), { kind: 'readings', readings: [JSON.parse(reading)] }, sent)
    }
  }
})
