/**
 * Sends samples by QuestDB's own client. It drops the rows of a failed request, which is right for samples. Its undici
 * transport may wait forever for an unreachable server, so Node's HTTP with a separate agent is used. Closing the agent
 * aborts requests.
 */

import http from 'node:http'
import https from 'node:https'
import type { Sender } from '@questdb/nodejs-client'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { type SelfMonitoringColumn, selfMonitoringTable } from '../../store/tables.ts'

/** Unknown values are left out, and so null. */
export type Sample = Partial<Record<SelfMonitoringColumn, number>>

export interface SampleSender {
  /** Rejects if QuestDB refuses the row. One call at a time. */
  send(timeMs: number, sample: Sample): Promise<void>
  close(): void
}

/** `node` names the node of the samples; undefined for a single process. */
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

/** Loaded on demand: it has its own HTTP client. */
async function createSender(address: QuestdbHttp, agent: http.Agent, requestMs: number): Promise<Sender> {
  const { Sender, SenderOptions } = await import('@questdb/nodejs-client')
  const { host, port, tls, authorization } = address
  const protocol = tls ? 'https' : 'http'
  // Options are set one by one, since a password may have characters that the configuration string cannot hold.
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
