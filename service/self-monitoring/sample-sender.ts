/**
 * Sends samples by QuestDB's own client. It drops the rows of a request that fails, which is right for these; its
 * transport by undici may wait for ever where nobody listens, so Node's HTTP with an agent of our own is used, which ends
 * what is under way when it is closed.
 */

import http from 'node:http'
import https from 'node:https'
import type { Sender } from '@questdb/nodejs-client'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { type SelfMonitoringColumn, selfMonitoringTable } from '../../store/tables.ts'

/** What is not known is left out, and so null. */
export type Sample = Partial<Record<SelfMonitoringColumn, number>>

export interface SampleSender {
  /** Rejects when QuestDB does not take the row. One at a time. */
  send(timeMs: number, sample: Sample): Promise<void>
  close(): void
}

/** `node` is the one that the samples are of; undefined for a service that is alone. */
export function createSampleSender(address: QuestdbHttp, requestMs: number, node?: string): SampleSender {
  const agent = new (address.tls ? https : http).Agent({ keepAlive: true, maxSockets: 1 })
  let sender: Promise<Sender> | undefined

  async function send(timeMs: number, sample: Sample): Promise<void> {
    sender ??= createSender(address, agent, requestMs)
    const rows = await sender
    rows.reset()
    rows.table(selfMonitoringTable)
    if (node !== undefined) rows.symbol('node', node)
    for (const [name, value] of Object.entries(sample)) if (Number.isFinite(value)) rows.floatColumn(name, value)
    await rows.at(Math.round(timeMs), 'ms')
    await rows.flush()
  }

  return { send, close: () => agent.destroy() }
}

/** Loaded when it is first needed: it brings an HTTP client of its own along. */
async function createSender(address: QuestdbHttp, agent: http.Agent, requestMs: number): Promise<Sender> {
  const { Sender, SenderOptions } = await import('@questdb/nodejs-client')
  const { host, port, tls, authorization } = address
  const protocol = tls ? 'https' : 'http'
  // The options are set one by one, since a password may hold what the string of a configuration cannot.
  const options = await SenderOptions.fromConfig(`${protocol}::addr=localhost;protocol_version=2;auto_flush=off`, {
    agent,
    log: () => undefined,
  })
  const [username, ...password] = Buffer.from(authorization?.slice('Basic '.length) ?? '', 'base64')
    .toString()
    .split(':')
  Object.assign(options, { host, port, stdlib_http: true, request_timeout: requestMs, retry_timeout: 1 })
  if (authorization !== undefined) Object.assign(options, { username, password: password.join(':') })
  return new Sender(options)
}
