/** Bodies of Prometheus remote write 1.0 (prometheus.io/docs/specs/prw/remote_write_spec), after decompression. */

import { readProtobuf, type Schema } from './protobuf.ts'
import type { SampleLines } from './sample-lines.ts'

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

export function readPrometheus(body: Buffer, valuesMax: number, lines: SampleLines): void {
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
