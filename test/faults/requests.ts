/** HTTP requests of a device or a station, good or bad, as bytes. */

import { basic } from '../support/service.ts'
import { customOf, valuesOf } from './identity.ts'

export function fieldsOf(device: string, sequence: number, timeMs: number | undefined): Record<string, unknown> {
  const values = Object.entries(valuesOf(sequence)).map(([name, value]) => [name.replace('_', ' '), value])
  const custom = customOf(sequence)
  return { device, ...Object.fromEntries(values), ...custom, ...(timeMs === undefined ? {} : { timestamp: timeMs }) }
}

/** Bodies that must be rejected, although most of their fields are valid. */
export function badBodies(device: string, sequence: number): string[] {
  const fields = fieldsOf(device, sequence, undefined)
  return [
    JSON.stringify({ ...fields, temperature: String(fields['temperature']) }),
    JSON.stringify({ device, temperature: -300, humidity: -1 }),
    JSON.stringify({ ...fields, device: `${device}-other` }),
    JSON.stringify({ ...fields, timestamp: '2026-02-30T00:00:00Z' }),
    JSON.stringify({ ...fields, timestamp: Date.now() + 7 * 86_400_000 }),
    JSON.stringify(fields).slice(0, -1),
  ]
}

export function putRequest(device: string, password: string, body: string, key?: string): string {
  const headers = key === undefined ? '' : `Idempotency-Key: "${key}"\r\n`
  return httpRequest('PUT', '/api/log', basic(device, password), 'application/json', body, headers)
}

/** A reading in the format of ThingsBoard, with its time beside the values. */
export function webhookRequest(device: string, password: string, sequence: number, timeMs: number | undefined): string {
  const { device: _, timestamp: __, ...values } = fieldsOf(device, sequence, timeMs)
  const body = JSON.stringify(timeMs === undefined ? values : { ts: timeMs, values })
  return httpRequest('POST', '/in/thingsboard', basic(device, password), 'application/json', body)
}

export function importRequest(token: string, lines: string): string {
  return httpRequest('POST', '/api/admin/import', `Bearer ${token}`, 'application/x-ndjson', lines)
}

export function batchRequest(device: string, password: string, query: string, lines: string): string {
  const path = `/api/log/batch${query}`
  return httpRequest('POST', path, basic(device, password), 'application/x-ndjson', lines)
}

export function linesRequest(device: string, password: string, lines: string): string {
  return httpRequest('POST', '/api/v2/write?precision=ms', basic(device, password), 'text/plain', lines)
}

export function lineOf(device: string, sequence: number, timeMs: number): string {
  const tag = device.replaceAll(/[ ,=]/g, character => `\\${character}`)
  const values = Object.entries({ ...valuesOf(sequence), ...customOf(sequence) })
  return `readings,device=${tag} ${values.map(([name, value]) => `${name}=${value}`).join()} ${timeMs}`
}

export function pointFieldsOf(parameter: string, values: { value: number; unit: string }, timeMs: number) {
  return { parameter, timestamp: new Date(timeMs).toISOString().slice(0, 19), ...values }
}

export function badPoints(fields: ReturnType<typeof pointFieldsOf>): object[] {
  const { timestamp } = fields
  return [
    { ...fields, value: String(fields.value) },
    { ...fields, unit: 'mgm3' },
    { ...fields, parameter: 'pm99' },
    { ...fields, timestamp: `${timestamp}.5` },
    { ...fields, timestamp: new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 19) },
    { ...fields, sn: 'another' },
  ]
}

export function pointsRequest(sn: string, key: string, points: readonly object[]): string {
  const path = `/api/v1.0/device/${sn}/data/`
  return httpRequest('POST', path, basic(key, ''), 'application/json', JSON.stringify(points))
}

function httpRequest(
  method: string,
  path: string,
  authorization: string,
  type: string,
  body: string,
  more = '',
): string {
  const length = Buffer.byteLength(body)
  return (
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n` +
    `Content-Type: ${type}\r\n${more}Content-Length: ${length}\r\n\r\n${body}`
  )
}
