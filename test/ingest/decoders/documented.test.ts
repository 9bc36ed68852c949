/** The examples of docs/sensors.md give the readings that stand below them. Each family has an example. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createDecoder } from '../../../ingest/decoders/decode.ts'
import { decoderOf, familyNames } from '../../../ingest/decoders/decoders.ts'
import type { Message } from '../../../ingest/decoders/family.ts'
import { DecoderDeclaration, ownFamily } from '../../../ingest/decoders/own-decoder.ts'
import { type RemoteForm, readRemoteBody } from '../../../ingest/remote/remote-body.ts'
import { remoteWrite, type SentSeries } from '../../support/remote-bodies.ts'

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

/** The messages of a section, and the readings below them. */
function examplesIn(t: Test, section: string): (readonly [sent: string, reading: string])[] {
  const lines = section.split('\n')
  const examples = lines.flatMap((line, at) => {
    return line.startsWith('→ ') ? [[lines[at - 1] ?? '', line.slice(2)] as const] : []
  })
  t.ok(examples.length > 0, 'it has an example')
  return examples
}

function examplesOf(t: Test, family: string): (readonly [sent: string, reading: string])[] {
  const [, section = ''] = page.split(`\n### ${family}\n`)
  const [own = ''] = section.split('\n### ')
  t.match(own, /\[Source\]\(https:/, `${family} names its source`)
  return examplesIn(t, own)
}

t.test('examples', async t => {
  for (const family of familyNames) {
    for (const [sent, reading] of examplesOf(t, family)) {
      t.strictSame(decoderOf(family)?.(messageOf(sent)), { kind: 'readings', readings: [JSON.parse(reading)] }, sent)
    }
  }
})

/** `temperature{device="porch"} 21.5 1767268800000`, as Prometheus writes a sample. */
function sampleOf(sent: string): SentSeries {
  const [, name = '', labels = '', value, timeMs] = /^POST \S+ (\w+)\{(.*)\} (\S+) (\d+)$/.exec(sent) ?? []
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, of]) => [label, of])
  return { labels: { __name__: name, ...Object.fromEntries(pairs) }, samples: [[Number(value), Number(timeMs)]] }
}

/** The reading of a body with one sample. */
function readingOf(form: RemoteForm, body: Buffer): unknown {
  const found = readRemoteBody(form, body, 1 << 20, { metrics: [], deviceDefault: undefined, rejectsMax: 1 })
  if (found.kind !== 'sampled') return found
  const [, device = '', field = '', value, timeMs] =
    /^s,device=(.*) (\w+)=(\S+) (\d+)\d{3}\n$/.exec(String(found.lines)) ?? []
  return { [field]: Number(value), timestamp: Number(timeMs), device: device.replaceAll('\\', '') }
}

t.test('examples of remote writers', async t => {
  for (const [sent, reading] of examplesOf(t, 'prometheus')) {
    t.strictSame(readingOf('prometheus', remoteWrite(sampleOf(sent))), JSON.parse(reading), sent)
  }
  for (const [sent, reading] of examplesOf(t, 'otlp')) {
    t.strictSame(readingOf('otlp_json', Buffer.from(sent.slice(sent.indexOf('{')))), JSON.parse(reading), sent)
  }
})

t.test('the example of an own decoder', async t => {
  const [, section = ''] = page.split('\n## Own decoders\n')
  const [own = ''] = section.split('\n## ')
  const [, declaration = ''] = /```json\n([^`]+)```/.exec(own) ?? []
  const decode = createDecoder(ownFamily('garden', DecoderDeclaration.parse(JSON.parse(declaration))))
  for (const [sent, reading] of examplesIn(t, own)) {
    t.strictSame(decode(messageOf(sent)), { kind: 'readings', readings: [JSON.parse(reading)] }, sent)
  }
})
