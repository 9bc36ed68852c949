/** Entry point of this folder: turns the bodies of Prometheus remote write and OTLP into lines of line protocol. */

import { OtlpError, readOtlpJson, readOtlpProtobuf } from './otlp.ts'
import { ProtobufError, readProtobuf, type Schema } from './protobuf.ts'
import { type SampledLines, SampleLines, type SampleOptions } from './sample-lines.ts'

export type RemoteForm = 'prometheus' | 'otlp_json' | 'otlp_protobuf'

/** `bytes`: size of the body without compression. */
export type RemoteBody = { bytes: number } & (
  | ({ kind: 'sampled' } & SampledLines)
  | { kind: 'too long' }
  | { kind: 'broken'; reason: string }
)

/** Ten for each sample that a body may have: its labels are values, too. */
const valuesMax = 1_000_000

export function readRemoteBody(form: RemoteForm, sent: Buffer, bytesMax: number, options: SampleOptions): RemoteBody {
  const body = form === 'prometheus' ? readSnappy(sent, bytesMax) : sent
  if (body === 'too long') return { kind: 'too long', bytes: bytesMax }
  if (body === undefined) return { kind: 'broken', bytes: sent.length, reason: 'it is not a block of Snappy' }
  const bytes = body.length
  const lines = new SampleLines(options)
  try {
    if (form === 'prometheus') readPrometheus(body, valuesMax, lines)
    else if (form === 'otlp_json') readOtlpJson(body, lines)
    else readOtlpProtobuf(body, valuesMax, lines)
  } catch (error) {
    if (!(error instanceof ProtobufError || error instanceof OtlpError)) throw error
    return { kind: 'broken', bytes, reason: error.message }
  }
  return lines.isFull() ? { kind: 'too long', bytes } : { kind: 'sampled', bytes, ...lines.take() }
}

/** `WriteRequest` of prometheus/prompb: exemplars, native histograms and metadata are not readings. */
const writeRequest: Schema = {
  1: {
    name: 'series',
    isList: true,
    type: {
      1: {
        name: 'labels',
        isList: true,
        type: { 1: { name: 'name', type: 'text' }, 2: { name: 'value', type: 'text' } },
      },
      2: {
        name: 'samples',
        isList: true,
        type: { 1: { name: 'value', type: 'double' }, 2: { name: 'timeMs', type: 'int64' } },
      },
    },
  },
}

interface Series {
  readonly labels?: readonly { readonly name?: string; readonly value?: string }[]
  readonly samples?: readonly { readonly value?: number; readonly timeMs?: number }[]
}

/** Labels of a bucket or a quantile. */
const partLabels = ['le', 'quantile']
/** The job is the name of a scrape configuration. */
const unusedLabels: ReadonlySet<string> = new Set(['device', 'instance', 'job'])

/** Bodies of Prometheus remote write 1.0 (prometheus.io/docs/specs/prw/remote_write_spec), after decompression. */
function readPrometheus(body: Buffer, valuesMax: number, lines: SampleLines): void {
  const { series = [] } = readProtobuf(body, writeRequest, valuesMax) as { series?: readonly Series[] }
  for (const each of series) {
    takeSeries(each, lines)
    if (lines.isFull()) return
  }
}

function takeSeries({ labels = [], samples = [] }: Series, lines: SampleLines): void {
  const labelValues = new Map(labels.map(({ name = '', value = '' }) => [name, value]))
  if (partLabels.some(label => labelValues.has(label))) {
    lines.ignored += samples.length
    return
  }
  const name = labelValues.get('__name__') ?? ''
  const others = [...labelValues].filter(([label]) => !unusedLabels.has(label) && !label.startsWith('__'))
  const sent = {
    device: labelValues.get('device') || undefined,
    origin: hostOf(labelValues.get('instance')),
    name,
    labels: others.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value),
  }
  if (name === '') {
    lines.reject('a series has no label __name__', samples.length, sent.device)
    return
  }
  const target = lines.targetOf(sent, samples.length)
  if (target === undefined) return
  for (const { value = 0, timeMs = 0 } of samples) lines.add(target, timeMs, value)
}

/** `192.168.1.5:9100` is `192.168.1.5-9100`: two exporters of a host are two devices. */
function hostOf(instance: string | undefined): string | undefined {
  return instance?.replace(/:(?=\d{1,5}$)/, '-') || undefined
}

/**
 * Decodes a block of Snappy (format_description.txt of google/snappy), in which Prometheus compresses its bodies. The packages of
 * the registries either leave the length of the result unchecked or bring a binary for each platform. Undefined for bytes that
 * are not a whole block; `too long` before anything is decoded. Time and memory follow `bytesMax`.
 */
export function readSnappy(block: Uint8Array, bytesMax: number): Buffer | 'too long' | undefined {
  const head = readLength(block)
  if (head === undefined) return undefined
  if (head.length > bytesMax) return 'too long'
  const whole = Buffer.allocUnsafeSlow(head.length)
  return fill(whole, block, head.end) ? whole : undefined
}

/** The length has at most 32 bits in groups of 7, the lowest first. */
function readLength(block: Uint8Array): { length: number; end: number } | undefined {
  let length = 0
  for (let at = 0; at < 5 && at < block.length; at++) {
    const byte = block[at] as number
    length += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return length < 2 ** 32 ? { length, end: at + 1 } : undefined
  }
  return undefined
}

/** Returns false unless the elements fill the result exactly. */
function fill(whole: Buffer, block: Uint8Array, start: number): boolean {
  let at = start
  let end = 0
  while (at < block.length) {
    const tag = block[at++] as number
    const extra = extraBytes(tag)
    if (at + extra > block.length) return false
    const number = littleEndian(block, at, extra)
    at += extra
    const isLiteral = (tag & 3) === 0
    const length = lengthOf(tag, number)
    if (end + length > whole.length || (isLiteral && at + length > block.length)) return false
    if (isLiteral) {
      whole.set(block.subarray(at, at + length), end)
      at += length
    } else if (!repeat(whole, end, offsetOf(tag, number), length)) return false
    end += length
  }
  return end === whole.length
}

/** A copy may overlap with its own result, which repeats it. Returns false for an offset before the start. */
function repeat(whole: Buffer, end: number, offset: number, length: number): boolean {
  if (offset === 0 || offset > end) return false
  for (let at = end; at < end + length; at++) whole[at] = whole[at - offset] as number
  return true
}

function lengthOf(tag: number, number: number): number {
  const kind = tag & 3
  if (kind === 1) return ((tag >>> 2) & 7) + 4
  return kind === 0 && tag >>> 2 >= literalsInTag ? number + 1 : (tag >>> 2) + 1
}

function offsetOf(tag: number, number: number): number {
  return (tag & 3) === 1 ? (tag >>> 5) * 256 + number : number
}

/** Shorter literals have their length in the tag. */
const literalsInTag = 60

/** Bytes of the length of a literal, or of the offset of a copy, behind the tag. */
function extraBytes(tag: number): number {
  const kind = tag & 3
  if (kind === 0) return Math.max(0, (tag >>> 2) - literalsInTag + 1)
  return kind === 3 ? 4 : kind
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let index = 0; index < count; index++) value += (bytes[at + index] as number) * 256 ** index
  return value
}
