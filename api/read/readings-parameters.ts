/** Declares the parameters of `GET /api/readings/<device>`: a range, a step and a format. */

import Negotiator from 'negotiator'
import { z } from 'zod'
import { daysMax, dayUs, readMoment } from '../../query/analyses/parameters.ts'
import type { Layout } from '../../query/export/export-queries.ts'
import { momentForm } from '../../store/time-text.ts'

export interface ReadingsParameters {
  /** Microseconds; `toUs` is exclusive. */
  readonly fromUs: number
  readonly toUs: number
  readonly stepUs: number | undefined
  readonly format: RangeFormat
}

interface RangeFormat {
  readonly layout: Layout
  readonly mediaType: string
  /** Extension of a downloaded file. */
  readonly extension?: string
}

const formats: Record<string, RangeFormat> = {
  json: { layout: 'array', mediaType: 'application/json; charset=utf-8' },
  ndjson: { layout: 'lines', mediaType: 'application/x-ndjson', extension: 'ndjson' },
  csv: { layout: 'rfc4180', mediaType: 'text/csv; charset=utf-8', extension: 'csv' },
  parquet: { layout: 'parquet', mediaType: 'application/vnd.apache.parquet', extension: 'parquet' },
}
const json = formats['json'] as RangeFormat
/** The first one is sent at equal preference. */
const formatsByMediaType = new Map([
  ['application/json', json],
  ['application/x-ndjson', formats['ndjson']],
  ['application/ndjson', formats['ndjson']],
  ['text/csv', formats['csv']],
  ['application/vnd.apache.parquet', formats['parquet']],
])

const rangeFormats = Object.keys(formats)

const [stepMin, stepMax] = [60, 86_400]

const moment = (description: string) =>
  z.string().meta({ pattern: momentForm, description: `${description}: ISO 8601 with a zone, or milliseconds` })

const metricForm = '[a-z][a-z0-9_]{0,47}'
const metricsForm = `^${metricForm}(?:,${metricForm})*$`

/** Parameters for the contract. `metricsIn` parses the last one. */
export const RangeParameters = z.object({
  start: moment('The first moment'),
  end: moment('Before this moment, without it before now').optional(),
  step: z.int().min(stepMin).max(stepMax).optional().meta({ description: 'Buckets of so many seconds' }),
  format: z.enum(rangeFormats).optional().meta({ description: 'Takes precedence over Accept.' }),
  metrics: z
    .string()
    .optional()
    .meta({ pattern: metricsForm, description: 'Names with commas between them, in the order of the columns' }),
})

export type ReadParameters =
  | { readonly ok: true; readonly asked: ReadingsParameters }
  | { readonly ok: false; readonly status: string }

export function readReadingsParameters(
  query: Readonly<Record<string, unknown>>,
  accept: string | undefined,
  nowUs: number,
): ReadParameters {
  const { start, end, step, format } = query
  if (start === undefined) return { ok: false, status: 'start is required' }
  const fromUs = readMoment(start)
  if (typeof fromUs === 'string') return { ok: false, status: `start ${fromUs}` }
  const toUs = end === undefined ? Math.max(fromUs, nowUs) : readMoment(end)
  if (typeof toUs === 'string') return { ok: false, status: `end ${toUs}` }
  if (toUs < fromUs) return { ok: false, status: 'end must not be before start' }
  if (toUs - fromUs > daysMax * dayUs) return { ok: false, status: `a range has at most ${daysMax} days` }
  const stepUs = readStep(step)
  if (stepUs === 'invalid') {
    return { ok: false, status: `step must be a whole number of seconds from ${stepMin} to ${stepMax}` }
  }
  const asked = format === undefined ? acceptedFormat(accept) : readFormat(format)
  if (asked === undefined) return { ok: false, status: `format must be one of ${rangeFormats.join(', ')}` }
  return { ok: true, asked: { fromUs, toUs, stepUs, format: asked } }
}

function readStep(text: unknown): number | undefined | 'invalid' {
  if (text === undefined) return undefined
  const seconds = typeof text === 'string' && /^[1-9]\d{1,4}$/.test(text) ? Number(text) : 0
  return seconds >= stepMin && seconds <= stepMax ? seconds * 1_000_000 : 'invalid'
}

function readFormat(text: unknown): RangeFormat | undefined {
  return typeof text === 'string' && Object.hasOwn(formats, text) ? formats[text] : undefined
}

/** JSON for a client that accepts other types only, as RFC 9110 allows. */
function acceptedFormat(accept: string | undefined): RangeFormat {
  if (accept === undefined) return json
  const [best = ''] = new Negotiator({ headers: { accept } }).mediaTypes([...formatsByMediaType.keys()])
  return formatsByMediaType.get(best) ?? json
}
