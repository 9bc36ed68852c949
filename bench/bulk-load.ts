/** Posts bulk bodies, over some connections with one request outstanding each. */

import { Agent, type RequestOptions, request } from 'node:http'
import pg from 'pg'
import { createKeyText, digestOf, prefixOf } from '../auth/keys/key-text.ts'
import { type FleetPlan, type SentReading, sentReadings } from './fleet.ts'
import type { BulkFormat } from './ingest-formats.ts'

/** A connection's target. Each may have another credential. */
export interface BulkTarget {
  /** One for each connection. */
  connections: RequestOptions[]
  /** The answers' status. */
  status: number
}

/** Resolves when all bodies are answered, and every reading of them was taken. */
export async function postAll({ connections, status }: BulkTarget, bodies: readonly Buffer[]): Promise<void> {
  const queue = bodies.values()
  const drain = async (options: RequestOptions) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (const body of queue) await post({ ...options, agent }, body, status)
    agent.destroy()
  }
  await Promise.all(connections.map(drain))
}

function post(options: RequestOptions, body: Buffer, status: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ...options.headers, 'content-length': body.length }
    const sent = request({ host: '127.0.0.1', method: 'POST', ...options, headers }, response => {
      let text = ''
      response.on('data', (piece: Buffer) => (text += piece.toString()))
      response.on('end', () => {
        if (response.statusCode === status && !text.includes('"rejects":[{')) resolve()
        else reject(new Error(`${response.statusCode} ${text}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A service on this machine, with a connection for each key. */
export function bulkTargetOf(
  port: number,
  keys: readonly string[],
  { path, contentType, status }: BulkFormat,
): BulkTarget {
  const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': contentType })
  return { connections: keys.map(key => ({ port, path, headers: headersOf(key) })), status }
}

/** The plan's readings, split into bodies of this size. */
export function bodiesOf(
  plan: FleetPlan,
  readingsPerBody: number,
  write: (readings: readonly SentReading[]) => string,
): Buffer[] {
  const bodies: Buffer[] = []
  let readings: SentReading[] = []
  for (const reading of sentReadings(plan)) {
    readings.push(reading)
    if (readings.length < readingsPerBody) continue
    bodies.push(Buffer.from(write(readings)))
    readings = []
  }
  if (readings.length > 0) bodies.push(Buffer.from(write(readings)))
  return bodies
}

/** API keys of an administrator, that may write all devices. */
export async function addKeys(databaseUrl: string, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query(
    `INSERT INTO accounts (email, name, role, created_at, updated_at)
     VALUES ('bench@example.com', 'Bench', 'administrator', now(), now()) RETURNING id`,
  )
  const texts = Array.from({ length: count }, createKeyText)
  await client.query(
    `INSERT INTO api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at)
     SELECT $1, 'bench', digest, prefix, '{ingest}', false, now()
     FROM unnest($2::bytea[], $3::text[]) AS key (digest, prefix)`,
    [rows[0].id, texts.map(digestOf), texts.map(prefixOf)],
  )
  await client.end()
  return texts
}
