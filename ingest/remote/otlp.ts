/** Metrics of OTLP 1.x (opentelemetry.io/docs/specs/otlp), in JSON or in Protocol Buffers, which are read as the same JSON. */

import { readProtobuf, type Schema } from './protobuf.ts'
import type { SampleLines } from './sample-lines.ts'

const attributes: Schema[number] = {
  name: 'attributes',
  isList: true,
  type: {
    1: { name: 'key', type: 'text' },
    2: {
      name: 'value',
      type: {
        1: { name: 'stringValue', type: 'text' },
        2: { name: 'boolValue', type: 'int64' },
        3: { name: 'intValue', type: 'int64' },
        4: { name: 'doubleValue', type: 'double' },
      },
    },
  },
}
const points: Schema = {
  1: {
    name: 'dataPoints',
    isList: true,
    type: {
      3: { name: 'timeUnixNano', type: 'fixed64' },
      4: { name: 'asDouble', type: 'double' },
      6: { name: 'asInt', type: 'sfixed64' },
      7: attributes,
      8: { name: 'flags', type: 'int64' },
    },
  },
}
/** Points of histograms and summaries are counted only. */
const counted: Schema = { 1: { name: 'dataPoints', isList: true, type: {} } }
const metric: Schema = {
  1: { name: 'name', type: 'text' },
  3: { name: 'unit', type: 'text' },
  5: { name: 'gauge', type: points },
  7: { name: 'sum', type: points },
  9: { name: 'histogram', type: counted },
  10: { name: 'exponentialHistogram', type: counted },
  11: { name: 'summary', type: counted },
}
const exportRequest: Schema = {
  1: {
    name: 'resourceMetrics',
    isList: true,
    type: {
      1: { name: 'resource', type: { 1: attributes } },
      2: { name: 'scopeMetrics', isList: true, type: { 2: { name: 'metrics', isList: true, type: metric } } },
    },
  },
}

/** Attributes of a resource that name the device: the first that it has. */
const deviceAttributes = ['device', 'device.id', 'host.name', 'host.id', 'service.instance.id', 'service.name']
const noRecordedValue = 1

/** The body is not a request of the protocol. */
export class OtlpError extends Error {}

export function readOtlpProtobuf(body: Buffer, valuesMax: number, lines: SampleLines): void {
  readRequest(readProtobuf(body, exportRequest, valuesMax), lines)
}

export function readOtlpJson(body: Buffer, lines: SampleLines): void {
  let request: unknown
  try {
    request = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new OtlpError('the body is not JSON')
  }
  if (!isObject(request)) throw new OtlpError('the body is not a JSON object')
  readRequest(request, lines)
}

function readRequest(request: Fields, lines: SampleLines): void {
  for (const resourceMetrics of listIn(request, 'resourceMetrics')) {
    const resource = attributesIn(objectIn(resourceMetrics, 'resource'))
    const key = deviceAttributes.find(key => isDeviceName(resource.get(key)))
    const origin = key === undefined ? undefined : resource.get(key)
    for (const scope of listIn(resourceMetrics, 'scopeMetrics')) {
      for (const metric of listIn(scope, 'metrics')) {
        readMetric(metric, origin, lines)
        if (lines.isFull()) return
      }
    }
  }
}

/** Name that programs have by default. */
function isDeviceName(value: string | undefined): boolean {
  return value !== undefined && value !== '' && !value.startsWith('unknown_service')
}

function readMetric(metric: Fields, origin: string | undefined, lines: SampleLines): void {
  const name = textIn(metric, 'name') ?? ''
  const unit = statedUnit(textIn(metric, 'unit'))
  for (const kind of ['gauge', 'sum']) {
    for (const point of listIn(objectIn(metric, kind), 'dataPoints')) readPoint(point, { name, unit, origin }, lines)
  }
  for (const kind of ['histogram', 'exponentialHistogram', 'summary']) {
    const { length } = listIn(objectIn(metric, kind), 'dataPoints')
    lines.reject(`${name}: points of a histogram or a summary are not stored`, length, origin)
  }
}

function readPoint(
  point: Fields,
  { name, unit, origin }: { name: string; unit: string | undefined; origin: string | undefined },
  lines: SampleLines,
): void {
  // The flag is the lowest bit.
  if ((numberIn(point, 'flags') ?? 0) % 2 === noRecordedValue) return
  const own = attributesIn(point)
  const device = own.get('device') || undefined
  own.delete('device')
  const labels = [...own].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
  if (name === '') {
    lines.reject('a metric has no name', 1, device ?? origin)
    return
  }
  const value = numberIn(point, 'asDouble') ?? numberIn(point, 'asInt')
  if (value === undefined) {
    lines.reject(`${name}: a point has no number`, 1, device ?? origin)
    return
  }
  const target = lines.targetOf({ device, origin, name, unit, labels }, 1)
  if (target !== undefined) lines.add(target, timeMsOf(numberIn(point, 'timeUnixNano') ?? 0), value)
}

/** A double holds the nanoseconds of today to a quarter of a microsecond. */
function timeMsOf(timeNs: number): number {
  return Math.floor(Math.round(timeNs / 1000) / 1000)
}

/** UCUM; annotations such as `{count}` are not units. */
function statedUnit(text: string | undefined): string | undefined {
  const unit = text?.replace(/\{[^{}]*\}/g, '') ?? ''
  return unit === '' ? undefined : unit
}

type Fields = { readonly [name: string]: unknown }
const noFields: Fields = {}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectIn(fields: Fields, name: string): Fields {
  const value = fields[name]
  return isObject(value) ? value : noFields
}

function listIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name]
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' ? value : undefined
}

/** In JSON, integers of 64 bits and numbers that are not finite are texts. */
function numberIn(fields: Fields, name: string): number | undefined {
  const value = fields[name]
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : undefined
}

const attributesMax = 128

function attributesIn(fields: Fields): Map<string, string> {
  const found = new Map<string, string>()
  for (const attribute of listIn(fields, 'attributes').slice(0, attributesMax)) {
    const value = Object.values(objectIn(attribute, 'value'))[0]
    if (isScalar(value)) found.set(textIn(attribute, 'key') ?? '', String(value))
  }
  return found
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
