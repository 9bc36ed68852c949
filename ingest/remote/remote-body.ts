/** Entry point of this folder: turns the bodies of Prometheus remote write and OTLP into lines of line protocol. */

import { OtlpError, readOtlpJson, readOtlpProtobuf } from './otlp.ts'
import { readPrometheus } from './prometheus.ts'
import { ProtobufError } from './protobuf.ts'
import { type SampledLines, SampleLines, type SampleOptions } from './sample-lines.ts'
import { readSnappy } from './snappy.ts'

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
